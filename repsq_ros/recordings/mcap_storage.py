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
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from repsq_ros.recordings import mcap_records as records
from repsq_ros.recordings.mcap_records import DamagedError
from repsq_ros.recordings.mcap_scan import McapPart, scan
from repsq_ros.recordings.mcap_walk import WalkedStretch, walk
from repsq_ros.recordings.message_block import EMPTY, Channel, Integers, LazyBlock, MessageBlock

INDEXED = np.dtype([('log', '<u8'), ('offset', '<u8')])


class McapStorage:
    """One file, opened.

    :param recover: damage is noted and passed over
    :raises DamagedError: it is no mcap file, or damaged and not to be recovered
    """

    by_topic = False

    def __init__(self, path: Path, recover: bool) -> None:
        self.path, self._recover = path, recover
        self.damage: list[str] = []
        self._file = path.open('rb')
        try:
            found = scan(self._file, path.stat().st_size)
        except BaseException:
            self._file.close()
            raise
        self._contents, self._parts = found, found.parts
        for each in found.damage:
            self._tell(each)
        if not found.channels or found.damage:
            self._look_for_channels()
        self.counts = found.counts  # None: the file's end does not say
        self._check_data_crc()

    def _tell(self, damage: str) -> None:
        if not self._recover:
            self._file.close()
            raise DamagedError(damage)
        if damage not in self.damage:
            self.damage.append(damage)

    @property
    def channels(self) -> dict[int, Channel]:
        """What the channels are, by their numbers in this file."""
        return self._contents.channels

    def _look_for_channels(self) -> None:
        """Look into all chunks: the file's end does not tell what is in them."""
        for part in self._parts:
            data, _ = self._records(part)
            for opcode, begin, end in walk(data).others:
                try:
                    self._contents.note(opcode, data[begin:end])
                except DamagedError as error:
                    self._tell(str(error))

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def blocks(self, wanted: set[int]) -> Iterator[LazyBlock]:
        """Yield the parts in the order of their first messages; numbers are those of the file."""
        for part in sorted(self._parts, key=lambda each: each.start_ns):
            yield LazyBlock(part.start_ns, partial(self._load, part, wanted))

    def _load(self, part: McapPart, wanted: set[int]) -> MessageBlock:
        indexed = self._indexed(part) if part.whole and part.index else None
        if indexed is not None and not wanted & set(indexed):
            return EMPTY
        data, whole = self._records(part)

        def hints() -> Integers | None:
            return np.concatenate(list(indexed.values())) if indexed else None

        found = walk(data, hints)
        self._check_end(part, data, found, whole)
        block = found.messages
        kept = np.isin(block.channels, list(wanted)) if len(wanted) < len(self.channels) else None
        strange = set(np.flatnonzero(np.bincount(block.channels)).tolist()) - set(self.channels)
        if strange:
            self._tell(f'messages of a channel that is not there: {min(strange)}')
            kept = np.isin(block.channels, list(wanted))
        log_ns = block.log_ns
        if len(block) and not (part.start_ns <= log_ns.min() and log_ns.max() <= part.end_ns):
            self._tell(
                f'messages recorded before or after their chunk, at byte {part.begin} of the file'
            )
        return (block if kept is None or kept.all() else block.take(kept)).sorted()

    def _check_end(self, part: McapPart, data: bytes, found: WalkedStretch, whole: bool) -> None:
        if found.stopped != len(data):
            left = len(data) - found.stopped
            at = f'at byte {part.begin} of the file'
            if whole:
                self._tell(f'records that make no sense in a chunk {at}: {left} bytes not read')
            else:
                self._tell(f'{left} bytes of a cut chunk {at} not read')

    def _records(self, part: McapPart) -> tuple[bytes, bool]:
        """Return the records of a part, and whether they are all of them."""
        before = 0 if part.head is None else part.head.length
        self._file.seek(part.begin + before)
        data = self._file.read(max(part.length - before, 0))
        if part.head is None:
            return data, True
        try:
            return records.unpacked(part.head, data, partly=not part.whole), part.whole
        except DamagedError as error:
            self._tell(f'{error}, at byte {part.begin} of the file: its messages are not read')
            return b'', True

    def _indexed(self, part: McapPart) -> dict[int, Integers] | None:
        """Return where the chunk's indexes say that the messages of each channel begin."""
        found: dict[int, Integers] = {}
        begin, last = part.index[0][0], part.index[-1]
        self._file.seek(begin)
        data = self._file.read(last[0] + last[1] - begin)
        for at, length in part.index:
            one = data[at - begin : at - begin + length]
            if length < 6 or (length - 6) % INDEXED.itemsize:
                return None
            number = int.from_bytes(one[:2], 'little')
            entries: NDArray[np.void] = np.frombuffer(one, dtype=INDEXED, offset=6)
            found[number] = entries['offset'].astype(np.int64)
        return found

    def _check_data_crc(self) -> None:
        """Hold the data against the checksum that some writers put behind them."""
        crc = self._contents.data_crc
        if not crc:
            return
        self._file.seek(0)
        left, found = self._contents.data_end, 0
        while left > 0:
            block = self._file.read(min(left, 1 << 20))
            if not block:
                break
            found, left = zlib.crc32(block, found), left - len(block)
        if found != crc:
            self._tell('the checksum (CRC) of its data does not hold')
