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

"""Inputs that were once counted as VALID and were wrong: each is the right psi now, or a reason.

Truth: a body at 0.3 m/s, commanded 0.3, 100 Hz, gain 6, rms: psi 0.0076 by poses with noise.
"""

import math
import os
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.damage import (
    BEFORE,
    LENGTH,
    OF_POSES,
    OF_TWISTS,
    SECOND,
    Motion,
    measure_of,
    moved,
    no_yaw_rate,
    outcome_of,
    w_first,
)

from repsq_ros.measurement.condition_checks import publishers_fault
from repsq_ros.measurement.displacement import SpaceDisplacement
from repsq_ros.measurement.limits import Limits
from repsq_ros.measurement.measure import Measure
from repsq_ros.measurement.reasons import Code
from repsq_ros.measurement.recorder import Recorder, Window
from repsq_ros.measurement.samples import Samples
from repsq_ros.specification.input_section import input_of_source

AT = 200  # the first sample in the window, at 100 Hz
TRUTH = 0.0076


def of_poses(change=None, motion=Motion(), **measure):  # noqa: B008
    samples = motion.samples()
    if change is not None:
        change(samples)
    return outcome_of(measure_of(**measure), samples)


def of_twists(change=None, motion=Motion(turn=0.2, heading=0.5), command=(0.3, 0.0, 0.2)):  # noqa: B008
    samples = motion.samples(twist=True)
    if change is not None:
        change(samples)
    return outcome_of(measure_of(twist=True), samples, command)


def test_the_truth():
    assert of_poses().psi == pytest.approx(TRUTH, abs=2e-3)
    assert of_twists().valid


def off(at, count=1, **by):
    """Return what moves some samples."""

    def change(samples):
        for k in range(at, at + count):
            samples[k] = moved(samples[k], **by)

    return change


# 1: before the window ----------------------------------------------------------------------------


@pytest.mark.parametrize('velocity', ['slope', 'cubic', 'difference'])
@pytest.mark.parametrize('before', [1, 3, 4, 5])
@pytest.mark.parametrize('by', [1e30, 0.5, 0.05])
def test_a_wild_pose_shortly_before_the_window(velocity, before, by):
    """Once psi 1.00 and 0.67, 30 to 50 ms before it."""
    outcome = of_poses(off(AT - before, x=by), velocity=velocity)
    if velocity == 'difference' and before > 1:
        assert outcome.valid  # it looks one pose back
        return
    assert outcome.code is Code.JUMP, outcome
    assert f'at -0.0{before}0 s of the window' in outcome.reason or before == 1 or by < 1


def test_a_wild_pose_that_no_velocity_looks_at_is_none():
    assert of_poses(off(AT - 13, x=0.5)) == of_poses()


@pytest.mark.parametrize('take', [of_poses, of_twists, lambda change: displaced(change)])
def test_a_jump_across_the_start_of_the_window(take):
    """Another body until the last sample before it: what follows says nothing of this one."""
    assert take(off(0, AT, x=1.0)).reason.startswith('jump: ')


# 2: the reference before the command -----------------------------------------------------------


def displaced(change=lambda samples: None, speed=0.0, **quantity):
    """A body at rest, or one that creeps, against where it was before the command."""
    samples = Motion(speed=speed).samples()
    change(samples)
    source = replace(input_of_source('mocap'), frame='world')
    return outcome_of(Measure(SpaceDisplacement(100.0, **quantity), source), samples)


def freeze(samples):
    for k in range(40, 100):  # all of the 0.5 s before the command, and more
        samples[k] = samples[k]._replace(
            position=samples[40].position, orientation=samples[40].orientation
        )


REFERENCES = [
    (off(70, x=1.0), Code.JUMP, 'jump: 1.000 m within 0.0100 s at -1.290 s'),  # 20 mm
    (freeze, Code.FROZEN, 'frozen: bit-identical poses with fresh stamps for 0.3'),  # 3 mm
    (
        lambda s: [off(k, x=0.001 * (k - 100))(s) for k in range(100)],
        Code.SETTLE, 'settle not reached: the body moves at 0.10',
    ),  # 25.5 mm: 0.1 m/s until the command
    (
        lambda s: [off(k, x=1e-4 * (k - 100))(s) for k in range(100)],
        Code.SETTLE, 'settle not reached: the body creeps by 3.38',
    ),
    (lambda s: s.__delitem__(slice(0, 100)), Code.REFERENCE, 'reference: no position within'),
    (lambda s: s.__delitem__(slice(60, 90)), Code.GAP, 'gap: 0.310 s without a sample from -1.4'),
    (off(71, x=math.nan), Code.NOT_FINITE, 'not finite: NaN or infinity in a sample at -1.290 s'),
    (lambda s: None, Code.UNANSWERED, ''),  # valid: it stands, whatever is commanded
]  # fmt: skip


