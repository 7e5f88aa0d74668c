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

"""The `anytime` rule with a control variate: bets on z and on v share the capital."""

from __future__ import annotations

from dataclasses import dataclass, field

from repsq_ros.estimation.accumulator import Accumulator
from repsq_ros.estimation.anytime import Anytime, AnytimeProgress
from repsq_ros.estimation.betting import Bet, LowerSequence
from repsq_ros.estimation.control import ControlledValue, Predictable
from repsq_ros.estimation.stopping import Bounds, Question, StoppingRule, Validity


@dataclass(frozen=True)
class ControlledAnytime:
    """Stops as `anytime` does, around the mean of v_1..v_n (see control.py).

    For each candidate mean and side, K = (K_z + K_v)/2. Both are test martingales of the same
    hypothesis, so their mean is one, too. Its logarithm is at most ln 2 below that of either.
    """

    control: str  # description of the control variate
    rule: Anytime = field(default_factory=Anytime)
    share: float = 0.5  # of the capital, for bets on v

    name = 'anytime'
    sides = ''
    validity = Validity.ANY_N

    @property
    def statement(self) -> str:
        """Return the guarantee, with the assumptions of the control variate."""
        return (
            f'{self.rule.statement}; the estimate is the mean of v = '
            f'w (psi - g(x)) + E[g], where g is {self.control}, fixed before each draw, and '
            f'{"half" if self.share == 0.5 else f"{self.share:g}"} of the capital bets on v'
        )

    def begin(self, question: Question) -> ControlledProgress:
        """Return the state of the rule before the first test."""
        return ControlledProgress(question, self)


def takes_middle(rule: StoppingRule) -> bool:
    """Tell whether the estimate is the interval's middle instead of the mean."""
    anytime = rule.rule if isinstance(rule, ControlledAnytime) else rule
    return isinstance(anytime, Anytime) and anytime.middle


class ControlledProgress(AnytimeProgress):
    """L and U from z and v together."""

    _above: LowerSequence
    _below: LowerSequence

    def __init__(self, question: Question, rule: ControlledAnytime) -> None:
        super().__init__(question, rule.rule, (1.0 - rule.share, rule.share))
        self._share = rule.share
        self._bet_beside: Bet[float] | None = None
        self._bounds_beside = question.bounds

    def add_beside(
        self,
        total: Accumulator,
        z: float,
        bounds: Bounds,
        controlled: ControlledValue,
        could: Bounds | None = None,
    ) -> None:
        """Add one test.

        :param total: of v, with this one
        :param bounds: of z, known before it was drawn
        :param could: range of z of the test, if an attempt was lost
        """
        if self.reached:
            return
        v = controlled.value
        bets = self._first_bets(bounds, controlled)
        self._check(z, bounds)
        self._check(v, controlled.bounds)
        ends, ends_beside = Bounds(z, z), Bounds(v, v)
        if could is not None:
            self._lost = True
            ends, ends_beside = could.around(z), controlled.shifted(could).around(v)
        self._stake_beside(bets, (ends, bounds), (ends_beside, controlled.bounds))
        bets[0].learn(z)
        bets[1].learn(v)
        self._bounds_beside = controlled.bounds
        self._conclude(total)

    def miss_beside(self, total: Accumulator, could: Bounds, predicted: Predictable) -> None:
        """Add a case that was drawn but gave no value.

        :param could: range of its z
        """
        if self.reached:
            return
        self._lost = True
        bounds = self._question.bounds
        bets = self._first_bets(bounds, predicted)
        self._stake_beside(bets, (could, bounds), (predicted.shifted(could), predicted.bounds))
        self._conclude(total)

    def _first_bets(self, bounds: Bounds, predicted: Predictable) -> tuple[Bet[float], Bet[float]]:
        if self._bet_beside is None:
            around = predicted.bounds
            self._bet_beside = Bet(
                self._question.gamma, around.lower, around.upper, 0.0, self._within
            )
        return self._first_bet(bounds), self._bet_beside

    def _stake_beside(
        self,
        bets: tuple[Bet[float], Bet[float]],
        z: tuple[Bounds, Bounds],
        v: tuple[Bounds, Bounds],
    ) -> None:
        """Bet on z and on v: the possible range of each, with its bounds before the draw."""
        pairs, whole = tuple(zip(bets, (z, v), strict=True)), self._question.bounds
        if self._lower_stands:
            self._above.add_each(
                [(can.lower, bet.stake, step.lower) for bet, (can, step) in pairs], whole.upper
            )
        if self._upper_stands:
            self._below.add_each(
                [(-can.upper, bet.stake, -step.upper) for bet, (can, step) in pairs], -whole.lower
            )

    def _betting_on(self) -> tuple[Bounds, float]:
        """Return v's bounds, and c times v's share of the capital."""
        return self._bounds_beside, self._question.c * self._share
