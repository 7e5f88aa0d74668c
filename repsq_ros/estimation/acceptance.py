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

"""Acceptance: is the mean below a limit (or above it), decided at any number of tests.

One betting test for each answer, each at c: r* lies on one side of the limit, so that one of the
two alone can be wrong, and a verdict is wrong with probability c at most, whenever it falls.
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
    """Whether the mean is on the side of the limit that is accepted."""

    PASS = 'pass'
    FAIL = 'fail'
    UNDECIDED = 'undecided'


class AcceptedSide(TextEnum):
    """The side of a limit that is accepted."""

    BELOW = 'below'
    ABOVE = 'above'


@dataclass(frozen=True)
class Acceptance(KeyedDataclass):
    """What is accepted: r* <= limit (side below), or r* >= limit (side above)."""

    limit: float = field(
        metadata=key('the mean is accepted on one side of this limit', 'the unit of psi')
    )
    side: AcceptedSide = field(metadata=key('which side is accepted, the limit included'))
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
        """Return what is asked, such as 'at most 0.6'."""
        return f'at {"most" if self.side == AcceptedSide.BELOW else "least"} {self.limit:g}'

    def verdict_of(self, above: bool) -> AcceptanceVerdict:
        """Return the verdict on a mean that lies above the limit, or below it."""
        return (
            AcceptanceVerdict.PASS
            if above == (self.side == AcceptedSide.ABOVE)
            else AcceptanceVerdict.FAIL
        )


class AcceptanceTest:
    """Bets on either side of the limit, for several campaigns.

    :param gap: the bets aim no closer to the limit [unit of psi]
    :param c: probability of a wrong verdict
    :param bias: what r* may be above E[z] at most, of a truncation [unit of psi]
    :param runs: number of campaigns
    """

    def __init__(
        self, limit: float, gap: float, c: float, bias: float = 0.0, runs: int = 1
    ) -> None:
        # Of a value that is cut, E[z] <= limit - bias is what r* <= limit follows from.
        self._marks = np.full(runs, limit), np.full(runs, limit - bias)
        self._above = CapitalAtMarks(self._marks[0], 1.0 / c)
        self._below = CapitalAtMarks(-self._marks[1], 1.0 / c)
        self._gap = gap
        self._bet: Bet[Numbers] | None = None
        self._n = 0
        self.decided_at: NDArray[np.int64] = np.zeros(runs, dtype=np.int64)  # n; 0: not yet
        self.above: NDArray[np.bool_] = np.zeros(runs, dtype=np.bool_)  # r* is, where decided

    @property
    def decided(self) -> bool:
        """Tell whether the verdict on every campaign has fallen."""
        return bool(self.decided_at.all())

    def add(self, z: float | Numbers, bounds: Bounds, could: Bounds | None = None) -> None:
        """Take in one value of each campaign, shape (runs,).

        :param bounds: of z, known before it was drawn
        :param could: what it could have been, where an attempt of the test was lost
        """
        low, high = (z, z) if could is None else (could.lower, could.upper)
        bet = self._stake(low, high, bounds)
        bet.learn(np.zeros(self.above.size) + z)
        self._n += 1
        self._decide()

    def miss(self, bounds: Bounds, could: Bounds) -> None:
        """Take in a case that was drawn and gave no value."""
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
        """Keep what falls first: what comes later is not held against it."""
        now = (self._above.passed | self._below.passed) & (self.decided_at == 0)
        self.decided_at[now] = max(self._n, 1)
        self.above[now] = self._above.passed[now]
