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

"""Stopping rules: what is asked of one, what it promises, and its state along a campaign."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Protocol

from repsq_ros.estimation.accumulator import Accumulator
from repsq_ros.keys import TextEnum, key

C_BELOW = key(
    'share of c that the lower end of the interval may miss with, declared beforehand; '
    '0.1 saves a tenth of the tests where psi is mostly near its lower end',
    above=0,
    below=1,
)


class Outcome(TextEnum):
    """How a campaign came to its end."""

    REACHED = 'reached'  # the stopping rule was met
    BUDGET = 'budget'  # max_tests came first
    UNRESOLVED = 'unresolved'  # ... and more than one cell may still hold r*
    VOID = 'void'  # what was measured contradicts the rule's assumptions: no claim is left


class Validity(enum.Enum):
    """Under which circumstances a rule's interval holds with probability 1 - c."""

    ANY_N = 'any number of tests, adaptive proposals included'
    FIXED_N = 'a number of tests fixed beforehand, adaptive proposals included'
    FIXED_N_INDEPENDENT = 'a number of tests fixed beforehand, independent tests'
    APPROXIMATE = (
        'a number of tests fixed beforehand, independent tests: here approximately, since any '
        'test may be the last'
    )
    NONE = 'nothing is guaranteed'


@dataclass(frozen=True)
class Bounds:
    """Bounds of z_t, known before it is drawn: lower <= z_t <= upper [unit of psi]."""

    lower: float
    upper: float

    @property
    def width(self) -> float:
        """R, the width of the range of z."""
        return self.upper - self.lower

    def clip(self, value: float) -> float:
        """Return the value within the bounds that is nearest."""
        return min(max(value, self.lower), self.upper)

    def around(self, value: float) -> Bounds:
        """Return the narrowest bounds that hold these and a value."""
        return Bounds(min(value, self.lower), max(value, self.upper))

    def hold(self, z: float) -> bool:
        """Tell whether z lies within, but for the rounding of exp(log p - log q)."""
        allowance = 1e-12 * max(abs(self.lower), abs(self.upper))
        return self.lower - allowance <= z <= self.upper + allowance


@dataclass(frozen=True)
class Question:
    """What a campaign asks of its stopping rule."""

    gamma: float  # wanted half-width [unit of psi]
    c: float  # probability of a miss
    bounds: Bounds  # of every z
    edges: tuple[float, ...] = ()  # of the partition, ends included; where a rule needs it
    max_tests: int | None = None  # the campaign ends here at the latest


class Progress(Protocol):
    """A rule's state along one campaign."""

    @property
    def lower(self) -> float:
        """Lower end of the interval for r* [unit of psi]."""

    @property
    def upper(self) -> float:
        """Upper end of the interval for r* [unit of psi]."""

    @property
    def reached(self) -> bool:
        """True once the rule says stop; it stays true."""

    @property
    def void(self) -> bool:
        """True once no further value can bring the end: the assumptions are broken."""

    @property
    def cells(self) -> tuple[int, int] | None:
        """First and last cell that r* may lie in; None for a rule that aims at gamma."""

    @property
    def events(self) -> tuple[str, ...]:
        """Whatever is against the rule's assumptions, one line each."""

    def add(
        self, total: Accumulator, z: float, bounds: Bounds, could: Bounds | None = None
    ) -> None:
        """Take in one value.

        :param total: what has been counted, z included
        :param bounds: of this z, known before it was drawn
        :param could: what the test could have given, where an attempt of it was lost, so that z
            may have been chosen; None: nothing but z
        """

    def miss(self, total: Accumulator, could: Bounds) -> None:
        """Take in a case that was drawn and gave no value.

        :param total: what has been counted
        :param could: what the case could have given
        """

    def expected_n(self, total: Accumulator) -> int:
        """Return n at the stop if mean and variance stay as they are; 0 where unknown."""


class StoppingRule(Protocol):
    """A rule, as the specification names it."""

    @property
    def name(self) -> str:
        """Return the rule's name, as in a specification."""

    @property
    def validity(self) -> Validity:
        """Under which circumstances its interval holds."""

    @property
    def statement(self) -> str:
        """Say in one sentence what the rule guarantees, and under which assumption."""

    @property
    def sides(self) -> str:
        """'' where c covers both ends of the interval, ' on each side' where each has its c."""

    def begin(self, question: Question) -> Progress:
        """Return the state of the rule before the first test of a campaign."""
