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

"""Stopping rules: their question, their promise, and their state during a campaign."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Protocol

from repsq_ros.estimation.accumulator import Accumulator
from repsq_ros.keys import TextEnum, key

C_BELOW = key(
    'share of c for the lower end of the interval, declared beforehand; 0.1 saves a tenth of '
    'the tests if psi is mostly near its lower end',
    above=0,
    below=1,
)


class Outcome(TextEnum):
    """How a campaign ended."""

    REACHED = 'reached'  # the stopping rule was met
    BUDGET = 'budget'  # max_tests was reached first
    UNRESOLVED = 'unresolved'  # ... and several cells may still hold r*
    VOID = 'void'  # measurements contradict the rule's assumptions: nothing can be claimed


class Validity(enum.Enum):
    """The conditions under which a rule's interval is valid with probability 1 - c."""

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
        """Return the nearest value within the bounds."""
        return min(max(value, self.lower), self.upper)

    def around(self, value: float) -> Bounds:
        """Return the bounds, widened to include a value."""
        return Bounds(min(value, self.lower), max(value, self.upper))

    def hold(self, z: float) -> bool:
        """Tell whether z is within the bounds, up to the rounding of exp(log p - log q)."""
        allowance = 1e-12 * max(abs(self.lower), abs(self.upper))
        return self.lower - allowance <= z <= self.upper + allowance


@dataclass(frozen=True)
class Question:
    """What a campaign asks of its stopping rule."""

    gamma: float  # requested half-width [unit of psi]
    c: float  # probability of a miss
    bounds: Bounds  # of every z
    edges: tuple[float, ...] = ()  # of the partition, ends included; only some rules need it
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
        """True once the rule is met; it stays true."""

    @property
    def void(self) -> bool:
        """True once the assumptions are violated, so that the rule can never be met."""

    @property
    def cells(self) -> tuple[int, int] | None:
        """First and last cell that may contain r*; None for a rule that aims at gamma."""

    @property
    def events(self) -> tuple[str, ...]:
        """Violations of the rule's assumptions, one line each."""

    def add(
        self, total: Accumulator, z: float, bounds: Bounds, could: Bounds | None = None
    ) -> None:
        """Add one value.

        :param total: all counted values, with z
        :param bounds: of this z, known before it was drawn
        :param could: range of z if an attempt of the test was lost, so that z may have been
            chosen; None: no loss
        """

    def miss(self, total: Accumulator, could: Bounds) -> None:
        """Add a case that was drawn but gave no value.

        :param total: all counted values
        :param could: range of its z
        """

    def expected_n(self, total: Accumulator) -> int:
        """Return n at the stop if mean and variance stay constant; 0: unknown."""


class StoppingRule(Protocol):
    """A rule, as the specification names it."""

    @property
    def name(self) -> str:
        """Return the rule's name, as in a specification."""

    @property
    def validity(self) -> Validity:
        """Conditions under which its interval is valid."""

    @property
    def statement(self) -> str:
        """Return one sentence: what the rule guarantees, and under which assumption."""

    @property
    def sides(self) -> str:
        """'' if c covers both ends of the interval, ' on each side' if each end has its own c."""

    def begin(self, question: Question) -> Progress:
        """Return the state of the rule before the first test of a campaign."""
