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

"""The records of a stretch of an mcap file, found many at a time.

The format: https://mcap.dev/spec. A record is an opcode (1 byte), a length (8 bytes) and so many
bytes; a message's are its channel (2), sequence number (4), log and publish time (8 each), then
its data.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from repsq_ros.recordings.message_block import EMPTY, Integers, MessageBlock

HEAD = struct.Struct('<BQ')
MESSAGE = 0x05
IN_MESSAGE = 22  # bytes of a message record before its data
RECORD = np.dtype(
    {
        'names': ['opcode', 'length', 'channel', 'log'],
        'offsets': [0, 1, 9, 15],
        'formats': ['u1', '<u8', '<u2', '<u8'],
        'itemsize': HEAD.size + IN_MESSAGE,
    }
)
RUN = 8  # messages of one size in a row that are worth a look at many
STEPS = 64  # records that are walked one by one before the next such look
SMALL = 1 << 12  # bytes that are walked at once, whatever is in them
LOOK = 32  # messages at first


class WalkedStretch(NamedTuple):
    """What lies in a stretch."""

    messages: MessageBlock
    others: list[tuple[int, int, int]]  # opcode, begin and end of the content
    stopped: int  # where no whole record follows; the end of the stretch: none was expected


def walk(
    data: bytes,
    hints: Callable[[], Integers | None] = lambda: None,
    until: frozenset[int] = frozenset(),
) -> WalkedStretch:
    """Find all records from the beginning on.

    :param hints: where messages are said to begin; believed where records follow from each other
    :param until: opcodes that end the stretch
    """
    starts, others, at = _by_runs(data, 0, len(data), until, give_up=True)
    if at >= 0:
        return WalkedStretch(_block(data, starts), others, at)
    found = _by_hints(data, hints())
    if found is not None:
        return found
    starts, others, at = _by_runs(data, 0, len(data), until)
    return WalkedStretch(_block(data, starts), others, at)


def _by_runs(
    data: bytes, begin: int, end: int, until: frozenset[int], give_up: bool = False
) -> tuple[list[Integers], list[tuple[int, int, int]], int]:
    """Walk record by record, over messages of one size in a row at once.

    :param give_up: return -1 where sizes change too often for that to be fast
    """
    starts: list[Integers] = []
    others: list[tuple[int, int, int]] = []
    singles: list[int] = []
    at, calm = begin, 0
    while at + HEAD.size <= end:
        opcode, length = HEAD.unpack_from(data, at)
        after = at + HEAD.size + length
        if after > end or opcode in until:
            break
        if opcode != MESSAGE:
            if not opcode:
                break
            others.append((opcode, at + HEAD.size, after))
            at = after
            continue
        if length < IN_MESSAGE:
            break
        if calm:
            calm -= 1
            singles.append(at)
            at = after
            continue
        count = _run(data, at, length, end)
        if count < RUN:
            if give_up and len(data) > SMALL:
                return [], [], -1
            calm = STEPS
        if singles:
            starts.append(np.array(singles, dtype=np.int64))
            singles = []
        starts.append(at + (HEAD.size + length) * np.arange(count))
        at += count * (HEAD.size + length)
    if singles:
        starts.append(np.array(singles, dtype=np.int64))
    return starts, others, at


def _run(data: bytes, at: int, length: int, end: int) -> int:
    """Return how many messages of one length follow each other."""
    stride = HEAD.size + length
    most = (end - at) // stride
    for many in (min(most, LOOK), most):
        heads: NDArray[Any] = np.ndarray((many,), RECORD, data, at, (stride,))
        other = (heads['opcode'] != MESSAGE) | (heads['length'] != length)
        if other.any():
            return int(np.argmax(other))
    return most


def _by_hints(data: bytes, hints: Integers | None) -> WalkedStretch | None:
    """Believe hints if the records between them fill the stretch; None: they do not."""
    room = len(data) - HEAD.size - IN_MESSAGE
    if hints is None or not len(hints) or hints.min() < 0 or hints.max() > room:
        return None
    starts = np.sort(hints, kind='stable')  # each channel's are in order
    heads = _heads(data, starts)
    if (heads['opcode'] != MESSAGE).any() or (heads['length'] > len(data)).any():
        return None
    ends = starts + HEAD.size + heads['length'].astype(np.int64)
    gaps = np.flatnonzero(starts[1:] != ends[:-1])
    others: list[tuple[int, int, int]] = []
    found = [starts]
    for begin, end in (
        (0, int(starts[0])),
        *((int(ends[k]), int(starts[k + 1])) for k in gaps),
        (int(ends[-1]), len(data)),
    ):
        more, between, at = _by_runs(data, begin, end, frozenset())
        if at != end:
            return None
        found += more
        others += between
    if len(found) > 1:
        return WalkedStretch(_block(data, [np.sort(np.concatenate(found))]), others, len(data))
    return WalkedStretch(_laid(data, starts, heads), others, len(data))


def _block(data: bytes, found: list[Integers]) -> MessageBlock:
    if not found:
        return EMPTY
    starts = found[0] if len(found) == 1 else np.concatenate(found)
    return _laid(data, starts, _heads(data, starts))


def _heads(data: bytes, starts: Integers) -> NDArray[Any]:
    """Return what stands before the data of messages, (n,) of RECORD."""
    size = RECORD.itemsize
    # As mere bytes, since numpy copies a structure field by field.
    every: NDArray[Any] = np.ndarray((len(data) - size + 1,), f'V{size}', data, 0, (1,))
    return every[starts].view(RECORD)


def _laid(data: bytes, starts: Integers, heads: NDArray[Any]) -> MessageBlock:
    return MessageBlock(
        data,
        starts + HEAD.size + IN_MESSAGE,
        heads['length'].astype(np.int64) - IN_MESSAGE,
        heads['channel'].astype(np.int64),
        heads['log'].astype(np.int64),
    )
