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

"""What the monitor shows in RViz: cases coloured by psi, the interval on the cells, a text panel.

Everything is drawn in one frame, in metres: the cases in a cube of edge 1 m, the range of psi as
an axis of 1 m length beside it.
"""

from __future__ import annotations

from collections.abc import Sequence

from geometry_msgs.msg import Point, Vector3
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from repsq_ros.campaign.records import EstimateRecord
from repsq_ros.campaign.result import Result
from repsq_ros.specification.model import Specification

CORNERS = (-0.5, 0.5)
AXIS_X, AXIS_Y = -0.5, -0.75  # where the axis of psi begins
# From low to high psi: dark blue, teal, yellow; told apart by brightness alone, too.
COLOURS = ((0.27, 0.00, 0.33), (0.13, 0.57, 0.55), (0.99, 0.91, 0.14))
GREY = (0.6, 0.6, 0.6)
WHITE = (1.0, 1.0, 1.0)
ORANGE = (1.0, 0.55, 0.1)


def colour_of(fraction: float) -> ColorRGBA:
    """Return the colour of a value between 0 and 1; values outside take the nearer end."""
    place = min(max(fraction, 0.0), 1.0) * (len(COLOURS) - 1)
    lower = min(int(place), len(COLOURS) - 2)
    share = place - lower
    r, g, b = (
        (1 - share) * low + share * high
        for low, high in zip(COLOURS[lower], COLOURS[lower + 1], strict=True)
    )
    return ColorRGBA(r=r, g=g, b=b, a=1.0)


def _rgba(colour: tuple[float, float, float], alpha: float = 1.0) -> ColorRGBA:
    return ColorRGBA(r=colour[0], g=colour[1], b=colour[2], a=alpha)


class Scene:
    """Builds the markers of one campaign."""

    def __init__(self, specification: Specification, frame: str) -> None:
        self._specification = specification
        self._frame = frame

    def markers(
        self,
        tests: Sequence[tuple[tuple[float, ...], float]],
        estimate: EstimateRecord | None,
        result: Result | None,
        text: str,
    ) -> MarkerArray:
        """Return all markers.

        :param tests: (x, psi) of each valid test
        """
        markers = [self._box(), self._cases(tests), self._cells(), self._text(text)]
        if estimate is not None and estimate.n > 0:
            markers += [self._interval(estimate), self._estimate(estimate)]
        if result is not None:
            markers.append(self._result(result))
        return MarkerArray(markers=markers)

    def _marker(self, name: str, kind: int, scale: tuple[float, float, float]) -> Marker:
        marker = Marker(ns=name, id=0, type=kind, action=Marker.ADD)
        # No stamp: RViz shows it whatever the time, simulated or not.
        marker.header.frame_id = self._frame
        marker.pose.orientation.w = 1.0
        marker.scale = Vector3(x=scale[0], y=scale[1], z=scale[2])
        return marker

    def _box(self) -> Marker:
        marker = self._marker('box', Marker.LINE_LIST, (0.004, 0.0, 0.0))
        marker.color = _rgba(GREY, 0.6)
        for a in CORNERS:
            for b in CORNERS:
                for low_high in (
                    [Point(x=c, y=a, z=b) for c in CORNERS],
                    [Point(x=a, y=c, z=b) for c in CORNERS],
                    [Point(x=a, y=b, z=c) for c in CORNERS],
                ):
                    marker.points += low_high
        return marker

    def _place(self, x: Sequence[float]) -> Point:
        """Scale a case to the cube; dimensions beyond the third are not shown."""
        dimensions = self._specification.box.dimensions
        shown = [
            (value - d.lower) / (d.upper - d.lower) - 0.5
            for d, value in zip(dimensions, x, strict=True)
        ][:3]
        shown += [0.0] * (3 - len(shown))
        return Point(x=shown[0], y=shown[1], z=shown[2])

    def _cases(self, tests: Sequence[tuple[tuple[float, ...], float]]) -> Marker:
        marker = self._marker('cases', Marker.SPHERE_LIST, (0.03, 0.03, 0.03))
        marker.color = _rgba(WHITE)
        values = [psi for _, psi in tests]
        # The whole scale for the values that occurred: they are often near each other.
        lowest, spread = (
            min(values, default=0.0),
            max(values, default=0.0) - min(values, default=0),
        )
        for x, psi in tests:
            marker.points.append(self._place(x))
            marker.colors.append(colour_of((psi - lowest) / spread if spread > 0 else 0.5))
        if not tests:  # RViz complains of an empty list
            marker.action = Marker.DELETE
        return marker

    def _on_axis(self, psi: float, height: float) -> Point:
        measure = self._specification.measure
        place = min(max((psi - measure.lower) / (measure.upper - measure.lower), 0.0), 1.0)
        return Point(x=AXIS_X + place, y=AXIS_Y, z=height)

    def _cells(self) -> Marker:
        marker = self._marker('cells', Marker.LINE_LIST, (0.004, 0.0, 0.0))
        marker.color = _rgba(GREY)
        cells, measure = self._specification.partition, self._specification.measure
        # An anchored partition is laid by its initiator's result alone.
        edges = (measure.lower, measure.upper) if cells is None else cells.edges
        for edge in edges:
            marker.points += [self._on_axis(edge, -0.56), self._on_axis(edge, -0.44)]
        marker.points += [self._on_axis(edges[0], -0.5), self._on_axis(edges[-1], -0.5)]
        return marker

    def _interval(self, estimate: EstimateRecord) -> Marker:
        marker = self._marker('interval', Marker.LINE_LIST, (0.015, 0.0, 0.0))
        marker.color = _rgba(ORANGE, 0.8)
        marker.points = [
            self._on_axis(estimate.lower, -0.5),
            self._on_axis(estimate.upper, -0.5),
        ]
        return marker

    def _estimate(self, estimate: EstimateRecord) -> Marker:
        marker = self._marker('estimate', Marker.SPHERE, (0.035, 0.035, 0.035))
        marker.color = _rgba(WHITE)
        marker.pose.position = self._on_axis(estimate.mean, -0.5)
        return marker

    def _result(self, result: Result) -> Marker:
        marker = self._marker('result', Marker.CUBE, (0.0, 0.02, 0.12))
        lower, upper = (
            self._on_axis(result.cell_lower, -0.5),
            self._on_axis(result.cell_upper, -0.5),
        )
        marker.color = _rgba(ORANGE, 0.4)
        marker.scale.x = upper.x - lower.x
        marker.pose.position = Point(x=(lower.x + upper.x) / 2, y=AXIS_Y, z=-0.5)
        return marker

    def _text(self, text: str) -> Marker:
        marker = self._marker('text', Marker.TEXT_VIEW_FACING, (0.0, 0.0, 0.06))
        marker.color = _rgba(WHITE)
        marker.text = text
        marker.pose.position = Point(x=0.0, y=0.0, z=0.85)
        return marker
