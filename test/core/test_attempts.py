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

"""What the phases tell of the attempts: the same for the measurement node and for a recording."""

import pytest

from repsq_ros.campaign.attempts import Attempts
from repsq_ros.campaign.records import Case
from repsq_ros.protocols.phases import Phase, Span
from repsq_ros.sampling.proposals import Draw

DRAW = Draw((0.1, 0.2), 0.0, 0.5, 3.0)
WINDOW = (10, 20)


def say(attempts, phase, index=0, attempt=0, window=WINDOW, **more):
    window = window if phase is Phase.COMMAND else None
    span = Span(phase, index, attempt, 5, None, (), window, **more)
    return attempts.on_phase(Case(index, attempt, DRAW), span)


@pytest.fixture
def attempts():
    return Attempts()


def test_a_window_is_measured_once_its_phases_are_over(attempts):
    assert say(attempts, Phase.DWELL) is None
    assert attempts.windows == {}
    assert say(attempts, Phase.COMMAND) is None
    assert list(attempts.windows) == [(0, 0)]
    assert attempts.over == ()
    assert say(attempts, Phase.IDLE) is None
    assert attempts.over == ((0, 0),)
    case, window = attempts.close((0, 0))
    assert (case.draw, window.start_ns, window.end_ns) == (DRAW, *WINDOW)
    assert attempts.windows == {}
    assert attempts.close((0, 0)) is None


def test_a_window_that_is_opened_again_is_not_over(attempts):
    """As after a pause before the command: the same attempt begins anew."""
    say(attempts, Phase.COMMAND)
    say(attempts, Phase.IDLE)
    say(attempts, Phase.COMMAND)
    assert attempts.over == ((0, 0),), 'heard twice'
    say(attempts, Phase.COMMAND, window=(30, 40))
    assert attempts.over == ()
    assert attempts.windows[0, 0].start_ns == 30


@pytest.mark.parametrize('phase', [Phase.PAUSED, Phase.ABORTED])
def test_what_stops_a_campaign_leaves_what_is_over_and_drops_the_rest(attempts, phase):
    say(attempts, Phase.COMMAND)
    say(attempts, Phase.IDLE)
    say(attempts, Phase.COMMAND, index=1)
    assert say(attempts, phase, index=1) is None
    assert list(attempts.windows) == [(0, 0)]


@pytest.mark.parametrize('phase', [Phase.PAUSED, Phase.ABORTED, Phase.IDLE, Phase.SKIPPED])
def test_what_is_broken_off_gets_its_record(attempts, phase):
    say(attempts, Phase.COMMAND, attempt=2)
    record = say(attempts, phase, attempt=2, broken_off=True, reason='a cable')
    assert (record.index, record.attempt, record.valid, record.psi) == (0, 2, False, 0.0)
    assert (record.broken_off, record.skipped) == (True, phase is Phase.SKIPPED)
    assert (record.x, record.weight, record.weight_bound) == (DRAW.x, DRAW.weight, 3.0)
    assert (record.reason, record.window_end_ns) == ('a cable', 5)
    assert attempts.windows == {}
    assert say(attempts, phase, attempt=2, broken_off=True) is None, 'once'


def test_a_skip_before_the_command_is_no_broken_off_attempt(attempts):
    record = say(attempts, Phase.SKIPPED, reason='by the operator')
    assert (record.skipped, record.broken_off) == (True, False)


def test_what_has_its_outcome_is_heard_no_more(attempts):
    say(attempts, Phase.COMMAND, index=3)
    say(attempts, Phase.IDLE, index=3)
    attempts.close((3, 0))
    for index, attempt in ((3, 0), (2, 9)):
        assert say(attempts, Phase.SKIPPED, index, attempt) is None
        assert say(attempts, Phase.COMMAND, index, attempt) is None
    assert attempts.windows == {}
    assert say(attempts, Phase.SKIPPED, index=3, attempt=1) is not None
