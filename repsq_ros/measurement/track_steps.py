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

"""What lies between successive samples of a track: times, ways and turns, each computed once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from repsq_ros.measurement.frames import continuous
from repsq_ros.measurement.rowwise import ROOT_OF_3, lengths
from repsq_ros.measurement.track import Track

Array = NDArray[np.float64]

FEWEST = 5  # steps among which one can be held against its neighbours


class StepBounds(NamedTuple):
    """What no step goes beyond: of few numbers, where no check has to look at each step."""

    length: float
    departure: float  # from the median of its neighbours


class TrackSteps:
    """The n - 1 steps between n samples; several checks look at them.

    :param track: in SI units
    :param period: [s] between two samples
    """

    def __init__(self, track: Track, period: float) -> None:
        self.track, self.period = track, period

    def __len__(self) -> int:
        return max(len(self.track) - 1, 0)

    @property
    def comparable(self) -> bool:
        """Tell whether steps can be held against their neighbours."""
        return len(self) >= FEWEST and self.period > 0

    @cached_property
    def seconds(self) -> Array:
        """Return how long each took [s], (n - 1,)."""
        return seconds_of(self.track.stamps)

    @cached_property
    def ways(self) -> Array | None:
        """Return by what the position changed [m], (n - 1, 3); None: there is none."""
        position = self.track.position
        return None if position is None else ways_of(position)

    @cached_property
    def norms(self) -> Array | None:
        """Return the norms of the quaternions, (n,); None: it has no orientation."""
        orientation = self.track.orientation
        return None if orientation is None else lengths(orientation)

    @cached_property
    def turns(self) -> Array | None:
        """Return by what it turned [rad], (n - 1, 3); None: it has no orientation."""
        orientation = self.track.orientation
        return None if orientation is None else turns_of(orientation, self.norms)

    @cached_property
    def ways_apart(self) -> Array:
        """Return from the median of its neighbours to each way [m], (n - 1, 3)."""
        return self._apart(self.ways)

    @cached_property
    def turns_apart(self) -> Array:
        """Return the same of the turns [rad], (n - 1, 3)."""
        return self._apart(self.turns)

    def _apart(self, steps: Array | None) -> Array:
        if steps is None or not self.comparable:
            return np.zeros((len(self), 3))
        return apart_from_neighbours([steps.T], [steps.T * as_long(self.period, self.seconds)]).T

    @cached_property
    def way_bounds(self) -> StepBounds:
        """Return what no way goes beyond."""
        return bounds_of(self.ways, self.ways_apart)

    @cached_property
    def turn_bounds(self) -> StepBounds:
        """Return what no turn goes beyond."""
        return bounds_of(self.turns, self.turns_apart)


def ways_of(position: Array) -> Array:
    """Return the ways between successive positions, (n - 1, 3).

    :param position: (n, 3)
    """
    laid = np.ascontiguousarray(position.T)  # (3, n): columns that lie together
    return (laid[:, 1:] - laid[:, :-1]).T


def turns_of(orientation: Array, norms: Array | None = None) -> Array:
    """Return the turns between successive quaternions as vectors, axis times angle [rad].

    :param orientation: (n, 4) x, y, z, w, any norm but zero
    :param norms: (n,) of the quaternions, where they are known
    :returns: (n - 1, 3)
    """
    laid = np.ascontiguousarray(orientation.T)
    unit = continuous((laid / (lengths(laid.T) if norms is None else norms)).T).T
    before, after = unit[:, :-1], unit[:, 1:]
    # |a - b| = 2 sin(angle / 4): exact for small angles, where the inner product is not.
    half = lengths((after - before).T) / 2.0
    angle: Array = 4.0 * np.arcsin(np.minimum(half, 1.0))
    # The vector part of before^-1 * after: w v' - w' v - v x v'.
    axis: Array = before[3] * after[:3]
    axis -= after[3] * before[:3]
    # The other two axes of each, in the order of a cross product: y, z, x and z, x, y.
    around = np.concatenate([unit[1:3], unit[:2]])
    y, z = around[:3], around[1:]
    axis += z[:, :-1] * y[:, 1:] - y[:, :-1] * z[:, 1:]
    size = lengths(axis.T)
    some = size > 0
    if some.all():
        axis *= angle / size
        return axis.T
    axis *= angle / np.where(some, size, 1.0)
    where_none: Array = np.column_stack([angle, 0 * angle, 0 * angle])
    return np.where(some[:, None], axis.T, where_none)


def seconds_of(stamps: NDArray[np.int64]) -> Array:
    """Return the time between successive stamps [s], (n - 1,)."""
    return (stamps[1:] - stamps[:-1]).astype(np.float64) * 1e-9


def as_long(period: float | Array, seconds: Array) -> Array:
    """Return the factors that bring steps of more than a period to one, (n,)."""
    found: Array = np.minimum(1.0, period / seconds)
    return found


def apart_from_neighbours(several: Sequence[Array], brought: Sequence[Array]) -> Array:
    """Return from the median of the two before and the two after it to each step, (k, n).

    :param several: the steps of tracks, each (k, n), n >= 5
    :param brought: the same, those of more than a period brought to one
    """
    # At the ends the neighbours are mirrored.
    padded = np.concatenate(
        [part for steps in brought for part in (steps[:, 2:0:-1], steps, steps[:, -2:-4:-1])],
        axis=1,
    )
    a, b, c, d = (padded[:, k : padded.shape[1] - 4 + k] for k in (0, 1, 3, 4))
    # The second and the third of four.
    second = np.maximum(np.minimum(a, b), np.minimum(c, d))
    third = np.minimum(np.maximum(a, b), np.maximum(c, d))
    middle = (second + third) / 2.0
    found, at, place = np.empty((len(middle), padded.shape[1] - 4 * len(several))), 0, 0
    for steps in several:
        count = steps.shape[1]
        np.subtract(steps, middle[:, place : place + count], out=found[:, at : at + count])
        at, place = at + count, place + count + 4
    return found


def bounds_of(steps: Array | None, apart: Array) -> StepBounds:
    """Return what no step goes beyond.

    :param steps: (n, 3)
    :param apart: (n, 3), from the median of its neighbours to each
    """
    if steps is None or not len(steps):
        return StepBounds(0.0, 0.0)
    departure = float(np.abs(apart).max(initial=0.0))
    return StepBounds(ROOT_OF_3 * float(np.abs(steps).max()), ROOT_OF_3 * departure)


def look_side_by_side(several: Sequence[TrackSteps]) -> None:
    """Look at the steps of several tracks of one input at once.

    Most of the time for a window of some hundred samples goes into preparing numpy's calls. Each
    number is computed from the samples around it alone, so each is what its track alone would
    give, to the last bit; what comes out between two tracks belongs to none. Their bounds are
    those of all.
    """
    several = [steps for steps in several if steps.comparable]
    if not several:
        return
    edges = list(accumulate((len(steps.track) for steps in several), initial=0))
    own = [slice(begin, end - 1) for begin, end in pairwise(edges)]
    seconds = seconds_of(np.concatenate([steps.track.stamps for steps in several]))
    periods = np.repeat([steps.period for steps in several], np.diff(edges))[:-1]
    factors = as_long(periods, seconds)
    for steps, rows in zip(several, own, strict=True):
        steps.seconds = seconds[rows]
    positions = [s.track.position.T for s in several if s.track.position is not None]
    if len(positions) == len(several):
        ways = ways_of(np.concatenate(positions, axis=1).T)
        apart, bounds = _judged(ways.T, factors, own)
        for steps, rows, lies in zip(several, own, apart, strict=True):
            steps.ways, steps.ways_apart, steps.way_bounds = ways[rows], lies, bounds
    orientations = [s.track.orientation.T for s in several if s.track.orientation is not None]
    if len(orientations) == len(several):
        orientation = np.concatenate(orientations, axis=1).T
        norms = lengths(orientation)
        turns = turns_of(orientation, norms)
        apart, bounds = _judged(turns.T, factors, own)
        for steps, rows, lies in zip(several, own, apart, strict=True):
            steps.norms = norms[rows.start : rows.stop + 1]
            steps.turns, steps.turns_apart, steps.turn_bounds = turns[rows], lies, bounds


def _judged(steps: Array, factors: Array, own: Sequence[slice]) -> tuple[list[Array], StepBounds]:
    """Return how far the steps of each track are from their neighbours, and bounds of all.

    :param steps: (3, n) of all tracks, and one between each two
    """
    brought = steps * factors
    parts = [steps[:, rows] for rows in own]
    apart = apart_from_neighbours(parts, [brought[:, rows] for rows in own])
    edges = accumulate((part.shape[1] for part in parts), initial=0)
    for rows in own[:-1]:
        steps[:, rows.stop] = 0.0  # none of theirs
    bounds = bounds_of(steps.T, apart.T)
    return [apart[:, begin:end].T for begin, end in pairwise(edges)], bounds
