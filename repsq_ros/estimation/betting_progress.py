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

"""Common part of the betting rules, independent of what they bet on."""

from __future__ import annotations

from abc import ABC, abstractmethod

from repsq_ros.estimation.accumulator import Accumulator
from repsq_ros.estimation.betting import Bet, Expected
from repsq_ros.estimation.forecast import ThrottledForecast
from repsq_ros.estimation.stopping import Bounds, Question


class BettingProgress(ABC):
    """Bets on every value; a value outside its bound voids the side that relied on that bound.

    If a test may have given several values, the lower side counts the lowest one and the upper
    side the highest one. Each capital is then at most what any of these values would give, so
    both sides stay valid.

    :param aim: distance from the mean that the first bet is made for [unit of psi]
    :param within: see Bet
    :param expected: see Bet
    """

    def __init__(
        self,
        question: Question,
        aim: float,
        within: float = 0.0,
        expected: Expected | None = None,
    ) -> None:
        self._question, self._aim, self._within = question, aim, within
        self._expected = expected
        self._bet: Bet[float] | None = None
        self._forecast = ThrottledForecast()
        self._lower_stands = self._upper_stands = True
        self.events: tuple[str, ...] = ()
        self.reached = False

    @property
    def void(self) -> bool:
        """True once a side is void: the rule cannot stop without it."""
        return not (self._lower_stands and self._upper_stands)

    def add(
        self, total: Accumulator, z: float, bounds: Bounds, could: Bounds | None = None
    ) -> None:
        """Add one value (see Progress.add)."""
        if self.reached:
            return
        bet = self._first_bet(bounds)
        self._check(z, bounds)
        ends = Bounds(z, z)
        if could is not None:
            self._note_lost(z, could)
            ends = could.around(z)
        self._stake(bet, ends.lower, ends.upper, bounds)
        bet.learn(z)
        self._conclude(total)

    def miss(self, total: Accumulator, could: Bounds) -> None:
        """Add a case without a value (see Progress.miss)."""
        if self.reached:
            return
        bounds = self._question.bounds
        self._note_missed(could)
        self._stake(self._first_bet(bounds), could.lower, could.upper, bounds)
        self._conclude(total)

    def _first_bet(self, bounds: Bounds) -> Bet[float]:
        if self._bet is None:
            self._bet = Bet(
                self._aim, bounds.lower, bounds.upper, 0.0, self._within, self._expected
            )
        return self._bet

    def _check(self, z: float, bounds: Bounds) -> None:
        """Void the sides whose bound the value violates."""
        if bounds.hold(z):
            return
        if self._upper_stands and z > bounds.upper:
            self._upper_stands = False
            self._void(f'z = {z:.6g} above its bound {bounds.upper:.6g}: {self._upper_is_void()}')
        if self._lower_stands and z < bounds.lower:
            self._lower_stands = False
            self._void(f'z = {z:.6g} below its bound {bounds.lower:.6g}: {self._lower_is_void()}')

    def _void(self, event: str) -> None:
        self.events = (*self.events, event)

    def expected_n(self, total: Accumulator) -> int:
        """Return n at the stop if mean and variance stay constant; 0: unknown."""
        if total.n < 2 or self.void:
            return 0
        return self._forecast.get(total.n, lambda: self._make_forecast(total))

    @abstractmethod
    def _note_lost(self, z: float, could: Bounds) -> None:
        """Record a value that may have been chosen among others."""

    @abstractmethod
    def _note_missed(self, could: Bounds) -> None:
        """Record a case without a value."""

    @abstractmethod
    def _stake(self, bet: Bet[float], low: float, high: float, bounds: Bounds) -> None:
        """Bet: the lower side against `low`, the upper side against `high`."""

    @abstractmethod
    def _upper_is_void(self) -> str:
        """Void the upper side, and return what that means."""

    @abstractmethod
    def _lower_is_void(self) -> str:
        """Void the lower side, and return what that means."""

    @abstractmethod
    def _conclude(self, total: Accumulator) -> None:
        """Check whether to stop, or whether nothing can be claimed any more."""

    @abstractmethod
    def _make_forecast(self, total: Accumulator) -> int:
        """Return n at the stop if mean and variance stay constant; 0: unknown."""
