"""Means of many campaigns side by side, each as its Accumulator would have it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
SPLIT = 134217729.0  # 2^27 + 1 (Dekker 1971)


class Means:
    """Means of as many values of each campaign, rounded once.

    Each sum is kept as two floats, the second one what the first has lost (Knuth's two-sum), and
    the division is corrected by its own remainder (Dekker's product): about 2^-104 of the mean is
    lost, which is to an exact sum, rounded once, as good as nothing.

    :param runs: number of campaigns
    """

    def __init__(self, runs: int) -> None:
        self.n = 0
        self._sum: Numbers = np.zeros(runs)
        self._lost: Numbers = np.zeros(runs)

    def add(self, z: Numbers) -> None:
        """Take in one finite value of each campaign, shape (runs,)."""
        self.n += 1
        total = self._sum + z
        added = total - self._sum
        self._lost += (self._sum - (total - added)) + (z - added)
        self._sum = total

    @property
    def mean(self) -> Numbers:
        """Mean of each campaign, shape (runs,)."""
        quotient = self._sum / self.n
        product = quotient * self.n
        large = quotient * SPLIT
        high = large - (large - quotient)
        missing = (high * self.n - product) + (quotient - high) * self.n
        found: Numbers = quotient + ((self._sum - product) - missing + self._lost) / self.n
        return found

    def keep(self, rows: NDArray[np.bool_]) -> None:
        """Go on with some of the campaigns alone."""
        self._sum, self._lost = self._sum[rows], self._lost[rows]
