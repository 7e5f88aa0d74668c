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

from repsq_ros.campaign.recovery import Recovery
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


def test_so_many_suspicions_within_a_span_are_made_good_and_one_more_is_asked_about():
    recovery = Recovery(limit=2, span=100.0, patience=30.0)
    assert recovery.begin(0.0) == recovery.begin(50.0) == ''
    assert recovery.under_way
    assert recovery.begin(99.0) == 'this was number 3 of its kind within 100 s'
    assert not recovery.under_way
    # The first two are out of the span by then; the one that was asked about counts, too.
    assert recovery.begin(150.0) == ''


def test_what_stays_away_is_asked_about():
    recovery = Recovery(limit=2, span=100.0, patience=30.0)
    assert recovery.overdue(1000.0) == ''
    recovery.begin(1000.0)
    assert recovery.overdue(1030.0) == ''
    assert recovery.overdue(1030.1) == 'for 30 s now'
    recovery.end()
    assert recovery.overdue(2000.0) == ''
