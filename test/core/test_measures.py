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

"""Measures by the specification: from messages of many types to psi in its unit."""

import cmath
import math
from types import SimpleNamespace as N

import numpy as np
import pytest

from repsq_ros.errors import CampaignError, SpecificationError
from repsq_ros.measurement.reasons import Code
from repsq_ros.measurement.recorder import Recorder, Window
from repsq_ros.messages.sensor_messages import FieldError, reader_of
from repsq_ros.simulation.in_process import run_in_process
from repsq_ros.simulation.surrogate import Surrogate
from repsq_ros.specification.load import load

SECOND = 1_000_000_000


@pytest.fixture
def measure_of(content, write):
    """Make a measure from its section of a specification."""

    def make(**section):
        content['measure'] = section
        content['partition'] = {'alpha': 0.1}
        upper = section.get('upper', 1.0)
        content['accuracy']['gamma'] = 0.04 * upper
        return load(write(content)).measure

    return make


def outcome_of(measure, messages, command=(0.3, 0.0, 0.0), start=0.0, end=3.0):
    """Feed messages (arrival [s], message) and measure [start, end), the command 2 s before."""
    recorder, read = Recorder(measure), reader_of(measure.input)
    for arrival, message in messages:
        sample = read(message, round(arrival * 1e9))
        if sample is not None:
            recorder.add(sample)
    window = Window(round(start * 1e9), round(end * 1e9), command, round((start - 2.0) * 1e9))
    recorder.open((0, 0), window)
    return recorder.close((0, 0))[1]


def header(t, frame='world'):
    return N(stamp=N(sec=math.floor(t), nanosec=round((t % 1) * 1e9)), frame_id=frame)


def xyz(x, y, z):
    return N(x=x, y=y, z=z)


def turn(yaw):
    return N(x=0.0, y=0.0, z=math.sin(yaw / 2), w=math.cos(yaw / 2))


# Dial gauges -------------------------------------------------------------------------------------


DIAL = {'type': 'displacement', 'upper': 10.0}
LOSS = {'type': 'soft_linf', 'gain': 6.0, 'reduction': 'rms'}


def float32(value):
    return N(data=np.float32(value))


def test_a_float32_dial_of_a_tenth(measure_of):
    """0.1 mm in single precision is 0.1 mm, not a thousand times or a million times that."""
    measure = measure_of(**DIAL, tare=0.0, input={'type': 'std_msgs/Float32', 'unit': 'mm'})
    outcome = outcome_of(measure, [(2.0, float32(0.1))])
    assert outcome.psi == pytest.approx(0.1, abs=1e-8)
    assert (measure.lower, measure.upper, measure.unit) == (0.0, 10.0, 'mm')


@pytest.mark.parametrize(
    ('unit', 'value'), [('mm', 2.54), ('inch', 0.1), ('m', 0.00254), ('um', 2540.0)]
)
@pytest.mark.parametrize('sign', [1, -1])
def test_units_and_signs(measure_of, unit, value, sign):
    gauge = {'type': 'std_msgs/Float64', 'unit': unit, 'sign': sign}
    measure = measure_of(**DIAL, tare=0.54 * sign, input=gauge)
    outcome = outcome_of(measure, [(2.0, N(data=value))])
    assert outcome.psi == pytest.approx(2.0, abs=1e-12)


def test_a_gauge_without_stamp_counts_when_it_arrives(measure_of):
    measure = measure_of(**DIAL, input={'type': 'std_msgs/Float64', 'unit': 'mm'})
    said = [(-30.0, N(data=0.3)), (-1.0, N(data=9.0)), (1.0, N(data=1.5)), (3.1, N(data=7.0))]
    assert outcome_of(measure, said).psi == pytest.approx(1.2)  # tare: the one before the command


SILENT = [
    ([(-60.0, 0.3)], 'stale gauge: its newest reading is 60.000 s older than the window'),
    ([], 'silent: no sample in a window of 3 s, and none before it'),
    ([(1.0, 0.3)], 'tare: no reading until 0.1 s before the command took effect'),
    ([(-60.0, 0.3), (1.0, math.inf)], 'not finite: NaN or infinity in a reading at 1.000 s'),
    ([(-60.0, math.nan), (1.0, 0.3)], 'tare: a reading before the command is no number'),
    ([(-60.0, 0.3), (1.0, 0.3), (2.9, 0.5)], 'settle not reached: readings of the window differ'),
    ([(-60.0, 0.3), (0.5, 1.3)], ''),  # a minute of silence, then what it came to: 1 mm
]


@pytest.mark.parametrize(('said', 'reason'), SILENT)
def test_a_gauge_that_is_silent_gives_millimetres_or_a_reason(measure_of, said, reason):
    measure = measure_of(**DIAL, input={'type': 'std_msgs/Float64', 'unit': 'mm'})
    outcome = outcome_of(measure, [(t, N(data=value)) for t, value in said])
    assert outcome.reason.startswith(reason)
    assert outcome.valid == (not reason)
    if outcome.valid:
        assert outcome.psi == pytest.approx(1.0, abs=1e-12)


