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

"""The `certified_cell` rule: stop once the confidence sequence lies inside one cell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from repsq_ros.estimation.accumulator import Accumulator
from repsq_ros.estimation.betting import Bet
from repsq_ros.estimation.betting_progress import BettingProgress
from repsq_ros.estimation.forecast import settled, tests_to_reject
from repsq_ros.estimation.marks import CapitalAtMarks, stake_towards
from repsq_ros.estimation.partition import Partition
from repsq_ros.estimation.selection import Selection
from repsq_ros.estimation.stopping import Bounds, Question, Validity

SMALLEST_GAP = 0.1  # share of the narrowest cell: bets never aim closer to an edge


@dataclass(frozen=True)
class CertifiedCell:
    """Bets at every edge of the partition until r* lies between two neighbouring edges."""

    name = 'certified_cell'
    sides = ''
    validity = Validity.ANY_N
    statement = (
        'this holds whenever the campaign stops, as long as no weighted value lies outside the '
        'bounds declared for it'
    )

    def begin(self, question: Question) -> CertifiedCellProgress:
        """Return the state of the rule before the first test.

        :raises ValueError: the question has no partition
        """
        return CertifiedCellProgress(question)


class CertifiedCellProgress(BettingProgress):
    """The edges that r* is known to be above, and below."""

    def __init__(self, question: Question) -> None:
        if len(question.edges) < 2:
            raise ValueError('certified_cell needs a partition')
        super().__init__(question, 1.0)
        self._edges = np.array(question.edges[1:-1])
        self._ends = (question.edges[0], question.edges[-1])
        self._gap = SMALLEST_GAP * float(np.min(np.diff(question.edges)))
        self._above = CapitalAtMarks(self._edges, 2.0 / question.c)
        self._below = CapitalAtMarks(-self._edges, 2.0 / question.c)
        self._selection = Selection()
        self._first, self._last = 0, self._edges.size  # r* is in one of the cells first..last
        self.reached = self._first == self._last

    @property
    def lower(self) -> float:
        """The highest edge that r* is known to be above."""
        return float(self._edges[self._first - 1]) if self._first > 0 else self._ends[0]

    @property
    def upper(self) -> float:
        """The lowest edge that r* is known to be below."""
        inside = self._last < self._edges.size
        return float(self._edges[self._last]) if inside else self._ends[1]

    @property
    def cells(self) -> tuple[int, int]:
        """First and last of the remaining cells."""
        return self._first, self._last

    def _note_lost(self, z: float, could: Bounds) -> None:
        self._selection.add(z, could)

    def _note_missed(self, could: Bounds) -> None:
        self._selection.miss(could, self._question.bounds.width)

    def _stake(self, bet: Bet[float], low: float, high: float, bounds: Bounds) -> None:
        stake = stake_towards(bet, self._edges, self._gap)
        if self._lower_stands:
            self._above.add(low, stake, bounds.lower)
            # In order from the end of the range: each edge has its own bet, so only the first
            # edge beyond r* counts, provided no edge is declared before those below it.
            while self._first < self._edges.size and self._above.passed[self._first]:
                self._first += 1
        if self._upper_stands:
            self._below.add(-high, stake, -bounds.upper)
            while self._last > 0 and self._below.passed[self._last - 1]:
                self._last -= 1

    def _conclude(self, total: Accumulator) -> None:
        if self._first > self._last:
            self._void(f'at n = {total.n} no cell is left: the mean drifts or a bound is wrong')
            self._first, self._last = 0, self._edges.size
            self._lower_stands = self._upper_stands = False
        self.reached = self._first == self._last

    def _upper_is_void(self) -> str:
        self._last = self._edges.size
        return 'no edge is passed from above any more'

    def _lower_is_void(self) -> str:
        self._first = 0
        return 'no edge is passed from below any more'

    def _make_forecast(self, total: Accumulator) -> int:
        lost = self._selection
        if not lost.some:
            return self._tests(total, 0.0)
        return settled(lambda n: self._tests(total, lost.least(total, n)), total.n)

    def _tests(self, total: Accumulator, shift: float) -> int:
        partition, question = Partition(self._question.edges), self._question
        cell = partition.quantize(total.mean)
        bounds, variance, c = question.bounds, total.variance, question.c
        mirrored = Bounds(-bounds.upper, -bounds.lower)
        sides = []
        if cell.cell > 0:
            below = total.mean - cell.lower - shift
            sides.append(
                tests_to_reject(total.mean, variance, bounds, below, c) if below > 0 else 0
            )
        if cell.cell < self._edges.size:
            above = cell.upper - total.mean - shift
            sides.append(
                tests_to_reject(-total.mean, variance, mirrored, above, c) if above > 0 else 0
            )
        return max(sides, default=1) if all(sides) else 0
