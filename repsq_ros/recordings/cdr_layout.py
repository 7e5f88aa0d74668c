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

"""The places of the fields in a message, derived from one example message.

CDR has no fixed layout: strings and sequences have variable length. But among messages with the
same lengths, texts and encapsulation, each number has the same place. The numbers of many such
messages can be read as columns.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

HEAD = 4  # bytes of the encapsulation; alignment starts after it
PADDING = 3  # most bytes of padding after the last field
ITEMS = 4096  # largest number of strings and parts; messages with more are read one by one
BIG, LITTLE = b'\x00\x00', b'\x00\x01'
WIDTHS = {
    'bool': 'u1',
    'byte': 'u1',
    'char': 'u1',
    'octet': 'u1',
    'uint8': 'u1',
    'int8': 'i1',
    'uint16': 'u2',
    'int16': 'i2',
    'uint32': 'u4',
    'int32': 'i4',
    'float32': 'f4',
    'uint64': 'u8',
    'int64': 'i8',
    'float64': 'f8',
}


class Leaf(NamedTuple):
    """One number of a message."""

    offset: int
    dtype: np.dtype[Any]
    truth: bool = False  # it is a bool


class Elements(NamedTuple):
    """Several consecutive numbers."""

    offset: int
    dtype: np.dtype[Any]
    number: int
    truth: bool = False


# A part is a dict of its fields; a text is a str.
Node = dict[str, Any] | list[Any] | Leaf | Elements | str


class UnevenError(ValueError):
    """A message without a usable layout."""


class Layout:
    """The layout of all messages that match an example.

    :param raw: the example
    :param fields: definitions of all types, as rosbags has them
    :raises UnevenError: the example is damaged, or has too many parts
    """

    def __init__(self, raw: bytes, name: str, fields: Any) -> None:
        if raw[:2] not in (BIG, LITTLE):
            raise UnevenError('encapsulation')
        self.size = len(raw)
        self._raw, self._fields = raw, fields
        self.order = '<' if raw[:2] == LITTLE else '>'
        self._fixed: list[tuple[int, int]] = [(0, 2)]
        self._at = HEAD
        self._items = 0
        try:
            self.root: dict[str, Any] = self._part(name)
        except (IndexError, KeyError, UnicodeDecodeError) as error:
            raise UnevenError(str(error)) from None
        if not self._at <= self.size <= self._at + PADDING:
            raise UnevenError('size')
        self._words = [word for begin, end in _runs(self._fixed) for word in _words(begin, end)]

    @property
    def constants(self) -> list[tuple[int, int, bytes]]:
        """Return the bytes that all matching messages share: begin, end, bytes."""
        return [(begin, end, self._raw[begin:end]) for begin, end in _runs(self._fixed)]

    def fits(self, count: int, words: Callable[[int, str], NDArray[Any]]) -> NDArray[np.bool_]:
        """Return which messages match the example.

        :param count: number of messages, all of its size
        :param words: returns the values at an offset of all messages, (count,), as a dtype
        """
        fits = np.ones(count, dtype=np.bool_)
        for at, dtype in self._words:
            fits &= words(at, dtype) == np.frombuffer(self._raw, dtype, 1, at)
        return fits

    def _take(self, width: int, count: int = 1) -> int:
        self._at += -(self._at - HEAD) % width
        at = self._at
        self._at += width * count
        if self._at > self.size:
            raise IndexError('too short')
        return at

    def _length(self) -> int:
        at = self._take(4)
        self._fixed.append((at, at + 4))
        found = np.frombuffer(self._raw, dtype=f'{self.order}u4', count=1, offset=at)
        return int(found[0])

    def _part(self, name: str) -> dict[str, Any]:
        return {field: self._node(kind) for field, kind in self._fields[name][1]}

    def _node(self, kind: Any) -> Node:
        self._items += 1
        if self._items > ITEMS:
            raise UnevenError('too many parts')
        node, what = int(kind[0]), kind[1]
        if node == _NodeKind.BASE:
            return self._one(what[0])
        if node == _NodeKind.NAME:
            return self._part(what)
        of, count = what
        if node == _NodeKind.SEQUENCE:
            count = self._length()
        if int(of[0]) == _NodeKind.BASE and of[1][0] in WIDTHS:
            dtype = np.dtype(self.order + WIDTHS[of[1][0]])
            at = self._take(dtype.itemsize, count) if count else self._at
            return Elements(at, dtype, count, of[1][0] == 'bool')
        return [self._node(of) for _ in range(count)]

    def _one(self, base: str) -> Leaf | str:
        if base in WIDTHS:
            dtype = np.dtype(self.order + WIDTHS[base])
            return Leaf(self._take(dtype.itemsize), dtype, base == 'bool')
        if base != 'string':
            raise UnevenError(base)
        length = self._length()
        at = self._take(1, length)
        self._fixed.append((at, self._at))
        if self._raw[self._at - 1 : self._at] != b'\0':
            raise UnevenError('a text without an end')
        return self._raw[at : self._at][: max(length - 1, 0)].decode()


def _runs(places: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join adjacent byte ranges."""
    found = [places[0]]
    for begin, end in places[1:]:
        if begin == found[-1][1]:
            found[-1] = (found[-1][0], end)
        else:
            found.append((begin, end))
    return found


def _words(begin: int, end: int) -> list[tuple[int, str]]:
    """Split a byte range into as few words as possible: offset and dtype of each."""
    found = []
    while begin < end:
        width = next(each for each in (8, 4, 2, 1) if each <= end - begin)
        found.append((begin, f'u{width}'))
        begin += width
    return found


class _NodeKind:
    """Numbers of rosbags.interfaces.Nodetype."""

    BASE, NAME, ARRAY, SEQUENCE = 1, 2, 3, 4
