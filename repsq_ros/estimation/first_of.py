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

"""The `first_of` rule: several rules share c, and the first one to be met stops the campaign."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from repsq_ros.estimation.accumulator import Accumulator
from repsq_ros.estimation.stopping import Bounds, Progress, Question, StoppingRule, Validity
from repsq_ros.keys import key


@dataclass(frozen=True)
class FirstOf:
    """Each rule gets c / number of rules: by the union bound, all are valid with 1 - c."""

    rules: tuple[StoppingRule, ...] = field(metadata=key('rules that share c, at least two'))

    name = 'first_of'

    @property
    def validity(self) -> Validity:
        """Return the weakest validity of its rules."""
        order = list(Validity)
        return max((rule.validity for rule in self.rules), key=order.index)

    @property
    def statement(self) -> str:
        """Return the guarantee: each rule has its share of c, so all are valid together."""
        parts = '; '.join(rule.statement for rule in self.rules)
        return f'c is split between {len(self.rules)} rules, the first of which stops: {parts}'

    @property
    def sides(self) -> str:
        """Return the words for the sides that c covers (see StoppingRule.sides)."""
        return max((rule.sides for rule in self.rules), key=len)

    def begin(self, question: Question) -> FirstOfProgress:
        """Return the state of the rule before the first test."""
        share = replace(question, c=question.c / len(self.rules))
        return FirstOfProgress(tuple(rule.begin(share) for rule in self.rules))


class FirstOfProgress:
    """The states of all rules. The interval is that of the rule met first, else what all share."""

    cells: tuple[int, int] | None = None

    @property
    def void(self) -> bool:
        """True once one rule finds its assumptions violated: all rules share them."""
        return any(part.void for part in self._parts)

    def __init__(self, parts: tuple[Progress, ...]) -> None:
        self._parts = parts

    @property
    def _met(self) -> tuple[Progress, ...]:
        return tuple(part for part in self._parts if part.reached) or self._parts

    @property
    def lower(self) -> float:
        """Lower end of the interval."""
        return max(part.lower for part in self._met)

    @property
    def upper(self) -> float:
        """Upper end of the interval."""
        return min(part.upper for part in self._met)

    @property
    def reached(self) -> bool:
        """True once one rule is met, unless another one is void."""
        return not self.void and any(part.reached for part in self._parts)

    @property
    def events(self) -> tuple[str, ...]:
        """The events of all rules."""
        return tuple(event for part in self._parts for event in part.events)

    def add(
        self, total: Accumulator, z: float, bounds: Bounds, could: Bounds | None = None
    ) -> None:
        """Add one value (see Progress.add)."""
        if not self.reached:
            for part in self._parts:
                part.add(total, z, bounds, could)

    def miss(self, total: Accumulator, could: Bounds) -> None:
        """Add a case without a value (see Progress.miss)."""
        if not self.reached:
            for part in self._parts:
                part.miss(total, could)

    def expected_n(self, total: Accumulator) -> int:
        """Return the smallest forecast of all rules; 0: all are unknown."""
        known = [n for n in (part.expected_n(total) for part in self._parts) if n]
        return min(known, default=0)
