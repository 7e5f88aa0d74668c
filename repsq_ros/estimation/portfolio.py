"""The `anytime` rule beside a control variate: bets on z and on v, the capital shared by both."""

from __future__ import annotations

from dataclasses import dataclass

from repsq_ros.estimation.accumulator import Accumulator
from repsq_ros.estimation.anytime import Anytime, AnytimeProgress
from repsq_ros.estimation.betting import Bet
from repsq_ros.estimation.control import Controlled
from repsq_ros.estimation.forecast import tests_to_distance
from repsq_ros.estimation.stopping import Bounds, Question, Validity


@dataclass(frozen=True)
class ControlledAnytime:
    """Stops as `anytime` does, around the mean of v_1..v_n (see control.py).

    For each candidate mean and side K = (K_z + K_v)/2: both are test martingales of the same
    hypothesis, so that their mean is one, and at most ln 2 of either is lost.
    """

    control: str  # what v is made of, in words

    name = 'anytime'
    sides = ''
    validity = Validity.ANY_N

    @property
    def statement(self) -> str:
        """Say what holds."""
        return (
            f'{Anytime.statement}; the estimate is the mean of v = w (psi - g(x)) + E[g], where g '
            f'is {self.control}, fixed before each draw, and half of the capital bets on v'
        )

    def begin(self, question: Question) -> ControlledProgress:
        """Begin a campaign."""
        return ControlledProgress(question)


class ControlledProgress(AnytimeProgress):
    """L and U from z and v together."""

    def __init__(self, question: Question) -> None:
        super().__init__(question, tracks=2)
        self._bet_beside: Bet | None = None
        self._bounds_beside = question.bounds

    def add_beside(
        self, total: Accumulator, z: float, bounds: Bounds, controlled: Controlled
    ) -> None:
        """Take in one test.

        :param total: of v, this one included
        :param bounds: of z, known before it was drawn
        """
        if self.reached:
            return
        v, around = controlled.value, controlled.bounds
        if self._bet is None or self._bet_beside is None:
            self._bet = Bet(self._question.gamma, bounds.lower, bounds.upper)
            self._bet_beside = Bet(self._question.gamma, around.lower, around.upper)
        self._check(z, bounds)
        self._check(v, around)
        stakes, whole = (self._bet.stake, self._bet_beside.stake), self._question.bounds
        if self._lower_stands:
            self._above.add_each(
                ((z, stakes[0], bounds.lower), (v, stakes[1], around.lower)), whole.upper
            )
        if self._upper_stands:
            self._below.add_each(
                ((-z, stakes[0], -bounds.upper), (-v, stakes[1], -around.upper)), -whole.lower
            )
        self._bet.learn(z)
        self._bet_beside.learn(v)
        self._bounds_beside = around
        self._conclude(total)

    def expected_n(self, total: Accumulator) -> int:
        """Return n at the stop if v's mean, variance and bounds stay as they are."""
        if total.n < 2:
            return 0
        question = self._question
        return self._forecast.get(
            total.n,
            lambda: tests_to_distance(
                total.mean, total.variance, self._bounds_beside, question.gamma, question.c / 2.0
            ),
        )
