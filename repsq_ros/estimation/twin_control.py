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

"""Simulated tests as a control variate: a regression on the case and on simulators' answers.

g(x, s) is fitted to the robot tests so far, h = min(g, k) for the lower end and max(g, l) for the
upper one, since a bet that r* is larger can only be ruined by a large g. E h is not known. Earlier
simulated tests give a prediction mu. Each robot test is bet on together with the mean of h over
new simulated tests of its own, by one stake b:

    (1 + b (w (psi - h) + mu - m)) (1 + b (mean h - mu))

If r* <= m and E h = mu + d, its expectation is at most (1 - b d)(1 + b d) <= 1, for any mu and g:
as valid at any n as `anytime` itself, without a share of c for E h. The assumption is that the
simulator answers the robot's cases and its own, drawn from p, in the same way.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from repsq_ros.estimation.accumulator import Accumulator
from repsq_ros.estimation.betting import LowerSequence, Numbers
from repsq_ros.estimation.control import (
    ControlledValue,
    CountedCase,
    Predictable,
    controlled_bounds,
)
from repsq_ros.estimation.portfolio import ControlledAnytime, ControlledProgress
from repsq_ros.estimation.regression import FIRST, LARGEST_LOSS, Ridge, dot
from repsq_ros.estimation.stopping import Bounds, Question

GAIN = math.log(40.0)  # approximate log capital at the end of a campaign
KEPT = 8  # one in this many simulated tests is never bet on, but used for the first prediction
QUANTILES = tuple(k / 10 for k in range(1, 11))  # candidate quantiles of g for k and l
# Simulated tests are spread over the robot tests up to LATER times the forecast total, and over
# AT_LEAST times the forecast if few are left.
LATER, AT_LEAST = 1.5, 0.3


@dataclass(frozen=True)
class Side:
    """The bet of one end of the interval; signed so that a larger value moves the end up."""

    offset: float = 0.0  # u = z + offset
    bound: float = 0.0  # u cannot be lower
    beside: float = 0.0  # mean of h over the test's simulated tests, minus the prediction
    stake: float | None = None  # largest stake; None: only bet on z


def _bounds_of(sides: tuple[Side, Side]) -> Bounds:
    return Bounds(sides[0].bound, -sides[1].bound)


@dataclass(frozen=True)
class PredictedByTwin(Predictable):
    """What is known of a test before psi."""

    known_before = False
    sides: tuple[Side, Side]  # for the lower end, for the upper end


@dataclass(frozen=True)
class ValueByTwin(ControlledValue):
    """v of one test: its mean is the estimate, and its sides are bet on."""

    known_before = False
    sides: tuple[Side, Side]

    @property
    def bet_bounds(self) -> Bounds:
        """Bounds of the values that are bet on: for the lower end, and for the upper end."""
        return _bounds_of(self.sides)


@dataclass(frozen=True)
class _Clip:
    """The current h = min(sign g, k)."""

    k: float
    lower: float  # lower bound of signed psi
    mean: float  # predicted mean
    variance: float  # of u, including the mean of h
    growth: float  # expected growth of the bet, per test
    plain: bool  # h is constant


class TwinControl:
    """The fit, the clips, and the simulated tests of each robot test, updated test by test.

    :param features: functions of (x, s); the first one is 1
    :param answer: each simulator's s to a robot's case, known before its test
    :param simulated: (x, s) of cases drawn from the target, in order
    :param psi: range M of psi
    """

    def __init__(
        self,
        features: Callable[[Sequence[float], Sequence[float]], list[float]],
        penalties: Sequence[float],
        answer: Callable[[Sequence[float]], Sequence[float]],
        simulated: Sequence[tuple[Sequence[float], Sequence[float]]],
        psi: Bounds,
        gamma: float,
        unweighted: bool,
    ) -> None:
        self._features, self._answer, self._psi = features, answer, psi
        self._gamma, self._unweighted = gamma, unweighted
        self._table = np.array([features(x, s) for x, s in simulated]).T.copy()
        self._left = len(simulated)
        self._used = self._left // KEPT
        self._left -= self._used
        self._ridge, self._fit_at = Ridge(penalties), FIRST
        self._rows: list[list[float]] = []
        self._psis: list[float] = []
        self._weights: list[float] = []
        self._coefficients = [0.0] * len(penalties)
        self._g: Numbers = np.zeros(len(simulated))  # g of all simulated tests, by the current fit
        self._clips: tuple[_Clip, _Clip] | None = None
        self._batch = 0  # number of simulated tests for the next robot test

    def predict(self, test: CountedCase) -> PredictedByTwin:
        """Return what is known of v; this uses up its simulated tests."""
        return self._predict(test, self._features(test.x, self._answer(test.x)))

    def count(self, test: CountedCase) -> ValueByTwin:
        """Return v from the current fit, then learn."""
        row = self._features(test.x, self._answer(test.x))
        before = self._predict(test, row)
        self._learn(row, test)
        value = test.weight * test.psi + before.offset
        return ValueByTwin(before.offset, before.bounds, value, before.sides)

    def _predict(self, test: CountedCase, row: list[float]) -> PredictedByTwin:
        psi, none = self._psi, Bounds(0.0, 0.0)
        z = controlled_bounds(psi, none, 0.0, test.weight_bound, self._unweighted)
        plain = (Side(bound=z.lower), Side(bound=-z.upper))
        if self._clips is None or not self._batch:
            return PredictedByTwin(0.0, z, plain)
        weight = test.weight if test.weight >= 0.0 else math.nan
        g = psi.clip(dot(self._coefficients, row))
        batch = self._g[self._used : self._used + self._batch]
        self._used, self._left = self._used + self._batch, self._left - self._batch
        self._batch = min(self._batch, self._left)
        sides = []
        for sign, clip, of_z in zip((1.0, -1.0), self._clips, plain, strict=True):
            if clip.plain:
                sides.append(of_z)
                continue
            stake, fall = self._gamma / (clip.variance + self._gamma**2), clip.mean - clip.lower
            if fall > 0.0:
                stake = min(stake, LARGEST_LOSS / fall)
            sides.append(
                Side(
                    clip.mean - weight * min(sign * g, clip.k),
                    clip.mean + self._least(clip.lower - clip.k, test.weight_bound),
                    _mean(np.minimum(sign * batch, clip.k)) - clip.mean,
                    stake,
                )
            )
        mean = _mean(batch)
        bounds = controlled_bounds(psi, psi, mean, test.weight_bound, self._unweighted)
        return PredictedByTwin(mean - weight * g, bounds, (sides[0], sides[1]))

    def _least(self, value: float, weight_bound: float) -> float:
        return value if self._unweighted else min(0.0, weight_bound * value)

    def _learn(self, row: list[float], test: CountedCase) -> None:
        self._ridge.learn(row, test.psi, test.weight)
        self._rows.append(row)
        self._psis.append(test.psi)
        self._weights.append(test.weight)
        n = self._ridge.n
        if n >= self._fit_at:
            self._fit_at = n + max(1, n // 10)
            self._fit(n, test.weight_bound)

    def _fit(self, n: int, weight_bound: float) -> None:
        psi = self._psi
        self._coefficients = coefficients = self._ridge.solve()
        self._g = np.clip(_combined(coefficients, self._table), psi.lower, psi.upper)
        g = np.clip(_combined(coefficients, np.array(self._rows).T), psi.lower, psi.upper)
        weights, psis = np.array(self._weights), np.array(self._psis)
        seen = self._g[: self._used]
        clips = tuple(
            self._best(sign, n, (psis, g, weights), seen, weight_bound) for sign in (1.0, -1.0)
        )
        self._clips = (clips[0], clips[1])
        self._batch = 0
        if self._left and not all(clip.plain for clip in clips):
            tests = GAIN / max(min(clip.growth for clip in clips), 1e-9)
            ahead = max(LATER * tests - n, AT_LEAST * tests, 1.0)
            self._batch = max(1, int(self._left / ahead))

    def _best(
        self,
        sign: float,
        n: int,
        tests: tuple[Numbers, Numbers, Numbers],
        seen: Numbers,
        weight_bound: float,
    ) -> _Clip:
        """Return the clip with the fastest expected growth of the bet, to second order."""
        psis, g, weights = sign * tests[0], sign * tests[1], tests[2]
        lower = min(sign * self._psi.lower, sign * self._psi.upper)
        mean, square = _mean(weights * psis), self._gamma**2
        ordered, batch = np.sort(sign * seen), max(self._batch, 1)
        places = [min(int(q * len(ordered)), len(ordered) - 1) for q in QUANTILES]
        clips = dict.fromkeys(float(ordered[place]) for place in places) if self._left else ()
        found: list[_Clip] = []
        for k in (None, *clips):
            guess = spread = 0.0
            left, optimism = weights * psis, 1.0
            if k is not None:
                h = np.minimum(sign * seen, k)
                guess = _mean(h)
                spread = _mean((h - guess) ** 2) / batch
                left = weights * (psis - np.minimum(g, k))
                # Residuals of the tests that were fitted are too small.
                optimism += 2.0 * len(self._coefficients) / n
            away = left - _mean(left)
            variance = _mean(away * away) * optimism + spread
            stake = self._gamma / (variance + square)
            room = mean - guess - self._least(lower - (k or 0.0), weight_bound)
            if room > 0.0:
                stake = min(stake, LARGEST_LOSS / room)
            growth = stake * self._gamma - stake * stake * (variance + square) / 2.0
            found.append(_Clip(k or 0.0, lower, guess, variance, growth, k is None))
        return max(found, key=lambda clip: clip.growth)


def _combined(coefficients: Sequence[float], columns: Numbers) -> Numbers:
    """Return the linear combination of the rows, summed in a fixed order."""
    total: Numbers = np.zeros(columns.shape[1])
    for each, column in zip(coefficients, columns, strict=True):
        total += each * column
    return total


def _mean(values: Numbers) -> float:
    return float(np.add.reduce(values)) / len(values)


@dataclass(frozen=True)
class TwinAnytime(ControlledAnytime):
    """Stops as `anytime` does, by bets with less variance due to a simulator's answers."""

    @property
    def statement(self) -> str:
        """Return the guarantee, with the assumption about the twin."""
        return (
            f'{self.rule.statement}; {self.share:g} of the capital bets on what {self.control} '
            'leaves of psi, each test together with simulated tests of its own'
        )

    def begin(self, question: Question) -> TwinProgress:
        """Return the state of the rule before the first test."""
        return TwinProgress(question, self)