TARES = [
    # Arrival [s], the command at -2, and reading [mm]; expected psi, or the reason.
    ([*[(-3.0 + k / 10, 5.0) for k in range(9)], (-2.05, 5.1)], 0.004),  # the arm moved already
    ([*[(-3.0 + k / 10, 5.0) for k in range(8)], (-2.15, 5.09)], 0.004),  # one odd reading
    ([(-2.4, 5.0), (-2.3, 5.2)], 'tare: readings before the command differ by 0.2000 mm'),
    ([(-2.5, 4.8), (-2.4, 5.0), (-2.3, 5.0)], 0.004),  # of the way to the reference
    ([(-40.0, 5.0), (-2.05, 5.1)], 0.004),  # it speaks on change alone
    ([(-2.05, 5.0)], 'tare: no reading until 0.1 s before the command'),
    ([(-3.0 + k / 10, 5.0) for k in range(10)], 0.004),
]


@pytest.mark.parametrize(('before', 'expected'), TARES)
def test_a_tare_is_the_median_of_what_was_there_before_the_command(measure_of, before, expected):
    measure = measure_of(**DIAL, input={'type': 'std_msgs/Float64', 'unit': 'mm'})
    said = [(t, N(data=value)) for t, value in [*before, (1.0, 5.004)]]
    outcome = outcome_of(measure, said)
    if isinstance(expected, str):
        assert outcome.reason.startswith(expected)
        assert outcome.code is Code.TARE
    else:
        assert outcome.psi == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize('rate', [10, 100])
@pytest.mark.parametrize('step', [0.0001, 0.01])
def test_an_old_tare_of_a_gauge_that_sends_at_rest_is_none(measure_of, rate, step):
    """No header, and no rate declared: the window shows that it is never silent for long."""
    measure = measure_of(**DIAL, input={'type': 'std_msgs/Float64', 'unit': 'mm'})
    rng, times = np.random.default_rng(1), np.arange(-25.0, 3.0, 1.0 / rate)
    said = [(t, N(data=step * round(rng.normal(5.0, 0.002) / step))) for t in times]
    assert outcome_of(measure, said).valid
    lost = [(t, each) for t, each in said if not -22.0 < t < -1.0]
    assert f'old, and the gauge sends {rate} readings' in outcome_of(measure, lost).reason
    silent = [(t, each) for t, each in lost if not 0.5 < t < 2.0]
    assert outcome_of(measure, silent).valid  # it may be silent at rest


OVER_TIME = [('peak', 90.0), ('mean', 6.7), ('rms', 13.656), ('share_above', 0.02)]


@pytest.mark.parametrize(('take', 'expected'), OVER_TIME)
def test_a_number_over_time_is_measured_as_it_is(measure_of, take, expected):
    """A force of 5 N at 500 Hz that rises to 90 N for 2 % of the window."""
    force = {'type': 'geometry_msgs/WrenchStamped', 'field': 'wrench.force.z', 'unit': '1'}
    measure = measure_of(
        type='over_time', take=take, above=50.0, upper=200.0, unit='N',
        input={**force, 'rate': 500.0, 'stamp': 'header'}, validity={'frozen': 0.1},
    )  # fmt: skip
    rng = np.random.default_rng(1)

    def said(damage=lambda k: True, frozen=()):
        found, last = [], 0.0
        for k in range(-500, 500):
            value = (90.0 if 200 <= k < 210 else 5.0) + rng.normal(0, 1e-3)
            last = last if k in frozen else value
            force = N(wrench=N(force=xyz(0, 0, last)), header=header(k / 500))
            if damage(k):
                found.append((k / 500, force))
        return found

    assert outcome_of(measure, said(), end=1.0).psi == pytest.approx(expected, rel=0.01)
    assert outcome_of(measure, said(lambda k: k < 100), end=1.0).code is Code.GAP
    assert outcome_of(measure, said(frozen=range(100, 300)), end=1.0).code is Code.FROZEN


@pytest.mark.parametrize(
    ('rate', 'step', 'lost', 'frozen', 'code'),
    [
        (100.0, 0.0, (0.3, 0.3), (0.3, 0.3), None),
        (100.0, 0.0, (0.3, 0.7), (0.3, 0.3), Code.GAP),
        (100.0, 0.0, (0.3, 0.3), (0.3, 0.7), Code.FROZEN),
        (2.0, 0.5, (0.0, 0.0), (0.0, 0.0), None),  # slow and rounded: equal by chance
    ],
)
def test_a_number_over_time_is_a_stream_if_it_comes_evenly(
    measure_of, rate, step, lost, frozen, code
):
    """No header, no rate declared: a gauge might be silent at rest, a force is not."""
    number = {'type': 'std_msgs/Float64', 'unit': '1'}
    measure = measure_of(type='over_time', take='mean', upper=200.0, unit='N', input=number)
    rng, last, said = np.random.default_rng(1), 0.0, []
    for t in np.arange(-5.0, 3.0, 1.0 / rate):
        value = 5.0 + rng.normal(0, 0.1)
        value = round(value / step) * step if step else value
        last = last if frozen[0] < t < frozen[1] else value
        if not lost[0] < t < lost[1]:
            said.append((t, N(data=last)))
    assert outcome_of(measure, said, end=2.5).code == code


