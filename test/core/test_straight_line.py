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

"""A target that walks: never too fast, never too abruptly, never beyond, and it arrives."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repsq_ros.protocols.rotation import angle_between, quaternion_of_rpy
from repsq_ros.protocols.straight_line import StraightLine, ToolPose

HOME = ToolPose((0.4, -0.2, 0.3), quaternion_of_rpy(math.pi, 0.0, 0.0))

angles = st.floats(-math.pi, math.pi)
poses = st.builds(
    lambda position, rpy: ToolPose(position, quaternion_of_rpy(*rpy)),
    st.tuples(*[st.floats(-2.0, 2.0)] * 3),
    st.tuples(angles, angles, angles),
)
limits = st.floats(0.02, 2.0)
periods = st.floats(0.001, 0.2)


def along(line, target, seconds, most=100_000):
    """Step until the target is there."""
    walked = [line.step(target, 0.0)]
    while walked[-1] != target and len(walked) < most:
        walked.append(line.step(target, seconds))
    return walked


def speeds(walked, seconds):
    return [
        tuple((b - a) / seconds for a, b in zip(one.position, two.position, strict=True))
        for one, two in itertools.pairwise(walked)
    ]


def assert_within(walked, target, seconds, speed, acceleration):
    found = speeds(walked, seconds)
    noise = 1e-9 + 1e-13 / seconds**2
    assert all(math.hypot(*each) <= speed + noise for each in found)
    # From rest, and to rest where it has arrived: the standstills count, too.
    found = [(0.0, 0.0, 0.0), *found]
    if walked[-1] == target:
        found.append((0.0, 0.0, 0.0))
    for before, after in itertools.pairwise(found):
        assert math.dist(before, after) <= (acceleration + noise) * seconds


def test_a_step_that_covers_all_arrives_exactly():
    target = ToolPose((0.1, 0.2, 0.5), quaternion_of_rpy(0.1, -0.4, 2.0))
    line = StraightLine(HOME, 0.25, 1.0)
    assert line.step(target, 0.0) == HOME
    assert line.step(target, 1e6) == target
    assert line.step(target, 0.05) == target


def test_the_walk_takes_as_long_as_its_profile_says():
    """1 m at 0.5 m/s with 1 m/s^2: 0.5 s of ramp at each end, 1.5 s in between."""
    target = ToolPose((1.4, -0.2, 0.3), HOME.orientation)
    line = StraightLine(HOME, 0.5, 1.0)
    line.step(target, 0.0)
    assert line.step(target, 0.5).position[0] == pytest.approx(0.4 + 0.125)
    assert line.step(target, 1.5).position[0] == pytest.approx(0.4 + 0.875)
    assert line.step(target, 0.49).position[0] < 1.4
    assert line.step(target, 0.02) == target


def test_a_turn_in_place_takes_its_time():
    target = ToolPose(HOME.position, quaternion_of_rpy(math.pi, 0.0, 1.0))
    line = StraightLine(HOME, 0.5, 100.0)
    line.step(target, 0.0)
    half = line.step(target, 1.0)
    assert half.position == HOME.position
    assert angle_between(HOME.orientation, half.orientation) == pytest.approx(0.5, abs=0.01)


@given(start=poses, target=poses, speed=limits, acceleration=limits, seconds=periods)
def test_speed_acceleration_and_the_line_itself(start, target, speed, acceleration, seconds):
    line = StraightLine(start, speed, acceleration)
    walked = along(line, target, seconds, most=300)
    assert_within(walked, target, seconds, speed, acceleration)
    length = math.dist(start.position, target.position)
    turn = angle_between(start.orientation, target.orientation)
    before = -1.0
    for pose in walked:
        assert all(map(math.isfinite, (*pose.position, *pose.orientation)))
        assert math.hypot(*pose.orientation) == pytest.approx(1.0, abs=1e-9)
        done = math.dist(start.position, pose.position)
        # On the line, forwards, not beyond; the orientation keeps pace.
        assert done + math.dist(pose.position, target.position) <= length + 1e-9
        assert before - 1e-9 <= done <= length + 1e-9
        turned = angle_between(start.orientation, pose.orientation)
        if length > 1e-3:
            assert turned == pytest.approx(turn * done / length, abs=1e-5)
        before = done


@given(start=poses, target=poses, speed=limits, acceleration=limits)
def test_it_arrives_when_it_should(start, target, speed, acceleration):
    length = max(
        math.dist(start.position, target.position),
        angle_between(start.orientation, target.orientation),
    )
    needed = length / speed + speed / acceleration
    line = StraightLine(start, speed, acceleration)
    line.step(target, 0.0)
    assert line.step(target, needed * (1 + 1e-9) + 1e-9) == target


@given(
    start=poses, targets=st.lists(st.tuples(poses, st.integers(1, 30)), min_size=2, max_size=4),
    speed=limits, acceleration=limits, seconds=periods,
)  # fmt: skip
def test_a_new_target_under_way_is_no_jerk(start, targets, speed, acceleration, seconds):
    line = StraightLine(start, speed, acceleration)
    walked = [start]
    for target, steps in targets:
        walked += [line.step(target, seconds) for _ in range(steps)]
    assert_within(walked, None, seconds, speed, acceleration)
    assert line.step(targets[-1][0], 1e6) == targets[-1][0]


@given(start=poses, target=poses, steps=st.lists(st.floats(-1.0, 2.0), max_size=30))
def test_uneven_steps_neither_overshoot_nor_go_back(start, target, steps):
    line = StraightLine(start, 0.25, 0.5)
    done = 0.0
    for seconds in steps:
        pose = line.step(target, seconds)
        now = math.dist(start.position, pose.position)
        assert done - 1e-9 <= now <= math.dist(start.position, target.position) + 1e-9
        done = now