class TwinProgress(ControlledProgress):
    """L and U from z, and from u with the mean of the simulated tests."""

    def add_beside(
        self,
        total: Accumulator,
        z: float,
        bounds: Bounds,
        controlled: ControlledValue,
        could: Bounds | None = None,
    ) -> None:
        """Add one test (see ControlledProgress)."""
        if self.reached:
            return
        assert isinstance(controlled, ValueByTwin)
        self._check(z, bounds)
        ends = Bounds(z, z)
        if could is not None:
            self._lost = True
            ends = could.around(z)
        bet = self._first_bet(bounds)
        self._bet_by_sides(ends, bounds, bet.stake, controlled.sides)
        bet.learn(z)
        self._conclude(total)

    def miss_beside(self, total: Accumulator, could: Bounds, predicted: Predictable) -> None:
        """Add a case without a value (see ControlledProgress)."""
        if self.reached:
            return
        assert isinstance(predicted, PredictedByTwin)
        self._lost = True
        bounds = self._question.bounds
        self._bet_by_sides(could, bounds, self._first_bet(bounds).stake, predicted.sides)
        self._conclude(total)

    def _bet_by_sides(
        self, ends: Bounds, bounds: Bounds, stake: float, sides: tuple[Side, Side]
    ) -> None:
        whole = self._question.bounds
        self._bounds_beside = _bounds_of(sides)
        if self._lower_stands:
            _stake(self._above, ends.lower, bounds.lower, stake, sides[0], whole.upper)
        if self._upper_stands:
            _stake(self._below, -ends.upper, -bounds.upper, stake, sides[1], -whole.lower)


def _stake(
    sequence: LowerSequence, z: float, bound: float, stake: float, side: Side, ceiling: float
) -> None:
    u = max(z + side.offset, side.bound) if math.isfinite(side.offset) else side.bound
    of_u = stake if side.stake is None else side.stake
    sequence.add_each(((z, stake, bound), (u, of_u, side.bound)), ceiling, (0.0, side.beside))