STREAM = [  # readings at 500 Hz of 1.5 s, from which 1.2 s are missing; others as they are
    ({'rate': 500.0}, lambda t: t < 0.3, 'gap: 1.2'),
    ({}, lambda t: t < 0.3, 'gap: 1.2'),
    ({'rate': 500.0}, lambda t: True, ''),
    ({}, lambda t: True, ''),
]


@pytest.mark.parametrize(('given', 'there', 'reason'), STREAM)
def test_a_number_that_streams_must_cover_the_window(measure_of, given, there, reason):
    force = {'type': 'std_msgs/Float64', 'unit': 'mm', **given}
    measure = measure_of(**DIAL, tare=0.0, take='largest', settled_within=100.0, input=force)
    rng = np.random.default_rng(1)
    times = [t for t in np.arange(-1500, 800) * 2e-3 if t < 0 or there(t)]
    said = [(t, N(data=5.0 + rng.normal(0, 0.01))) for t in times]
    outcome = outcome_of(measure, said, end=1.5)
    assert outcome.reason.startswith(reason)
    assert outcome.valid == (not reason)


def test_a_gauge_that_speaks_on_change_alone_may_be_silent(measure_of):
    measure = measure_of(**DIAL, input={'type': 'std_msgs/Float64', 'unit': 'mm'})
    moving = [(-1.9 + 0.1 * k**0.9, N(data=0.1 * k)) for k in range(20)]
    outcome = outcome_of(measure, [(-60.0, N(data=0.0)), *moving, (0.2, N(data=2.0))])
    assert outcome.psi == pytest.approx(2.0)


def test_a_psi_outside_its_range_is_valid_with_a_note(measure_of):
    measure = measure_of(
        type='displacement', upper=0.5, input={'type': 'std_msgs/Float64', 'unit': 'mm'}
    )
    outcome = outcome_of(measure, [(-3.0, N(data=0.0)), (1.0, N(data=4.48))])
    assert (outcome.valid, outcome.psi) == (True, pytest.approx(4.48))
    assert outcome.note.startswith('psi 4.48 is outside its range, 0 to 0.5 mm')
    outcome = outcome_of(measure, [(-3.0, N(data=0.0)), (1.0, N(data=0.4))])
    assert not outcome.note


def test_which_reading_stands_for_the_window(measure_of):
    said = [(t, N(data=v)) for t, v in ((-9, 0.0), (0.5, 1.05), (1.0, 1.0), (2.0, 1.02))]
    for take, expected in (('last', 1.02), ('median', 1.02), ('largest', 1.05)):
        measure = measure_of(**DIAL, take=take, input={'type': 'std_msgs/Float64', 'unit': 'mm'})
        assert outcome_of(measure, said).psi == pytest.approx(expected)


@pytest.mark.parametrize(
    ('before', 'after', 'stuck'), [(4.0, 4.3, None), (4.0, 10.0, 10.0), (0.0, 4.3, 0.0)]
)
def test_a_gauge_at_its_stop_shows_nothing(measure_of, before, after, stuck):
    """Whether it hit the stop before the command, which spoils the tare, or after it."""
    gauge = {'type': 'std_msgs/Float64', 'unit': 'mm'}
    measure = measure_of(**DIAL, travel=[0.2, 9.8], input=gauge)
    outcome = outcome_of(measure, [(-4.0, N(data=before)), (0.5, N(data=after))])
    if stuck is None:
        assert outcome.psi == pytest.approx(0.3)
    else:
        assert outcome.reason == (
            f'gauge at the end of its travel: {stuck:.4f} mm, expected between 0.2 and 9.8 mm'
        )


def test_range_and_dial_gauge_and_a_field_of_anything(measure_of):
    for given, message in (
        ({'type': 'sensor_msgs/Range'}, N(header=header(2.0), range=0.0042)),
        ({'type': 'dial_gauge_msgs/DialGauge'}, N(header=header(2.0), value=4.2)),
        (
            {'type': 'geometry_msgs/PointStamped', 'field': 'point.z', 'unit': 'm'},
            N(header=header(9.0), point=xyz(0.0, 0.0, 0.0042)),
        ),
        (
            {'type': 'lab_msgs/Probe', 'field': 'axes[1].values[0]', 'unit': 'mm'},
            N(axes=[None, N(values=[4.2])]),
        ),
    ):
        measure = measure_of(**DIAL, tare=0.0, input=given)
        assert outcome_of(measure, [(2.0, message)]).psi == pytest.approx(4.2)


def test_a_field_that_is_not_there_is_one_line(measure_of):
    given = {'type': 'lab_msgs/Probe', 'field': 'axes[1].values', 'unit': 'mm'}
    measure = measure_of(**DIAL, tare=0.0, input=given)
    with pytest.raises(FieldError, match=r'has no axes on the way to axes\[1\].values'):
        outcome_of(measure, [(2.0, N(data=1.0))])
    with pytest.raises(FieldError, match='is no number'):
        outcome_of(measure, [(2.0, N(axes=[None, N(values=[4.2])]))])


NOT_MEANT = [
    (5e-324, 'reading 4.94066e-324 at'),  # Float64(data=1), without a cast
    (5.3e-315, 'reading 5.3e-315 at'),
    (9999.0, 'reading 9999 at'),
    (-32768.0, 'reading -32768 at'),
    (0.0, ''),
    (1e-9, ''),
    (9.999, ''),
]


