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

"""Many messages of one layout read together: each number is a column."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from repsq_ros.measurement.samples import NumberColumn
from repsq_ros.recordings.cdr_layout import Elements, Layout, Leaf, Node
from repsq_ros.recordings.message_block import MessageBlock


class Rows:
    """The bytes of equally sized messages at equal distances in a buffer.

    :param block: one or more messages of one size
    """

    def __init__(self, block: MessageBlock) -> None:
        size, starts = int(block.sizes[0]), block.starts
        self.count = len(block)
        steps = np.diff(starts)
        if self.count < 2 or (steps == steps[0]).all():
            self._buffer: Any = block.buffer
            self._first = int(starts[0])
            self._stride = int(steps[0]) if len(steps) else size
        else:
            every: NDArray[Any] = np.ndarray(
                (len(block.buffer) - size + 1,), np.dtype(f'V{size}'), block.buffer, 0, (1,)
            )
            self._buffer, self._first, self._stride = every[starts], 0, size

    def words(self, offset: int, dtype: np.dtype[Any] | str) -> NDArray[Any]:
        """Return the values at an offset of all messages, (n,)."""
        return np.ndarray(
            (self.count,), dtype, self._buffer, self._first + offset, (self._stride,)
        )

    def numbers(self, offset: int, dtype: np.dtype[Any], truth: bool) -> NumberColumn:
        """Return the number at an offset of all messages, (n,): int64, uint64, float64 or bool.

        64-bit floats are a view into the buffer, not a copy.
        """
        if dtype == np.float64:
            where: NumberColumn = self.words(offset, dtype).view(NumberColumn)
            return where
        if truth:
            wide: Any = np.bool_
        elif dtype.kind == 'f':
            wide = np.float64
        else:
            wide = np.uint64 if dtype.kind + str(dtype.itemsize) == 'u8' else np.int64
        column: NumberColumn = self.words(offset, dtype).astype(wide).view(NumberColumn)
        return column


class Part:
    """A message or a part of one: its fields are columns, texts, or parts."""

    __slots__ = ('_fields', '_rows')

    def __init__(self, rows: Rows, fields: dict[str, Any]) -> None:
        self._rows, self._fields = rows, fields

    def __getattr__(self, name: str) -> Any:
        try:
            node = self._fields[name]
        except KeyError:
            raise AttributeError(name) from None
        return _seen(self._rows, node)


class RowElements:
    """Several consecutive numbers of each message: one column for each."""

    __slots__ = ('_node', '_rows')

    def __init__(self, rows: Rows, node: Elements) -> None:
        self._rows, self._node = rows, node

    def __len__(self) -> int:
        return self._node.number

    def __getitem__(self, index: int) -> NumberColumn:
        node = self._node
        if not -node.number <= index < node.number:
            raise IndexError(index)
        offset = node.offset + index % node.number * node.dtype.itemsize
        return self._rows.numbers(offset, node.dtype, node.truth)

    def __iter__(self) -> Iterator[NumberColumn]:
        return (self[index] for index in range(self._node.number))


def _seen(rows: Rows, node: Node) -> Any:
    if isinstance(node, Leaf):
        return rows.numbers(*node)
    if isinstance(node, Elements):
        return RowElements(rows, node)
    if isinstance(node, dict):
        return Part(rows, node)
    if isinstance(node, list):
        return [_seen(rows, each) for each in node]
    return node


def message_of(rows: Rows, layout: Layout) -> Part:
    """Return messages of one layout as one message with columns as fields."""
    return Part(rows, layout.root)
