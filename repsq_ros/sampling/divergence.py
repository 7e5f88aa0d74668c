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

"""How far a proposal is from the target: KL(p || q), and the tail of p/q."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from repsq_ros.sampling.distributions import Distribution

TRIALS = 2**15  # sampled cases per estimate
ERRORS = 5.0  # standard errors added to an estimate for an upper bound


@dataclass(frozen=True)
class Divergence:
    """ln(p/q) at a fixed sample of cases from p."""

    log_ratios: NDArray[np.float64]

    @property
    def upper(self) -> float:
        """Return KL(p || q) plus five standard errors, as an upper bound; 0 if q is p."""
        found = float(self.log_ratios.mean())
        return max(0.0, found + ERRORS * self.error)

    @property
    def error(self) -> float:
        """Return the standard error of KL(p || q)."""
        return float(self.log_ratios.std(ddof=1)) / math.sqrt(self.log_ratios.size)

    def tail(self, level: float) -> float:
        """Return P_p(ln p/q > level) plus five standard errors, as an upper bound.

        0 only if no ratio reaches the level: see `largest_ratio` for the bound of p/q.
        """
        share = float(np.mean(self.log_ratios > level))
        spread = math.sqrt(max(share * (1.0 - share), 1.0 / TRIALS) / TRIALS)
        return min(1.0, share + ERRORS * spread)


def divergence(p: Distribution, q: Distribution) -> Divergence:
    """Compute the divergence of q from p by sampling; no robot is needed."""
    if p == q:
        return Divergence(np.zeros(TRIALS))
    generator = np.random.Generator(np.random.PCG64(20261))
    cases = [p.sample(generator) for _ in range(TRIALS)]
    return Divergence(np.array([p.logpdf(x) - q.logpdf(x) for x in cases]))
