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

"""The largest importance weight w_max = sup p(x)/q(x), computed from the densities."""

from __future__ import annotations

import math

import numpy as np

from repsq_ros.sampling.distributions import Cases, Distribution, Mixture, Product
from repsq_ros.sampling.marginals import log_largest_ratio

TRIALS = 2**16  # sampled cases for the bias of a truncation
MISS = 1e-6  # probability that the bound of that bias is too small


def largest_ratio(p: Distribution, q: Distribution) -> float:
    """Return a proven bound of p(x)/q(x) on the support of p; +inf if none is known.

    Exact for two products and for two tables of cases. For mixtures, a bound that follows from
    those of the parts: p/q <= 1 / sum_k (share_k / sup(p/q_k)), which is exact for
    q = e p + (1 - e) q_0. A user's own class may offer `largest_ratio(q)`.
    """
    if p == q:
        return 1.0
    if isinstance(q, Mixture):
        floor = sum(
            share / largest_ratio(p, part) for share, part in zip(q.shares, q.parts, strict=True)
        )
        return 1.0 / floor if floor > 0.0 else math.inf
    if isinstance(p, Mixture):
        return sum(
            share * largest_ratio(part, q) for share, part in zip(p.shares, p.parts, strict=True)
        )
    if isinstance(p, Product) and isinstance(q, Product) and p.box == q.box:
        return math.exp(
            sum(log_largest_ratio(a, b) for a, b in zip(p.marginals, q.marginals, strict=True))
        )
    if isinstance(p, Cases) and isinstance(q, Cases):
        return max(
            # A case that q never draws has an infinite weight.
            math.exp(min(p.logpdf(x) - q.logpdf(x), 700.0))
            if q.logpdf(x) > -math.inf
            else math.inf
            for x in p.points
        )
    own = getattr(p, 'largest_ratio', None)
    return float(own(q)) if callable(own) else math.inf


def truncation_bias(
    p: Distribution, q: Distribution, largest_psi: float, truncation: float
) -> float:
    """Return an upper bound of r* - E[min(z, T)] for psi in [0, m_hi].

    It is m_hi E_p[(1 - T/(m_hi w))+], estimated from a fixed sample of cases x ~ p, plus the
    empirical Bernstein bound (Maurer & Pontil 2009, theorem 4). It is wrong with probability
    1e-6 at most. No robot is needed.

    :param truncation: T [unit of psi]
    """
    generator = np.random.Generator(np.random.PCG64(20260))
    cut = np.empty(TRIALS)
    for place in range(TRIALS):
        x = p.sample(generator)
        log_weight = p.logpdf(x) - q.logpdf(x)
        # Where m w <= T nothing is truncated: 1 - T/(m w) is not positive there.
        cut[place] = max(0.0, 1.0 - truncation / largest_psi * math.exp(min(-log_weight, 700.0)))
    log = math.log(2.0 / MISS)
    spread = math.sqrt(2.0 * float(cut.var(ddof=1)) * log / TRIALS)
    return largest_psi * (float(cut.mean()) + spread + 7.0 * log / (3.0 * (TRIALS - 1)))