@pytest.mark.parametrize(('value', 'reason'), NOT_MEANT)
@pytest.mark.parametrize('when', [-4.0, 1.0])
def test_a_reading_that_nobody_meant_is_a_reason(measure_of, value, reason, when):
    """Also as a tare, and where the gauge says it all the time: that is no displacement of 0."""
    measure = measure_of(**DIAL, input={'type': 'std_msgs/Float64', 'unit': 'mm'})
    said = [(t, N(data=value)) for t in (-4.0, 1.0)]
    outcome = outcome_of(measure, said)
    assert outcome.reason.startswith(reason)
    assert outcome.valid == (not reason)
    if reason:
        assert outcome.code is Code.READING
        other = outcome_of(measure, [(when, N(data=value)), (-3.0 - when, N(data=1.0))])
        assert other.code is Code.READING


def test_error_codes_of_ones_own(measure_of):
    gauge = {'type': 'std_msgs/Float64', 'unit': 'mm', 'error_codes': [-1]}
    measure = measure_of(**DIAL, input=gauge)
    assert outcome_of(measure, [(-4.0, N(data=-1.0)), (1.0, N(data=-1.0))]).code is Code.READING
    assert outcome_of(measure, [(-4.0, N(data=9999.0)), (1.0, N(data=9999.0))]).psi == 0.0


def test_a_reading_outside_the_range_of_its_own_message(measure_of):
    measure = measure_of(**DIAL, input={'type': 'sensor_msgs/Range'})

    def said(before, after, least=0.002, most=0.012):
        ends = {'min_range': np.float32(least), 'max_range': np.float32(most)}
        return [
            (t, N(header=header(t), range=np.float32(value), **ends))
            for t, value in ((-4.0, before), (1.0, after))
        ]

    assert outcome_of(measure, said(0.004, 0.005)).psi == pytest.approx(1.0, abs=1e-5)
    assert outcome_of(measure, said(0.004, 0.012)).psi == pytest.approx(8.0, abs=1e-5)
    after = outcome_of(measure, said(0.004, 0.0125))
    assert after.reason == (
        "reading 0.0125 m outside the sensor's own 0.002 to 0.012 m at 1.000 s of the window"
    )
    assert outcome_of(measure, said(0.001, 0.005)).code is Code.READING  # the tare
    assert outcome_of(measure, said(0.001, 0.005, 0.0, 0.0)).valid  # not filled in
    assert outcome_of(measure, said(0.004, math.inf)).code is Code.NOT_FINITE


def test_a_scale_takes_out_calibration_and_cosine_error(measure_of):
    """Mounted 10 degrees off its axis, a gauge shows 1.5 % too much."""
    gauge = {'type': 'std_msgs/Float64', 'unit': 'mm', 'scale': math.cos(math.radians(10)),
             'sign': -1}  # fmt: skip
    measure = measure_of(**DIAL, input=gauge)
    shown = 2.0 / math.cos(math.radians(10))
    outcome = outcome_of(measure, [(-4.0, N(data=1.0)), (1.0, N(data=1.0 + shown))])
    assert outcome.psi == pytest.approx(2.0, abs=1e-12)
    plain = measure_of(**DIAL, input={'type': 'std_msgs/Float64', 'unit': 'mm', 'sign': -1})
    assert 'scale' not in plain.describe()['input']
    assert measure.describe()['input'] != plain.describe()['input']


def test_another_unit_than_said_is_a_hint(measure_of):
    """699.3 mm declared as metres; and a displacement of 300 mm by a gauge of 10 mm."""
    metres = measure_of(**DIAL, input={'type': 'std_msgs/Float64', 'unit': 'm'})
    outcome = outcome_of(metres, [(-4.0, N(data=699.3)), (1.0, N(data=699.3))])
    assert outcome.reason == (
        'reading 699.3 at 1.000 s of the window is beyond 100 m: another unit than m?'
    )
    small = outcome_of(metres, [(-4.0, N(data=0.3)), (1.0, N(data=0.6))])
    assert small.reason.startswith('reading 300 mm from the tare: more than 10 times the 10 mm of')
    assert outcome_of(
        metres, [(-4.0, N(data=0.3)), (1.0, N(data=0.35))]
    ).valid  # an event, as ever


# Poses -------------------------------------------------------------------------------------------


def poses(position=(1.0, 2.0, 0.5), yaw=0.0, drift=0.0):
    """A body that was at the origin before the command and is at `position` in the window."""
    rng = np.random.default_rng(3)
    said = []
    for k in range(-300, 310):
        t = k / 100
        x, y, z = np.array(position if t >= -1.0 else (0, 0, 0)) + rng.normal(0, 1e-4, 3)
        pose = N(position=xyz(x + drift * t, y, z), orientation=turn(yaw))
        said.append((t, N(header=header(t), pose=pose)))
    return said


POSE = {'type': 'geometry_msgs/PoseStamped'}


