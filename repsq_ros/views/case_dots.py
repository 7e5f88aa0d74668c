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

"""All attempts of a campaign as dots in the panels, in few objects."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from repsq_ros.campaign.records import TestRecord
from repsq_ros.views.panels import PairPanel
from repsq_ros.views.shapes import DIM, GREY, ORANGE, Colour, Dots, Key, Lines, Place, shade_of

SIZES = (4.0, 5.5, 8.0, 11.0, 15.0)  # pixels, for weights below 0.5, 1, 2, 4, and above
WEIGHTS = (0.5, 1.0, 2.0, 4.0)  # weights at which the size changes
USUAL = 2  # size class if all weights are 1
FULL = 512  # dots in a full group, after which a new one is started
LOST = ('INVALID', 'broken off', 'skipped')
LOST_COLOURS: tuple[Colour, ...] = (ORANGE, GREY, DIM)
HOLLOW = 5.0  # pixels from the centre of a hollow mark to its corner


def size_class(weight: float, weighted: bool) -> int:
    """Return the size class of a weight."""
    if not weighted:
        return USUAL
    return bisect_right(WEIGHTS, weight)


def lost_kind(record: TestRecord) -> int:
    """Return the index in LOST of an attempt that is not valid."""
    return 2 if record.skipped else 1 if record.broken_off else 0


def hollow_mark(kind: int, x: float, y: float) -> tuple[Place, ...]:
    """Return the lines of a hollow mark: square, diamond or cross."""
    r = HOLLOW
    if kind == 0:
        corners = ((x - r, y - r), (x + r, y - r), (x + r, y + r), (x - r, y + r))
    elif kind == 1:
        corners = ((x, y - 1.3 * r), (x + 1.3 * r, y), (x, y + 1.3 * r), (x - 1.3 * r, y))
    else:
        return ((x - r, y - r), (x + r, y + r), (x - r, y + r), (x + r, y - r))
    return tuple(each for k in range(4) for each in (corners[k], corners[(k + 1) % 4]))


class CaseDots:
    """Groups of dots by size, and of hollow marks by kind; only the last group of each changes.

    :param low, high: values of psi at the ends of the colours
    """

    def __init__(
        self, panels: Sequence[PairPanel], weighted: bool, low: float, high: float
    ) -> None:
        self._panels, self._weighted = panels, weighted
        self.low, self.high = low, high
        self._dots: dict[int, list[Dots]] = {}
        self._lost: dict[int, list[list[Place]]] = {}

    def add(self, record: TestRecord) -> Key | None:
        """Add an attempt; return the key of its group, None if it has no place."""
        if not all(map(math.isfinite, record.x)):
            return None
        places = self._places(record.x, record.psi)
        if record.valid:
            group = self._group(size_class(record.weight, self._weighted))
            group.places += places
            group.shades += [self._shade(record.psi)] * len(places)
            return group.key
        kind = lost_kind(record)
        groups = self._lost.setdefault(kind, [[]])
        if len(groups[-1]) >= FULL:
            groups.append([])
        for place in places:
            groups[-1].extend(hollow_mark(kind, *place))
        return _lost_key(kind, len(groups) - 1)

    def _shade(self, psi: float) -> int:
        return shade_of((psi - self.low) / (self.high - self.low))

    def _places(self, x: Sequence[float], psi: float) -> list[Place]:
        shown = (*x, psi)
        return [each.panel.place(shown[each.column], shown[each.row]) for each in self._panels]

    def _group(self, size: int) -> Dots:
        groups = self._dots.setdefault(size, [])
        if not groups or len(groups[-1].places) >= FULL:
            # Keys are unique over sizes: size class, plus number of earlier groups.
            key = ('cases', len(groups) * len(SIZES) + size)
            # Small dots are drawn above large ones, so that they stay visible.
            groups.append(Dots(key, SIZES[size], 0.26 - 0.01 * size))
        return groups[-1]

    def shapes(self) -> Iterator[Dots | Lines]:
        """Yield all groups."""
        for groups in self._dots.values():
            yield from groups
        for kind, lists in self._lost.items():
            for number in range(len(lists)):
                yield self._hollow(kind, number)

    def shape(self, key: Key) -> Dots | Lines:
        """Return the group of a key."""
        name, number = key
        if name == 'cases':
            return self._dots[number % len(SIZES)][number // len(SIZES)]
        return self._hollow(number % len(LOST), number // len(LOST))

    def _hollow(self, kind: int, number: int) -> Lines:
        places = tuple(self._lost[kind][number])
        return Lines(_lost_key(kind, number), places, 1.5, LOST_COLOURS[kind], 0.15)


def _lost_key(kind: int, number: int) -> Key:
    return ('lost', number * len(LOST) + kind)
