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

"""The clocks of a recording, and whether they agree."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from repsq_ros.auditing.quantile_sketch import QuantileSketch
from repsq_ros.auditing.stream_audit import CLOCK_TOLERANCE
from repsq_ros.errors import BagError
from repsq_ros.timebase import NANOSECONDS, to_nanoseconds, to_seconds

# Messages are logged shortly after their stamp; a larger offset is not network delay.
TOLERANCE_NS = to_nanoseconds(CLOCK_TOLERANCE)
EARLIEST = 0.02  # quantile of the network delay that counts as the shortest
# larger offset: one of the clocks is simulated, or was never set
OTHER_ERA_NS = 24 * 3600 * NANOSECONDS
BLOCK_NS = 10 * NANOSECONDS  # length of the blocks in which clocks are compared
LEAST = 20  # fewest messages in a block
Times = NDArray[np.int64]
NO_TIMES: Times = np.empty(0, dtype=np.int64)


class CommandClock(NamedTuple):
    """The times of commands.

    :ivar stamps: (n,) [ns] the times that count; 0: not set
    :ivar logs: (n,) [ns] times of recording
    :ivar by_header: whether the stamps are from the header
    """

    topic: str
    stamps: Times
    logs: Times
    by_header: bool

    @property
    def set_ones(self) -> CommandClock:
        """Return the commands whose stamp is set."""
        has = self.stamps != 0
        return self._replace(stamps=self.stamps[has], logs=self.logs[has])


class SensorClock:
    """The clock of a sensor, updated as samples come; memory does not grow.

    Its stamps are compared with the times of recording, and with the commands' stamps at equal
    times of recording. To exclude network delay, only the fastest messages count. Beyond 16 384
    samples, quantiles are those of `QuantileSketch`.

    :param by_header: whether the stamps are from the header of the messages
    """

    def __init__(self, topic: str, by_header: bool) -> None:
        self.topic, self.by_header = topic, by_header
        self.count, self.unset = 0, 0  # samples, and those with stamp 0
        self.least_ns, self.newest_ns = 0, 0  # of the stamps that are set
        self._gaps, self._late = QuantileSketch(1.0), QuantileSketch(1.0)
        self._blocks = _BlockQuantiles(EARLIEST)
        self._first = self._last = (0, 0)  # log time and stamp of a sample
        self._commands: list[tuple[Times, Times]] = []  # commands that are newer than all samples
        # log times of commands, and the sensor's lag there
        self._behind: list[tuple[Times, Times]] = []

    def add_commands(self, logs: Times, stamps: Times) -> None:
        """Add the commands of a part, before its samples."""
        self._commands.append((logs[stamps != 0], stamps[stamps != 0]))

    def add(self, stamps: Times, logs: Times) -> None:
        """Add the samples of a part, in the order of recording."""
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
        """Compare the stamps of commands with those of the neighbouring samples."""
        if not self._commands:
            return
        at, told = (np.concatenate(each) for each in zip(*self._commands, strict=True))
        now = at <= logs[-1]
        self._commands = [(at[~now], told[~now])]
        between = now & (at >= logs[0])
        begin_log, begin_stamp = self._first
        # Subtract before converting to float64: absolute stamps have too many digits.
        since = np.interp(
            (at[between] - begin_log).astype(np.float64),
            (logs - begin_log).astype(np.float64),
            (stamps - begin_stamp).astype(np.float64),
        )
        self._behind.append((at[between], told[between] - begin_stamp - since.astype(np.int64)))

    @property
    def end_ns(self) -> int:
        """Expected time of the next sample; 0: no sample."""
        gaps = self._gaps.bins()
        if not len(gaps.counts):
            return self.newest_ns
        return self.newest_ns + int(gaps.quantile(0.5))

    def apart(self, commands: CommandClock) -> tuple[int, int]:
        """Return how far the stamps lag the clock of the commands, and the drift of the lag.

        :param commands: stamps and log times that were all added before
        :returns: lag [ns], and its range within the recording [ns]
        """
        known = commands.set_ones
        if not (commands.by_header and len(known.stamps)):
            late = self._late.bins()
            behind = int(late.value(round(EARLIEST * (int(late.counts.sum()) - 1))))
            return behind, self._blocks.range
        if self._behind and any(len(at) for at, _ in self._behind):
            at, behinds = (np.concatenate(each) for each in zip(*self._behind, strict=True))
        else:  # no overlap in time: compare each with the nearest sample
            at = known.logs
            before = at < self._first[0]
            behinds = known.stamps - np.where(before, self._first[1], self._last[1])
        # Network delay of a command makes the sensor look ahead.
        blocks = _BlockQuantiles(1.0 - EARLIEST)
        blocks.add(at - at[0], behinds)
        return _quantile(behinds, 1.0 - EARLIEST), blocks.range


class _BlockQuantiles:
    """A quantile of each block of time, updated as values come."""

    def __init__(self, share: float) -> None:
        self._share = share
        self._number, self._values = 0, NO_TIMES  # of the current block
        self._found: list[int] = []

    def add(self, since_ns: Times, values: Times) -> None:
        """Add values, with their times since the first."""
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
        """Difference between the largest and the smallest quantile."""
        found = [*self._found, *self._latest]
        return max(found, default=0) - min(found, default=0)


def _quantile(values: Times, share: float) -> int:
    return int(np.sort(values)[int(np.around(share * (len(values) - 1)))])


def _unset(topic: str, unset: int, count: int, remedy: str, file: object) -> list[str]:
    """Return a note about stamps that are not set.

    :raises BagError: none of them is set
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
    """Compare the clock of a sensor with that of the commands.

    :param offset_ns: added to the sensor's stamps; None: not given
    :returns: notes for the user
    :raises BagError: the clocks disagree, and no offset is given
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
