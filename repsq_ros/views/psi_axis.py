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

"""The axis of psi: its numbers, the cells, interval, estimate and result."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from repsq_ros.campaign.records import EstimateRecord
from repsq_ros.campaign.result import Result
from repsq_ros.views.board_axes import BoardAxes
from repsq_ros.views.panels import AXIS_LEFT, AXIS_RIGHT, AXIS_Y, LEFT, SMALL
from repsq_ros.views.shapes import DIM, GREY, ORANGE, WHITE, Lines, Plate, Shape, Text
from repsq_ros.views.ticks import number, ticks

NARROWEST = 20.0  # pixels of a cell or the interval, below which the axis is zoomed
CELLS_SHOWN = 20  # approximate number of cells in a zoomed axis
TITLE_Y = AXIS_Y + 50.0


def part_shown(
    axes: BoardAxes, estimate: EstimateRecord | None, result: Result | None
) -> tuple[float, float]:
    """Return the shown part of psi's range: all of it, unless cells would be too narrow.

    It contains the interval, and moves only in steps: a sliding axis cannot be read.
    """
    lower, upper = axes.psi
    if estimate is None or estimate.n == 0:
        return lower, upper
    low, high = max(estimate.lower, lower), min(estimate.upper, upper)
    cell = _cell_width(axes, estimate, result)
    if cell / (upper - lower) * (AXIS_RIGHT - AXIS_LEFT) >= NARROWEST:
        return lower, upper
    width = max(CELLS_SHOWN * cell, 1.5 * (high - low))
    # Intervals shrink with every test, so widths are the narrowest one times powers of two.
    shown = CELLS_SHOWN * cell
    while shown < width:
        shown *= 2.0
    if not shown < upper - lower:
        return lower, upper
    step = shown / 4.0
    left = round(((low + high) / 2.0 - shown / 2.0 - lower) / step) * step + lower
    left = min(max(left, lower), upper - shown)
    return left, left + shown


def _cell_width(axes: BoardAxes, estimate: EstimateRecord, result: Result | None) -> float:
    if result is not None:
        return result.cell_upper - result.cell_lower
    if len(axes.edges) > 1:
        return max(b - a for a, b in zip(axes.edges, axes.edges[1:], strict=False))
    return 2.0 * estimate.gamma


def psi_axis(
    axes: BoardAxes, estimate: EstimateRecord | None, result: Result | None
) -> Iterator[Shape]:
    """Yield the shapes of the axis."""
    left, right = part_shown(axes, estimate, result)

    def at(psi: float) -> float:
        share = (min(max(left, psi), right) - left) / (right - left)
        return AXIS_LEFT + share * (AXIS_RIGHT - AXIS_LEFT)

    unit = f' [{axes.unit}]' if axes.unit not in ('', '1') else ''
    whole = (left, right) == axes.psi
    part = '' if whole else f' (part of {number(axes.psi[0])} to {number(axes.psi[1])})'
    yield Text(
        ('psi', 0),
        f'mean psi{unit}{part}: cells, interval (orange), estimate',
        LEFT,
        TITLE_Y,
        SMALL,
        GREY,
    )
    yield Lines(('psi', 1), ((AXIS_LEFT, AXIS_Y), (AXIS_RIGHT, AXIS_Y)), 2.0, GREY, 0.1)
    for count, value in enumerate(ticks(left, right, 10)):
        x = at(value)
        yield Lines(('psi', 100 + count), ((x, AXIS_Y), (x, AXIS_Y - 6.0)), 1.5, GREY, 0.1)
        yield Text(('psi', 200 + count), number(value), x, AXIS_Y - 18.0, SMALL, GREY, 'middle')
    edges = [edge for edge in axes.edges if left <= edge <= right]
    if edges:
        walls = tuple((at(edge), y) for edge in edges for y in (AXIS_Y - 1.0, AXIS_Y + 26.0))
        yield Lines(('cells', 0), walls, 1.5, DIM, 0.05)
    if estimate is not None and estimate.n > 0:
        yield from _estimate(at, estimate)
    if result is not None:
        yield from _result(at, result)


def _estimate(at: Callable[[float], float], estimate: EstimateRecord) -> Iterator[Shape]:
    low, high, y = at(estimate.lower), at(estimate.upper), AXIS_Y + 13.0
    caps = ((low, y), (high, y), (low, y - 7.0), (low, y + 7.0), (high, y - 7.0), (high, y + 7.0))
    yield Lines(('interval', 0), caps, 4.0, ORANGE, 0.12)
    yield Plate(('estimate', 0), at(estimate.mean), y, 12.0, 12.0, WHITE, 0.2)


def _result(at: Callable[[float], float], result: Result) -> Iterator[Shape]:
    low, high = at(result.cell_lower), at(result.cell_upper)
    yield Plate(
        ('result', 0),
        (low + high) / 2,
        AXIS_Y + 13.0,
        max(high - low, 3.0),
        34.0,
        (*ORANGE[:3], 0.35),
        0.06,
    )
