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


"""A test whether the mean changes during a campaign, and an interval for a changing mean.

Both are valid at any number of tests.

If E[z_t | past] is one number m, prod_t (1 + b_t (z_t - m)) is a test martingale for every stake
b_t that depends only on the past. Here b_t follows the difference between the mean of the latest
tests and m, so the product grows for every m if the mean moves. By Ville's inequality it reaches
1 / level for the true m with probability `level` at most. A change is found once every m did.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from repsq_ros.estimation.stopping import Bounds

Numbers = NDArray[np.float64]

LEVEL = 0.01  # probability of finding a change where there is none
# number of cells of the range of psi, each with the capital of its least favourable mean
CELLS = 128
LATEST = (12.0, 40.0, 120.0)  # memory of the means of the latest tests, in tests
CAP = 0.5  # largest share of the capital that one bet may lose
SCALES = np.geomspace(0.05, 0.9, 6)  # t: small values suit long campaigns with a large spread
COSTS = -np.log1p(-SCALES) - SCALES


class StationarityTest:
    """Bets against every constant mean, for several campaigns.

    :param psi: range M of psi, which contains the mean
    :param runs: number of campaigns
    """

    def __init__(self, psi: Bounds, runs: int = 1) -> None:
        edges = np.linspace(psi.lower, psi.upper, CELLS + 1)
        self._low, self._high = edges[:-1], edges[1:]
        self._middle = (self._low + self._high) / 2.0
        self._log: Numbers = np.zeros((len(LATEST), runs, CELLS))  # capital of each cell
        self._passed = np.zeros((runs, CELLS), dtype=bool)  # capital has reached 1 / level
        self._sum: Numbers = np.zeros((len(LATEST), runs))
        self._weight: Numbers = np.zeros(len(LATEST))
        self._n, self._mean = 0, np.full(runs, (psi.lower + psi.upper) / 2.0)
        self._squares: Numbers = np.full(runs, psi.width**2 / 4.0)
        self._keep = np.array([1.0 - 1.0 / each for each in LATEST])

    @property
    def changed(self) -> NDArray[np.bool_]:
        """Campaigns with a change of the mean, at level LEVEL; it stays true."""
        return np.asarray(self._passed.all(axis=1), dtype=np.bool_)

    def add(self, z: Numbers | float, bounds: Bounds) -> None:
        """Add one value of each campaign, shape (runs,).

        :param bounds: of z, known before it was drawn
        """
        z = np.atleast_1d(np.asarray(z, dtype=float))
        if self._n:
            stake = self._stake(bounds)
            # For each cell, use the mean against which this bet wins least.
            worst = np.where(stake > 0.0, self._high, self._low)
            self._log += np.log1p(stake * (z[:, None] - worst))
            top = self._log.max(axis=0)
            mean = top + np.log(np.exp(self._log - top).mean(axis=0))
            self._passed |= mean >= -math.log(LEVEL)
        self._sum = self._keep[:, None] * self._sum + z
        self._weight = self._keep * self._weight + 1.0
        self._n += 1
        away = z - self._mean
        self._mean = self._mean + away / (self._n + 1.0)
        self._squares = self._squares + away * (z - self._mean)

    def _stake(self, bounds: Bounds) -> Numbers:
        """Return b_t, shape (latest, runs, cells), from past values only."""
        variance = (self._squares / (self._n + 1.0))[None, :, None]
        away = (self._sum / self._weight[:, None])[:, :, None] - self._middle
        # Subtract the random error of the latest mean from its distance.
        chance = variance / self._weight[:, None, None]
        away *= np.maximum(1.0 - chance / np.maximum(away * away, 1e-300), 0.0)
        stake = away / (variance + away * away)
        with np.errstate(divide='ignore'):
            up = CAP / np.maximum(self._high - bounds.lower, 0.0)
            down = CAP / np.maximum(bounds.upper - self._low, 0.0)
        clipped: Numbers = np.clip(stake, -down, up)
        return clipped


class RunningMean:
    """Bounds of (m_1 + ... + m_n) / n for changing means: P(ever outside) <= c.

    Howard, Ramdas, McAuliffe & Sekhon 2021 (theorem 4): for 0 <= t < 1 and a prediction g_i from
    the past, prod_i exp(t (z_i - m_i) + (ln(1 - t) + t) (z_i - g_i)^2) is a supermartingale,
    with z in a range of width 1 and m_i the mean of z_i given the past. Here it is averaged over
    fixed t, for each side.

    :param bounds: of every z
    """

    def __init__(self, bounds: Bounds, c: float) -> None:
        self._bounds, self._wanted = bounds, math.log(2.0 / c)
        self._n, self._seen, self._weight = 0, 0.5, 1.0
        self._sums = [0.0, 0.0]  # sums of the lowest and of the highest possible z
        self._squares = [0.0, 0.0]  # sums of their squared distances from the prediction

    def add(self, z: float | None, could: Bounds | None = None) -> None:
        """Add a test, or a case without a value (None).

        :param could: range of z, if an attempt was lost
        """
        ends = (could.lower, could.upper) if could is not None else (z, z)
        guess = self._seen / self._weight
        for side, end in enumerate(ends):
            assert end is not None
            scaled = (end - self._bounds.lower) / self._bounds.width
            self._sums[side] += scaled
            self._squares[side] += (scaled - guess) ** 2
        self._n += 1
        if z is not None:
            self._seen += (z - self._bounds.lower) / self._bounds.width
            self._weight += 1.0

    @property
    def interval(self) -> Bounds:
        """Return bounds of the mean over all cases so far [unit of psi]."""
        if not self._n:
            return self._bounds
        low, high = self._bounds.lower, self._bounds.width / self._n
        return Bounds(
            self._bounds.clip(low + high * (self._sums[0] - self._farthest(self._squares[0]))),
            self._bounds.clip(low + high * (self._sums[1] + self._farthest(self._squares[1]))),
        )

    def _farthest(self, square_sum: float) -> float:
        """Return the largest sum of z_i - m_i that is not rejected, rounded up (conservative)."""

        def refuted(total: float) -> bool:
            logs = SCALES * total - COSTS * square_sum
            top = float(logs.max())
            return top + math.log(float(np.mean(np.exp(logs - top)))) >= self._wanted

        low, high = 0.0, 1.0
        while not refuted(high):
            low, high = high, 2.0 * high
        for _ in range(40):
            middle = (low + high) / 2.0
            low, high = (low, middle) if refuted(middle) else (middle, high)
        return high
