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

"""Target densities p on a box X; proposals q are built from them, too."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from repsq_ros.sampling.box import Box
from repsq_ros.sampling.marginals import Marginal, Uniform, log_density


class Distribution(Protocol):
    """What a target density provides, also a user's own class (which gets a `describe`)."""

    @property
    def box(self) -> Box:
        """Return the support, or a box around it."""

    def sample(self, generator: np.random.Generator) -> tuple[float, ...]:
        """Draw one case, in the units of the dimensions."""

    def logpdf(self, x: Sequence[float]) -> float:
        """Return ln p(x); -inf outside the support. For discrete cases: ln of the probability."""

    def describe(self) -> dict[str, object]:
        """Return type and numbers as plain values, for the contract and its digest."""


class FromUniform(Distribution, Protocol):
    """A distribution that maps uniform numbers to a case, so that Sobol points work, too."""

    @property
    def uniforms(self) -> int:
        """Number of uniform numbers per case."""

    def from_uniform(self, v: Sequence[float]) -> tuple[float, ...]:
        """Map numbers in [0, 1) to a case."""


@dataclass(frozen=True)
class Product:
    """Independent dimensions: p(x) = prod_d f_d(u_d) / (upper_d - lower_d)."""

    box: Box
    marginals: tuple[Marginal, ...]

    @property
    def uniforms(self) -> int:
        """Number of uniform numbers per case."""
        return len(self.marginals)

    def from_uniform(self, v: Sequence[float]) -> tuple[float, ...]:
        """Map numbers in [0, 1) to a case."""
        return self.box.from_unit(
            [m.inverse(float(each)) for m, each in zip(self.marginals, v, strict=True)]
        )

    def sample(self, generator: np.random.Generator) -> tuple[float, ...]:
        """Draw one case."""
        return self.from_uniform(generator.random(self.uniforms).tolist())

    def logpdf(self, x: Sequence[float]) -> float:
        """Return ln p(x); -inf outside the box."""
        if not self.box.contains(x):
            return -math.inf
        inside = [
            # u is clipped as in drawing, so that the density is finite.
            log_density(m, min(max(u, 1e-12), 1.0 - 1e-12))
            for m, u in zip(self.marginals, self.box.to_unit(x), strict=True)
        ]
        return sum(inside) - self.box.log_volume

    def describe(self) -> dict[str, object]:
        """Return each dimension's marginal with its shapes, by name."""
        names = self.box.names
        return {
            'type': 'product',
            'marginals': {
                name: m.describe() for name, m in zip(names, self.marginals, strict=True)
            },
        }


def uniform(box: Box) -> Product:
    """Return the uniform density on a box: p(x) = 1 / prod_d (upper_d - lower_d)."""
    return Product(box, (Uniform(),) * len(box.dimensions))


@dataclass(frozen=True)
class Cases:
    """A table of cases with probabilities: a grid, or cases observed in the field.

    `logpdf` is ln of the probability of a case; equal cases must be merged.

    :raises ValueError: no case, a case twice, a probability that is not > 0
    """

    box: Box
    points: tuple[tuple[float, ...], ...]
    weights: tuple[float, ...]  # > 0, in any unit
    _places: dict[tuple[float, ...], int] = field(init=False, repr=False, compare=False)
    _cumulative: tuple[float, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check the weights and prepare their sums for drawing."""
        places = {point: place for place, point in enumerate(self.points)}
        if not self.points or len(places) != len(self.points):
            raise ValueError('a table of cases needs cases, each one once')
        if not all(w > 0.0 and math.isfinite(w) for w in self.weights):
            raise ValueError('the weight of a case must be > 0')
        total = math.fsum(self.weights)
        cumulative = np.cumsum(np.array(self.weights) / total)
        object.__setattr__(self, '_places', places)
        object.__setattr__(self, '_cumulative', cumulative)

    uniforms = 1

    def from_uniform(self, v: Sequence[float]) -> tuple[float, ...]:
        """Map a number in [0, 1) to a case."""
        place = int(np.searchsorted(self._cumulative, v[0], side='right'))
        return self.points[min(place, len(self.points) - 1)]

    def sample(self, generator: np.random.Generator) -> tuple[float, ...]:
        """Draw one case."""
        return self.from_uniform([generator.random()])

    def logpdf(self, x: Sequence[float]) -> float:
        """Return ln of the probability of a case; -inf for any other case."""
        place = self._places.get(tuple(x))
        if place is None:
            return -math.inf
        return math.log(self.weights[place] / math.fsum(self.weights))

    def describe(self) -> dict[str, object]:
        """Return all cases with weights, since both labs have to draw from the same table."""
        return {
            'type': 'cases',
            'points': [list(point) for point in self.points],
            'weights': list(self.weights),
        }


def is_table(distribution: object) -> bool:
    """Tell whether a distribution has probabilities of cases instead of a density."""
    if isinstance(distribution, Mixture):
        return is_table(distribution.parts[0])
    return isinstance(distribution, Cases)


@dataclass(frozen=True)
class Mixture:
    """p = sum_k share_k p_k, the shares adding up to 1."""

    parts: tuple[FromUniform, ...]
    shares: tuple[float, ...]

    @property
    def box(self) -> Box:
        """Return the box of its parts."""
        return self.parts[0].box

    @property
    def uniforms(self) -> int:
        """Number of uniform numbers per case: the first one selects the part."""
        return 1 + max(part.uniforms for part in self.parts)

    def from_uniform(self, v: Sequence[float]) -> tuple[float, ...]:
        """Map numbers in [0, 1) to a case."""
        place, passed = 0, self.shares[0]
        while v[0] >= passed and place < len(self.parts) - 1:
            place += 1
            passed += self.shares[place]
        part = self.parts[place]
        return part.from_uniform(v[1 : 1 + part.uniforms])

    def sample(self, generator: np.random.Generator) -> tuple[float, ...]:
        """Draw one case."""
        return self.from_uniform(generator.random(self.uniforms).tolist())

    def logpdf(self, x: Sequence[float]) -> float:
        """Return ln p(x)."""
        logs = [
            math.log(share) + part.logpdf(x)
            for share, part in zip(self.shares, self.parts, strict=True)
        ]
        highest = max(logs)
        if math.isinf(highest):
            return highest
        return highest + math.log(math.fsum(math.exp(log - highest) for log in logs))

    def describe(self) -> dict[str, object]:
        """Return the shares and the descriptions of the parts, in their order."""
        return {
            'type': 'mixture',
            'shares': list(self.shares),
            'parts': [part.describe() for part in self.parts],
        }
