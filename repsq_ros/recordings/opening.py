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

"""Opening one file of a recording by its type."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from repsq_ros.recordings.contents import PACKED, objection_to
from repsq_ros.recordings.mcap_records import LARGEST_CHUNK, DamagedError, zstd_module
from repsq_ros.recordings.mcap_storage import McapStorage
from repsq_ros.recordings.message_block import Channel, LazyBlock, MessageBlock, of_messages
from repsq_ros.recordings.ros1_storage import Ros1Storage
from repsq_ros.recordings.sqlite_storage import SqliteStorage, beside_of
from repsq_ros.recordings.storage import Storage

KINDS: dict[str, Any] = {'.mcap': McapStorage, '.db3': SqliteStorage, '.bag': Ros1Storage}


def opened(file: Path, recover: bool, packed_messages: bool) -> Storage:
    """Open a file.

    :param packed_messages: each message in it is compressed by zstd
    :raises DamagedError: it cannot be read
    """
    try:
        objection = objection_to(file)
    except OSError as error:
        raise DamagedError(error.strerror or 'not to be opened') from None
    if objection:
        raise DamagedError(objection)
    if file.suffix == PACKED:
        return _Unpacked(file, recover)
    if file.suffix not in KINDS:
        raise DamagedError(f'found {file.suffix or "no ending"}, expected .mcap, .db3 or .bag')
    storage: Storage = KINDS[file.suffix](file, recover)
    return _UnpackedMessages(storage, recover) if packed_messages else storage


def damage_line(file: Path, damage: str, recover: bool) -> str:
    """Return the one line about a damaged file."""
    line = f'{file}: cannot be read ({damage}), expected a whole recording'
    if recover or 'lfs' in damage:
        return line
    remedy = {'.mcap': 'mcap recover', '.db3': 'sqlite3 .recover'}.get(file.suffix, '')
    return f'{line}: {remedy}, or --recover' if remedy else line


def with_beside(file: Path) -> list[Path]:
    """Return a file and the files that belong to it."""
    return [file, *(beside_of(file) if file.suffix == '.db3' else [])]


class _Wrapped:
    """A storage that is read through another one."""

    def __init__(self, inner: Storage, path: Path) -> None:
        self._inner, self.path = inner, path

    @property
    def damage(self) -> list[str]:
        return self._inner.damage

    @property
    def counts(self) -> dict[int, int] | None:
        return self._inner.counts

    @property
    def channels(self) -> dict[int, Channel]:
        return self._inner.channels

    def blocks(self, wanted: set[int]) -> Iterator[LazyBlock]:
        return self._inner.blocks(wanted)

    def close(self) -> None:
        self._inner.close()


class _Unpacked(_Wrapped):
    """A compressed file, unpacked to a temporary one."""

    def __init__(self, path: Path, recover: bool) -> None:
        self._folder = tempfile.TemporaryDirectory()
        try:
            plain = Path(self._folder.name) / path.stem
            _unpack_file(path, plain)
            super().__init__(opened(plain, recover, False), path)
        except (EOFError, OSError, zstd_module().ZstdError) as error:
            self._folder.cleanup()
            raise DamagedError(f'cannot be unpacked ({error})') from None
        except BaseException:
            self._folder.cleanup()
            raise

    def close(self) -> None:
        super().close()
        self._folder.cleanup()


def _unpack_file(path: Path, plain: Path) -> None:
    """Unpack a file, using at most half of the free disk space.

    :raises DamagedError: it would need more
    """
    left = shutil.disk_usage(plain.parent).free // 2
    with zstd_module().open(path, 'rb') as packed, plain.open('wb') as file:
        while block := packed.read(1 << 20):
            left -= len(block)
            if left < 0:
                raise DamagedError(
                    f'unpacked it takes more than half of the free space in {plain.parent.parent}'
                )
            file.write(block)


class _UnpackedMessages(_Wrapped):
    """A file whose messages are compressed one by one."""

    def __init__(self, inner: Storage, recover: bool) -> None:
        super().__init__(inner, inner.path)
        self._recover, self._lost = recover, 0

    @property
    def damage(self) -> list[str]:
        lost = [f'{self._lost} messages cannot be unpacked'] if self._lost else []
        return [*super().damage, *lost]

    def blocks(self, wanted: set[int]) -> Iterator[LazyBlock]:
        for lazy in super().blocks(wanted):
            yield LazyBlock(lazy.start_ns, partial(self._load, lazy))

    def _load(self, lazy: LazyBlock) -> MessageBlock:
        block, left, found = lazy.load(), LARGEST_CHUNK, []
        for row, (channel, log_ns) in enumerate(
            zip(block.channels.tolist(), block.log_ns.tolist(), strict=True)
        ):
            try:
                message = _unpacked_message(block.raw(row), left)
            except (DamagedError, zstd_module().ZstdError) as error:
                if not self._recover:
                    raise DamagedError(f'a message that cannot be unpacked ({error})') from None
                self._lost += 1
                continue
            left -= len(message)
            found.append((channel, log_ns, message))
        return of_messages(found)


def _unpacked_message(packed: bytes, most: int) -> bytes:
    """Unpack one message.

    :param most: largest accepted size [bytes]
    :raises DamagedError: truncated, or larger
    """
    unpacking = zstd_module().ZstdDecompressor()
    message: bytes = unpacking.decompress(packed, max_length=most + 1)
    if len(message) > most or not unpacking.eof:
        raise DamagedError('cut, or too large')
    return message
