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

"""What is sent to robots as text: URScript and its way back, sport requests, instructions."""

import json
import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from transforms3d.euler import euler2mat

from repsq_ros.protocols.command_space import CommandSpace
from repsq_ros.protocols.instruction import instruction
from repsq_ros.protocols.rotation import (
    angle_between,
    quaternion_of_rpy,
    quaternion_of_vector,
    rpy_of_quaternion,
    vector_of_quaternion,
)
from repsq_ros.protocols.unitree_sport import velocity_request
from repsq_ros.protocols.urscript import movel, parse_script, stopl

metres = st.floats(-3.0, 3.0)
angles = st.floats(-math.pi, math.pi)
# Tools that point down, along the horizon, nowhere in particular, and hardly turned at all.
special = st.sampled_from([
    0.0, 1e-300, 1e-12, -1e-8, math.pi, -math.pi, math.pi - 1e-9, math.pi / 2,
    math.pi / 2 - 1e-9, -math.pi / 2, math.nextafter(math.pi / 2, 0), 1e-15 + math.pi / 2,
])  # fmt: skip
turns = st.tuples(*[angles | special] * 3)


def test_the_text_of_a_move():
    assert movel((0.5, -0.25, 1e-7, 0.0, 0.0, 0.5), 1.2, 0.25) == (
        'movel(p[0.5, -0.25, 0.0000001, 0.0, 0.0, 0.5], a=1.2, v=0.25)'
    )
    assert stopl(2) == 'stopl(2.0)'


def test_a_tool_that_points_down_is_half_a_turn():
    *_, a, b, c = json.loads(movel((0.0,) * 3 + (math.pi, 0.0, 0.0), 1.0, 1.0)[7:-15])
    assert math.hypot(a, b, c) == pytest.approx(math.pi)
    assert abs(a) == pytest.approx(math.pi)


@given(position=st.tuples(metres, metres, metres), turn=turns, a=st.floats(1e-3, 1e3),
       v=st.floats(1e-3, 1e3))  # fmt: skip
def test_a_move_comes_back(position, turn, a, v):
    text = movel((*position, *turn), a, v)
    assert 'e' not in text.removeprefix('movel')
    name, pose, acceleration, speed = parse_script(text + '\n')
    # Positions and limits to the last bit, rotations to rounding.
    assert (name, pose[:3], acceleration, speed) == ('movel', position, a, v)
    apart = angle_between(quaternion_of_rpy(*turn), quaternion_of_rpy(*pose[3:]))
    assert apart < 1e-13


@given(acceleration=st.floats(1e-6, 1e6))
def test_a_stop_comes_back(acceleration):
    assert parse_script(stopl(acceleration)) == ('stopl', acceleration)


@given(turn=turns)
@example(turn=(0.3, math.pi / 2, 0.4))
def test_angles_come_back_as_the_same_rotation(turn):
    quaternion = quaternion_of_rpy(*turn)
    back = rpy_of_quaternion(quaternion)
    assert all(abs(angle) <= math.pi for angle in back)
    assert abs(back[1]) <= math.pi / 2 + 1e-15
    assert abs(euler2mat(*turn, 'sxyz') - euler2mat(*back, 'sxyz')).max() < 1e-13


@given(turn=turns)
def test_rotation_vectors_come_back_as_the_same_rotation(turn):
    quaternion = quaternion_of_rpy(*turn)
    vector = vector_of_quaternion(quaternion)
    assert math.hypot(*vector) <= math.pi + 1e-15
    assert angle_between(quaternion, quaternion_of_vector(vector)) < 1e-13


