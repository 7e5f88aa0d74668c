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

"""What a stream of messages is like: rate, jitter, gaps, clocks, frozen spans, noise at rest."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from repsq_ros.measurement.frames import UNIT_NORM, tilt_of
from repsq_ros.measurement.heading import yaw_of
from repsq_ros.measurement.rowwise import all_finite, any_set, lengths
from repsq_ros.measurement.slopes import by_slope
from repsq_ros.measurement.track import Track, broken

Array = NDArray[np.float64]
Stamps = NDArray[np.int64]

TOGETHER = 0.1  # of a period: two messages nearer than this came together
GAP = 3.0  # periods without a message that are a gap
JITTERY = 0.1  # of a period: gaps that vary as much are those of arrival
TOGETHER_SHARE = 0.01  # of the gaps: a sensor's own clock makes none at all
OTHER_RATE = 0.02  # by which a rate may differ from the declared one
APART = 1.0  # [s] between stamp and arrival: no network takes as long
REST_SPAN = 0.1  # [s] of the slope that tells the speed at rest
BLOCK = 16_384  # poses whose speeds are computed at once


@dataclass(frozen=True)
class StreamAudit:
    """The stamps of a stream, as they came; seconds throughout."""

    count: int
    seconds: float  # from the first stamp to the last
    rate: float  # [Hz] messages per time
    period: float  # median gap of distinct stamps, or that of the nominal rate
    jitter: float  # root mean square of gap - period, over the gaps that miss no message
    duplicates: int  # stamps that equal the one before
    backwards: int  # stamps before the one before
    together: float  # share of the gaps under a tenth of the period
    gaps: int  # gaps of more than three periods
    largest_gap: float
    delay: float  # median of arrival - stamp: transport and offset between the clocks
    drift: float  # [s/s] of that delay over time
    arrival_jitter: float  # standard deviation of that delay around its line
    declared: float  # [Hz] nominal rate; 0: not given
    guess: str  # header: the sensor's clock; receive: arrival; none: no stamps; too short

    def lines(self) -> list[tuple[str, str]]:
        """Return what people read, as pairs of name and value."""
        rate = f'{self.rate:.2f} Hz'
        if self.declared > 0 and abs(self.rate / self.declared - 1.0) > OTHER_RATE:
            rate += f', not the {self.declared:g} Hz declared'
        delay = f'{self.delay * 1e3:.3f} ms'
        if abs(self.delay) > APART:
            delay += ': the clocks are far apart, or the stamps are none'
        return [
            ('messages', f'{self.count} in {self.seconds:.3f} s'),
            ('rate', rate),
            ('period', f'{self.period * 1e3:.3f} ms'),
            ('jitter', f'{self.jitter * 1e3:.3f} ms'),
            ('duplicate stamps', f'{self.duplicates}'),
            ('backward stamps', f'{self.backwards}'),
            ('gaps under a tenth of a period', f'{self.together:.1%}'),
            ('gaps over three periods', f'{self.gaps}'),
            ('largest gap', f'{self.largest_gap:.4f} s'),
            ('arrival after stamp', delay),
            ('drift of the clocks', f'{self.drift * 1e6:.1f} us/s'),
            ('arrival jitter', f'{self.arrival_jitter * 1e3:.3f} ms'),
            ('stamps look like', self.guess),
        ]


def audit(stamps: Stamps, arrivals: Stamps | None = None, rate: float = 0.0) -> StreamAudit:
    """Describe a stream.

    :param stamps: (n,) [ns] in the order of arrival
    :param arrivals: (n,) [ns] when each message came; None: not known
    :param rate: [Hz] nominal; 0: the median gap stands for it
    """
    count = len(stamps)
    steps = np.diff(stamps).astype(np.float64) * 1e-9
    forward = steps[steps > 0]
    seconds = float(stamps.max() - stamps.min()) * 1e-9 if count else 0.0
    period = 1.0 / rate if rate > 0 else float(np.median(forward)) if len(forward) else 0.0
    whole = forward[forward < 1.5 * period]
    delay = drift = arrival_jitter = float('nan')
    if arrivals is not None and count > 2:
        delay, drift, arrival_jitter = clocks(stamps, arrivals)
    found = StreamAudit(
        count=count,
        seconds=seconds,
        rate=(count - 1) / seconds if seconds > 0 else 0.0,
        period=period,
        jitter=float(np.sqrt(np.mean((whole - period) ** 2))) if len(whole) else 0.0,
        duplicates=int(np.sum(steps == 0)),
        backwards=int(np.sum(steps < 0)),
        together=float(np.mean(forward < TOGETHER * period)) if len(forward) else 0.0,
        gaps=int(np.sum(forward > GAP * period)),
        largest_gap=float(forward.max()) if len(forward) else 0.0,
        delay=delay,
        drift=drift,
        arrival_jitter=arrival_jitter,
        declared=rate,
        guess='',
    )
    return replace(found, guess=_guess(found, bool(count and not stamps.any())))


def clocks(stamps: Stamps, arrivals: Stamps) -> tuple[float, float, float]:
    """Return the delay of arrival: its median [s], drift [s/s] and spread [s] around its line."""
    delay = (arrivals - stamps).astype(np.float64) * 1e-9
    since = (arrivals - arrivals[0]).astype(np.float64) * 1e-9
    if since[-1] <= 0:
        return float(np.median(delay)), 0.0, float(np.std(delay))
    # About their means: absolute stamps are too large for a sum of squares.
    late, time = delay - delay[0], since - since.mean()
    late -= late.mean()
    slope = float(time @ late / (time @ time))
    return float(np.median(delay)), slope, float(np.std(late - slope * time))


def _guess(found: StreamAudit, all_zero: bool) -> str:
    """Guess who has set the stamps."""
    if all_zero:
        return 'none: the driver leaves them zero; use stamp: receive'
    if found.count < 20:
        return 'too short to tell'
    if found.together > TOGETHER_SHARE:
        return 'receive: messages that came together have stamps that lie together'
    if found.jitter > JITTERY * found.period:
        return 'receive: gaps vary as arrivals do'
    return 'header: even, as of the sensor itself'


NOTHING = (math.nan, math.nan, math.nan)


@dataclass(frozen=True)
class BodyAudit:
    """What the poses of a stream are like; NaN where nothing can be told."""

    frozen: float = 0.0  # [s] longest span of bit-identical poses with fresh stamps
    broken: int = 0  # poses with NaN, infinity or a quaternion of norm zero
    without_norm: int = 0  # quaternions of norm zero among them
    odd_norm: int = 0  # quaternions whose norm is neither zero nor one
    largest_step: float = math.nan  # [m] between two poses
    noise: tuple[float, float, float] = NOTHING  # [m] sd of x, y, z over the quietest second
    speed: float = math.nan  # [m/s] 99th percentile in the plane, by slope over 0.1 s
    extent: tuple[float, float, float] = NOTHING  # [m] from least to greatest x, y, z
    tilt: tuple[float, float] = (math.nan, math.nan)  # [rad] of its z axis: median, largest
    heading: tuple[float, float] = (math.nan, math.nan)  # [rad] of its x axis: first, how far on

    def lines(self) -> list[tuple[str, str]]:
        """Return what people read, as pairs of name and value."""
        lines = [
            ('longest frozen span', f'{self.frozen:.3f} s'),
            ('broken poses', f'{self.broken}'),
        ]
        if self.without_norm:
            lines.append(('quaternions of norm zero', f'{self.without_norm}: tracking lost'))
        if self.odd_norm:
            lines.append(
                ('quaternions of another norm', f'{self.odd_norm}: in the order x, y, z, w?')
            )
        if not math.isfinite(self.largest_step):
            return [*lines, ('noise, speed, extent', 'not told: too few whole positions')]
        lines += [
            ('largest step', f'{self.largest_step:.4f} m'),
            ('noise of the quietest second', f'{_three(self.noise, 1e3)} mm in x, y, z'),
            ('extent', f'{_three(self.extent, 1.0)} m in x, y, z'),
        ]
        if math.isfinite(self.speed):
            lines.append(('speed, 99th percentile by slope', f'{self.speed:.4f} m/s'))
        if math.isfinite(self.tilt[0]):
            middle, most = (math.degrees(each) for each in self.tilt)
            first, on = (math.degrees(each) for each in self.heading)
            lines += [
                ('tilt', f'{middle:.1f} degrees, at most {most:.1f}'),
                ('heading', f'{first:.1f} degrees at first, {on:+.1f} in the end'),
            ]
        return lines


def _three(values: tuple[float, float, float], factor: float) -> str:
    return ', '.join(f'{each * factor:.3f}' for each in values)


def audit_body(track: Track) -> BodyAudit:
    """Describe the poses of a body; stamps must not run backwards."""
    position, orientation = track.position, track.orientation
    if position is None or len(track) < 2:
        return BodyAudit()
    poses = Track(track.stamps, position, orientation)
    bad = broken(poses)
    without_norm, odd_norm = _norms(orientation)
    found = BodyAudit(broken=int(np.sum(bad)), without_norm=without_norm, odd_norm=odd_norm)
    placed = all_finite(position)
    whole = poses.take(~bad) if bad.any() else poses
    places, when = (
        (position, track.stamps) if placed.all() else (position[placed], track.stamps[placed])
    )
    if len(places) < 2:
        return found
    found = replace(
        found,
        frozen=longest_frozen(whole)[0] if len(whole) else 0.0,
        largest_step=float(lengths(places[1:] - places[:-1]).max()),
        noise=quietest(when, places),
        extent=_triple(np.array([np.ptp(column) for column in places.T])),
    )
    if whole.orientation is None or len(whole) < 2:
        return found
    tilt = tilt_of(whole.orientation)
    heading = yaw_of(whole.orientation)
    steps = np.diff(heading)
    steps -= 2.0 * np.pi * np.round(steps / (2.0 * np.pi))
    found = replace(
        found,
        tilt=(float(np.median(tilt)), float(tilt.max())),
        heading=(float(heading[0]), float(steps.sum())),
    )
    try:
        speeds = _speeds(whole)
    except ValueError:
        return found
    return replace(found, speed=float(np.percentile(speeds, 99)))


def _speeds(track: Track) -> Array:
    """Return the speed in the plane of each pose [m/s], (n,), by slope.

    Block by block: what is computed for a long recording at once finds no room in a cache.

    :raises ValueError: too few poses, or too short
    """
    stamps, reach_ns = track.stamps, round(REST_SPAN * 1e9)
    speeds = []
    for begin in range(0, len(track), BLOCK):
        end = min(begin + BLOCK, len(track))
        low = int(np.searchsorted(stamps, stamps[begin] - reach_ns)) if begin else 0
        high = int(np.searchsorted(stamps, stamps[end - 1] + reach_ns)) + 1
        if len(track) - end < 3:  # too few for a block of their own
            end = high = len(track)
        part = track.take(slice(max(low - 1, 0), high + 1))
        first = begin - max(low - 1, 0)
        velocity = by_slope(part, REST_SPAN, first)[: end - begin]
        speeds.append(np.hypot(velocity[:, 0], velocity[:, 1]))
        if end == len(track):
            break
    return np.concatenate(speeds)


def _norms(orientation: Array | None) -> tuple[int, int]:
    """Return how many quaternions have norm zero, and how many another one than 0 and 1."""
    if orientation is None:
        return 0, 0
    norms = lengths(orientation)
    odd = np.isfinite(norms) & (norms > 0) & (np.abs(norms - 1.0) > UNIT_NORM)
    return int(np.sum(norms == 0)), int(np.sum(odd))


def _triple(values: Array) -> tuple[float, float, float]:
    return float(values[0]), float(values[1]), float(values[2])


def longest_frozen(track: Track) -> tuple[float, int]:
    """Return the longest span of bit-identical poses [s] and the index at which it begins."""
    columns = [c for c in (track.position, track.orientation) if c is not None]
    if len(track) < 2 or not columns:
        return 0.0, 0
    # A flip of the quaternion's sign is no change, but NaN is one: it is another fault.
    changed = any_set(columns[0][1:] != columns[0][:-1])
    for column in columns[1:]:
        changed |= any_set(column[1:] != column[:-1])
    moved = np.flatnonzero(changed) + 1
    starts = np.concatenate([[0], moved])
    ends = np.concatenate([moved - 1, [len(track) - 1]])
    spans = (track.stamps[ends] - track.stamps[starts]).astype(np.float64) * 1e-9
    longest = int(np.argmax(spans))
    return float(spans[longest]), int(starts[longest])


def quietest(stamps: Stamps, position: Array) -> tuple[float, float, float]:
    """Return the standard deviation of x, y, z over the second in which the body moves least."""
    second = (stamps - stamps[0]) // 1_000_000_000
    starts = np.concatenate([[0], np.flatnonzero(np.diff(second)) + 1])
    counts = np.diff(np.append(starts, len(stamps)))
    if counts.max() <= 5:
        return _triple(position.std(axis=0))
    mean = np.add.reduceat(position, starts, axis=0) / counts[:, None]
    off = position - np.repeat(mean, counts, axis=0)
    variance = np.add.reduceat(off * off, starts, axis=0) / counts[:, None]
    total = np.where(counts > 5, variance.sum(axis=1), np.inf)
    return _triple(np.sqrt(variance[np.argmin(total)]))
