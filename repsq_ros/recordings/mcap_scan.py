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

"""Finding the chunks of an mcap file, also of an incomplete one."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from repsq_ros.recordings import mcap_records as records
from repsq_ros.recordings.file_bytes import FileBytes
from repsq_ros.recordings.mcap_records import HEAD, ChunkHead, DamagedError, find_records
from repsq_ros.recordings.message_block import Channel

BARE = 4 << 20  # bytes read at once of messages outside of chunks
KNOWN = range(0x01, 0x10)
PRIVATE = 0x80  # first opcode of private records
ENDS = frozenset({records.CHUNK, records.DATA_END, records.FOOTER})


@dataclass(slots=True)
class McapPart:
    """A chunk, or messages outside of chunks."""

    begin: int  # position of its content in the file
    length: int
    start_ns: int
    end_ns: int
    head: ChunkHead | None = None  # None: messages outside of chunks
    index: list[tuple[int, int]] = field(default_factory=list)  # positions of its message indexes
    complete: bool = True  # False: the file ends inside it

    @property
    def size(self) -> int:
        """Size in memory [bytes]."""
        return self.length if self.head is None else self.head.size


@dataclass
class McapContents:
    """The result of the scan."""

    parts: list[McapPart] = field(default_factory=list)
    schemas: dict[int, tuple[str, str, str]] = field(default_factory=dict)
    channels: dict[int, Channel] = field(default_factory=dict)
    # messages of each channel, by the summary at the file's end
    counts: dict[int, int] | None = None
    damage: list[str] = field(default_factory=list)  # what is damaged, one line each
    data_end: int = 0  # end of the data section, and
    data_crc: int = 0  # its checksum; 0: none

    def note(self, opcode: int, data: bytes) -> None:
        """Store a schema, a channel or the statistics.

        :raises DamagedError: it cannot be parsed
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


def scan(file: FileBytes) -> McapContents:
    """Find the parts of a file, and read its summary.

    :raises DamagedError: not an mcap file
    """
    if file.at(0, 8) != records.MAGIC:
        raise DamagedError('does not begin as an mcap file does')
    found, size = McapContents(), file.size
    end, at = _read_end(file, found), 8
    while 0 <= at < (size if end < 0 else end):
        try:
            at = _step(file, at, found)
        except DamagedError as error:
            after = _resume(file, at + 1)
            lost = (size if after < 0 else after) - at
            found.damage.append(f'{error}, at byte {at} of {size}: {lost} bytes passed over')
            at = after
    if end < 0 and not found.damage:
        found.damage.append(f'cut, or never closed: no footer after {size} bytes')
    return found


def _read_end(file: FileBytes, found: McapContents) -> int:
    """Read the summary after the data; return the end of the data; -1: there is no summary."""
    footer = max(file.size - records.FOOTER_SIZE, 8)
    tail = file.at(footer, records.FOOTER_SIZE)
    opcode, length = HEAD.unpack_from(tail, 0) if len(tail) >= HEAD.size else (0, 0)
    if tail[-8:] != records.MAGIC or (opcode, length) != (records.FOOTER, 20):
        return -1
    start, _, crc = struct.unpack_from('<QQI', tail, HEAD.size)
    if not start:
        return footer
    if not 8 <= start <= footer:
        found.damage.append(f'the footer points to byte {start} of {file.size}')
        return footer
    summary = file.at(start, footer - start)
    if crc and zlib.crc32(summary + tail[: HEAD.size + 16]) != crc:
        found.damage.append('the checksum (CRC) of its summary does not hold')
        return int(start)
    try:
        for opcode, begin, end in find_records(summary).others:
            found.note(opcode, summary[begin:end])
    except DamagedError as error:
        found.damage.append(f'its summary holds {error}')
    return int(start)


def _step(file: FileBytes, at: int, found: McapContents) -> int:
    """Read the record at a position; return the next position; -1: end of the data.

    :raises DamagedError: there is no record
    """
    head = file.near(at, HEAD.size)
    if len(head) < HEAD.size:
        raise DamagedError('cut in the head of a record')
    opcode: int
    length: int
    opcode, length = HEAD.unpack(head)
    begin, after = at + HEAD.size, at + HEAD.size + length
    if opcode in (records.DATA_END, records.FOOTER):
        if opcode == records.DATA_END and length >= 4:
            found.data_end, found.data_crc = at, int.from_bytes(file.at(begin, 4), 'little')
        return -1
    if opcode not in KNOWN and opcode < PRIVATE:
        raise DamagedError(f'found no record ({opcode:#04x})')
    if opcode == records.CHUNK:
        chunk = records.chunk_head(file.near(begin, min(length, 64)))
        if chunk.length + chunk.packed != length:
            raise DamagedError('found a chunk whose length differs from its header')
        part = McapPart(begin, length, chunk.start_ns, chunk.end_ns, chunk)
        found.parts.append(part)
        if after <= file.size:
            return after
        part.length, part.complete = file.size - begin, False
        found.damage.append(f'cut in the chunk at byte {at} of {file.size}')
        return -1
    if after > file.size:
        raise DamagedError(f'cut in a record {opcode:#04x}')
    if opcode == records.MESSAGE:
        return _bare(file, at, after, found)
    if opcode == records.INDEX and found.parts and found.parts[-1].head:
        found.parts[-1].index.append((begin, length))
    if opcode in (records.SCHEMA, records.CHANNEL):
        found.note(opcode, file.at(begin, length))
    return after


def _bare(file: FileBytes, at: int, after: int, found: McapContents) -> int:
    """Read messages outside of chunks; return the position after them."""
    block = file.at(at, max(BARE, after - at))
    seen = find_records(block, until=ENDS)
    if not len(seen.messages):
        raise DamagedError('found a message that makes no sense')
    for opcode, begin, end in seen.others:
        found.note(opcode, block[begin:end])
    log_ns = seen.messages.log_ns
    found.parts.append(McapPart(at, seen.end, int(log_ns.min()), int(log_ns.max())))
    return at + seen.end


def _resume(file: FileBytes, at: int) -> int:
    """Return the position of the next chunk after damage; -1: none."""
    for begin in range(at, file.size, BARE):
        block = file.at(begin, BARE + 128)
        for place in _like_chunks(block):
            found = begin + place
            _, length = HEAD.unpack_from(block, place)
            try:
                chunk = records.chunk_head(block[place + HEAD.size : place + 128])
            except DamagedError:
                continue
            right = chunk.length + chunk.packed == length and found + length < file.size
            if right and chunk.start_ns <= chunk.end_ns:
                return found
    return -1


def _like_chunks(block: bytes) -> Iterator[int]:
    """Yield positions where a chunk might begin: its opcode, and a length below 4 GB."""
    if len(block) < 128:
        return
    data: NDArray[np.uint8] = np.frombuffer(block, dtype=np.uint8)
    count = len(data) - 127
    likely = data[:count] == records.CHUNK
    for k in range(5, 9):
        likely &= data[k : k + count] == 0
    yield from np.flatnonzero(likely).tolist()
