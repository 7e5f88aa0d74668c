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

"""Stopping rules whose half-width depends only on n, mean, variance and range."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from repsq_ros import special
from repsq_ros.estimation.accumulator import Accumulator
from repsq_ros.estimation.anytime import STATEMENT, FixedProgress
from repsq_ros.estimation.selection import Selection
from repsq_ros.estimation.stopping import Bounds, Progress, Question, Validity
from repsq_ros.keys import key

Numbers = NDArray[np.float64]
Value = Any  # a number, or an array with one per count or campaign
Flags = Any  # a truth value, or an array of them

LARGEST_N = 2**62
# the mean of the first 32 values is subtracted before summing: sums far from 0 lose digits
SHIFT = 32


class MomentRule(ABC):
    """Common part of these rules: they stop at half-width <= gamma unless overridden."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Return the rule's name."""

    @abstractmethod
    def half_width(self, n: Value, variance: Value, z_range: float, c: float) -> Value:
        """Return the half-width of the interval around the mean.

        :param n: number of values; an array for several counts or campaigns at once
        :param variance: their mean square deviation s^2 (divided by n)
        :param z_range: R = m w_max, width of the range of z = psi w
        :param c: probability of a miss, in (0, 1)
        :returns: >= 0 in the unit of psi; +inf while n is too small
        """

    def reached(self, n: Value, mean: Value, half_width: Value, gamma: float) -> Flags:
        """Tell whether to stop, for each count or campaign."""
        return np.asarray(half_width <= gamma)

    def half_width_after_losses(self, n: Value, variance: Value, question: Question) -> Value:
        """Return the half-width if lost tests may have influenced n.

        :param n: finished cases, with those without a value
        :param variance: largest possible variance
        """
        return self.half_width(n, variance, question.bounds.width, question.c)

    def begin(self, question: Question) -> Progress:
        """Return the state of the rule before the first test."""
        return MomentProgress(self, question)


class MomentProgress:
    """State of a moment rule: the latest half-width.

    Once a test was lost, the interval extends from the lowest possible mean of all cases minus
    the half-width to the highest possible mean plus the half-width.
    """

    events: tuple[str, ...] = ()
    cells: tuple[int, int] | None = None
    void = False

    def __init__(self, rule: MomentRule, question: Question) -> None:
        self._rule, self._question = rule, question
        self._range = question.bounds.width
        self._selection: Selection | None = None  # None: no loss
        self.lower, self.upper = -math.inf, math.inf
        self.reached = False

    def add(
        self, total: Accumulator, z: float, bounds: Bounds, could: Bounds | None = None
    ) -> None:
        """Add one value (see Progress.add)."""
        if self.reached:
            return
        if could is not None:
            self._selection = self._selection or Selection()
            self._selection.add(z, could)
        self._conclude(total)

    def miss(self, total: Accumulator, could: Bounds) -> None:
        """Add a case without a value (see Progress.miss)."""
        if self.reached:
            return
        self._selection = self._selection or Selection()
        self._selection.miss(could, self._range)
        if total.n:
            self._conclude(total)

    def _conclude(self, total: Accumulator) -> None:
        question, mean = self._question, total.mean
        if self._selection is None:
            half = float(self._rule.half_width(total.n, total.variance, self._range, question.c))
            self.lower, self.upper = mean - half, mean + half
            self.reached = bool(self._rule.reached(total.n, mean, half, question.gamma))
            return
        n, variance = self._selection.cases(total), self._selection.variance(total)
        half = float(self._rule.half_width_after_losses(n, variance, question))
        lowest, highest = self._selection.means(total)
        self.lower, self.upper = lowest - half, highest + half
        wide = max(self.upper - mean, mean - self.lower)
        self.reached = bool(self._rule.reached(n, mean, wide, question.gamma))

    def expected_n(self, total: Accumulator) -> int:
        """Return n at the stop if mean and variance stay constant; 0: unknown."""
        if total.n < 2:
            return 0
        rule, question, lost = self._rule, self._question, self._selection

        def within(n: int) -> bool:
            if lost is None:
                half = rule.half_width(n, total.variance, self._range, question.c)
                return bool(rule.reached(n, total.mean, half, question.gamma))
            half = rule.half_width_after_losses(n, total.variance, question)
            return bool(rule.reached(n, total.mean, half + lost.least(total, n), question.gamma))

        return smallest(within)


