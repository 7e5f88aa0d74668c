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

"""One-sided confidence sequences by betting: r* is above L_n at every n, with probability 1 - e.

Waudby-Smith & Ramdas 2024 (hedged capital), with a bet aimed at the wanted half-width. Assumed:
lower_t <= z_t with lower_t known before z_t is drawn, and E[z_t | past] = r*.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

CAPS = (0.5, 0.99)  # largest shares of the capital that may be lost in one bet
BLOCK = 16  # factors of the capital multiplied before a logarithm is taken: far from overflow
EVERY = 1000  # below so many values the bound is refreshed at each one ...
GROWTH = 1.005  # ... and beyond whenever n has grown by this factor
TOLERANCE = 2e-4  # of gamma: how far below its exact place the bound may stay


def log_mean_exp(one: float, other: float) -> float:
    """Return ln((e^one + e^other) / 2)."""
    high, low = (one, other) if one > other else (other, one)
    return high + math.log1p(math.exp(low - high)) - math.log(2.0)


class Bet:
    """What is staked on the next value: b_t = gamma / (var + gamma^2), from the past only.

    mu = (n0 mu0 + sum z) / (n + n0), var = (n0 var0 + sum (z_i - mu_i)^2) / (n + n0) with n0 = 1,
    mu0 the middle of the first bounds and var0 a quarter of their squared width.
    """

    def __init__(self, gamma: float, lower: float, upper: float) -> None:
        self._gamma = gamma
        self._weight = 1.0
        self._sum = (lower + upper) / 2.0
        self._square_sum = (upper - lower) ** 2 / 4.0

    @property
    def mean(self) -> float:
        """Mean before the next value."""
        return self._sum / self._weight

    @property
    def variance(self) -> float:
        """Variance before the next value."""
        return self._square_sum / self._weight

    @property
    def stake(self) -> float:
        """b_t of the next value [1 / unit of psi]."""
        return self._gamma / (self.variance + self._gamma * self._gamma)

    def learn(self, z: float) -> None:
        """Take in a value."""
        self._weight += 1.0
        self._sum += z
        away = z - self._sum / self._weight
        self._square_sum += away * away  # not a power: libraries differ in its last bit


class StakedValues:
    """Values with their stakes and lower bounds, and ln K+ of each cap at one candidate mean."""

    def __init__(self) -> None:
        self._n = 0
        self._z: NDArray[np.float64] = np.zeros(BLOCK)
        self._stake: NDArray[np.float64] = np.zeros(BLOCK)  # 0 beyond n: a factor of 1
        self._lower: NDArray[np.float64] = np.zeros(BLOCK)
        self._lowest = math.inf
        self._largest_stake = 0.0
        self.at_bound = [0.0, 0.0]  # ln K of each cap at the bound, kept up value by value

    def add(self, z: float, stake: float, lower: float, bound: float) -> None:
        """Take in one value (see LowerSequence.add)."""
        n = self._n
        if n == self._z.size:
            self._z, self._stake, self._lower = (
                np.concatenate((each, np.zeros(n))) for each in (self._z, self._stake, self._lower)
            )
        self._z[n], self._stake[n], self._lower[n] = z, stake, lower
        self._n = n + 1
        self._lowest = min(self._lowest, lower)
        self._largest_stake = max(self._largest_stake, stake)
        gap = bound - lower
        for place, cap in enumerate(CAPS):
            bet = stake if stake * gap <= cap else cap / gap
            self.at_bound[place] += math.log1p(bet * (z - bound))

    def capital(self, m: float) -> list[float]:
        """Return ln K of each cap at the candidate mean m."""
        size = -(-self._n // BLOCK) * BLOCK
        stake, away = self._stake[:size], self._z[:size] - m
        if self._largest_stake * (m - self._lowest) <= CAPS[0]:
            return [_log_product(stake * away)] * 2
        with np.errstate(divide='ignore'):
            room = 1.0 / np.maximum(m - self._lower[:size], 0.0)
        return [_log_product(np.minimum(stake, cap * room) * away) for cap in CAPS]


class LowerSequence:
    """L_n, the largest m with K+(m) >= threshold: it never falls.

    K+(m) is the mean, over the caps k, of prod_i (1 + min(b_i, k / (m - lower_i)) (z_i - m)). With
    several tracks (values of one test that all have the mean r*) it is the mean over them as well:
    each is a test martingale of the same hypothesis.

    :param threshold: 2/c where the other side has its own
    :param start: the lowest value that r* can have
    :param tracks: 1, or 2
    """

    def __init__(self, gamma: float, threshold: float, start: float, tracks: int = 1) -> None:
        self._wanted = math.log(threshold)
        self._tolerance = TOLERANCE * gamma
        self._n = 0
        self._tracks = [StakedValues() for _ in range(tracks)]
        self._refresh_at = 1
        self.bound = start
        self._slope = 0.0  # of ln K at the bound, as seen last

    def add(self, z: float, stake: float, lower: float, ceiling: float) -> None:
        """Take in one value.

        :param stake: b_t, from the past only
        :param lower: a bound of z, known before it was drawn
        :param ceiling: a value that r* cannot exceed; the search stays below
        """
        self._tracks[0].add(z, stake, lower, self.bound)
        self._counted(ceiling)

    def add_each(self, values: Sequence[tuple[float, float, float]], ceiling: float) -> None:
        """Take in one test's (value, stake, lower bound) of each track."""
        for track, (z, stake, lower) in zip(self._tracks, values, strict=True):
            track.add(z, stake, lower, self.bound)
        self._counted(ceiling)

    def _counted(self, ceiling: float) -> None:
        self._n = n = self._n + 1
        if n >= self._refresh_at:
            self._refresh_at = max(n + 1, math.floor(n * GROWTH)) if n >= EVERY else n + 1
            self._rise(ceiling)

    def shortfall(self, m: float) -> float:
        """Return by how much ln K+(m) is below what rejects m; 0 where m is rejected."""
        if m <= self.bound:
            return 0.0
        return max(self._wanted - _mean_of([track.capital(m) for track in self._tracks]), 0.0)

    def _rise(self, ceiling: float) -> None:
        """Search the new bound upwards from the last; the rejected end is kept (conservative)."""
        value = _mean_of([track.at_bound for track in self._tracks])
        low, high = self.bound, ceiling
        seen_here = False  # the slope was seen in this very search
        while value >= self._wanted and high - low > self._tolerance:
            # Short of Newton's step: ln K is concave where no cap binds, so that it overshoots.
            step = 0.97 * (value - self._wanted) / -self._slope if self._slope < 0.0 else high
            if step < self._tolerance:
                if seen_here:
                    break
                step = self._tolerance
            if not step < high - low:
                step = (high - low) / 2.0
            candidate = low + step
            each = [track.capital(candidate) for track in self._tracks]
            found = _mean_of(each)
            self._slope, seen_here = (found - value) / step, True
            if found >= self._wanted:
                low, value = candidate, found
                self.bound = candidate
                for track, logs in zip(self._tracks, each, strict=True):
                    track.at_bound = logs
            else:
                high = candidate


def _mean_of(logs: list[list[float]]) -> float:
    """Return ln of the mean of the capitals of all tracks and caps."""
    first = log_mean_exp(*logs[0])
    return first if len(logs) == 1 else log_mean_exp(first, log_mean_exp(*logs[1]))


def _log_product(t: NDArray[np.float64]) -> float:
    """Return sum ln(1 + t), the size a multiple of BLOCK."""
    factors = np.multiply.reduce((t + 1.0).reshape(BLOCK, -1))
    return float(np.add.reduce(np.log(factors)))