@given(vector=st.tuples(*[st.floats(-1.8, 1.8) | special.filter(lambda v: abs(v) < 1)] * 3))
def test_short_rotation_vectors_come_back_themselves(vector):
    back = vector_of_quaternion(quaternion_of_vector(vector))
    if math.hypot(*vector) < math.pi - 1e-6:
        assert back == pytest.approx(vector, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize(
    ('text', 'told'),
    [
        ('', 'expected movel'),
        ('popup("hello")', 'expected movel'),
        ('movel(p[0, 0, 0, 0, 0], a=1, v=1)', 'expected movel'),
        ('movel(p[0, 0, 0, 0, 0, 0], a=1, v=1) stopl(1)', 'expected movel'),
        ('movel(p[0, 0, 0, 0, 0, 0], a=1)', 'expected movel'),
        ('movel(p[0, 0, nan, 0, 0, 0], a=1, v=1)', "found 'nan', expected a finite number"),
        ('movel(p[0, 0, x, 0, 0, 0], a=1, v=1)', "found 'x', expected a finite number"),
        ('movel(p[0, 0, 1e999, 0, 0, 0], a=1, v=1)', 'expected a finite number'),
        ('movel(p[0, 0, 0, 0, 0, 0], a=0, v=1)', 'found 0 as acceleration or speed'),
        ('movel(p[0, 0, 0, 0, 0, 0], a=1, v=-1)', 'found -1 as acceleration or speed'),
        ('stopl(0)', 'found 0 as acceleration'),
        ('stopl()', 'expected movel'),
    ],
)
def test_what_is_no_script_is_told(text, told):
    with pytest.raises(ValueError, match='script: found') as caught:
        parse_script(text)
    assert told in str(caught.value)


@given(text=st.text())
def test_any_text_is_parsed_or_refused(text):
    for script in (text, f'stopl({text})', f'movel(p[{text}], a=1, v=1)'):
        try:
            parse_script(script)
        except ValueError as error:
            assert str(error).startswith('script: found')


def test_a_sport_request():
    request = json.loads(velocity_request((0.3, -0.1, 0.2), 0.5))
    assert request == {'velocity': [0.3, -0.1, 0.2], 'duration': 0.5}
    assert velocity_request((0, 0, 0), 1) == '{"velocity": [0.0, 0.0, 0.0], "duration": 1.0}'
    with pytest.raises(ValueError, match='JSON'):
        velocity_request((math.nan, 0.0, 0.0), 0.5)


def test_instructions():
    assert instruction('pose', (0.412, -0.1, 0.25, math.pi, -0.0, 0.0)) == (
        'move to x = 0.412 m, y = -0.1 m, z = 0.25 m, roll = 3.14159 rad, pitch = 0 rad, '
        'yaw = 0 rad'
    )
    assert instruction('velocity', (0.2, 0.0, 0.0)) == (
        'command linear_x = 0.2 m/s, linear_y = 0 m/s, angular_z = 0 rad/s'
    )
    assert (
        instruction('velocity', (0.0, 0.0, 0.0))
        == instruction('pose', ())
        == ('stop: hold the robot')
    )


VELOCITIES = CommandSpace('velocity', ((0.1, 0.5), (0.0, 0.0), (-0.3, 0.3)))
POSES = CommandSpace('pose', ((0.0, 1.0),) * 3 + ((0.0, 0.0),) * 3, 'base', 0.25, 1.0)


@pytest.mark.parametrize(
    ('space', 'command', 'told'),
    [
        (VELOCITIES, (0.0, 0.0, 0.0), ''),  # rest is in every space
        (VELOCITIES, (0.5, 0.0, -0.3), ''),
        (VELOCITIES, (0.5 + 1e-12, 0.0, -0.3), ''),
        (VELOCITIES, (0.05, 0.0, 0.0), 'linear_x = 0.05 m/s, expected 0.1 to 0.5'),
        (VELOCITIES, (0.2, 0.0, -0.31), 'angular_z = -0.31 rad/s, expected -0.3 to 0.3'),
        (VELOCITIES, (0.2, math.nan, 0.0), 'linear_y = nan, expected a finite number'),
        (VELOCITIES, (), '0 numbers, expected 3: linear_x, linear_y, angular_z'),
        (POSES, (), ''),
        (POSES, (0.5, 0.5, 1.1, 0.0, 0.0, 0.0), 'z = 1.1 m, expected 0 to 1'),
        (POSES, (0.0, 0.0, 0.0), '3 numbers, expected 6: x, y, z, roll, pitch, yaw'),
        (POSES, (0.0, 0.0, 0.0, 0.0, 0.0, math.inf), 'yaw = inf, expected a finite number'),
    ],
)
def test_what_is_wrong_with_a_command(space, command, told):
    assert space.fault(command) == told


def test_the_largest_of_each_component():
    assert VELOCITIES.largest == (0.5, 0.0, 0.3)
