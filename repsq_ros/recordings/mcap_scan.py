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

"""The parts of an mcap file, from its first record to its last, whether it is whole or cut."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from repsq_ros.recordings import mcap_records as records
from repsq_ros.recordings.mcap_records import ChunkHead, DamagedError
from repsq_ros.recordings.mcap_walk import HEAD, walk
from repsq_ros.recordings.message_block import Channel

BLOCK = 4 << 20  # bytes of messages outside of chunks that are one part
KNOWN = range(0x01, 0x10)
PRIVATE = 0x80  # opcodes from here on are anybody's own
ENDS = frozenset({records.CHUNK, records.DATA_END, records.FOOTER})


@dataclass
class McapPart:
    """A chunk, or messages that lie in none."""

    begin: int  # of its content in the file
    length: int
    start_ns: int
    end_ns: int
    head: ChunkHead | None = None  # None: no chunk
    index: list[tuple[int, int]] = field(default_factory=list)  # where its message indexes lie
    whole: bool = True  # False: the file ends in it


@dataclass
class McapContents:
    """What the scan found."""

    parts: list[McapPart] = field(default_factory=list)
    schemas: dict[int, tuple[str, str, str]] = field(default_factory=dict)
    channels: dict[int, Channel] = field(default_factory=dict)
    counts: dict[int, int] | None = None  # messages of each channel, as the file's end says
    damage: list[str] = field(default_factory=list)  # one line each
    data_end: int = 0  # where the data end, and
    data_crc: int = 0  # their checksum; 0: none

    def note(self, opcode: int, data: bytes) -> None:
        """Take in a schema, a channel or the statistics.

        :raises DamagedError: it is none
        """
        try:
            if opcode == records.SCHEMA:
                number, found = records.schema(data)
                self.schemas[number] = found
            elif opcode == records.CHANNEL:
                number, channel = records.channel(data, self.schemas)
                self.channels[number] = channel
            elif opcode == records.STATISTICS:
                self.counts = records.statistics(data)
        except (struct.error, UnicodeDecodeError) as error:
            raise DamagedError(f'a record {opcode:#04x} that makes no sense ({error})') from None


def scan(file: BinaryIO, size: int) -> McapContents:
    """Find the parts of a file, and what its end says of them.

    :raises DamagedError: it is no mcap file
    """
    if file.read(8) != records.MAGIC:
        raise DamagedError('does not begin as an mcap file does')
    found = McapContents()
    end, at = _read_end(file, size, found), 8
    while 0 <= at < (size if end < 0 else end):
        file.seek(at)
        try:
            at = _step(file, at, size, found)
        except DamagedError as error:
            after = _resume(file, at + 1, size)
            lost = (size if after < 0 else after) - at
            found.damage.append(f'{error}, at byte {at} of {size}: {lost} bytes passed over')
            at = after
    if end < 0 and not found.damage:
        found.damage.append(f'cut, or never closed: no footer after {size} bytes')
    return found


def _read_end(file: BinaryIO, size: int, found: McapContents) -> int:
    """Read what stands behind the data; return where they end; -1: nothing tells."""
    file.seek(max(size - records.FOOTER_SIZE, 8))
    tail = file.read()
    opcode, length = HEAD.unpack_from(tail, 0) if len(tail) >= HEAD.size else (0, 0)
    if tail[-8:] != records.MAGIC or (opcode, length) != (records.FOOTER, 20):
        return -1
    start, _, crc = struct.unpack_from('<QQI', tail, HEAD.size)
    footer = size - records.FOOTER_SIZE
    if not start:
        return footer
    if not 8 <= start <= footer:
        found.damage.append(f'the footer points to byte {start} of {size}')
        return footer
    file.seek(start)
    summary = file.read(footer - start)
    if crc and zlib.crc32(summary + tail[: HEAD.size + 16]) != crc:
        found.damage.append('the checksum (CRC) of its summary does not hold')
        return int(start)
    try:
        for opcode, begin, end in walk(summary).others:
            found.note(opcode, summary[begin:end])
    except DamagedError as error:
        found.damage.append(f'its summary holds {error}')
    return int(start)


def _step(file: BinaryIO, at: int, size: int, found: McapContents) -> int:
    """Take in what stands at a place; return where the next begins; -1: the data end here.

    :raises DamagedError: no record stands there
    """
    head = file.read(HEAD.size)
    if len(head) < HEAD.size:
        raise DamagedError('cut in the head of a record')
    opcode: int
    length: int
    opcode, length = HEAD.unpack(head)
    begin, after = at + HEAD.size, at + HEAD.size + length
    if opcode in (records.DATA_END, records.FOOTER):
        if opcode == records.DATA_END and length >= 4:
            found.data_end, found.data_crc = at, int.from_bytes(file.read(4), 'little')
        return -1
    if opcode not in KNOWN and opcode < PRIVATE:
        raise DamagedError(f'found no record ({opcode:#04x})')
    if opcode == records.CHUNK:
        chunk = records.chunk_head(file.read(min(length, 64)))
        if chunk.length + chunk.packed != length:
            raise DamagedError('found a chunk of another length than it says')
        part = McapPart(begin, length, chunk.start_ns, chunk.end_ns, chunk, whole=after <= size)
        found.parts.append(part)
        if not part.whole:
            part.length = size - begin
            found.damage.append(f'cut in the chunk at byte {at} of {size}')
            return -1
        return after
    if after > size:
        raise DamagedError(f'cut in a record {opcode:#04x}')
    if opcode == records.INDEX and found.parts and found.parts[-1].head:
        found.parts[-1].index.append((begin, length))
        return after
    if opcode in (records.SCHEMA, records.CHANNEL):
        found.note(opcode, file.read(length))
        return after
    if opcode != 0x05:
        return after
    return _bare(file, at, after, found)


def _bare(file: BinaryIO, at: int, after: int, found: McapContents) -> int:
    """Take in messages that lie in no chunk; return where others follow."""
    file.seek(at)
    block = file.read(max(BLOCK, after - at))
    seen = walk(block, until=ENDS)
    if not len(seen.messages):
        raise DamagedError('found a message that makes no sense')
    for opcode, begin, end in seen.others:
        found.note(opcode, block[begin:end])
    log_ns = seen.messages.log_ns
    found.parts.append(McapPart(at, seen.stopped, int(log_ns.min()), int(log_ns.max())))
    return at + seen.stopped


def _resume(file: BinaryIO, at: int, size: int) -> int:
    """Return where the next chunk begins behind damage; -1: there is none."""
    for begin in range(at, size, BLOCK):
        file.seek(begin)
        block = file.read(BLOCK + 128)
        for place in _like_chunks(block):
            found = begin + place
            _, length = HEAD.unpack_from(block, place)
            try:
                chunk = records.chunk_head(block[place + HEAD.size : place + 128])
            except DamagedError:
                continue
            right = chunk.length + chunk.packed == length and found + length < size
            if right and chunk.start_ns <= chunk.end_ns:
                return found
    return -1


def _like_chunks(block: bytes) -> Iterator[int]:
    """Yield where a chunk might begin: its opcode, and a length of less than 4 GB."""
    if len(block) < 128:
        return
    data: NDArray[np.uint8] = np.frombuffer(block, dtype=np.uint8)[: len(block) - 127]
    likely = data == records.CHUNK
    for k in range(5, 9):
        likely &= np.frombuffer(block, dtype=np.uint8)[k : k + len(data)] == 0
    yield from np.flatnonzero(likely).tolist()
