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

"""Raw messages of a part of a recording, in arrays."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


class Channel(NamedTuple):
    """A topic and type in a file."""

    topic: str
    type: str
    encoding: str = 'cdr'  # of the messages
    definition: str = ''  # definition of the type in the file; empty: none
    syntax: str = ''  # syntax of the definition: ros2msg, ros2idl
    qos: str = ''  # quality of service of the publisher, by the file


@dataclass(frozen=True)
class MessageBlock:
    """Messages in a buffer: position, size, channel and time of recording of each."""

    buffer: bytes
    starts: Integers  # (n,) position of each message in the buffer
    sizes: Integers  # (n,) bytes
    channels: Integers  # (n,) channel number of each message
    log_ns: Integers  # (n,) when each was recorded

    def __len__(self) -> int:
        return len(self.log_ns)

    def of_channels(self, channels: Integers) -> MessageBlock:
        """Return the same messages with other channel numbers."""
        return replace(self, channels=channels)

    def take(self, rows: slice | Integers | NDArray[np.bool_]) -> MessageBlock:
        """Return some of the messages."""
        return MessageBlock(
            self.buffer,
            self.starts[rows],
            self.sizes[rows],
            self.channels[rows],
            self.log_ns[rows],
        )

    def between(self, first_ns: int, last_ns: int) -> MessageBlock:
        """Return the messages recorded between two instants; the block must be sorted."""
        begin, end = np.searchsorted(self.log_ns, (first_ns, last_ns + 1))
        return self.take(slice(int(begin), int(end)))

    def compact(self) -> MessageBlock:
        """Return the same messages in a smaller buffer, if that saves much."""
        if 2 * int(self.sizes.sum()) > len(self.buffer):
            return self
        sizes = self.sizes
        raw = b''.join(self.raw(row) for row in range(len(self)))
        return replace(self, buffer=raw, starts=np.cumsum(sizes) - sizes)

    def sorted(self) -> MessageBlock:
        """Return them sorted by time of recording (stable)."""
        if (self.log_ns[1:] >= self.log_ns[:-1]).all():
            return self
        return self.take(np.argsort(self.log_ns, kind='stable'))

    def by_channel(self) -> Iterator[tuple[int, MessageBlock]]:
        """Yield the messages of each non-empty channel, with its number."""
        if not len(self):
            return
        if (self.channels == self.channels[0]).all():
            yield int(self.channels[0]), self
            return
        order = np.argsort(self.channels, kind='stable')
        for rows in np.split(order, np.flatnonzero(np.diff(self.channels[order])) + 1):
            yield int(self.channels[rows[0]]), self.take(rows)

    def raw(self, row: int) -> bytes:
        """Return the bytes of one message."""
        start = int(self.starts[row])
        return self.buffer[start : start + int(self.sizes[row])]


NONE = np.empty(0, dtype=np.int64)
EMPTY = MessageBlock(b'', NONE, NONE, NONE, NONE)


def joined(blocks: Sequence[MessageBlock]) -> MessageBlock:
    """Concatenate several blocks."""
    whole = [block for block in blocks if len(block)]
    if len(whole) < 2:
        return whole[0] if whole else EMPTY
    begins = np.cumsum([0, *(len(block.buffer) for block in whole[:-1])])
    return MessageBlock(
        b''.join(block.buffer for block in whole),
        np.concatenate([block.starts + at for block, at in zip(whole, begins, strict=True)]),
        np.concatenate([block.sizes for block in whole]),
        np.concatenate([block.channels for block in whole]),
        np.concatenate([block.log_ns for block in whole]),
    )


def of_messages(messages: Sequence[tuple[int, int, bytes]]) -> MessageBlock:
    """Make a block from (channel, log time [ns], bytes) of each message."""
    return of_columns(*zip(*messages, strict=True)) if messages else EMPTY


def of_columns(
    channels: int | Sequence[int], log_ns: Sequence[int], raw: Sequence[bytes]
) -> MessageBlock:
    """Make a block from the channel of all or of each, their log times [ns], and bytes."""
    sizes = np.fromiter(map(len, raw), dtype=np.int64, count=len(raw))
    numbers: Integers = np.empty(len(raw), dtype=np.int64)
    numbers[:] = channels
    times = np.array(log_ns, dtype=np.int64)
    return MessageBlock(b''.join(raw), np.cumsum(sizes) - sizes, sizes, numbers, times)


class LazyBlock(NamedTuple):
    """A part of a file that is read only when needed."""

    start_ns: int  # none of its messages was recorded earlier
    load: Callable[[], MessageBlock]


def merged(sources: Sequence[Iterator[LazyBlock]]) -> Iterator[LazyBlock]:
    """Yield the blocks of several files sorted by their start."""
    return heapq.merge(*sources, key=lambda lazy: lazy.start_ns)


def in_order(blocks: Iterator[LazyBlock]) -> Iterator[MessageBlock]:
    """Yield the messages sorted by time of recording, with as few blocks in memory as possible.

    :param blocks: sorted by their start; they may overlap
    """
    held = EMPTY
    for lazy in blocks:
        count = int(np.searchsorted(held.log_ns, lazy.start_ns))
        if count == len(held):
            ready, held = held, EMPTY
        else:
            ready, held = held.take(slice(count)), held.take(slice(count, None)).compact()
        if count:
            yield ready
        held = joined([held, lazy.load()]).sorted()
    if len(held):
        yield held
