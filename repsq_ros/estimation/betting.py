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

"""Betting against candidate means: how far from below they can be rejected.

Waudby-Smith & Ramdas 2024 (hedged capital), with a bet aimed at the requested half-width.
Assumptions: lower_t <= z_t with lower_t known before z_t is drawn, and E[z_t | past] = r*. One
row for each campaign; a campaign on a robot is a batch of one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
Rows = NDArray[np.intp]
# mean, variance, and the number of tests that they are worth
Expected = tuple[float, float, float]
Value = TypeVar('Value', float, Numbers)

CAPS = (0.5, 0.99)  # largest shares of the capital that one bet may lose
BLOCK = 16  # number of factors multiplied before taking the logarithm: too few to overflow
EVERY = 1000  # up to this n the bound is updated at each value ...
GROWTH = 1.005  # ... and beyond it whenever n has grown by this factor
TOLERANCE = 2e-4  # share of gamma: numerical tolerance of the bound, on the safe side
HALVES = (0.5, 0.5)


class Bet(Generic[Value]):
    """The stake on the next value: b_t = a_t / (var + a_t^2), from past values only.

    a_t is the requested half-width, or if that is out of reach, the half-width that `tests`
    values can reach: a_t = max(aim, sqrt(2 var ln(2/c) / tests)).

    mu = (n0 mu0 + sum z) / (n + n0), var = (n0 var0 + sum (z_i - mu_i)^2) / (n + n0), with n0 = 1,
    mu0 the middle of the first bounds and var0 a quarter of their squared width, or `expected`.

    :param zero: 0 for one campaign, an array of zeros for several, shape (runs,)
    :param within: 2 ln(2/c) / tests; 0: `aim` is assumed to be in reach
    :param expected: mu0, var0 and n0; None: use the bounds
    """

    def __init__(
        self,
        aim: float,
        lower: float,
        upper: float,
        zero: Value,
        within: float = 0.0,
        expected: Expected | None = None,
    ) -> None:
        self._aim, self._within = aim, within
        mean, variance, weight = expected or (
            (lower + upper) / 2.0,
            (upper - lower) ** 2 / 4.0,
            1.0,
        )
        self._weight = weight
        self._sum: Value = zero + weight * mean
        self._square_sum: Value = zero + weight * variance

    @property
    def mean(self) -> Value:
        """Mean before the next value."""
        return self._sum / self._weight

    @property
    def variance(self) -> Value:
        """Variance before the next value."""
        return self._square_sum / self._weight

    @property
    def aim(self) -> Value | float:
        """a_t of the next value [unit of psi]."""
        if self._within == 0.0:
            return self._aim
        aim: Value = np.maximum(self._aim, np.sqrt(self._within * self.variance))
        return aim

    @property
    def stake(self) -> Value:
        """b_t of the next value [1 / unit of psi]."""
        aim, variance = self.aim, self.variance
        return aim / (variance + aim * aim)

    def learn(self, z: Value) -> None:
        """Add a value of each campaign."""
        self._weight += 1.0
        self._sum = self._sum + z
        away = z - self._sum / self._weight
        # not `** 2`: libraries round powers differently
        self._square_sum = self._square_sum + away * away

    def keep(self: Bet[Numbers], rows: NDArray[np.bool_]) -> None:
        """Continue with the selected campaigns only."""
        self._sum, self._square_sum = self._sum[rows], self._square_sum[rows]


class LowerSequence:
    """L_n of each campaign: the largest m with K+(m) >= threshold. It never decreases.

    K+(m) is the mean, over the caps k, of prod_i (1 + min(b_i, k / (m - lower_i)) (z_i - m)). With
    two tracks (two values per test that both have the mean r*), it is the mean over the tracks,
    weighted by `shares`: each track is a test martingale of the same hypothesis.

    :param threshold: 2/c if the other side has its own share of c
    :param start: lowest possible value of r*
    :param runs: number of campaigns
    :param shares: of the capital that bets on each track; (1,) for one track
    """

    def __init__(
        self,
        gamma: float,
        threshold: float,
        start: float,
        runs: int = 1,
        shares: Sequence[float] = (1.0,),
    ) -> None:
        self._wanted = math.log(threshold)
        self._tolerance = TOLERANCE * gamma
        self._n, self._refresh_at = 0, 1
        self._shares, tracks = tuple(shares), len(shares)
        # Beyond n the stake is 0, which gives a factor of 1.
        self._z: Numbers = np.zeros((tracks, runs, BLOCK))
        self._stake: Numbers = np.zeros((tracks, runs, BLOCK))
        self._lower: Numbers = np.zeros((tracks, BLOCK))
        self._still: NDArray[np.bool_] = np.zeros(BLOCK, dtype=bool)  # see `add_each`
        self._lowest = [math.inf] * tracks
        self._one_lower = True  # all bounds of a track have been equal so far
        self._largest_stake: Numbers = np.zeros((tracks, runs))
        self.bounds: Numbers = np.full(runs, start, dtype=np.float64)
        # ln K at the bound, value by value
        self._at_bound: Numbers = np.zeros((tracks, len(CAPS), runs))
        self._slope: Numbers = np.zeros(runs)  # latest slope of ln K at the bound

    @property
    def bound(self) -> float:
        """L_n of the first campaign."""
        return float(self.bounds[0])

    def keep(self, rows: NDArray[np.bool_]) -> None:
        """Continue with the selected campaigns only."""
        self._z, self._stake = self._z[:, rows], self._stake[:, rows]
        self._largest_stake, self.bounds = self._largest_stake[:, rows], self.bounds[rows]
        self._at_bound, self._slope = self._at_bound[:, :, rows], self._slope[rows]

    def add(
        self, z: Numbers | float, stake: Numbers | float, lower: float, ceiling: float
    ) -> None:
        """Add one value of each campaign.

        :param z: shape (runs,), or a number for a batch of one
        :param stake: b_t, from past values only
        :param lower: lower bound of z, known before it was drawn
        :param ceiling: upper bound of r*; the search stays below
        """
        self.add_each(((z, stake, lower),), ceiling)

    def add_each(
        self,
        values: Sequence[tuple[Numbers | float, Numbers | float, float]],
        ceiling: float,
        beside: Sequence[float] = (),
    ) -> None:
        """Add one test: (value, stake, lower bound) of each track.

        :param beside: a number a for each track that is independent of stake and bound: the
            capital is also multiplied by 1 + bet a, for every candidate mean
        """
        if beside:
            pairs = zip(beside, values, strict=True)
            self._enter([(a, stake, lower) for a, (_, stake, lower) in pairs], still=True)
        self._enter(values)
        if self._n >= self._refresh_at:
            grown = math.floor(self._n * GROWTH) if self._n >= EVERY else 0
            self._refresh_at = max(self._n + 1, grown)
            self._rise(ceiling)

    def _enter(
        self,
        values: Sequence[tuple[Numbers | float, Numbers | float, float]],
        still: bool = False,
    ) -> None:
        n = self._n
        if n == self._z.shape[2]:
            self._z, self._stake, self._lower = (
                np.concatenate((each, np.zeros_like(each)), axis=-1)
                for each in (self._z, self._stake, self._lower)
            )
            self._still = np.concatenate((self._still, np.zeros_like(self._still)))
        self._still[n] = still
        for track, (z, stake, lower) in enumerate(values):
            self._z[track, :, n], self._stake[track, :, n] = z, stake
            self._lower[track, n] = lower
            self._one_lower = self._one_lower and lower == self._lower[track, 0]
            self._lowest[track] = min(self._lowest[track], lower)
            largest = self._largest_stake[track]
            np.maximum(largest, stake, out=largest)
            gap, away = self.bounds - lower, z - (0.0 if still else self.bounds)
            with np.errstate(divide='ignore'):
                for place, cap in enumerate(CAPS):
                    bet = np.where(stake * gap <= cap, stake, cap / gap)
                    self._at_bound[track, place] += _each(math.log1p, bet * away)
        self._n = n + 1

    def shortfall(self, m: float) -> float:
        """Return by how much ln K+(m) is too small to reject m (batch of one); 0 if rejected."""
        if m <= self.bound:
            return 0.0
        one = np.array([m])
        found = self._mean_of(self._capital(np.zeros(1, dtype=np.intp), one, one))
        return max(self._wanted - float(found[0]), 0.0)

    def _rise(self, ceiling: float) -> None:
        """Search new bounds upwards from the old ones; keep the rejected end (conservative)."""
        value = self._mean_of(self._at_bound)
        rows: Rows = np.flatnonzero(value >= self._wanted)
        if not rows.size:
            return
        value, low = value[rows], self.bounds[rows]
        high: Numbers = np.full(rows.size, ceiling, dtype=np.float64)
        seen: NDArray[np.bool_] = np.zeros(
            rows.size, dtype=bool
        )  # the slope was seen in this very search
        while True:
            going = (value >= self._wanted) & (high - low > self._tolerance)
            slope = self._slope[rows]
            # Shorter than Newton's step, which overshoots: ln K is concave where no cap is active.
            with np.errstate(divide='ignore', invalid='ignore'):
                step = np.where(slope < 0.0, 0.97 * (value - self._wanted) / -slope, high)
            short = step < self._tolerance
            going &= ~(short & seen)
            if not going.all():
                rows, seen, short = rows[going], seen[going], short[going]
                value, low = value[going], low[going]
                high, step = high[going], step[going]
                if not rows.size:
                    return
            step = np.where(short, self._tolerance, step)
            step = np.where(step < high - low, step, (high - low) / 2.0)
            candidate: Numbers = low + step
            logs = self._capital(rows, candidate, low)
            found = self._mean_of(logs)
            self._slope[rows] = (found - value) / step
            seen[:] = True
            risen = found >= self._wanted
            low, high = np.where(risen, candidate, low), np.where(risen, high, candidate)
            value = np.where(risen, found, value)
            self.bounds[rows] = low
            self._at_bound[:, :, rows[risen]] = logs[:, :, risen]

    def _mean_of(self, logs: Numbers) -> Numbers:
        """Return ln of the mean capital over caps and tracks, shape (rows,)."""
        each = [log_mean_exp(track[0], track[1]) for track in logs]
        return each[0] if len(each) == 1 else log_mean_exp(each[0], each[1], self._shares)

    def _capital(self, rows: Rows, m: Numbers, low: Numbers) -> Numbers:
        """Return ln K of each track and cap at one candidate mean per row.

        Negative numbers `beside` let K increase with m where a cap is active. They are evaluated
        at `low` <= m, so that no candidate in between has less capital than returned.
        """
        logs = np.empty((len(self._shares), len(CAPS), rows.size))
        size = -(-self._n // BLOCK) * BLOCK
        still = self._still[:size]
        some_still = bool(still.any())
        for track in range(len(logs)):
            found = logs[track]
            stake, away = self._stake[track, rows, :size], self._z[track, rows, :size]
            at: Numbers = m[:, None]
            if some_still:
                at = np.where(still & (away < 0.0), low[:, None], at)
                away -= np.where(still, 0.0, m[:, None])
            else:
                away -= at
            free = self._largest_stake[track, rows] * (m - self._lowest[track]) <= CAPS[0]
            if free.all():
                found[:] = _log_product(np.multiply(stake, away, out=stake))
                continue
            if free.any():
                found[:, free] = _log_product(stake[free] * away[free])
            bound, tight = stake[~free], away[~free]
            lower = self._lower[track, : 1 if self._one_lower else size]
            with np.errstate(divide='ignore'):
                room = 1.0 / np.maximum(at[~free] - lower, 0.0)
            for place, cap in enumerate(CAPS):
                found[place, ~free] = _log_product(np.minimum(bound, cap * room) * tight)
        return logs


def log_mean_exp(one: Numbers, other: Numbers, shares: Sequence[float] = HALVES) -> Numbers:
    """Return ln(s_1 e^one + s_2 e^other), with s = 1/2 by default."""
    if tuple(shares) != HALVES:
        one, other = one + math.log(shares[0]), other + math.log(shares[1])
        return log_mean_exp(one, other) + math.log(2.0)
    high, low = np.maximum(one, other), np.minimum(one, other)
    mean: Numbers = high + _each(math.log1p, _each(math.exp, low - high)) - math.log(2.0)
    return mean


def _each(function: Callable[[float], float], values: Numbers) -> Numbers:
    """Apply a function of `math`: numpy's versions differ in the last bit."""
    return np.fromiter(map(function, values.tolist()), np.float64, values.size)


def _log_product(t: Numbers) -> Numbers:
    """Return sum ln(1 + t) along the rows, whose length is a multiple of BLOCK."""
    t += 1.0
    factors = np.multiply.reduce(t.reshape(len(t), BLOCK, -1), axis=1)
    total: Numbers = np.add.reduce(np.log(factors, out=factors), axis=1)
    return total
