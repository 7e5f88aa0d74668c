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

"""Whether a body is at rest, by the newest samples of a sensor."""

import math

import numpy as np
import pytest

from repsq_ros.campaign.rest import RestBounds, RestDetector, RestState
from repsq_ros.measurement.inputs import Input
from repsq_ros.measurement.samples import body_sample, joined

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
    detector.restart(TIMES[-1])
    assert detector.judge(TIMES[-1]).state is RestState.UNKNOWN


# Looks at a queue of samples ---------------------------------------------------------------------


def judged_at(instant, samples, looks, source):
    """Return the state at an instant: at each look, all samples that wait are added."""
    detector, taken = RestDetector(BOUNDS, source), 0
    for look in [*looks, instant]:
        came = int(np.searchsorted(samples.stamps, look * 1e9, 'right'))
        if came > taken:
            detector.add(samples.take(slice(taken, came)), samples.stamps[came - 1] * 1e-9)
        taken = came
    return detector.judge(instant)


OFTEN = [0.02 * k for k in range(1, 500)]
STALLS = {
    'no stall': lambda end: [t for t in OFTEN if t < end],
    'a stall of 1 s before it': lambda end: [t for t in OFTEN if t < end - 1.0],
    'a stall of 1 s long before it': lambda end: [t for t in OFTEN if t < end and not 1 < t < 2],
    'rare looks': lambda end: [0.7 * k for k in range(1, 20) if 0.7 * k < end],
    'no look before it': lambda end: [],
}


@pytest.mark.parametrize('looks', STALLS.values(), ids=STALLS.keys())
@pytest.mark.parametrize('source', [TWIST, POSE])
@pytest.mark.parametrize('rate', [20, 200, 1000])
@pytest.mark.parametrize('speed', [0.0, 0.03, 0.08])
def test_the_state_does_not_depend_on_when_samples_were_looked_at(looks, source, rate, speed):
    noise, t = np.random.default_rng(rate), np.arange(4 * rate) / rate
    place = 0.5 * np.minimum(t, 2.0) + np.maximum(t - 2.0, 0.0) * speed  # it brakes after 2 s
    velocity = np.where(t < 2.0, 0.5, speed) + noise.normal(0.0, 0.01, len(t))
    samples = body_sample(
        np.round(t * 1e9), (place + noise.normal(0.0, 0.001, len(t)), 0.0, 0.0), LEVEL,
        (velocity, 0.0, 0.0), (0.0, 0.0, 0.0),
    )  # fmt: skip
    for instant in (0.5, 1.9, 2.3, 3.2, 3.9, 4.3, 4.6):
        found = judged_at(instant, samples, looks(instant), source)
        wanted = judged_at(instant, samples, STALLS['no stall'](instant), source)
        assert found.state is wanted.state
        assert (found.speed, found.turn) == pytest.approx((wanted.speed, wanted.turn), nan_ok=True)
    rests = RestState.AT_REST if speed < BOUNDS.speed else RestState.MOVING
    assert judged_at(3.9, samples, looks(3.9), source).state is rests
    assert judged_at(4.6, samples, looks(4.6), source).state is RestState.UNKNOWN


def test_rest_has_to_be_seen_for_the_whole_time_after_a_restart():
    samples = [moving(0.01 * k, 0.0) for k in range(400)]
    detector = RestDetector(BOUNDS, POSE)
    detector.add(joined(samples[:200]), 2.0)
    detector.restart(2.0)
    # The samples of a stall arrive at once, those from before the restart with them.
    detector.add(joined(samples[50:210]), 2.1)
    assert detector.judge(2.1).state is RestState.UNKNOWN
    detector.add(joined(samples[210:300]), 3.0)
    assert detector.judge(3.0).state is RestState.AT_REST


def test_a_gap_in_the_samples_shows_no_rest():
    there = [moving(t, 0.0) for t in TIMES if not 1.2 < t < 1.8]
    assert judge(there, POSE, 2.0) is RestState.UNKNOWN
    after = [moving(10.0 + t, 0.0) for t in TIMES[:6]]
    assert judge([moving(0.0, 0.0), *after], POSE, 10.25) is RestState.UNKNOWN


def test_a_repeated_stamp_shows_nothing_new():
    detector = RestDetector(BOUNDS, TWIST)
    for t in TIMES:
        detector.add(moving(t, 0.0), t)
    for k in range(20):
        detector.add(joined([moving(TIMES[-1], 0.0)] * 5), 2.0 + 0.05 * k)
    assert detector.judge(2.95).state is RestState.UNKNOWN


def test_a_single_broken_sample_is_ignored():
    samples = [moving(t, math.nan if k == 30 else 0.0) for k, t in enumerate(TIMES)]
    assert judge(samples, POSE, TIMES[-1]) is RestState.AT_REST


def test_a_slow_sensor_covers_the_time_with_the_sample_before_it():
    samples = [moving(k / 7.0, 0.0) for k in range(15)]
    assert judge(samples, POSE, 2.0) is RestState.AT_REST
