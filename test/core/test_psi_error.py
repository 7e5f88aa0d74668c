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

"""Each psi carries what the instruments may have done to it; too much of that is INVALID."""

import json
import math
import re
from dataclasses import replace

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from scipy.spatial.transform import Rotation, Slerp
from support.damage import BEFORE, EPOCH, LENGTH, SECOND, Motion, measure_of
from support.rows import table_of

from repsq_ros.campaign.journal import Entry
from repsq_ros.campaign.journal_contents import line_of_test, record_of_line
from repsq_ros.campaign.records import TestRecord
from repsq_ros.measurement.displacement import GaugeDisplacement, SpaceDisplacement
from repsq_ros.measurement.heading import unwrapped, yaw_of
from repsq_ros.measurement.indicator import Indicator
from repsq_ros.measurement.inputs import Input
from repsq_ros.measurement.measure import Measure
from repsq_ros.measurement.over_time import OverTime
from repsq_ros.measurement.own import OwnQuantity
from repsq_ros.measurement.psi_error import PsiError
from repsq_ros.measurement.reasons import Code
from repsq_ros.measurement.recorder import Recorder, Window
from repsq_ros.measurement.samples import Samples
from repsq_ros.measurement.twists import integrated
from repsq_ros.specification.input_section import input_of_source
from repsq_ros.specification.load import load_altered

START_NS = EPOCH + round(BEFORE * 1e9)
COMMAND = (0.3, 0.0, 0.2)
WALK = Motion(turn=0.25, heading=0.4, sway=0.008, noise=0.0)


def outcome_of(samples, gamma=None, command=COMMAND, measure=None, **source):
    twist = samples.linear is not None
    measure = measure or measure_of(twist=twist, **source)
    recorder = Recorder(replace(measure, gamma=gamma), keep_ns=2**62)
    recorder.add(samples)
    end_ns = START_NS + round(LENGTH * 1e9)
    return recorder.measure(Window(START_NS, end_ns, command, START_NS - SECOND))


def walk(twist=False, **changes):
    return table_of(replace(WALK, **changes).samples(twist=twist))


TRUTH = outcome_of(walk(twist=True)).psi


def test_an_ideal_sensor_has_no_error():
    assert outcome_of(walk(twist=True)).psi_error < 1e-4
    assert outcome_of(walk(), velocity='cubic').psi_error < 5e-4


@pytest.mark.parametrize('seed', range(3))
def test_noise_of_a_twist(seed):
    outcome = outcome_of(walk(twist=True, noise=0.002, seed=seed))  # 0.02 m/s and rad/s
    assert outcome.psi_error == pytest.approx(outcome.psi - TRUTH, rel=0.4)
    assert outcome.psi_error > 0.01


@pytest.mark.parametrize('velocity', ['slope', 'cubic', 'difference'])
def test_noise_of_poses(velocity):
    """The more an estimator follows, the more noise it takes."""
    noise = {'slope': 1e-3, 'cubic': 4e-4, 'difference': 1e-4}[velocity]
    smooth = outcome_of(walk(), velocity=velocity).psi
    outcome = outcome_of(walk(noise=noise), velocity=velocity)
    assert outcome.psi - smooth > 0.005
    assert outcome.psi_error == pytest.approx(outcome.psi - smooth, rel=0.5)


@pytest.mark.parametrize('span', [0.1, 0.2])
def test_what_a_slope_smooths(span):
    outcome = outcome_of(walk(sway=0.02), velocity='slope', velocity_span=span)
    truth = outcome_of(walk(twist=True, sway=0.02)).psi
    assert outcome.psi < truth
    assert outcome.psi_error == pytest.approx(truth - outcome.psi, rel=0.25)


def test_what_a_slope_smooths_is_told_and_spoils_no_test():
    outcome = outcome_of(walk(sway=0.02), gamma=1e-3, velocity='slope', velocity_span=0.2)
    assert outcome.valid
    assert outcome.psi_error > 1e-3


def wandering(samples):
    """Stamps of arrival whose delay goes up and down within a second."""
    t = (samples.stamps - samples.stamps[0]) * 1e-9
    late = 3e7 * (1.0 - np.cos(2.0 * math.pi * t))
    return replace(samples, stamps=samples.stamps + late.astype(np.int64))


def test_a_delay_that_wanders():
    outcome = outcome_of(wandering(walk(noise=1e-4)), gamma=0.04)
    assert outcome.code is Code.ERROR
    assert 'stamps' in outcome.reason
    told = outcome_of(wandering(walk(noise=1e-4)))
    assert told.valid
    assert told.psi_error > 0.8 * abs(told.psi - TRUTH) > 0.01


