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

"""Messages as plain values, read quickly by the layout of an earlier similar message.

The package's own messages come in few layouts. Numbers become int, float or bool, several
numbers a tuple, and parts a named tuple with the message's fields. If a large part has the same
bytes as in the previous message, such as the case in all its phases, the same object is
returned.
"""

from __future__ import annotations

import struct
from collections import namedtuple
from collections.abc import Callable, Iterator
from functools import cache, partial
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
LARGE = 48  # bytes from which a part is compared with the previous message
Build = Callable[[tuple[Any, ...]], Any]


class PlainReader:
    """Reads messages of one layout, and rejects all others.

    :param layout: of a message of this kind
    """

    def __init__(self, layout: Layout) -> None:
        self._size, self._same = layout.size, layout.constants
        self._format, self._at, self._count = [layout.order], 0, 0
        self._raw = b''  # the message being read
        self._build = self._part(layout.root)
        self._numbers = struct.Struct(''.join(self._format))  # reads all numbers at once

    def read(self, raw: bytes) -> Any:
        """Return one message; None: it has another layout."""
        if len(raw) != self._size:
            return None
        for begin, end, expected in self._same:
            if raw[begin:end] != expected:
                return None
        self._raw = raw
        return self._build(self._numbers.unpack_from(raw))

    def _node(self, node: Node) -> Build:
        if isinstance(node, Leaf):
            return itemgetter(self._place(node.offset, node.dtype, 1, node.truth))
        if isinstance(node, Elements):
            if not node.number:
                return lambda _: ()
            begin = self._place(node.offset, node.dtype, node.number, node.truth)
            return itemgetter(slice(begin, begin + node.number))
        if isinstance(node, dict):
            return self._reusing_part(node)
        if isinstance(node, list) and not all(isinstance(each, str) for each in node):
            items = [self._node(each) for each in node]
            return lambda numbers: [build(numbers) for build in items]
        return lambda _: node

    def _part(self, fields: dict[str, Any]) -> Build:
        make = _maker(tuple(fields))
        if all(isinstance(node, Leaf) for node in fields.values()) and len(fields) > 1:
            several = itemgetter(
                *[self._place(node.offset, node.dtype, 1, node.truth) for node in fields.values()]
            )
            return lambda numbers: make(several(numbers))
        builds = [self._node(node) for node in fields.values()]
        return lambda numbers: make([build(numbers) for build in builds])

    def _reusing_part(self, fields: dict[str, Any]) -> Build:
        """Return a builder that reuses the previous part if the bytes are equal."""
        build = self._part(fields)
        places = list(_places(fields))
        begin, end = min(places, default=(0, 0))[0], max((end for _, end in places), default=0)
        if end - begin < LARGE:
            return build
        before: bytes = b''
        made: Any = None

        def part(numbers: tuple[Any, ...]) -> Any:
            nonlocal before, made
            found = self._raw[begin:end]
            if found != before:
                before, made = found, build(numbers)
            return made

        return part

    def _place(self, offset: int, dtype: Any, count: int, truth: bool) -> int:
        """Register `count` numbers at an offset; return the index of the first one."""
        code = '?' if truth else FORMATS[f'{dtype.kind}{dtype.itemsize}']
        # Bytes between two fields are skipped.
        self._format.append(f'{offset - self._at}x{count}{code}')
        self._at = offset + count * dtype.itemsize
        self._count += count
        return self._count - count


def _places(node: Node) -> Iterator[tuple[int, int]]:
    """Yield begin and end of all numbers in a part."""
    if isinstance(node, Leaf):
        yield node.offset, node.offset + node.dtype.itemsize
    elif isinstance(node, Elements):
        yield node.offset, node.offset + node.number * node.dtype.itemsize
    elif isinstance(node, dict | list):
        for each in node.values() if isinstance(node, dict) else node:
            yield from _places(each)


@cache
def _maker(names: tuple[str, ...]) -> Callable[[Any], Any]:
    """Return a function that makes a part from its field values."""
    try:
        kind = namedtuple('Part', names)  # type: ignore[misc]
    except ValueError:  # a field name is a Python keyword
        return lambda values: SimpleNamespace(**dict(zip(names, values, strict=True)))
    return partial(tuple.__new__, kind)  # like its _make, without counting the values