def smallest(within: Callable[[int], bool]) -> int:
    """Return the smallest n with a condition that is monotone in n; 0 if none."""
    high = 2
    while not within(high):
        high *= 2
        if high > LARGEST_N:
            return 0
    low = high // 2 if high > 2 else 0  # the condition is false here, or it is 0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if within(middle) else (middle, high)
    return high


def smallest_n(rule: MomentRule, gamma: float, variance: float, z_range: float, c: float) -> int:
    """Return the smallest n with half-width <= gamma at constant variance."""
    return smallest(lambda n: bool(rule.half_width(n, variance, z_range, c) <= gamma))


def first_stops(
    z: Numbers, rule: MomentRule, gamma: float, z_range: float, c: float
) -> tuple[NDArray[np.int64], Numbers]:
    """Return where each of many campaigns stops.

    :param z: values of the campaigns, shape (runs, tests)
    :param z_range: R, the width of the range of z
    :returns: n of each campaign, shape (runs,), 0 if it does not stop; and the mean there (of all
        values if it does not stop), shape (runs,)
    """
    runs, tests = z.shape
    n = np.arange(1.0, tests + 1.0)
    shift = z[:, :SHIFT].mean(axis=1)[:, None]
    away = z - shift
    mean = np.cumsum(away, axis=1) / n
    variance = np.maximum(np.cumsum(away * away, axis=1) / n - mean * mean, 0.0)
    mean += shift
    half = rule.half_width(n, variance, z_range, c)
    reached = np.broadcast_to(rule.reached(n, mean, half, gamma), z.shape)
    stops = reached.any(axis=1)
    place = np.where(stops, reached.argmax(axis=1), tests - 1)
    return np.where(stops, place + 1, 0), mean[np.arange(runs), place]


@dataclass(frozen=True)
class EmpiricalBernstein(MomentRule):
    """Empirical Bernstein bound.

    half-width = sqrt(2 s^2 ln(k/c)/n) + 7 R^power ln(k/c) / (3 (n - 1)).

    `two_sided` false: k = 2 and the mean square variance, as printed in the paper; this is the
    one-sided bound of Maurer & Pontil 2009, theorem 4, with 2/c. `two_sided` true: k = 3 and the
    unbiased variance, which covers both sides. `range_power` 1 is Maurer & Pontil's; 2 is the
    paper's misprint, kept to reproduce its counts: for R < 1 it is not a valid bound.
    """

    range_power: int = field(
        default=1,
        metadata=key('power of the range; 2 only reproduces the paper', at_least=1, at_most=2),
    )
    two_sided: bool = field(
        default=False,
        metadata=key(
            'paper: one-sided, ln(2/c); two_sided: ln(3/c), unbiased variance',
            name='form',
            choices={'paper': False, 'two_sided': True},
        ),
    )

    name = 'empirical_bernstein'

    @property
    def validity(self) -> Validity:
        """Under which circumstances its interval holds."""
        return Validity.APPROXIMATE if self.range_power == 1 else Validity.NONE

    @property
    def statement(self) -> str:
        """Return the guarantee of the chosen form."""
        if self.range_power != 1:
            return (
                'the range enters squared, as the paper prints it, which bounds nothing where '
                'the range is below 1: it serves only to reproduce the counts of the paper'
            )
        return (
            'the empirical Bernstein bound holds for independent tests and a number of tests '
            'fixed beforehand, so only approximately where, as here, each test may be the last'
        )

    @property
    def sides(self) -> str:
        """Return the words for the sides that c covers (see StoppingRule.sides)."""
        return '' if self.two_sided else ' on each side'

    def half_width(self, n: Value, variance: Value, z_range: float, c: float) -> Value:
        """Return the half-width (see MomentRule.half_width)."""
        log = math.log((3.0 if self.two_sided else 2.0) / c)
        with np.errstate(divide='ignore', invalid='ignore'):
            s2 = np.divide(variance * n, n - 1.0) if self.two_sided else variance
            spread = np.sqrt(np.divide(2.0 * s2 * log, n))
            half = spread + np.divide(7.0 * z_range**self.range_power * log, 3.0 * (n - 1.0))
        return np.where(np.less(n, 2), math.inf, half)


