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

"""Messages as plain values, each read at once by the layout of an earlier one like it.

What a campaign says of itself comes in the same few layouts all along. Numbers become int, float
or bool, several of them a tuple, parts a namespace with the fields of the message.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from operator import itemgetter
from types import SimpleNamespace
from typing import Any

from repsq_ros.recordings.cdr_layout import Elements, Layout, Leaf, Node

FORMATS = {
    'u1': 'B',
    'i1': 'b',
    'u2': 'H',
    'i2': 'h',
    'u4': 'I',
    'i4': 'i',
    'f4': 'f',
    'u8': 'Q',
    'i8': 'q',
    'f8': 'd',
}
Build = Callable[[tuple[Any, ...]], Any]


class PlainReader:
    """Reads messages of one layout, and says of others that they are none of its own.

    :param layout: of a message that is like those it reads
    """

    def __init__(self, layout: Layout) -> None:
        self._size, self._same = layout.size, layout.constants
        self._format, self._at, self._count = [layout.order], 0, 0
        self._build = self._part(layout.root)
        self._numbers = struct.Struct(''.join(self._format))  # all of them at once

    def read(self, raw: bytes) -> Any:
        """Return one message; None: it is of another layout."""
        if len(raw) != self._size:
            return None
        for begin, end, expected in self._same:
            if raw[begin:end] != expected:
                return None
        return self._build(self._numbers.unpack_from(raw))

    def _node(self, node: Node) -> Build:
        if isinstance(node, Leaf):
            place = self._place(node.offset, node.dtype, 1)
            if node.truth:
                return lambda numbers: bool(numbers[place])
            return itemgetter(place)
        if isinstance(node, Elements):
            if not node.number:
                return lambda _: ()
            begin = self._place(node.offset, node.dtype, node.number)
            several = slice(begin, begin + node.number)
            if node.truth:
                return lambda numbers: tuple(map(bool, numbers[several]))
            return itemgetter(several)
        if isinstance(node, dict):
            return self._part(node)
        if isinstance(node, list):
            items = [self._node(each) for each in node]
            return lambda numbers: [build(numbers) for build in items]
        return lambda _: node

    def _part(self, fields: dict[str, Any]) -> Build:
        builds = [(name, self._node(node)) for name, node in fields.items()]
        return lambda numbers: SimpleNamespace(**{n: build(numbers) for n, build in builds})

    def _place(self, offset: int, dtype: Any, count: int) -> int:
        """Take so many numbers from an offset on; return the place of the first among all."""
        code = FORMATS[f'{dtype.kind}{dtype.itemsize}']
        # Fields follow one another; what lies between two of them is passed over.
        self._format.append(f'{offset - self._at}x{count}{code}')
        self._at = offset + count * dtype.itemsize
        self._count += count
        return self._count - count
