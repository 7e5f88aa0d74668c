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

"""The `binomial` rule: an exact interval for a probability, with a fixed number of tests."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from repsq_ros.estimation.accumulator import Accumulator
from repsq_ros.estimation.proportions import clopper_pearson
from repsq_ros.estimation.stopping import C_BELOW, Bounds, Question, Validity
from repsq_ros.keys import key


@dataclass(frozen=True)
class Binomial:
    """The interval of Clopper & Pearson 1934 for an indicator's mean, after `tests` tests.

    :param c_below: share of c for a miss of the lower end
    """

    tests: int = field(metadata=key('number of tests', at_least=1))
    c_below: float = field(default=0.5, metadata=C_BELOW)

    name = 'binomial'
    sides = ''
    validity = Validity.FIXED_N_INDEPENDENT
    statement = (
        'the number of tests was fixed beforehand; its interval is the exact one of Clopper and '
        'Pearson for a probability, for independent tests'
    )

    def interval(self, low: int, high: int, cases: int, c: float) -> tuple[float, float]:
        """Return the interval if between `low` and `high` of the cases were successes."""
        lower, _ = clopper_pearson(low, cases, c * self.c_below, 0.5)
        _, upper = clopper_pearson(high, cases, 0.5, c * (1.0 - self.c_below))
        return lower, upper

    def half_width(self, successes: int, c: float) -> float:
        """Return the larger distance of an interval's end from the share of successes."""
        share = successes / self.tests
        lower, upper = self.interval(successes, successes, self.tests, c)
        return max(upper - share, share - lower)

    def widest(self, c: float) -> float:
        """Return the largest half-width that any number of successes gives."""
        return max(self.half_width(successes, c) for successes in range(self.tests + 1))

    def begin(self, question: Question) -> BinomialProgress:
        """Return the state of the rule before the first test."""
        return BinomialProgress(self, question)


class BinomialProgress:
    """Number of successes, as a range if tests were lost."""

    cells: tuple[int, int] | None = None

    def __init__(self, rule: Binomial, question: Question) -> None:
        self._rule, self._c = rule, question.c
        self._low = self._high = self._cases = 0
        self.lower, self.upper = -math.inf, math.inf
        self.void = False
        self.events: tuple[str, ...] = ()

    @property
    def reached(self) -> bool:
        """True once all tests are done."""
        return not self.void and self._cases >= self._rule.tests

    def add(
        self, total: Accumulator, z: float, bounds: Bounds, could: Bounds | None = None
    ) -> None:
        """Add one value (see Progress.add)."""
        if self.reached or self.void:
            return
        if z not in (0.0, 1.0):
            self.void = True
            self.events = (f'z = {z:.6g} is neither 0 nor 1: no count of successes is left',)
            self.lower, self.upper = -math.inf, math.inf
            return
        low = high = round(z)
        if could is not None:
            low, high = min(low, math.floor(could.lower)), max(high, math.ceil(could.upper))
        self._take(low, high)

    def miss(self, total: Accumulator, could: Bounds) -> None:
        """Add a case without a value (see Progress.miss)."""
        if not (self.reached or self.void):
            self._take(math.floor(could.lower), math.ceil(could.upper))

    def _take(self, low: int, high: int) -> None:
        self._low, self._high, self._cases = self._low + low, self._high + high, self._cases + 1
        self.lower, self.upper = self._rule.interval(self._low, self._high, self._cases, self._c)

    def expected_n(self, total: Accumulator) -> int:
        """Return the fixed number of tests, minus the cases without a value."""
        return (
            max(self._rule.tests - (self._cases - total.n), 1)
            if self._cases
            else (self._rule.tests)
        )


def tests_for(gamma: float, probability: float, c: float, c_below: float = 0.5) -> int:
    """Return the smallest number of tests for which the expected interval is within gamma.

    Both whole numbers of successes next to n times the probability are checked.
    """

    def wide(n: int) -> float:
        rule, middle = Binomial(n, c_below), n * probability
        return max(rule.half_width(k, c) for k in {math.floor(middle), math.ceil(middle)})

    high = 2
    while wide(high) > gamma:
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if wide(middle) <= gamma else (middle, high)
    return high