@dataclass(frozen=True)
class Hoeffding(MomentRule):
    """Hoeffding's bound: half-width = R sqrt(ln(2/c) / (2 n)), independent of the variance.

    With a range known before each draw, it is valid for adaptive proposals as well (Azuma 1967).
    """

    name = 'hoeffding'
    sides = ''
    validity = Validity.FIXED_N
    statement = (
        'the Hoeffding bound holds for independent tests and for adaptive proposals; the number '
        'of tests follows from gamma, c and the range alone, so that it is fixed beforehand'
    )

    def half_width(self, n: Value, variance: Value, z_range: float, c: float) -> Value:
        """Return the half-width (see MomentRule.half_width)."""
        with np.errstate(divide='ignore'):
            return z_range * np.sqrt(np.divide(math.log(2.0 / c), np.multiply(2.0, n)))

    def half_width_after_losses(self, n: Value, variance: Value, question: Question) -> Value:
        """Return a half-width that is valid at every n, and equals Hoeffding's at the planned n.

        Lost tests may change n in a way that depends on the data. With k fixed beforehand,
        exp(k S_n - n k^2 R^2 / 8) is a supermartingale (S_n the sum of z - r*), so that S_n / n
        stays below ln(2/c) / (k n) + k R^2 / 8 at every n with probability 1 - c/2 (Ville's
        inequality). k is chosen so that the line touches Hoeffding's half-width at the planned n.
        """
        width, c = question.bounds.width, question.c
        planned = smallest(lambda k: bool(self.half_width(k, 0.0, width, c) <= question.gamma))
        planned = min(planned, question.max_tests or planned)
        return float(self.half_width(planned, 0.0, width, c)) / 2.0 * (planned / n + 1.0)


@dataclass(frozen=True)
class FixedN(MomentRule):
    """A number of tests fixed beforehand, as in standards such as ISO 9283.

    Its interval is the two-sided empirical Bernstein bound at that n, or the narrower interval
    of bets that aim at what so many tests can reach. Only then is it compared with gamma.
    """

    tests: int = field(metadata=key('number of tests', at_least=2))
    betting: bool = field(
        default=False,
        metadata=key(
            'betting: the confidence sequence of `anytime`, aimed at what the tests can reach; it '
            'is narrower, and holds for adaptive proposals and lost tests',
            name='interval',
            choices={'empirical_bernstein': False, 'betting': True},
        ),
    )

    name = 'fixed'
    sides = ''

    @property
    def validity(self) -> Validity:
        """Under which circumstances its interval holds."""
        return Validity.ANY_N if self.betting else Validity.FIXED_N_INDEPENDENT

    @property
    def statement(self) -> str:
        """Return the guarantee of the chosen interval."""
        if self.betting:
            return f'the number of tests was fixed beforehand; {STATEMENT}'
        return (
            'the number of tests was fixed beforehand; its interval is the two-sided empirical '
            'Bernstein bound for independent tests, whatever gamma was asked for'
        )

    def begin(self, question: Question) -> Progress:
        """Return the state of the rule before the first test."""
        return FixedProgress(question, self.tests) if self.betting else super().begin(question)

    def half_width(self, n: Value, variance: Value, z_range: float, c: float) -> Value:
        """Return the half-width (see MomentRule.half_width)."""
        return EmpiricalBernstein(two_sided=True).half_width(n, variance, z_range, c)

    def reached(self, n: Value, mean: Value, half_width: Value, gamma: float) -> Flags:
        """Stop at the fixed number of tests, including cases without a value."""
        return np.greater_equal(n, self.tests)


@dataclass(frozen=True)
class RelativeHalfWidth(MomentRule):
    """The usual stop of accelerated risk assessment: z_{1-c/2} s / (sqrt(n) r_n) <= relative.

    By the central limit theorem, checked after every test: no guarantee. `at_least` prevents an
    early stop when the first few tests agree by chance.
    """

    relative: float = field(metadata=key('half-width as a share of the estimate', above=0))
    at_least: int = field(default=30, metadata=key('tests before it may stop', at_least=2))

    name = 'relative_half_width'
    sides = ''
    validity = Validity.NONE
    statement = (
        'the relative half-width rests on the central limit theorem and on looking after every '
        'test, which guarantees nothing at a finite number of tests'
    )

    def half_width(self, n: Value, variance: Value, z_range: float, c: float) -> Value:
        """Return the half-width (see MomentRule.half_width)."""
        with np.errstate(divide='ignore', invalid='ignore'):
            half = float(special.ndtri(1.0 - c / 2.0)) * np.sqrt(np.divide(variance, n - 1.0))
        return np.where(np.less(n, 2), math.inf, half)

    def reached(self, n: Value, mean: Value, half_width: Value, gamma: float) -> Flags:
        """Stop at half-width <= relative r_n."""
        close = np.less_equal(half_width, np.multiply(self.relative, mean))
        return np.greater_equal(n, self.at_least) & np.greater(mean, 0) & close