@pytest.mark.parametrize(('change', 'code', 'reason'), REFERENCES)
def test_a_reference_passes_the_same_checks_as_the_window(change, code, reason):
    outcome = displaced(change)
    assert outcome.code is code, outcome
    assert outcome.reason.startswith(reason)
    if not reason:
        assert outcome.valid
        assert outcome.psi < 0.1


def test_the_reference_is_the_mean_of_half_a_second():
    """Noise of 1 mm: the mean of 50 samples is off by 0.14 mm a coordinate, not by 0.45."""
    rng = np.random.default_rng(2)

    def shake(samples):
        for k in range(100):
            samples[k] = moved(samples[k], *rng.normal(0, 1e-3, 3))

    found = [displaced(shake, settled_speed=0.1).psi for _ in range(30)]
    assert 0.1 < np.mean(found) < 0.4


@pytest.mark.parametrize('speed', [0.019, 0.002, 0.0006, 0.0002])
def test_a_body_that_creeps_has_not_settled(speed):
    """19 mm/s are below the usual 20 mm/s, and 28 mm away from it in the end."""
    outcome = displaced(speed=speed)
    if speed < 0.0005:
        assert outcome.psi == pytest.approx(speed * 2.75e3, abs=0.1)
    else:
        assert outcome.code is Code.SETTLE
        assert 'creeps by' in outcome.reason


def test_noise_does_not_hide_a_creep():
    """3 mm in the window under noise of 1 mm, whose own three standard errors are 0.6 mm."""
    samples = Motion(speed=0.001, noise=1e-3).samples()
    source = replace(input_of_source('mocap'), frame='world')
    quantity = SpaceDisplacement(100.0, settled_speed=0.1)
    outcome = outcome_of(Measure(quantity, source), samples)
    assert outcome.reason.startswith('settle not reached: the body creeps by')
    still = Motion(speed=0.0, noise=1e-3).samples()
    assert outcome_of(Measure(quantity, source), still).valid


# 3: twists ---------------------------------------------------------------------------------------


def twist(at, linear=None, angular=None):
    def change(samples):
        for k in [at] if at is not None else range(len(samples)):
            samples[k] = samples[k]._replace(
                linear_velocity=linear or samples[k].linear_velocity,
                angular_velocity=angular or samples[k].angular_velocity,
            )

    return change


def of_the_world(samples):
    OF_WORLD(samples, 0, 1.0, None)


OF_WORLD = next(each for each in OF_TWISTS if each.__name__ == 'of_the_world')
TWISTS = [
    (twist(300, linear=(50.0, 0.0, 0.0)), 'twist beyond belief: 50 m/s at 1.000 s of the window'),
    (twist(300, linear=(1e30, 0.0, 0.0)), 'twist beyond belief: 1e+30 m/s'),
    (twist(300, angular=(0.0, 0.0, 627.0)), 'twist beyond belief: 627 rad/s'),
    (twist(300, linear=(0.7, 0.0, 0.0)), 'twist beyond belief: the instruments may have moved'),
    (
        twist(None, linear=(1e-12, 0.0, 0.0)),
        'twist disagrees with pose: the instruments may have moved psi by 0.83',
    ),
    (
        twist(None, angular=(0.0, 0.0, 0.0)),
        'twist disagrees with pose: the instruments may have moved psi by 0.69',
    ),
    (of_the_world, 'twist disagrees with pose: '),
]


@pytest.mark.parametrize(('change', 'reason'), TWISTS)
def test_a_twist_is_held_against_bounds_and_its_pose(change, reason):
    outcome = of_twists(change)
    assert not outcome.valid, outcome
    assert outcome.reason.startswith(reason)
    assert outcome.code in (Code.TWIST, Code.TWIST_BOUND)


def test_a_twist_of_the_world_is_told_where_the_body_hardly_turns():
    """0.125 m/s to the side, 11 degrees in the end: by 0.013 m/s, which no tolerance would see."""
    motion = Motion(speed=0.0, sideways=0.125, turn=0.0625)
    outcome = of_twists(of_the_world, motion, (0.0, 0.125, 0.0625))
    assert outcome.code is Code.TWIST
    assert outcome.reason.endswith('in the world frame: velocity_frame: world?')
    assert of_twists(None, motion, (0.0, 0.125, 0.0625)).valid


