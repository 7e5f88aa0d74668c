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

"""Medians, percentiles and counts of many values, in constant memory."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

EXACT = 16_384  # number of values up to which all results are exact
BITS = 12  # relative width of a bin: 2^-12
PAGE = 1 << BITS  # bins per doubling of the distance


class Bins(NamedTuple):
    """Values in bins, in ascending order; a bin of one value is exact."""

    least: Array  # (k,) smallest value in each bin
    most: Array  # (k,) largest value in each bin
    counts: Integers  # (k,)

    def value(self, rank: int) -> float:
        """Return the value of a rank; values are assumed to be evenly spaced within a bin."""
        ends = np.cumsum(self.counts)
        at = int(np.searchsorted(ends, rank, 'right'))
        low, high, count = float(self.least[at]), float(self.most[at]), int(self.counts[at])
        before = rank - (int(ends[at]) - count)
        return low + (high - low) * before / (count - 1) if count > 1 else low

    def quantile(self, share: float) -> float:
        """Return a quantile, interpolated between two values as np.quantile does."""
        count = int(self.counts.sum())
        place = share * (count - 1)
        low = int(place)
        value = self.value(low)
        if place == low:
            return value
        return value + (self.value(low + 1) - value) * (place - low)

    def below(self, bound: float) -> int:
        """Return how many values are below a bound."""
        parted = (self.least < bound) & (self.most >= bound)
        found = int(self.counts[self.most < bound].sum())
        for low, high, count in zip(*(each[parted] for each in self), strict=True):
            found += max(math.ceil((int(count) - 1) * (bound - low) / (high - low)), 1)
        return found

    def above(self, bound: float) -> int:
        """Return how many values are above a bound."""
        return int(self.counts.sum()) - self.below(float(np.nextafter(bound, np.inf)))

    def spread(self, about: float, bound: float) -> float:
        """Return the root mean square of value - about over the values less than a bound."""
        middle, width = (self.least + self.most) / 2.0, self.most - self.least
        inside = middle < bound
        counts = self.counts[inside]
        if not len(counts):
            return 0.0
        # Evenly spaced values between the ends: variance w^2 / 12 (c + 1) / (c - 1).
        within = width[inside] ** 2 / 12.0 * (counts + 1) / np.maximum(counts - 1, 1)
        square = (middle[inside] - about) ** 2 + within
        return float(np.sqrt(counts @ square / counts.sum()))


@dataclass
class _Page:
    counts: Integers = field(default_factory=lambda: np.zeros(PAGE, dtype=np.int64))
    least: Array = field(default_factory=lambda: np.full(PAGE, np.inf))
    most: Array = field(default_factory=lambda: np.full(PAGE, -np.inf))


class QuantileSketch:
    """Values in bins about the median of the first values.

    Exact for up to 16 384 values. Beyond, let m be the median and s the interquartile range of
    the first 16 384 values, or `unit` if that is larger. A value v lies in a bin not wider than
    2^-12 (s + |v - m|), with known count, minimum and maximum: equal values, and values alone in
    their bin, are exact. There are 4096 bins for each doubling of the distance s + |v - m|, on
    either side; those of a doubling take 96 kB once a value lies there. The order of the values
    does not matter, except for which are the first.

    :param unit: smallest difference of interest, in the unit of the values
    """

    def __init__(self, unit: float) -> None:
        self.count = 0
        self._unit = unit
        self._held: list[Array] = []  # values not in bins yet
        self._number = 0  # how many they are
        self._middle, self._scale = 0.0, 0.0  # 0: no bins yet
        self._pages: dict[int, _Page] = {}

    def add(self, values: Array) -> None:
        """Add values.

        :param values: (n,), finite
        """
        if len(values):
            self._held.append(values.copy())
            self._number += len(values)
            self.count += len(values)
        if self._number > EXACT:
            self._move_to_bins()

    def _move_to_bins(self) -> None:
        """Move the values that are not in bins yet into bins."""
        values = np.concatenate([np.empty(0), *self._held])
        self._held, self._number = [], 0
        if not self._scale:
            low, self._middle, high = np.quantile(values[:EXACT], (0.25, 0.5, 0.75)).tolist()
            self._scale = max(high - low, self._unit)
        self._sort_in(np.sort(values))

    def _sort_in(self, values: Array) -> None:
        """Count sorted values in their bins."""
        if not len(values):
            return
        equal = values[0] == values[-1]  # typical for evenly spaced stamps
        keys = self._keys(values[:1] if equal else values)
        begins: Integers = np.append(0, np.flatnonzero(keys[1:] != keys[:-1]) + 1)
        ends = np.append(begins[1:], len(values))
        bins = keys[begins]
        pages = bins >> BITS
        cuts = [0, *(np.flatnonzero(pages[1:] != pages[:-1]) + 1).tolist(), len(bins)]
        for cut, end in pairwise(cuts):
            page = self._pages.setdefault(int(pages[cut]), _Page())
            at, of = bins[cut:end] & (PAGE - 1), slice(cut, end)
            page.counts[at] += ends[of] - begins[of]
            page.least[at] = np.minimum(page.least[at], values[begins[of]])
            page.most[at] = np.maximum(page.most[at], values[ends[of] - 1])

    def _keys(self, values: Array) -> Integers:
        """Return the bin numbers: the leading bits of 1 + |v - m| / s."""
        off = (values - self._middle) / self._scale
        distance = np.abs(off) + 1.0
        keys = (distance.view(np.int64) >> (52 - BITS)) - (1023 << BITS)
        return np.where(off < 0.0, ~keys, keys)

    def bins(self) -> Bins:
        """Return all values as bins."""
        if not self._scale:
            values = np.sort(np.concatenate([np.empty(0), *self._held]))
            return Bins(values, values, np.ones(len(values), dtype=np.int64))
        self._move_to_bins()
        pages = [self._pages[number] for number in sorted(self._pages)]
        counts = np.concatenate([page.counts for page in pages])
        there = counts > 0
        return Bins(
            np.concatenate([page.least for page in pages])[there],
            np.concatenate([page.most for page in pages])[there],
            counts[there],
        )
