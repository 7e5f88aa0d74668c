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

"""The value of a fitted proposal, by cross-validation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from repsq_ros.campaign.records import TestRecord
from repsq_ros.estimation.anytime import Anytime
from repsq_ros.estimation.stopping import Question
from repsq_ros.estimation.weights import z_bounds
from repsq_ros.sampling.beta_fit import Fit, fit_betas
from repsq_ros.sampling.distributions import Mixture, Product
from repsq_ros.sampling.marginals import Beta
from repsq_ros.sampling.weight_bound import largest_ratio
from repsq_ros.specification.model import Specification
from repsq_ros.studies.counts import count_tests
from repsq_ros.studies.spread import Spread, spread_of

Numbers = NDArray[np.float64]

FOLDS = 10
FEWEST = 30  # fewest tests of a pilot for judging its fit
ERRORS = 2.0  # standard errors by which the fit has to be better


@dataclass(frozen=True)
class WeightedSpread:
    """Standard deviation of psi w, its standard error, and the resulting number of tests."""

    sd: float  # [unit of psi]
    error: float
    tests: int  # mean number to gamma by `anytime`; 0: too many to be computed


@dataclass(frozen=True)
class Comparison:
    """A fit compared with plain Monte Carlo, on the same tests."""

    monte_carlo: WeightedSpread
    fitted: WeightedSpread
    gain: float  # reduction of the variance by the fit [unit of psi squared]
    gain_error: float  # its standard error

    @property
    def pays(self) -> bool:
        """Tell whether the fit is better: by two standard errors, and in tests as well."""
        fewer = 0 < self.fitted.tests < self.monte_carlo.tests or not self.monte_carlo.tests
        return self.gain > ERRORS * self.gain_error and fewer


def mixture_of(target: Product, shapes: Sequence[tuple[float, float]], share: float) -> Mixture:
    """Return q = share p + (1 - share) prod Beta(a, b)."""
    learnt = Product(target.box, tuple(Beta(a, b) for a, b in shapes))
    return Mixture((target, learnt), (share, 1.0 - share))


def compare(
    specification: Specification,
    target: Product,
    tests: Sequence[TestRecord],
    fit: Fit,
    share: float,
    proposal: Mixture,
) -> Comparison | None:
    """Return the value of a fit, by tenfold cross-validation.

    E_q[(psi w)^2] = E_p[psi^2 p/q], by the weights of the pilot. None if a fit to a part of the
    tests fails, or the pilot has fewer than FEWEST tests.

    :param proposal: fitted to all tests; only its weight bound is used
    """
    if len(tests) < FEWEST:
        return None
    psi: Numbers = np.array([test.psi for test in tests])
    weights: Numbers = np.array([test.weight for test in tests])
    fold = np.random.default_rng(len(tests)).permutation(len(tests)) % FOLDS
    ratio = np.empty(len(tests))  # p/q at each test, with q fitted without it
    # A fit to nine tenths may have larger weights than the fit to all.
    largest = largest_ratio(target, proposal)
    for left_out in range(FOLDS):
        kept, out = np.flatnonzero(fold != left_out), np.flatnonzero(fold == left_out)
        shapes = fit_betas(
            [target.box.to_unit(tests[place].x) for place in kept], psi[kept], weights[kept], fit
        )
        if shapes is None:
            return None
        q = mixture_of(target, shapes, share)
        largest = max(largest, largest_ratio(target, q))
        for place in out:
            x = tests[place].x
            ratio[place] = math.exp(target.logpdf(x) - q.logpdf(x))
    squares, mean = weights * psi**2, float(np.mean(weights * psi))
    # Contribution of each test to E z^2 - (E z)^2.
    parts = squares - 2.0 * mean * weights * psi
    learnt_parts = parts + squares * (ratio - 1.0)
    plain = _worth(specification, _under(psi, weights, np.ones(len(psi))), parts, mean, 1.0)
    learnt = _worth(specification, _under(psi, weights, ratio), learnt_parts, mean, largest)
    gains = squares * (1.0 - ratio)
    return Comparison(
        plain,
        learnt,
        float(np.mean(gains)),
        float(np.std(gains, ddof=1)) / math.sqrt(len(gains)),
    )


def _under(psi: Numbers, weights: Numbers, ratio: Numbers) -> Spread:
    """Return z = psi p/q as for tests drawn from q."""
    counts = weights / ratio
    return spread_of(psi * ratio, counts / counts.sum())


def _worth(
    specification: Specification,
    spread: Spread,
    parts: Numbers,
    mean: float,
    weight_bound: float,
) -> WeightedSpread:
    n = len(parts)
    variance = max(float(np.mean(parts)) + mean**2, 0.0) * n / (n - 1)
    sd = math.sqrt(variance)
    # d sd = d variance / (2 sd)
    error = float(np.std(parts, ddof=1)) / math.sqrt(n) / (2.0 * sd) if sd > 0.0 else 0.0
    measure, c = specification.measure, specification.accuracy.c
    bounds = z_bounds(measure.lower, measure.upper, weight_bound, weight_bound == 1.0)
    question = Question(specification.gamma, c, bounds)
    return WeightedSpread(sd, error, count_tests(Anytime(), question, spread).mean)
