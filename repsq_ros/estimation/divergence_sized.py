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

"""The `divergence_sized` rule: the number of tests follows from KL(p || q).

Capito, Castillo and Weng plan accelerated risk assessment this way, by a theorem of Chatterjee
and Diaconis 2018 (The sample size required in importance sampling, theorem 1.1): with
L = KL(p || q) and n = exp(L + t), t >= 0,

    E |r_n - r*| <= ||psi|| (exp(-t/4) + 2 sqrt(P_p(ln p/q > L + t/2))),

||psi|| the root mean square of psi under p. By Markov's inequality |r_n - r*| stays below that
over c with probability 1 - c.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from repsq_ros.estimation.moments import Flags, MomentRule, Value
from repsq_ros.estimation.stopping import Validity
from repsq_ros.keys import key

LONGEST = 40.0  # largest L + t: more tests are out of any robot's reach


@dataclass(frozen=True)
class DivergenceSized(MomentRule):
    """Stops after exp(L + t) tests.

    :param divergence: upper bound of L = KL(p || q)
    :param margin: t >= 0
    :param tail: upper bound of P_p(ln p/q > L + t/2)
    :param largest_psi: upper bound of |psi|, so also of ||psi|| [unit of psi]
    """

    divergence: float
    margin: float = field(metadata=key('t: stops after exp(KL(p || q) + t) tests', at_least=0))
    tail: float
    largest_psi: float

    name = 'divergence_sized'
    sides = ''
    validity = Validity.FIXED_N_INDEPENDENT
    statement = (
        "the number of tests follows from the divergence of target and proposal alone; Markov's "
        'inequality on the mean error of importance sampling (Chatterjee and Diaconis) gives the '
        'interval, for independent tests'
    )

    @property
    def tests(self) -> int:
        """Return n.

        :raises ValueError: more than exp(40)
        """
        if self.divergence + self.margin > LONGEST:
            raise ValueError(f'exp({self.divergence + self.margin:.4g}) tests')
        return max(2, math.ceil(math.exp(self.divergence + self.margin)))

    @property
    def mean_error(self) -> float:
        """Return the bound of E |r_n - r*| [unit of psi]."""
        return self.largest_psi * (math.exp(-self.margin / 4.0) + 2.0 * math.sqrt(self.tail))

    def half_width(self, n: Value, variance: Value, z_range: float, c: float) -> Value:
        """Return the half-width (see MomentRule.half_width); infinite before n."""
        return np.where(np.less(n, self.tests), math.inf, self.mean_error / c)

    def reached(self, n: Value, mean: Value, half_width: Value, gamma: float) -> Flags:
        """Stop at the planned number of cases."""
        return np.greater_equal(n, self.tests)
