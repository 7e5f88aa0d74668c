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

"""Whether a body has come to rest, by what a sensor says of it."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repsq_ros.measurement.inputs import Input
from repsq_ros.measurement.samples import body_sample
from repsq_ros.measurement.settling import Settling

SECOND = 1_000_000_000
UPRIGHT = (0.0, 0.0, 0.0, 1.0)


def settling(positions, rate=100, frame='base', source=None):
    found = Settling(source or Input('geometry_msgs/msg/PoseStamped', 'tool_pose', frame='base'))
    for row, position in enumerate(positions):
        stamp_ns = row * SECOND // rate
        if position is not None:
            found.add(body_sample(stamp_ns, position, UPRIGHT, frame=frame))
    return found


GOAL = (0.1, 0.2, 0.3)
STILL = [GOAL] * 100
NAN = (math.nan, 0.2, 0.3)
FAULTS = {
    'at rest': (STILL, 'base', ''),
    'moving': ([(0.1 + 0.00005 * k, 0.2, 0.3) for k in range(100)], 'base', 'it moves at 0.0050'),
    'swinging': (
        [(0.1 + 0.001 * math.sin(k / 5), 0.2, 0.3) for k in range(100)],
        'base',
        'it moves at',
    ),
    'elsewhere': ([(0.1, 0.2, 0.31)] * 100, 'base', 'it is 0.0100 m from where it was sent'),
    'a gap': ([*STILL[:40], *[None] * 30, *STILL[:30]], 'base', 'no sample of the body for 0.310'),
    'nothing': ([], 'base', 'no sample of the body'),
    'not a number': ([*STILL[:50], NAN, *STILL[:49]], 'base', 'not finite: NaN or infinity'),
    'another frame': (STILL, 'base_link', "wrong frame: frame_id 'base_link', expected 'base'"),
}


@pytest.mark.parametrize('name', FAULTS)
def test_what_speaks_against_having_settled(name):
    positions, frame, expected = FAULTS[name]
    found = settling(positions, frame=frame).why_unsettled(0, SECOND, 0.002, GOAL, 0.005)
    assert found.reason.startswith(expected) if expected else found is None


@pytest.mark.parametrize('axis', [0, 1, 2])
@pytest.mark.parametrize(('share', 'settled'), [(0.02, True), (0.2, False)])
def test_a_body_has_not_settled_that_moves_in_a_part_of_the_time(axis, share, settled):
    """Along any axis, at 20 mm/s in the last fifth of a second; not where it is a fiftieth."""
    positions = []
    for k in range(100):
        place = list(GOAL)
        place[axis] += 0.02 * max(k / 100 - (1.0 - share), 0.0)
        positions.append(tuple(place))
    found = settling(positions).why_unsettled(0, SECOND, 0.004, GOAL, 0.005)
    assert found is None if settled else found.reason.startswith('it moves at 0.0')


@pytest.mark.parametrize('rate', [50, 125, 360])
@given(speed=st.floats(0.0, 0.05))
def test_a_straight_way_settles_exactly_where_it_is_slow_enough(rate, speed):
    """Whatever the rate: 1 % beside the threshold the verdict is right."""
    positions = [(0.1 + speed * k / rate, 0.2, 0.3) for k in range(rate)]
    found = settling(positions, rate).why_unsettled(0, SECOND, 0.01, None, 0.005)
    if speed < 0.0099:
        assert found is None
    elif speed > 0.0101:
        assert 'it moves at' in found.reason


ZERO = (0.0, 0.0, 0.0)
ODOMETRY = [
    (lambda t: ZERO, ZERO, ''),
    (lambda t: (0.005 * t, 0.0, 0.0), (0.005, 0.0, 0.0), ''),
    (lambda t: (0.2 * t, 0.0, 0.0), (0.2, 0.0, 0.0), 'it moves at 0.2000 m/s'),
    (lambda t: (0.2 * t, 0.0, 0.0), ZERO, 'it moves at 0.2000 m/s'),
    (lambda t: (0.2 * t, 0.0, 0.0), (0.0, math.nan, 0.0), 'not finite'),
]


@pytest.mark.parametrize(('position', 'velocity', 'expected'), ODOMETRY)
def test_odometry_settles_by_twist_and_by_pose(position, velocity, expected):
    found = Settling(Input('nav_msgs/msg/Odometry', 'odom', velocity='twist'))
    for k in range(100):
        found.add(body_sample(k * SECOND // 100, position(k / 100), UPRIGHT, velocity, ZERO))
    said = found.why_unsettled(0, SECOND, 0.01, None, 1.0)
    assert said.reason.startswith(expected) if expected else said is None
