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

"""Audits of stretches: the same however a stream is cut, as defined, and in bounded memory."""

import dataclasses
import itertools
import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.kept import kept

from repsq_ros.auditing.blocks import BLOCK, Blocks
from repsq_ros.auditing.body_audit import BodyAudit, BodyAuditor, audit_body
from repsq_ros.auditing.quantile_sketch import EXACT
from repsq_ros.auditing.quietest import QuietestSecond
from repsq_ros.auditing.slope_speeds import SlopeSpeeds
from repsq_ros.auditing.stamp_order import HELD, StampOrder
from repsq_ros.auditing.stream_audit import StreamAuditor, audit, clock_fault
from repsq_ros.measurement.frames import tilt_of
from repsq_ros.measurement.frozen import FrozenSpans, longest_frozen
from repsq_ros.measurement.heading import yaw_of
from repsq_ros.measurement.samples import Samples
from repsq_ros.measurement.velocity import by_slope

SECOND = 1_000_000_000
MS = 1_000_000
START = 1_795_819_319 * SECOND
LONG = 2 * EXACT + 777

# Streams and bodies ------------------------------------------------------------------------------


def stamps_of(rng, count, kind):
    """Return stamps [ns] in the order of arrival: even, jittery, with faults, or slow."""
    steps = np.full(count, 8 * MS)
    if kind == 'slow':
        steps = rng.integers(200 * MS, 900 * MS, count)
    if kind in ('jittery', 'faulty'):
        steps += rng.normal(0, 0.4 * MS, count).astype(np.int64)
    stamps = START + np.cumsum(steps)
    if kind == 'faulty':
        stamps += np.cumsum(rng.random(count) < 0.005) * rng.integers(20 * MS, 3 * SECOND)
        for each in (1, 3):
            twice = np.flatnonzero(rng.random(count) < 0.01)
            stamps[twice] = stamps[np.maximum(twice - each, 0)]
        late = np.flatnonzero(rng.random(count) < 0.01)
        stamps[late] -= rng.integers(0, 100 * MS, len(late))
    return stamps


