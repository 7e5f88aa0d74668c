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

"""A regression on earlier tests as control variate, without a simulator.

All sums are in a fixed order and without a linear algebra library, so that online nodes,
replay and simulation agree to the last bit on every machine.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

from repsq_ros.estimation.control import (
    ControlledValue,
    CountedCase,
    Predictable,
    controlled_bounds,
)
from repsq_ros.estimation.stopping import Bounds

FIRST = 8  # tests before the first fit
LARGEST_LOSS = 0.99  # share of the capital that a bet may lose (the wider cap of betting.CAPS)
SHARES = tuple(k / 10 for k in range(11))  # candidate shares of the fit


class Basis(Protocol):
    """Functions of a case with known means under the target; the first one is 1."""

    @property
    def means(self) -> tuple[float, ...]:
        """E_p of each function."""

    @property
    def penalties(self) -> tuple[float, ...]:
        """Ridge penalty of each coefficient, in tests."""

    def values(self, x: Sequence[float]) -> list[float]:
        """Return the value of each function at a case."""

    def span(self, coefficients: Sequence[float]) -> tuple[float, float]:
        """Return bounds of the combination of all functions on all cases."""


class Ridge:
    """Sums over the tests so far, and the coefficients of least squares with penalties."""

    def __init__(self, penalties: Sequence[float]) -> None:
        size = len(penalties)
        self._penalties = penalties
        self.n = 0
        self.squares = [[0.0] * (row + 1) for row in range(size)]  # sum w^2 f_i f_j, j <= i
        self.products = [0.0] * size  # sum w^2 psi f_i

    def learn(self, values: Sequence[float], psi: float, weight: float) -> None:
        """Add one test by the values of its functions."""
        square = weight * weight
        for i, value in enumerate(values):
            scaled, row = square * value, self.squares[i]
            for j in range(i + 1):
                row[j] += scaled * values[j]
            self.products[i] += scaled * psi
        self.n += 1

    def solve(self) -> list[float]:
        """Solve the normal equations with the penalties, by Cholesky's decomposition."""
        size = len(self.products)
        # A small ridge on the whole diagonal: a table's cases may make functions collinear.
        least = 1e-9 * (1.0 + self.squares[0][0])
        lower: list[list[float]] = []
        for i in range(size):
            row: list[float] = []
            for j in range(i + 1):
                rest = self.squares[i][j] - dot(row[:j], lower[j][:j] if j < i else row[:j])
                if j < i:
                    row.append(rest / lower[j][j])
                else:
                    row.append(math.sqrt(max(rest + self._penalties[i] + least, least)))
            lower.append(row)
        solved: list[float] = []
        for i in range(size):
            solved.append((self.products[i] - dot(lower[i][:i], solved)) / lower[i][i])
        for i in reversed(range(size)):
            column = [lower[k][i] for k in range(i + 1, size)]
            solved[i] = (solved[i] - dot(column, solved[i + 1 :])) / lower[i][i]
        return solved


class RegressionControl:
    """g = share times the ridge regression of psi on the basis, from the tests so far.

    The fit minimizes sum w^2 (psi - g)^2 plus penalties. Of eleven shares from 0 to 1, the one
    with the fastest expected growth of the bet is used: a larger share reduces the spread of v
    but widens its range.

    :param psi: range M of psi
    :param unweighted: every weight is 1
    """

    def __init__(self, basis: Basis, psi: Bounds, gamma: float, unweighted: bool) -> None:
        self._basis, self._psi, self._gamma, self._unweighted = basis, psi, gamma, unweighted
        size = len(basis.means)
        self._ridge, self._fit_at = Ridge(basis.penalties), FIRST
        self._sums = [0.0] * size  # sum w f_i
        self._psi_square = self._psi_sum = 0.0  # sum w^2 psi^2, sum w psi
        self._set([0.0] * size)

    def _set(self, coefficients: list[float]) -> None:
        self._coefficients = coefficients
        self._mean = dot(coefficients, self._basis.means)
        self._span = Bounds(*self._basis.span(coefficients))

    def count(self, test: CountedCase) -> ControlledValue:
        """Return v from the current fit, then learn."""
        values = self._basis.values(test.x)
        g, before = dot(self._coefficients, values), self._predict(test, values)
        found = ControlledValue(
            before.offset, before.bounds, test.weight * (test.psi - g) + self._mean
        )
        self._learn(test, values)
        return found

    def predict(self, test: CountedCase) -> Predictable:
        """Return what the current fit predicts of v."""
        return self._predict(test, self._basis.values(test.x))

    def _predict(self, test: CountedCase, values: list[float]) -> Predictable:
        bounds = controlled_bounds(
            self._psi, self._span, self._mean, test.weight_bound, self._unweighted
        )
        weight = test.weight if test.weight >= 0.0 else math.nan
        return Predictable(self._mean - weight * dot(self._coefficients, values), bounds)

    def _learn(self, test: CountedCase, values: list[float]) -> None:
        weight, psi = test.weight, test.psi
        square = weight * weight
        self._ridge.learn(values, psi, weight)
        for i, value in enumerate(values):
            self._sums[i] += weight * value
        self._psi_square += square * psi * psi
        self._psi_sum += weight * psi
        n = self._ridge.n
        if n >= self._fit_at:
            self._fit_at = n + max(1, n // 20)
            self._fit(test.weight_bound)

    def _fit(self, weight_bound: float) -> None:
        full = self._ridge.solve()
        best = max(SHARES, key=lambda share: self._growth(share, full, weight_bound))
        self._set([best * each for each in full])

    def _growth(self, share: float, full: list[float], weight_bound: float) -> float:
        """Return the growth rate of the slower of the two bets, to second order."""
        n, gamma = self._ridge.n, self._gamma
        coefficients = [share * each for each in full]
        mean = dot(coefficients, self._basis.means)
        # Residuals of the tests that were fitted are too small.
        optimism = 1.0 + 2.0 * share * len(full) / n
        square = self._psi_square - 2.0 * dot(coefficients, self._ridge.products)
        square += self._quadratic(coefficients)
        away = (self._psi_sum - dot(coefficients, self._sums)) / n
        variance = max(square / n - away * away, 0.0) * optimism
        low, high = self._basis.span(coefficients)
        bounds = controlled_bounds(
            self._psi, Bounds(low, high), mean, weight_bound, self._unweighted
        )
        least = math.inf
        for room in (self._psi_sum / n - bounds.lower, bounds.upper - self._psi_sum / n):
            stake = gamma / (variance + gamma * gamma)
            if room > 0.0:
                stake = min(stake, LARGEST_LOSS / room)
            grows = stake * gamma - stake * stake * (variance + gamma * gamma) / 2.0
            least = min(least, grows)
        return least

    def _quadratic(self, c: list[float]) -> float:
        total = 0.0
        for i, row in enumerate(self._ridge.squares):
            total += c[i] * (2.0 * dot(c[:i], row[:i]) + row[i] * c[i])
        return total


def dot(a: Sequence[float], b: Sequence[float]) -> float:
    """Return the product of two vectors, summed in order."""
    total = 0.0  # not sum(): it rounds differently from Python 3.12 on
    for x, y in zip(a, b, strict=True):
        total += x * y
    return total
