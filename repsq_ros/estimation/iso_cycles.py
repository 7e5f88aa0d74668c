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

"""The `iso9283` rule: the standard's number of cycles, without a claim of accuracy."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from repsq_ros import special
from repsq_ros.estimation.moments import Flags, MomentRule, Value
from repsq_ros.estimation.stopping import Validity
from repsq_ros.keys import key

CYCLES = 30  # ISO 9283, for pose accuracy and repeatability


@dataclass(frozen=True)
class IsoCycles(MomentRule):
    """Stops after `cycles` tests.

    The half-width is Student's, t_{1-c/2, n-1} s / sqrt(n). It is valid for normal readings,
    but a displacement is not normal: it is never negative.
    """

    cycles: int = field(default=CYCLES, metadata=key('number of tests', at_least=2))

    name = 'iso9283'
    sides = ''
    validity = Validity.NONE
    statement = (
        'ISO 9283 asks for a number of cycles and for no statement about the mean: the half-width '
        "is Student's, for readings of one normal law, and nothing is guaranteed"
    )

    def half_width(self, n: Value, variance: Value, z_range: float, c: float) -> Value:
        """Return the half-width (see MomentRule.half_width)."""
        with np.errstate(divide='ignore', invalid='ignore'):
            student = special.stdtrit(n - 1.0, 1.0 - c / 2.0)
            half = student * np.sqrt(np.divide(variance, n - 1.0))
        return np.where(np.less(n, 2), math.inf, half)

    def reached(self, n: Value, mean: Value, half_width: Value, gamma: float) -> Flags:
        """Stop at the fixed number of cycles."""
        return np.greater_equal(n, self.cycles)
