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

"""The records of an mcap file. The format: https://mcap.dev/spec.

A record is an opcode (1 byte), a length (8 bytes) and the content. The content of a message is its
channel (2), sequence number (4), log and publish time (8 each), then its data.
"""

from __future__ import annotations

import struct
import sys
import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from repsq_ros.recordings.message_block import EMPTY, Channel, Integers, MessageBlock

MAGIC = b'\x89MCAP0\r\n'
HEADER, FOOTER, SCHEMA, CHANNEL, MESSAGE = 0x01, 0x02, 0x03, 0x04, 0x05
CHUNK, INDEX, STATISTICS, DATA_END = 0x06, 0x07, 0x0B, 0x0F
HEAD = struct.Struct('<BQ')
IN_MESSAGE = 22  # bytes in a message record before its data
FOOTER_SIZE = HEAD.size + 20 + len(MAGIC)
LARGEST_CHUNK = 1 << 29  # largest accepted size of an unpacked chunk [bytes]
MESSAGE_HEAD = np.dtype(
    {
        'names': ['opcode', 'length', 'channel', 'log'],
        'offsets': [0, 1, 9, 15],
        'formats': ['u1', '<u8', '<u2', '<u8'],
        'itemsize': HEAD.size + IN_MESSAGE,
    }
)


class DamagedError(Exception):
    """A part of a file is damaged; the message says how."""


class ChunkHead(NamedTuple):
    """The header of a chunk."""

    start_ns: int
    end_ns: int
    size: int  # unpacked size of its records [bytes]
    crc: int  # checksum of its records; 0: none
    compression: str
    packed: int  # size of its records in the file [bytes]
    length: int  # size of this header [bytes]


class Records(NamedTuple):
    """The records in a range of bytes."""

    messages: MessageBlock
    others: list[tuple[int, int, int]]  # opcode, begin and end of the content
    end: int  # end of the last complete record


def chunk_head(data: bytes) -> ChunkHead:
    """Read the header of a chunk.

    :raises DamagedError: not a chunk
    """
    try:
        start, end, size, crc, name = struct.unpack_from('<QQQII', data, 0)
        compression = data[32 : 32 + name].decode()
        (packed,) = struct.unpack_from('<Q', data, 32 + name)
    except (struct.error, UnicodeDecodeError):
        raise DamagedError('a chunk without a complete beginning') from None
    if name > 16 or start >= 2**63 or end >= 2**63:
        raise DamagedError('a chunk whose beginning makes no sense')
    return ChunkHead(start, end, size, crc, compression, packed, 40 + name)


def schema(data: bytes) -> tuple[int, tuple[str, str, str]]:
    """Return the number of a schema, and its name, syntax and text."""
    (number,) = struct.unpack_from('<H', data, 0)
    name, at = _text(data, 2)
    syntax, at = _text(data, at)
    text, _ = _text(data, at)
    return number, (name, syntax, text)


def channel(data: bytes, schemas: dict[int, tuple[str, str, str]]) -> tuple[int, Channel]:
    """Return the number of a channel and what it is."""
    number, of = struct.unpack_from('<HH', data, 0)
    topic, at = _text(data, 4)
    encoding, at = _text(data, at)
    (length,) = struct.unpack_from('<I', data, at)
    at, end = at + 4, at + 4 + length
    more: dict[str, str] = {}
    while at < end:
        key, at = _text(data, at)
        more[key], at = _text(data, at)
    name, syntax, text = schemas.get(of, ('', '', ''))
    if encoding == 'ros1' and name.count('/') == 1:
        name = name.replace('/', '/msg/')  # ROS 1 has no msg folder in type names
    qos = more.get('offered_qos_profiles', '')
    return number, Channel(topic, name, encoding, text, syntax, qos)


def statistics(data: bytes) -> dict[int, int]:
    """Return the number of messages of each channel."""
    (length,) = struct.unpack_from('<I', data, 42)
    return dict(struct.iter_unpack('<HQ', data[46 : 46 + length]))


def _text(data: bytes, at: int) -> tuple[str, int]:
    (length,) = struct.unpack_from('<I', data, at)
    end = at + 4 + length
    if end > len(data):
        raise struct.error('text beyond its record')
    return data[at + 4 : end].decode(), end