@pytest.mark.parametrize('part', [{'linear': (0.7, 0.0, 0.0)}, {'angular': (0.0, 0.0, 2.0)}])
def test_a_twist_that_stands_out_counts_by_what_it_does_to_psi(part):
    samples = Motion(turn=0.2, heading=0.5).samples(twist=True)
    twist(300, **part)(samples)
    usual = measure_of(twist=True)
    lax = replace(usual, limits=Limits(largest_error=100.0))
    codes = [outcome_of(each, samples, (0.3, 0.0, 0.2)).code for each in (usual, lax)]
    assert codes == [Code.TWIST_BOUND, None]


def test_what_held_up_arrivals_may_add_is_declared():
    samples = Motion().samples()
    STALLED(samples, 250, 0.5, None)
    usual = measure_of()
    lax = replace(usual, limits=Limits(bunched=10.0))
    codes = [outcome_of(each, samples).code for each in (usual, lax)]
    assert codes[0] is Code.BUNCHED
    assert codes[1] is not Code.BUNCHED


@pytest.mark.parametrize('scale', [1.0, 1.5])
def test_a_twist_that_comes_seldom_may_leave_out_a_sway(scale):
    """10 Hz of a trot of 3.3 Hz: the poses have what lies between two twists. A scale is told."""
    t, turn = np.arange(20) / 10.0, 2.0 * math.pi * 3.3
    linear, position, angular = np.zeros((3, 20, 3))
    linear[:, 0] = scale * (0.3 + 0.3 * np.sin(turn * t))
    position[:, 0] = 1.0 + 0.3 * t - 0.3 * np.cos(turn * t) / turn
    upright = np.tile([0.0, 0.0, 0.0, 1.0], (20, 1))
    stamps = np.rint(t * SECOND).astype(np.int64)
    samples = Samples(stamps, position, upright, linear, angular, frames='world')
    window = Window(0, 2 * SECOND, (0.3, 0.0, 0.0))
    recorder = Recorder(measure_of(twist=True), keep_ns=2**62)
    recorder.add(samples)
    outcome = recorder.measure(window)
    assert outcome.valid == (scale == 1.0), outcome
    assert scale == 1.0 or outcome.code is Code.TWIST


def test_how_fast_a_body_moves_is_declared():
    samples = Motion().samples(twist=True)
    fast = [s._replace(linear_velocity=(7.0, 0.0, 0.0)) for s in samples]
    slow = replace(measure_of(twist=True), limits=Limits(fastest=5.0))
    assert outcome_of(slow, fast).reason.startswith(
        'twist beyond belief: 7 m/s at 0.000 s of the window, at most 5 m/s is believed'
    )


@pytest.mark.parametrize('tiny', [0.0, 1e-15])
@pytest.mark.parametrize('told', [True, False])
def test_nothing_is_wrong_with_a_body_at_rest_that_repeats_itself(tiny, told):
    """Wheels at rest, a twist of 1e-15 or of exact zeros, with a position or without."""
    place = (1.0, 2.0, 0.7) if told else (0.0, 0.0, 0.0)
    samples = [
        s._replace(position=place, orientation=(0.0, 0.0, 0.0, 1.0),
                   linear_velocity=(tiny, 0.0, 0.0), angular_velocity=(0.0, 0.0, tiny))
        for s in Motion().samples(twist=True)
    ]  # fmt: skip
    outcome = outcome_of(measure_of(twist=True), samples, command=(0.0, 0.0, 0.0))
    assert (outcome.valid, outcome.reason) == (True, '')
    assert outcome.psi == pytest.approx(0.0, abs=1e-12)


def test_a_twist_of_zero_beside_a_pose_with_noise_is_rest():
    samples = Motion(speed=0.0).samples(twist=True)
    twist(None, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))(samples)
    assert outcome_of(measure_of(twist=True), samples, command=(0.0, 0.0, 0.0)).psi == 0.0


# 4: bunched arrivals -----------------------------------------------------------------------------

STALLED = next(each for each in OF_POSES if each.__name__ == 'stalled')


@pytest.mark.parametrize('milliseconds', [50, 100, 190])
@pytest.mark.parametrize('at', [196, 250, 480])
def test_a_stall_of_the_network_is_told_with_its_remedy(milliseconds, at):
    """Once psi .16 to .71."""

    def change(samples):
        STALLED(samples, at, (milliseconds - 50) / 140, None)

    outcome = of_poses(change)
    assert outcome.code is Code.BUNCHED, outcome
    assert 'its rate and retime: true' in outcome.reason
    again = of_poses(change, rate=100.0, retime=True)
    assert again.psi == pytest.approx(TRUTH, abs=0.02), again.reason


