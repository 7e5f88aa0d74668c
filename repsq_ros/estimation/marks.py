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

"""Capital of bets about the side of fixed values (marks) on which r* lies.

Betting as in betting.py, at marks that are known before the first test.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from repsq_ros.estimation.betting import CAPS, Bet, Numbers


class CapitalAtMarks:
    """K+(m) at each mark m: evidence for r* > m.

    P(K+(r*) >= threshold at any n) <= 1 / threshold. For the other side, use -z and -m.

    :param marks: shape (marks,) [unit of psi]
    """

    def __init__(self, marks: Numbers, threshold: float) -> None:
        self._marks, self._wanted = marks, math.log(threshold)
        self._caps = np.array(CAPS)[:, None]
        self._logs = np.zeros((len(CAPS), marks.size))  # ln K+ of each cap at each mark
        # marks whose capital has reached the threshold
        self.passed: NDArray[np.bool_] = np.zeros(marks.size, dtype=np.bool_)

    def add(self, z: float | Numbers, stake: Numbers, lower: float) -> None:
        """Add one value.

        :param z: a number, or one for each mark
        :param stake: at each mark, from past values only [1 / unit of psi]
        :param lower: lower bound of z, known before it was drawn
        """
        with np.errstate(divide='ignore'):
            capped = np.minimum(stake, self._caps / np.maximum(self._marks - lower, 0.0))
        self._logs += np.log1p(capped * (z - self._marks))
        mean = np.logaddexp(self._logs[0], self._logs[1]) - math.log(2.0)
        self.passed |= mean >= self._wanted


def stake_towards(bet: Bet[float] | Bet[Numbers], marks: float | Numbers, gap: float) -> Numbers:
    """Return the stake that separates the current mean from each mark.

    :param gap: smallest distance that the bet aims at [unit of psi]
    """
    distance = np.maximum(np.abs(bet.mean - marks), gap)
    stake: Numbers = distance / (bet.variance + distance * distance)
    return stake
