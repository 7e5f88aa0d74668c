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

"""Acceptance: whether the mean is below (or above) a limit, decided at any number of tests.

There is one betting test for each answer, each at level c. Since r* lies on one side of the
limit, only one of them can be wrong: a verdict is wrong with probability c at most, at any time.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from repsq_ros.estimation.betting import Bet, Numbers
from repsq_ros.estimation.marks import CapitalAtMarks, stake_towards
from repsq_ros.estimation.stopping import Bounds
from repsq_ros.keys import KeyedDataclass, TextEnum, key


class AcceptanceVerdict(enum.Enum):
    """Whether the mean is on the accepted side of the limit."""

    PASS = 'pass'
    FAIL = 'fail'
    UNDECIDED = 'undecided'


class AcceptedSide(TextEnum):
    """The accepted side of a limit."""

    BELOW = 'below'
    ABOVE = 'above'


@dataclass(frozen=True)
class Acceptance(KeyedDataclass):
    """The criterion: r* <= limit (side below), or r* >= limit (side above)."""

    limit: float = field(
        metadata=key('the mean is accepted on one side of this limit', 'the unit of psi')
    )
    side: AcceptedSide = field(metadata=key('accepted side, including the limit'))
    margin: float | None = field(
        default=None,
        metadata=key(
            'nearer to the limit than this the verdict may stay open: the bets aim no closer, and '
            '`repsq plan` plans for a mean that is so far from the limit',
            'the unit of psi',
            above=0,
            default_text='accuracy.gamma',
            later=True,
        ),
    )

    @property
    def words(self) -> str:
        """Return the criterion in words, such as 'at most 0.6'."""
        return f'at {"most" if self.side == AcceptedSide.BELOW else "least"} {self.limit:g}'

    def verdict_of(self, above: bool) -> AcceptanceVerdict:
        """Return the verdict for a mean above the limit (or below it)."""
        return (
            AcceptanceVerdict.PASS
            if above == (self.side == AcceptedSide.ABOVE)
            else AcceptanceVerdict.FAIL
        )


class AcceptanceTest:
    """Bets on both sides of the limit, for several campaigns at once.

    :param gap: smallest distance from the limit that the bets aim at [unit of psi]
    :param c: probability of a wrong verdict
    :param bias: largest amount by which truncation makes E[z] smaller than r* [unit of psi]
    :param runs: number of campaigns
    """

    def __init__(
        self, limit: float, gap: float, c: float, bias: float = 0.0, runs: int = 1
    ) -> None:
        # With truncated values, r* <= limit follows from E[z] <= limit - bias.
        self._marks = np.full(runs, limit), np.full(runs, limit - bias)
        self._above = CapitalAtMarks(self._marks[0], 1.0 / c)
        self._below = CapitalAtMarks(-self._marks[1], 1.0 / c)
        self._gap = gap
        self._bet: Bet[Numbers] | None = None
        self._n = 0
        # n at the verdict; 0: none yet
        self.decided_at: NDArray[np.int64] = np.zeros(runs, dtype=np.int64)
        # the verdict, where there is one
        self.above: NDArray[np.bool_] = np.zeros(runs, dtype=np.bool_)

    @property
    def decided(self) -> bool:
        """Tell whether every campaign has a verdict."""
        return bool(self.decided_at.all())

    def add(self, z: float | Numbers, bounds: Bounds, could: Bounds | None = None) -> None:
        """Add one value of each campaign, shape (runs,).

        :param bounds: of z, known before it was drawn
        :param could: range of z, if an attempt of the test was lost
        """
        low, high = (z, z) if could is None else (could.lower, could.upper)
        bet = self._stake(low, high, bounds)
        bet.learn(np.zeros(self.above.size) + z)
        self._n += 1
        self._decide()

    def miss(self, bounds: Bounds, could: Bounds) -> None:
        """Add a case that was drawn but gave no value."""
        self._stake(could.lower, could.upper, bounds)
        self._decide()

    def _stake(self, low: float | Numbers, high: float | Numbers, bounds: Bounds) -> Bet[Numbers]:
        bet, (above, below) = self._bet, self._marks
        if bet is None:
            zero = np.zeros(self.above.size)
            self._bet = bet = Bet(self._gap, bounds.lower, bounds.upper, zero)
        self._above.add(low, stake_towards(bet, above, self._gap), bounds.lower)
        self._below.add(-high, stake_towards(bet, below, self._gap), -bounds.upper)
        return bet

    def _decide(self) -> None:
        """Keep the first verdict; later evidence does not change it."""
        now = (self._above.passed | self._below.passed) & (self.decided_at == 0)
        self.decided_at[now] = max(self._n, 1)
        self.above[now] = self._above.passed[now]
