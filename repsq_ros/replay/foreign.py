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

"""Foreign recordings: finding their tests by commands, labels or a table of times."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from repsq_ros.errors import BagError, ParameterError, RepsqError
from repsq_ros.measurement.inputs import Need, Stamp
from repsq_ros.measurement.window import Window
from repsq_ros.protocols.command_space import CommandKind
from repsq_ros.recordings.recording import BagMessage, Recording
from repsq_ros.recordings.table import Table
from repsq_ros.replay.clocks import (
    EARLIEST,
    NO_TIMES,
    CommandClock,
    SensorClock,
    compare_clocks,
)
from repsq_ros.replay.held_commands import (
    HeldCommand,
    Times,
    Values,
    held_commands,
    held_labels,
    label_at,
)
from repsq_ros.replay.held_to_protocol import hold_to_protocol, timing_of
from repsq_ros.replay.recorded_windows import InputSamples, RecordedInput
from repsq_ros.replay.segments import Segment
from repsq_ros.replay.time_table import read_time_table
from repsq_ros.specification.model import Specification
from repsq_ros.timebase import to_nanoseconds, to_seconds

TWISTS = ('geometry_msgs/msg/Twist', 'geometry_msgs/msg/TwistStamped')
# In the order of campaign_messages.command_of_twist: (v_x, v_y, yaw rate).
OF_TWIST = ('linear.x', 'linear.y', 'angular.z')
LABELS = tuple(
    f'std_msgs/msg/{kind}'
    for kind in ('String', 'Bool', 'Int8', 'UInt8', 'Int16', 'UInt16', 'Int32', 'UInt32', 'Int64')
)
STAMPS_OF_COMMANDS = ('header', 'log')


@dataclass(frozen=True)
class Marks:
    """What marks the tests; see `repsq reevaluate --help`."""

    command_topic: str = ''
    command_stamp: str = 'header'
    label_topic: str = ''
    segment_topic: str = ''
    segment_labels: tuple[str, ...] = ()
    segment_table: Path | None = None
    rest: bool = False
    hold: float | None = None
    settle: float | None = None
    window: float | None = None


class ForeignTests:
    """The tests of a recording without the package's topics, found while it is read.

    :param inputs: inputs of all measures; the first is that of the specification's own measure
    :param clock_offset: [s] added to the stamps of all samples; None: the clocks must agree
    :raises BagError: a topic is missing, or of another type
    :raises ParameterError: the marks do not fit the specification
    """

    def __init__(
        self,
        recording: Recording,
        specification: Specification,
        marks: Marks,
        inputs: Sequence[RecordedInput],
        clock_offset: float | None,
    ) -> None:
        self._recording, self._specification, self._marks = recording, specification, marks
        self._timing, self._changes = timing_of(specification, marks.settle, marks.window)
        self._offset_ns = None if clock_offset is None else to_nanoseconds(clock_offset)
        self.tables = {marks.command_topic} - {''}
        self.messages = {marks.segment_topic or marks.label_topic} - {''}
        for topic, source in inputs:
            recording.require(topic, source.type)
        for topic in self.tables:
            recording.require(topic, *TWISTS)
        for topic in self.messages:
            recording.require(topic, *LABELS)
        self._clocks = {
            each: SensorClock(each[0], each[1].stamp == Stamp.HEADER)
            for each in dict.fromkeys(inputs)
        }
        self._own = inputs[0]
        self._logs: list[Times] = [NO_TIMES]
        self._stamps: list[Times] = [NO_TIMES]
        self._values: list[Values] = [np.empty((0, 3))]
        self._labels: list[tuple[int, str]] = []  # log time and label
        self._waiting: list[HeldCommand] = []  # tests without a known command
        self._latest_ns = -1  # start of the latest test so far

    @property
    def offset_ns(self) -> int:
        """Offset added to the stamps of all samples."""
        return self._offset_ns or 0

    def take(
        self, messages: Iterable[BagMessage], tables: Sequence[Table], samples: InputSamples
    ) -> list[Window]:
        """Read a part of the recording; return the windows that are certainly complete."""
        self._labels += [(item.log_ns, str(item.message.data)) for item in messages]
        before = len(self._logs)
        for table in tables:
            if table.topic in self.tables:
                self._take_commands(table)
        for source, clock in self._clocks.items():
            for logs, stamps in zip(self._logs[before:], self._stamps[before:], strict=True):
                clock.add_commands(logs, stamps)
            if source in samples:
                columns = samples[source]
                logs = NO_TIMES if columns.logs is None else columns.logs
                clock.add(columns.stamps - self.offset_ns, logs)
        with suppress(RepsqError):  # errors are reported once everything was read
            return self._windows_so_far()
        return []

    def _take_commands(self, table: Table) -> None:
        stamps = table.stamps()
        where = '' if stamps is None else 'twist.'
        columns = [table.column(f'{where}{name}') for name in OF_TWIST]
        by_header = stamps is not None and self._marks.command_stamp == 'header'
        self._logs.append(table.log_ns.copy())
        self._stamps.append(stamps if stamps is not None and by_header else self._logs[-1])
        self._values.append(np.column_stack(columns).astype(np.float64))

    def _windows_so_far(self) -> list[Window]:
        """Return the windows with a known command; all are checked again at the end."""
        clock, commands = self._clocks[self._own], self._commands()
        if not clock.count:
            return []
        since = int(np.searchsorted(commands.times, self._latest_ns))
        latest = commands._replace(times=commands.times[since:], values=commands.values[since:])
        if self._marks.segment_table is None or self._latest_ns < 0:
            new = [x for x in self._stretches(latest) if x.start_ns > self._latest_ns]
            self._waiting += new
            self._latest_ns = max([self._latest_ns, *(each.start_ns for each in new)])
        passed_ns = clock.newest_ns + self.offset_ns - self._timing.whole_ns
        known = [each for each in self._waiting if each.command or each.start_ns <= passed_ns]
        self._waiting = [
            each for each in self._waiting if not (each.command or each.start_ns <= passed_ns)
        ]
        return [each.window for each in self._held_to_protocol(known, commands)]

    def _held_to_protocol(
        self, stretches: Sequence[HeldCommand], commands: Commands
    ) -> list[Segment]:
        with_commands = (commands.times, commands.values) if self._marks.command_topic else ()
        return hold_to_protocol(stretches, self._timing, *with_commands)

    def _held(
        self, times: Times, values: Values, until_ns: int, splits: Times
    ) -> list[HeldCommand]:
        marks = self._marks
        hold_ns = None if marks.hold is None else to_nanoseconds(marks.hold)
        return held_commands(
            times, values, until_ns, self._timing.whole_ns, hold_ns, marks.rest, splits
        )

    def segments(self) -> tuple[list[Segment], list[str]]:
        """Return the tests after everything was read, and notes for the user.

        :raises BagError: clocks disagree, or there is no command, or no test
        :raises ParameterError: the marks do not fit the specification
        """
        marks, path = self._marks, self._recording.path
        commands = self._commands()
        notes = list(self._changes)
        for clock in self._clocks.values():
            notes += compare_clocks(clock, commands.clock, self._offset_ns, path)
        stretches = self._stretches(commands)
        if not stretches:
            raise BagError(
                f'{path}: found no test (commands of zero are none without --rest), expected at '
                'least one'
            )
        needs_command = self._specification.measure.quantity.needs == Need.VELOCITY
        if needs_command and not marks.command_topic and not stretches[0].command:
            raise ParameterError(
                'command-topic', 'none', 'one with the commands, which the measure needs'
            )
        notes += _silences(marks, stretches, commands)
        return self._held_to_protocol(stretches, commands), notes

    def _commands(self) -> Commands:
        topic = self._marks.command_topic
        logs, stamps = np.concatenate(self._logs), np.concatenate(self._stamps)
        values = np.concatenate(self._values)
        self._logs, self._stamps, self._values = [logs], [stamps], [values]
        if topic and not len(logs):
            raise BagError(
                f'{self._recording.path}: found no message on {topic}, expected commands'
            )
        by_header = bool((stamps != logs).any())
        order = np.argsort(stamps, kind='stable')
        kept = order[stamps[order] != 0]
        clock = CommandClock(topic or 'the recording', stamps, logs, by_header)
        return Commands(clock, stamps[kept], values[kept])

    def _stretches(self, commands: Commands) -> Sequence[HeldCommand]:
        marks, protocol = self._marks, self._specification.protocol
        clock, times = self._clocks[self._own], commands.times
        begin_ns = clock.least_ns + self.offset_ns if clock.least_ns else 0
        end_ns = clock.end_ns + self.offset_ns if clock.end_ns else 0
        until_ns = max(end_ns, int(times.max(initial=0)))
        if marks.segment_table is not None:
            return read_time_table(marks.segment_table, protocol.command_names, begin_ns, until_ns)
        logs = np.array([log_ns for log_ns, _ in self._labels], dtype=np.int64)
        said, labels = commands.at_logs(logs), [text for _, text in self._labels]
        if marks.segment_topic:
            return held_labels(said, labels, until_ns, marks.segment_labels)
        if protocol.kind != CommandKind.VELOCITY:
            raise ParameterError(
                'command-topic',
                f'{marks.command_topic}, of velocities',
                '--segment-table or --segment-topic: the protocol commands poses',
            )
        stretches = self._held(times, commands.values, until_ns, said)
        starts = np.array([each.start_ns for each in stretches], dtype=np.int64)
        named = label_at(said, labels, starts)
        return [replace(each, label=label) for each, label in zip(stretches, named, strict=True)]


class Commands(NamedTuple):
    """The commands with their times."""

    clock: CommandClock
    times: Times  # increasing; only stamps that are set
    values: Values

    def at_logs(self, logs: Times) -> Times:
        """Convert log times to the clock of the commands."""
        known = self.clock.set_ones
        if not known.by_header or not len(known.logs):
            return logs
        late = known.logs - known.stamps
        return logs - int(np.sort(late)[int(np.around(EARLIEST * (len(late) - 1)))])


def _silences(marks: Marks, stretches: Sequence[HeldCommand], commands: Commands) -> list[str]:
    """Return notes about gaps in a stream of commands that was assumed to continue."""
    if marks.hold is not None or marks.segment_topic or marks.segment_table is not None:
        return []
    steps = np.diff(commands.times)
    if len(steps) < 2:
        return []
    usual_ns = int(np.median(steps))
    longest = int(np.argmax(steps))
    if usual_ns > 1_000_000_000 or steps[longest] <= 1_000_000_000:
        return []
    return [
        f'{marks.command_topic} comes every {to_seconds(usual_ns):.3f} s, and once falls silent '
        f'for {to_seconds(int(steps[longest])):.3f} s: its last command counts until the next '
        'one; --hold sets for how long'
    ]
