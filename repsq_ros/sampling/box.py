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

"""The box X of test cases: name, unit and range of each dimension."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from repsq_ros.keys import key


@dataclass(frozen=True)
class Dimension:
    """One dimension of a test case: its name, unit (SI) and range."""

    name: str
    unit: str = field(metadata=key('SI unit of both ends'))
    lower: float = field(metadata=key('lower end of the range'))
    upper: float = field(metadata=key('upper end of the range'))


@dataclass(frozen=True)
class Box:
    """The product of the dimensions' ranges."""

    dimensions: tuple[Dimension, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the dimensions, in order."""
        return tuple(dimension.name for dimension in self.dimensions)

    @property
    def units(self) -> tuple[str, ...]:
        """Units of the dimensions, in order."""
        return tuple(dimension.unit for dimension in self.dimensions)

    @property
    def log_volume(self) -> float:
        """Natural logarithm of the product of the ranges."""
        return sum(math.log(d.upper - d.lower) for d in self.dimensions)

    def contains(self, x: Sequence[float]) -> bool:
        """Tell whether x lies in the box; NaN and a wrong length do not."""
        return len(x) == len(self.dimensions) and all(
            d.lower <= value <= d.upper for d, value in zip(self.dimensions, x, strict=True)
        )

    def from_unit(self, u: Sequence[float]) -> tuple[float, ...]:
        """Scale a point of [0, 1]^d to the box."""
        return tuple(
            # lower + u (upper - lower) may round to more than upper.
            min(d.lower + float(each) * (d.upper - d.lower), d.upper)
            for d, each in zip(self.dimensions, u, strict=True)
        )

    def to_unit(self, x: Sequence[float]) -> tuple[float, ...]:
        """Scale a point of the box to [0, 1]^d."""
        return tuple(
            (value - d.lower) / (d.upper - d.lower)
            for d, value in zip(self.dimensions, x, strict=True)
        )
