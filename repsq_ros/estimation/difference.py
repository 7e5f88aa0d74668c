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

"""The difference of two means by one bet: an interval that is valid at any number of pairs.

d_i = z_i^A - z_i^B has the mean r*_A - r*_B, whatever cases the two had. With the same case, it
varies less than with two cases, since the case's own effect on psi cancels. Betting as in
betting.py.
"""

from __future__ import annotations

import enum
import math

from repsq_ros.estimation.betting import Bet, LowerSequence
from repsq_ros.estimation.stopping import Bounds


class Verdict(enum.Enum):
    """The conclusion of an interval about the difference A - B."""

    A_LOWER = 'A lower'
    B_LOWER = 'B lower'
    WITHIN = 'within the margin'
    OPEN = 'open'


class MeanDifference:
    """P(the mean difference leaves [lower, upper] at any number of pairs) <= c.

    The bet aims at the present difference, b_t = a_t / (var + a_t^2) with a_t the larger of
    |mean of earlier pairs| and `aim`: the size of the difference need not be known beforehand.

    :param bounds: of every d [unit of psi]
    :param aim: the smallest difference that matters [unit of psi], > 0
    :param spread: assumed sd of a difference for the first bet, as a share of half its range
    """

    def __init__(self, bounds: Bounds, aim: float, c: float, spread: float = 1.0) -> None:
        self._aim, self._spread = aim, spread
        self._above = LowerSequence(aim, 2.0 / c, bounds.lower)
        self._below = LowerSequence(aim, 2.0 / c, -bounds.upper)
        self._bounds = bounds
        self._bet: Bet[float] | None = None
        self._values: list[float] = []
        self._sum = 0.0
        self.n = 0  # with pairs that lost an attempt
        self.broken = ''  # why nothing can be claimed any more; '': still valid

    @property
    def lower(self) -> float:
        """Lower end of the interval [unit of psi]."""
        return -math.inf if self.broken else self._above.bound

    @property
    def upper(self) -> float:
        """Upper end of the interval [unit of psi]."""
        return math.inf if self.broken else -self._below.bound

    @property
    def mean(self) -> float:
        """Mean difference of the pairs without a loss; NaN without pairs."""
        return math.fsum(self._values) / len(self._values) if self._values else math.nan

    def add(self, least: float, most: float, bounds: Bounds) -> None:
        """Add one pair.

        :param least: the difference, or its lowest possible value if an attempt was lost
        :param most: the same, with the highest possible value
        :param bounds: of this pair's difference, known before its case was drawn
        """
        self.n += 1
        if self._bet is None:
            middle, half = (bounds.lower + bounds.upper) / 2.0, self._spread * bounds.width / 2.0
            self._bet = Bet(self._aim, middle - half, middle + half, 0.0)
        if not (bounds.hold(least) and bounds.hold(most)):
            self.broken = self.broken or (
                f'pair {self.n}: a difference in [{least:.6g}, {most:.6g}] is outside its bounds '
                f'[{bounds.lower:.6g}, {bounds.upper:.6g}]'
            )
            return
        aim = max(self._aim, abs(self._sum / (len(self._values) + 1.0)))
        stake = aim / (self._bet.variance + aim * aim)
        self._above.add(least, stake, bounds.lower, self._bounds.upper)
        self._below.add(-most, stake, -bounds.upper, -self._bounds.lower)
        if least == most:
            self._bet.learn(least)
            self._values.append(least)
            self._sum += least
        if self._above.bound > -self._below.bound:
            self.broken = f'after {self.n} pairs the interval is empty: the difference drifts'

    def verdict(self, margin: float = 0.0) -> Verdict:
        """Return the conclusion; at any time, it is true with probability 1 - c.

        :param margin: the largest difference that does not matter; 0: every difference matters
        """
        if margin > 0.0 and -margin <= self.lower and self.upper <= margin:
            return Verdict.WITHIN
        if self.upper < 0.0:
            return Verdict.A_LOWER
        return Verdict.B_LOWER if self.lower > 0.0 else Verdict.OPEN
