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

"""Windows that are looked at side by side give what each gives alone, to the last bit."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from repsq_ros.measurement.inputs import Input
from repsq_ros.measurement.limits import Fall, Limits
from repsq_ros.measurement.measure import SIDE_BY_SIDE, Measure
from repsq_ros.measurement.own import OwnQuantity
from repsq_ros.measurement.reasons import Code, Doubt
from repsq_ros.measurement.rowwise import lengths
from repsq_ros.measurement.slopes import by_slope, slopes_side_by_side
from repsq_ros.measurement.track import Track
from repsq_ros.measurement.track_steps import TrackSteps, look_side_by_side
from repsq_ros.measurement.tracking_loss import TrackingLoss
from repsq_ros.measurement.velocity import estimated, estimated_at_once
from repsq_ros.measurement.window import Observation, Window

MS = 1_000_000
POSES = 'geometry_msgs/msg/PoseStamped'
GAPS = st.sampled_from([MS // 4, 8 * MS, 10 * MS, 10 * MS, 30 * MS])


@st.composite
def tracks(draw, least=2, most=24):
    """A body anywhere that stands, walks or jumps; poses repeat, stamps lie together."""
    n = draw(st.integers(least, most))
    size = draw(st.sampled_from([0.0, 1e-4, 1e-3, 0.02, 0.5]))
    unit = st.integers(-4, 4).map(lambda k: k / 4)
    way = np.cumsum(size * draw(arrays(np.float64, (n, 3), elements=unit)), axis=0)
    turn = np.cumsum(size * draw(arrays(np.float64, (n, 3), elements=unit)), axis=0)
    orientation = np.column_stack([np.sin(turn / 2), np.cos(turn[:, 0] / 2) + 0.1])
    signs = draw(arrays(np.float64, n, elements=st.sampled_from([1.0, 1.0, -1.0])))
    place = draw(st.sampled_from([0.0, -70.0, 1e3]))
    stamps = draw(st.integers(0, 10**15)) + np.cumsum(draw(arrays(np.int64, n, elements=GAPS)))
    return Track(stamps, place + way, orientation * signs[:, None])


@given(st.lists(tracks(least=1), min_size=1, max_size=5), st.sampled_from([0.004, 0.01, 0.02]))
def test_steps_are_those_of_each_track_alone(several, period):
    together = [TrackSteps(track, period) for track in several]
    look_side_by_side(together)
    for track, steps in zip(several, together, strict=True):
        alone = TrackSteps(track, period)
        for name in ('seconds', 'ways', 'turns', 'norms', 'ways_apart', 'turns_apart'):
            np.testing.assert_array_equal(getattr(steps, name), getattr(alone, name))
        if not alone.comparable:
            continue
        for each, apart, own, of_all in (
            (alone.ways, alone.ways_apart, alone.way_bounds, steps.way_bounds),
            (alone.turns, alone.turns_apart, alone.turn_bounds, steps.turn_bounds),
        ):
            assert lengths(each).max() <= own.length <= of_all.length
            assert lengths(apart).max() <= own.departure <= of_all.departure


def test_what_lies_between_two_tracks_is_none_of_their_steps():
    stamps = np.arange(30) * 10 * MS
    rest = np.zeros((30, 3))
    upright, turned = (
        np.tile([0.0, 0.0, 0.0, 1.0], (30, 1)),
        np.tile([0.6, 0.0, 0.0, 0.8], (30, 1)),
    )
    together = [
        TrackSteps(Track(stamps, rest, upright), 0.01),
        TrackSteps(Track(stamps + 10**12, rest + 5.0, turned), 0.01),
        TrackSteps(Track(stamps, rest - 3.0, upright), 0.01),
    ]
    look_side_by_side(together)
    for steps in together:
        assert steps.way_bounds == steps.turn_bounds == (0.0, 0.0)


def test_a_step_out_of_line_is_within_no_bound():
    """By how far it is: a bound that is too low would let it pass."""
    position = np.zeros((30, 3))
    position[10, 1] = 0.004
    upright = np.tile([0.0, 0.0, 0.0, 1.0], (30, 1))
    steps = TrackSteps(Track(np.arange(30) * 10 * MS, position, upright), 0.01)
    assert steps.way_bounds.length == pytest.approx(0.004 * np.sqrt(3))
    assert steps.way_bounds.departure == pytest.approx(0.004 * np.sqrt(3))


def test_a_body_that_speeds_up_is_furthest_from_its_neighbours_at_the_ends():
    """There both of them lie on one side, one and two steps away."""
    position = np.zeros((30, 3))
    position[:, 2] = 0.001 * np.arange(30) ** 2 / 2.0
    upright = np.tile([0.0, 0.0, 0.0, 1.0], (30, 1))
    steps = TrackSteps(Track(np.arange(30) * 10 * MS, position, upright), 0.01)
    assert lengths(steps.ways_apart).max() == pytest.approx(0.0015)
    slow = TrackSteps(Track(np.arange(30) * 20 * MS, position, upright), 0.01)
    # Two periods to each step: they are brought to one before another is held against them.
    first, second, third = slow.ways[:3, 2]
    assert slow.ways_apart[0, 2] == pytest.approx(first - (second + third) / 4.0)


@given(st.lists(tracks(least=4), min_size=1, max_size=5), st.sampled_from([0.02, 0.05]))
def test_slopes_are_those_of_each_track_alone(several, span):
    several = [track for track in several if track.stamps[-1] - track.stamps[0] > span * 5e8]
    assume(several)
    asked = [(track, len(track) // 3) for track in several]
    for (track, first), found in zip(asked, slopes_side_by_side(asked, span), strict=True):
        np.testing.assert_array_equal(found, by_slope(track, span, first))
        assert len(found) == len(track) - first


@pytest.mark.parametrize('estimator', ['slope', 'cubic', 'difference', 'twist'])
def test_only_slopes_are_laid_side_by_side(estimator):
    source = Input(POSES, 'mocap', velocity=estimator, velocity_span=0.1)
    stamps = np.arange(40) * 10 * MS
    upright = np.tile([0.0, 0.0, 0.0, 1.0], (40, 1))
    long = Track(stamps, np.column_stack([stamps * 3e-10, 0.0 * stamps, 0.0 * stamps]), upright)
    short = long.take(slice(0, 3))
    found = estimated_at_once([(short, 0), (long, 12)], source)
    assert found[0] is None  # who asks it alone hears that its poses are too few
    assert (found[1] is not None) == (estimator == 'slope')
    if found[1] is not None:
        np.testing.assert_array_equal(found[1], estimated(long, source, 12))


MEASURES = {
    'slope': Measure(TrackingLoss(1.0, 'rms'), Input(POSES, 'mocap')),
    'retimed': Measure(
        TrackingLoss(1.0, 'mean'), Input(POSES, 'mocap', stamp='receive', rate=100.0, retime=True)
    ),
    'cubic': Measure(TrackingLoss(1.0, 'sum'), Input(POSES, 'mocap', velocity='cubic')),
    'falling': Measure(
        TrackingLoss(1.0, 'rms'), Input(POSES, 'mocap'), fall=Fall(height=-1.0, hold=0.02)
    ),
    'strict': Measure(
        TrackingLoss(1.0, 'rms'), Input(POSES, 'mocap'), Limits(step=1e-4, outlier=0.0)
    ),
}


def walk(rng, damage):
    """A body that walks for three seconds, and what goes wrong with it."""
    stamps = np.sort(np.arange(300) * 10 * MS + rng.integers(0, 2 * MS, 300))
    position = np.cumsum(rng.normal(0.002, 1e-4, (300, 3)), axis=0)
    half = np.cumsum(rng.normal(0.001, 1e-4, 300))
    orientation = np.column_stack([0 * half, 0 * half, np.sin(half), np.cos(half)])
    keep = np.ones(300, dtype=bool)
    if damage == 'not finite':
        position[150] = np.nan
    elif damage == 'gap':
        keep[120:170] = False
    elif damage == 'frozen':
        position[100:150], orientation[100:150] = position[100], orientation[100]
    elif damage == 'jump':
        position[180:, 0] += 0.5
    elif damage == 'outlier':
        position[180, 1] += 0.01
    elif damage == 'norm':
        orientation[99:] *= 1.2
    elif damage == 'fallen':
        position[160:, 2] = -1.5 - np.arange(140) * 1e-4
        position[140:160, 2] = np.linspace(position[139, 2], -1.5, 20)
    elif damage == 'few':
        keep[2:] = False
    elif damage == 'silent':
        keep[:] = False
    return Track(stamps, position, orientation).take(keep)


DAMAGES = [
    'none', 'not finite', 'gap', 'frozen', 'jump', 'outlier', 'norm', 'fallen', 'few', 'silent',
    'doubt',
]  # fmt: skip


def observed(seed, damage):
    doubts = [Doubt(2 * 10**9, 2 * 10**9, Code.CONFLICT, 'two')] if damage == 'doubt' else []
    command = (0.1 + seed / 100, 0.2, 0.1)
    window = Window(1_400 * MS, 2_900 * MS, command, 1_000 * MS)
    return Observation(window, walk(np.random.default_rng(seed), damage), doubts=doubts)


@pytest.mark.parametrize('name', MEASURES)
@given(st.lists(st.tuples(st.integers(0, 5), st.sampled_from(DAMAGES)), min_size=2, max_size=6))
@settings(max_examples=25)
def test_psi_and_reasons_are_those_of_each_window_alone(name, asked):
    measure, observations = MEASURES[name], [observed(*each) for each in asked]
    assert measure.evaluate_all(observations) == [measure.evaluate(o) for o in observations]


class Before:
    """A measure of one's own: how many samples before the window it is given."""

    lower, upper, unit, needs = 0.0, 1e3, '1', 'pose'

    def psi(self, seen, window):
        return seen.first


