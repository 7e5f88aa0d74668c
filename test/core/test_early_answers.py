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

"""Where a check is answered without a look at each sample, a look at each gives the same."""

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from repsq_ros.measurement import checks, motion, validity
from repsq_ros.measurement.bunching import bunched_fault
from repsq_ros.measurement.checks import Stretch
from repsq_ros.measurement.frames import (
    LEANS,
    _stands,
    continuous,
    leans_as_if_w_came_first,
    product,
    tilt_of,
)
from repsq_ros.measurement.frozen import longest_frozen
from repsq_ros.measurement.heading import unwrapped
from repsq_ros.measurement.inputs import Extrinsics, Input
from repsq_ros.measurement.limits import Limits
from repsq_ros.measurement.neighbours import TrackPart, neighbours
from repsq_ros.measurement.period import period_of
from repsq_ros.measurement.reasons import Code
from repsq_ros.measurement.rowwise import lengths, percentile
from repsq_ros.measurement.slopes import by_slope
from repsq_ros.measurement.track import Track, broken
from repsq_ros.measurement.track_steps import TrackSteps, apart_from_neighbours, turns_of
from repsq_ros.measurement.window import Window

MS = 1_000_000
POSES = Input('geometry_msgs/msg/PoseStamped', 'mocap')
WINDOW = Window(0, 10**9, ())


@st.composite
def tracks(draw, least=8, most=20):
    """A body that stands, creeps, walks or jumps; some poses repeat, some stamps are uneven."""
    n = draw(st.integers(least, most))
    gaps = draw(arrays(np.int64, n, elements=st.sampled_from([MS, 8 * MS, 10 * MS, 30 * MS])))
    size = draw(st.sampled_from([0.0, 1e-4, 3e-4, 1e-3, 0.01, 0.02, 0.1, 5.0]))
    unit = st.integers(-4, 4).map(lambda k: k / 4)
    position = np.cumsum(size * draw(arrays(np.float64, (n, 3), elements=unit)), axis=0)
    turn = np.cumsum(size * draw(arrays(np.float64, (n, 3), elements=unit)), axis=0)
    orientation = np.column_stack([np.sin(turn / 2), np.cos(turn[:, 0] / 2)])
    orientation[:, 3] += 0.1
    orientation /= lengths(orientation)[:, None]
    signs = draw(arrays(np.float64, n, elements=st.sampled_from([1.0, 1.0, -1.0])))
    return Track(np.cumsum(gaps), position, orientation * signs[:, None])


def at_rest_but_for(step, row=10):
    """A body at rest, which is put somewhere else once."""
    position = np.zeros((20, 3))
    position[row:, 0] = step
    return Track(np.arange(20) * 8 * MS, position, np.tile([0.0, 0.0, 0.0, 1.0], (20, 1)))


@given(tracks())
def test_turns_are_those_of_whole_quaternions(track):
    unit = continuous(track.orientation / lengths(track.orientation)[:, None])
    angle = 4.0 * np.arcsin(np.minimum(lengths(unit[1:] - unit[:-1]) / 2.0, 1.0))
    axis = product(unit[:-1] * np.array([-1.0, -1.0, -1.0, 1.0]), unit[1:])[:, :3]
    size = lengths(axis)
    along = axis * (angle / np.where(size > 0, size, 1.0))[:, None]
    expected = np.where((size > 0)[:, None], along, np.column_stack([angle, 0 * angle, 0 * angle]))
    np.testing.assert_array_equal(turns_of(track.orientation), expected)


def going(step, back=None):
    """A body that goes on by even steps, but for one that leads back."""
    steps = np.full(19, step)
    if back is not None:
        steps[back] = -step
    position = np.zeros((20, 3))
    position[1:, 1] = np.cumsum(steps)
    return Track(np.arange(20) * 8 * MS, position, np.tile([0.0, 0.0, 0.0, 1.0], (20, 1)))


@given(tracks(), st.sampled_from([0.004, 0.008, 0.01, 0.03]), st.sampled_from([0.01, 1.0, 40.0]))
@example(going(0.5), 0.008, 40.0)
@example(at_rest_but_for(0.0199), 0.008, 0.01)
@example(at_rest_but_for(0.0201), 0.008, 0.01)
def test_a_jump_is_found_wherever_one_step_is_too_fast(track, period, fastest):
    limits = Limits(fastest=fastest, fastest_turn=fastest)
    steps = TrackSteps(track, period)
    time = np.maximum(np.diff(track.stamps) * 1e-9, period)
    moved = lengths(np.diff(track.position, axis=0))
    fast = moved > np.maximum(fastest * time, limits.step)
    turned = lengths(turns_of(track.orientation)) > fastest * time
    assert (motion.jump_fault(steps, WINDOW, limits) is not None) == (fast.any() or turned.any())


