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

"""Properties of the sensors in a recording, topic by topic, in one pass."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from repsq_ros.auditing.body_audit import BodyAudit, BodyAuditor
from repsq_ros.auditing.stream_audit import StreamAudit, StreamAuditor
from repsq_ros.auditing.verdicts import body_verdicts, stream_verdicts
from repsq_ros.errors import BagError
from repsq_ros.measurement.catalogue import CATALOGUE, TF, MessageKind
from repsq_ros.measurement.inputs import Input, Stamp
from repsq_ros.measurement.samples import Samples
from repsq_ros.messages.sensor_messages import Reader, bodies_of, reader_of
from repsq_ros.recordings.message_block import Integers
from repsq_ros.recordings.recording import Recording
from repsq_ros.recordings.sensor_columns import columns_from
from repsq_ros.recordings.table import Table

Lines = list[tuple[str, str]]
OF_CLOCKS = ('arrival after stamp', 'drift of the clocks', 'arrival jitter')


@dataclass(frozen=True)
class AuditOfBody:
    """One body of a topic."""

    name: str  # '': the topic has one body, without a name
    stamps: StreamAudit | None  # None: the same stamps as the messages
    poses: BodyAudit

    def lines(self) -> Lines:
        """Return pairs of name and value for people."""
        lines = [] if self.stamps is None else self.stamps.lines()[:2]
        lines += self.poses.lines()
        return [(f'{self.name}: {key}' if self.name else key, value) for key, value in lines]


@dataclass(frozen=True)
class AuditOfTopic:
    """A topic of a recording with the messages of one type."""

    topic: str
    type: str
    stream: StreamAudit | None  # None: no message
    stamped: bool  # by headers; False: the stamps are times of arrival
    unknown: str  # why no message can be read; empty: they can
    damage: str  # why reading stopped at one message; empty: all were read
    frames: tuple[str, ...]  # frame_id
    bodies: tuple[AuditOfBody, ...]

    @property
    def title(self) -> str:
        """Topic and type."""
        return f'{self.topic}  ({self.type})'

    @property
    def clock(self) -> tuple[float, float] | None:
        """Delay of arrival [s] and its drift [s/s]; None: the stamps are from no clock."""
        found = self.stream
        if found is None or not self.stamped or found.count < 3 or found.all_zero:
            return None
        return found.delay, found.drift

    def lines(self) -> Lines:
        """Return pairs of name and value for people."""
        if self.stream is None:
            return [('not read', self.damage)] if self.damage else [('no message', '')]
        lines = self.stream.lines()
        if not self.stamped:
            lines = [(name, value) for name, value in lines if name not in OF_CLOCKS]
            told = 'none in this type: times of arrival; use stamp: receive'
            lines[-1] = ('stamps', self.unknown or told)
        if self.damage:
            lines.append(('not read any further', self.damage))
        if self.frames:
            lines.append(('frame_id', ', '.join(map(repr, self.frames))))
        for body in self.bodies:
            lines += body.lines()
        if self.bodies:
            lines.append(('judged', '; '.join(self.verdicts()) or 'nothing wrong is seen'))
        return lines

    def verdicts(self) -> list[str]:
        """Return what is wrong, in the words of the reasons that make a test INVALID."""
        if self.stream is None:
            return []
        told = stream_verdicts(self.stream, self.stamped)
        for body in self.bodies:
            name = f'{body.name}: ' if body.name else ''
            stamps = body.stamps or self.stream
            told += [f'{name}{each}' for each in body_verdicts(body.poses, stamps)]
        return told


def audits_of(
    recording: Recording, topics: Iterable[str], rate: float = 0.0
) -> list[AuditOfTopic]:
    """Describe topics of a recording, part by part: only one part is in memory.

    :param rate: nominal rate of all topics [Hz]; 0: use the median gap
    :raises BagError: damage
    """
    wanted = set(topics)
    streams = {
        (each.topic, each.type): _AuditedStream(each.type, StreamAuditor(rate))
        for each in recording.streams
        if each.topic in wanted
    }
    for table in recording.arrays(*wanted):
        stream = streams[table.topic, table.type]
        if not stream.damage:
            try:
                stream.take(table, rate)
            except BagError as error:  # other topics are not affected
                stream.damage = str(error)
    return [stream.result(topic) for (topic, _), stream in streams.items()]


@dataclass
class _AuditedBody:
    """A body, updated as its poses come."""

    read: Reader
    own: StreamAuditor | None  # for stamps that differ from those of the messages
    poses: BodyAuditor | None = None


@dataclass
class _AuditedStream:
    """A topic, updated as its messages come."""

    type: str
    auditor: StreamAuditor
    empty: bool = True
    stamped: bool = False
    unknown: str = ''
    damage: str = ''
    frames: set[str] = field(default_factory=set)
    bodies: dict[str, _AuditedBody] = field(default_factory=dict)

    def take(self, table: Table, rate: float) -> None:
        """Add the messages of a part."""
        if not len(table):
            return
        if table.unknown is not None:
            self.empty, self.unknown = False, str(table.unknown)
            self.auditor.add(table.log_ns)
            return
        stamps = table.stamps()
        self.empty = False
        if stamps is None:
            stamps = table.log_ns
            self.auditor.add(stamps)
        else:
            self.stamped = True
            self.frames |= table.texts('header.frame_id')
            self.auditor.add(*_read_ones(table, stamps, table.log_ns))
        kind = CATALOGUE.get(self.type)
        if kind is not None and 'position' in kind.gives:
            self._take_bodies(kind, table, stamps, rate)

    def _take_bodies(self, kind: MessageKind, table: Table, stamps: Integers, rate: float) -> None:
        names = {body for _, message in table.alike for body in bodies_of(self.type, message)}
        for row in table.others:
            message = table.message(int(row))
            names.update(() if message is None else bodies_of(self.type, message))
        for name in names:
            if name not in self.bodies:
                source = Input(
                    self.type, '', name, stamp=Stamp.HEADER if kind.stamped else Stamp.RECEIVE
                )
                own = StreamAuditor(rate) if self.type == TF else None
                self.bodies[name] = _AuditedBody(reader_of(source), own)
            body = self.bodies[name]
            for found, numbers in _poses_in(table, body.read, kind, stamps):
                if body.own is not None:
                    body.own.add(found)
                if body.poses is None:
                    body.poses = BodyAuditor(len(numbers) == 7)
                body.poses.add(found, numbers)

    def result(self, topic: str) -> AuditOfTopic:
        """Return the properties of the topic so far."""
        bodies = [
            AuditOfBody(
                name,
                None if body.own is None else body.own.result(),
                body.poses.result(),
            )
            for name, body in sorted(self.bodies.items())
            if body.poses is not None
        ]
        return AuditOfTopic(
            topic,
            self.type,
            None if self.empty else self.auditor.result(),
            self.stamped,
            self.unknown,
            self.damage,
            tuple(sorted(self.frames)),
            tuple(bodies),
        )


def _read_ones(table: Table, *columns: Integers) -> Iterator[Integers]:
    """Yield columns without the rows of messages that cannot be read."""
    spoiled = [int(row) for row in table.others if table.message(int(row)) is None]
    return (np.delete(each, spoiled) if spoiled else each for each in columns)


def _poses_in(
    table: Table, read: Reader, kind: MessageKind, stamps: Integers
) -> Iterator[tuple[Integers, Sequence[NDArray[np.float64]]]]:
    """Yield stamps (n,) and numbers, (n,) each: x, y, z, and x, y, z, w of a quaternion.

    :param stamps: of the messages, to avoid reading them twice
    """
    if len(table.alike) == 1 and not len(table.others):
        message, log_ns = table.alike[0].message, table.log_ns
        try:
            sample = kind.read(message, stamps) if kind.read else read(message, log_ns)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            pass  # cannot be read as columns
        else:
            if sample is not None:
                sample = sample.repeated(len(table))
                yield sample.stamps, _numbers(sample)
            return
    columns = columns_from(table, read)
    if columns is not None:
        yield columns.stamps, _numbers(columns)


def _numbers(samples: Samples) -> list[NDArray[np.float64]]:
    """Return x, y, z, and x, y, z, w of the quaternions, (n,) each."""
    poses = (samples.position, samples.orientation)
    return [column for pose in poses if pose is not None for column in pose.T]
