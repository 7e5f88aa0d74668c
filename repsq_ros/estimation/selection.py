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

"""The worst-case effect of lost tests: attempts INVALID or broken off, cases skipped.

In the worst case, whoever discards an attempt knows what it would have given. So a test with
several attempts may have had any psi in its range, and so may a skipped case; each times the
weight of its case.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from repsq_ros.estimation.accumulator import Accumulator
from repsq_ros.estimation.stopping import Bounds


def could_be(lower: float, upper: float, weight: float, truncation: float, step: Bounds) -> Bounds:
    """Return the range of z of a lost test.

    :param lower: lower end of the range of psi
    :param upper: its upper end
    :param weight: of the case; if invalid (NaN, infinite, negative), the step bounds z
    :param truncation: T of z' = min(z, T) [unit of psi]
    :param step: bounds of z, known before the draw
    """
    if not (math.isfinite(weight) and weight >= 0.0):
        return step
    low, high = min(lower * weight, truncation), min(upper * weight, truncation)
    # A weight above its bound breaks the promise anyway, but must not ruin the bet.
    return Bounds(max(low, step.lower), min(high, step.upper))


@dataclass
class Selection:
    """Sums of the possible differences between the tests seen and the tests drawn."""

    missing: int = 0  # cases without a value
    lower: float = 0.0  # sum of (lowest z - z) over tests, plus lowest z of cases without a value
    upper: float = 0.0
    square_sum: float = 0.0  # sum of squares of the largest differences

    def add(self, z: float, could: Bounds) -> None:
        """Count a test whose z may have been chosen among several values."""
        self.lower += min(could.lower - z, 0.0)
        self.upper += max(could.upper - z, 0.0)
        self.square_sum += max(could.upper - z, z - could.lower, 0.0) ** 2

    def miss(self, could: Bounds, widest: float) -> None:
        """Count a case without a value.

        :param widest: largest distance of its z from the mean of the others
        """
        self.missing += 1
        self.lower += could.lower
        self.upper += could.upper
        self.square_sum += widest**2

    @property
    def some(self) -> bool:
        """Tell whether anything was lost."""
        return self.missing > 0 or self.square_sum > 0.0

    def cases(self, total: Accumulator) -> int:
        """Return the number of finished cases."""
        return total.n + self.missing

    def means(self, total: Accumulator) -> tuple[float, float]:
        """Return the lowest and the highest possible mean of all cases."""
        seen, cases = total.n * total.mean if total.n else 0.0, self.cases(total)
        return (seen + self.lower) / cases, (seen + self.upper) / cases

    def variance(self, total: Accumulator) -> float:
        """Return the largest possible variance of all cases.

        By the triangle inequality, the root mean square is at most that of the seen values plus
        that of their possible differences.
        """
        cases = self.cases(total)
        seen = total.variance * total.n / cases if total.n else 0.0
        return (math.sqrt(seen) + math.sqrt(self.square_sum / cases)) ** 2

    def shift(self, total: Accumulator) -> float:
        """Return the largest possible shift of the mean [unit of psi]; 0 without loss."""
        if not (self.some and total.n):
            return 0.0
        lowest, highest = self.means(total)
        return max(highest - total.mean, total.mean - lowest)

    def least(self, total: Accumulator, n: int) -> float:
        """Return that shift after n tests in total, if no further test is lost."""
        return self.shift(total) * self.cases(total) / (max(n, total.n) + self.missing)
