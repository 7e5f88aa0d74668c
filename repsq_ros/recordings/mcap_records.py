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

"""What the records of an mcap file say, but for messages. The format: https://mcap.dev/spec."""

from __future__ import annotations

import struct
import sys
import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

from repsq_ros.recordings.message_block import Channel

MAGIC = b'\x89MCAP0\r\n'
HEADER, FOOTER, SCHEMA, CHANNEL = 0x01, 0x02, 0x03, 0x04
CHUNK, INDEX, STATISTICS, DATA_END = 0x06, 0x07, 0x0B, 0x0F
FOOTER_SIZE = 9 + 20 + len(MAGIC)
COMPRESSIONS = ('', 'lz4', 'zstd')


class DamagedError(Exception):
    """A part of a file is not what it should be; the message says what is wrong with it."""


class ChunkHead(NamedTuple):
    """The beginning of a chunk."""

    start_ns: int
    end_ns: int
    size: int  # of its records
    crc: int  # of its records; 0: none
    compression: str
    packed: int  # bytes of its records in the file
    length: int  # of this beginning


def chunk_head(data: bytes) -> ChunkHead:
    """Read the beginning of a chunk.

    :raises DamagedError: there is none
    """
    try:
        start, end, size, crc, name = struct.unpack_from('<QQQII', data, 0)
        compression = data[32 : 32 + name].decode()
        (packed,) = struct.unpack_from('<Q', data, 32 + name)
    except (struct.error, UnicodeDecodeError):
        raise DamagedError('a chunk without a whole beginning') from None
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
    """Return the records of a chunk.

    :param partly: as many as can be had, where the chunk is cut
    :raises DamagedError: they cannot be had, or are not those that were written
    """
    if head.compression not in COMPRESSIONS:
        raise DamagedError(f'a chunk packed by {head.compression!r}, which is not understood')
    try:
        records: bytes = _UNPACK[head.compression](data, partly)
    except Exception as error:  # each library has errors of its own
        raise DamagedError(f'a chunk that cannot be unpacked ({error})') from None
    if partly:
        return records
    if len(records) != head.size:
        raise DamagedError(f'a chunk of {len(records)} bytes in place of {head.size}')
    if head.crc and zlib.crc32(records) != head.crc:
        raise DamagedError('a chunk whose checksum (CRC) does not hold')
    return records


def _zstd(data: bytes, partly: bool) -> Any:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd.ZstdDecompressor().decompress(data) if partly else zstd.decompress(data)


def _lz4(data: bytes, partly: bool) -> Any:
    from lz4 import frame

    return frame.LZ4FrameDecompressor().decompress(data) if partly else frame.decompress(data)


_UNPACK: dict[str, Callable[[bytes, bool], Any]] = {
    '': lambda data, partly: data,
    'lz4': _lz4,
    'zstd': _zstd,
}
