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

"""The layout of the board, in pixels of an RViz window of 1280 x 720.

The view of config/repsq.rviz scales with the height of the window: 628 pixels of the board fit
between RViz's own bars. Text is at least 15 pixels high: at 12 a minus sign vanishes.
"""

from __future__ import annotations

from dataclasses import dataclass

from repsq_ros.views.shapes import Place

LEFT, TOP = -586.0, 262.0  # of the case panels, below the title
RIGHT_COLUMN, RIGHT_END = 26.0, 586.0
AXIS_LEFT, AXIS_RIGHT, AXIS_Y = -566.0, 566.0, -264.0  # of psi
SMALL = 15.0  # height of the smallest text
GAP = 16.0
STRIP = 40.0  # of a density beside a panel
LABELS_LEFT = 104.0
CASES = (LEFT + LABELS_LEFT, -158.0, RIGHT_COLUMN - STRIP - 24.0, TOP - STRIP - 10.0)


@dataclass(frozen=True)
class Panel:
    """A rectangle with an axis to the right and one upwards."""

    left: float
    bottom: float
    right: float
    top: float
    x_range: tuple[float, float] = (0.0, 1.0)
    y_range: tuple[float, float] = (0.0, 1.0)

    def place(self, x: float, y: float) -> Place:
        """Return the place of a pair of values, clipped to the panel."""
        return (
            self.left + _share(x, self.x_range) * (self.right - self.left),
            self.bottom + _share(y, self.y_range) * (self.top - self.bottom),
        )


def _share(value: float, limits: tuple[float, float]) -> float:
    lower, upper = limits
    share = (value - lower) / (upper - lower)
    return min(max(0.0, share), 1.0)  # NaN becomes 0


@dataclass(frozen=True)
class PairPanel:
    """The panel of two dimensions; with a single dimension, of it and psi."""

    panel: Panel
    column: int  # horizontal dimension
    row: int  # vertical dimension; one past the last: psi


def pair_panels(
    ranges: tuple[tuple[float, float], ...], psi: tuple[float, float]
) -> list[PairPanel]:
    """Return the panels of all pairs, as the lower triangle of a table, column by column.

    :param ranges: (lower, upper) of each dimension
    :param psi: vertical range if there is only one dimension
    """
    shown = (*ranges, psi) if len(ranges) == 1 else ranges
    count = len(shown) - 1
    left, bottom, right, top = CASES
    wide, high = (right - left + GAP) / count, (top - bottom + GAP) / count
    return [
        PairPanel(
            Panel(
                left + column * wide,
                top - row * high + GAP,
                left + (column + 1) * wide - GAP,
                top - (row - 1) * high,
                shown[column],
                shown[row],
            ),
            column,
            row,
        )
        for row in range(1, len(shown))
        for column in range(row)
    ]