def test_stamps_that_are_uneven_and_right():
    """The poses lie on a smooth path by them, and by no others."""
    rng = np.random.default_rng(4)
    dense = walk(rate=2000.0)
    rows = np.arange(0, len(dense), 20) + rng.integers(0, 12, len(dense) // 20)
    assert outcome_of(dense.take(rows), velocity='cubic').psi_error < 1e-3


def test_a_twist_that_is_a_little_high_beside_a_right_pose():
    samples = walk(twist=True, noise=1e-5)
    high = replace(samples, linear=1.07 * samples.linear)
    outcome = outcome_of(high, command=(0.0, 0.0, 0.2))
    truth = outcome_of(samples, command=(0.0, 0.0, 0.2)).psi
    assert outcome.psi_error == pytest.approx(outcome.psi - truth, rel=0.05)
    assert outcome.psi_error > 0.01


def test_twist_and_pose_disagree_by_what_it_does_to_psi():
    """7 % of the speed matter; 0.03 rad/s do not beside an error of 0.6 m/s."""
    samples = walk(twist=True, noise=1e-5)
    high = replace(samples, linear=1.07 * samples.linear)
    told = outcome_of(high, gamma=0.04, command=(0.0, 0.0, 0.2))
    assert told.code is Code.TWIST
    assert 'they differ by 0.0210 m/s and 0.000' in told.reason
    turned = replace(samples, angular=samples.angular + np.array([0.0, 0.0, 0.03]))
    assert outcome_of(turned, gamma=0.04, command=(-0.3, 0.0, 0.25)).valid
    assert outcome_of(turned, gamma=0.04, command=(0.3, 0.0, 0.25)).code is Code.TWIST


def test_a_yaw_rate_that_is_left_out_counts_where_only_the_sway_is_missing():
    """As of a recorded walker, whose odometry leaves the yaw rate at zero."""
    samples = walk(twist=True, turn=0.0)
    t = (samples.stamps - samples.stamps[0]) * 1e-9
    half = 0.02 * np.sin(2.0 * math.pi * 1.5 * t)
    samples.orientation[:, 2:] = np.column_stack([np.sin(half), np.cos(half)])
    told = outcome_of(samples, gamma=0.04, command=(0.0, 0.0, 0.0))
    assert told.code is Code.TWIST
    assert told.reason.endswith('the twist has no yaw rate: velocity: slope?')


def test_a_sway_seen_at_a_low_rate_is_no_noise():
    assert outcome_of(walk(twist=True, sway=0.02, rate=12.0)).psi_error < 0.005


def test_noise_of_a_twist_spoils_no_test_since_it_may_be_the_jolts_of_the_body():
    samples = walk(twist=True, noise=0.002)
    assert outcome_of(samples, gamma=0.01).valid
    assert outcome_of(samples, gamma=0.01, velocity_span=0.04).code is Code.TWIST  # poses' noise


@pytest.mark.parametrize('seed', range(3))
def test_the_noise_of_a_yaw_rate_is_no_wrong_scale_of_it(seed):
    """Nor are the jolts of a gait, which a twist of 50 Hz tells where they happen to be."""
    samples = walk(twist=True, turn=0.0)
    angular = samples.angular.copy()
    angular[:, 2] += np.random.default_rng(seed).normal(0.0, 0.1, len(samples))
    outcome = outcome_of(replace(samples, angular=angular), gamma=0.04, command=(0.3, 0.0, 0.0))
    assert outcome.valid, outcome.reason


def test_twists_that_stand_out_are_spikes_unless_the_poses_go_along():
    samples = walk(twist=True)
    jolts = np.zeros(len(samples))
    jolts[::40] = 0.2
    yaw, linear = yaw_of(samples.orientation), samples.linear.copy()
    linear[:, 0] += jolts
    way = (np.cumsum(jolts) - jolts / 2.0) / WALK.rate
    position = samples.position + np.column_stack([way * np.cos(yaw), way * np.sin(yaw), 0 * way])
    jolted = replace(samples, linear=linear)
    along = outcome_of(replace(jolted, position=position), gamma=0.04)
    assert along.valid
    assert along.psi_error < 0.005
    spoiled = outcome_of(jolted, gamma=0.04)
    assert spoiled.code is Code.TWIST_BOUND
    assert re.search(r'spikes 0\.0\d+.*: 0\.2 m/s beside those around it at', spoiled.reason)
    off = outcome_of(jolted).psi - TRUTH
    assert outcome_of(jolted).psi_error == pytest.approx(off, rel=0.05)


def test_the_limit_is_a_share_of_gamma_and_is_told():
    samples = walk(noise=1e-4)
    error = outcome_of(samples, velocity='difference').psi_error
    assert outcome_of(samples, gamma=4.05 * error, velocity='difference').valid
    spoiled = outcome_of(samples, gamma=3.95 * error, velocity='difference')
    assert (spoiled.valid, spoiled.psi, spoiled.psi_error) == (False, 0.0, 0.0)
    assert spoiled.reason.startswith(
        f'psi error: the instruments may have moved psi by {error:.3g} (noise '
    )
    assert f'at most {3.95 * error / 4:.3g} allowed (largest_error)' in spoiled.reason


def test_causes_add_as_squares_and_those_of_the_contract_spoil_nothing():
    error = PsiError(noise=3.0, stamps=4.0, smoothing=12.0)
    assert error.total == 13.0
    assert error.fault(5.0, 'mm') is None
    assert 'by 5 mm (stamps 4, noise 3), at most 4.9 mm' in error.fault(4.9, 'mm').text
    assert PsiError(near_threshold=1.0).fault(0.1, '1') is None


# Numbers and places ------------------------------------------------------------------------------

GAUGE = Input('std_msgs/msg/Float64', 'gauge', unit='mm')


def gauge(before, inside, take='last', **changes):
    values = [*before, *inside]
    stamps = [
        *np.linspace(START_NS - 1.4 * SECOND, START_NS - 1.15 * SECOND, len(before)),
        *np.linspace(START_NS + 1e6, START_NS + 0.95 * LENGTH * SECOND, len(inside)),
    ]
    samples = Samples(np.array(stamps, dtype=np.int64), value=np.array(values))
    measure = Measure(GaugeDisplacement(1.0, take=take, **changes), GAUGE)
    return outcome_of(samples, measure=measure)


def longer(length, variance):
    return length - math.sqrt(length**2 - variance)


def test_the_scatter_of_a_gauge_makes_a_distance_longer():
    noisy = [5.0, 5.002, 4.998, 5.003, 4.997, 5.0]
    step, variance = 0.0005, float(np.var(noisy))
    last = gauge([4.99] * 6, noisy)
    assert last.psi_error == pytest.approx(math.hypot(step, longer(last.psi, variance)))
    median = gauge([4.99] * 6, noisy, take='median')
    share = 1.57 / 6
    assert median.psi_error == pytest.approx(
        math.hypot(step, longer(median.psi, share * variance))
    )
    tare = gauge(noisy, [5.01] * 3)
    assert tare.psi_error == pytest.approx(math.hypot(step, longer(tare.psi, share * variance)))
    assert gauge(noisy, [5.2] * 3, tare=5.0).psi_error == 0.0
    highest = gauge([4.99] * 6, noisy, take='largest').psi_error
    assert highest == pytest.approx(math.sqrt(variance), rel=0.1)
    assert gauge([5.0] * 6, noisy, take='last').psi_error == pytest.approx(step)  # psi is 0


def test_the_step_of_a_gauge_counts_by_half():
    steps = gauge([5.0, 5.0, 5.0], [7.0] * 40 + [7.05])
    assert steps.psi_error == pytest.approx(0.025, rel=1e-3)


def test_the_noise_of_a_place_makes_a_distance_longer_and_a_creep_is_no_noise():
    source = replace(input_of_source('mocap'), frame='world')
    samples = table_of(Motion(speed=0.0, noise=2e-4).samples())
    samples.position[:, 1] += 1e-4 * (samples.stamps - samples.stamps[0]) * 1e-9
    outcome = outcome_of(samples, measure=Measure(SpaceDisplacement(100.0), source))
    before, inside = 35, 300  # samples
    expected = longer(outcome.psi, 3 * 0.2**2 * (1.0 / before + 1.0 / inside))  # mm
    assert outcome.psi_error == pytest.approx(expected, rel=0.4)


def test_a_number_over_time():
    values = np.tile([1.0, 1.2], 50)
    stamps = START_NS + np.arange(100) * 30_000_000
    samples = Samples(stamps.astype(np.int64), value=values)
    measure = Measure(OverTime(5.0, 'mean'), replace(GAUGE, unit='1'))
    assert outcome_of(samples, measure=measure).psi_error == pytest.approx(0.1)


def test_an_indicator_is_sure_unless_it_is_near_its_threshold():
    samples = walk(twist=True, noise=0.001)
    usual = measure_of(twist=True)
    inner = outcome_of(samples)
    for above, error in ((inner.psi + 0.9 * inner.psi_error, 1.0), (inner.psi / 2, 0.0)):
        measure = replace(usual, quantity=Indicator(usual.quantity, above))
        found = outcome_of(samples, gamma=0.01, measure=measure)
        assert (found.valid, found.psi_error) == (True, error)


def test_an_indicator_at_its_threshold_counts():
    samples, usual = walk(), measure_of()
    measure = replace(usual, quantity=Indicator(usual.quantity, outcome_of(samples).psi))
    found = outcome_of(samples, gamma=0.01, measure=measure)
    assert (found.valid, found.psi, found.psi_error) == (True, 0.0, 1.0)


def test_an_indicator_does_not_count_where_twist_and_pose_are_on_two_sides():
    samples, usual = walk(twist=True), measure_of(twist=True)
    high = replace(samples, linear=1.5 * samples.linear)
    right, wrong = (outcome_of(each, measure=usual).psi for each in (samples, high))
    for above, valid in (((right + wrong) / 2, False), (right / 2, True)):
        measure = replace(usual, quantity=Indicator(usual.quantity, above))
        assert outcome_of(high, gamma=0.04, measure=measure).valid == valid


def test_a_measure_of_ones_own_is_asked_again_with_the_twist_of_the_poses():
    class Fastest:
        lower, upper, unit, needs = 0.0, 10.0, 'm/s', 'velocity'

        def psi(self, cut):
            return float(np.abs(cut.measured.linear[:, 0]).max())

    samples = walk(twist=True)
    measure = replace(measure_of(twist=True), quantity=OwnQuantity(Fastest(), {'type': 'own'}))
    assert outcome_of(samples, gamma=0.04, measure=measure).valid
    high = replace(samples, linear=1.2 * samples.linear)
    found = outcome_of(high, gamma=0.04, measure=measure)
    assert found.code is Code.TWIST
    assert 'psi by 0.06 m/s' in found.reason


def test_a_measure_of_ones_own_may_say_its_error():
    class Own:
        lower, upper, unit, needs = 0.0, 1.0, '1', 'velocity'

        def psi(self, cut):
            return 0.5

    class Told(Own):
        def psi_error(self, cut):
            return 0.03

    for kind, error in ((Own, 0.0), (Told, 0.03)):
        measure = replace(measure_of(), quantity=OwnQuantity(kind(), {'type': 'own'}))
        assert outcome_of(walk(), measure=measure).psi_error == error


# What becomes of it ------------------------------------------------------------------------------

G1 = 'config/g1_locomotion.yaml'


def test_the_limit_is_part_of_the_digest_only_where_it_is_declared():
    usual = load_altered(G1, None, {})
    strict = load_altered(G1, None, {'measure': {'validity': {'largest_error': 0.1}}})
    assert (usual.measure.gamma, usual.measure.limits.largest_error) == (0.04, 0.25)
    assert 'largest_error' not in json.dumps(usual.shared())
    assert strict.shared()['measure']['limits']['largest_error'] == 0.1
    assert strict.digest != usual.digest


def test_journals_without_it_are_read():
    record = TestRecord(0, 0, 0.5, 1.0, True, x=(0.1,), psi_error=0.01)
    line = json.loads(json.dumps(line_of_test(record)))
    line['weight_bound'] = math.inf
    assert record_of_line(Entry('test', line)) == record
    del line['psi_error']
    assert record_of_line(Entry('test', line)) == replace(record, psi_error=0.0)


@pytest.mark.parametrize(
    ('sway', 'noise', 'better'), [(0.015, 1e-4, 'cubic'), (0.003, 1e-3, 'slope')]
)
def test_auto_takes_the_estimator_of_the_smaller_error(sway, noise, better):
    """What the gait asks for, and what the noise allows: equal by contract in every lab."""
    samples = walk(sway=sway, noise=noise)
    found = {each: outcome_of(samples, velocity=each) for each in ('slope', 'cubic', 'auto')}
    assert found['auto'] == found[better]
    other = found['slope' if better == 'cubic' else 'cubic']
    assert found['auto'].psi_error < other.psi_error
    assert abs(found['auto'].psi - TRUTHS[sway]) < abs(other.psi - TRUTHS[sway])


TRUTHS = {sway: outcome_of(walk(twist=True, sway=sway)).psi for sway in (0.015, 0.003)}


@given(
    lean=st.tuples(st.floats(-0.3, 0.3), st.floats(-0.3, 0.3)),
    turn=st.floats(-1.0, 1.0),
    pace=st.floats(2.0, 12.0),
)
def test_a_twist_leads_to_the_heading_of_a_body_that_leans_as_it_walks(lean, turn, pace):
    """A gait rolls and pitches: its rate about z is not that of its heading."""
    t = np.arange(400) / 200.0
    angles = np.column_stack(
        [turn * t, lean[0] * np.sin(pace * t), lean[1] * np.cos(pace * t + 1.0)]
    )
    path = Rotation.from_euler('ZYX', angles)
    rates = (path[:-1].inv() * path[1:]).as_rotvec() * 200.0  # in between, in the body's frame
    middle = Slerp(t, path)(t[:-1] + 0.0025)
    stamps = np.rint((t[:-1] + 0.0025) * 1e9).astype(np.int64)
    still = np.zeros((399, 3))
    led = integrated(Samples(stamps, still, middle.as_quat(), still, rates))
    expected = unwrapped(yaw_of(middle.as_quat()))
    assert np.abs(unwrapped(yaw_of(led.orientation)) - expected).max() < 2e-3
