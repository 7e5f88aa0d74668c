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

"""The density of cases along each axis, for the target and the current proposal."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from repsq_ros.sampling.distributions import Distribution, Mixture, Product
from repsq_ros.sampling.marginals import log_density

Array = NDArray[np.float64]

BINS = 40  # along an axis
DRAWN = 4000  # cases drawn for a histogram
CHANCE = 72.1  # of chi square with BINS - 1 degrees of freedom: exceeded with probability 1/1000
FLAT = 0.02  # relative difference up to which a density counts as uniform


def along(distribution: Distribution, dimension: int) -> Array:
    """Return the mean density in each of BINS equal parts of a dimension's range, 1 on average.

    Exact at the middle of each part for products and their mixtures. For tables of cases and
    users' own classes, it is a histogram of cases drawn with a fixed seed; it is 1 everywhere if
    the differences may be random.
    """
    if isinstance(distribution, Product):
        marginal = distribution.marginals[dimension]
        middles = (np.arange(BINS) + 0.5) / BINS
        return np.array([math.exp(log_density(marginal, float(u))) for u in middles])
    if isinstance(distribution, Mixture):
        parts = [along(part, dimension) for part in distribution.parts]
        mixed: Array = np.average(parts, axis=0, weights=distribution.shares)
        return mixed
    generator = np.random.default_rng(0)
    drawn = [distribution.sample(generator)[dimension] for _ in range(DRAWN)]
    axis = distribution.box.dimensions[dimension]
    counts, _ = np.histogram(drawn, BINS, (axis.lower, axis.upper))
    expected = DRAWN / BINS
    if float(((counts - expected) ** 2 / expected).sum()) < CHANCE:
        return np.ones(BINS)
    return counts.astype(np.float64) * BINS / DRAWN


def is_flat(density: Array) -> bool:
    """Tell whether a density looks uniform."""
    return bool(density.max() - density.min() <= FLAT * density.mean())