@given(tracks(), st.sampled_from([0.001, 0.004, 0.008, 0.01, 0.03]))
@example(at_rest_but_for(0.0016), 0.008)
@example(at_rest_but_for(0.0017), 0.008)
@example(going(0.0009, back=9), 0.008)
@example(going(0.0008, back=9), 0.008)
def test_an_outlier_is_found_wherever_one_step_is_out_of_line(track, period):
    limits, steps = Limits(), TrackSteps(track, period)
    found = False
    for each, least, most, shaken in (
        (
            np.diff(track.position, axis=0),
            limits.outlier,
            *(c[0] for c in (motion.MOST_NOISE, motion.SHAKEN)),
        ),
        (
            turns_of(track.orientation),
            limits.outlier_turn,
            *(c[1] for c in (motion.MOST_NOISE, motion.SHAKEN)),
        ),
    ):
        brought = each.T * np.minimum(1.0, period / steps.seconds)
        off = lengths(apart_from_neighbours([each.T], [brought]).T)
        noise = max(least, min(motion.FAR * percentile(off, 90), most))
        pace = 1.5 * percentile(lengths(each), 90) / period
        allowed = noise + shaken * period**2 + pace * np.abs(steps.seconds - period)
        found = found or (off - allowed > 0).any()
    assert (motion.outlier_fault(steps, WINDOW, limits) is not None) == found


