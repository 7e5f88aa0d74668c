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

"""Several labs' results compared, in the terms and formulas of interlaboratory tests.

ISO 5725-2:1994 (repeatability, reproducibility, Mandel's h and k) and ISO 13528:2015 (scores).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class LabSummary:
    """One lab's results: their number n, mean and standard deviation [unit of psi]."""

    n: int
    mean: float
    standard_deviation: float

    @property
    def standard_error(self) -> float:
        """Return the standard uncertainty of the mean."""
        return self.standard_deviation / math.sqrt(self.n)


@dataclass(frozen=True)
class Precision:
    """Standard deviations of a method over labs [unit of psi]."""

    repeatability: float  # s_r: single test results within one lab
    between: float  # s_L: means of labs
    reproducibility: float  # s_R: single test results across labs


def precision(labs: Sequence[LabSummary]) -> Precision:
    """Return repeatability and reproducibility standard deviations (ISO 5725-2:1994, 7.4.5).

    :param labs: at least two, each with two test results or more
    :raises ValueError: fewer
    """
    _check(labs)
    counts = np.array([lab.n for lab in labs], dtype=float)
    means = np.array([lab.mean for lab in labs])
    spreads = np.array([lab.standard_deviation for lab in labs])
    total, p = counts.sum(), len(labs)
    within = float(((counts - 1) * spreads**2).sum() / (total - p))
    general = float((counts * means).sum() / total)
    between_squares = float((counts * (means - general) ** 2).sum() / (p - 1))
    typical = float((total - (counts**2).sum() / total) / (p - 1))
    between = max((between_squares - within) / typical, 0.0)
    return Precision(math.sqrt(within), math.sqrt(between), math.sqrt(within + between))


def mandel_h(labs: Sequence[LabSummary]) -> list[float]:
    """Return h of each lab: deviation of its mean from the labs' mean (ISO 5725-2:1994, 7.3.1.1).

    :raises ValueError: fewer than two labs
    """
    _check(labs)
    means = np.array([lab.mean for lab in labs])
    spread = float(means.std(ddof=1))
    if spread == 0.0:
        return [0.0] * len(labs)
    return [float(each) for each in (means - means.mean()) / spread]


def mandel_k(labs: Sequence[LabSummary]) -> list[float]:
    """Return k of each lab: its spread relative to the pooled spread (ISO 5725-2:1994, 7.3.1.2).

    The standard assumes the same number of results in all labs; here they weight the pooling.

    :raises ValueError: fewer than two labs
    """
    pooled = precision(labs).repeatability
    if pooled == 0.0:
        return [1.0] * len(labs)
    return [lab.standard_deviation / pooled for lab in labs]


def critical_h(p: int, level: float = 0.05) -> float:
    """Return |h| that one lab of p exceeds with probability `level` (ISO 5725-2:1994, 8.3)."""
    if p < 3:
        return math.inf  # with two labs, h is always +-0.707
    from scipy import stats  # imported here: slow to load

    t = float(stats.t.ppf(1.0 - level / 2.0, p - 2))
    return (p - 1) * t / math.sqrt(p * (t * t + p - 2))


def critical_k(labs: Sequence[LabSummary], place: int, level: float = 0.05) -> float:
    """Return the k that a lab exceeds with probability `level` if all spreads are equal.

    By the F distribution of its variance over the pooled variance of the others.
    """
    own = labs[place].n - 1
    others = sum(lab.n - 1 for lab in labs) - own
    from scipy import stats  # imported here: slow to load

    f = float(stats.f.ppf(1.0 - level, own, others))
    return math.sqrt((own + others) / (own + others / f))


def zeta_scores(labs: Sequence[LabSummary]) -> list[float]:
    """Return zeta of each lab: beyond 2 questionable, beyond 3 a signal (ISO 13528:2015, 9.6).

    The assigned value is the median of all other labs (annex C.2.1, without the lab itself): it
    does not depend on the lab it judges, and one outlying lab hardly moves it.

    :raises ValueError: fewer than two labs
    """
    _check(labs)
    found = []
    for place, lab in enumerate(labs):
        others = [other for k, other in enumerate(labs) if k != place]
        assigned, uncertainty = median_of(others)
        both, off = math.hypot(lab.standard_error, uncertainty), lab.mean - assigned
        found.append(off / both if both > 0.0 else math.copysign(math.inf, off) if off else 0.0)
    return found


def median_of(labs: Sequence[LabSummary]) -> tuple[float, float]:
    """Return the median of the labs' means, and its standard uncertainty.

    The median of three or more normal means is sqrt(pi/2) times as uncertain as their mean.
    """
    squares = math.fsum(lab.standard_error**2 for lab in labs)
    loss = math.sqrt(math.pi / 2.0) if len(labs) > 2 else 1.0
    median = float(np.median([lab.mean for lab in labs]))
    return median, loss * math.sqrt(squares) / len(labs)


def welch_p(labs: Sequence[LabSummary]) -> float:
    """Return the p-value of equal means by Welch's analysis of variance (Biometrika 38, 1951).

    Approximate: for means of many independent values, with any spreads. NaN if a lab has fewer
    than two values, or no spread.
    """
    if len(labs) < 2 or any(lab.n < 2 for lab in labs):
        return math.nan
    if any(lab.standard_deviation == 0.0 for lab in labs):
        return math.nan
    n, k = np.array([lab.n for lab in labs], dtype=float), len(labs)
    weight = n / np.array([lab.standard_deviation for lab in labs]) ** 2
    means = np.array([lab.mean for lab in labs])
    general = float((weight * means).sum() / weight.sum())
    spread = float((weight * (means - general) ** 2).sum() / (k - 1))
    loss = float((((1.0 - weight / weight.sum()) ** 2) / (n - 1)).sum())
    f = spread / (1.0 + 2.0 * (k - 2) / (k * k - 1) * loss)
    from scipy import stats  # imported here: slow to load

    return float(stats.f.sf(f, k - 1, (k * k - 1) / (3.0 * loss)))


def _check(labs: Sequence[LabSummary]) -> None:
    if len(labs) < 2 or any(lab.n < 2 for lab in labs):
        raise ValueError('two labs at least, each with two test results or more')
