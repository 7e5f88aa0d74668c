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

"""The rows of a damaged sqlite3 file, page by page: https://www.sqlite.org/fileformat2.html.

Every page of the file is read once, ignoring the trees of pages. The types of its columns decide
whether a row is a message or a topic.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from repsq_ros.recordings.file_bytes import FileBytes

LEAF = 0x0D  # first byte of a page with rows of a table
FIRST_HEADER = 100  # bytes before the first page's own header
AT_ONCE = 256  # pages read at once
ZERO = 8  # type of a column that is 0; the next one is 1
# size of each integer type [bytes]
INTEGERS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8, ZERO: 0, ZERO + 1: 0}


class StoredRow(NamedTuple):
    """A row as stored in the file."""

    number: int  # its key in the table
    types: tuple[int, ...]  # types of its columns
    data: bytes  # consecutive columns, as far as they are on its page
    begin: int  # position of the columns in the file
    size: int  # size of all columns [bytes]
    overflow: int  # page with the rest; 0: none


class SqlitePages:
    """The pages of a file.

    :ivar unreadable: pages with invalid rows, or that ended inside a row
    """

    def __init__(self, file: FileBytes) -> None:
        head = file.at(0, FIRST_HEADER)
        size = int.from_bytes(head[16:18], 'big')
        self._file, self._size = file, {0: 4096, 1: 65536}.get(size, size)
        self._usable = self._size - head[20]
        self._count = file.size // self._size if self._size >= 512 else 0
        self.unreadable = 0

    def rows(self) -> Iterator[StoredRow]:
        """Yield the rows of all tables, in the order of the pages."""
        for first in range(0, self._count, AT_ONCE):
            data = self._file.at(first * self._size, AT_ONCE * self._size)
            for begin in range(0, len(data) - self._size + 1, self._size):
                at = begin if begin or first else FIRST_HEADER
                if data[at] != LEAF:
                    continue
                page = data[begin : begin + self._size]
                try:
                    yield from self._rows_of(page, at - begin, first * self._size + begin)
                except (IndexError, struct.error, ValueError):
                    self.unreadable += 1

    def _rows_of(self, page: bytes, at: int, place: int) -> Iterator[StoredRow]:
        (count,) = struct.unpack_from('>H', page, at + 3)
        for cell in struct.unpack_from(f'>{count}H', page, at + 8):
            size, where = _varint(page, cell)
            number, where = _varint(page, where)
            local = self._local(size)
            overflow = 0
            if local < size:
                (overflow,) = struct.unpack_from('>I', page, where + local)
            if size > self._file.size or where + local > self._usable:
                raise ValueError('a row beyond its page')
            end, column = _varint(page, where)
            end += where
            types = []
            while column < end:
                kind, column = _varint(page, column)
                types.append(kind)
            last = where + local
            if not where < end <= last:
                raise ValueError('types of columns beyond their page')
            yield StoredRow(
                number, tuple(types), page[end:last], place + end, size - (end - where), overflow
            )

    def _local(self, size: int) -> int:
        """Return how many bytes of a row are on its own page."""
        usable = self._usable
        if size <= usable - 35:
            return size
        least = (usable - 12) * 32 // 255 - 23
        local = least + (size - least) % (usable - 4)
        return local if local <= usable - 35 else least

    def content(self, begin: int, stored: int, size: int, overflow: int) -> bytes | None:
        """Return the end of a row, also from overflow pages; None: a page is missing.

        :param begin: position in the file
        :param stored: bytes of it at that position
        :param size: bytes in total
        :param overflow: page with the rest; 0: none
        """
        parts, left, page = [self._file.at(begin, stored)], size - stored, overflow
        while left > 0:
            if not 1 < page <= self._count:
                return None
            more = self._file.at((page - 1) * self._size, self._usable)
            page = int.from_bytes(more[:4], 'big')
            parts.append(more[4 : 4 + left])
            left -= len(parts[-1])
        return b''.join(parts)


def integers(types: Sequence[int], data: bytes) -> tuple[list[int], int]:
    """Return columns of integers, and their size in bytes.

    :raises ValueError: a column is not an integer
    """
    found, at = [], 0
    for kind in types:
        if kind not in INTEGERS:
            raise ValueError('no integer')
        end = at + INTEGERS[kind]
        found.append(int.from_bytes(data[at:end], 'big', signed=True) if end > at else kind - ZERO)
        at = end
    return found, at


def texts(types: Sequence[int], data: bytes) -> list[str]:
    """Return columns of text.

    :raises ValueError: a column is not text
    """
    found, at = [], 0
    for kind in types:
        if kind < 13 or not kind % 2:
            raise ValueError('no text')
        found.append(data[at : at + (kind - 13) // 2].decode())
        at += (kind - 13) // 2
    return found


def _varint(data: bytes, at: int) -> tuple[int, int]:
    first = data[at]
    if first < 0x80:
        return first, at + 1
    value = first & 0x7F
    for place in range(at + 1, at + 8):
        byte = data[place]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, place + 1
    value = value << 8 | data[at + 8]
    return value - (1 << 64) if value >= 1 << 63 else value, at + 9
