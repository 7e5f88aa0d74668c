"""Target densities p on a box X."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Dimension:
    """One dimension of a test case: its name, unit (SI) and range."""

    name: str
    unit: str
    lower: float
    upper: float


@dataclass(frozen=True)
class UniformBox:
    """The uniform density on a box: p(x) = 1 / prod_d (upper_d - lower_d)."""

    dimensions: tuple[Dimension, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the dimensions, in order."""
        return tuple(dimension.name for dimension in self.dimensions)

    @property
    def units(self) -> tuple[str, ...]:
        """Units of the dimensions, in order."""
        return tuple(dimension.unit for dimension in self.dimensions)

    def sample(self, generator: np.random.Generator) -> tuple[float, ...]:
        """Draw one case x ~ p, in the units of the dimensions."""
        uniform = generator.random(len(self.dimensions))
        return tuple(
            # The clip is for the last bit: lower + u (upper - lower) may round up to upper.
            min(d.lower + float(u) * (d.upper - d.lower), d.upper)
            for d, u in zip(self.dimensions, uniform, strict=True)
        )

    def logpdf(self, x: Sequence[float]) -> float:
        """Return ln p(x); -inf outside the box."""
        if not self.contains(x):
            return -math.inf
        return -sum(math.log(d.upper - d.lower) for d in self.dimensions)

    def contains(self, x: Sequence[float]) -> bool:
        """Tell whether x lies in the box; NaN and a wrong length do not."""
        return len(x) == len(self.dimensions) and all(
            d.lower <= value <= d.upper for d, value in zip(self.dimensions, x, strict=True)
        )
