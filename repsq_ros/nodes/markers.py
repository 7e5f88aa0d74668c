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


"""Shapes as RViz markers, a limited number per message.

A marker stays in RViz until it is replaced. So a message has the moving shapes, the groups of
cases that have grown, and a part of the older shapes, which are sent repeatedly: late joiners,
and receivers that lost a message, are complete after some more messages.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable

from geometry_msgs.msg import Point, Vector3
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from repsq_ros.views.shapes import (
    SHADES,
    Colour,
    Dots,
    Key,
    Lines,
    Plate,
    Shape,
    Text,
    colour_of_shade,
)
from repsq_ros.views.text_width import blank_scale

PIXEL = 0.01  # [m] in the frame: config/repsq.rviz shows 100 pixels a metre
LAYER = 0.01  # [m] for z from 0 to 1: higher shapes are nearer to the camera, so they seem larger
AT_ONCE = 1500  # approximate limit of repeated points in one message
TEXT_POINTS = 20  # cost of a line of text, in points


def _rgba(colour: Colour) -> ColorRGBA:
    r, g, b, a = colour
    return ColorRGBA(r=float(r), g=float(g), b=float(b), a=float(a))


PALETTE = [_rgba(colour_of_shade(shade)) for shade in (*range(SHADES), -1)]  # -1: white


def _point(x: float, y: float, z: float) -> Point:
    return Point(x=float(x * PIXEL), y=float(y * PIXEL), z=float(z * LAYER))


class MarkerSheet:
    """Keeps the permanent markers, and makes messages of them and of moving ones."""

    def __init__(self, frame: str) -> None:
        self._frame = frame
        self._kept: dict[Key, Marker] = {}
        self._due: OrderedDict[Key, None] = OrderedDict()  # to be sent in one of the next messages
        self._grown: dict[Key, None] = {}  # to be sent in the next message
        self._moving: set[Key] = set()  # moving shapes of the last message
        self._gone: set[Key] = set()
        self._wiped = True

    def wipe(self) -> None:
        """Start again: the next message removes all markers."""
        self._kept.clear()
        self._due.clear()
        self._grown.clear()
        self._moving.clear()
        self._gone.clear()
        self._wiped = True

    def keep(self, shapes: Iterable[Shape]) -> None:
        """Add permanent shapes."""
        for shape in shapes:
            self._kept[shape.key] = self._marker(shape)
            self._due[shape.key] = None

    def grow(self, shape: Dots | Lines) -> None:
        """Replace a group of cases that has grown."""
        known = self._kept.get(shape.key)
        if isinstance(shape, Dots) and known is not None:
            self._fill(known, shape, len(known.points))
        else:
            self._kept[shape.key] = self._marker(shape)
        self._grown[shape.key] = None

    def send_all_again(self) -> None:
        """Send all markers again for a new subscriber."""
        self._due.update(dict.fromkeys(self._kept))

    @property
    def owes(self) -> bool:
        """Tell whether there are unsent shapes."""
        return bool(self._due or self._grown or self._wiped)

    def message(self, moving: Iterable[Shape]) -> MarkerArray:
        """Return the next message.

        :param moving: shapes that are in every message; missing ones are removed
        """
        markers = [self._of(('', 0), Marker.ARROW, Marker.DELETEALL)] * self._wiped
        said = [self._marker(shape) for shape in moving]
        keys = {(marker.ns, marker.id) for marker in said}
        self._gone = (self._gone | self._moving) - keys
        markers += [self._of(key, Marker.POINTS, Marker.DELETE) for key in sorted(self._gone)]
        markers += said + [self._kept[key] for key in self._grown]
        self._due.update(dict.fromkeys(self._grown))  # and once more later
        self._moving, self._wiped, self._grown = keys, False, {}
        return MarkerArray(markers=markers + self._repeated_markers())

    def _repeated_markers(self) -> list[Marker]:
        """Return some of the waiting shapes; if none wait, all permanent ones are queued again."""
        if not self._due:
            self._due.update(dict.fromkeys(self._kept))
        again, points = [], 0
        while self._due and points < AT_ONCE:
            marker = self._kept[self._due.popitem(last=False)[0]]
            points += max(len(marker.points), TEXT_POINTS)
            again.append(marker)
        return again

    # Shapes --------------------------------------------------------------------------------------

    def _of(self, key: Key, kind: int, action: int = Marker.ADD) -> Marker:
        marker = Marker(ns=key[0], id=int(key[1]), type=kind, action=action)
        # A zero stamp: RViz shows it at any time, simulated or not.
        marker.header.frame_id = self._frame
        marker.pose.orientation.w = 1.0
        return marker

    def _marker(self, shape: Shape) -> Marker:
        if isinstance(shape, Text):
            marker = self._of(shape.key, Marker.TEXT_VIEW_FACING)
            marker.text, marker.scale.z = shape.text, shape.height * PIXEL
            marker.scale.x = blank_scale(shape.height) * PIXEL
            marker.color = _rgba(shape.colour)
            marker.pose.position = _point(shape.middle, shape.y, shape.z)
        elif isinstance(shape, Lines):
            kind = Marker.LINE_STRIP if shape.strip else Marker.LINE_LIST
            marker = self._of(shape.key, kind)
            marker.scale.x, marker.color = shape.width * PIXEL, _rgba(shape.colour)
            marker.points = [_point(x, y, shape.z) for x, y in shape.places]
        elif isinstance(shape, Plate):
            marker = self._of(shape.key, Marker.CUBE)
            marker.scale = Vector3(
                x=float(shape.width * PIXEL), y=float(shape.height * PIXEL), z=0.001
            )
            marker.color = _rgba(shape.colour)
            marker.pose.position = _point(shape.x, shape.y, shape.z)
        else:
            # Not cubes, which RViz shades: colours would differ from the legend.
            marker = self._of(shape.key, Marker.POINTS if shape.square else Marker.SPHERE_LIST)
            size = shape.size * PIXEL
            marker.scale = Vector3(x=size, y=size, z=size)
            marker.color = PALETTE[-1]
            self._fill(marker, shape, 0)
        return marker

    @staticmethod
    def _fill(marker: Marker, dots: Dots, first: int) -> None:
        """Append the dots from one on."""
        marker.points.extend(_point(x, y, dots.z) for x, y in dots.places[first:])
        marker.colors.extend(PALETTE[shade] for shade in dots.shades[first:])
