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

"""Which clocks a recording tells time by, and whether they agree."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from repsq_ros.auditing.quantile_sketch import QuantileSketch
from repsq_ros.auditing.stream_audit import CLOCK_TOLERANCE
from repsq_ros.errors import BagError
from repsq_ros.timebase import NANOSECONDS, to_nanoseconds, to_seconds

# A message is logged a little after its stamp: what is beyond this is no way through a network.
TOLERANCE_NS = to_nanoseconds(CLOCK_TOLERANCE)
EARLIEST = 0.02  # share of the messages that were on their way for the shortest time
OTHER_ERA_NS = 24 * 3600 * NANOSECONDS  # apart: one of them is simulated, or was never set
BLOCK_NS = 10 * NANOSECONDS  # in which a clock is compared with another
LEAST = 20  # messages in a block
Times = NDArray[np.int64]
NO_TIMES: Times = np.empty(0, dtype=np.int64)


class CommandClock(NamedTuple):
    """The times of commands.

    :ivar stamps: (n,) [ns] by which they count; 0: nobody set one
    :ivar logs: (n,) [ns] at which they were recorded
    :ivar by_header: whether their stamps are from their header
    """

    topic: str
    stamps: Times
    logs: Times
    by_header: bool

    @property
    def set_ones(self) -> CommandClock:
        """Return the commands that have a stamp."""
        has = self.stamps != 0
        return self._replace(stamps=self.stamps[has], logs=self.logs[has])


class SensorClock:
    """The clock of a sensor, as its samples come: no more than sums and bins are kept.

    Its stamps are held against the times at which they were recorded, and against the stamps of
    commands at equal instants of the recording. Messages take some time: those that took the
    shortest count. Beyond 16 384 samples, quantiles are those of `QuantileSketch`.

    :param by_header: whether the stamps are from the header of the messages
    """

    def __init__(self, topic: str, by_header: bool) -> None:
        self.topic, self.by_header = topic, by_header
        self.count, self.unset = 0, 0  # samples, and how many of them have the stamp 0
        self.least_ns, self.newest_ns = 0, 0  # of the stamps that are set
        self._gaps, self._late = QuantileSketch(1.0), QuantileSketch(1.0)
        self._blocks = _BlockQuantiles(EARLIEST)
        self._first = self._last = (0, 0)  # log and stamp of a sample
        self._commands: list[tuple[Times, Times]] = []  # that no later sample has followed yet
        self._behind: list[tuple[Times, Times]] = []  # logs of commands; the sensor behind them

    def add_commands(self, logs: Times, stamps: Times) -> None:
        """Take in commands of a stretch, before its samples."""
        self._commands.append((logs[stamps != 0], stamps[stamps != 0]))

    def add(self, stamps: Times, logs: Times) -> None:
        """Take in the samples of a stretch, in the order of recording."""
        known = stamps != 0
        self.count += len(stamps)
        self.unset += len(stamps) - int(np.sum(known))
        stamps, logs = stamps[known], logs[known]
        if not len(stamps):
            return
        ordered = np.sort(stamps)
        if self._last == (0, 0):
            self._first = (int(logs[0]), int(stamps[0]))
            self.least_ns, self.newest_ns = int(ordered[0]), int(ordered[0])
            gaps = np.diff(ordered)
        else:
            gaps = np.diff(ordered, prepend=self.newest_ns)
            logs, stamps = np.append(self._last[0], logs), np.append(self._last[1], stamps)
        self._gaps.add(gaps.astype(np.float64))
        self._compare(logs, stamps)
        new = slice(-len(ordered), None)
        self._late.add((logs[new] - stamps[new]).astype(np.float64))
        self._blocks.add(logs[new] - self._first[0], logs[new] - stamps[new])
        self.least_ns = min(self.least_ns, int(ordered[0]))
        self.newest_ns = max(self.newest_ns, int(ordered[-1]))
        self._last = (int(logs[-1]), int(stamps[-1]))

    def _compare(self, logs: Times, stamps: Times) -> None:
        """Compare the stamps of commands with those of the samples about them."""
        if not self._commands:
            return
        at, told = (np.concatenate(each) for each in zip(*self._commands, strict=True))
        now = at <= logs[-1]
        self._commands = [(at[~now], told[~now])]
        between = now & (at >= logs[0])
        begin_log, begin_stamp = self._first
        # In float64 after a subtraction: absolute stamps have more digits than it.
        since = np.interp(
            (at[between] - begin_log).astype(np.float64),
            (logs - begin_log).astype(np.float64),
            (stamps - begin_stamp).astype(np.float64),
        )
        self._behind.append((at[between], told[between] - begin_stamp - since.astype(np.int64)))

    @property
    def end_ns(self) -> int:
        """When the next sample would have come; 0: there is none."""
        gaps = self._gaps.bins()
        if not len(gaps.counts):
            return self.newest_ns
        return self.newest_ns + int(gaps.quantile(0.5))

    def apart(self, commands: CommandClock) -> tuple[int, int]:
        """Return how far the stamps are behind the clock of the commands, and their drift.

        :param commands: whose stamps and log times were all taken in
        :returns: [ns] behind, and [ns] by which that changes within the recording
        """
        known = commands.set_ones
        if not (commands.by_header and len(known.stamps)):
            late = self._late.bins()
            behind = int(late.value(round(EARLIEST * (int(late.counts.sum()) - 1))))
            return behind, self._blocks.range
        if self._behind and any(len(at) for at, _ in self._behind):
            at, behinds = (np.concatenate(each) for each in zip(*self._behind, strict=True))
        else:  # they do not meet in time: each is held against the nearest sample
            at = known.logs
            before = at < self._first[0]
            behinds = known.stamps - np.where(before, self._first[1], self._last[1])
        # A late command makes the sensor look as if it were ahead.
        blocks = _BlockQuantiles(1.0 - EARLIEST)
        blocks.add(at - at[0], behinds)
        return _quantile(behinds, 1.0 - EARLIEST), blocks.range


class _BlockQuantiles:
    """A quantile of each block of time, as values come."""

    def __init__(self, share: float) -> None:
        self._share = share
        self._number, self._values = 0, NO_TIMES  # of the block that is not over
        self._found: list[int] = []

    def add(self, since_ns: Times, values: Times) -> None:
        """Take in values, each with its time since the first."""
        block = since_ns // BLOCK_NS
        for part in np.split(np.arange(len(block)), np.flatnonzero(np.diff(block)) + 1):
            if len(part) and block[part[0]] != self._number:
                self._found += self._latest
                self._number, self._values = int(block[part[0]]), NO_TIMES
            self._values = np.append(self._values, values[part])

    @property
    def _latest(self) -> list[int]:
        enough = len(self._values) >= LEAST
        return [_quantile(self._values, self._share)] if enough else []

    @property
    def range(self) -> int:
        """From the least quantile to the largest."""
        found = [*self._found, *self._latest]
        return max(found, default=0) - min(found, default=0)


def _quantile(values: Times, share: float) -> int:
    return int(np.sort(values)[int(np.around(share * (len(values) - 1)))])


def _unset(topic: str, unset: int, count: int, remedy: str, file: object) -> list[str]:
    """Return a note on stamps that are not set.

    :raises BagError: none is
    """
    if unset and unset == count:
        raise BagError(
            f'{file}: found stamp 0 in all {unset} messages on {topic}, expected those of a '
            f'clock: {remedy}'
        )
    if not unset:
        return []
    return [f'{unset} of {count} stamps on {topic} are 0: these messages are not used']


def compare_clocks(
    sensor: SensorClock, commands: CommandClock, offset_ns: int | None, file: object
) -> list[str]:
    """Compare the clock of a sensor with the one that tells when commands were given.

    :param offset_ns: what is added to the sensor's stamps; None: nobody has said
    :returns: what is to be told
    :raises BagError: they disagree, and nobody has said by how much
    """
    remedy = "say stamp: receive under the measure's input"
    notes = _unset(sensor.topic, sensor.unset, sensor.count, remedy, file)
    unset = int(np.sum(commands.stamps == 0))
    remedy = '--command-stamp log takes those of the recording'
    notes += _unset(commands.topic, unset, len(commands.stamps), remedy, file)
    if not sensor.count or not (sensor.by_header or commands.by_header):
        return notes
    behind_ns, drift_ns = sensor.apart(commands)
    left_ns = behind_ns - (offset_ns or 0)
    told = f'{abs(to_seconds(behind_ns)):.3f} s {"behind" if behind_ns >= 0 else "ahead of"}'
    where = f'the stamps on {sensor.topic} are {told} the clock of {commands.topic}'
    if offset_ns is None and abs(left_ns) > TOLERANCE_NS:
        era = ' (one of them is simulated, or was not set)' if abs(left_ns) > OTHER_ERA_NS else ''
        raise BagError(
            f'{file}: found that {where}{era}, expected at most {to_seconds(TOLERANCE_NS):g} s: '
            f'--clock-offset {to_seconds(behind_ns):.3f} where the clocks differ, '
            '--clock-offset 0 where the stamps are right and the messages came late'
        )
    if offset_ns is not None and abs(left_ns) > TOLERANCE_NS:
        notes.append(f'{where}; taken as --clock-offset {to_seconds(offset_ns):g} says')
    elif offset_ns:
        notes.append(f'{to_seconds(offset_ns):g} s added to the stamps on {sensor.topic}')
    if drift_ns > TOLERANCE_NS:
        notes.append(
            f'the clocks of {sensor.topic} and {commands.topic} drift apart by '
            f'{to_seconds(drift_ns):.3f} s within the recording'
        )
    return notes
