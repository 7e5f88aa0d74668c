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

"""A recording of any format as messages or columns; everything unreadable is reported."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np

from repsq_ros.digests import digest_of
from repsq_ros.errors import BagError
from repsq_ros.recordings.contents import RecordedFiles, files_of
from repsq_ros.recordings.mcap_records import DamagedError
from repsq_ros.recordings.message_block import (
    Channel,
    LazyBlock,
    MessageBlock,
    in_order,
    merged,
)
from repsq_ros.recordings.message_counts import CountCheck, known_counts
from repsq_ros.recordings.opening import damage_line, opened, with_beside
from repsq_ros.recordings.recorded_types import RecordedTypes
from repsq_ros.recordings.storage import Storage
from repsq_ros.recordings.table import Decoder, Table

SINGLY = 3  # damaged messages of a topic that are listed one by one


class BagMessage(NamedTuple):
    """One message of a bag."""

    topic: str
    log_ns: int  # when it was recorded
    message: Any  # or its bytes, if requested


class RecordedTopic(NamedTuple):
    """A topic of a recording with one type; a topic with two types appears twice."""

    topic: str
    type: str
    messages: int | None  # number of messages by the recording; None: not known
    qos: str  # of its publishers, by the recording; empty: not known


class Recording:
    """Recordings, opened for reading: folders with metadata.yaml, or .mcap, .db3, .bag files.

    :param path: one, or several that are read as one
    :param recover: read as much as possible of damaged files; `losses` lists the rest. Without
        it, damage is an error.
    :raises BagError: not there, not a recording, damaged
    :raises MissingError: the reader is not installed
    """

    def __init__(self, path: Path | Sequence[Path], recover: bool = False) -> None:
        self.paths = [path] if isinstance(path, Path) else list(path)
        if not self.paths:
            raise BagError('found no recording, expected at least one')
        self.path = self.paths[0]
        self._recover = recover
        self._told: list[str] = []
        # [ns] log times of damaged messages, by topic
        self._spoiled_logs: dict[str, set[int]] = {}
        self._definitions = RecordedTypes()
        self._numbered: dict[Channel, int] = {}  # distinct channels of all files
        self._decoders: dict[int, Decoder] = {}
        self._channels: list[Channel] = []
        # for each file, from its channel numbers to those above
        self._numbers: list[dict[int, int]] = []
        self._storages: list[Storage] = []
        self._sources: list[RecordedFiles] = []
        try:
            for each in self.paths:
                self._add(files_of(each, recover))
        except OSError as error:
            self.close()
            raise self._unreadable(error) from None
        except BaseException:
            self.close()
            raise

    def _add(self, source: RecordedFiles) -> None:
        self._sources.append(source)
        self._told += source.notes
        read = {storage.path.resolve() for storage in self._storages}
        for file in source.files:
            if file.resolve() in read:  # given twice
                continue
            try:
                storage = opened(file, self._recover, source.packed_messages)
            except DamagedError as error:
                self._skip_file(file, error, len(source.files) > 1)
                continue
            self._storages.append(storage)
            self._numbers.append(
                {
                    number: self._numbered.setdefault(channel, len(self._numbered))
                    for number, channel in storage.channels.items()
                }
            )
        self._channels = list(self._numbered)

    def _skip_file(self, file: Path, error: DamagedError, others: bool) -> None:
        """Skip a file if there are others and `recover` is set."""
        if not (self._recover and others):
            raise BagError(damage_line(file, str(error), self._recover)) from None
        self._told.append(f'{file}: not read: {error}')

    def __enter__(self) -> Recording:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        losses = self.losses
        self.close()
        # If nothing was found in a damaged recording, the damage may be the reason.
        if isinstance(error, BagError) and self._recover and losses:
            raise BagError(f'{error} ({losses[0]})') from None

    def close(self) -> None:
        """Close all files."""
        for storage in self._storages:
            storage.close()

    # Topics -------------------------------------------------------------------------------------

    def topics(self) -> dict[str, str]:
        """Return the type of each topic; of a topic with several types, one of them."""
        return {channel.topic: channel.type for channel in self._channels}

    @property
    def streams(self) -> list[RecordedTopic]:
        """Topics with their types, counts and quality of service, sorted by name."""
        counts = known_counts(self._storages, self._sources)
        found: dict[tuple[str, str], RecordedTopic] = {}
        for channel in self._channels:
            key = (channel.topic, channel.type)
            told = next(
                (s.qos[channel.topic] for s in self._sources if channel.topic in s.qos), ''
            )
            if key not in found:
                number = None if counts is None else counts[key]
                found[key] = RecordedTopic(*key, number, channel.qos or told)
        return [found[key] for key in sorted(found)]

    def require(self, topic: str, *types: str) -> None:
        """Check that a topic exists with one of the given types."""
        found = sorted({channel.type for channel in self._channels if channel.topic == topic})
        if not found:
            there = ', '.join(sorted(self.topics())) or 'nothing'
            raise BagError(
                f'{self.path}: found no topic {topic}, expected one of those there: {there}'
            )
        if len(found) > 1:
            raise BagError(
                f'{self.path}: found {" and ".join(found)} on {topic}, expected one type'
            )
        if found[0] not in types:
            raise BagError(
                f'{self.path}: found {found[0]} on {topic}, expected {" or ".join(types)}'
            )

    @property
    def losses(self) -> list[str]:
        """What could not be read so far, or is inconsistent, one line each."""
        damage = [f'{s.path}: {each}' for s in self._storages for each in s.damage]
        more = [
            f'{self.path}: {len(logs) - SINGLY} more messages on {topic} are damaged'
            for topic, logs in self._spoiled_logs.items()
            if len(logs) > SINGLY
        ]
        return list(dict.fromkeys([*self._told, *more, *damage]))

    @property
    def digests(self) -> dict[str, str]:
        """SHA-256 of every given file, by its path."""
        files = [file for source in self._sources for file in source.files]
        return {str(file): digest_of(file) for each in files for file in with_beside(each)}

    # Messages -----------------------------------------------------------------------------------

    def messages(
        self, *topics: str, raw: bool = False, plain: bool = False
    ) -> Iterator[BagMessage]:
        """Yield the messages of some topics in the order in which they were recorded.

        :param raw: bytes instead of messages
        :param plain: arrays of numbers may be tuples, which is faster with few layouts
        :raises BagError: damage, or an unknown type
        """
        for block in self._blocks(topics):
            yield from self._singly(block, raw, plain)

    def _singly(self, block: MessageBlock, raw: bool, plain: bool) -> Iterator[BagMessage]:
        channels, log_ns = block.channels.tolist(), block.log_ns.tolist()
        for row, number in enumerate(channels):
            data, topic = block.raw(row), self._channels[number].topic
            if raw:
                yield BagMessage(topic, log_ns[row], data)
                continue
            decoder = self._decoder(number)
            try:
                message = decoder.plain(data) if plain else decoder.message(data)
            except BagError:
                raise
            except Exception as error:  # readers made from definitions may raise anything
                self._report_unreadable(topic, log_ns[row], error)
                continue
            yield BagMessage(topic, log_ns[row], message)

    def arrays(self, *topics: str) -> Iterator[Table]:
        """Yield the messages of some topics as tables, in log order within a topic.

        :raises BagError: damage, or an unknown type
        """
        return chain.from_iterable(self.stretches(*topics))

    def stretches(
        self, *topics: str, logs: tuple[int, int] | None = None
    ) -> Iterator[list[Table]]:
        """Yield the messages of some topics, part by part.

        A part has one table for each topic and type; the next part was recorded later than all of
        them. Only one part of the recording is in memory.

        :param logs: only messages recorded within these instants [ns]; None: all
        :raises BagError: damage, or an unknown type
        """
        for block in self._blocks(topics):
            yield self._tables(block if logs is None else block.between(*logs))

    def both(
        self, singly: Collection[str], laid: Collection[str]
    ) -> Iterator[tuple[Iterator[BagMessage], list[Table]]]:
        """Yield `messages(*singly, plain=True)` and `stretches(*laid)` in a single pass.

        :returns: of each part; its messages have to be read before the next part
        """
        wanted = [
            np.array([each.topic in topics for each in self._channels])
            for topics in (singly, laid)
        ]
        for block in self._blocks({*singly, *laid}):
            one, other = (block.take(each[block.channels]) for each in wanted)
            yield self._singly(one, raw=False, plain=True), self._tables(other)

    def _tables(self, block: MessageBlock) -> list[Table]:
        return [
            Table(self._decoder(number), of_one, self._report_unreadable)
            for number, of_one in block.by_channel()
        ]

    def _decoder(self, number: int) -> Decoder:
        if number not in self._decoders:
            self._decoders[number] = Decoder(self._channels[number], self._definitions)
        return self._decoders[number]

    def _report_unreadable(self, topic: str, log_ns: int, error: Exception) -> None:
        """Report a message that cannot be read."""
        why = ' '.join(str(error).split())[:120] or type(error).__name__
        line = f'{self.path}: a message on {topic}, recorded at {log_ns} ns, is damaged ({why})'
        if not self._recover:
            raise BagError(f'{line}, expected a whole one; --recover leaves it out') from None
        logs = self._spoiled_logs.setdefault(topic, set())
        if len(logs) < SINGLY:
            self._told.append(line)
        logs.add(log_ns)

    def _blocks(self, topics: Iterable[str]) -> Iterator[MessageBlock]:
        wanted = set(topics)
        counts = CountCheck(wanted)
        sources = [self._blocks_of(place, wanted, counts) for place in range(len(self._storages))]
        yield from in_order(merged(sources))
        self._told += counts.contradictions(self._storages, self._sources)

    def _blocks_of(self, place: int, wanted: set[str], counts: CountCheck) -> Iterator[LazyBlock]:
        """Yield a file's blocks, with channel numbers that are common to all files."""
        storage, numbers = self._storages[place], self._numbers[place]
        own = {number for number, each in storage.channels.items() if each.topic in wanted}
        if not own:
            return
        everywhere = np.zeros(max(numbers) + 1, dtype=np.int64)
        everywhere[list(numbers)] = list(numbers.values())
        alike = all(own == number for own, number in numbers.items())

        def load(lazy: LazyBlock) -> MessageBlock:
            try:
                block = lazy.load()
            except DamagedError as error:
                raise self._damaged(storage, error) from None
            except OSError as error:
                raise self._unreadable(error) from None
            counts.count(place, block.channels)
            return block if alike else block.of_channels(everywhere[block.channels])

        try:
            for lazy in storage.blocks(own):
                yield LazyBlock(lazy.start_ns, partial(load, lazy))
        except DamagedError as error:
            raise self._damaged(storage, error) from None

    def _unreadable(self, error: OSError) -> BagError:
        where = error.filename or self.path
        return BagError(f'{where}: cannot be read ({error.strerror}), expected a recording')

    def _damaged(self, storage: Storage, error: DamagedError) -> BagError:
        return BagError(damage_line(storage.path, str(error), self._recover))