def test_displacement_in_space(measure_of):
    given = {'type': 'displacement', 'upper': 3000.0, 'input': POSE}
    before = measure_of(**given)
    assert outcome_of(before, poses()).psi == pytest.approx(math.sqrt(5.25) * 1e3, abs=0.1)
    fixed = measure_of(**given, reference={'position': [1.0, 2.0, 0.0]})
    assert outcome_of(fixed, poses()).psi == pytest.approx(500.0, abs=0.1)


def test_displacement_from_the_barycentre_of_a_pilot(measure_of, tmp_path):
    (tmp_path / 'pilot.csv').write_text('row,x,y,z\n1,1.0,2.0,0.4\n2,1.0,2.0,0.5\n3,1.0,2.0,0.6\n')
    given = {'type': 'displacement', 'upper': 100.0, 'input': POSE}
    measure = measure_of(**given, reference={'file': 'pilot.csv'})
    assert outcome_of(measure, poses((1.003, 2.004, 0.5))).psi == pytest.approx(5.0, abs=0.1)
    (tmp_path / 'pilot.csv').write_text('x,y\n1,2\n')
    with pytest.raises(SpecificationError, match=r"'z', expected columns x, y, z"):
        measure_of(**given, reference={'file': 'pilot.csv'})


def test_a_body_that_still_moves_has_not_settled(measure_of):
    measure = measure_of(type='displacement', upper=3000.0, input=POSE)
    outcome = outcome_of(measure, poses(drift=0.05))
    assert outcome.reason.startswith('settle not reached: the body moves at 0.05')


def test_final_pose_error_weighs_the_angle(measure_of):
    target = {'position': [1.0, 2.0, 0.49], 'rpy': [0.0, 0.0, 0.1]}
    given = {'type': 'final_pose_error', 'upper': 100.0, 'input': POSE, 'target': target}
    assert outcome_of(measure_of(**given), poses()).psi == pytest.approx(10.0, abs=0.1)
    weighed = measure_of(**given, per_radian=50.0)
    assert outcome_of(weighed, poses()).psi == pytest.approx(15.0, abs=0.1)


@pytest.mark.parametrize('every', [1, 2, 3])
def test_the_sign_of_a_quaternion_means_nothing_to_a_final_pose(measure_of, every):
    target = {'position': [1.0, 2.0, 0.5], 'rpy': [0.0, 0.0, 0.1]}
    given = {'type': 'final_pose_error', 'upper': 100.0, 'input': POSE, 'target': target}
    said = poses()
    for _, message in said[::every]:
        q = message.pose.orientation
        message.pose.orientation = N(x=-q.x, y=-q.y, z=-q.z, w=-q.w)
    assert outcome_of(measure_of(**given, per_radian=50.0), said).psi == pytest.approx(
        5.0, abs=0.1
    )


def test_an_indicator_makes_a_risk_of_any_measure(measure_of):
    inner = {'type': 'displacement', 'upper': 10.0, 'tare': 0.0}
    given = {'type': 'indicator', 'of': inner, 'input': {'type': 'std_msgs/Float64', 'unit': 'mm'}}
    measure = measure_of(**given, above=1.0)
    assert outcome_of(measure, [(1.0, N(data=1.2))]).psi == 1.0
    assert outcome_of(measure, [(1.0, N(data=0.8))]).psi == 0.0
    assert (measure.lower, measure.upper) == (0.0, 1.0)
    assert outcome_of(measure, [(-4.0, N(data=0.8))]).reason.startswith('stale gauge')


# Velocities --------------------------------------------------------------------------------------


def on_a_circle(t, velocity=0.5 + 0.3j, rate=0.1):
    """Where a body is that goes with the same velocity in its own frame and turns."""
    at = velocity / (1j * rate) * (cmath.exp(1j * rate * t) - 1)
    return N(position=xyz(1 + at.real, at.imag, 0), orientation=turn(rate * t))


def test_components_and_weights(measure_of):
    loss = {'type': 'soft_linf', 'gain': 6.0, 'reduction': 'rms', 'source': 'odometry'}
    linear = xyz(0.5, 0.3, 0.0)
    said = [
        (
            k / 50,
            N(
                header=header(k / 50),
                pose=N(pose=on_a_circle(k / 50)),
                twist=N(twist=N(linear=linear, angular=xyz(0, 0, 0.1))),
            ),
        )
        for k in range(151)
    ]
    all_of_them = outcome_of(measure_of(**loss), said)
    assert all_of_them.psi == pytest.approx(-math.expm1(-6 * math.sqrt(0.04 + 0.09 + 0.01)))
    forward = outcome_of(measure_of(**loss, weights={'linear_x': 1.0}), said)
    assert forward.psi == pytest.approx(-math.expm1(-6 * 0.2))
    weighed = outcome_of(measure_of(**loss, weights={'linear_x': 1, 'angular_z': 4}), said)
    assert weighed.psi == pytest.approx(-math.expm1(-6 * math.sqrt(0.04 + 0.04)))