def test_a_stall_that_ends_just_before_the_window_is_told():
    """What came together is within the span of the first velocity, what went before is not."""
    outcome = of_poses(lambda samples: STALLED(samples, 182, 120 / 140, None))
    assert outcome.code is Code.BUNCHED, outcome


def test_a_stall_spoils_nothing_where_the_body_rests():
    clean = of_poses(motion=Motion(speed=0.0))
    outcome = of_poses(lambda s: STALLED(s, 300, 0.5, None), Motion(speed=0.0))
    assert outcome.psi == pytest.approx(clean.psi, abs=2e-3)


@pytest.mark.parametrize('apart', [0, 200_000])
@pytest.mark.parametrize('rate', [50.0, 100.0, 360.0])
def test_each_value_twice_is_no_loss_of_coverage(rate, apart):
    motion = Motion(rate=rate)

    def change(samples):
        samples[:] = [
            each for s in samples for each in (s, s._replace(stamp_ns=s.stamp_ns + apart))
        ]

    outcome = of_poses(change, motion)
    assert outcome.psi == pytest.approx(of_poses(motion=motion).psi, abs=2e-3), outcome.reason


def test_bursts_of_a_gauge_body_at_rest_are_no_loss_of_coverage():
    """Five poses at once, every 50 ms."""

    def change(samples):
        for k, sample in enumerate(samples):
            late = samples[k - k % 5 + 4].stamp_ns if k - k % 5 + 4 < len(samples) else 0
            samples[k] = sample._replace(stamp_ns=late + (k % 5) * 200_000)

    still = displaced(change)
    assert still.valid, still.reason


# 5: another body ---------------------------------------------------------------------------------


@pytest.mark.parametrize('frames', [1, 5, 30])
@pytest.mark.parametrize('apart', [0.09, 0.15])
@pytest.mark.parametrize('rate', [50.0, 100.0, 360.0])
def test_two_bodies_that_change_places(frames, apart, rate):
    """Once .48 to .93."""
    at = round((BEFORE + 1.0) * rate)
    outcome = of_poses(off(at, frames, y=apart), Motion(rate=rate))
    assert outcome.code is Code.JUMP


@pytest.mark.parametrize('apart', [0.03, 0.3, 3.0])
@pytest.mark.parametrize('later', [0, 1_000_000, 5_000_000])
def test_a_second_publisher_with_another_body(apart, later):
    def change(samples):
        samples[:] = [
            each for s in samples
            for each in (s, moved(s, y=apart)._replace(stamp_ns=s.stamp_ns + later))
        ]  # fmt: skip

    outcome = of_poses(change)
    assert outcome.code is (Code.JUMP if later else Code.CONFLICT), outcome


@pytest.mark.parametrize('order', [1, -1])
def test_equal_stamps_with_unequal_content_are_a_reason_in_any_order(order):
    def change(samples):
        samples[300:301] = [samples[300], moved(samples[300], y=0.004)][::order]

    outcome = of_poses(change)
    assert outcome.reason.startswith('equal stamps with unequal content: two bodies, or two pub')
    assert outcome.reason.endswith('at 1.000 s of the window')


def test_more_than_one_publisher_is_a_reason():
    assert publishers_fault('/odom', []) is None
    assert publishers_fault('/odom', ['/driver']) is None
    found = publishers_fault('/odom', ['/driver', '/bag'])
    assert found.code is Code.PUBLISHERS
    assert found.text.startswith('publishers: 2 on /odom (/bag, /driver), expected one')


# Thresholds, each from both sides ----------------------------------------------------------------


@pytest.mark.parametrize(('frames', 'fits'), [(26, True), (27, False)])
def test_a_body_may_repeat_its_pose_for_a_quarter_of_a_second(frames, fits):
    def change(samples):
        for k in range(300, 300 + frames):
            samples[k] = samples[k]._replace(
                position=samples[300].position, orientation=samples[300].orientation
            )

    outcome = of_poses(change, Motion(speed=0.0))
    assert outcome.valid == fits, outcome.reason
    assert fits or outcome.code is Code.FROZEN


STUCK = [(300, 12, Code.FROZEN), (300, 2, None), (495, 100, Code.FROZEN), (499, 100, None)]


@pytest.mark.parametrize(('at', 'frames', 'code'), STUCK)
def test_a_pose_that_is_repeated_while_the_body_moves_on(at, frames, code):
    """Far shorter than a quarter of a second: in the window, and at its end."""

    def change(samples):
        for k in range(at, min(at + frames, len(samples))):
            samples[k] = samples[k]._replace(
                position=samples[at].position, orientation=samples[at].orientation
            )

    outcome = of_poses(change)
    assert outcome.code is code, outcome
    if code is None:
        assert outcome.psi == pytest.approx(of_poses().psi, abs=0.02)


