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

"""A robot that does not answer its commands is noticed after some attempts in a row."""

import pytest

from repsq_ros.campaign.obedience import ObedienceCheck
from repsq_ros.campaign.rest import RestBounds, RestState

BOUNDS = RestBounds(speed=0.05, turn=0.1, time=1.0)
WALK, TURN, SLOW, ZERO = (0.2, 0.0, 0.0), (0.0, 0.0, -0.3), (0.09, 0.0, 0.19), (0.0, 0.0, 0.0)
STANDS, MOVES, UNKNOWN = RestState.AT_REST, RestState.MOVING, RestState.UNKNOWN


def reached_after(attempts, limit=2, seconds=3.0):
    """Return after how many attempts the limit was reached, of (command, state) each."""
    check, now, reached = ObedienceCheck(BOUNDS, limit), 0.0, []
    for number, (command, state) in enumerate(attempts):
        for _ in range(round(seconds / 0.05)):
            assert not check.look((number, 0), command, state, now)
            now += 0.05
        if check.look(None, (), STANDS, now):
            reached.append(number + 1)
    return reached


@pytest.mark.parametrize(
    ('attempts', 'wanted'),
    [
        ([(WALK, STANDS)] * 5, [2, 4]),
        ([(TURN, STANDS), (WALK, STANDS)], [2]),
        ([(WALK, STANDS), (WALK, MOVES), (WALK, STANDS), (WALK, STANDS)], [4]),
        ([(WALK, MOVES)] * 5, []),
        ([(WALK, UNKNOWN)] * 5, []),
        ([(SLOW, STANDS)] * 5, []),
        ([(ZERO, STANDS)] * 5, []),
        # A slow command in between tells nothing.
        ([(WALK, STANDS), (SLOW, STANDS), (WALK, STANDS)], [3]),
    ],
)
def test_attempts_in_a_row_without_an_answer(attempts, wanted):
    assert reached_after(attempts) == wanted


def test_a_limit_of_zero_allows_any_number():
    assert reached_after([(WALK, STANDS)] * 5, limit=0) == []


@pytest.mark.parametrize(('seconds', 'wanted'), [(1.4, []), (1.7, [1])])
def test_a_robot_has_time_to_answer(seconds, wanted):
    assert reached_after([(WALK, STANDS)], limit=1, seconds=seconds) == wanted
