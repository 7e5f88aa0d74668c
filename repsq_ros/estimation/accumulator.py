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

"""Running mean and variance."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass
class Accumulator:
    """Mean and sum of squares of z_1..z_n, updated one by one (Welford 1962).

    The paper's update r_n = r_{n-1} + (z_n - r_{n-1})/n is its first line.
    """

    n: int = 0
    mean: float = math.nan
    square_sum: float = 0.0  # sum of (z_i - r_n)^2

    def add(self, z: float) -> None:
        """Count one finite value.

        :raises ValueError: NaN or infinite; nothing is counted then
        """
        if not math.isfinite(z):
            raise ValueError(f'{z} cannot enter an estimate')
        self.n += 1
        if self.n == 1:
            self.mean = z
            return
        deviation = z - self.mean
        self.mean += deviation / self.n
        self.square_sum += deviation * (z - self.mean)

    @property
    def variance(self) -> float:
        """Mean square deviation, sum (z_i - r_n)^2 / n: the paper's s^2. NaN for n = 0."""
        return self.square_sum / self.n if self.n else math.nan

    @property
    def unbiased_variance(self) -> float:
        """Return sum (z_i - r_n)^2 / (n - 1); NaN for n < 2."""
        return self.square_sum / (self.n - 1) if self.n > 1 else math.nan