@pytest.mark.parametrize(
    ('jump', 'gap', 'before'),
    [
        (None, None, 100),  # one second before the command, and none that comes then
        (None, 60, 59),  # since the last gap
        (110, None, 0),  # not sound all the way: as much as any measure is given
        (90, 100, 19),  # what lies before a gap is none of its matter
    ],
)
def test_a_measure_of_ones_own_is_given_all_since_the_last_gap(jump, gap, before):
    stamps = np.arange(300) * 10 * MS
    position = np.column_stack([stamps * 3e-10, 0.0 * stamps, 0.0 * stamps])
    position[:, 1] += 5.0 * (np.arange(300) >= jump) if jump else 0.0
    keep = np.ones(300, dtype=bool)
    keep[gap : gap + 21 if gap else gap] = gap is None
    track = Track(stamps, position, np.tile([0.0, 0.0, 0.0, 1.0], (300, 1))).take(keep)
    track = track.since(int(np.searchsorted(track.stamps, 400 * MS)))
    window = Window(1_400 * MS, 2_900 * MS, (0.3, 0.0, 0.0), 1_400 * MS)
    measure = Measure(OwnQuantity(Before(), {'type': 'before'}), Input(POSES, 'mocap'))
    outcomes = measure.evaluate_all([Observation(window, track)] * 2)
    assert [(outcome.psi, outcome.reason) for outcome in outcomes] == [(before, '')] * 2


