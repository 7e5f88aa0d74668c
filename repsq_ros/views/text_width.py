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

"""Widths of texts as RViz 2 draws them.

RViz centres every text, so a left-aligned text has to be moved by half its width. RViz 2 draws
TEXT_VIEW_FACING in Liberation Sans, whose advance widths are those of Helvetica, from a texture
with 24 pixels per em, in which each advance is a whole number of pixels. A line of the texture is
27 pixels high. The marker sets the width of a blank; by default, it is that of an "A" of 1 m,
regardless of the text's height.
"""

from __future__ import annotations

EM = 24  # pixels of an em in RViz's texture
LINE = 27  # pixels of a line of the texture, scaled to the marker's height
BLANK = 278  # thousandths of an em

# Advance widths of ASCII 33 to 126 [1/1000 em].
_WIDTHS = (
    278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611,
    778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667,
    611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222,
    833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
)  # fmt: skip
_FIRST, _LAST = 33, 126


def _advance(letter: str) -> int:
    """Return the width of a letter [pixels of the texture]; outside ASCII, that of an A."""
    code = ord(letter)
    if letter == ' ':
        width = BLANK
    else:
        width = _WIDTHS[(code if _FIRST <= code <= _LAST else ord('A')) - _FIRST]
    return round(width * EM / 1000)


def width_of(text: str, height: float) -> float:
    """Return the width of a line of text, in the unit of its height."""
    return height * sum(map(_advance, text)) / LINE


def blank_scale(height: float) -> float:
    """Return `scale.x` of a text marker, in units of its height: twice the width of a blank."""
    return 2.0 * width_of(' ', height)


def plain(text: str) -> str:
    """Return a text in the letters that RViz has: printable ASCII."""
    return ''.join(letter if ' ' <= letter <= '~' else '?' for letter in text)


def fitted(text: str, height: float, room: float) -> str:
    """Return a text cut to a width; a cut text ends in two dots."""
    if width_of(text, height) <= room:
        return text
    while text and width_of(text + '..', height) > room:
        text = text[:-1]
    return text.rstrip() + '..'


def wrapped(text: str, height: float, room: float, most: int) -> list[str]:
    """Return a text wrapped to `most` lines; the last one is cut if needed."""
    lines: list[str] = []
    words = text.split()
    while words and len(lines) < most:
        line = words.pop(0)
        last = len(lines) == most - 1
        while words and (last or width_of(f'{line} {words[0]}', height) <= room):
            line += f' {words.pop(0)}'
        lines.append(fitted(line, height, room))
    return lines
