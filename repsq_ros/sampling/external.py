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

"""Weighted cases drawn by another program: from a table, or one by one on a topic."""

from __future__ import annotations

import math

from repsq_ros.errors import CampaignError
from repsq_ros.sampling.distributions import Distribution
from repsq_ros.sampling.proposals import Dependence, Draw

MISMATCH = 1e-6  # relative difference between a weight and p(x)/q(x) that counts as rounding


def external_draw(
    target: Distribution,
    x: tuple[float, ...],
    weight_bound: float,
    *,
    weight: float | None = None,
    log_q: float | None = None,
) -> Draw:
    """Check a case of another program, and return it as a Draw.

    :param weight: w = p(x)/q(x); optional if log_q is given
    :param log_q: ln q(x); if given, the weight is computed, and compared with `weight`
    :raises ValueError: x is outside the support of p, or the weight is not finite and > 0, or
        contradicts the densities
    """
    log_p = target.logpdf(x)
    if not target.box.contains(x) or not math.isfinite(log_p):
        raise ValueError(f'x = {x} lies outside the target distribution')
    if log_q is None:
        if weight is None or not (math.isfinite(weight) and weight > 0.0):
            raise ValueError(f'weight {weight}, expected a finite number > 0')
        return Draw(x, log_p, log_p - math.log(weight), weight_bound)
    if not math.isfinite(log_q):
        raise ValueError(f'log_q {log_q}, expected a finite number')
    draw = Draw(x, log_p, log_q, weight_bound)
    if weight is not None and not abs(draw.weight - weight) <= MISMATCH * draw.weight:
        raise ValueError(
            f'weight {weight}, but p(x)/q(x) = {draw.weight} by its log_q and our target'
        )
    return draw


class External:
    """Returns the cases in the order of their index, as they were offered.

    The other program may have learnt from earlier tests. Whether it really drew from the q of
    its weights cannot be checked here.

    :param weight_bound: declared w_max
    """

    proven = unweighted = False
    dependence = Dependence.ADAPTIVE

    def __init__(self, weight_bound: float, source: str, table: tuple[Draw, ...] = ()) -> None:
        self.weight_bound = self.largest_weight_bound = weight_bound
        self._source = source
        self._offered = dict(enumerate(table))
        self._complete = bool(table)

    def offer(self, index: int, draw: Draw) -> bool:
        """Store the case of an index; false if another one was already offered for it."""
        return self._offered.setdefault(index, draw) == draw

    def ready(self, index: int) -> bool:
        """Tell whether the case of an index is available (always with a table; see `draw`)."""
        return self._complete or index in self._offered

    def draw(self, index: int, seed: int) -> Draw:
        """Return the case of an index.

        :raises CampaignError: the table has no more cases
        """
        if index not in self._offered:
            raise CampaignError(
                f'{self._source}: found {len(self._offered)} cases, expected more: the campaign '
                'has not reached its accuracy'
            )
        return self._offered[index]

    def tell(self, x: tuple[float, ...], psi: float, weight: float) -> None:
        """Do nothing: the other program gets outcomes from the campaign's topics."""
