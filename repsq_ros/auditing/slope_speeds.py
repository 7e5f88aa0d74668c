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

"""The speeds of a body in the plane, pose by pose, for a track that comes in pieces."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from repsq_ros.measurement.samples import Samples
from repsq_ros.measurement.velocity import EDGE_NS, FEWEST, by_slope

Array = NDArray[np.float64]
Stamps = NDArray[np.int64]


class SlopeSpeeds:
    """The speeds of `by_slope`, of each pose as soon as all its neighbours are there.

    Where all poses have equally many neighbours, no search is needed.

    :param span: [s] of the slope
    """

    def __init__(self, span: float) -> None:
        self._span = span
        self._reach = round(span * 5e8) + EDGE_NS  # half width of the span [ns]
        self._stamps: Stamps = np.empty(0, dtype=np.int64)
        self._place: Array = np.empty((2, 0))
        self._next = 0  # index of the first pose whose speed was not returned yet

    def put(self, stamps: Stamps, place: Array) -> Array:
        """Add the next poses, and return the speeds that are now known [m/s], (m,).

        :param stamps: (n,) [ns], increasing
        :param place: (2, n) [m] in the plane
        """
        self._stamps = np.concatenate([self._stamps, stamps])
        self._place = np.concatenate([self._place, place], axis=1)
        if len(self._stamps) < FEWEST:
            return np.empty(0)
        # Keep two poses beyond the span and one before it: `by_slope` widens a span with too few
        # poses.
        ready = int(np.searchsorted(self._stamps, self._stamps[-2] - self._reach))
        if ready <= self._next:
            return np.empty(0)
        speeds = self._speeds(self._next, ready)
        low = int(np.searchsorted(self._stamps, self._stamps[ready] - self._reach))
        kept = max(low - 1, 0)
        self._stamps, self._place = self._stamps[kept:].copy(), self._place[:, kept:].copy()
        self._next = ready - kept
        return speeds

    def rest(self) -> Array:
        """Return the speeds of the remaining poses; empty if the track is too short."""
        try:
            return self._by_slope(self._next, len(self._stamps))
        except ValueError:
            return np.empty(0)

    def _speeds(self, begin: int, end: int) -> Array:
        middle = (begin + end) // 2
        low, high = np.searchsorted(
            self._stamps, self._stamps[middle] + np.array([-self._reach, self._reach + 1])
        ).tolist()
        before, behind = middle - low, high - middle
        first = max(begin, before + 1)
        if first >= end or not self._even(first, end, before, behind):
            return self._by_slope(begin, end)
        even = self._of_even(first, end, before, behind)
        return even if first == begin else np.append(self._by_slope(begin, first), even)

    def _even(self, begin: int, end: int, before: int, behind: int) -> bool:
        """Tell whether each pose has exactly these neighbours in its span."""
        if before + behind < FEWEST or end + behind > len(self._stamps):
            return False
        stamps, reach = self._stamps, self._reach
        here = stamps[begin:end]
        low = here - stamps[begin - before : end - before]
        high = stamps[begin + behind - 1 : end + behind - 1] - here
        return bool(
            low.max() <= reach
            and high.max() <= reach
            and (here - stamps[begin - before - 1 : end - before - 1]).min() > reach
            and (stamps[begin + behind : end + behind] - here).min() > reach
            and (low + high).min() >= reach - 2 * EDGE_NS
        )

    def _of_even(self, begin: int, end: int, before: int, behind: int) -> Array:
        """Return slopes of straight lines, from running sums centred on the middle of each."""
        first, count = begin - before, before + behind
        stamps, place = self._stamps[first : end + behind], self._place[:, first : end + behind]
        seconds = (stamps - stamps[len(stamps) // 2]).astype(np.float64) * 1e-9
        # x + i y, and t + i t^2: complex numbers sum two series at once.
        running = np.empty((3, len(stamps) + 1), dtype=np.complex128)
        running[:, 0] = 0.0
        summed = running[:, 1:]
        summed[0].real, summed[0].imag = seconds, seconds * seconds
        summed[1].real, summed[1].imag = place - place[:, :1]
        np.multiply(summed[1], seconds, out=summed[2])
        np.cumsum(summed, axis=1, out=summed)
        sums = running[:, count : count + end - begin] - running[:, : end - begin]
        time, square = sums[0].real, sums[0].imag
        speeds: Array = np.abs(count * sums[2] - time * sums[1]) / (count * square - time * time)
        return speeds

    def _by_slope(self, begin: int, end: int) -> Array:
        """Return the slopes for any stamps; the heading does not matter for a speed."""
        count = len(self._stamps)
        track = Samples(
            self._stamps,
            np.vstack([self._place, np.zeros(count)]).T,
            np.tile([0.0, 0.0, 0.0, 1.0], (count, 1)),
        )
        velocity = by_slope(track, self._span, begin)[: end - begin]
        return np.asarray(np.hypot(velocity[:, 0], velocity[:, 1]))
