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

"""Each fault of a sensor is a named reason with its numbers; a fall is a result."""

import math
import re

import numpy as np
import pytest
from support.bags import read_samples
from support.rows import BodyRow, rows_of

from repsq_ros.measurement.inputs import Input
from repsq_ros.measurement.limits import Condition, Fall, Limits
from repsq_ros.measurement.measure import Measure
from repsq_ros.measurement.reasons import Code
from repsq_ros.measurement.recorder import Recorder, Window
from repsq_ros.measurement.samples import joined, number_sample
from repsq_ros.measurement.tracking_loss import TrackingLoss
from repsq_ros.recordings.recording import Recording
from repsq_ros.specification.input_section import input_of_source
from repsq_ros.specification.load import load

SECOND = 1_000_000_000
UPRIGHT = (0.0, 0.0, 0.0, 1.0)
COMMAND = (0.3, 0.0, 0.0)
A_FINGER = Limits(rest_tilt=math.pi)  # of the real recording: it points anywhere
FRAME = 'world'


def walk(count=500, rate=100.0):
    """Poses of a body that walks forward, with a little noise, from one second before."""
    rng = np.random.default_rng(1)
    poses = []
    for k in range(count):
        t = k / rate - 1.0
        x, y, z = np.array([0.3 * t, 0.0, 0.7]) + rng.normal(0, 1e-4, 3)
        poses.append(BodyRow(round(t * 1e9), (x, y, z), UPRIGHT, frame=FRAME))
    return poses


def by_mocap(limits=Limits(), source=None, **changes):  # noqa: B008 (a frozen value)
    usual = input_of_source('mocap')
    return Measure(
        TrackingLoss(6.0, 'rms'),
        type(usual)(**{**vars(usual), 'frame': FRAME, **(source or {})}),
        limits,
        **changes,
    )