def unpacked(head: ChunkHead, data: bytes, partly: bool = False) -> bytes:
    """Unpack the records of a chunk, up to the size that its header gives.

    :param partly: unpack as much as possible of a cut chunk
    :raises DamagedError: they cannot be unpacked, or their checksum is wrong
    """
    if head.compression not in _UNPACK:
        raise DamagedError(f'a chunk packed by {head.compression!r}, which is not understood')
    if head.size > LARGEST_CHUNK:
        raise DamagedError(
            f'a chunk that claims {head.size} bytes, expected at most {LARGEST_CHUNK}'
        )
    try:
        records: bytes = _UNPACK[head.compression](data, head.size + 1)
    except Exception as error:  # each library raises its own errors
        raise DamagedError(f'a chunk that cannot be unpacked ({error})') from None
    if len(records) > head.size:
        raise DamagedError(f'a chunk of more than the {head.size} bytes that its head says')
    if partly:
        return records
    if len(records) != head.size:
        raise DamagedError(f'a chunk of {len(records)} bytes in place of {head.size}')
    if head.crc and zlib.crc32(records) != head.crc:
        raise DamagedError('a chunk whose checksum (CRC) does not hold')
    return records


def zstd_module() -> Any:
    """Return zstd of Python 3.14, or its backport."""
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd


def _zstd(data: bytes, most: int) -> Any:
    return zstd_module().ZstdDecompressor().decompress(data, max_length=most)


def _lz4(data: bytes, most: int) -> Any:
    from lz4 import frame

    return frame.LZ4FrameDecompressor().decompress(data, max_length=most)


_UNPACK: dict[str, Callable[[bytes, int], Any]] = {
    '': lambda data, _: data,
    'lz4': _lz4,
    'zstd': _zstd,
}


# Messages among other records --------------------------------------------------------------------


def find_records(
    data: bytes, indexed: Integers | None = None, until: frozenset[int] = frozenset()
) -> Records:
    """Find all records from the start.

    :param indexed: positions of messages by an index; used only if these records and those in
        between fill the data
    :param until: stop before these opcodes
    """
    found = None if indexed is None else _by_index(data, indexed)
    return _one_by_one(data, 0, len(data), until) if found is None else found


def _one_by_one(data: bytes, begin: int, end: int, until: frozenset[int]) -> Records:
    starts: list[int] = []
    others: list[tuple[int, int, int]] = []
    at, unpack = begin, HEAD.unpack_from
    while at + HEAD.size <= end:
        opcode, length = unpack(data, at)
        after = at + HEAD.size + length
        if after > end or not opcode or opcode in until:
            break
        if opcode != MESSAGE:
            others.append((opcode, at + HEAD.size, after))
        elif length < IN_MESSAGE:
            break
        else:
            starts.append(at)
        at = after
    return Records(_block_at(data, np.array(starts, dtype=np.int64)), others, at)


def _by_index(data: bytes, indexed: Integers) -> Records | None:
    """Use an index if the records between its messages fill the data; None: they do not."""
    last = len(data) - HEAD.size - IN_MESSAGE
    if not len(indexed) or indexed.min() < 0 or indexed.max() > last:
        return None
    starts = np.sort(indexed, kind='stable')  # sorted per channel already
    heads = _heads(data, starts)
    lengths = heads['length']
    if (
        (heads['opcode'] != MESSAGE).any()
        or lengths.min() < IN_MESSAGE
        or lengths.max() > len(data)
    ):
        return None
    ends = starts + HEAD.size + lengths.astype(np.int64)
    gaps = np.flatnonzero(starts[1:] != ends[:-1])
    others: list[tuple[int, int, int]] = []
    for begin, end in (
        (0, int(starts[0])),
        *((int(ends[k]), int(starts[k + 1])) for k in gaps),
        (int(ends[-1]), len(data)),
    ):
        between = _one_by_one(data, begin, end, frozenset())
        if between.end != end or len(between.messages):
            return None
        others += between.others
    return Records(_block(data, starts, heads), others, len(data))


def _block_at(data: bytes, starts: Integers) -> MessageBlock:
    return _block(data, starts, _heads(data, starts)) if len(starts) else EMPTY


def _heads(data: bytes, starts: Integers) -> NDArray[Any]:
    """Return the headers of messages, (n,) of MESSAGE_HEAD."""
    size = MESSAGE_HEAD.itemsize
    # As plain bytes, since numpy copies a structure field by field.
    every: NDArray[Any] = np.ndarray((len(data) - size + 1,), f'V{size}', data, 0, (1,))
    return every[starts].view(MESSAGE_HEAD)


def _block(data: bytes, starts: Integers, heads: NDArray[Any]) -> MessageBlock:
    return MessageBlock(
        data,
        starts + HEAD.size + IN_MESSAGE,
        heads['length'].astype(np.int64) - IN_MESSAGE,
        heads['channel'].astype(np.int64),
        heads['log'].astype(np.int64),
    )