@pytest.mark.parametrize(
    ('noise', 'by', 'fits'), [(1e-5, 0.001, True), (1e-5, 0.004, False), (3e-4, 0.015, False)]
)
def test_one_pose_out_of_line_by_millimetres(noise, by, fits):
    outcome = of_poses(off(300, y=by), Motion(noise=noise))
    assert outcome.valid == fits, outcome.reason
    assert fits or outcome.code is Code.JUMP


@pytest.mark.parametrize(('by', 'fits'), [(0.099, True), (0.101, False)])
def test_ten_metres_a_second_are_a_jump(by, fits):
    """Where its neighbours are no measure: of a body that is told to jump about."""
    wide = replace(measure_of(), limits=Limits(outlier=10.0))
    samples = Motion(speed=0.0, noise=1e-6).samples()
    for k in range(300, len(samples)):
        samples[k] = moved(samples[k], y=by)
    assert outcome_of(wide, samples).valid == fits


@pytest.mark.parametrize(('turned', 'fits'), [(0.39, True), (0.41, False)])
def test_forty_radians_a_second_are_a_jump(turned, fits):
    wide = replace(measure_of(), limits=Limits(outlier_turn=10.0))
    samples = Motion(speed=0.0).samples()
    for k in range(300, len(samples)):
        _, _, z, w = samples[k].orientation
        s, c = math.sin(turned / 2), math.cos(turned / 2)
        samples[k] = samples[k]._replace(orientation=(0.0, 0.0, z * c + w * s, w * c - z * s))
    assert outcome_of(wide, samples).valid == fits


# The fuzz ----------------------------------------------------------------------------------------

CASES = int(os.environ.get('REPSQ_FUZZ', '300'))
MOTIONS = st.builds(
    Motion,
    *(st.floats(-0.3, 0.3) for _ in range(3)),
    heading=st.floats(-math.pi, math.pi),
    rate=st.sampled_from([50.0, 100.0, 120.0, 240.0, 360.0]),
    noise=st.sampled_from([1e-6, 1e-5, 1e-4, 3e-4]),
    sway=st.sampled_from([0.0, 0.005, 0.01]),
    seed=st.integers(0, 2**30),
)
ALL = [(True, each) for each in OF_TWISTS] + [(False, each) for each in OF_POSES]


@settings(
    max_examples=CASES, deadline=None, derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)  # fmt: skip
@given(
    kind=st.sampled_from(ALL),
    motion=MOTIONS,
    error=st.tuples(*(st.sampled_from([0.0, 0.02, -0.1]) for _ in range(3))),
    when=st.floats(-0.2, LENGTH - 0.01),
    size=st.floats(0.0, 1.0),
    seed=st.integers(0, 2**30),
)
def test_psi_is_right_or_there_is_a_reason(kind, motion, error, when, size, seed):
    """A true motion, then any damage at any instant: within 0.02, or INVALID with its own word."""
    twist, damage = kind
    if damage is w_first:  # a body that faces backwards seems to face forwards
        motion = replace(motion, heading=motion.heading * 0.6)
    if damage is no_yaw_rate and abs(motion.turn) < 0.03:  # as little is believed
        motion = replace(motion, turn=0.1)
    command = tuple(np.add((motion.speed, motion.sideways, motion.turn), error))
    measure, samples = measure_of(twist), motion.samples(twist)
    clean = outcome_of(measure, samples, command)
    assert clean.valid, clean.reason
    damage(samples, int((BEFORE + when) * motion.rate), size, np.random.default_rng(seed))
    found = outcome_of(measure, samples, command)
    if found.valid:
        assert found.psi == pytest.approx(clean.psi, abs=0.02)
    else:
        assert found.code in (OF_TWISTS if twist else OF_POSES)[damage], found.reason


# Over time ---------------------------------------------------------------------------------------


def test_the_same_reason_through_a_recorder_that_is_fed_while_the_window_is_open():
    samples = Motion().samples()
    off(300, x=0.5)(samples)
    recorder = Recorder(measure_of())
    start_ns = samples[AT].stamp_ns
    recorder.open((0, 0), Window(start_ns, start_ns + 3 * SECOND, (0.3, 0.0, 0.0)))
    for sample in samples:
        recorder.add(sample.table)
    assert recorder.close((0, 0))[1] == outcome_of(measure_of(), samples)
