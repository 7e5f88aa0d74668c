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

"""Fitting a Beta density to each dimension of weighted cases on [0, 1]^d."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from repsq_ros import special
from repsq_ros.keys import TextEnum
from repsq_ros.sampling.marginals import EDGE


class Fit(TextEnum):
    """How the shapes of beta distributions are fitted; see `fit_betas`."""

    MOMENTS = 'moments'
    MLE = 'mle'
    UNWEIGHTED = 'unweighted'


def effective_size(weights: NDArray[np.float64]) -> float:
    """Return the effective sample size (sum w)^2 / sum w^2; 0 where all are 0."""
    squares = float(np.sum(weights**2))
    return float(np.sum(weights)) ** 2 / squares if squares > 0.0 else 0.0


def fit_betas(
    u: Sequence[Sequence[float]],
    outcomes: ArrayLike,
    weights: ArrayLike,
    fit: Fit = Fit.MOMENTS,
    shapes: tuple[float, float] | None = (0.5, 1.0),
) -> list[tuple[float, float]] | None:
    """Return shapes (a, b) for each dimension, or None if the batch has no information.

    The fit aims at q* ~ psi p: cases weigh psi_i w_i (cross-entropy). `moments`: with the
    weighted mean m and variance v, corrected for the effective sample size, t = m(1-m)/v - 1,
    a = m t, b = (1-m) t. `mle`: maximum likelihood. `unweighted`: moments of the plain
    cases, which ignores psi; kept for reproduction.

    :param u: cases on [0, 1]^d, shape (n, d)
    :param outcomes: psi_i, shape (n,)
    :param weights: w_i, shape (n,)
    :param shapes: smallest and largest shape, None for no limits
    """
    points = np.clip(np.asarray(u, dtype=np.float64), EDGE, 1.0 - EDGE)
    aim = np.maximum(np.asarray(outcomes, dtype=np.float64), 0.0) * np.asarray(weights)
    if fit == Fit.UNWEIGHTED:
        aim = np.ones(len(points))
    size = effective_size(aim)
    if not size >= 2.0:
        return None
    share = aim / np.sum(aim)
    found = []
    for column in points.T:
        pair = _likeliest(column, share) if fit == Fit.MLE else _moments(column, share, size)
        if pair is None:
            return None
        if shapes is not None:
            low, high = shapes
            pair = (min(max(pair[0], low), high), min(max(pair[1], low), high))
        if not (0.0 < pair[0] < math.inf and 0.0 < pair[1] < math.inf):
            return None
        found.append(pair)
    return found


def _moments(
    column: NDArray[np.float64], share: NDArray[np.float64], size: float
) -> tuple[float, float] | None:
    mean = float(np.sum(share * column))
    variance = float(np.sum(share * (column - mean) ** 2)) * size / (size - 1.0)
    if variance <= 0.0:
        return None
    # Wider than any Beta density: use the smallest shapes, if there are limits.
    strength = max(mean * (1.0 - mean) / variance - 1.0, 0.0)
    return mean * strength, (1.0 - mean) * strength


def _likeliest(
    column: NDArray[np.float64], share: NDArray[np.float64]
) -> tuple[float, float] | None:
    """Solve psi(a) - psi(a+b) = E ln u and psi(b) - psi(a+b) = E ln(1-u)."""
    wanted = np.array([np.sum(share * np.log(column)), np.sum(share * np.log1p(-column))])

    def miss(log_shapes: NDArray[np.float64]) -> NDArray[np.float64]:
        shapes = np.exp(np.clip(log_shapes, -20.0, 20.0))
        of_sum = special.digamma(np.sum(shapes))
        result: NDArray[np.float64] = special.digamma(shapes) - of_sum - wanted
        return result

    # Imported here: nodes that never fit start faster without it.
    from scipy.optimize import root

    solved = root(miss, np.zeros(2))
    if not solved.success:
        return None
    a, b = np.exp(solved.x)
    return float(a), float(b)
