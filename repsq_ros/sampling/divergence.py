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

"""How far a proposal is from the target: KL(p || q), and how much larger p/q may be."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from repsq_ros.sampling.distributions import Distribution

TRIALS = 2**15  # cases that it is computed from
ERRORS = 5.0  # standard errors that an upper bound lies above the mean


@dataclass(frozen=True)
class Divergence:
    """ln(p/q) at cases drawn from p, always the same ones."""

    log_ratios: NDArray[np.float64]

    @property
    def upper(self) -> float:
        """Return KL(p || q), five standard errors above its estimate; 0 where q is p."""
        found = float(self.log_ratios.mean())
        return max(0.0, found + ERRORS * self.error)

    @property
    def error(self) -> float:
        """Return the standard error of KL(p || q)."""
        return float(self.log_ratios.std(ddof=1)) / math.sqrt(self.log_ratios.size)

    def tail(self, level: float) -> float:
        """Return P_p(ln p/q > level), five standard errors above its estimate.

        0 only where no ratio reaches the level at all: see `largest_ratio` for the bound of p/q.
        """
        share = float(np.mean(self.log_ratios > level))
        spread = math.sqrt(max(share * (1.0 - share), 1.0 / TRIALS) / TRIALS)
        return min(1.0, share + ERRORS * spread)


def divergence(p: Distribution, q: Distribution) -> Divergence:
    """Compute it; no robot is needed."""
    if p == q:
        return Divergence(np.zeros(TRIALS))
    generator = np.random.Generator(np.random.PCG64(20261))
    cases = [p.sample(generator) for _ in range(TRIALS)]
    return Divergence(np.array([p.logpdf(x) - q.logpdf(x) for x in cases]))
