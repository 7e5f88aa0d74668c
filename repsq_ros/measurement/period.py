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

"""The period of a stream, whatever its messages' arrivals look like."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from repsq_ros.measurement.rowwise import median

TOGETHER = 0.2  # of the mean gap: messages nearer than this came together,
AT_ONCE = 2e6  # [ns] and those nearer than this, if it is under half of the mean gap


def period_of(stamps: NDArray[np.int64], rate: float) -> float:
    """Return the time between two messages, or two bursts of messages [s]; 0: too few of them.

    The median of the gaps, those within a burst left out: where each value is sent twice, or
    several come together, the period is that of the pairs or of the bursts.

    :param stamps: (n,) [ns], increasing
    :param rate: [Hz] nominal; 0: not known
    """
    if rate > 0:
        return 1.0 / rate
    gaps = stamps[1:] - stamps[:-1]
    if not len(gaps):
        return 0.0
    mean = float(gaps.mean())
    apart = gaps[gaps > max(TOGETHER * mean, min(AT_ONCE, mean / 2.0))]
    return median(apart) * 1e-9 if len(apart) else math.nan
