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

"""The noise of a sensor: spread of the positions in the second in which a body moves least."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from repsq_ros.timebase import NANOSECONDS

Array = NDArray[np.float64]
Stamps = NDArray[np.int64]

FEW = 5  # a second with this many samples or fewer gives no noise


class _Moments:
    """Count, means and centred sums of squares of x, y and z."""

    def __init__(self) -> None:
        self.count = 0
        self.mean: Array = np.zeros(3)
        self.squares: Array = np.zeros(3)

    def join(self, count: int, mean: Array, squares: Array) -> None:
        """Merge the moments of other samples (Chan, Golub and LeVeque 1983)."""
        total = self.count + count
        far = mean - self.mean
        self.squares = self.squares + squares + far * far * (self.count * count / total)
        self.mean = self.mean + far * (count / total)
        self.count = total


class QuietestSecond:
    """Finds the second of least variance in samples that come in pieces.

    Seconds are counted from the first sample. If none has more than five samples, all samples
    are used instead.
    """

    def __init__(self) -> None:
        self._start = 0  # [ns]
        self._second = 0  # number of the current second
        self._open, self._all = _Moments(), _Moments()
        self._least = math.inf  # variance of x, y and z together [m^2] of the quietest second
        self._variance: Array = np.zeros(3)

    def add(self, stamps: Stamps, position: Array) -> None:
        """Add the next samples.

        :param stamps: (n,) [ns], increasing, n > 0
        :param position: (3, n) [m], finite
        """
        if not self._open.count:
            self._start = int(stamps[0])
        second = (stamps - self._start) // NANOSECONDS
        starts = np.append(0, np.flatnonzero(second[1:] != second[:-1]) + 1)
        counts = np.diff(starts, append=len(stamps))
        mean = np.add.reduceat(position, starts, axis=1) / counts
        off = position - np.repeat(mean, counts, axis=1)
        squares = np.add.reduceat(np.multiply(off, off, out=off), starts, axis=1)
        if int(second[0]) != self._second:
            self._close()
        self._second = int(second[-1])
        self._open.join(int(counts[0]), mean[:, 0], squares[:, 0])
        if len(starts) > 1:
            self._close()
            self._open.join(int(counts[-1]), mean[:, -1], squares[:, -1])
            within = slice(1, -1)
            self._take(counts[within], squares[:, within])
        if math.isinf(self._least):
            middle = position.mean(axis=1)
            away = position - middle[:, None]
            self._all.join(len(stamps), middle, (away * away).sum(axis=1))

    def _close(self) -> None:
        self._take(np.array([self._open.count]), self._open.squares[:, None])
        self._open = _Moments()

    def _take(self, counts: NDArray[np.int64], squares: Array) -> None:
        """Add complete seconds."""
        total = np.where(counts > FEW, squares.sum(axis=0), np.inf) / np.maximum(counts, 1)
        if len(total) and total.min() < self._least:
            at = int(np.argmin(total))
            self._least, self._variance = float(total[at]), squares[:, at] / counts[at]

    def deviation(self) -> tuple[float, float, float]:
        """Return the standard deviation of x, y, z [m]; needs at least one sample."""
        variance = self._variance
        unfinished = self._open.squares / max(self._open.count, 1)
        if self._open.count > FEW and unfinished.sum() < self._least:
            variance = unfinished
        elif math.isinf(self._least):
            variance = self._all.squares / self._all.count
        x, y, z = np.sqrt(variance).tolist()
        return x, y, z
