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

"""Functions of a case with known means under the target: the regressors of a control."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction

from repsq_ros.sampling.distributions import Distribution
from repsq_ros.sampling.polynomial_moments import HIGHEST, POWERS, legendre, product_means

PIECES = 4  # pieces of [0, 1]; Bernstein coefficients bound a polynomial on each


def _bernstein() -> tuple[tuple[float, ...], ...]:
    """Return rows that turn coefficients of P_1..P_4 into those of Bernstein's form, by pieces.

    On the piece [a, a + h] with u = a + h t, sum_j c_j u^j has the power coefficients
    d_i = h^i sum_{j >= i} c_j C(j, i) a^(j-i) in t, and its Bernstein coefficients of degree n are
    b_k = sum_{i <= k} d_i C(k, i) / C(n, i). The smallest and largest b_k bound the polynomial.
    """
    rows, h = [], Fraction(1, PIECES)
    for piece, k in itertools.product(range(PIECES), range(HIGHEST + 1)):
        a = piece * h
        row = []
        for power in POWERS[1:]:
            shifted = [
                h**i * sum(power[j] * math.comb(j, i) * a ** (j - i) for j in range(i, len(power)))
                for i in range(len(power))
            ]
            row.append(
                float(
                    sum(
                        d * math.comb(k, i) / Fraction(math.comb(HIGHEST, i))
                        for i, d in enumerate(shifted[: k + 1])
                    )
                )
            )
        rows.append(tuple(row))
    return tuple(rows)


class LegendreBasis:
    """1, P_1..P_degree of each dimension, and optionally products of two dimensions' P_1.

    :raises ValueError: means under the target are not known
    """

    def __init__(self, target: Distribution, degree: int, interactions: bool) -> None:
        self._box = target.box
        dimensions = len(self._box.dimensions)
        none = (0,) * dimensions

        def one(dimension: int, power: int) -> tuple[int, ...]:
            return (*none[:dimension], power, *none[dimension + 1 :])

        alone = [one(d, k) for d in range(dimensions) for k in range(1, degree + 1)]
        pairs = [
            tuple(a + b for a, b in zip(one(i, 1), one(j, 1), strict=True))
            for i, j in itertools.combinations(range(dimensions), 2)
            if interactions
        ]
        self._degree, self._alone = degree, len(alone)
        self._pairs = [tuple(d for d, k in enumerate(term) if k) for term in pairs]
        terms = (none, *alone, *pairs)
        means = product_means(target, terms)
        if means is None:
            raise ValueError('the means of polynomials under this target are not known')
        self.means = tuple(means)
        # Mean square under a uniform target times the degree: rougher terms are penalized more.
        self.penalties = tuple(sum(term) / math.prod(2 * k + 1 for k in term) for term in terms)
        self._rows = [row[:degree] for row in _bernstein()]

    def values(self, x: Sequence[float]) -> list[float]:
        """Return the value of each function at a case."""
        each = [legendre(u) for u in self._box.to_unit(x)]
        found = [1.0]
        for powers in each:
            found += powers[1 : self._degree + 1]
        found += [each[a][1] * each[b][1] for a, b in self._pairs]
        return found

    def span(self, coefficients: Sequence[float]) -> tuple[float, float]:
        """Return bounds of the combination of all functions on the whole box."""
        low = high = coefficients[0]
        for begin in range(1, self._alone + 1, self._degree):
            part = coefficients[begin : begin + self._degree]
            ends = [math.fsum(r * c for r, c in zip(row, part, strict=True)) for row in self._rows]
            low, high = low + min(ends), high + max(ends)
        rest = math.fsum(map(abs, coefficients[self._alone + 1 :]))
        return low - rest, high + rest
