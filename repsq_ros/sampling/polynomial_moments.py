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

"""Means of polynomials under a target density, exact up to rounding."""

from __future__ import annotations

import math

import numpy as np

from repsq_ros.sampling.distributions import Cases, Distribution, Mixture, Product
from repsq_ros.sampling.marginals import Beta, Marginal, TruncatedNormal, Uniform

HIGHEST = 4  # highest degree of the polynomials
PANELS, NODES = 40, 20  # quadrature of a truncated normal density, exact up to rounding
NEGLIGIBLE = 50.0  # where ln f is this far below its maximum, the density is ignored


def legendre(u: float) -> list[float]:
    """Return P_0..P_4 of 2u - 1: Legendre polynomials on [0, 1], with values in [-1, 1]."""
    v = 2.0 * u - 1.0
    s = v * v
    return [
        1.0,
        v,
        (3.0 * s - 1.0) / 2.0,
        (5.0 * s - 3.0) * v / 2.0,
        ((35.0 * s - 30.0) * s + 3.0) / 8.0,
    ]


# Coefficients of P_k(2u - 1) in powers of u.
POWERS = tuple(
    tuple((-1) ** (k + j) * math.comb(k, j) * math.comb(k + j, j) for j in range(k + 1))
    for k in range(HIGHEST + 1)
)


def legendre_means(marginal: Marginal) -> list[float] | None:
    """Return E[P_0]..E[P_4] under a density on [0, 1]; None if they are not known."""
    if isinstance(marginal, Uniform):
        return [1.0] + [0.0] * HIGHEST
    if isinstance(marginal, Beta):
        a, b = marginal.a, marginal.b
        powers = [1.0]
        for k in range(HIGHEST):
            powers.append(powers[-1] * ((a + k) / (a + b + k)))
        return [math.fsum(c * m for c, m in zip(row, powers, strict=False)) for row in POWERS]
    if isinstance(marginal, TruncatedNormal):
        return _by_quadrature(marginal)
    return None


def _by_quadrature(marginal: TruncatedNormal) -> list[float]:
    """Integrate over the part with density; the normalization constant cancels."""
    mean, sd = marginal.mean, marginal.sd
    nearest = min(max(mean, 0.0), 1.0) - mean
    reach = math.sqrt(nearest**2 + 2.0 * NEGLIGIBLE * sd**2)
    edges = np.linspace(max(mean - reach, 0.0), min(mean + reach, 1.0), PANELS + 1)
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    half = np.diff(edges)[:, None] / 2.0
    u = (edges[:-1, None] + half + half * nodes).ravel()
    mass = (half * weights * np.ones((PANELS, 1))).ravel()
    mass = mass * np.exp(-((u - mean) ** 2 - nearest**2) / (2.0 * sd**2))
    whole = math.fsum(mass)
    each = [legendre(value) for value in u.tolist()]
    return [
        math.fsum(m * p[k] for m, p in zip(mass.tolist(), each, strict=True)) / whole
        for k in range(HIGHEST + 1)
    ]


def product_means(target: Distribution, terms: tuple[tuple[int, ...], ...]) -> list[float] | None:
    """Return E_p of prod_d P_{k_d}(x_d on [0, 1]) for each term k; None if it is not known.

    :param terms: one degree per dimension, at most 4
    """
    if isinstance(target, Mixture):
        parts = [product_means(part, terms) for part in target.parts]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        return [
            math.fsum(
                share * part[place] for share, part in zip(target.shares, known, strict=True)
            )
            for place in range(len(terms))
        ]
    if isinstance(target, Cases):
        whole = math.fsum(target.weights)
        values = [[legendre(u) for u in target.box.to_unit(point)] for point in target.points]
        return [
            math.fsum(
                w / whole * math.prod(p[k] for p, k in zip(case, term, strict=True))
                for w, case in zip(target.weights, values, strict=True)
            )
            for term in terms
        ]
    if isinstance(target, Product):
        each = [legendre_means(marginal) for marginal in target.marginals]
        if any(means is None for means in each):
            return None
        return [
            math.prod(means[k] for means, k in zip(each, term, strict=True) if means is not None)
            for term in terms
        ]
    return None
