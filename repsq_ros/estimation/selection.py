"""What lost tests can hide at worst: attempts INVALID or broken off, cases skipped.

Who decides that an attempt does not count may, at worst, have known what it would have given. So
a test that took several attempts may have given any psi of its range, and so may a case that was
skipped, each times the weight of its case.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from repsq_ros.estimation.accumulator import Accumulator
from repsq_ros.estimation.stopping import Bounds


def could_be(lower: float, upper: float, weight: float, truncation: float, step: Bounds) -> Bounds:
    """Return what z of a test can have been that nobody saw.

    :param lower: lower end of the range of psi
    :param upper: its upper end
    :param weight: of the case; where it is none (NaN, infinite, below 0) z is bounded by the step
    :param truncation: T of z' = min(z, T) [unit of psi]
    :param step: bounds of z, known before the draw
    """
    if not (math.isfinite(weight) and weight >= 0.0):
        return step
    low, high = min(lower * weight, truncation), min(upper * weight, truncation)
    # A weight above its bound breaks the promise anyway; a bet must not be ruined by it.
    return Bounds(max(low, step.lower), min(high, step.upper))


@dataclass
class Selection:
    """Running sums of what the tests that were seen may differ from those that were drawn."""

    missing: int = 0  # cases without a value
    lower: float = 0.0  # sum of (lowest z - z) over tests, and of lowest z over cases without one
    upper: float = 0.0
    square_sum: float = 0.0  # sum of squares of the largest difference

    def add(self, z: float, could: Bounds) -> None:
        """Count a test of which z may have been chosen among several values."""
        self.lower += min(could.lower - z, 0.0)
        self.upper += max(could.upper - z, 0.0)
        self.square_sum += max(could.upper - z, z - could.lower, 0.0) ** 2

    def miss(self, could: Bounds, widest: float) -> None:
        """Count a case without a value.

        :param widest: how far its z may be from the mean of the others
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
        """Return how many cases were drawn and are over."""
        return total.n + self.missing

    def means(self, total: Accumulator) -> tuple[float, float]:
        """Return the lowest and the highest mean that all cases can have had."""
        seen, cases = total.n * total.mean if total.n else 0.0, self.cases(total)
        return (seen + self.lower) / cases, (seen + self.upper) / cases

    def variance(self, total: Accumulator) -> float:
        """Return the largest mean square deviation that all cases can have had.

        The root mean square is a norm: that of the sum is at most the sum of those of what was
        seen and of what it may differ.
        """
        cases = self.cases(total)
        seen = total.variance * total.n / cases if total.n else 0.0
        return (math.sqrt(seen) + math.sqrt(self.square_sum / cases)) ** 2

    def shift(self, total: Accumulator) -> float:
        """Return how far the mean can have been shifted at most [unit of psi]; 0 without loss."""
        if not (self.some and total.n):
            return 0.0
        lowest, highest = self.means(total)
        return max(highest - total.mean, total.mean - lowest)

    def least(self, total: Accumulator, n: int) -> float:
        """Return that shift after n tests in all, should no further one be lost."""
        return self.shift(total) * self.cases(total) / (max(n, total.n) + self.missing)
