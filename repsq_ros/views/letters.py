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

"""How wide a text is that RViz draws: it centres every text, so what begins at one place is moved.

RViz draws TEXT_VIEW_FACING in Liberation Sans, whose advance widths are those of Helvetica, from a
texture of 24 pixels in which each advance is a whole number. A blank is as wide as an A.
"""

from __future__ import annotations

TEXTURE = 24  # pixels of an em in RViz's texture
EM = 0.855  # of an em in the height that a marker asks for; measured in RViz 1.14

# Advance widths of ASCII 33 to 126 [1/1000 em].
_WIDTHS = (
    278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611,
    778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667,
    611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222,
    833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
)  # fmt: skip
_FIRST, _LAST = 33, 126


def _advance(letter: str) -> float:
    """Return the width of a letter [em]; what is not ASCII, and a blank, as an A."""
    code = ord(letter)
    if not _FIRST <= code <= _LAST:
        code = ord('A')
    return round(_WIDTHS[code - _FIRST] * TEXTURE / 1000) / TEXTURE


def width_of(text: str, height: float) -> float:
    """Return the width of a line of text, in the unit of its height."""
    return EM * height * sum(map(_advance, text))


def plain(text: str) -> str:
    """Return a text in the letters that RViz has: printable ASCII."""
    return ''.join(letter if ' ' <= letter <= '~' else '?' for letter in text)


def fitted(text: str, height: float, room: float) -> str:
    """Return a text that fits into a width; what is too long ends in two dots."""
    if width_of(text, height) <= room:
        return text
    while text and width_of(text + '..', height) > room:
        text = text[:-1]
    return text.rstrip() + '..'


def wrapped(text: str, height: float, room: float, most: int) -> list[str]:
    """Return a text in so many lines at most; the last one is cut where it has to be."""
    lines: list[str] = []
    words = text.split()
    while words and len(lines) < most:
        line = words.pop(0)
        last = len(lines) == most - 1
        while words and (last or width_of(f'{line} {words[0]}', height) <= room):
            line += f' {words.pop(0)}'
        lines.append(fitted(line, height, room))
    return lines
