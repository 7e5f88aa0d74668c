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

"""Raw messages of a stretch of a recording, laid side by side."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


class Channel(NamedTuple):
    """One kind of message on one topic of a file."""

    topic: str
    type: str
    encoding: str = 'cdr'  # of the messages
    definition: str = ''  # of the type, as the file holds it; empty: it holds none
    syntax: str = ''  # of the definition: ros2msg, ros2idl
    qos: str = ''  # what the publisher offered, as the file tells it


@dataclass(frozen=True)
class Slab:
    """So many messages: where each lies in a buffer, of which channel, when it was recorded."""

    buffer: bytes
    starts: Integers  # (n,) of the messages in the buffer
    sizes: Integers  # (n,) bytes
    channels: Integers  # (n,) numbers of the channels
    log_ns: Integers  # (n,) when each was recorded

    def __len__(self) -> int:
        return len(self.log_ns)

    def of_channels(self, channels: Integers) -> Slab:
        """Return the same messages with other numbers of their channels."""
        return replace(self, channels=channels)

    def take(self, rows: slice | Integers | NDArray[np.bool_]) -> Slab:
        """Return some of the messages."""
        return Slab(
            self.buffer,
            self.starts[rows],
            self.sizes[rows],
            self.channels[rows],
            self.log_ns[rows],
        )

    def compact(self) -> Slab:
        """Return the same with no more in the buffer than the messages, where that is much."""
        if 2 * int(self.sizes.sum()) > len(self.buffer):
            return self
        sizes = self.sizes
        raw = b''.join(self.raw(row) for row in range(len(self)))
        return replace(self, buffer=raw, starts=np.cumsum(sizes) - sizes)

    def sorted(self) -> Slab:
        """Return them in the order of recording; those of one instant keep theirs."""
        if (self.log_ns[1:] >= self.log_ns[:-1]).all():
            return self
        return self.take(np.argsort(self.log_ns, kind='stable'))

    def raw(self, row: int) -> bytes:
        """Return the bytes of one message."""
        start = int(self.starts[row])
        return self.buffer[start : start + int(self.sizes[row])]


KEPT_FREE = 16 << 20  # bytes
NONE = np.empty(0, dtype=np.int64)
EMPTY = Slab(b'', NONE, NONE, NONE, NONE)


def joined(slabs: Sequence[Slab]) -> Slab:
    """Lay several slabs one behind the other."""
    whole = [slab for slab in slabs if len(slab)]
    if len(whole) < 2:
        return whole[0] if whole else EMPTY
    begins = np.cumsum([0, *(len(slab.buffer) for slab in whole[:-1])])
    return Slab(
        b''.join(slab.buffer for slab in whole),
        np.concatenate([slab.starts + at for slab, at in zip(whole, begins, strict=True)]),
        np.concatenate([slab.sizes for slab in whole]),
        np.concatenate([slab.channels for slab in whole]),
        np.concatenate([slab.log_ns for slab in whole]),
    )


def of_messages(messages: Sequence[tuple[int, int, bytes]]) -> Slab:
    """Lay messages side by side: (channel, log time [ns], bytes) of each."""
    return of_columns(*zip(*messages, strict=True)) if messages else EMPTY


def of_columns(channels: int | Sequence[int], log_ns: Sequence[int], raw: Sequence[bytes]) -> Slab:
    """Lay messages side by side: the channel of all or of each, their log times [ns], bytes."""
    sizes = np.fromiter(map(len, raw), dtype=np.int64, count=len(raw))
    numbers: Integers = np.empty(len(raw), dtype=np.int64)
    numbers[:] = channels
    times = np.array(log_ns, dtype=np.int64)
    return Slab(b''.join(raw), np.cumsum(sizes) - sizes, sizes, numbers, times)


class Piece(NamedTuple):
    """A part of a file that is read when its time has come."""

    start_ns: int  # no message of it was recorded before
    load: Callable[[], Slab]


def keep_freed_memory() -> None:
    """Let the allocator keep what is freed, for one stretch after the other.

    Once so much has been given back, one that learns (glibc's) does; else each stretch would be
    laid on pages that are new to the process.
    """
    np.empty(KEPT_FREE, dtype=np.uint8)


def merged(sources: Sequence[Iterator[Piece]]) -> Iterator[Piece]:
    """Yield the pieces of several files in the order of their starts."""
    return heapq.merge(*sources, key=lambda piece: piece.start_ns)


def in_order(pieces: Iterator[Piece]) -> Iterator[Slab]:
    """Yield the messages of pieces in the order of recording, with as few in memory as may be.

    :param pieces: in the order of their starts; they may overlap
    """
    held = EMPTY
    for piece in pieces:
        count = int(np.searchsorted(held.log_ns, piece.start_ns))
        if count == len(held):
            ready, held = held, EMPTY
        else:
            ready, held = held.take(slice(count)), held.take(slice(count, None)).compact()
        if count:
            yield ready
        held = joined([held, piece.load()]).sorted()
    if len(held):
        yield held