@pytest.mark.parametrize('rate', [50, 100, 240])
def test_a_sum_does_not_depend_on_the_rate_of_the_sensor(measure_of, rate):
    """Once .30, .51 and .82 under one digest: S of an error of 0.02 m/s over 150 states."""
    given = {'type': 'soft_linf', 'gain': 6.0, 'reduction': 'sum', 'state_rate': 50.0,
             'input': {'type': 'geometry_msgs/Twist'}}  # fmt: skip
    said = [
        (k / rate, N(linear=xyz(0.32, 0, 1e-9 * k), angular=xyz(0, 0, 0))) for k in range(3 * rate)
    ]
    measure = measure_of(**given)
    expected = -math.expm1(-6 * 150 * 0.02**2)
    assert outcome_of(measure, said).psi == pytest.approx(expected, rel=1e-9)
    assert measure.describe()['state_rate'] == 50.0
    by_input = measure_of(**{**given, 'input': {'type': 'geometry_msgs/Twist', 'rate': 50.0}})
    assert by_input.quantity.state_rate == 50.0


QUATERNIONS = [
    (lambda x, y, z, w: (w, x, y, z), 'quaternion: the body lies on its side or head throughout'),
    (lambda *q: tuple(0.5 * each for each in q), 'quaternion of norm 0.500 at 0.000 s'),
    (lambda *q: tuple(1.5 * each for each in q), 'quaternion of norm 1.500 at 0.000 s'),
    (lambda *q: tuple(0.999 * each for each in q), ''),
    (lambda *q: tuple(-each for each in q), ''),
]


@pytest.mark.parametrize(('change', 'reason'), QUATERNIONS)
def test_a_quaternion_in_another_order_or_of_another_norm(measure_of, change, reason):
    def make(t, position, yaw):
        x, y, z, w = change(0.0, 0.0, math.sin(yaw / 2), math.cos(yaw / 2))
        return N(
            header=header(t), pose=N(position=xyz(*position), orientation=N(x=x, y=y, z=z, w=w))
        )

    outcome = outcome_of(measure_of(**LOSS, input=POSE), moving(make))
    assert outcome.reason.startswith(reason)
    assert outcome.valid == (not reason)
    if reason:
        assert outcome.code is Code.QUATERNION


@pytest.mark.parametrize('kind', [3, 4])
def test_one_name_twice_in_a_message(measure_of, kind):
    given, make = BODIES[kind]

    def twice(t, position, yaw, apart):
        message = make(t, position, yaw)
        again = make(t, (position[0] + apart, *position[1:]), yaw)
        for name in ('rigidbodies', 'poses'):
            if hasattr(message, name):
                getattr(message, name).append(getattr(again, name)[-1])
        return message

    measure = measure_of(**LOSS, input=given)
    for apart in (0.0, 0.1):
        outcome = outcome_of(measure, moving(lambda t, p, yaw, by=apart: twice(t, p, yaw, by)))
        assert outcome.valid == (not apart)
        if apart:
            assert outcome.code is Code.CONFLICT
            assert f'the name {given["body"]!r} is twice in a message' in outcome.reason


def moving(make, rate=100, yaw=math.pi / 2):
    """A body that goes forward at 0.3 m/s along world y."""
    return [
        (k / rate, make(k / rate, (0.0, 0.3 * k / rate, 0.7), yaw))
        for k in range(-rate, 3 * rate + 1)
    ]


def pose_part(position, yaw):
    return N(position=xyz(*position), orientation=turn(yaw))


BODIES = [
    ({'type': 'geometry_msgs/PoseStamped'},
     lambda t, p, yaw: N(header=header(t), pose=pose_part(p, yaw))),
    ({'type': 'geometry_msgs/PoseWithCovarianceStamped'},
     lambda t, p, yaw: N(header=header(t), pose=N(pose=pose_part(p, yaw)))),
    ({'type': 'geometry_msgs/TransformStamped'},
     lambda t, p, yaw: N(header=header(t),
                         transform=N(translation=xyz(*p), rotation=turn(yaw)))),
    ({'type': 'mocap4r2_msgs/RigidBodies', 'body': '7'},
     lambda t, p, yaw: N(header=header(t), rigidbodies=[
         N(rigid_body_name='3', pose=pose_part((9, 9, 9), 0)),
         N(rigid_body_name='7', pose=pose_part(p, yaw))])),
    ({'type': 'motion_capture_tracking_interfaces/NamedPoseArray', 'body': 'g1'},
     lambda t, p, yaw: N(header=header(t), poses=[N(name='g1', pose=pose_part(p, yaw))])),
    ({'type': 'geometry_msgs/TwistStamped'},
     lambda t, p, yaw: N(header=header(t),
                         twist=N(linear=xyz(0.3, 0, 1e-9 * t), angular=xyz(0, 0, 0)))),
    ({'type': 'geometry_msgs/Twist'},
     lambda t, p, yaw: N(linear=xyz(0.3, 0, 1e-9 * t), angular=xyz(0, 0, 0))),
    ({'type': 'nav_msgs/Odometry', 'velocity_frame': 'world'},
     lambda t, p, yaw: N(header=header(t), pose=N(pose=pose_part(p, yaw)),
                         twist=N(twist=N(linear=xyz(0, 0.3, 0), angular=xyz(0, 0, 0))))),
    ({'type': 'unitree_go/SportModeState'},
     lambda t, p, yaw: N(imu_state=N(quaternion=[math.cos(yaw / 2), 0, 0, math.sin(yaw / 2)],
                                     gyroscope=[0, 0, 0]),
                         position=list(p), velocity=[0, 0.3, 0], yaw_speed=0.0)),
]  # fmt: skip


