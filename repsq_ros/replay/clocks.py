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

from repsq_ros.errors import BagError
from repsq_ros.timebase import NANOSECONDS, to_seconds

# A message is logged a little after its stamp: what is beyond this is no way through a network.
TOLERANCE_NS = 50_000_000
EARLIEST = 0.02  # share of the messages that were on their way for the shortest time
OTHER_ERA_NS = 24 * 3600 * NANOSECONDS  # apart: one of them is simulated, or was never set
BLOCK_NS = 10 * NANOSECONDS  # in which a clock is compared with another
LEAST = 20  # messages in a block


class Clocked(NamedTuple):
    """The times of the messages on a topic.

    :ivar stamps: (n,) [ns] by which they count; 0: the driver set none
    :ivar logs: (n,) [ns] at which they were recorded
    :ivar by_header: whether their stamps are from their header
    """

    topic: str
    stamps: NDArray[np.int64]
    logs: NDArray[np.int64]
    by_header: bool

    @property
    def unset(self) -> int:
        """How many stamps are 0."""
        return int(np.sum(self.stamps == 0))

    @property
    def set_ones(self) -> Clocked:
        """Return the messages that have a stamp."""
        has = self.stamps != 0
        return self._replace(stamps=self.stamps[has], logs=self.logs[has])

    def require(self, remedy: str, file: object) -> list[str]:
        """Tell how many stamps are not set.

        :raises BagError: none is
        """
        if self.unset and self.unset == len(self.stamps):
            raise BagError(
                f'{file}: found stamp 0 in all {self.unset} messages on {self.topic}, expected '
                f'those of a clock: {remedy}'
            )
        if not self.unset:
            return []
        return [
            f'{self.unset} of {len(self.stamps)} stamps on {self.topic} are 0: these messages '
            'are not used'
        ]


def apart(sensor: Clocked, commands: Clocked) -> tuple[int, int]:
    """Return how far the stamps of a sensor are behind the clock of the commands, and its drift.

    Where commands count by their recording, the sensor's stamps are held against that. Where they
    have stamps of their own, both are held against each other at equal instants of the recording.
    Messages take some time: those that took the shortest count.

    :param sensor: with stamps that are set
    :param commands: with stamps that are set
    :returns: [ns] behind, and [ns] by which that changes within the recording
    """
    if commands.by_header and len(commands.stamps):
        order = np.argsort(sensor.logs, kind='stable')
        logs, stamps = sensor.logs[order], sensor.stamps[order]
        # In float64 after a subtraction: absolute stamps have more digits than it.
        since = np.interp(
            (commands.logs - logs[0]).astype(np.float64),
            (logs - logs[0]).astype(np.float64),
            (stamps - stamps[0]).astype(np.float64),
        )
        both = (commands.logs >= logs[0]) & (commands.logs <= logs[-1])
        if not both.any():
            both[:] = True
        behind = (commands.stamps - stamps[0] - since.astype(np.int64))[both]
        # A late command makes the sensor look as if it were ahead.
        at, share = commands.logs[both], 1.0 - EARLIEST
    else:
        behind, at, share = sensor.logs - sensor.stamps, sensor.logs, EARLIEST
    block = (at - at[0]) // BLOCK_NS
    order = np.argsort(block, kind='stable')
    parts = np.split(behind[order], np.flatnonzero(np.diff(block[order])) + 1)
    each = [_quantile(part, share) for part in parts if len(part) >= LEAST]
    return _quantile(behind, share), max(each, default=0) - min(each, default=0)


def _quantile(values: NDArray[np.int64], share: float) -> int:
    return int(np.sort(values)[int(np.around(share * (len(values) - 1)))])


def compare_clocks(
    sensor: Clocked, commands: Clocked, offset_ns: int | None, file: object
) -> list[str]:
    """Compare the clock of a sensor with the one that tells when commands were given.

    :param offset_ns: what is added to the sensor's stamps; None: nobody has said
    :returns: what is to be told
    :raises BagError: they disagree, and nobody has said by how much
    """
    notes = sensor.require("say stamp: receive under the measure's input", file)
    notes += commands.require('--command-stamp log takes those of the recording', file)
    if not len(sensor.stamps) or not (sensor.by_header or commands.by_header):
        return notes
    behind_ns, drift_ns = apart(sensor.set_ones, commands.set_ones)
    left_ns = behind_ns - (offset_ns or 0)
    told = f'{abs(to_seconds(behind_ns)):.3f} s {"behind" if behind_ns >= 0 else "ahead of"}'
    where = f'the stamps on {sensor.topic} are {told} the clock of {commands.topic}'
    if offset_ns is None and abs(left_ns) > TOLERANCE_NS:
        era = ' (one of them is simulated, or was not set)' if abs(left_ns) > OTHER_ERA_NS else ''
        raise BagError(
            f'{file}: found that {where}{era}, expected at most {to_seconds(TOLERANCE_NS):g} s: '
            f'--clock-offset {to_seconds(behind_ns):.3f} corrects that, --clock-offset 0 takes '
            'them as they are'
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
