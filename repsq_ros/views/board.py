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

"""The board that the monitor shows: cases, legend, panel of text, robot, axis of psi."""

from __future__ import annotations

import math
from collections.abc import Iterator

from repsq_ros.sampling.proposals import Proposal
from repsq_ros.views import densities, panels
from repsq_ros.views.board_axes import BoardAxes
from repsq_ros.views.campaign_state import CampaignState
from repsq_ros.views.case_dots import HOLLOW, LOST, LOST_COLOURS, SIZES, CaseDots, hollow_mark
from repsq_ros.views.panels import RIGHT_COLUMN, RIGHT_END, SMALL, Panel, pair_panels
from repsq_ros.views.shapes import (
    CYAN,
    DIM,
    GREY,
    ORANGE,
    SHADES,
    WHITE,
    Dots,
    Lines,
    Shape,
    Text,
    outline,
)
from repsq_ros.views.text_width import fitted, plain, width_of
from repsq_ros.views.ticks import number, ticks

LEGEND_Y = 96.0
BAR_LEFT, BAR_RIGHT = RIGHT_COLUMN + 150.0, RIGHT_END - 40.0


class Board:
    """Builds the shapes of one campaign's axes.

    :param proposal: the current one; None: not known. Only its density is used.
    """

    def __init__(self, axes: BoardAxes, proposal: Proposal | None) -> None:
        self.axes, self._proposal = axes, proposal
        self.show_psi(*axes.psi)

    def show_psi(self, low: float, high: float) -> None:
        """Set the ends of the axis of psi, which is drawn with a single dimension."""
        self._psi = (low, high)
        self.panels = pair_panels(self.axes.ranges, self._psi)

    def dots(self, low: float, high: float) -> CaseDots:
        """Return empty dots for the cases, coloured from low to high psi."""
        return CaseDots(self.panels, self.axes.weighted, low, high)

    # Static parts --------------------------------------------------------------------------------

    def still(self, low: float, high: float) -> Iterator[Shape]:
        """Yield the parts that depend only on the axes and the colours."""
        frames = [
            place
            for each in self.panels
            for place in outline(
                each.panel.left, each.panel.bottom, each.panel.right, each.panel.top
            )
        ]
        yield Lines(('axes', 0), tuple(frames), 1.5, DIM, 0.02)
        for count, (text, x, y, align) in enumerate(self._labels()):
            yield Text(('labels', count), text, x, y, SMALL, WHITE, align)
        yield from self._legend(low, high)

    def _labels(self) -> Iterator[tuple[str, float, float, str]]:
        """Yield text, place and alignment of the axes' names and numbers."""
        last = max(each.row for each in self.panels)
        for each in self.panels:
            panel = each.panel
            if each.row == last:
                yield from self._labels_below(panel, each.column)
            if each.column == 0:
                yield from self._labels_beside(panel, each.row)

    def _axis(self, number_of_it: int) -> tuple[str, str, float, float]:
        """Return name, unit and range of a dimension; after the last one: of psi."""
        axes = self.axes
        if number_of_it == len(axes.dimensions):
            return ('psi', '' if axes.unit == '1' else axes.unit, *self._psi)
        d = axes.dimensions[number_of_it]
        return (d.name, d.unit, d.lower, d.upper)

    def _labels_below(self, panel: Panel, column: int) -> Iterator[tuple[str, float, float, str]]:
        name, unit, lower, upper = self._axis(column)
        y = panel.bottom - 11.0
        yield number(lower), panel.left, y, 'left'
        yield number(upper), panel.right, y, 'right'
        middle, wide = (panel.left + panel.right) / 2, panel.right - panel.left
        if wide > 190.0:
            yield number((lower + upper) / 2), middle, y, 'middle'
        title = fitted(plain(f'{name} [{unit}]' if unit else name), SMALL, wide)
        yield title, middle, y - 19.0, 'middle'

    def _labels_beside(self, panel: Panel, row: int) -> Iterator[tuple[str, float, float, str]]:
        name, unit, lower, upper = self._axis(row)
        x, high = panel.left - 7.0, panel.top - panel.bottom
        yield number(lower), x, panel.bottom + 8.0, 'right'
        yield number(upper), x, panel.top - 8.0, 'right'
        if high > 190.0:
            yield number((lower + upper) / 2), x, panel.bottom + high / 2, 'right'
        at, room = panel.bottom + high * (0.72 if high > 190.0 else 0.5), panels.LABELS_LEFT - 12.0
        yield fitted(plain(name), SMALL, room), panels.LEFT, at + 9.0, 'left'
        if unit:
            yield fitted(plain(f'[{unit}]'), SMALL, room), panels.LEFT, at - 9.0, 'left'

    def _legend(self, low: float, high: float) -> Iterator[Shape]:
        axes, count = self.axes, 0

        def text(said: str, x: float, y: float, align: str = 'left') -> Text:
            nonlocal count
            count += 1
            return Text(('legend', count), plain(said), x, y, SMALL, GREY, align)

        unit = f' [{axes.unit}]' if axes.unit not in ('', '1') else ''
        yield text(f'colour: psi{unit}', RIGHT_COLUMN, LEGEND_Y)
        step = (BAR_RIGHT - BAR_LEFT) / SHADES
        bar = Dots(('legend', 0), step, 0.1, square=True)
        for shade in range(SHADES):
            bar.places.append((BAR_LEFT + (shade + 0.5) * step, LEGEND_Y))
            bar.shades.append(shade)
        yield bar
        for value in ticks(low, high, 5):
            x = BAR_LEFT + (value - low) / (high - low) * (BAR_RIGHT - BAR_LEFT)
            yield text(number(value), x, LEGEND_Y - 17.0, 'middle')
        x, y = RIGHT_COLUMN, LEGEND_Y - 38.0
        for kind, name in enumerate(LOST):
            yield Lines(
                ('legend', 100 + kind), hollow_mark(kind, x + HOLLOW, y), 1.5, LOST_COLOURS[kind]
            )
            yield text(name, x + 18.0, y)
            x += 18.0 + width_of(name, SMALL) + 22.0
        yield Lines(('legend', 103), _ring((x + 9.0, y)), 2.0, ORANGE)
        yield text('under test', x + 24.0, y)
        if axes.weighted:
            yield from self._sizes()

    @staticmethod
    def _sizes() -> Iterator[Shape]:
        y = LEGEND_Y - 59.0
        yield Text(('legend', 50), 'size: weight', RIGHT_COLUMN, y, SMALL, GREY)
        names = ('< 0.5', '< 1', '< 2', '< 4', '>= 4')
        for k, (size, name) in enumerate(zip(SIZES, names, strict=True)):
            x = BAR_LEFT + 84.0 * k
            yield Dots(('legend', 110 + k), size, 0.2, False, [(x, y)], [SHADES * 2 // 3])
            yield Text(('legend', 51 + k), name, x + 13.0, y, SMALL, GREY)

    # Changing parts ------------------------------------------------------------------------------

    def densities(self) -> Iterator[Shape]:
        """Yield the densities of target and proposal along each axis, if they are not flat."""
        of_q = getattr(self._proposal, 'distribution', None)
        of_p = getattr(self._proposal, 'target', None)
        for dimension in range(len(self.axes.dimensions)):
            strip = self._strip(dimension)
            curves = [
                (name, densities.along(each, dimension), colour)
                for name, each, colour in (('p', of_p, GREY), ('q', of_q, CYAN))
                if each is not None
            ]
            if all(densities.is_flat(curve) for _, curve, _ in curves):
                continue
            highest = max(float(curve.max()) for _, curve, _ in curves)
            upright = self._is_upright(dimension)
            for kind, (_, curve, colour) in enumerate(curves):
                places = []
                for k, value in enumerate(curve):
                    along = (k + 0.5) / len(curve)
                    share = float(value) / highest
                    places.append(strip.place(*((along, share) if upright else (share, along))))
                key = ('density', 2 * dimension + kind)
                yield Lines(key, tuple(places), 2.0, colour, 0.1, strip=True)
            x, y = (strip.left if upright else strip.right), strip.top + 9.0
            align = 'left' if upright else 'right'
            yield Text(
                ('density', 100 + dimension),
                'density: q, p grey' if upright else 'q, p',
                x,
                y,
                SMALL,
                CYAN,
                align,
            )

    def _is_upright(self, dimension: int) -> bool:
        """Tell whether a dimension is the horizontal axis of some panel."""
        return dimension == 0 or dimension < len(self.axes.dimensions) - 1

    def _strip(self, dimension: int) -> Panel:
        """Return the strip of a dimension: above its column, or beside the last row."""
        if self._is_upright(dimension):
            top = next(e.panel for e in self.panels if e.column == dimension)
            return Panel(top.left, top.top + 3.0, top.right, top.top + panels.STRIP - 8.0)
        end = self.panels[-1].panel
        return Panel(end.right + 5.0, end.bottom, end.right + panels.STRIP, end.top)

    def under_test(self, state: CampaignState) -> Iterator[Shape]:
        """Give the marks of the case under test in all panels."""
        case = state.under_test
        if case is None or len(case.x) != len(self.axes.dimensions):
            return
        rings: list[tuple[float, float]] = []
        hairs: list[tuple[float, float]] = []
        for each in self.panels:
            panel, shown = each.panel, case.x
            x, y = panel.place(
                shown[each.column],
                shown[each.row] if each.row < len(shown) else panel.y_range[0],
            )
            hairs += [(x, panel.bottom), (x, panel.top)]
            if each.row < len(shown):
                hairs += [(panel.left, y), (panel.right, y)]
                rings += _ring((x, y))
        faint = (*ORANGE[:3], 0.5)
        yield Lines(('under_test', 0), tuple(hairs), 1.0, faint, 0.08)
        if rings:
            yield Lines(('under_test', 1), tuple(rings), 2.0, ORANGE, 0.28)


def _ring(middle: tuple[float, float]) -> tuple[tuple[float, float], ...]:
    """Return the lines of a circle."""
    corners = [
        (middle[0] + 9.0 * math.cos(k * math.pi / 6), middle[1] + 9.0 * math.sin(k * math.pi / 6))
        for k in range(12)
    ]
    return tuple(each for k in range(12) for each in (corners[k], corners[(k + 1) % 12]))
