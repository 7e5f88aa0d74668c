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

"""Other people's recordings: where their tests are, by commands, labels or a table of times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from repsq_ros.errors import BagError, ParameterError
from repsq_ros.recordings.recording import Recording
from repsq_ros.replay.clocks import EARLIEST, Clocked, compare_clocks
from repsq_ros.replay.held_commands import (
    Held,
    Times,
    Values,
    held_commands,
    held_labels,
    label_at,
)
from repsq_ros.replay.held_to_protocol import hold_to_protocol, timing_of
from repsq_ros.replay.segments import Segment
from repsq_ros.replay.time_table import read_time_table
from repsq_ros.specification.model import Specification
from repsq_ros.timebase import to_nanoseconds, to_seconds

TWISTS = ('geometry_msgs/msg/Twist', 'geometry_msgs/msg/TwistStamped')
# As campaign_messages.command_of_twist: (v_x, v_y, yaw rate).
OF_TWIST = ('linear.x', 'linear.y', 'angular.z')
LABELS = tuple(
    f'std_msgs/msg/{kind}'
    for kind in ('String', 'Bool', 'Int8', 'UInt8', 'Int16', 'UInt16', 'Int32', 'UInt32', 'Int64')
)
STAMPS_OF_COMMANDS = ('header', 'log')


@dataclass(frozen=True)
class Marks:
    """What tells where tests are; see `repsq reevaluate --help`."""

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


class Commands(NamedTuple):
    """What was commanded when."""

    clocked: Clocked
    times: Times  # rising, of those whose stamps are set
    values: Values

    def at_logs(self, logs: Times) -> Times:
        """Return instants of the recording by the clock of the commands."""
        known = self.clocked.set_ones
        if not known.by_header or not len(known.logs):
            return logs
        late = known.logs - known.stamps
        return logs - int(np.sort(late)[int(np.around(EARLIEST * (len(late) - 1)))])


NO_TIMES: Times = np.empty(0, dtype=np.int64)
NO_COMMANDS = Commands(
    Clocked('the recording', NO_TIMES, NO_TIMES, False), NO_TIMES, np.empty((0, 0))
)


def foreign_segments(
    bag: Recording,
    specification: Specification,
    marks: Marks,
    sensors: Sequence[Clocked],
    clock_offset: float | None,
) -> tuple[list[Segment], list[str], int]:
    """Return the tests of a recording without the package's topics.

    :param sensors: all that are measured by; the first is that of the specification's own measure
    :returns: the tests, what is to be told, and what is added to the sensor's stamps [ns]
    :raises BagError: a topic is missing, clocks disagree, or there is no test
    :raises ParameterError: the marks do not fit the specification
    """
    timing, changes = timing_of(specification, marks.settle, marks.window)
    commands = NO_COMMANDS
    if marks.command_topic:
        commands = read_commands(bag, marks.command_topic, marks.command_stamp)
    offset_ns = None if clock_offset is None else to_nanoseconds(clock_offset)
    notes = list(changes)
    for each in sensors:
        notes += compare_clocks(each, commands.clocked, offset_ns, bag.path)
    moved_ns = offset_ns or 0
    stamps = sensors[0].set_ones.stamps + moved_ns
    begin_ns = int(stamps.min()) if len(stamps) else 0
    until_ns = max(_end_of(stamps), int(commands.times.max(initial=0)))
    recorded = (begin_ns, until_ns)
    stretches = _stretches(bag, specification, marks, commands, recorded, timing.whole_ns)
    if not stretches:
        raise BagError(
            f'{bag.path}: found no test (commands of zero are none without --rest), expected at '
            'least one'
        )
    needs_command = specification.measure.quantity.needs == 'velocity'
    if needs_command and not marks.command_topic and not stretches[0].command:
        raise ParameterError(
            'command-topic', 'none', 'one that tells the commands, which the measure needs'
        )
    with_commands = (commands.times, commands.values) if marks.command_topic else ()
    notes += _silences(marks, stretches, commands)
    return hold_to_protocol(stretches, timing, *with_commands), notes, moved_ns


def _end_of(times: Times) -> int:
    """Return the instant at which the next sample would have come; 0: there is none."""
    if len(times) < 2:
        return int(times.max(initial=0))
    return int(times.max()) + int(np.median(np.diff(np.sort(times))))


def read_commands(bag: Recording, topic: str, stamp: str) -> Commands:
    """Return the commands on a Twist topic.

    :param stamp: header: as the message says, where it does; log: when it was recorded
    :raises BagError: the topic is missing, of another type, or empty
    """
    bag.require(topic, *TWISTS)
    logs: list[Times] = [NO_TIMES]
    headers: list[Times] = [NO_TIMES]
    values: list[Values] = [np.empty((0, 3))]
    for table in bag.arrays(topic):
        stamps = table.stamps()
        where = '' if stamps is None else 'twist.'
        logs.append(table.log_ns.copy())
        headers.append(logs[-1] if stamps is None else stamps)
        columns = [table.column(f'{where}{name}') for name in OF_TWIST]
        values.append(np.column_stack(columns).astype(np.float64))
    by_log = np.concatenate(logs)
    if not len(by_log):
        raise BagError(f'{bag.path}: found no message on {topic}, expected commands')
    stamped = np.concatenate(headers)
    by_header = stamp == 'header' and bool((stamped != by_log).any())
    times = stamped if by_header else by_log
    order = np.argsort(times, kind='stable')
    kept = order[times[order] != 0]
    return Commands(
        Clocked(topic, times, by_log, by_header),
        times[kept],
        np.concatenate(values)[kept],
    )


def read_labels(bag: Recording, topic: str, commands: Commands) -> tuple[Times, list[str]]:
    """Return the labels on a topic of texts or numbers, and when each was said.

    :param commands: by whose clock the times are told
    :raises BagError: the topic is missing, or of another type
    """
    bag.require(topic, *LABELS)
    found = [(item.log_ns, str(item.message.data)) for item in bag.messages(topic)]
    logs = np.array([log_ns for log_ns, _ in found], dtype=np.int64)
    return commands.at_logs(logs), [text for _, text in found]


def _stretches(
    bag: Recording,
    specification: Specification,
    marks: Marks,
    commands: Commands,
    recorded: tuple[int, int],
    apart_ns: int,
) -> Sequence[Held]:
    begin_ns, until_ns = recorded
    if marks.segment_table is not None:
        names = specification.protocol.command_names
        return read_time_table(marks.segment_table, names, begin_ns, until_ns)
    if marks.segment_topic:
        times, labels = read_labels(bag, marks.segment_topic, commands)
        return held_labels(times, labels, until_ns, marks.segment_labels)
    if specification.protocol.kind != 'velocity':
        raise ParameterError(
            'command-topic',
            f'{marks.command_topic}, of velocities',
            '--segment-table or --segment-topic: the protocol commands poses',
        )
    times, labels = NO_TIMES, list[str]()
    if marks.label_topic:
        times, labels = read_labels(bag, marks.label_topic, commands)
    hold_ns = None if marks.hold is None else to_nanoseconds(marks.hold)
    stretches = held_commands(
        commands.times, commands.values, until_ns, apart_ns, hold_ns, marks.rest, times
    )
    starts = np.array([each.start_ns for each in stretches], dtype=np.int64)
    named = label_at(times, labels, starts)
    return [replace(each, label=label) for each, label in zip(stretches, named, strict=True)]


def _silences(marks: Marks, stretches: Sequence[Held], commands: Commands) -> list[str]:
    """Tell where a stream of commands stopped, and was taken as going on."""
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
        f'for {to_seconds(int(steps[longest])):.3f} s: its last command is taken to hold until '
        'the next one; --hold says for how long it does'
    ]
