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

"""Exact mean and variance of the counted values: their order does not matter."""

from __future__ import annotations

import math
from fractions import Fraction


class Accumulator:
    """Mean and sum of squares of z_1..z_n, the paper's r_n and n s^2.

    A float is a whole number of 2^-k for some k. The sums of z and z^2 are kept as whole numbers
    of 2^-k and 2^-2k, with k large enough for all values so far. The sums are exact, and results
    are rounded once: the same values give the same mean in any order, n equal values give that
    value, and h successes in n tests give h/n.

    :param n: number of values already counted
    :param mean: their mean; NaN for none
    :param square_sum: their sum of (z_i - mean)^2
    """

    __slots__ = ('_places', '_squares', '_sum', 'mean', 'n')

    def __init__(self, n: int = 0, mean: float = math.nan, square_sum: float = 0.0) -> None:
        self.n, self.mean = n, mean
        self._places = self._sum = self._squares = 0
        if n:
            known, spread = Fraction(mean), Fraction(square_sum)
            self._places = max(_places(known), -(-_places(spread) // 2))
            self._sum = int(n * known * 2**self._places)
            self._squares = int((spread + n * known * known) * 4**self._places)

    def add(self, z: float) -> None:
        """Count one finite value.

        :raises ValueError: NaN or infinite; it is not counted then
        """
        if not math.isfinite(z):
            raise ValueError(f'{z} cannot enter an estimate')
        count, one = z.as_integer_ratio()  # the denominator `one` is a power of 2
        more = one.bit_length() - 1 - self._places
        if more > 0:
            self._places += more
            self._sum <<= more
            self._squares <<= 2 * more
        else:
            count <<= -more
        self.n += 1
        self._sum += count
        self._squares += count * count
        self.mean = self._sum / (self.n << self._places)  # a quotient of integers is rounded once

    def _spread(self, divisor: int) -> float:
        """Return sum (z_i - r_n)^2 / divisor."""
        found = self.n * self._squares - self._sum * self._sum
        try:
            return found / (self.n * divisor << 2 * self._places)
        except OverflowError:
            return math.inf

    @property
    def square_sum(self) -> float:
        """Return sum (z_i - r_n)^2; 0 for n = 0."""
        return self._spread(1) if self.n else 0.0

    @property
    def variance(self) -> float:
        """Mean square deviation, sum (z_i - r_n)^2 / n: the paper's s^2. NaN for n = 0."""
        return self._spread(self.n) if self.n else math.nan

    @property
    def unbiased_variance(self) -> float:
        """Return sum (z_i - r_n)^2 / (n - 1); NaN for n < 2."""
        return self._spread(self.n - 1) if self.n > 1 else math.nan


def _places(value: Fraction) -> int:
    return value.denominator.bit_length() - 1
