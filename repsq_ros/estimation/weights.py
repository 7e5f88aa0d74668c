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

"""Importance weights: effective sample size, and the resulting bounds of z = psi w."""

from __future__ import annotations

import math
from dataclasses import dataclass

from repsq_ros.estimation.stopping import Bounds


@dataclass
class Weights:
    """Running sums of the weights of a campaign."""

    total: float = 0.0
    squares: float = 0.0
    largest: float = 0.0

    def add(self, weight: float) -> None:
        """Count one weight."""
        self.total += weight
        self.squares += weight * weight
        self.largest = max(self.largest, weight)

    @property
    def effective_sample_size(self) -> float:
        """Return (sum w)^2 / sum w^2: the equivalent number of equally weighted tests."""
        return self.total**2 / self.squares if self.squares > 0.0 else 0.0


def z_bounds(
    lower: float,
    upper: float,
    weight_bound: float,
    unweighted: bool = False,
    truncation: float = math.inf,
) -> Bounds:
    """Return the bounds of z = min(psi w, T) for psi in [lower, upper] and w in [0, w_max].

    :param unweighted: every weight is 1
    :param truncation: T [unit of psi]
    """
    if unweighted:
        return Bounds(lower, min(upper, truncation))
    # Avoid 0 * inf with an unknown weight bound.
    high = upper * weight_bound if upper > 0.0 else 0.0
    low = lower * weight_bound if lower < 0.0 else 0.0
    return Bounds(low, min(high, truncation))