def measured(measure, samples, start_ns=0, end_ns=3 * SECOND, conditions=()):
    recorder = Recorder(measure, keep_ns=2**62)
    for sample in samples:
        recorder.add(sample.table)
    for name, reading in conditions:
        recorder.add(reading, name)
    recorder.open((0, 0), Window(start_ns, end_ns, COMMAND, start_ns - SECOND // 2))
    return recorder.close((0, 0))[1]


# The faults: each changes good samples in place, from index `at` on ------------------------------


def silence(samples, at):
    del samples[at : at + 40]


def sparse(samples, at):
    """Every gap is short, but half of the messages are missing in bursts of 15."""
    keep = [s for k, s in enumerate(samples) if k < at or (k - at) % 20 < 5]
    samples[:] = keep


def freeze(samples, at):
    for k in range(at, at + 30):
        samples[k] = samples[k]._replace(
            position=samples[at].position, orientation=samples[at].orientation
        )


def not_a_number(samples, at):
    samples[at] = samples[at]._replace(position=(math.nan, 0.0, 0.0))


def nan_quaternion(samples, at):
    samples[at] = samples[at]._replace(orientation=(math.nan,) * 4)


def no_quaternion(samples, at):
    samples[at] = samples[at]._replace(orientation=(0.0,) * 4)


def jump(samples, at):
    x, y, z = samples[at].position
    samples[at] = samples[at]._replace(position=(x + 0.5, y, z))


def turn_over(samples, at):
    """A marker body taken for its mirror image: half a turn from one frame to the next."""
    for k in range(at, len(samples)):
        x, y, z, w = samples[k].orientation
        samples[k] = samples[k]._replace(orientation=(-y, x, w, -z))


def other_frame(samples, at):
    samples[at] = samples[at]._replace(frame='map')


FAULTS = [
    (
        silence,
        r'gap: 0\.4\d\d s without a sample from 1\.\d+ s of the window on, at most 0\.2',
    ),
    (sparse, r'coverage: 0\.\d\d\d of the window lies near one of \d+ samples, at least 0\.8'),
    (freeze, r'frozen: bit-identical poses with fresh stamps for 0\.(29|3)\d* s from 1\.'),
    (not_a_number, r'not finite: NaN or infinity in a sample at 1\.\d\d\d s of the window'),
    (nan_quaternion, r'not finite: NaN or infinity in a sample at 1\.\d\d\d s of the window'),
    (no_quaternion, r'no orientation: a quaternion of norm zero \(tracking lost\) at 1\.\d\d\d s'),
    (
        jump,
        r'jump: 0\.[45]\d\d m within 0\.0\d\d\d s at 1\.\d\d\d s of the window, at most 10 m/s',
    ),
    (turn_over, r'jump: a turn by 3\.1\d\d rad within 0\.0\d\d\d s at 1\.\d\d\d s of the window'),
    (other_frame, r"wrong frame: frame_id 'map', expected 'world'"),
]


@pytest.mark.parametrize(('fault', 'reason'), FAULTS, ids=lambda v: getattr(v, '__name__', ''))
def test_a_fault_in_synthetic_poses_has_its_name(fault, reason):
    samples = walk()
    good = measured(by_mocap(), samples)
    assert good.valid, good.reason
    assert good.psi < 0.05
    fault(samples, 250)
    outcome = measured(by_mocap(), samples)
    assert (outcome.valid, outcome.psi) == (False, 0.0)
    assert re.match(reason, outcome.reason), outcome.reason


@pytest.mark.parametrize(('fault', 'reason'), FAULTS, ids=lambda v: getattr(v, '__name__', ''))
def test_a_fault_in_the_real_recording_has_its_name(recordings, fault, reason):
    """30 quiet seconds into the real recording; what arrives together must be no jump."""
    with Recording(recordings / 'optitrack_static_mcap') as bag:
        topic = '/vrpn_client_node/IndexFinger/pose'
        samples = rows_of(joined(read_samples(bag, topic, input_of_source('mocap'))))
    start = samples[0].stamp_ns + 30 * SECOND
    good = measured(by_mocap(A_FINGER), samples, start, start + 3 * SECOND)
    assert good.valid, good.reason
    first = next(k for k, s in enumerate(samples) if s.stamp_ns >= start)
    fault(samples, first + 150)
    outcome = measured(by_mocap(A_FINGER), samples, start, start + 3 * SECOND)
    assert not outcome.valid
    assert re.match(reason, outcome.reason), outcome.reason


def test_the_real_recording_is_valid_throughout(recordings):
    with Recording(recordings / 'optitrack_static_mcap') as bag:
        topic = '/vrpn_client_node/IndexFinger/pose'
        samples = rows_of(joined(read_samples(bag, topic, input_of_source('mocap'))))
    first = samples[0].stamp_ns + SECOND
    for k in range(20):
        outcome = measured(
            by_mocap(A_FINGER), samples, first + 3 * k * SECOND, first + 3 * (k + 1) * SECOND
        )
        assert outcome.valid, outcome.reason


def test_a_fault_before_the_window_is_none():
    samples = walk()
    samples[98] = samples[98]._replace(position=(math.nan, 0.0, 0.0))
    samples[97] = samples[97]._replace(orientation=(0.0, 0.0, 0.0, 0.0))
    assert measured(by_mocap(), samples).valid


@pytest.mark.parametrize('gap, valid', [(0, False), (15, False), (30, True)])
def test_a_jump_across_the_start_of_the_window(gap, valid):
    """From the last sample before it, unless that one is too long ago to say anything."""
    samples = [sample._replace(position=(5.0, 0.0, 0.7)) for sample in walk()[:100]] + walk()[100:]
    del samples[100 - gap : 100]
    outcome = measured(by_mocap(), samples)
    assert outcome.valid is valid
    if not valid:
        assert re.match(r'jump: [45]\.\d+ m within 0\.\d+ s at 0\.000 s', outcome.reason)


def test_stamps_of_arrival_are_put_back_onto_the_rate_of_the_sensor():
    """Retimed, a walk whose messages come in pairs is measured like one whose come evenly."""
    even = walk()
    paired = [
        sample._replace(stamp_ns=sample.stamp_ns + (SECOND // 125 if k % 2 == 0 else 0))
        for k, sample in enumerate(even)
    ]
    psi = {
        (name, retime): measured(by_mocap(source={'rate': 100.0, 'retime': retime}), samples).psi
        for name, samples in (('even', even), ('paired', paired))
        for retime in (False, True)
    }
    assert psi['paired', False] > 1.5 * psi['even', False]
    assert psi['paired', True] == pytest.approx(psi['even', False], rel=0.05)


def test_thresholds_are_those_of_the_specification():
    samples = walk()
    silence(samples, 250)
    patient = by_mocap(Limits(largest_gap_ns=SECOND, coverage=0.5))
    assert measured(patient, samples).valid
    strict = by_mocap(Limits(largest_gap_ns=SECOND, coverage=0.95))
    assert measured(strict, samples).reason.startswith('coverage: 0.87')


# Odometry ----------------------------------------------------------------------------------------


def odometry(position=lambda t: (0.0, 0.0, 0.0), velocity=(0.0, 0.0, 0.0)):
    return [
        BodyRow(k * 20_000_000, position(k / 50), UPRIGHT, velocity, (0.0, 0.0, 0.0))
        for k in range(151)
    ]


ODOMETRY = [
    (odometry(), 'all-zero odometry: position and twist of all 150 samples are exactly zero'),
    (
        odometry(lambda t: (0.3 * t, 0.0, 0.0)),
        'all-zero odometry: the twist of all 150 samples is exactly zero while the position moves '
        'by 0.8940 m',
    ),
    (odometry(lambda t: (1.0, 2.0, 0.0)), ''),  # stands still somewhere: a robot that did not go
    (odometry(velocity=(0.3, 0.0, 0.0)), ''),  # a bridge that tells no position
    (odometry(lambda t: (0.3 * t, 0.0, 0.0), (0.3, 0.0, 0.0)), ''),
    (
        odometry(lambda t: (min(1.0 + 0.3 * t, 1.6), 0.0, 0.0), (0.3, 0.0, 0.0)),
        'frozen: bit-identical poses with fresh stamps for 0.980 s from 2.000 s of the window on, '
        'at most 0.25 s allowed',
    ),
]


@pytest.mark.parametrize(('samples', 'reason'), ODOMETRY)
def test_odometry_that_says_nothing_is_told_from_a_robot_at_rest(samples, reason):
    measure = Measure(TrackingLoss(6.0, 'rms'), input_of_source('odometry'))
    outcome = measured(measure, samples)
    assert outcome.reason == reason
    assert outcome.valid == (not reason)


def test_a_real_odometry_without_twist_is_told(recordings):
    """A recording of wheels whose twist is taken out, as a driver does that knows poses alone."""
    with Recording(recordings / 'reemc_walks_mcap') as bag:
        samples = rows_of(joined(read_samples(bag, '/odom', input_of_source('odometry'))))
    start = samples[0].stamp_ns + 5 * SECOND
    measure = Measure(TrackingLoss(6.0, 'rms'), input_of_source('odometry'))
    assert measured(measure, samples, start, start + 3 * SECOND).valid
    zero = (0.0, 0.0, 0.0)
    dead = [s._replace(linear_velocity=zero, angular_velocity=zero) for s in samples]
    outcome = measured(measure, dead, start, start + 3 * SECOND)
    assert outcome.reason.startswith('all-zero odometry: the twist of all 1')


# Conditions --------------------------------------------------------------------------------------


def under_condition(**limits):
    share = Input('std_msgs/msg/Float64', 'condition/speed_scaling', unit='percent_or_share')
    return by_mocap(conditions=(Condition('speed_scaling', **limits),), condition_inputs=(share,))


CONDITIONS = [
    ([(-5.0, 100.0)], ''),
    ([(-5.0, 1.0)], ''),  # told once, before the test, and as a share
    ([(-5.0, 1.2)], 'speed_scaling not nominal: 0.012 at'),  # what is above 1 is percent
    (
        [(-5.0, 100.0), (1.5, 62.0)],
        'speed_scaling not nominal: 0.62 at 1.500 s of the window, exp',
    ),
    ([(-5.0, 62.0), (-0.2, 100.0)], 'speed_scaling not nominal: 0.62 at -5.000 s of the window'),
    ([(-5.0, 62.0), (-1.2, 100.0)], ''),  # nominal again before the command
    ([(-1.0, 100.0), (3.5, 62.0)], ''),  # after the window
    ([(-1.0, math.nan)], 'speed_scaling not nominal: nan'),
    ([], 'speed_scaling unknown: nothing was heard of it, expected at least 1'),
]


@pytest.mark.parametrize(('said', 'reason'), CONDITIONS)
def test_a_condition_objects_by_its_name(said, reason):
    readings = [('speed_scaling', number_sample(round(t * 1e9), value)) for t, value in said]
    outcome = measured(under_condition(at_least=1.0), walk(), conditions=readings)
    assert outcome.reason.startswith(reason)
    assert outcome.valid == (not reason)


def test_a_condition_that_went_silent_and_one_in_another_mode():
    reading = [('speed_scaling', number_sample(-SECOND, 1.0))]
    outcome = measured(
        under_condition(at_least=1.0, longest_silence=2.0), walk(), conditions=reading
    )
    assert outcome.reason.startswith('speed_scaling stale: last heard 4.000 s before the end')
    outcome = measured(under_condition(one_of=(3.0, 7.0)), walk(), conditions=reading)
    assert outcome.reason.endswith('expected one of 3, 7')


def test_a_condition_names_the_cause_where_the_sensor_shows_only_its_trace():
    reading = [('speed_scaling', number_sample(-SECOND, 0.5))]
    assert measured(under_condition(at_least=1.0), [], conditions=reading).reason.startswith(
        'speed_scaling'
    )


# Falls -------------------------------------------------------------------------------------------


def falling(since, height=0.2, tilt=1.4, took=0.3):
    """A body that topples from `since` on, and has come to lie `took` s later."""
    samples = walk()
    for k, sample in enumerate(samples):
        if sample.stamp_ns >= since * 1e9:
            part = min((sample.stamp_ns * 1e-9 - since) / took, 1.0) ** 2
            lying = (0.0, math.sin(part * tilt / 2), 0.0, math.cos(part * tilt / 2))
            x, y, z = sample.position
            samples[k] = sample._replace(
                position=(x, y, z + part * (height - z)), orientation=lying
            )
    return samples


@pytest.mark.parametrize('fall', [Fall(height=0.4), Fall(tilt=1.0), Fall(height=0.4, tilt=1.0)])
@pytest.mark.parametrize('since', [-0.3, 1.5])
def test_a_fall_is_the_worst_result_and_not_invalid(fall, since):
    """Even one before the window, and one that the cameras lose sight of."""
    samples = falling(since)
    for seen in (samples, [s for s in samples if s.stamp_ns < (since + 0.6) * 1e9]):
        outcome = measured(by_mocap(fall=fall), seen)
        assert (outcome.valid, outcome.psi, outcome.reason) == (True, 1.0, '')
        assert outcome.note == 'fall: lowest height 0.200 m, largest tilt 1.400 rad'


HOLDS = [(0.09, False), (0.1, True), (0.12, True), (0.19, True)]


@pytest.mark.parametrize(('seconds', 'fell'), HOLDS)
def test_a_fall_has_to_be_seen_for_so_long(seconds, fell):
    """Lower than the limit in all samples of 0.1 s: eleven at 100 Hz."""
    samples = walk()
    down = round(seconds * 100) + 1
    for k in range(240, 260 + down):
        dip = min((k - 239) / 20, 1.0, (260 + down - k) / 20) if k < 260 + down else 0.0
        x, y, z = samples[k].position
        samples[k] = samples[k]._replace(position=(x, y, z - 0.2 * max(dip, 0.0)))
    low = [s.position[2] for s in samples]
    limit = sorted(low)[down] - 1e-9  # so many samples lie under it, one after the other
    outcome = measured(by_mocap(fall=Fall(height=limit)), samples)
    assert (outcome.note != '') == fell


LOST = {
    'silence': lambda samples, at: samples[:at],
    'a repeated pose': lambda samples, at: samples[:at]
    + [
        s._replace(position=samples[at].position, orientation=samples[at].orientation)
        for s in samples[at:]
    ],
    'no numbers': lambda samples, at: samples[:at]
    + [s._replace(position=(math.nan,) * 3) for s in samples[at:]],
}


@pytest.mark.parametrize('how', LOST)
@pytest.mark.parametrize('limits', [{'height': 0.4}, {'tilt': 1.0}])
def test_a_robot_that_is_lost_while_it_falls_says_so(how, limits):
    """Lost 0.2 s after it began to topple: half-way down, and not yet below the limit."""
    lost = LOST[how](falling(1.5), 270)
    outcome = measured(by_mocap(fall=Fall(**limits)), lost)
    assert outcome.code is Code.LOST_FALLING, outcome.reason
    assert re.match(
        r'lost while falling: its (height was 0\.\d+ and went by -|tilt was 0\.\d+ and went by \+)'
        r'\d\.\d+ a second when it was seen last, at 1\.(69|7)\d* s',
        outcome.reason,
    )
    assert measured(by_mocap(fall=Fall(**limits)), LOST[how](walk(), 270)).code in (
        Code.GAP,
        Code.FROZEN,
        Code.NOT_FINITE,
    )


@pytest.mark.parametrize('until', [290, 500])
def test_what_a_jump_has_put_on_the_ground_is_no_fall(until):
    """Another body that lies there is taken for the robot: for 0.4 s, or for good."""
    samples = walk()
    for k in range(250, until):
        x, y, _ = samples[k].position
        samples[k] = samples[k]._replace(position=(x, y, 0.1))
    outcome = measured(by_mocap(fall=Fall(height=0.4)), samples)
    assert outcome.code is Code.JUMP
    assert outcome.reason.startswith('jump: 0.6')


def test_one_wild_pose_and_a_fall_of_the_test_before_are_none():
    samples = walk()
    samples[250] = samples[250]._replace(position=(0.45, 0.0, 0.1))
    outcome = measured(by_mocap(fall=Fall(height=0.4)), samples)
    assert outcome.reason.startswith('jump: 0.')
    before = [s._replace(position=(0.3, 0.0, 0.1)) if k < 40 else s for k, s in enumerate(walk())]
    assert measured(by_mocap(fall=Fall(height=0.4)), before).valid


def test_thresholds_are_read_and_are_part_of_the_contract(content, write):
    usual = load(write(content)).digest
    content['measure']['validity'] = {'coverage': 0.9, 'frozen': 0.5, 'fastest': 3.0}
    content['measure']['fall'] = {'height': 0.4, 'tilt': 1.0}
    content['measure']['conditions'] = {
        'battery': {'type': 'sensor_msgs/BatteryState', 'at_least': 0.2},
        'safety_mode': {
            'type': 'ur_dashboard_msgs/msg/SafetyMode',
            'field': 'mode',
            'one_of': [1],
        },
    }
    found = load(write(content))
    measure = found.measure
    assert (measure.limits.coverage, measure.limits.fastest) == (0.9, 3.0)
    assert measure.fall == Fall(0.4, 1.0)
    assert [condition.name for condition in measure.conditions] == ['battery', 'safety_mode']
    assert measure.condition_inputs[0].topic == 'condition/battery'
    assert found.digest != usual
