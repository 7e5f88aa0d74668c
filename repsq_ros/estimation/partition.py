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

"""The partition that all testers share, and the quantizer on it."""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass

from repsq_ros.estimation.probabilities import written


@dataclass(frozen=True)
class Quantized:
    """An estimate on the partition."""

    value: float  # midpoint of the cell, or the anchor in it [unit of psi]
    cell: int  # index from 0
    lower: float
    upper: float
    edge_distance: float  # from the estimate to the nearest inner edge; +inf if there is none
    outside: bool  # the estimate was outside the range and got the nearest cell


@dataclass(frozen=True)
class Partition:
    """Almost uniform alpha-partition of the range M of psi.

    All cells are alpha wide; the first and the last may be narrower. Cells are half-open,
    [x_{j-1}, x_j), the last one closed. An anchored partition has an initiator's estimate in the
    middle of one cell, which is closed on both sides and has that estimate as its value.
    """

    edges: tuple[float, ...]
    anchor: float | None = None

    @staticmethod
    def almost_uniform(
        lower: float, upper: float, alpha: float, first: float | None = None
    ) -> Partition:
        """Make cells from `lower` on: the first one `first` wide (default alpha), then alpha each.

        :raises ValueError: range empty, alpha <= 0, first outside (0, alpha]
        """
        if not (lower < upper and alpha > 0):
            raise ValueError(f'no partition of [{lower}, {upper}] with alpha {alpha}')
        first = alpha if first is None else first
        if not 0 < first <= alpha:
            raise ValueError(f'the first cell must be in (0, {alpha}] wide, not {first}')
        # A remainder below 1e-9 of a cell is rounding.
        whole = max(0, math.ceil((upper - lower - first) / alpha - 1e-9))
        return Partition((lower, *_edges(lower, first, alpha, range(whole)), upper))

    @staticmethod
    def anchored(lower: float, upper: float, anchor: float, half_width: float) -> Partition:
        """Make cells 2 half_width wide, with the anchor in the middle of one; end cells are cut.

        :param anchor: the initiator's estimate; clipped to the range
        :raises ValueError: range empty, half_width <= 0
        """
        if not (lower < upper and half_width > 0):
            raise ValueError(f'no partition of [{lower}, {upper}] with {half_width}')
        anchor = min(max(anchor, lower), upper)
        alpha = 2.0 * half_width
        below = math.ceil((anchor - half_width - lower) / alpha - 1e-9)
        above = math.ceil((upper - anchor - half_width) / alpha - 1e-9)
        inner = _edges(anchor, half_width, alpha, range(-below, above))
        inside = [edge for edge in inner if lower < edge < upper]
        return Partition((lower, *inside, upper), anchor)

    @property
    def anchor_cell(self) -> int:
        """Index of the cell that holds the anchor.

        :raises ValueError: there is no anchor
        """
        if self.anchor is None:
            raise ValueError('the partition has no anchor')
        return min(max(bisect_right(self.edges, self.anchor) - 1, 0), len(self.edges) - 2)

    def quantize(self, estimate: float) -> Quantized:
        """Return the cell of an estimate and its midpoint.

        :raises ValueError: the estimate is NaN
        """
        if math.isnan(estimate):
            raise ValueError('NaN has no cell')
        last = len(self.edges) - 2
        cell = min(max(bisect_right(self.edges, estimate) - 1, 0), last)
        value = None
        if self.anchor is not None:
            middle = self.anchor_cell
            if estimate == self.edges[middle + 1]:
                cell = middle  # this cell is closed on both sides
            value = self.anchor if cell == middle else None
        lower, upper = self.edges[cell], self.edges[cell + 1]
        inner = self.edges[1:-1]
        return Quantized(
            value=middle_of(lower, upper) if value is None else value,
            cell=cell,
            lower=lower,
            upper=upper,
            edge_distance=min((abs(estimate - edge) for edge in inner), default=math.inf),
            outside=not self.edges[0] <= estimate <= self.edges[-1],
        )


def middle_of(lower: float, upper: float) -> float:
    """Return the middle of two numbers in decimal arithmetic, rounded once: .65 of .6 and .7."""
    return float((written(lower) + written(upper)) / 2)


def _edges(start: float, first: float, alpha: float, cells: range) -> list[float]:
    """Return start + first + k alpha for each k, in decimal arithmetic, rounded once.

    So the third edge of cells .1 wide is exactly .3, which 30 successes of 100 give.
    """
    numbers = [written(each) for each in (start, first, alpha)]
    one = math.lcm(*(each.denominator for each in numbers))
    begin, offset, width = (int(each * one) for each in numbers)
    return [(begin + offset + k * width) / one for k in cells]


def probability_same(partition: Partition, estimate: float, standard_error: float) -> float:
    """Return P(another run falls into the cell of this estimate), given the estimate.

    r* lies around the estimate, and the other run around r*, each with the standard error of the
    mean: so the other run is Gaussian around the estimate with sqrt(2) of it. With an anchor it is
    the probability that a replicator returns the anchor. It is a plug-in from one run's data,
    without a guarantee.

    :param standard_error: sd(r_n) [unit of psi]; NaN gives NaN
    """
    if math.isnan(standard_error):
        return math.nan
    found = partition.quantize(estimate).cell
    cell = found if partition.anchor is None else partition.anchor_cell
    if standard_error == 0.0:
        return float(found == cell)
    # The outer cells also hold values outside the range.
    high = math.inf if cell == len(partition.edges) - 2 else partition.edges[cell + 1]
    low = -math.inf if cell == 0 else partition.edges[cell]
    # The normal cdf by erfc: importing scipy takes 0.2 s.
    above, below = (math.erfc((estimate - edge) / (2.0 * standard_error)) for edge in (high, low))
    return (above - below) / 2.0