def body_of(rng, stamps, faults=False):
    """Return the poses (n, 7) of a body that stands for a while, walks, turns and leans."""
    count = len(stamps)
    going = (np.arange(count) // 700 % 2).astype(float)
    yaw = 3.0 + np.cumsum(0.02 * going) + rng.normal(0, 1e-4, count)
    lean = 0.1 * going * rng.random(count)
    place = np.cumsum(0.003 * going)[:, None] * [1.0, 0.5, 0.0] + rng.normal(0, 1e-4, (count, 3))
    turn = np.column_stack([np.sin(lean / 2) + 0 * yaw, 0 * yaw, np.sin(yaw / 2), np.cos(yaw / 2)])
    turn /= np.linalg.norm(turn, axis=1)[:, None]
    poses = np.hstack([place + np.array([4e5, -3.0, 0.7]), turn])
    if faults and count:
        for begin in rng.integers(0, count, 1 + count // 300):
            poses[begin : begin + 25] = poses[begin]  # frozen
        for column, value in ((0, np.nan), (5, np.inf), (slice(3, 7), 0.0)):
            poses[rng.random(count) < 0.01, column] = value
        poses[rng.random(count) < 0.01, 3:] *= -1.0
        poses[rng.random(count) < 0.01, 3:] *= 1.2
    return poses


def fed(auditor, cuts, *columns):
    """Feed an auditor in stretches; return what it found."""
    bounds = [0, *sorted(cuts), len(columns[0])]
    for begin, end in pairwise(bounds):
        parts = [each[begin:end] for each in columns]
        auditor.add(*(parts if len(parts) < 3 else (parts[0], parts[1:])))
    return auditor.result()


def same(one, other):
    """Tell whether two audits are equal to the last bit, NaN being NaN."""
    return repr(one) == repr(other)


counts = st.sampled_from([0, 1, 2, 3, 30, 700, BLOCK, BLOCK + 1, 2 * BLOCK + 100, LONG])
kinds = st.sampled_from(['even', 'jittery', 'faulty', 'slow'])
seeds = st.integers(0, 2**32 - 1)
shares = st.lists(st.floats(0, 1), max_size=12)


@settings(max_examples=25)
@given(counts, kinds, seeds, shares, st.sampled_from([0.0, 125.0]))
@example(LONG, 'faulty', 1, [k / 300 for k in range(300)], 0.0)
def test_a_stream_in_any_stretches_is_the_stream_at_once(count, kind, seed, shares, rate):
    rng = np.random.default_rng(seed)
    stamps = stamps_of(rng, count, kind)
    arrivals = np.sort(stamps + rng.integers(0, MS, count))
    cuts = [round(share * count) for share in shares]
    found = fed(StreamAuditor(rate), cuts, stamps, arrivals)
    assert same(found, audit(stamps, arrivals, rate))


@settings(max_examples=25)
@given(counts, kinds, seeds, shares, st.booleans())
@example(LONG, 'faulty', 1, [k / 300 for k in range(300)], True)
def test_a_body_in_any_stretches_is_the_body_at_once(count, kind, seed, shares, faults):
    rng = np.random.default_rng(seed)
    stamps = stamps_of(rng, count, kind)
    poses = body_of(rng, stamps, faults)
    cuts = [round(share * count) for share in shares]
    found = fed(BodyAuditor(), cuts, stamps, *poses.T)
    assert same(found, audit_body(Samples(stamps, poses[:, :3], poses[:, 3:])))


# By the definition -------------------------------------------------------------------------------


@settings(max_examples=40)
@given(counts, kinds, seeds, st.sampled_from([0.0, 100.0, 125.0]))
def test_a_stream_is_what_the_definitions_say(count, kind, seed, rate):
    rng = np.random.default_rng(seed)
    stamps = stamps_of(rng, count, kind)
    arrivals = np.sort(stamps + 40 * MS + rng.integers(0, MS, count))
    arrivals += (np.arange(count) * 10).astype(np.int64)
    found = audit(stamps, arrivals, rate)
    steps = np.diff(stamps)
    forward = steps[steps > 0]
    period = 1e9 / rate if rate else float(np.median(forward)) if len(forward) else 0.0
    near = 2e-4 if count > EXACT else 1e-12  # the resolution of the bins
    assert found.count == count
    assert found.seconds == pytest.approx(np.ptp(stamps) * 1e-9 if count else 0.0)
    assert (found.duplicates, found.backwards) == (np.sum(steps == 0), np.sum(steps < 0))
    assert found.period == pytest.approx(period * 1e-9, rel=near)
    assert found.gaps == pytest.approx(np.sum(forward > 3 * period), abs=count * near)
    if len(forward):
        assert found.together == pytest.approx(np.mean(forward < 0.1 * period), abs=near)
        assert found.largest_gap == pytest.approx(forward.max() * 1e-9)
        whole = forward[forward < 1.5 * period]
        jitter = np.sqrt(np.mean((whole - period) ** 2)) if len(whole) else 0.0
        assert found.jitter == pytest.approx(jitter * 1e-9, rel=10 * near, abs=1e-12)
    if count > 2:
        delay, time = (arrivals - stamps) * 1e-9, (arrivals - arrivals[0]) * 1e-9
        slope, start = np.polyfit(time, delay, 1)
        assert found.delay == pytest.approx(np.median(delay), rel=near)
        assert found.drift == pytest.approx(slope, rel=1e-6, abs=1e-9)
        spread = np.std(delay - start - slope * time)
        assert found.arrival_jitter == pytest.approx(spread, rel=1e-6, abs=1e-9)


def test_what_stands_in_one_block_alone_is_told_of_the_whole_stream():
    """The latest and the least stamp, one that is not zero."""
    stamps = START + np.arange(3 * BLOCK) * 10 * MS
    stamps[10], stamps[-5] = START + 10**6 * SECOND, START + 2000 * MS
    assert audit(stamps).seconds == pytest.approx(1e6)
    stamps[-1] = START - 2 * 10**6 * SECOND
    assert audit(stamps).seconds == pytest.approx(3e6)
    stamps[BLOCK:] = 0
    assert not audit(stamps).all_zero
    stamps[:] = 0
    assert audit(stamps).all_zero
    assert audit(stamps).guess.startswith('none')
    assert not audit(stamps[:0]).all_zero


def test_messages_that_all_came_at_once_have_no_drift():
    stamps = START + np.arange(1000) * 10 * MS
    found = audit(stamps, np.full(1000, START))
    assert found.drift == 0.0
    assert found.arrival_jitter == pytest.approx(np.arange(1000).std() * 0.01)
    assert math.isnan(audit(stamps[:2], stamps[:2]).delay)
    assert audit(stamps[:3], stamps[:3]).delay == 0.0


def defined(track):
    """Return the audit of a body's whole track, by the definitions."""
    order = np.argsort(track.stamps, kind='stable')
    order = order[np.append(True, np.diff(track.stamps[order]) > 0)[: len(order)]]
    track = Samples(track.stamps[order], track.position[order], track.orientation[order])
    if len(track) < 2:
        return BodyAudit()
    bad = track.broken
    norms = np.linalg.norm(track.orientation, axis=1)
    with np.errstate(invalid='ignore'):
        odd = np.isfinite(norms) & (norms > 0) & (np.abs(norms - 1) > 0.05)
    found = BodyAudit(
        broken=int(bad.sum()), without_norm=int(np.sum(norms == 0)), odd_norm=int(odd.sum())
    )
    placed = np.isfinite(track.position).all(axis=1)
    places, when = track.position[placed], track.stamps[placed]
    if len(places) < 2:
        return found
    seconds = (when - when[0]) // SECOND
    each = [places[seconds == k] for k in np.unique(seconds)]
    each = [one for one in each if len(one) > 5] or [places]
    noise = min((one.std(axis=0) for one in each), key=lambda sd: (sd**2).sum())
    whole = track.take(~bad)
    moved = [False, *np.any(np.diff(places, axis=0), axis=1)]
    found = dataclasses.replace(
        found,
        frozen=longest_frozen(whole)[0],
        steps=sum(moved),
        repetitions=sum(a and not b for a, b in itertools.pairwise(moved)),
        largest_step=float(np.linalg.norm(np.diff(places, axis=0), axis=1).max()),
        noise=tuple(noise.tolist()),
        extent=tuple(np.ptp(places, axis=0).tolist()),
    )
    if len(whole) < 2:
        return found
    tilt, yaw = tilt_of(whole.orientation), np.unwrap(yaw_of(whole.orientation))
    found = dataclasses.replace(
        found,
        tilt=(float(np.median(tilt)), float(tilt.max())),
        heading=(float(yaw[0]), float(yaw[-1] - yaw[0])),
        turned=bool(np.any(np.diff(whole.orientation, axis=0))),
    )
    try:
        speeds = np.hypot(*by_slope(whole, 0.1)[:, :2].T)
    except ValueError:
        return found
    return dataclasses.replace(found, speed=float(np.percentile(speeds, 99)))


@settings(max_examples=40)
@given(counts, kinds, seeds, st.booleans())
@example(LONG, 'faulty', 2, True)
@example(LONG, 'even', 3, False)
@example(12, 'slow', 4, False)
def test_a_body_is_what_the_definitions_say(count, kind, seed, faults):
    rng = np.random.default_rng(seed)
    stamps = stamps_of(rng, count, kind)
    poses = body_of(rng, stamps, faults)
    track = Samples(stamps, poses[:, :3], poses[:, 3:])
    found, expected = dataclasses.asdict(audit_body(track)), dataclasses.asdict(defined(track))
    for name in ('tilt', 'speed'):
        near = {'tilt': 3e-5, 'speed': 5e-5}[name] if count > EXACT else 2e-6
        assert found.pop(name) == pytest.approx(expected.pop(name), abs=near, nan_ok=True), name
    for name, value in found.items():
        assert value == pytest.approx(expected[name], rel=1e-6, abs=1e-8, nan_ok=True), name


def in_stretches(finder, cuts, stamps, rows):
    """Feed a part of an auditor in stretches."""
    for begin, end in pairwise(
        [0, *sorted({c for c in cuts if 0 < c < len(stamps)}), len(stamps)]
    ):
        finder.add(stamps[begin:end], rows[:, begin:end])
    return finder


cut_places = st.lists(st.integers(1, 199), max_size=8)


@given(seeds, st.integers(1, 200), st.sampled_from([0.1, 0.5, 0.98]), cut_places)
@example(1, 200, 0.0, [100])
@example(1, 200, 1.0, [50, 100])
def test_frozen_spans_go_on_from_stretch_to_stretch(seed, count, changing, cuts):
    rng = np.random.default_rng(seed)
    stamps = np.cumsum(rng.integers(1, 20, count)) * MS
    poses = np.cumsum((rng.random((count, 7)) < changing / 7) * 1.0, axis=0)
    expected = longest_frozen(Samples(stamps, poses[:, :3], poses[:, 3:]))[0]
    assert in_stretches(FrozenSpans(), cuts, stamps, poses.T).longest() == pytest.approx(expected)


@given(seeds, st.integers(1, 200), st.sampled_from([20, 150, 300, 2000]), cut_places)
@example(1, 200, 2000, [1, 2, 3])
@example(1, 6, 20, [])
@example(1, 6, 20, [3])
@example(3, 30, 300, [6, 12])
def test_the_quietest_second_is_found_in_any_stretches(seed, count, longest, cuts):
    rng = np.random.default_rng(seed)
    stamps = START + np.cumsum(rng.integers(1, longest, count)) * MS
    place = np.cumsum(rng.normal(0, rng.random((count, 1)), (count, 3)), axis=0) + 4e5
    seconds = (stamps - stamps[0]) // SECOND
    each = [place[seconds == k] for k in np.unique(seconds)]
    each = [one for one in each if len(one) > 5] or [place]
    expected = min((one.std(axis=0) for one in each), key=lambda sd: (sd**2).sum())
    found = in_stretches(QuietestSecond(), cuts, stamps, place.T).deviation()
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize('count', [2, 3, 4, 40, 600])
@pytest.mark.parametrize('kind', ['even', 'jittery', 'slow', 'gaps', 'together', 'pairs', 'short'])
@pytest.mark.parametrize('length', [1, 7, 250])
def test_speeds_come_stretch_by_stretch_as_slopes_over_the_whole_track(count, kind, length):
    rng = np.random.default_rng(count)
    steps = {
        'even': lambda: np.full(count, 8 * MS),
        'jittery': lambda: 8 * MS + rng.integers(-2 * MS, 2 * MS, count),
        'slow': lambda: rng.integers(40 * MS, 300 * MS, count),
        'gaps': lambda: np.where(rng.random(count) < 0.05, 2 * SECOND, 10 * MS),
        # Of some, exactly one other is in reach; of some, few within less than half the span.
        'pairs': lambda: np.resize([50 * MS, 100 * MS], count),
        'short': lambda: np.resize(np.array([200, 10, 10, 35, 45]) * MS, count),
        'together': lambda: np.where(rng.random(count) < 0.1, 90 * MS, 1000),
    }[kind]()
    stamps = START + np.cumsum(steps)
    place = np.cumsum(rng.normal(0, 1e-3, (count, 3)), axis=0)
    track = Samples(stamps, place, np.tile([0.0, 0.0, 0.0, 1.0], (count, 1)))
    speeds = SlopeSpeeds(0.1)
    found = [
        speeds.put(stamps[begin : begin + length], place.T[:2, begin : begin + length])
        for begin in range(0, count, length)
    ]
    found = np.concatenate([*found, speeds.rest()])
    try:
        expected = np.hypot(*by_slope(track, 0.1)[:, :2].T)
    except ValueError:
        expected = np.empty(0)
    assert found == pytest.approx(expected, rel=1e-5, abs=1e-6)


def test_even_poses_are_found_without_a_search(monkeypatch):
    """All but those at the ends of the track, whose neighbours lie to one side."""
    asked = []
    whole = SlopeSpeeds._by_slope

    def counting(self, begin, end):
        asked.append(end - begin)
        return whole(self, begin, end)

    monkeypatch.setattr(SlopeSpeeds, '_by_slope', counting)
    rng = np.random.default_rng(1)
    stamps = START + np.arange(30_000) * 8 * MS + rng.integers(-1000, 1000, 30_000)
    audit_body(
        Samples(stamps, rng.normal(0, 1, (30_000, 3)), np.tile([0, 0, 0, 1.0], (30_000, 1)))
    )
    assert sum(asked) < 40


# Order -------------------------------------------------------------------------------------------


def in_stamp_order(stamps, rows, length):
    """Return what comes out of the order, and how many were left out."""
    order = StampOrder()
    parts = [
        order.put(stamps[begin : begin + length], rows[:, begin : begin + length])
        for begin in range(0, len(stamps), length)
    ]
    parts.append(order.rest())
    return np.concatenate([p[0] for p in parts]), np.hstack([p[1] for p in parts]), order.late


@pytest.mark.parametrize('length', [1, 100, 5000])
def test_what_comes_late_by_less_than_is_held_back_finds_its_place(length):
    rng = np.random.default_rng(1)
    # By up to 500 places, and each tenth stamp twice: the first that came counts.
    came = np.argsort(np.arange(5000) + rng.uniform(0, 500, 5000), kind='stable')
    stamps = START + (came - (came % 10 == 9)) * 10 * MS
    rows = np.vstack([np.arange(5000.0), came])
    found, numbers, late = in_stamp_order(stamps, rows, length)
    expected, first = np.unique(stamps, return_index=True)
    assert late == 0
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(numbers, rows[:, first])


@pytest.mark.parametrize('before', [0, MS])
def test_what_comes_later_still_is_left_out_and_counted(before):
    stamps = START + np.arange(6000) * 10 * MS
    stamps[2000] = stamps[2000 - HELD] - MS  # in time by one
    stamps[5500] = stamps[5500 - HELD - 1] - before
    found, _, late = in_stamp_order(stamps, np.zeros((1, 6000)), 1)
    assert late == 1
    assert len(found) == 5999
    assert (np.diff(found) > 0).all()
    assert stamps[2000] in found
    assert (stamps[5500] in found) == (before == 0)


def test_a_clock_that_is_set_back_is_told_and_the_first_run_described():
    rng = np.random.default_rng(1)
    stamps = START + np.arange(3 * BLOCK) * 10 * MS
    stamps[BLOCK:] -= stamps[BLOCK] - START  # the simulation began anew, and ran on longer
    poses = body_of(rng, stamps)
    found = audit_body(Samples(stamps, poses[:, :3], poses[:, 3:]))
    assert found.late == BLOCK - HELD
    assert ('poses left out', f'{found.late}: stamped long before others that came earlier') in (
        found.lines()
    )
    assert 'poses left out' not in dict(BodyAudit().lines())


def test_one_stamp_of_the_far_future_leaves_nothing_out():
    rng = np.random.default_rng(1)
    stamps = START + np.arange(3 * BLOCK) * 10 * MS
    stamps[100] += 10**9 * SECOND
    poses = body_of(rng, stamps)
    assert audit_body(Samples(stamps, poses[:, :3], poses[:, 3:])).late == 0


def test_blocks_hold_all_that_came_in_its_order():
    blocks, found = Blocks(np.int64, np.float64, size=10), []
    numbers = np.arange(57)
    for begin, end in ((0, 0), (0, 3), (3, 10), (10, 34), (34, 35), (35, 57)):
        for block in blocks.put(numbers[begin:end], numbers[begin:end] / 2):
            assert len(block[0]) == 10
            found.append([each.copy() for each in block])
    found.append(blocks.rest())
    assert [each.dtype for each in found[0]] == [np.int64, np.float64]
    np.testing.assert_array_equal(np.concatenate([each[0] for each in found]), numbers)
    np.testing.assert_array_equal(np.concatenate([each[1] for each in found]), numbers / 2)
    assert [len(each) for each in blocks.rest()] == [0, 0]
    assert not Blocks(np.int64).rest()


# Memory ------------------------------------------------------------------------------------------


@pytest.mark.parametrize('kind', ['even', 'jittery', 'faulty', 'slow'])
def test_nothing_is_kept_of_a_long_stream_but_bins(kind):
    rng = np.random.default_rng(1)
    stream, body, held = StreamAuditor(), BodyAuditor(), []
    for k in range(60):
        stamps = stamps_of(rng, 3000, kind) + k * 5000 * SECOND
        stream.add(stamps, stamps + rng.integers(0, MS, 3000))
        body.add(stamps, list(body_of(rng, stamps, kind == 'faulty').T))
        held.append((kept(stream), kept(body)))
    # Ten stretches fill the sketches; then a page of bins comes in now and then.
    for numbers in np.array(held).T:
        assert max(numbers[35:]) - max(numbers[10:35]) < 3 * 3 * 4096
        assert max(numbers) < 400_000  # 3.2 MB


def test_samples_of_one_stamp_are_not_kept():
    body = BodyAuditor()
    stamps = np.zeros(5000, dtype=np.int64)
    for _ in range(20):
        body.add(stamps, list(np.zeros((7, 5000))))
    assert kept(body) < 8 * BLOCK + 100
    assert body.result() == BodyAudit()


# Faults ------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings('ignore::RuntimeWarning')
@pytest.mark.parametrize('value', [math.nan, math.inf, 1e300, -1e300, 0.0, 5e-324])
@pytest.mark.parametrize('column', [0, 4, slice(3, 7), slice(0, 7)])
def test_no_number_of_a_pose_stops_the_audit(value, column):
    rng = np.random.default_rng(1)
    stamps = stamps_of(rng, 20_000, 'jittery')
    poses = body_of(rng, stamps)
    poses[:, column] = value
    poses[::3] = body_of(rng, stamps)[::3]
    lines = audit_body(Samples(stamps, poses[:, :3], poses[:, 3:])).lines()
    assert lines[1][0] == 'broken poses'


@pytest.mark.parametrize(('placed', 'whole'), [(0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2)])
def test_two_poses_at_least_are_described(placed, whole):
    rng = np.random.default_rng(1)
    stamps = stamps_of(rng, 5, 'even')
    poses = body_of(rng, stamps)
    poses[placed:, 0] = np.nan
    poses[whole:, 4] = np.nan
    found = audit_body(Samples(stamps, poses[:, :3], poses[:, 3:]))
    assert found.broken == 5 - whole
    assert math.isnan(found.largest_step) == (placed < 2)
    assert math.isnan(found.tilt[0]) == (whole < 2)
    assert audit_body(Samples(stamps[:1], poses[:1, :3], poses[:1, 3:])) == BodyAudit()


@pytest.mark.parametrize(('norm', 'odd'), [(0.9, 1), (0.94, 1), (0.96, 0), (1.04, 0), (1.06, 1)])
def test_a_norm_is_odd_from_a_twentieth_on(norm, odd):
    rng = np.random.default_rng(1)
    stamps = stamps_of(rng, 300, 'even')
    poses = body_of(rng, stamps)
    found = audit_body(Samples(stamps, poses[:, :3], norm * poses[:, 3:]))
    assert (found.odd_norm, found.without_norm, found.broken) == (300 * odd, 0, 0)


@pytest.mark.filterwarnings('ignore::RuntimeWarning')
def test_speeds_beyond_all_numbers_are_not_told():
    rng = np.random.default_rng(1)
    stamps = stamps_of(rng, 3 * BLOCK, 'even')
    poses = body_of(rng, stamps)
    poses[::7, 0][:100] = 1e308
    found = audit_body(Samples(stamps, poses[:, :3], poses[:, 3:]))
    assert math.isnan(found.speed)
    assert found.tilt[1] == pytest.approx(tilt_of(poses[:, 3:]).max())


def test_points_have_no_attitude_and_no_speed():
    rng = np.random.default_rng(1)
    stamps = stamps_of(rng, 3000, 'even')
    found = audit_body(Samples(stamps, body_of(rng, stamps)[:, :3], None))
    assert max(found.noise) < 2e-4
    assert math.isnan(found.speed)
    assert math.isnan(found.tilt[0])
    assert audit_body(Samples(stamps, None, None)) == BodyAudit()


@pytest.mark.parametrize(
    ('offset', 'told'),
    [(0.06, '0.060 s behind the clock of this computer'), (0.04, ''), (-0.04, ''),
     (-0.2, '0.200 s ahead of the clock of this computer')],
)  # fmt: skip
def test_clocks_are_compared_by_the_message_that_took_the_shortest(offset, told):
    stamps = np.arange(20) * 10_000_000
    late = np.full(20, 300_000_000)  # most messages are held up by a network
    late[7] = 0
    assert clock_fault(stamps, stamps + round(offset * 1e9) + late, 0.05) == told
    assert clock_fault(stamps[:9], stamps[:9] + 10**9, 0.05) == '', 'too few to tell'
