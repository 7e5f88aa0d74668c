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

"""An sqlite3 file of rosbag2 as blocks of messages."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

from repsq_ros.recordings.mcap_records import DamagedError
from repsq_ros.recordings.message_block import (
    EMPTY,
    Channel,
    LazyBlock,
    MessageBlock,
    joined,
    of_columns,
    of_messages,
)

MAGIC = b'SQLite format 3\0'
BESIDE = ('-wal', '-journal')  # what a database that was not closed leaves
ROWS, BYTES = 8192, 4 << 20  # about so many that are read at once
FIRST, AT_ONCE = 16, 256  # rows, before their size is known and after
ONE = 'SELECT timestamp, data FROM messages WHERE topic_id = ? ORDER BY timestamp'
SEVERAL = (
    'SELECT topic_id, timestamp, data FROM messages WHERE topic_id IN ({}) ORDER BY timestamp'
)
BY_ID = 'SELECT id, topic_id, timestamp, data FROM messages WHERE id BETWEEN ? AND ? ORDER BY id'


class SqliteStorage:
    """One file, opened.

    :param recover: what cannot be read is noted and passed over
    :raises DamagedError: it is no database of rosbag2, or damaged and not to be recovered
    """

    by_topic = True

    def __init__(self, path: Path, recover: bool) -> None:
        self.path, self._recover = path, recover
        self.damage: list[str] = []
        self.counts: dict[int, int] | None = None
        with path.open('rb') as file:
            head = file.read(100)
        if not head.startswith(MAGIC):
            raise DamagedError('does not begin as an sqlite3 file does')
        cut = _cut(head, path)
        if cut and not recover:
            raise DamagedError(cut)
        self.damage += [cut] if cut else []
        self._stack = ExitStack()
        try:
            self._base = self._open()
            self._base.text_factory = lambda raw: raw.decode(errors='replace')
            self.channels = self._channels()
        except sqlite3.DatabaseError as error:
            self.close()
            raise DamagedError(f'not to be read as a database: {error}') from None

    def _open(self) -> sqlite3.Connection:
        """Open the file without leaving a trace beside it."""
        beside = [file for file in beside_of(self.path) if file.stat().st_size]
        opened, options = self.path, 'mode=ro&immutable=1'
        if beside:
            folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory()))
            for file in (self.path, *beside):
                shutil.copyfile(file, folder / file.name)
            opened, options = folder / self.path.name, 'mode=rw'
        name = opened.resolve().as_uri()
        base = sqlite3.connect(f'{name}?{options}', uri=True)
        self._stack.callback(base.close)
        if self._recover:  # or else a file that is cut is not looked into at all
            base.execute('PRAGMA writable_schema = ON')
        return base

    def _channels(self) -> dict[int, Channel]:
        there = {row[1] for row in self._base.execute('PRAGMA table_info(topics)')}
        if not there:
            raise DamagedError('holds no table of topics, expected a recording of rosbag2')
        qos = 'offered_qos_profiles' if 'offered_qos_profiles' in there else "''"
        definitions: dict[str, tuple[str, str]] = {}
        if list(self._base.execute('PRAGMA table_info(message_definitions)')):
            definitions = {
                name: (text, syntax)
                for name, syntax, text in self._base.execute(
                    'SELECT topic_type, encoding, encoded_message_definition '
                    'FROM message_definitions'
                )
            }
        return {
            number: Channel(topic, kind, encoding, *definitions.get(kind, ('', '')), str(offered))
            for number, topic, kind, encoding, offered in self._base.execute(
                f'SELECT id, name, type, serialization_format, {qos} FROM topics'
            )
        }

    def close(self) -> None:
        """Close the file."""
        self._stack.close()

    def blocks(self, wanted: set[int]) -> Iterator[LazyBlock]:
        """Yield the messages in the order of recording, so many at once."""
        if self._recover:
            yield from self._salvaged(wanted)
            return
        try:
            (first,) = self._base.execute('SELECT min(timestamp) FROM messages').fetchone()
            if first is None:
                return
            yield LazyBlock(first, lambda: EMPTY)
            if len(wanted) == 1:
                cursor = self._base.execute(ONE, tuple(wanted))
            else:
                places = ', '.join(str(int(number)) for number in sorted(wanted))
                cursor = self._base.execute(SEVERAL.format(places))
            while blocks := self._some(cursor.fetchmany, *wanted):
                yield LazyBlock(int(blocks[0].log_ns[0]), partial(joined, blocks))
        except (sqlite3.DatabaseError, OverflowError) as error:
            raise DamagedError(f'damaged: {error}') from None

    @staticmethod
    def _some(fetch: Callable[[int], list[Any]], *wanted: int) -> list[MessageBlock]:
        """Fetch rows of not too many bytes, few at a time: so they stay in the cache."""
        blocks: list[MessageBlock] = []
        rows, size = 0, 0
        while rows < ROWS and size < BYTES and (some := fetch(AT_ONCE if size else FIRST)):
            *channels, log_ns, raw = zip(*some, strict=True)
            blocks.append(of_columns(channels[0] if channels else wanted[0], log_ns, raw))
            rows, size = rows + len(some), size + len(blocks[-1].buffer)
        return blocks

    def _salvaged(self, wanted: set[int]) -> Iterator[LazyBlock]:
        """Yield what the rows give, those that cannot be read left out."""
        for rows in self._rows(1, self._last()):
            found = [
                (topic, log_ns, data)
                for _, topic, log_ns, data in rows
                if topic in wanted and isinstance(data, bytes) and isinstance(log_ns, int)
            ]
            if found:
                found.sort(key=lambda row: row[1])
                yield LazyBlock(found[0][1], partial(of_messages, found))

    def _last(self) -> int:
        for question in ('SELECT max(id) FROM messages', 'SELECT count(*) FROM messages'):
            try:
                (last,) = self._base.execute(question).fetchone()
                return last or 0
            except sqlite3.DatabaseError:
                continue
        return self.path.stat().st_size // 32  # more rows than that find no room

    def _rows(self, first: int, last: int) -> Iterator[list[tuple[int, int, int, bytes]]]:
        """Yield the rows of a range of numbers, halved around those that cannot be read."""
        lost, why = 0, ''
        ranges = [(begin, min(begin + 1023, last)) for begin in range(first, last + 1, 1024)]
        ranges.reverse()
        while ranges:
            low, high = ranges.pop()
            try:
                rows = self._base.execute(BY_ID, (low, high)).fetchall()
            except (sqlite3.DatabaseError, OverflowError) as error:
                if low == high:
                    lost, why = lost + 1, str(error)
                else:
                    middle = (low + high) // 2
                    ranges += [(middle + 1, high), (low, middle)]
                continue
            yield rows
        if lost:
            self.damage.append(f'{lost} rows cannot be read ({why})')


def _cut(head: bytes, path: Path) -> str:
    """Tell whether a file is shorter than its own head says; '': it is not.

    Of a database that was not closed, the head may be older than the file.
    """
    page, pages = int.from_bytes(head[16:18], 'big'), int.from_bytes(head[28:32], 'big')
    length, size = (65536 if page == 1 else page) * pages, path.stat().st_size
    known = head[24:28] == head[92:96] and not beside_of(path)
    return f'cut: {size} of {length} bytes' if known and size < length else ''


def beside_of(path: Path) -> list[Path]:
    """Return the files that belong to a database that was not closed."""
    return [each for end in BESIDE if (each := path.with_name(path.name + end)).exists()]