@pytest.mark.parametrize('name', MEASURES)
@pytest.mark.parametrize('damage', DAMAGES)
def test_windows_with_the_same_fault(name, damage):
    measure, observations = MEASURES[name], [observed(k, damage) for k in range(3)]
    assert measure.evaluate_all(observations) == [measure.evaluate(o) for o in observations]


def test_a_spoiled_window_spoils_no_other():
    """Each damage is found, and only there."""
    measure = MEASURES['falling']
    outcomes = measure.evaluate_all([observed(k, damage) for k, damage in enumerate(DAMAGES)])
    codes = dict(zip(DAMAGES, (outcome.code for outcome in outcomes), strict=True))
    assert codes == {
        'none': None,
        'not finite': Code.NOT_FINITE,
        'gap': Code.GAP,
        'frozen': Code.FROZEN,
        'jump': Code.JUMP,
        'outlier': Code.JUMP,
        'norm': Code.QUATERNION,
        'fallen': None,
        'few': Code.SILENT,
        'silent': Code.SILENT,
        'doubt': Code.CONFLICT,
    }
    assert outcomes[DAMAGES.index('fallen')].note.startswith('fall')
    assert outcomes[0].note == ''


def test_more_windows_than_are_looked_at_side_by_side_come_in_their_order():
    measure = MEASURES['slope']
    observations = [observed(k, 'none') for k in range(SIDE_BY_SIDE + 3)]
    outcomes = measure.evaluate_all(observations)
    assert outcomes == [measure.evaluate(each) for each in observations]
    assert len({outcome.psi for outcome in outcomes}) == len(observations)
