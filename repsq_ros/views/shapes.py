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

"""The shapes on the monitor's board, independent of RViz markers.

All places are in pixels of a window at the scale of config/repsq.rviz, from the middle of the
board, x to the right, y up. `z` is only the drawing order.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from repsq_ros.views.text_width import width_of

Key = tuple[str, int]  # namespace and number; a new shape with the same key replaces the old one
Colour = tuple[float, float, float, float]  # red, green, blue, alpha; 0 to 1
Place = tuple[float, float]

# From low to high psi: dark blue, teal, yellow, with increasing brightness.
SCALE = ((0.30, 0.22, 0.56), (0.13, 0.57, 0.55), (0.99, 0.91, 0.14))
SHADES = 32
GREY: Colour = (0.55, 0.57, 0.60, 1.0)
DIM: Colour = (0.33, 0.35, 0.39, 1.0)
WHITE: Colour = (1.0, 1.0, 1.0, 1.0)
ORANGE: Colour = (1.0, 0.55, 0.1, 1.0)
CYAN: Colour = (0.35, 0.80, 1.0, 1.0)
RED: Colour = (1.0, 0.35, 0.30, 1.0)


def shade_of(fraction: float) -> int:
    """Return the shade of a value, clipped to 0..1."""
    return min(int(min(max(0.0, fraction), 1.0) * SHADES), SHADES - 1)


def colour_of_shade(shade: int) -> Colour:
    """Return the colour of a shade, from 0 (low psi) to SHADES - 1; -1 is white."""
    if shade < 0:
        return WHITE
    place = shade / (SHADES - 1) * (len(SCALE) - 1)
    lower = min(int(place), len(SCALE) - 2)
    share = place - lower
    r, g, b = (
        (1 - share) * low + share * high
        for low, high in zip(SCALE[lower], SCALE[lower + 1], strict=True)
    )
    return (r, g, b, 1.0)


@dataclass(frozen=True)
class Text:
    """One line of text."""

    key: Key
    text: str
    x: float  # of its start, middle or end, by `align`
    y: float  # of its middle
    height: float = 15.0
    colour: Colour = WHITE
    align: str = 'left'  # left, middle or right
    z: float = 0.3

    @property
    def middle(self) -> float:
        """Return the place of its middle, since RViz centres text."""
        half = width_of(self.text, self.height) / 2.0
        return self.x + {'left': half, 'middle': 0.0, 'right': -half}[self.align]

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Return left, bottom, right, top."""
        half = width_of(self.text, self.height) / 2.0
        return (
            self.middle - half,
            self.y - self.height / 2,
            self.middle + half,
            self.y + self.height / 2,
        )


@dataclass(frozen=True)
class Lines:
    """Separate lines, two places each; as a strip, each place is joined to the next."""

    key: Key
    places: tuple[Place, ...]
    width: float = 1.5
    colour: Colour = GREY
    z: float = 0.1
    strip: bool = False


@dataclass(frozen=True)
class Plate:
    """A filled rectangle."""

    key: Key
    x: float  # of its middle
    y: float
    width: float
    height: float
    colour: Colour
    z: float = 0.05


@dataclass
class Dots:
    """Discs or squares of one size, each with its own shade; more can be added."""

    key: Key
    size: float
    z: float = 0.2
    square: bool = False
    places: list[Place] = field(default_factory=list)
    shades: list[int] = field(default_factory=list)


Shape = Text | Lines | Plate | Dots


def outline(left: float, bottom: float, right: float, top: float) -> tuple[Place, ...]:
    """Return the four sides of a rectangle as separate lines."""
    corners = ((left, bottom), (right, bottom), (right, top), (left, top))
    return tuple(corner for k in range(4) for corner in (corners[k], corners[(k + 1) % 4]))