@pytest.mark.parametrize(('samples', 'judged'), [(5, False), (6, True)])
def test_a_step_is_held_against_four_others(samples, judged):
    track = at_rest_but_for(0.5, row=samples // 2).take(slice(0, samples))
    found = motion.outlier_fault(TrackSteps(track, 0.008), WINDOW, Limits())
    assert (found is not None) == judged


@given(
    st.lists(st.sampled_from([MS, 8 * MS, 10 * MS, 17 * MS, 21 * MS]), min_size=1, max_size=30),
    st.sampled_from([0.0, 100.0]),
    st.sampled_from([0.5, 0.8, 0.95, 0.9999, 1.0]),
)
@example([8 * MS, 8 * MS, 8 * MS, 17 * MS], 0.0, 0.98)
@example([8 * MS, 8 * MS, 8 * MS, 16 * MS], 0.0, 0.98)
def test_coverage_is_that_of_every_gap(gaps, rate, wanted):
    stamps = np.cumsum(gaps)
    end_ns = int(stamps[-1]) + gaps[0]
    ends = np.diff([0, *stamps.tolist(), end_ns])
    period_ns = period_of(stamps, rate) * 1e9
    missed = float(np.sum(np.maximum(ends - 2.0 * period_ns, 0.0)))
    lacking = period_ns > 0 and 1.0 - missed / end_ns < wanted
    found = validity.gap_fault(stamps, 0, end_ns, WINDOW, Limits(coverage=wanted), rate)
    assert (found is not None) == lacking


@given(tracks(least=2))
def test_what_always_moves_is_not_frozen(track):
    if not validity._always_moving(track):
        track.position[:, 0] += 7.0 * np.arange(len(track))
    assert validity._always_moving(track)
    assert longest_frozen(track)[0] == 0.0
    assert validity._stuck(track, 0, WINDOW) is None
    assert validity._stuck_at_the_end(track, Limits(outlier=0.0)) is None


@pytest.mark.parametrize('frozen', [0.0, -1.0, float('nan')])
def test_a_limit_that_nothing_keeps_is_still_looked_at(frozen):
    seconds = np.arange(10.0)
    track = Track((seconds * 1e7).astype(np.int64), np.column_stack([seconds] * 3), None)
    found = validity.frozen_fault(track, WINDOW, Limits(frozen=frozen))
    assert (found is None) == (frozen == 0.0)


@given(st.floats(LEANS - 1e-3, LEANS + 1e-3), st.floats(-3, 3), st.sampled_from([1.0, -1.3]))
def test_what_surely_stands_does_not_lean(tilt, heading, size):
    roll = np.array([np.sin(tilt / 2), 0.0, 0.0, np.cos(tilt / 2)])
    yaw = np.array([0.0, 0.0, np.sin(heading / 2), np.cos(heading / 2)])
    quaternion = size * product(yaw, roll)
    if _stands(quaternion[0].tolist(), POSES):
        assert tilt_of(quaternion).min() <= LEANS
    else:
        assert tilt > LEANS - 1e-6


@pytest.mark.parametrize(
    'source',
    [
        Input('', '', up_axis='y'),
        Input('', '', extrinsics=Extrinsics(rotation=(0.5, 0.5, 0.5, 0.5))),
    ],
)
def test_of_other_axes_nothing_is_said_early(source):
    assert not _stands([0.0, 0.0, 0.0, 1.0], source)


def test_w_sent_first_is_still_found():
    upright = np.tile([1.0, 0.0, 0.0, 0.0], (5, 1))
    assert leans_as_if_w_came_first(Track(np.arange(5), None, upright), POSES)


@given(tracks(), st.sampled_from([0.004, 0.008, 0.01]))
def test_nothing_is_bunched_where_no_gap_is_long(track, period):
    steps = TrackSteps(track, period)
    assume(not (steps.seconds > 1.5 * period).any())
    assert bunched_fault(steps, 0, POSES, WINDOW) is None


@pytest.mark.parametrize('velocity', ['slope', 'cubic', 'difference'])
def test_bunches_are_told_where_nothing_came_before_the_window(velocity):
    stamps = np.arange(100) * 10 * MS
    stamps[40:50] = 490 * MS + np.arange(10) * MS // 10  # held up, and then all at once
    x = np.arange(100) * 0.01
    poses = Track(stamps, np.column_stack([x, x, x]), np.tile([0.0, 0.0, 0.0, 1.0], (100, 1)))
    source = Input('', '', velocity=velocity)
    found = bunched_fault(TrackSteps(poses, 0.01), 0, source, WINDOW)
    assert found is not None
    assert found.code is Code.BUNCHED


@given(tracks(), st.integers(0, 7), st.sampled_from([np.nan, np.inf, 1.0, 1.0]))
def test_a_part_of_what_is_unbroken_is_unbroken(track, row, value):
    position = track.position.copy()
    position[row, 1] += value
    whole = Track(track.stamps, position, track.orientation)
    end = int(whole.stamps[-1]) + 1

    def stretch(some, known):
        return Stretch(
            some, int(some.stamps[0]), end, POSES, Limits(), 'velocity', WINDOW,
            part_of_unbroken=known,
        )  # fmt: skip

    unbroken = stretch(whole, False).unbroken
    assert unbroken == (not broken(whole).any())
    part = whole.since(3)
    told, looked = (checks._finite(stretch(part, known)) for known in (unbroken, False))
    assert told == looked == validity.samples_fault(part, WINDOW)
    assert len(stretch(part, unbroken).whole) == int(np.sum(~broken(part)))


@given(arrays(np.float64, st.integers(1, 30), elements=st.floats(-np.pi, np.pi)))
def test_unwrapping(heading):
    expected = np.unwrap(heading)
    found = unwrapped(heading.copy())
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))


@given(tracks(least=12), st.sampled_from([0.05, 0.1]))
def test_slopes_are_those_of_moments_one_by_one(track, span):
    assume(track.stamps[-1] - track.stamps[0] > span * 1e9)
    low, high = neighbours(track.stamps, [TrackPart(0, len(track), 0)], span, 3)
    seconds = (track.stamps - track.stamps[0]) * 1e-9
    found = by_slope(track, span)
    x, y, z, w = track.orientation.T
    heading = np.unwrap(np.arctan2(2.0 * (w * z + x * y), w * w + x * x - y * y - z * z))

    def total(values):
        sums = np.concatenate([[0.0], np.cumsum(values)])
        return sums[high] - sums[low]

    count, middle = (high - low).astype(float), seconds[(low + high) // 2]
    t, tt = total(seconds), total(seconds * seconds)
    mean = t / count - middle
    square = (tt - 2.0 * middle * t) / count + middle * middle - mean * mean
    slopes, means = [], []
    position = track.position
    for each in (position[:, 0] - position[0, 0], position[:, 1] - position[0, 1], heading):
        s, ts = total(each), total(seconds * each)
        slopes.append(((ts - middle * s) / count - mean * (s / count)) / square)
        means.append(s / count)
    c, s = np.cos(means[2]), np.sin(means[2])
    np.testing.assert_array_equal(found[:, 0], c * slopes[0] + s * slopes[1])
    np.testing.assert_array_equal(found[:, 1], -s * slopes[0] + c * slopes[1])
    np.testing.assert_array_equal(found[:, 2], slopes[2])
