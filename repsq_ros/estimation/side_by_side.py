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

"""Many campaigns under the `anytime` rule at once, test by test: each as it would run alone.

The arithmetic is that of betting.LowerSequence, line by line, with one row for each campaign. All
campaigns have the same bounds, which do not change: plain Monte Carlo, or a fixed proposal.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from repsq_ros.estimation.anytime import thresholds_of
from repsq_ros.estimation.betting import BLOCK, CAPS, EVERY, GROWTH, TOLERANCE
from repsq_ros.estimation.stopping import Question

Numbers = NDArray[np.float64]
Flags = NDArray[np.bool_]


class AnytimeSideBySide:
    """L and U of many campaigns that have all counted the same number of tests.

    :param runs: number of campaigns
    :param c_below: share of c that is the lower end's
    """

    def __init__(self, question: Question, runs: int, c_below: float = 0.5) -> None:
        self._question = question
        self.n = 0
        self.mean: Numbers = np.zeros(runs)
        self._sum: Numbers = np.full(runs, (question.bounds.lower + question.bounds.upper) / 2.0)
        self._square_sum: Numbers = np.full(runs, question.bounds.width**2 / 4.0)
        bounds, gamma = question.bounds, question.gamma
        above, below = thresholds_of(question.c, c_below)
        self._above = _LowerMany(gamma, above, bounds.lower, bounds.upper, runs)
        self._below = _LowerMany(gamma, below, -bounds.upper, -bounds.lower, runs)

    @property
    def lower(self) -> Numbers:
        """L_n of each campaign."""
        return self._above.bound

    @property
    def upper(self) -> Numbers:
        """U_n of each campaign."""
        return -self._below.bound

    @property
    def void(self) -> Flags:
        """Which intervals are empty: no claim is left."""
        return np.asarray(self.lower > self.upper)

    @property
    def reached(self) -> Flags:
        """Which campaigns stop here."""
        wide = np.maximum(self.upper - self.mean, self.mean - self.lower)
        return np.asarray((wide <= self._question.gamma) & ~self.void)

    def add(self, z: Numbers) -> None:
        """Take in one value of each campaign, shape (runs,), all within the bounds."""
        self.n += 1
        self.mean += (z - self.mean) / self.n
        gamma = self._question.gamma
        stake = gamma / (self._square_sum / self.n + gamma * gamma)
        self._above.add(z, stake)
        self._below.add(-z, stake)
        self._sum += z
        away = z - self._sum / (self.n + 1)
        self._square_sum += away * away

    def keep(self, rows: Flags) -> None:
        """Go on with some of the campaigns alone."""
        self.mean, self._sum, self._square_sum = (
            each[rows] for each in (self.mean, self._sum, self._square_sum)
        )
        self._above.keep(rows)
        self._below.keep(rows)


class _LowerMany:
    """betting.LowerSequence, one row for each campaign."""

    def __init__(
        self, gamma: float, threshold: float, start: float, ceiling: float, runs: int
    ) -> None:
        self._wanted = math.log(threshold)
        self._tolerance = TOLERANCE * gamma
        self._lower, self._ceiling = start, ceiling
        self._n, self._refresh_at = 0, 1
        self._z: Numbers = np.zeros((runs, BLOCK))
        self._stake: Numbers = np.zeros((runs, BLOCK))
        self._largest_stake: Numbers = np.zeros(runs)
        self.bound: Numbers = np.full(runs, start)
        self._at_bound: Numbers = np.zeros((len(CAPS), runs))
        self._slope: Numbers = np.zeros(runs)

    def keep(self, rows: Flags) -> None:
        self._z, self._stake = self._z[rows], self._stake[rows]
        self._largest_stake, self.bound = self._largest_stake[rows], self.bound[rows]
        self._at_bound, self._slope = self._at_bound[:, rows], self._slope[rows]

    def add(self, z: Numbers, stake: Numbers) -> None:
        n = self._n
        if n == self._z.shape[1]:
            room = np.zeros_like(self._z)
            self._z, self._stake = (
                np.concatenate((each, room), axis=1) for each in (self._z, self._stake)
            )
        self._z[:, n], self._stake[:, n] = z, stake
        self._n = n = n + 1
        np.maximum(self._largest_stake, stake, out=self._largest_stake)
        gap, away = self.bound - self._lower, z - self.bound
        with np.errstate(divide='ignore'):
            for place, cap in enumerate(CAPS):
                bet = np.where(stake * gap <= cap, stake, cap / gap)
                self._at_bound[place] += _each(math.log1p, bet * away)
        if n >= self._refresh_at:
            self._refresh_at = max(n + 1, math.floor(n * GROWTH)) if n >= EVERY else n + 1
            self._rise()

    def _rise(self) -> None:
        value = _log_mean_exp(self._at_bound)
        rows: NDArray[np.intp] = np.flatnonzero(value >= self._wanted)
        if not rows.size:
            return
        value, low = value[rows], self.bound[rows]
        high: Numbers = np.full(rows.size, self._ceiling)
        seen: Flags = np.zeros(rows.size, dtype=bool)
        while True:
            going = (value >= self._wanted) & (high - low > self._tolerance)
            slope = self._slope[rows]
            with np.errstate(divide='ignore', invalid='ignore'):
                step = np.where(slope < 0.0, 0.97 * (value - self._wanted) / -slope, high)
            short = step < self._tolerance
            going &= ~(short & seen)
            if not going.all():
                rows, seen, short = rows[going], seen[going], short[going]
                value, low, high, step = (each[going] for each in (value, low, high, step))
                if not rows.size:
                    return
            step = np.where(short, self._tolerance, step)
            step = np.where(step < high - low, step, (high - low) / 2.0)
            candidate: Numbers = low + step
            each_cap = self._capital(rows, candidate)
            found = _log_mean_exp(each_cap)
            self._slope[rows] = (found - value) / step
            seen[:] = True
            risen = found >= self._wanted
            low, high = np.where(risen, candidate, low), np.where(risen, high, candidate)
            value = np.where(risen, found, value)
            self.bound[rows] = low
            self._at_bound[:, rows[risen]] = each_cap[:, risen]

    def _capital(self, rows: NDArray[np.intp], m: Numbers) -> Numbers:
        """Return ln K of each cap at a candidate mean of each of the rows."""
        size = -(-self._n // BLOCK) * BLOCK
        stake = self._stake[rows, :size]
        away = self._z[rows, :size]
        away -= m[:, None]
        gap = m - self._lower
        free = self._largest_stake[rows] * gap <= CAPS[0]
        logs = np.empty((len(CAPS), rows.size))
        if free.all():
            logs[:] = _log_product(np.multiply(stake, away, out=stake))
            return logs
        if free.any():
            logs[:, free] = _log_product(stake[free] * away[free])
        stake, away = stake[~free], away[~free]
        with np.errstate(divide='ignore'):
            room = 1.0 / np.maximum(gap[~free], 0.0)
        for place, cap in enumerate(CAPS):
            logs[place, ~free] = _log_product(np.minimum(stake, (cap * room)[:, None]) * away)
        return logs


def _log_mean_exp(logs: Numbers) -> Numbers:
    high, low = np.maximum(logs[0], logs[1]), np.minimum(logs[0], logs[1])
    mean: Numbers = high + _each(math.log1p, _each(math.exp, low - high)) - math.log(2.0)
    return mean


def _each(function: Callable[[float], float], values: Numbers) -> Numbers:
    """Apply a function of `math`: numpy's own differ from them in the last bit."""
    return np.fromiter(map(function, values.tolist()), np.float64, values.size)


def _log_product(t: Numbers) -> Numbers:
    """Return sum ln(1 + t) along the rows, their length a multiple of BLOCK."""
    t += 1.0
    factors = np.multiply.reduce(t.reshape(len(t), BLOCK, -1), axis=1)
    total: Numbers = np.add.reduce(np.log(factors, out=factors), axis=1)
    return total
