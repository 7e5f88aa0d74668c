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

"""Properties of a body's poses: frozen or broken spans, noise at rest, speed, attitude."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from repsq_ros.auditing.blocks import Blocks
from repsq_ros.auditing.quantile_sketch import QuantileSketch
from repsq_ros.auditing.quietest import QuietestSecond
from repsq_ros.auditing.slope_speeds import SlopeSpeeds
from repsq_ros.auditing.stamp_order import StampOrder
from repsq_ros.measurement.frames import UNIT_NORM
from repsq_ros.measurement.frozen import FrozenSpans
from repsq_ros.measurement.heading import yaw_of
from repsq_ros.measurement.samples import Samples

Array = NDArray[np.float64]
Stamps = NDArray[np.int64]
Flags = NDArray[np.bool_]

REST_SPAN = 0.1  # [s] span of the slope that gives the speed at rest
SPEED_UNIT = 1e-4  # [m/s] resolution of the speed
TILT_UNIT = 1e-4  # resolution of the sine of half the tilt: 0.01 degrees

NOTHING = (math.nan, math.nan, math.nan)


@dataclass(frozen=True)
class BodyAudit:
    """Properties of the poses of a stream; NaN: not known."""

    frozen: float = 0.0  # [s] longest span of bit-identical poses with fresh stamps
    steps: int = 0  # positions that differ from the one before
    repetitions: int = 0  # spans of equal positions that follow such a step
    turned: bool = True  # the orientation changes
    broken: int = 0  # poses with NaN, infinity or a quaternion of norm zero
    without_norm: int = 0  # quaternions of norm zero among them
    odd_norm: int = 0  # quaternions whose norm is neither zero nor one
    late: int = 0  # poses left out: their stamps precede poses already processed
    largest_step: float = math.nan  # [m] between two poses
    noise: tuple[float, float, float] = NOTHING  # [m] sd of x, y, z over the quietest second
    speed: float = math.nan  # [m/s] 99th percentile in the plane, from slopes over 0.1 s
    extent: tuple[float, float, float] = NOTHING  # [m] range of x, y, z
    tilt: tuple[float, float] = (math.nan, math.nan)  # [rad] of its z axis: median, largest
    # [rad] of its x axis: first value, total change
    heading: tuple[float, float] = (math.nan, math.nan)

    def lines(self) -> list[tuple[str, str]]:
        """Return pairs of name and value for people."""
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
        if self.late:
            lines.append(
                ('poses left out', f'{self.late}: stamped long before others that came earlier')
            )
        if not math.isfinite(self.largest_step):
            return [*lines, ('noise, speed, extent', 'unknown: too few valid positions')]
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


class BodyAuditor:
    """Describes the poses of a body that come in pieces.

    Poses are sorted by their stamps, and the first of each stamp counts; poses that come too
    late are counted and left out (`StampOrder`). Memory is constant. Beyond 16 384 poses, the
    99th percentile of the speed and the median tilt come from bins (`QuantileSketch`);
    everything else is exact.

    :param oriented: the sensor measures orientations
    """

    def __init__(self, oriented: bool = True) -> None:
        self._blocks = Blocks(np.int64, *[np.float64] * (7 if oriented else 3))
        self._order = StampOrder()
        self._count, self._broken, self._without_norm, self._odd_norm = 0, 0, 0, 0
        self._placed = 0  # poses with a finite position
        self._last: Array = np.empty((3, 0))  # the last pose of these
        self._step = 0.0  # largest step [m^2]
        self._steps = self._repetitions = 0
        self._moved = False  # the last position differs from the one before
        self._least, self._most = np.full(3, np.inf), np.full(3, -np.inf)
        self._quietest = QuietestSecond()
        self._frozen = FrozenSpans()
        self._whole = 0
        self._attitude = _Attitude() if oriented else None
        self._speed = SlopeSpeeds(REST_SPAN)
        self._speeds = QuantileSketch(SPEED_UNIT)
        self._speeds_finite = True

    def add(self, stamps: Stamps, numbers: Sequence[Array]) -> None:
        """Add the next poses.

        :param stamps: (n,) [ns] in the order of arrival
        :param numbers: x, y, z [m], (n,) each, and if there are orientations, x, y, z, w
        """
        for block in self._blocks.put(stamps, *numbers):
            self._sort_in(block)

    def _sort_in(self, block: Sequence[NDArray[np.generic]]) -> None:
        stamps: Stamps = block[0].astype(np.int64, copy=False)
        self._take(*self._order.put(stamps, np.array(block[1:])))

    def _take(self, stamps: Stamps, rows: Array) -> None:
        """Add sorted poses: (n,) stamps, and rows (3, n) or (7, n)."""
        if not len(stamps):
            return
        self._count += len(stamps)
        placed: Flags = np.logical_and.reduce(np.isfinite(rows[:3]))
        bad = ~placed
        if self._attitude is not None:
            size = np.einsum('kn,kn->n', rows[3:], rows[3:])
            if not (NEAR_ONE[0] < size.min() and size.max() < NEAR_ONE[1]):
                norm = np.sqrt(size)
                self._without_norm += int(np.sum(norm == 0))
                odd = np.isfinite(norm) & (norm > 0) & (np.abs(norm - 1.0) > UNIT_NORM)
                self._odd_norm += int(np.sum(odd))
                bad |= ~np.isfinite(rows[3:]).all(axis=0) | ~rows[3:].any(axis=0)
        self._place(stamps, rows[:3], placed)
        if bad.any():
            self._broken += int(bad.sum())
            stamps, rows = stamps[~bad], rows[:, ~bad]
        if not len(stamps):
            return
        self._whole += len(stamps)
        self._frozen.add(stamps, rows)
        if self._attitude is not None:
            self._attitude.add(rows[3:])
            self._take_speeds(self._speed.put(stamps, rows[:2]))

    def _place(self, stamps: Stamps, position: Array, placed: Flags) -> None:
        """Add the positions that are finite."""
        if not placed.all():
            stamps, position = stamps[placed], position[:, placed]
        if not len(stamps):
            return
        self._placed += len(stamps)
        chain = np.concatenate([self._last, position], axis=1)
        step = np.diff(chain, axis=1)
        np.multiply(step, step, out=step)
        squared = step[0] + step[1] + step[2]
        self._step = max(self._step, float(squared.max(initial=0.0)))
        moved = np.append(self._moved, squared > 0.0)
        self._steps += int(moved[1:].sum())
        self._repetitions += int((moved[:-1] & ~moved[1:]).sum())
        self._moved = bool(moved[-1])
        self._last = position[:, -1:].copy()
        self._least = np.minimum(self._least, position.min(axis=1))
        self._most = np.maximum(self._most, position.max(axis=1))
        self._quietest.add(stamps, position)

    def _take_speeds(self, speeds: Array) -> None:
        self._speeds_finite = self._speeds_finite and bool(np.isfinite(speeds).all())
        if self._speeds_finite:
            self._speeds.add(speeds)

    def result(self) -> BodyAudit:
        """Return the properties of all poses; no pose can be added after this."""
        rest = self._blocks.rest()
        if rest and len(rest[0]):
            self._sort_in(rest)
        self._take(*self._order.rest())
        if self._count < 2:
            return BodyAudit()
        found = BodyAudit(
            broken=self._broken,
            without_norm=self._without_norm,
            odd_norm=self._odd_norm,
            late=self._order.late,
        )
        if self._placed < 2:
            return found
        x, y, z = (self._most - self._least).tolist()
        found = replace(
            found,
            frozen=self._frozen.longest(),
            steps=self._steps,
            repetitions=self._repetitions,
            largest_step=math.sqrt(self._step),
            noise=self._quietest.deviation(),
            extent=(x, y, z),
        )
        if self._attitude is None or self._whole < 2:
            return found
        attitude = self._attitude
        found = replace(
            found, tilt=attitude.tilt(), heading=attitude.heading(), turned=attitude.turned
        )
        self._take_speeds(self._speed.rest())
        if not (self._speeds.count and self._speeds_finite):
            return found
        return replace(found, speed=self._speeds.bins().quantile(0.99))


NEAR_ONE = ((1.0 - UNIT_NORM) ** 2 + 1e-9, (1.0 + UNIT_NORM) ** 2 - 1e-9)


class _Attitude:
    """Tilt and heading of poses that come in pieces."""

    def __init__(self) -> None:
        self._tilts = QuantileSketch(TILT_UNIT)  # sine of half the tilt
        self._most = 0.0
        self._first, self._turns = 0.0, 0  # first heading, and number of full turns since
        self.turned = False  # two orientations in a row differ
        self._last: Array = np.empty((4, 0))

    def add(self, orientation: Array) -> None:
        """Add the next orientations, (4, n) x, y, z, w of any norm but zero."""
        x, y, z, w = orientation
        aslant = x * x + y * y
        tilts = np.sqrt(aslant / (aslant + z * z + w * w))
        self._tilts.add(tilts)
        self._most = max(self._most, float(tilts.max()))
        if not self._last.shape[1]:
            self._first = float(yaw_of(orientation[:, :1].T)[0])
        chain = np.concatenate([self._last, orientation], axis=1)
        self.turned = self.turned or bool((chain[:, 1:] != chain[:, :-1]).any())
        x, y, z, w = chain
        # The heading jumps from pi to -pi only where its sine changes sign.
        left = np.signbit(w * z + x * y)
        flips = np.flatnonzero(left[1:] != left[:-1])
        if len(flips):
            steps = yaw_of(chain[:, flips + 1].T) - yaw_of(chain[:, flips].T)
            self._turns -= int(np.nansum(np.round(steps / (2.0 * np.pi))))
        self._last = orientation[:, -1:].copy()

    def tilt(self) -> tuple[float, float]:
        """Return median and largest tilt [rad]."""
        middle = self._tilts.bins().quantile(0.5)
        return 2.0 * math.asin(middle), 2.0 * math.asin(self._most)

    def heading(self) -> tuple[float, float]:
        """Return the first heading, and the total change to the last one with full turns [rad]."""
        last = float(yaw_of(self._last.T)[0])
        return self._first, last - self._first + 2.0 * math.pi * self._turns


def audit_body(track: Samples) -> BodyAudit:
    """Describe all poses of a body at once."""
    position, orientation = track.position, track.orientation
    if position is None:
        return BodyAudit()
    auditor = BodyAuditor(orientation is not None)
    numbers = [*position.T] if orientation is None else [*position.T, *orientation.T]
    auditor.add(track.stamps, numbers)
    return auditor.result()
