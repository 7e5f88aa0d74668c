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

import re

import pytest

from repsq_ros.campaign.obedience import ObedienceCheck
from repsq_ros.campaign.rest import RestBounds, RestState
from repsq_ros.errors import CampaignError, SpecificationError
from repsq_ros.simulation.in_process import run_in_process
from repsq_ros.simulation.surrogate import Surrogate, SurrogateParameters
from repsq_ros.specification.load import load

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


STANDING = SurrogateParameters(response=(0.0, 0.0, 0.0))  # with sway, drift and noisy sensors
TURNING = SurrogateParameters(response=(0.0, 0.0, 0.75))
LATE = SurrogateParameters(lag=2.0)


def campaign(short, write, parameters, **validity):
    """Return the specification, what each test gave, and how the campaign ended."""
    short['protocol'].update(dwell=0.5, command=3.0, window=1.5)
    short['target']['dimensions']['linear_x'].update(lower=0.2, upper=0.3)
    short['target']['dimensions']['angular_z'].update(lower=0.2, upper=0.3)
    short['measure']['validity'] = validity
    specification, records = load(write(short)), []

    def keep(record, _):
        records.append(record)

    try:
        run_in_process(specification, Surrogate(parameters), 7, on_test=keep)
    except CampaignError as error:
        return specification, records, str(error)
    return specification, records, ''


@pytest.mark.parametrize('source', ['odometry', 'mocap'])
def test_a_robot_that_stands_is_a_reason_to_ask(short, write, source):
    short['measure']['source'] = source
    _, records, ended = campaign(short, write, STANDING)
    assert 'the robot did not move in 2 attempts in a row' in ended
    assert [(r.valid, r.code) for r in records] == [(True, 'unanswered')] * 2


def test_how_many_attempts_it_takes_is_the_labs_own(short, write):
    usual, _, _ = campaign(short, write, STANDING)
    specification, records, ended = campaign(short, write, STANDING, obeys=3)
    assert 'in 3 attempts' in ended
    assert len(records) == 3
    assert specification.digest == usual.digest
    assert not campaign(short, write, STANDING, obeys=0)[2]


def test_a_robot_that_stands_may_be_the_worst_result(short, write):
    specification, records, ended = campaign(short, write, STANDING, unanswered='result')
    assert not ended
    assert {(r.psi, r.valid, r.code) for r in records} == {
        (specification.measure.upper, True, 'unanswered')
    }
    assert specification.digest != campaign(short, write, STANDING, unanswered='ask')[0].digest


def test_a_robot_that_stands_may_be_invalid(short, write):
    _, records, ended = campaign(short, write, STANDING, unanswered='invalid')
    assert re.search(
        r'stayed INVALID in \d attempts, the last one: no answer: commanded 0\.2', ended
    )
    assert {(r.index, r.valid, r.code) for r in records} == {(0, False, 'unanswered')}


def test_how_slow_a_robot_stands_is_declared(short, write):
    """A command below twice this may look like rest, and tells nothing."""
    usual, _, ended = campaign(short, write, STANDING)
    assert ended
    slow, _, ended = campaign(short, write, STANDING, least_speed=1.0)
    assert not ended
    assert slow.digest != usual.digest


@pytest.mark.parametrize('parameters', [SurrogateParameters(), TURNING, LATE])
def test_a_robot_that_moves_in_any_way_has_answered(short, write, parameters):
    """Badly, perhaps: that is what psi is for."""
    _, records, ended = campaign(short, write, parameters, unanswered='result')
    assert not ended
    assert {r.code for r in records} == {''}


def test_a_number_does_not_tell_whether_the_robot_moves(short, write):
    short['measure'] = {
        'type': 'over_time', 'take': 'peak', 'upper': 1.0,
        'input': {'type': 'std_msgs/msg/Float64', 'rate': 50.0, 'unit': '1'},
        'validity': {'unanswered': 'result'},
    }  # fmt: skip
    with pytest.raises(SpecificationError, match=r'validity\.unanswered.*whether the robot moves'):
        load(write(short))
