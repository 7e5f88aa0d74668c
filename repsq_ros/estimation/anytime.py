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

"""The `anytime` rule: an interval that is valid at every n and for adaptive proposals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from repsq_ros.estimation.accumulator import Accumulator
from repsq_ros.estimation.betting import Bet, Expected, LowerSequence, Numbers
from repsq_ros.estimation.betting_progress import BettingProgress
from repsq_ros.estimation.candidates import CandidateSequence, Stakes
from repsq_ros.estimation.forecast import LONGEST, growth, tests_to_distance
from repsq_ros.estimation.stopping import C_BELOW, Bounds, Question, Validity
from repsq_ros.keys import key

STATEMENT = (
    'this holds whenever the campaign stops, as long as no weighted value lies outside the bounds '
    'declared for it'
)


def split_of(c_below: float) -> str:
    """Return how c is split between the two ends; '' if it is halved."""
    if c_below == 0.5:
        return ''
    return (
        f'; {c_below:g} of the probability of a miss is that of the lower end, as was declared '
        'beforehand'
    )


@dataclass(frozen=True)
class Anytime:
    """Betting confidence sequence: P(r* leaves [L_n, U_n] at any n) <= c.

    Stops at max(U_n - r_n, r_n - L_n) <= gamma (statistics: Waudby-Smith & Ramdas 2024).

    :param c_below: share of c for a miss of the lower end
    :param reachable: if gamma is finer than what max_tests / reachable tests can reach, the bets
        aim at that instead; 0: always at gamma
    :param middle: stop at U_n - L_n <= 2 gamma; the estimate is the interval's middle
    """

    c_below: float = field(default=0.5, metadata=C_BELOW)
    reachable: float = field(
        default=0.0,
        metadata=key(
            'half-width that the bets aim at; reachable: what `max_tests` tests can reach, if '
            'that is wider than gamma; early: what half of them can reach',
            kind=str,
            name='aim',
            choices={'gamma': 0.0, 'reachable': 1.0, 'early': 2.0},
        ),
    )
    middle: bool = field(
        default=False,
        metadata=key(
            'the estimate; middle: the middle of the interval, which needs fewer tests with an '
            'anchored partition',
            name='estimate',
            choices={'mean': False, 'middle': True},
        ),
    )

    expected_mean: float | None = field(
        default=None,
        metadata=key(
            'expected mean of psi w, from a simulator, a pilot or another lab: the first bets '
            'start from it. The interval stays valid if it is wrong',
            'the unit of psi',
        ),
    )
    expected_sd: float | None = field(
        default=None,
        metadata=key('standard deviation, beside expected_mean', 'the unit of psi', at_least=0),
    )
    expected_worth: float = field(
        default=5.0,
        metadata=key(
            'weight of the expectation as a number of tests, beside expected_mean', above=0
        ),
    )

    stakes: Stakes = field(
        default=Stakes.ONE,
        metadata=key(
            'each: one for each candidate mean, narrower in the first tens of tests; target: '
            'fewer tests to gamma where psi is spread widely'
        ),
    )

    name = 'anytime'
    sides = ''
    validity = Validity.ANY_N

    @property
    def statement(self) -> str:
        """Return the guarantee, with the split of c if it is not halved."""
        middle = '; the estimate is the middle of the interval' if self.middle else ''
        return STATEMENT + split_of(self.c_below) + middle

    @property
    def expected(self) -> Expected | None:
        """Prior for the first bets; None: none."""
        if self.expected_mean is None or self.expected_sd is None:
            return None
        return self.expected_mean, self.expected_sd**2, self.expected_worth

    def begin(self, question: Question) -> AnytimeProgress:
        """Return the state of the rule before the first test."""
        return AnytimeProgress(question, self)

    def sequences(
        self, question: Question, runs: int = 1, shares: Sequence[float] = (1.0,)
    ) -> tuple[LowerSequence | CandidateSequence, LowerSequence | CandidateSequence]:
        """Return those of the lower end, and of the upper end with its sign turned."""
        gamma, bounds = question.gamma, question.bounds
        above, below = thresholds_of(question.c, self.c_below)
        if self.stakes is Stakes.ONE:
            return (
                LowerSequence(gamma, above, bounds.lower, runs, shares),
                LowerSequence(gamma, below, -bounds.upper, runs, shares),
            )
        return (
            CandidateSequence(self.stakes, gamma, above, bounds.lower, bounds.upper, runs),
            CandidateSequence(self.stakes, gamma, below, -bounds.upper, -bounds.lower, runs),
        )

    def within(self, question: Question) -> float:
        """Return what `Bet` needs to aim at a reachable accuracy; 0 to aim at gamma."""
        if question.max_tests is None:
            return 0.0
        return self.reachable * 2.0 * math.log(2.0 / question.c) / question.max_tests


def add_to(
    sequence: LowerSequence | CandidateSequence,
    z: Numbers | float,
    bet: Bet[float] | Bet[Numbers],
    bounds: Bounds,
    whole: Bounds,
    sign: float,
) -> None:
    """Let one end take in a value: z, or -z where the sign is -1.

    :param bounds: of z in this test
    :param whole: those that r* cannot be outside
    """
    ends, limits = (bounds.lower, -bounds.upper), (whole.upper, -whole.lower)
    place = 0 if sign > 0.0 else 1
    if isinstance(sequence, CandidateSequence):
        sequence.add(sign * z, bet, ends[place], sign)
    else:
        sequence.add(sign * z, bet.stake, ends[place], limits[place])


def thresholds_of(c: float, c_below: float) -> tuple[float, float]:
    """Return the capital that moves the lower end, and the capital that moves the upper end."""
    return 1.0 / (c * c_below), 1.0 / (c * (1.0 - c_below))


class AnytimeProgress(BettingProgress):
    """L and U along a campaign: U is the lower sequence of -z."""

    cells: tuple[int, int] | None = None

    def __init__(
        self, question: Question, rule: Anytime, shares: Sequence[float] = (1.0,)
    ) -> None:
        super().__init__(question, question.gamma, rule.within(question), rule.expected)
        self._rule, self._c_below = rule, rule.c_below
        self._bounds = question.bounds  # those of the latest test
        self._lost = False  # whether any test was lost
        self._above, self._below = rule.sequences(question, shares=shares)

    @property
    def lower(self) -> float:
        """L_n; -inf once a z below its bound has voided it."""
        return self._above.bound if self._lower_stands else -math.inf

    @property
    def upper(self) -> float:
        """U_n; +inf once a z above its bound has voided it."""
        return -self._below.bound if self._upper_stands else math.inf

    def _note_lost(self, z: float, could: Bounds) -> None:
        self._lost = True

    def _note_missed(self, could: Bounds) -> None:
        self._lost = True

    def _stake(self, bet: Bet[float], low: float, high: float, bounds: Bounds) -> None:
        whole, self._bounds = self._question.bounds, bounds
        if self._lower_stands:
            add_to(self._above, low, bet, bounds, whole, 1.0)
        if self._upper_stands:
            add_to(self._below, high, bet, bounds, whole, -1.0)

    def _conclude(self, total: Accumulator) -> None:
        """Check whether the interval is empty, or narrow enough."""
        if self.lower > self.upper:
            # Under the assumptions this has a probability below c, so nothing can be claimed.
            self._void(
                f'at n = {total.n} the interval is empty ({self.lower:.6g} > {self.upper:.6g}): '
                'the mean drifts or a bound is wrong; neither side stands'
            )
            self._lower_stands = self._upper_stands = False
        wide = max(self.upper - total.mean, total.mean - self.lower)
        if self._rule.middle:
            wide = (self.upper - self.lower) / 2.0
        self.reached = wide <= self._question.gamma

    def _upper_is_void(self) -> str:
        return "the interval's upper end is void, the lower end still stands"

    def _lower_is_void(self) -> str:
        return "the interval's lower end is void, the upper end still stands"

    def _betting_on(self) -> tuple[Bounds, float]:
        """Return the bounds of the values that are bet on, and the c that the capital stands for.

        The bounds are those of the latest test: with an adaptive proposal, they are much narrower
        than those of all cases that it may ever draw.
        """
        return self._bounds, self._question.c

    def _make_forecast(self, total: Accumulator) -> int:
        mean, variance, gamma = total.mean, total.variance, self._question.gamma
        bounds, c = self._betting_on()
        if not self._lost:
            middle = self._rule.middle
            return tests_to_distance(mean, variance, bounds, gamma, c, self._c_below, middle)
        # Lost tests have cost capital: continue from the rest, assuming no further loss.
        gains = (
            growth(mean, variance, bounds, gamma),
            growth(-mean, variance, Bounds(-bounds.upper, -bounds.lower), gamma),
        )
        behind = (self._above.shortfall(mean - gamma), self._below.shortfall(-mean - gamma))
        if any(gain <= 0.0 for gain in gains):
            return 0
        more = max(short / gain for short, gain in zip(behind, gains, strict=True))
        return total.n + math.ceil(more) if more < LONGEST else 0


class FixedProgress(AnytimeProgress):
    """The same sequence for a fixed number of cases: bets aim at what these can reach."""

    def __init__(self, question: Question, tests: int) -> None:
        super().__init__(replace(question, max_tests=tests), Anytime(reachable=True))
        self._aim = 0.0  # independent of the requested gamma
        self._tests, self._cases = tests, 0

    def _conclude(self, total: Accumulator) -> None:
        super()._conclude(total)
        self._cases += 1
        self.reached = self._cases >= self._tests

    def expected_n(self, total: Accumulator) -> int:
        """Return the fixed number of tests, minus the cases without a value."""
        return max(self._tests - (self._cases - total.n), 1)


class AnytimeBatch:
    """L and U of many campaigns that have all counted the same number of tests.

    All have the same constant bounds: plain Monte Carlo, or a fixed proposal.

    :param runs: number of campaigns
    """

    def __init__(self, question: Question, runs: int, rule: Anytime | None = None) -> None:
        self._question, self._bounds = question, question.bounds
        self._rule = rule = rule or Anytime()
        bounds = question.bounds
        self.n = 0
        self.mean: Numbers = np.zeros(runs)
        self._bet: Bet[Numbers] = Bet(
            question.gamma,
            bounds.lower,
            bounds.upper,
            np.zeros(runs),
            rule.within(question),
            rule.expected,
        )
        self._above, self._below = rule.sequences(question, runs)

    @property
    def lower(self) -> Numbers:
        """L_n of each campaign."""
        return self._above.bounds

    @property
    def upper(self) -> Numbers:
        """U_n of each campaign."""
        return -self._below.bounds

    @property
    def void(self) -> NDArray[np.bool_]:
        """Campaigns with an empty interval: nothing can be claimed."""
        return np.asarray(self.lower > self.upper)

    @property
    def reached(self) -> NDArray[np.bool_]:
        """Campaigns that stop here."""
        wide = np.maximum(self.upper - self.mean, self.mean - self.lower)
        if self._rule.middle:
            wide = (self.upper - self.lower) / 2.0
        return np.asarray((wide <= self._question.gamma) & ~self.void)

    def add(self, z: Numbers) -> None:
        """Add one value of each campaign, shape (runs,), all within the bounds."""
        self.n += 1
        self.mean += (z - self.mean) / self.n
        add_to(self._above, z, self._bet, self._bounds, self._bounds, 1.0)
        add_to(self._below, z, self._bet, self._bounds, self._bounds, -1.0)
        self._bet.learn(z)

    def keep(self, rows: NDArray[np.bool_]) -> None:
        """Continue with the selected campaigns only."""
        self.mean = self.mean[rows]
        self._bet.keep(rows)
        self._above.keep(rows)
        self._below.keep(rows)
