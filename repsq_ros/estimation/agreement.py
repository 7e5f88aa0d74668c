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

"""How probable it is that a second lab returns the same value: an honest plug-in."""

from __future__ import annotations

import math
from itertools import pairwise

from scipy.special import ndtr

from repsq_ros.estimation.partition import Partition


def probability_same(partition: Partition, estimate: float, standard_error: float) -> float:
    """Return P(two independent runs fall into one cell), were r* the estimate.

    Both runs are taken as Gaussian around the estimate with the given standard error of the mean,
    so P = sum over the cells of P(cell)^2. With an anchor it is the probability that a replicator
    returns the anchor. A plug-in from one run's data: it guarantees nothing.

    :param standard_error: sd(r_n) [unit of psi]; NaN gives NaN
    """
    if math.isnan(standard_error):
        return math.nan
    if standard_error == 0.0:
        anchored = partition.anchor is not None
        return float(not anchored or partition.quantize(estimate).cell == partition.anchor_cell)
    if partition.anchor is not None:
        cell, both = partition.anchor_cell, math.sqrt(2.0) * standard_error
        high, low = partition.edges[cell + 1], partition.edges[cell]
        # Beyond the ends of the range, too, the outer cells are returned.
        high = math.inf if cell == len(partition.edges) - 2 else high
        low = -math.inf if cell == 0 else low
        return float(ndtr((high - estimate) / both) - ndtr((low - estimate) / both))
    # The outer cells also take what lies outside the range.
    edges = (-math.inf, *partition.edges[1:-1], math.inf)
    below = [float(ndtr((edge - estimate) / standard_error)) for edge in edges]
    return sum((high - low) ** 2 for low, high in pairwise(below))
