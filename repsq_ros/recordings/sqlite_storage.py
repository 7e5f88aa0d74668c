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
from array import array
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from repsq_ros.recordings.file_bytes import FileBytes
from repsq_ros.recordings.mcap_records import DamagedError
from repsq_ros.recordings.message_block import (
    EMPTY,
    Channel,
    Integers,
    LazyBlock,
    MessageBlock,
    joined,
    of_columns,
    of_messages,
)
from repsq_ros.recordings.sqlite_pages import SqlitePages, integers, texts

MAGIC = b'SQLite format 3\0'
BESIDE = ('-wal', '-journal')  # files left by a database that was not closed
ROWS, BYTES = 8192, 4 << 20  # approximate size of one read
FIRST, AT_ONCE = 16, 256  # rows per fetch, before and after their size is known
ONE = 'SELECT timestamp, data FROM messages WHERE topic_id = ? ORDER BY timestamp'
SEVERAL = (
    'SELECT topic_id, timestamp, data FROM messages WHERE topic_id IN ({}) ORDER BY timestamp'
)


class SqliteStorage:
    """One open file.

    :param recover: report and skip what cannot be read
    :raises DamagedError: not a database of rosbag2, or damaged and `recover` is false
    """

    def __init__(self, path: Path, recover: bool) -> None:
        self.path, self._recover = path, recover
        self.damage: list[str] = []
        self.counts: dict[int, int] | None = None
        self._read = path  # the file or a copy of it
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
            self._give_up(f'not to be read as a database: {error}')
        except DamagedError as error:
            self._give_up(str(error))

    def _open(self) -> sqlite3.Connection:
        """Open the file without creating files beside it."""
        beside = [file for file in beside_of(self.path) if file.stat().st_size]
        options = 'mode=ro&immutable=1'
        if beside:
            folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory()))
            for file in (self.path, *beside):
                shutil.copyfile(file, folder / file.name)
            self._read, options = folder / self.path.name, 'mode=rw'
        base = sqlite3.connect(f'{self._read.resolve().as_uri()}?{options}', uri=True)
        self._stack.callback(base.close)
        if self._recover:  # without it, a truncated file is refused at once
            base.execute('PRAGMA writable_schema = ON')
        return base

    def _give_up(self, damage: str) -> None:
        """Continue with the topics found in the pages, if `recover` is set.

        :raises DamagedError: it is not set, or no topic is found
        """
        self.channels = self._salvaged_channels() if self._recover else {}
        if not self.channels:
            self.close()
            raise DamagedError(damage) from None
        self.damage.append(damage)

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
        """Yield the messages in the order of recording."""
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
        """Fetch rows up to a size, few at a time, so that they stay in the cache."""
        blocks: list[MessageBlock] = []
        rows, size = 0, 0
        while rows < ROWS and size < BYTES and (some := fetch(AT_ONCE if size else FIRST)):
            *channels, log_ns, raw = zip(*some, strict=True)
            blocks.append(of_columns(channels[0] if channels else wanted[0], log_ns, raw))
            rows, size = rows + len(some), size + len(blocks[-1].buffer)
        return blocks

    # Salvaging a damaged file --------------------------------------------------------------------

    def _pages(self) -> SqlitePages:
        if self._read != self.path:  # merge the write-ahead log beside the copy
            with suppress(sqlite3.DatabaseError):
                self._base.execute('PRAGMA wal_checkpoint(TRUNCATE)').fetchall()
        return SqlitePages(self._stack.enter_context(closing(FileBytes(self._read))))

    def _salvaged_channels(self) -> dict[int, Channel]:
        """Return the topics: rows with the columns of a topic."""
        topics: dict[int, list[str]] = {}
        definitions: dict[str, tuple[str, str]] = {}
        for row in self._pages().rows():
            if len(row.types) < 4 or row.types[0] or len(row.data) < row.size:
                continue
            try:
                first, second, third, *others = texts(row.types[1:], row.data)
            except ValueError:
                continue
            if first.startswith('/') and second.count('/') == 2:
                topics[row.number] = [first, second, third, *others[:1]]
            elif second.startswith('ros2'):
                definitions[first] = (third, second)
        return {
            number: Channel(name, kind, encoding, *definitions.get(kind, ('', '')), *qos)
            for number, (name, kind, encoding, *qos) in topics.items()
        }

    def _salvaged(self, wanted: set[int]) -> Iterator[LazyBlock]:
        """Yield the messages, rows with the columns of a message, in the order of recording."""
        pages = self._pages()
        found, numbers = array('q'), array('q')
        for row in pages.rows():
            kinds = row.types
            if len(kinds) != 4 or kinds[0] or kinds[3] < 12 or kinds[3] % 2:
                continue
            try:
                (topic, log_ns), before = integers(kinds[1:3], row.data)
            except ValueError:
                continue
            numbers.append(row.number)
            if topic in wanted:
                stored = len(row.data) - before
                found.extend((log_ns, row.number, topic))
                found.extend((row.begin + before, stored, row.size - before, row.overflow))
        if not numbers:
            self.damage.append('no row of a message was found')
            return
        self._report_missing(np.frombuffer(numbers, dtype=np.int64), pages.unreadable)
        rows: Integers = np.frombuffer(found, dtype=np.int64).reshape(-1, 7)
        rows = rows[np.unique(rows[:, 1], return_index=True)[1]]  # stale pages repeat some rows
        rows = rows[np.argsort(rows[:, 0], kind='stable')]
        place = np.cumsum(rows[:, 5]) // BYTES + np.arange(len(rows)) // ROWS
        for some in np.split(rows, np.flatnonzero(np.diff(place)) + 1):
            if len(some):
                yield LazyBlock(int(some[0, 0]), partial(self._salvaged_block, pages, some))

    def _salvaged_block(self, pages: SqlitePages, rows: Integers) -> MessageBlock:
        found, lost = [], 0
        for log_ns, _, topic, *where in rows.tolist():
            data = pages.content(*where)
            if data is None:
                lost += 1
            else:
                found.append((topic, log_ns, data))
        if lost:
            self.damage.append(f'{lost} messages whose pages are missing, about {rows[0, 0]} ns')
        return of_messages(found)

    def _report_missing(self, numbers: Integers, unreadable: int) -> None:
        missing = int(numbers.max() - numbers.min()) + 1 - len(np.unique(numbers))
        for told in (
            '' if self.damage else self._quick_check(),
            f'{missing} rows are missing between those that were read' if missing else '',
            f'{unreadable} pages of rows make no sense' if unreadable else '',
        ):
            if told and told not in self.damage:
                self.damage.append(told)

    def _quick_check(self) -> str:
        """Return the first error that the library finds; '': none."""
        try:
            (found,) = self._base.execute('PRAGMA quick_check(1)').fetchone()
        except sqlite3.DatabaseError as error:
            found = error
        first = str(found).splitlines()[-1]
        return '' if first == 'ok' else f'damaged: {first}'


def _cut(head: bytes, path: Path) -> str:
    """Return how a file is shorter than its header says; '': it is not.

    If the database was not closed, its header may be older than the file.
    """
    page, pages = int.from_bytes(head[16:18], 'big'), int.from_bytes(head[28:32], 'big')
    length, size = (65536 if page == 1 else page) * pages, path.stat().st_size
    known = head[24:28] == head[92:96] and not beside_of(path)
    return f'cut: {size} of {length} bytes' if known and size < length else ''


def beside_of(path: Path) -> list[Path]:
    """Return the files that belong to a database that was not closed."""
    return [each for end in BESIDE if (each := path.with_name(path.name + end)).exists()]