@pytest.mark.parametrize(('given', 'make'), BODIES, ids=[b[0]['type'] for b in BODIES])
def test_every_type_of_body_gives_its_velocity(measure_of, given, make):
    measure = measure_of(type='soft_linf', gain=6.0, reduction='rms', input=given)
    outcome = outcome_of(measure, moving(make))
    assert outcome.valid, outcome.reason
    assert outcome.psi < 1e-6
    assert outcome_of(measure, moving(make), command=(0.0, 0.3, 0.0)).psi > 0.9


def test_a_body_whose_name_is_missing_is_silence(measure_of):
    given = {'type': 'mocap4r2_msgs/RigidBodies', 'body': '9'}
    measure = measure_of(type='soft_linf', gain=6.0, reduction='rms', input=given)
    outcome = outcome_of(measure, moving(BODIES[3][1]))
    assert outcome.reason == 'silent: no sample in a window of 3 s'


# A user's own ------------------------------------------------------------------------------------

OWN = '''
class Wobble:
    """Root mean square height over the window [mm]."""

    lower, unit, needs = 0.0, 'mm', 'position'

    def __init__(self, upper):
        self.upper = upper

    def psi(self, cut):
        height = cut.measured.position[:, 2]
        if cut.window.command[0] > 1.0:
            raise RuntimeError('too fast for me')
        return float((height**2).mean() ** 0.5 * 1000)
'''


def test_a_measure_of_ones_own(measure_of, tmp_path):
    (tmp_path / 'wobble_for_test.py').write_text(OWN)
    given = {'type': 'wobble_for_test:Wobble', 'options': {'upper': 900.0}, 'input': POSE}
    measure = measure_of(**given)
    assert (measure.lower, measure.upper, measure.unit) == (0.0, 900.0, 'mm')
    assert outcome_of(measure, poses()).psi == pytest.approx(500.0, abs=0.1)
    broken = outcome_of(measure, poses(), command=(2.0, 0.0, 0.0))
    assert broken.reason == 'wobble_for_test:Wobble: RuntimeError: too fast for me'
    assert measure.describe()['options'] == {'upper': 900.0}
    for options in ({'upper': -1.0}, {'upper': math.inf}, {}):
        with pytest.raises(SpecificationError):
            measure_of(**{**given, 'options': options})


# What a specification may not say ----------------------------------------------------------------

GAUGE = {'type': 'std_msgs/Float64', 'unit': 'mm'}
REFUSED = [
    ({**LOSS, 'input': {'type': 'geometry_msgs/Pose'}}, "text 'geometry_msgs/msg/Pose'"),
    ({**LOSS, 'input': {'type': 'std_msgs/Float64', 'unit': 'm'}}, 'needs velocity'),
    ({**LOSS, 'input': {'type': 'geometry_msgs/PointStamped'}}, 'needs velocity'),
    ({**LOSS, 'input': {**POSE, 'velocity': 'twist'}}, 'expected one of slope, cubic, auto'),
    ({**LOSS, 'input': {**POSE, 'unit': 'deg'}}, 'expected one of m, cm, mm'),
    ({**LOSS, 'input': {**POSE, 'retime': True}}, 'measure.input.rate: found nothing'),
    ({**LOSS, 'input': {**POSE, 'sign': -1}}, 'an unknown key'),
    ({**DIAL, 'input': {**GAUGE, 'sign': 2}}, 'expected 1 or -1'),
    ({**DIAL, 'input': {**GAUGE, 'scale': 0}}, '> 0'),
    ({**DIAL, 'input': {**GAUGE, 'frame': 'base'}}, 'has no frame_id'),
    ({**DIAL, 'input': {**GAUGE, 'retime': True}}, 'an unknown key'),
    ({**DIAL, 'input': GAUGE, 'validity': {'coverage': 0.5}}, 'may be silent for minutes'),
    ({**DIAL, 'input': GAUGE, 'largest_gap': 0.5}, 'may be silent for minutes'),
    ({**LOSS, 'input': {'type': 'geometry_msgs/Twist', 'frame': 'base'}}, 'has no frame_id'),
    ({**LOSS, 'input': {'type': 'unitree_go/SportModeState', 'frame': 'a'}}, 'has no frame_id'),
    ({**LOSS, 'input': {'type': 'geometry_msgs/Twist', 'velocity_span': 0.2}}, 'an unknown key'),
    ({**LOSS, 'input': {'type': 'nav_msgs/Odometry', 'rate': 50, 'retime': True}}, 'an unknown'),
    ({**LOSS, 'input': {**POSE, 'velocity': 'difference', 'velocity_span': 0.2}}, 'an unknown'),
    ({**DIAL, 'input': {'type': 'geometry_msgs/PointStamped',
                        'extrinsics': {'translation': [0, 0, 0.1]}}}, 'has no orientation'),
    ({**DIAL, 'input': {**POSE, 'velocity': 'slope'}}, 'takes no velocity'),
    ({**LOSS, 'reduction': 'sum', 'source': 'mocap'}, 'measure.state_rate: found nothing'),
    ({**LOSS, 'input': {**POSE, 'up': 'y'}}, 'an unknown key, expected one of type'),
    ({**LOSS, 'input': {**POSE, 'body': 'g1'}}, 'holds only one'),
    ({**LOSS, 'input': {'type': 'mocap4r2_msgs/RigidBodies'}}, 'input.body: found nothing'),
    ({**LOSS, 'input': {'type': 'geometry_msgs/Twist', 'stamp': 'header'}}, 'has no header'),
    ({**LOSS, 'input': {**POSE, 'extrinsics': {'rotation': [0, 0, 0, 2]}}}, 'norm 2'),
    ({**LOSS, 'source': 'mocap', 'weights': {'linear_x': 0}}, 'no weight above 0'),
    ({**LOSS, 'source': 'mocap', 'validity': {'coverage': 1.5}}, '>= 0 and <= 1'),
    ({**LOSS, 'source': 'mocap', 'fall': {'hold': 1}}, 'neither height nor tilt'),
    ({**LOSS, 'source': 'mocap', 'conditions': {'a': {'type': 'std_msgs/Float64'}}}, 'no limit'),
    ({**DIAL, 'input': {'type': 'std_msgs/Float64'}}, 'measure.input.unit: found nothing'),
    ({**DIAL, 'input': {'type': 'std_msgs/Float64', 'unit': 'percent'}}, 'expected a length'),
    ({**DIAL, 'input': {'type': 'a/B', 'field': 'x..y', 'unit': 'm'}}, 'a path such as'),
    ({'type': 'nowhere:Nothing', 'input': POSE}, 'a class that can be imported'),
    ({'type': 'indicator', 'of': LOSS, 'above': 1.5, 'source': 'mocap'}, '> 0 and < 1'),
    ({'type': 'final_pose_error', 'upper': 9, 'input': POSE, 'per_radian': 1,
      'target': {'position': [0, 0, 0]}}, 'a position alone'),
]  # fmt: skip


