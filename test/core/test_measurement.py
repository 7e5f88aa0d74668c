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

"""From stamped samples to psi, or to a named reason."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.rows import BodyRow, table_of

from repsq_ros.measurement.heading import yaw_of
from repsq_ros.measurement.limits import Limits
from repsq_ros.measurement.measure import Measure
from repsq_ros.measurement.reasons import Code
from repsq_ros.measurement.recorder import Recorder, Window
from repsq_ros.measurement.samples import body_sample
from repsq_ros.measurement.tail import Tail
from repsq_ros.measurement.tracking_loss import TrackingLoss, soft_linf
from repsq_ros.measurement.velocity import by_difference
from repsq_ros.specification.input_section import input_of_source

SECOND = 1_000_000_000
ZERO = (0.0, 0.0, 0.0)
UPRIGHT = (0.0, 0.0, 0.0, 1.0)


def loss(source='odometry', reduction='rms'):
    return Measure(TrackingLoss(6.0, reduction), input_of_source(source), Limits(SECOND // 5))


def odometry(t_ns, velocity=(0.1, 0.0, 0.0), turn=(0.0, 0.0, 0.0)):
    return BodyRow(t_ns, ZERO, UPRIGHT, velocity, turn)


def stream(start_ns=0, count=150, period_ns=20_000_000, **changes):
    return [odometry(start_ns + k * period_ns, **changes) for k in range(count)]


def measure(samples, start_ns=0, end_ns=3 * SECOND, command=(0.1, 0.0, 0.0), **options):
    recorder = Recorder(loss(**options))
    for sample in samples:
        recorder.add(sample.table)
    recorder.open((0, 0), Window(start_ns, end_ns, command))
    return recorder.close((0, 0))[1]


# The loss ----------------------------------------------------------------------------------------


def test_reference_values_of_the_loss():
    every = np.full((150, 3), 0.02)
    assert soft_linf(every, 6.0, 'sum') == pytest.approx(0.6604044743550609, rel=1e-9)
    assert soft_linf(every, 6.0, 'mean') == pytest.approx(0.007174142096186609, rel=1e-9)
    forward = np.tile([0.3, 0.0, 0.0], (150, 1))
    assert soft_linf(forward, 6.0, 'sum') == pytest.approx(1.0, abs=1e-12)
    assert soft_linf(forward, 6.0, 'mean') == pytest.approx(0.41725174762601036, rel=1e-9)
    assert soft_linf(forward, 6.0, 'rms') == pytest.approx(1 - math.exp(-6 * 0.3), rel=1e-9)


@given(
    scale=st.floats(0, 1e3),
    count=st.integers(1, 50),
    reduction=st.sampled_from(['sum', 'mean', 'rms']),
)
def test_the_loss_is_bounded_and_zero_only_without_error(scale, count, reduction):
    psi = soft_linf(np.full((count, 3), scale), 6.0, reduction)
    assert 0.0 <= psi <= 1.0
    if scale == 0.0:
        assert psi == 0.0


def test_perfect_tracking_gives_zero_and_an_error_its_loss():
    assert measure(stream()).psi == 0.0
    outcome = measure(stream(), command=(0.4, 0.0, 0.0))
    assert outcome.valid
    assert outcome.samples == 150
    assert outcome.psi == pytest.approx(1 - math.exp(-6 * 0.3), rel=1e-9)


# The window --------------------------------------------------------------------------------------


def test_the_window_is_half_open_and_counts_each_stamp_once():
    samples = stream(count=200)
    samples.insert(70, samples[70])  # published twice
    assert measure(samples).samples == 150  # [0, 3) s at 50 Hz: not the one at 3 s


def test_psi_depends_on_differences_of_stamps_alone():
    late = 1_795_819_319 * SECOND + 123_456_789
    early = measure(stream(count=151), command=(0.2, 0.1, 0.05))
    shifted = measure(stream(late, count=151), late, late + 3 * SECOND, command=(0.2, 0.1, 0.05))
    assert shifted == early


def test_the_order_of_arrival_means_nothing():
    samples = stream(count=151)
    swapped = samples.copy()
    for k in range(0, 150, 7):
        swapped[k], swapped[k + 1] = swapped[k + 1], swapped[k]
    assert measure(swapped, command=(0.2, 0.1, 0.0)) == measure(samples, command=(0.2, 0.1, 0.0))


def test_a_window_is_complete_with_the_first_sample_after_it():
    recorder = Recorder(loss())
    recorder.open((4, 1), Window(0, SECOND, ZERO))
    for sample in stream(count=50):
        recorder.add(sample.table)
        assert recorder.complete_keys == ()
    recorder.add(odometry(SECOND).table)
    assert recorder.complete_keys == ((4, 1),)


def test_windows_may_be_announced_long_before_their_samples_come():
    """As in a replay, where nobody waits: every window gets its own samples."""
    recorder = Recorder(loss())
    for index in range(3):
        recorder.open((index, 0), Window(index * SECOND, (index + 1) * SECOND, (0.1, 0.0, 0.0)))
    measured = []
    for sample in stream(count=160):
        recorder.add(sample.table)
        measured += [recorder.close(key) for key in recorder.complete_keys]
    assert [(w.start_ns, o.psi, o.samples) for w, o in measured] == [
        (0, 0.0, 50),
        (SECOND, 0.0, 50),
        (2 * SECOND, 0.0, 50),
    ]
    assert recorder.open_keys == ()


def test_time_that_jumps_back_gives_up_what_comes_again():
    """Five samples in a row, each after the one before, more than a second back."""
    tail = Tail()
    tail.add(table_of(stream(10 * SECOND)))
    tail.add(table_of(stream(0, count=4)))
    assert tail.newest_ns == 10 * SECOND + 149 * 20_000_000
    tail.add(odometry(80_000_000).table)
    assert tail.newest_ns == 80_000_000
    assert tail.between(0, 100 * SECOND).stamps.tolist() == [k * 20_000_000 for k in range(5)]


@pytest.mark.parametrize('back', [3, 5 * 3600])
def test_a_clock_that_is_set_back_spoils_only_the_time_that_comes_twice(back):
    """An NTP step at 20 s: windows before it and after it are right, one in it is not."""
    begin = 6 * 3600 * SECOND
    recorder = Recorder(loss(), keep_ns=2**62)
    for sample in stream(begin, count=1000):
        recorder.add(sample.table)
    for sample in stream(begin + (20 - back) * SECOND + 1, count=2000):
        recorder.add(sample.table)

    def at(seconds):
        start_ns = begin + seconds * SECOND
        return recorder.measure(Window(start_ns, start_ns + 2 * SECOND, (0.1, 0.0, 0.0)))

    if back == 3:
        assert (at(5).valid, at(5).psi, at(5).samples) == (True, 0.0, 100)
        assert at(25).valid
    spoiled = at(20 - back + 0)
    assert spoiled.code is Code.CLOCK
    assert spoiled.reason.startswith('clock set back: stamps ran back by ')


def test_a_window_of_a_bag_that_is_played_again_is_measured_again():
    recorder = Recorder(loss())
    for _ in range(2):
        for sample in stream(count=1):
            recorder.add(sample.table)
        for sample in stream(count=500)[1:]:
            recorder.add(sample.table)
            if sample.stamp_ns == SECOND:
                recorder.open((0, 0), Window(3 * SECOND, 6 * SECOND, (0.1, 0.0, 0.0)))
        outcome = recorder.close((0, 0))[1]
        assert (outcome.valid, outcome.samples) == (True, 150), outcome.reason


STRAYS = {
    'a frame without a stamp': lambda s: s._replace(stamp_ns=0),
    'a frame from before': lambda s: s._replace(stamp_ns=s.stamp_ns - 7 * SECOND),
    'a frame from the future': lambda s: s._replace(stamp_ns=s.stamp_ns + 3600 * SECOND),
}


@pytest.mark.parametrize('name', STRAYS)
@pytest.mark.parametrize('at', [100, 400, 700])
def test_one_stray_stamp_costs_no_test(name, at):
    samples = stream(10 * SECOND, count=1000)
    clean = [measure(samples, start * SECOND, (start + 3) * SECOND) for start in (10, 15, 25)]
    samples.insert(at, STRAYS[name](samples[at]))
    found = [measure(samples, start * SECOND, (start + 3) * SECOND) for start in (10, 15, 25)]
    assert found == clean
    assert all(each.valid for each in found)


# Faults ------------------------------------------------------------------------------------------


def with_change(index, sample):
    samples = stream()
    samples[index] = sample
    return samples


NAN_VELOCITY = odometry(2 * SECOND, velocity=(math.nan, 0.0, 0.0))
INFINITE_TURN = odometry(2 * SECOND, turn=(0.0, 0.0, math.inf))
NO_QUATERNION = BodyRow(2 * SECOND, ZERO, (0.0, 0.0, 0.0, 0.0), ZERO, ZERO)

FAULTS = [
    ([], 'silent: no sample in a window of 3 s'),
    (
        stream(-4 * SECOND),
        'silent: no sample in a window of 3 s; the newest stamp is 4.020 s before',
    ),
    (
        stream(9 * SECOND),
        'silent: no sample in a window of 3 s; the newest stamp is 8.980 s after',
    ),
    (stream(count=50), 'gap: 2.020 s without a sample from 0.980 s of the window on, at most 0.2'),
    (stream(SECOND), 'gap: 1.000 s without a sample from 0.000 s'),
    (stream()[:60] + stream()[80:], 'gap: 0.420 s without a sample from 1.180 s'),
    (with_change(100, NAN_VELOCITY), 'not finite: NaN or infinity in a sample at 2.000 s'),
    (with_change(100, INFINITE_TURN), 'not finite: NaN or infinity in a sample at 2.000 s'),
    (with_change(100, NO_QUATERNION), 'no orientation: a quaternion of norm zero'),
    ([BodyRow(s.stamp_ns, ZERO, UPRIGHT) for s in stream()], 'no velocity'),
]


@pytest.mark.parametrize(('samples', 'reason'), FAULTS)
def test_a_sensor_fault_is_a_named_reason(samples, reason):
    outcome = measure(samples)
    assert not outcome.valid
    assert outcome.psi == 0.0
    assert outcome.reason.startswith(reason)


@pytest.mark.parametrize('at_once', [False, True])
def test_what_is_wrong_with_samples_is_known_as_long_as_they_are(at_once):
    """Of a recording, windows are measured long after their samples have come."""
    source = replace(input_of_source('odometry'), frame='map')
    recorder = Recorder(Measure(TrackingLoss(6.0, 'rms'), source, Limits(SECOND // 5)), 2**62)
    samples = [each._replace(frame='odom') for each in stream(count=5000)]
    for part in [table_of(samples)] if at_once else [each.table for each in samples]:
        recorder.add(part)
    for start_ns in range(0, 90 * SECOND, 10 * SECOND):
        outcome = recorder.measure(Window(start_ns, start_ns + 3 * SECOND, (0.1, 0.0, 0.0)))
        assert outcome.code is Code.FRAME, start_ns
    recorder.forget(95 * SECOND)
    assert len(recorder.tail.doubts(0, 2**62)) == 251


def test_a_tail_keeps_no_more_doubts_than_samples():
    tail = Tail(keep_ns=SECOND, frame='map')
    tail.add(table_of(stream(count=20_000)))
    assert len(tail.doubts(0, 2**62)) == len(tail.between(0, 2**62)) < 5000


def test_one_pose_gives_no_velocity():
    alone = [BodyRow(SECOND // 10, ZERO, UPRIGHT)]
    outcome = measure(alone, end_ns=SECOND // 5, source='mocap')
    assert outcome.reason == 'one pose only: no velocity can be formed'


# Velocity from poses -----------------------------------------------------------------------------


def circle(rate, count, speed=0.3, turn=0.5, heading=0.0, flip=None):
    """Poses of a body that drives a circle forward, seen at `rate` Hz."""
    poses = []
    for k in range(count):
        t = k / rate
        yaw = heading + turn * t
        position = (speed / turn * math.sin(yaw), -speed / turn * math.cos(yaw), 0.0)
        sign = -1.0 if flip is not None and k >= flip else 1.0
        quaternion = (0.0, 0.0, sign * math.sin(yaw / 2), sign * math.cos(yaw / 2))
        poses.append(BodyRow(round(t * 1e9), position, quaternion))
    return poses


@pytest.mark.parametrize('rate', [50, 100, 360])
@pytest.mark.parametrize('heading', [0.0, math.pi / 2, math.pi - 0.01])
@pytest.mark.parametrize('flip', [None, 60])
def test_velocity_on_a_circle(rate, heading, flip):
    poses = circle(rate, 3 * rate, heading=heading, flip=flip)
    velocity = by_difference(table_of(poses))
    assert velocity == pytest.approx(np.tile([0.3, 0.0, 0.5], (len(poses) - 1, 1)), abs=2e-4)


def test_a_pose_long_before_the_window_gives_no_velocity():
    """The body may have been anywhere meanwhile: the first pose of the window is the base."""
    poses = circle(100, 301)
    far = BodyRow(-SECOND, (100.0, 0.0, 0.0), UPRIGHT)
    alone = measure(poses, command=(0.3, 0.0, 0.5), source='mocap')
    assert measure([far, *poses], command=(0.3, 0.0, 0.5), source='mocap') == alone
    near = BodyRow(-SECOND // 100, poses[0].position, poses[0].orientation)
    assert measure([near, *poses], command=(0.3, 0.0, 0.5), source='mocap').samples == 300


def test_mocap_and_odometry_agree_on_a_circle():
    poses = circle(100, 301)
    by_pose = measure(poses, command=(0.3, 0.0, 0.5), source='mocap')
    assert by_pose.valid
    assert by_pose.psi < 2e-3


def test_heading_of_quaternions_of_any_length():
    quaternions = np.array([[0, 0, 1, 1], [0, 0, 2, 2], [0, 0, -0.5, -0.5]], dtype=float)
    assert yaw_of(quaternions) == pytest.approx([math.pi / 2] * 3)


def test_only_what_is_said_to_be_kept_is_measured():
    recorder = Recorder(loss())
    first, second = (Window(start, start + 10, (0.0, 0.0, 0.0), start) for start in (0, 20))
    recorder.keep({(0, 0): first, (1, 0): second})
    recorder.keep({(1, 0): second})
    assert recorder.open_keys == ((1, 0),)
    recorder.add(body_sample(15, (0.0, 0.0, 0.0)))
    assert recorder.complete_keys == ()
    recorder.keep({(1, 0): first})
    assert recorder.complete_keys == ((1, 0),)
    recorder.keep({})
    assert recorder.open_keys == ()
