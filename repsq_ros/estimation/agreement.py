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

from repsq_ros import special
from repsq_ros.estimation.partition import Partition


def probability_same(partition: Partition, estimate: float, standard_error: float) -> float:
    """Return P(another run falls into the cell of this estimate), given the estimate.

    r* lies around the estimate, and the other run around r*, each with the standard error of the
    mean: so the other run is Gaussian around the estimate with sqrt(2) of it. With an anchor it is
    the probability that a replicator returns the anchor. A plug-in from one run's data: it
    guarantees nothing.

    :param standard_error: sd(r_n) [unit of psi]; NaN gives NaN
    """
    if math.isnan(standard_error):
        return math.nan
    found = partition.quantize(estimate).cell
    cell = found if partition.anchor is None else partition.anchor_cell
    if standard_error == 0.0:
        return float(found == cell)
    both = math.sqrt(2.0) * standard_error
    # The outer cells also take what lies outside the range.
    high = math.inf if cell == len(partition.edges) - 2 else partition.edges[cell + 1]
    low = -math.inf if cell == 0 else partition.edges[cell]
    above, below = (special.ndtr((edge - estimate) / both) for edge in (high, low))
    return float(above - below)