@pytest.mark.parametrize(('section', 'message'), REFUSED)
def test_what_does_not_fit_is_one_line(measure_of, section, message):
    with pytest.raises(SpecificationError, match='measure') as error:
        measure_of(**section)
    assert message in str(error.value)


def test_every_choice_is_part_of_the_contract(measure_of):
    """Two measures that may give different numbers have different descriptions."""
    base = {**LOSS, 'input': POSE}
    changes = [
        {}, {'gain': 5.0}, {'reduction': 'mean'}, {'weights': {'linear_x': 1.0}},
        {'validity': {'frozen': 0.5}}, {'fall': {'tilt': 1.0}},
        *({'input': {**POSE, **change}} for change in (
            {'up_axis': 'y'}, {'unit': 'mm'}, {'stamp': 'receive'}, {'velocity': 'difference'},
            {'velocity_span': 0.2}, {'rate': 100.0}, {'rate': 100.0, 'retime': True},
            {'extrinsics': {'translation': [0, 0, 0.1]}}, {'frame': 'map'},
        )),
    ]  # fmt: skip
    described = {repr(measure_of(**{**base, **change}).describe()) for change in changes}
    assert len(described) == len(changes)


# A campaign with another measure -----------------------------------------------------------------


def test_a_campaign_of_a_risk_with_conditions_that_nobody_speaks_for(content, write):
    """The share of tests whose loss is above a threshold, by mocap; then a silent condition."""
    loss = {'type': 'soft_linf', 'gain': 6.0, 'reduction': 'rms'}
    content['measure'] = {'type': 'indicator', 'of': loss, 'above': 0.45, 'source': 'mocap'}
    content['measure']['fall'] = {'tilt': 1.0}
    content['protocol'].update(dwell=0.5, command=1.5, window=1.0)
    content['accuracy']['gamma'] = 0.3
    content['partition'] = {'alpha': 0.4}
    records = []
    result = run_in_process(
        load(write(content)), Surrogate(), 7, on_test=lambda record, _: records.append(record)
    )
    assert {record.psi for record in records} == {0.0, 1.0}
    assert result.estimate == pytest.approx(np.mean([record.psi for record in records]))
    content['measure']['conditions'] = {'mode': {'type': 'std_msgs/Float64', 'one_of': [1]}}
    with pytest.raises(CampaignError, match='mode unknown: nothing was heard of it'):
        run_in_process(load(write(content)), Surrogate(), 7)


OUTSIDE = '''
class Outside:
    """Says more than it has declared."""

    lower, upper, unit, needs = 0.0, 1.0, '1', 'velocity'

    def psi(self, cut):
        return 1.5
'''


def test_a_psi_outside_the_declared_range_is_an_event_on_the_result(content, write, tmp_path):
    (tmp_path / 'outside_for_test.py').write_text(OUTSIDE)
    content['measure'] = {'type': 'outside_for_test:Outside', 'source': 'odometry'}
    content['protocol'].update(dwell=0.5, command=1.5, window=1.0)
    content['tester']['max_tests'] = 3
    result = run_in_process(load(write(content)), Surrogate(), 7)
    assert not result.accurate
    assert result.events[0] == 'test 0, attempt 0: psi 1.5 outside its range [0.0, 1.0]'
