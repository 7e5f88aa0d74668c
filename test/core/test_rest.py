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

"""Whether a body is at rest, from a few samples a second."""

import math

import pytest

from repsq_ros.campaign.rest import RestBounds, RestDetector, RestState
from repsq_ros.measurement.inputs import Input
from repsq_ros.measurement.samples import body_sample

BOUNDS = RestBounds(speed=0.05, turn=0.1, time=1.0)
LEVEL = (0.0, 0.0, 0.0, 1.0)
TWIST = Input('nav_msgs/msg/Odometry', 'odom', velocity='twist')
POSE = Input('geometry_msgs/msg/PoseStamped', 'mocap/pose')


def heading(angle):
    return (0.0, 0.0, math.sin(angle / 2.0), math.cos(angle / 2.0))


def moving(seconds, speed, turn=0.0, place=None, linear=None):
    """Return the sample of a body that moves along x; a twist besides the pose."""
    return body_sample(
        round(seconds * 1e9), (speed * seconds if place is None else place, 0.0, 0.0),
        heading(turn * seconds), (speed, 0.0, 0.0) if linear is None else linear,
        (0.0, 0.0, turn),
    )  # fmt: skip


def judge(samples, source, now):
    detector = RestDetector(BOUNDS, source)
    for sample in samples:
        detector.add(sample, sample.stamp_ns * 1e-9)
    return detector.judge(now).state


TIMES = [0.05 * k for k in range(41)]


@pytest.mark.parametrize('source', [TWIST, POSE])
@pytest.mark.parametrize(
    ('speed', 'turn', 'wanted'),
    [
        (0.0, 0.0, RestState.AT_REST),
        (0.049, 0.099, RestState.AT_REST),
        (0.051, 0.0, RestState.MOVING),
        (-0.051, 0.0, RestState.MOVING),
        (0.0, 0.101, RestState.MOVING),
        (0.0, -0.101, RestState.MOVING),
    ],
)
def test_the_mean_velocity_decides(source, speed, turn, wanted):
    samples = [moving(t, speed, turn) for t in TIMES]
    assert judge(samples, source, TIMES[-1]) is wanted


@pytest.mark.parametrize('source', [TWIST, POSE])
def test_what_was_before_the_time_does_not_count(source):
    samples = [moving(t, 0.5) for t in TIMES]
    later = [moving(2.05 + t, 0.0, place=1.0) for t in TIMES]
    assert judge(samples + later[:10], source, 2.55) is RestState.MOVING
    assert judge(samples + later[:25], source, 3.3) is RestState.AT_REST


@pytest.mark.parametrize('source', [TWIST, POSE])
def test_rest_has_to_be_seen_for_the_whole_time_and_now(source):
    samples = [moving(t, 0.0) for t in TIMES]
    assert judge(samples[:17], source, 0.8) is RestState.UNKNOWN
    assert judge(samples[:22], source, 1.05) is RestState.AT_REST
    assert judge(samples[:22], source, 1.6) is RestState.UNKNOWN, 'silent since'
    assert judge([], source, 0.0) is RestState.UNKNOWN


def test_sway_of_a_robot_that_steps_in_place_is_no_motion():
    samples = []
    for t in TIMES:
        sway = 0.1 * math.sin(2.0 * math.pi * 1.8 * t)
        samples.append(moving(t, 0.0, linear=(0.0, sway, 0.0)))
    assert judge(samples, TWIST, TIMES[-1]) is RestState.AT_REST


def test_noise_of_poses_is_no_motion_and_lengths_have_units():
    noise = [0.004 * (-1) ** k for k in range(41)]
    samples = [moving(t, 0.0, place=x) for t, x in zip(TIMES, noise, strict=True)]
    assert judge(samples, POSE, TIMES[-1]) is RestState.AT_REST
    fast = [moving(t, 30.0) for t in TIMES]
    millimetres = Input('geometry_msgs/msg/PoseStamped', 'mocap/pose', unit='mm')
    assert judge(fast, millimetres, TIMES[-1]) is RestState.AT_REST


@pytest.mark.parametrize('source', [TWIST, POSE])
def test_samples_that_are_not_finite_say_nothing(source):
    broken = [moving(t, math.nan) for t in TIMES]
    assert judge(broken, source, TIMES[-1]) is RestState.UNKNOWN


def test_after_a_restart_nothing_is_known():
    detector = RestDetector(BOUNDS, TWIST)
    for t in TIMES:
        detector.add(moving(t, 0.0), t)
    detector.restart()
    assert detector.judge(TIMES[-1]).state is RestState.UNKNOWN
