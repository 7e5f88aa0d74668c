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

"""Messages of one topic as a table: similar messages as columns, the others one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from repsq_ros.errors import BagError
from repsq_ros.recordings.cdr_layout import Layout, UnevenError
from repsq_ros.recordings.message_block import Channel, Integers, MessageBlock
from repsq_ros.recordings.plain_messages import PlainReader
from repsq_ros.recordings.recorded_types import RecordedTypes
from repsq_ros.recordings.rows import Part, Rows, message_of
from repsq_ros.timebase import from_time

LAYOUTS = 16  # layouts per channel; messages of further layouts are read one by one
FEW = 4  # smallest number of similar messages read as columns
TRIES = 3  # examples without a layout, after which the rest is read one by one


class UniformMessages(NamedTuple):
    """Messages of one layout, as one message with columns as fields."""

    rows: Integers  # row numbers in the table
    message: Part


class Decoder:
    """Decodes the bytes of one channel to messages or columns."""

    def __init__(self, channel: Channel, definitions: RecordedTypes) -> None:
        self.channel = channel
        self.unknown: BagError | None = None  # why its messages cannot be read
        self._store: Any = None
        self._layouts: list[Layout] = []
        self._plain: list[PlainReader] = []
        try:
            self._store = definitions.store_of(channel)
        except BagError as error:
            self.unknown = error

    def message(self, raw: bytes) -> Any:
        """Return one message.

        :raises BagError: the type is not known
        :raises rosbags.serde.SerdeError: damaged, or an unknown encapsulation
        """
        if self.unknown is not None:
            raise self.unknown
        if self.channel.encoding == 'ros1':
            return self._store.deserialize_ros1(raw, self.channel.type)
        return self._store.deserialize_cdr(raw, self.channel.type)

    def plain(self, raw: bytes) -> Any:
        """Return one message of plain values; raises the same errors as `message`."""
        for reader in self._plain:
            message = reader.read(raw)
            if message is not None:
                return message
        known = self.channel.encoding == 'cdr' and self.unknown is None
        if not known or len(self._plain) >= LAYOUTS:
            return self.message(raw)
        try:
            reader = PlainReader(Layout(raw, self.channel.type, self._store.fielddefs))
        except UnevenError:
            return self.message(raw)
        self._plain.append(reader)
        return reader.read(raw)

    def alike(self, block: MessageBlock) -> tuple[list[UniformMessages], Integers]:
        """Return groups of similar messages, and the rows of all others."""
        groups: list[UniformMessages] = []
        left: Integers = np.arange(len(block))
        if self.channel.encoding != 'cdr' or self.unknown is not None:
            return groups, left
        for layout in self._layouts:
            left = self._sort_out(block, left, layout, groups)
        failed = 0
        while len(left) >= FEW and len(self._layouts) < LAYOUTS and failed < TRIES:
            # The first of them may be the only one of its layout.
            example = block.raw(int(left[failed * (len(left) - 1) // max(TRIES - 1, 1)]))
            try:
                layout = Layout(example, self.channel.type, self._store.fielddefs)
            except UnevenError:
                failed += 1
                continue
            before = len(left)
            left = self._sort_out(block, left, layout, groups)
            if len(left) < before:
                self._layouts.append(layout)
            else:
                failed += 1
        return groups, left

    @staticmethod
    def _sort_out(
        block: MessageBlock, left: Integers, layout: Layout, groups: list[UniformMessages]
    ) -> Integers:
        """Move the messages of a layout from `left` to the groups."""
        sizes = block.sizes[left]
        sized = left[sizes == layout.size] if len(left) else left
        if len(sized) < FEW:
            return left
        every = len(sized) == len(block)
        rows = Rows(block if every else block.take(sized))
        good = layout.fits(rows.count, rows.words)
        if good.all():
            groups.append(UniformMessages(sized, message_of(rows, layout)))
            others: Integers = left[sizes != layout.size]
            return others
        taken = sized[good]
        if len(taken) < FEW:
            return left
        groups.append(UniformMessages(taken, message_of(Rows(block.take(taken)), layout)))
        rest: Integers = np.setdiff1d(left, taken, assume_unique=True)
        return rest


class Table:
    """The messages of one topic and type in a part of a recording, in log order.

    :param spoiled: called with topic, log time [ns] and error of an unreadable message
    """

    def __init__(
        self,
        decoder: Decoder,
        block: MessageBlock,
        spoiled: Callable[[str, int, Exception], None],
    ) -> None:
        self.topic, self.type = decoder.channel.topic, decoder.channel.type
        self._decoder, self._block, self._spoiled = decoder, block, spoiled
        self.alike, self.others = decoder.alike(block)
        self._read: dict[int, Any] = {}  # messages already read one by one

    def __len__(self) -> int:
        return len(self._block)

    @property
    def unknown(self) -> BagError | None:
        """Why no message of this type can be read; None: they can."""
        return self._decoder.unknown

    @property
    def log_ns(self) -> Integers:
        """When each message was recorded, (n,) [ns]."""
        return self._block.log_ns

    def raw(self, row: int) -> bytes:
        """Return the bytes of one message."""
        return self._block.raw(row)

    def message(self, row: int) -> Any:
        """Return one message, read alone; None: unreadable, and already reported."""
        if row in self._read:
            return self._read[row]
        try:
            message = self._decoder.message(self.raw(row))
        except BagError:
            raise
        except Exception as error:  # a reader made from a definition may raise anything
            self._spoiled(self.topic, int(self.log_ns[row]), error)
            message = None
        self._read[row] = message
        return message

    def messages(self) -> Iterator[tuple[int, Any]]:
        """Yield (log time [ns], message) of each, read one by one."""
        for row in range(len(self)):
            message = self.message(row)
            if message is not None:
                yield int(self.log_ns[row]), message

    def column(self, path: str) -> NDArray[Any]:
        """Return one field of all messages, (n,), e.g. 'pose.position.x' or 'data[3]'.

        :raises AttributeError: there is no such field
        """
        read = _reader_of(path)
        found: NDArray[Any] | None = None
        for rows, message in self.alike:
            values = read(message)
            if isinstance(values, np.ndarray):
                values = np.ascontiguousarray(values)  # a copy, so that the buffer can be freed
            if found is None:
                if isinstance(values, np.ndarray) and len(rows) == len(self):
                    return values
                kind = values.dtype if isinstance(values, np.ndarray) else object
                found = np.empty(len(self), dtype=kind)
            found[rows] = values
        for row in self.others:
            value = read(self.message(int(row)))
            if found is None:
                kind = np.asarray(value).dtype
                wide = {'f': np.float64, 'i': np.int64, 'b': np.bool_}.get(kind.kind, object)
                found = np.empty(len(self), dtype=np.uint64 if kind == np.uint64 else wide)
            found[row] = value
        return np.empty(0) if found is None else found

    def texts(self, path: str) -> set[str]:
        """Return the set of values of a text field, e.g. 'header.frame_id'."""
        read = _reader_of(path)
        found = {read(message) for _, message in self.alike}
        return found | {
            read(message) for row in self.others if (message := self.message(int(row))) is not None
        }

    def stamps(self) -> Integers | None:
        """Return the stamps of the headers, (n,) [ns]; None: the type has no header."""
        found: Integers = np.empty(len(self), dtype=np.int64)
        try:
            for rows, message in self.alike:
                found[rows] = np.asarray(from_time(message.header.stamp))
            for row in self.others:
                message = self.message(int(row))
                found[row] = 0 if message is None else from_time(message.header.stamp)
        except AttributeError:
            return None
        return found


def _reader_of(path: str) -> Callable[[Any], Any]:
    """Return a reader for a path of names and [numbers]."""
    if '[' not in path:
        return attrgetter(path)
    steps = path.replace('[', '.').replace(']', '').split('.')

    def read(message: Any) -> Any:
        for step in steps:
            message = message[int(step)] if step.isdigit() else getattr(message, step)
        return message

    return read
