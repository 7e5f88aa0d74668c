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

"""The journal of a campaign: append-only JSON lines, each with the digest of the line before.

Each line is on the disk before the campaign goes on. A line torn by a crash is cut off and
reported; any other damage is refused with the line's number.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from repsq_ros.errors import JournalError, OutputError

JOURNAL = 'journal.jsonl'
LEDGER = 'ledger.jsonl'  # same format: what a lab registered before its campaigns
START = '0' * 64  # the "previous digest" of the first line
TORN = '.torn'  # suffix of the file that keeps the cut-off bytes


@dataclass(frozen=True)
class Entry:
    """One line: an event and its content."""

    event: str
    content: dict[str, Any] = field(default_factory=dict)
    digest: str = field(default='', compare=False)  # of its line, once written


def encode(value: object) -> object:
    """Make a value fit for JSON: numbers that are not finite become text."""
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    if isinstance(value, Mapping):
        return {str(key): encode(each) for key, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [encode(each) for each in value]
    return value


def _line(previous: str, entry: Entry) -> bytes:
    body = {'previous': previous, 'event': entry.event, **entry.content}
    text = json.dumps(encode(body), separators=(',', ':'), allow_nan=False)
    return f'{{"digest":"{_digest(text)}",{text[1:]}\n'.encode()


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _parse(line: bytes, previous: str) -> tuple[Entry, str]:
    """Return the entry of a complete line, and its digest.

    :raises ValueError: with what is wrong
    """
    try:
        text = line.decode()
        content = json.loads(text)
    except ValueError:
        raise ValueError('no line of JSON') from None
    if not isinstance(content, dict) or not isinstance(content.get('event'), str):
        raise ValueError('no event')
    digest, before = content.pop('digest', ''), content.pop('previous', '')
    head = f'{{"digest":"{digest}",'
    if not text.startswith(head) or _digest('{' + text[len(head) :]) != digest:
        raise ValueError('a digest that does not fit: the line was changed')
    if before != previous:
        raise ValueError('a line that does not follow the one before it')
    return Entry(content.pop('event'), content, digest), digest


def read_journal(file: Path) -> tuple[list[Entry], str, int]:
    """Return the entries, the digest of the last one, and the length in bytes of all full lines.

    Bytes after that length are a line torn by a crash.

    :raises JournalError: damage anywhere else, with the line's number
    """
    try:
        data = file.read_bytes()
    except OSError as error:
        raise JournalError(
            f'{file}: {error.strerror}, expected the journal of a campaign'
        ) from None
    entries: list[Entry] = []
    digest, whole = START, 0
    lines = data.split(b'\n')  # splits at \n only: a flipped bit may look like a carriage return
    for number, line in enumerate(lines[:-1], start=1):
        try:
            entry, digest = _parse(line, digest)
        except ValueError as error:
            raise JournalError(
                f'{file}, line {number}: found {error}, expected an unchanged journal; nothing '
                'was written'
            ) from None
        entries.append(entry)
        whole += len(line) + 1
    return entries, digest, whole


class Journal:
    """Appends to a journal, held by one process at a time.

    :raises JournalError: damaged, or held by another process
    :raises OutputError: it cannot be written
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        self.recovered = ''  # what was cut off, as a message for the user
        self.entries: list[Entry] = []  # entries that were there when the file was opened
        try:
            self._descriptor = os.open(file, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
        except OSError as error:
            raise OutputError(
                f'journal {file}: {error.strerror}, expected a file that can be written'
            ) from None
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._descriptor)
            raise JournalError(
                f'{file}: another process runs this campaign; one scheduler at a time'
            ) from None
        try:
            self.entries, self._digest, self._size = read_journal(file)
            self._cut()
        except (JournalError, OSError):
            self.close()
            raise

    def _cut(self) -> None:
        """Move a torn last line to a file of its own."""
        length = os.fstat(self._descriptor).st_size
        if length == self._size:
            return
        with self.file.open('rb') as opened:
            opened.seek(self._size)
            torn = opened.read()
        aside = self.file.with_name(self.file.name + TORN)
        with aside.open('ab') as kept:
            kept.write(torn + b'\n')
        os.ftruncate(self._descriptor, self._size)
        self.recovered = (
            f'{self.file}: the last line was torn ({len(torn)} bytes, kept in {aside.name}) and '
            f'is cut off; {len(self.entries)} lines are valid'
        )

    @property
    def head(self) -> str:
        """Digest of the last line."""
        return self._digest

    def append(self, event: str, **content: object) -> None:
        """Write one line to the disk.

        :raises OutputError: the line cannot be written; the journal is unchanged, so retry later
        """
        entry = Entry(event, dict(content))
        line = _line(self._digest, entry)
        try:
            left = line
            while left:
                left = left[os.write(self._descriptor, left) :]
            os.fsync(self._descriptor)
        except OSError as error:
            os.ftruncate(self._descriptor, self._size)
            raise OutputError(
                f'journal {self.file}: {error.strerror}; nothing is lost, the line is to be '
                'written again once there is room'
            ) from None
        self._size += len(line)
        self._digest = json.loads(line)['digest']

    def close(self) -> None:
        """Close the file and release its lock."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
