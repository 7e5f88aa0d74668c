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

"""An mcap file as blocks of messages."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from repsq_ros.recordings import mcap_records as records
from repsq_ros.recordings.file_bytes import FileBytes
from repsq_ros.recordings.mcap_records import DamagedError, Records, find_records
from repsq_ros.recordings.mcap_scan import McapPart, scan
from repsq_ros.recordings.message_block import (
    EMPTY,
    Channel,
    Integers,
    LazyBlock,
    MessageBlock,
    joined,
)

INDEXED = np.dtype([('log', '<u8'), ('offset', '<u8')])
CHANNELS = 1 << 16  # largest number of channels in a file
TOGETHER = 256 << 10  # small chunks are read together, up to this size [bytes]


class McapStorage:
    """One open file.

    :param recover: report and skip damage
    :raises DamagedError: not an mcap file, or damaged and `recover` is false
    """

    def __init__(self, path: Path, recover: bool) -> None:
        self.path, self._recover = path, recover
        self.damage: list[str] = []
        self._file = FileBytes(path)
        try:
            self._contents = scan(self._file)
            for each in self._contents.damage:
                self._report(each)
            if not self._contents.channels or self._contents.damage:
                self._look_for_channels()
            self._check_data_crc()
        except BaseException:
            self._file.close()
            raise
        self._parts = sorted(self._contents.parts, key=lambda each: each.start_ns)
        self.channels: dict[int, Channel] = self._contents.channels
        self.counts = self._contents.counts  # None: the file has no summary
        self._known = _mask(self.channels)

    def _report(self, damage: str) -> None:
        if not self._recover:
            raise DamagedError(damage)
        if damage not in self.damage:
            self.damage.append(damage)

    def _look_for_channels(self) -> None:
        """Search all chunks for channels, since the file has no summary."""
        for part in self._contents.parts:
            data = self._unpacked(part)
            for opcode, begin, end in find_records(data).others:
                try:
                    self._contents.note(opcode, data[begin:end])
                except DamagedError as error:
                    self._report(str(error))

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def blocks(self, wanted: set[int]) -> Iterator[LazyBlock]:
        """Yield the parts ordered by their first messages, with the file's channel numbers."""
        of_interest = _mask(wanted)
        group: list[McapPart] = []
        size = 0
        for part in self._parts:
            if group and size + part.size > TOGETHER:
                yield LazyBlock(group[0].start_ns, partial(self._load, group, of_interest))
                group, size = [], 0
            group.append(part)
            size += part.size
        if group:
            yield LazyBlock(group[0].start_ns, partial(self._load, group, of_interest))

    def _load(self, group: Sequence[McapPart], wanted: NDArray[np.bool_]) -> MessageBlock:
        """Return the messages of selected channels in consecutive parts."""
        chunks: list[bytes] = []
        starts: list[Integers] = []
        size, indexed = 0, True
        chosen: list[McapPart] = []
        for part in group:
            index = self._indexed(part)
            if index and not any(wanted[number] for number in index):
                continue
            data = self._unpacked(part)
            chosen.append(part)
            chunks.append(data)
            if index and data:
                starts += [size + each for each in index.values()]
            else:
                indexed &= not data
            size += len(data)
        if not size:
            return EMPTY
        data = chunks[0] if len(chunks) == 1 else b''.join(chunks)
        found = find_records(data, np.concatenate(starts) if indexed else None)
        # read them separately: damage affects only its part
        if found.end != len(data) and len(chosen) > 1:
            return joined([self._load([part], wanted) for part in chosen]).sorted()
        return self._checked(chosen, data, found, wanted)

    def _checked(
        self,
        parts: Sequence[McapPart],
        data: bytes,
        found: Records,
        wanted: NDArray[np.bool_],
    ) -> MessageBlock:
        """Report what is wrong with the records of parts; return the selected messages."""
        at = f'at byte {parts[0].begin} of the file'
        left = len(data) - found.end
        if left and parts[0].complete:
            self._report(f'records that make no sense in a chunk {at}: {left} bytes not read')
        elif left:
            self._report(f'{left} bytes of a cut chunk {at} not read')
        block = found.messages
        if not len(block):
            return EMPTY
        strange = block.channels[~self._known[block.channels]]
        if len(strange):
            self._report(f'messages of a channel that is not there: {strange.min()}')
        log_ns = block.log_ns
        begin_ns, end_ns = parts[0].start_ns, max(part.end_ns for part in parts)
        if not (begin_ns <= log_ns.min() and log_ns.max() <= end_ns):
            self._report(f'messages recorded before or after their chunk, {at}')
        kept = wanted[block.channels]
        return (block if kept.all() else block.take(kept)).sorted()

    def _unpacked(self, part: McapPart) -> bytes:
        """Return the records of a part, as many as can be read."""
        before = 0 if part.head is None else part.head.length
        data = self._file.near(part.begin + before, part.length - before)
        if part.head is None:
            return data
        try:
            return records.unpacked(part.head, data, partly=not part.complete)
        except DamagedError as error:
            self._report(f'{error}, at byte {part.begin} of the file: its messages are not read')
            return b''

    def _indexed(self, part: McapPart) -> dict[int, Integers]:
        """Return where the messages of each channel begin, by a part's indexes."""
        found: dict[int, Integers] = {}
        if not (part.index and part.complete):
            return found
        begin, last = part.index[0][0], part.index[-1]
        data = self._file.near(begin, last[0] + last[1] - begin)
        for place, length in part.index:
            at = place - begin
            if length < 6 or (length - 6) % INDEXED.itemsize or at + length > len(data):
                return {}
            number = int.from_bytes(data[at : at + 2], 'little')
            count = (length - 6) // INDEXED.itemsize
            entries: NDArray[np.void] = np.frombuffer(data, INDEXED, count, at + 6)
            found[number] = entries['offset'].astype(np.int64)
        return found

    def _check_data_crc(self) -> None:
        """Compare the data with the checksum that some writers append."""
        crc = self._contents.data_crc
        if not crc:
            return
        found = 0
        for begin in range(0, self._contents.data_end, 1 << 20):
            block = self._file.at(begin, min(1 << 20, self._contents.data_end - begin))
            found = zlib.crc32(block, found)
        if found != crc:
            self._report('the checksum (CRC) of its data does not hold')


def _mask(numbers: set[int] | dict[int, Channel]) -> NDArray[np.bool_]:
    """Return the selection as a mask over all channels, (CHANNELS,)."""
    found = np.zeros(CHANNELS, dtype=np.bool_)
    found[list(numbers)] = True
    return found
