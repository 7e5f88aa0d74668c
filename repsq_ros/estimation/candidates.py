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

"""Bets with a stake of its own for each candidate mean: narrow early, or soon at gamma.

The range is cut into cells. Cell (a, b] has one process K, a mean of prod_i (1 + s_i (z_i - b)):
the stakes s_i >= 0 follow from the past and from b, so that K is a test supermartingale for each
mean m <= b, and so for each m of its cell. Where K reaches the threshold, the cell is refuted, for
good. The remaining cells may have gaps; L is the lower end of the lowest one. L exceeds r*
with probability 1 / threshold at most, as one process does, whatever the stakes are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from repsq_ros.estimation.betting import CAPS, Bet, Numbers
from repsq_ros.keys import TextEnum

CELLS, LEAST, MOST = 100, 1000, 20_000  # cells in one gamma; fewest and most in the whole range
EACH_SHARE, BESIDE_CAP = 0.8, 0.9
TARGET_SHARE, TARGET_CAP = 0.6, 0.9
STRETCH, SOONEST = 1.15, 8.0  # factor on the horizon; fewest tests assumed to remain until it
FAR = 3.0  # standard errors; candidates farther above the mean get no bet


def _digits(value: float) -> float:
    return float(f'{value:.5g}')  # the same on every machine


# pdf(x) / p of the normal law at its p-quantiles x. Interpolation is enough: any stake is valid.
PLACES = [0.5**k for k in range(60, 0, -1)] + [1.0 - 0.5**k for k in range(2, 25)]
SLOPES = [_digits(NormalDist().pdf(NormalDist().inv_cdf(p)) / p) for p in PLACES]


class Stakes(TextEnum):
    """How stakes are chosen."""

    ONE = 'one'  # the same for all candidates, aimed at the half-width (betting.py)
    EACH = 'each'  # by the distance of each candidate from the mean so far
    TARGET = 'target'  # mostly an option that pays at the time when gamma should be reached


class CandidateSequence:
    """L_n of each campaign, which never falls; it replaces a LowerSequence.

    :param threshold: 2/c if the other side has its own sequence
    :param start: the lowest value that r* can have
    :param ceiling: the highest value that r* can have
    """

    def __init__(
        self,
        stakes: Stakes,
        gamma: float,
        threshold: float,
        start: float,
        ceiling: float,
        runs: int = 1,
    ) -> None:
        self._stakes, self._gamma, self._threshold = stakes, gamma, threshold
        cells = math.ceil((ceiling - start) / gamma * CELLS)
        cells = min(max(cells, LEAST), MOST)
        self._start, self._step = start, (ceiling - start) / cells
        self._ends: Numbers = start + self._step * np.arange(1, cells + 1, dtype=np.float64)
        tracks = 2 if stakes is Stakes.EACH else 3
        self._capital: Numbers = np.ones((tracks, runs, cells))
        self._total: Numbers = np.ones((runs, cells))
        self._refuted: NDArray[np.bool_] = np.zeros((runs, cells), dtype=bool)
        self._first: NDArray[np.intp] = np.zeros(runs, dtype=np.intp)  # first that is left
        self._n = 0
        z = NormalDist().inv_cdf(1.0 - TARGET_SHARE / threshold)
        self._spread = _digits(STRETCH * z * z) / (gamma * gamma)  # horizon over variance

    @property
    def bounds(self) -> Numbers:
        """L_n of each campaign; the ceiling if every cell is refuted."""
        ends = np.concatenate(([self._start], self._ends))
        found: Numbers = ends[self._first]
        return found

    @property
    def bound(self) -> float:
        """L_n of the first campaign."""
        return float(self.bounds[0])

    def keep(self, rows: NDArray[np.bool_]) -> None:
        """Keep only some of the campaigns."""
        self._capital, self._total = self._capital[:, rows], self._total[rows]
        self._refuted, self._first = self._refuted[rows], self._first[rows]

    def add(
        self, z: Numbers | float, bet: Bet[float] | Bet[Numbers], lower: float, sign: float
    ) -> None:
        """Add one value to each campaign.

        :param bet: mean and variance of the earlier values
        :param lower: lower bound of z, known before z was drawn
        :param sign: -1 if z is the negative of the values of `bet`, else 1
        """
        mean, variance, aim = (
            np.atleast_1d(each)[:, None] for each in (sign * bet.mean, bet.variance, bet.aim)
        )
        error = np.sqrt(variance / (self._n + 1))
        highest = (float((mean + FAR * error).max()) - self._start) / self._step
        first = int(self._first.min())
        window = slice(first, max(min(int(highest) + 2, len(self._ends)), first))
        ends, capital = self._ends[window], self._capital[:, :, window]
        room = ends - lower
        room = np.where(room > 0.0, 1.0 / np.where(room > 0.0, room, 1.0), np.inf)
        away, total = np.atleast_1d(z)[:, None] - ends, 0.0
        with np.errstate(over='ignore'):  # in a refuted cell
            laws = self._laws(mean - ends, variance, aim, capital)
            for track, (share, cap, stake) in enumerate(laws):
                capital[track] *= 1.0 + np.minimum(stake, cap * room) * away
                total = total + share * capital[track]
        self._total[:, window] = total
        self._refuted[:, window] |= self._total[:, window] >= self._threshold
        self._n += 1
        left = ~self._refuted[:, first:]
        self._first = np.where(left.any(axis=1), first + left.argmax(axis=1), len(self._ends))

    def _laws(
        self, distance: Numbers, variance: Numbers, aim: Numbers, capital: Numbers
    ) -> Iterator[tuple[float, float, Numbers]]:
        """Yield share of the capital, cap and stake of each track."""
        if self._stakes is Stakes.EACH:
            far = np.maximum(distance, aim)
            square = far * far
            # The best stake on two values, mean +- sd, of equal probability.
            rest = variance - square
            best = np.where(rest > 0.0, far / np.where(rest > 0.0, rest, 1.0), np.inf)
            yield EACH_SHARE, CAPS[1], best
            yield 1.0 - EACH_SHARE, BESIDE_CAP, far / (variance + square)
            return
        # The stake that brings a normal sum to the payoff with the largest probability.
        paid = capital[2] * (TARGET_SHARE / self._threshold)
        left = np.maximum(self._spread * variance - self._n, SOONEST)
        steady = aim / (variance + aim * aim)
        for cap in CAPS:
            yield (1.0 - TARGET_SHARE) / 2.0, cap, steady
        yield TARGET_SHARE, TARGET_CAP, np.interp(paid, PLACES, SLOPES) / np.sqrt(variance * left)

    def shortfall(self, m: float) -> float:
        """Return by how much ln K(m) must grow to refute m, in a batch of one campaign; else 0."""
        cell = min(math.ceil((m - self._start) / self._step) - 1, len(self._ends) - 1)
        if cell < self._first[0]:
            return 0.0
        total = float(self._total[0, cell])
        return max(math.log(self._threshold / total), 0.0) if total > 0.0 else math.inf
