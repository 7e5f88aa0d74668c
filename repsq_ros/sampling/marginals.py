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

"""Densities of one dimension, scaled to [0, 1].

All of them have the form ln f(u) = A ln u + B ln(1-u) + C u + D u^2 + constant, and so has the
ratio of two. Its maximum is found exactly, among the roots of a cubic and the ends.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from repsq_ros import special
from repsq_ros.keys import KeyedDataclass, key

EDGE = 1e-12  # distance of u from 0 and 1 where a density may be infinite

Coefficients = tuple[float, float, float, float]  # A, B, C, D


class Marginal(Protocol):
    """A density on [0, 1]."""

    @property
    def coefficients(self) -> Coefficients:
        """A, B, C, D of its logarithm."""

    @property
    def log_constant(self) -> float:
        """Return the constant of its logarithm."""

    def inverse(self, v: float) -> float:
        """Return the quantile: the u with probability v below it."""

    def describe(self) -> dict[str, object]:
        """Return type and shapes as plain values, for the contract and its digest."""


@dataclass(frozen=True)
class Uniform(KeyedDataclass, type='uniform'):
    """f(u) = 1."""

    coefficients = (0.0, 0.0, 0.0, 0.0)
    log_constant = 0.0

    def inverse(self, v: float) -> float:
        """Return the quantile."""
        return v


@dataclass(frozen=True)
class Beta(KeyedDataclass, type='beta'):
    """f(u) = u^(a-1) (1-u)^(b-1) / B(a, b), with shapes a, b > 0."""

    a: float = field(metadata=key('shape at the lower end', above=0))
    b: float = field(metadata=key('shape at the upper end', above=0))

    @property
    def coefficients(self) -> Coefficients:
        """A, B, C, D of its logarithm."""
        return (self.a - 1.0, self.b - 1.0, 0.0, 0.0)

    @property
    def log_constant(self) -> float:
        """Return -ln B(a, b)."""
        return -float(special.betaln(self.a, self.b))

    def inverse(self, v: float) -> float:
        """Return the quantile, at least 1e-12 from both ends."""
        return min(max(float(special.betaincinv(self.a, self.b, v)), EDGE), 1.0 - EDGE)


@dataclass(frozen=True)
class TruncatedNormal(KeyedDataclass, type='truncated_normal'):
    """A normal density cut to [0, 1].

    :param mean: of the normal before truncation, in u; may be outside [0, 1]
    :param sd: standard deviation before truncation, > 0
    """

    mean: float = field(
        metadata=key("mean before truncation to the range, in the dimension's unit")
    )
    sd: float = field(metadata=key('standard deviation before truncation to the range', above=0))

    @property
    def coefficients(self) -> Coefficients:
        """A, B, C, D of its logarithm."""
        square = self.sd**2
        return (0.0, 0.0, self.mean / square, -0.5 / square)

    @property
    def log_constant(self) -> float:
        """Return -ln of the integral of the exponential part."""
        low, high = self._ends()
        reach = abs(self.mean / self.sd)
        if high <= low or reach > 1e150:
            return math.inf  # no probability is left in [0, 1]
        return -math.log(math.sqrt(2.0 * math.pi) * self.sd * (high - low)) - 0.5 * reach**2

    def _ends(self) -> tuple[float, float]:
        # Use the tail nearer to 0: close to 1, differences of the cdf lose digits.
        a, b = -self.mean / self.sd, (1.0 - self.mean) / self.sd
        ends = (a, b) if a <= 0 else (-b, -a)
        return float(special.ndtr(ends[0])), float(special.ndtr(ends[1]))

    def inverse(self, v: float) -> float:
        """Return the quantile."""
        low, high = self._ends()
        if self.mean >= 0.0:
            u = self.mean + self.sd * float(special.ndtri(low + v * (high - low)))
        else:
            u = self.mean - self.sd * float(special.ndtri(high - v * (high - low)))
        return min(max(u, 0.0), 1.0)


def log_density(marginal: Marginal, u: float) -> float:
    """Return ln f(u) for u in [0, 1]; +inf where the density is infinite, -inf where it is 0."""
    a, b, c, d = marginal.coefficients
    value = marginal.log_constant + c * u + d * u * u
    for power, base in ((a, u), (b, 1.0 - u)):
        if power != 0.0:
            value += power * math.log(base) if base > 0.0 else math.copysign(math.inf, -power)
    return value


def log_largest_ratio(p: Marginal, q: Marginal) -> float:
    """Return ln of the largest p(u)/q(u) on [0, 1]; +inf where it is unbounded."""
    a, b, c, d = (x - y for x, y in zip(p.coefficients, q.coefficients, strict=True))
    if a < 0.0 or b < 0.0:
        return math.inf

    def ratio(u: float) -> float:
        value = c * u + d * u * u
        if a:
            value += a * math.log(u)
        if b:
            value += b * math.log1p(-u)
        return value

    # Zeros of the derivative a/u - b/(1-u) + c + 2 d u, multiplied by u (1-u).
    roots = np.roots([-2.0 * d, 2.0 * d - c, c - a - b, a])
    candidates = [float(root.real) for root in roots if abs(root.imag) < 1e-9]
    candidates = [u for u in candidates if 0.0 < u < 1.0]
    candidates += ([0.0] if not a else []) + ([1.0] if not b else [])
    return p.log_constant - q.log_constant + max(map(ratio, candidates))
