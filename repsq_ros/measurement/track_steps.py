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

NONE = np.empty(0, dtype=np.int64)


class StepBounds(NamedTuple):
    """What no step of a track goes beyond."""

    length: float
    departure: float  # from the median of its neighbours


class TrackSteps:
    """The n - 1 steps between n samples; several checks look at them.

    The bounds tell, of few numbers, where no check has to look at each step.

    :param track: in SI units
    :param period: [s] between two samples
    """

    def __init__(self, track: Track, period: float) -> None:
        self.track, self.period = track, period

    def __len__(self) -> int:
        return max(len(self.track) - 1, 0)

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
    def way_bounds(self) -> StepBounds:
        """Return what no way goes beyond."""
        return self._bounds_of(self.ways)

    @cached_property
    def turn_bounds(self) -> StepBounds:
        """Return what no turn goes beyond."""
        return self._bounds_of(self.turns)

    def _bounds_of(self, steps: Array | None) -> StepBounds:
        if steps is None or not len(self):
            return StepBounds(0.0, 0.0)
        return bounds_of(steps.T, shortened(self.period, self.seconds))

    def departures(self, steps: Array) -> Array:
        """Return how far each step is from the median of its neighbours, (n - 1,).

        :param steps: (n - 1, 3), n > 5: the ways or the turns
        """
        as_long = steps.T * np.minimum(1.0, self.period / self.seconds)
        return departures_of(steps.T, as_long)


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


def departures_of(steps: Array, as_long: Array) -> Array:
    """Return how far each step is from the median of the two before and the two after it, (n,).

    :param steps: (3, n), n >= 5
    :param as_long: (3, n), the steps of more than a period brought to one
    """
    # At the ends the neighbours are mirrored.
    padded = np.concatenate([as_long[:, 2:0:-1], as_long, as_long[:, -2:-4:-1]], axis=1)
    a, b, c, d = (padded[:, k : k + steps.shape[1]] for k in (0, 1, 3, 4))
    # The second and the third of four.
    second = np.maximum(np.minimum(a, b), np.minimum(c, d))
    third = np.minimum(np.maximum(a, b), np.maximum(c, d))
    return lengths((steps - (second + third) / 2.0).T)


def bounds_of(steps: Array, shortened: float, seams: NDArray[np.int64] = NONE) -> StepBounds:
    """Return what no step goes beyond.

    In each number, a step is no further from the median of its neighbours than from the furthest
    of them; these are one or two steps away, and what they are shortened by is added.

    :param steps: (3, n)
    :param shortened: share of a step, at most, by which one of more than a period is shortened
    :param seams: steps that are none, between two tracks
    """
    largest = _largest(steps, seams)
    near = _largest(steps[:, 1:] - steps[:, :-1], seams, seams - 1)
    next_but_one = _largest(steps[:, 2:] - steps[:, :-2], seams, seams - 1, seams - 2)
    departure = max(near, next_but_one) + shortened * largest
    return StepBounds(ROOT_OF_3 * largest, ROOT_OF_3 * departure)


def _largest(numbers: Array, *none_at: NDArray[np.int64]) -> float:
    """Return the largest size of all numbers but those of some columns; they may be changed."""
    sizes = np.abs(numbers)
    for columns in none_at:
        sizes[:, columns[(columns >= 0) & (columns < sizes.shape[1])]] = 0.0
    return float(sizes.max(initial=0.0))


def seconds_of(stamps: NDArray[np.int64]) -> Array:
    """Return the time between successive stamps [s], (n - 1,)."""
    return (stamps[1:] - stamps[:-1]).astype(np.float64) * 1e-9


def shortened(period: float, seconds: Array) -> float:
    """Return by which share at most steps are shortened that took longer than a period."""
    longest = float(seconds.max(initial=0.0))
    return max(1.0 - period / longest, 0.0) if longest > 0 else 0.0


def look_side_by_side(several: Sequence[TrackSteps]) -> None:
    """Look at the steps of several tracks of one input at once.

    Most of the time for a window of some hundred samples goes into preparing numpy's calls. Each
    number is computed from the samples around it alone, so each is what its track alone would
    give, to the last bit; what comes out between two tracks belongs to none. Their bounds are
    those of all.
    """
    if not several:
        return
    edges = list(accumulate((len(steps.track) for steps in several), initial=0))
    own = [slice(begin, max(end - 1, begin)) for begin, end in pairwise(edges)]
    seams = np.array(edges[1:-1], dtype=np.int64) - 1
    seconds = seconds_of(np.concatenate([steps.track.stamps for steps in several]))
    for steps, rows in zip(several, own, strict=True):
        steps.seconds = seconds[rows]
    less = max((shortened(steps.period, steps.seconds) for steps in several), default=0.0)
    positions = [s.track.position.T for s in several if s.track.position is not None]
    orientations = [s.track.orientation.T for s in several if s.track.orientation is not None]
    if len(positions) == len(several):
        ways = ways_of(np.concatenate(positions, axis=1).T)
        bounds = bounds_of(ways.T, less, seams)
        for steps, rows in zip(several, own, strict=True):
            steps.ways, steps.way_bounds = ways[rows], bounds
    if len(orientations) == len(several):
        orientation = np.concatenate(orientations, axis=1).T
        norms = lengths(orientation)
        turns = turns_of(orientation, norms)
        bounds = bounds_of(turns.T, less, seams)
        for steps, rows, (begin, end) in zip(several, own, pairwise(edges), strict=True):
            steps.norms = norms[begin:end]
            steps.turns, steps.turn_bounds = turns[rows], bounds
