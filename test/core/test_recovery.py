# Copyright 2026 repsq_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Suspicion: time in which the watcher itself ran, and how often a campaign goes on by itself."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repsq_ros.campaign.recovery import LONGEST, SAY, SPAN, Recovery
from repsq_ros.campaign.running_time import RunningTime

STEP = 0.1


def test_time_in_which_the_watcher_itself_was_stalled_does_not_count():
    running = RunningTime(STEP)
    assert running.since_look(5.0) == 0.0
    assert running.look(10.0) == 0.0
    for k in range(1, 11):
        running.look(10.0 + 0.05 * k)
    assert running.now == pytest.approx(0.5)
    assert running.look(13.5) == pytest.approx(3.0)
    assert running.now == pytest.approx(0.5 + STEP)
    assert running.since_look(14.0) == pytest.approx(0.5)


@given(steps=st.lists(st.floats(0.0, 5.0), max_size=50))
def test_it_never_runs_faster_than_time_nor_than_its_steps(steps):
    running, steady = RunningTime(STEP), 0.0
    running.look(steady)
    for step in steps:
        before, steady = running.now, steady + step
        running.look(steady)
        assert 0.0 <= running.now - before <= min(step, STEP) + 1e-9


def test_no_number_of_suspicions_ends_a_campaign_but_each_waits_longer_than_the_one_before():
    recovery, now, waits = Recovery(), 0.0, []
    for _ in range(200):
        waits.append(recovery.begin(now))
        assert recovery.under_way
        assert recovery.may_go_on(now + waits[-1])
        assert not recovery.may_go_on(now + waits[-1] - 0.01)
        recovery.end()
        assert not recovery.may_go_on(now + 100.0)
        now += 1.0
    assert waits[:3] == [0.0, 0.5, 1.0]
    assert waits == sorted(waits)
    assert max(waits) == LONGEST
    assert recovery.begin(now + SPAN) == 0.0, 'long ago'


def test_what_stays_away_is_told_again_and_again_and_waited_for():
    recovery = Recovery()
    assert recovery.lasts(1000.0) == 0.0
    recovery.begin(1000.0)
    assert recovery.lasts(1000.0 + SAY - 0.1) == 0.0
    assert recovery.lasts(1000.0 + SAY) == SAY
    assert recovery.lasts(1001.0 + SAY) == 0.0
    assert recovery.lasts(1000.0 + 2 * SAY) == 2 * SAY
    assert recovery.under_way
    recovery.end()
    assert recovery.lasts(9000.0) == 0.0
