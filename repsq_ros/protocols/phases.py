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

"""Phases of a test, as plain values."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from repsq_ros.protocols.command_space import Command


class Phase(enum.IntEnum):
    """Phases of a test; the values are those of TestPhase.msg."""

    IDLE = 0
    DWELL = 1
    COMMAND = 2
    SETTLE = 3
    RECORD = 4
    RETURN = 5
    PAUSED = 6
    DONE = 7
    ABORTED = 8
    MOVE = 9
    SKIPPED = 10


class Cause(enum.Enum):
    """Where the cause of a lost attempt lies."""

    # stall, lost node, disk, clock: detected by heartbeats alone, before psi is known
    BENCH = 'bench'
    INSTRUMENT = 'instrument'  # sensor, robot, condition: may depend on the robot's motion
    OPERATOR = 'operator'  # a person who may have seen the robot's motion


BEGUN = (Phase.COMMAND, Phase.MOVE)  # phases in which the case itself is commanded


@dataclass(frozen=True)
class Span:
    """A phase with its times, as announced when it begins.

    A phase that ends when the robot has settled, or when somebody confirms, is announced for a
    short time and prolonged until it ends.
    """

    phase: Phase
    index: int
    attempt: int
    start_ns: int
    end_ns: int | None  # None: open-ended; equal to start_ns: held until a peer answers
    command: Command
    window: tuple[int, int] | None = None  # measured interval [start, end) in ns
    reason: str = ''
    command_ns: int | None = None  # when the case took effect; None: at the start of this phase
    # number of the step in the test, from 0; negative: on the way to the test's start
    step: int = 0
    broken_off: bool = False  # it ended an attempt whose command had begun
    cause: str = ''  # a Cause, if it was broken off
    goes_on: bool = False  # the campaign resumes by itself once the reason of the pause is gone
    alarm: bool = False  # the robot was not observed at rest after it had been stopped

    def command_at(self, now_ns: int, rest: Command) -> Command:
        """Return the command at an instant: rest before the phase begins and after it ends.

        After it, a robot that takes poses has no command of rest: it keeps its goal until it gets
        another one.
        """
        if now_ns < self.start_ns:
            return rest
        lapsed = self.end_ns is not None and now_ns >= self.end_ns
        return rest if lapsed and rest else self.command

    def begins_test(self, before: Span | None) -> bool:
        """Tell whether a test begins with this phase.

        :param before: the previous phase, which this one may only prolong
        """
        if self.phase is Phase.IDLE or self.end_ns is None or self.step != 0:
            return False
        prolongs = (
            before is not None
            and (before.index, before.attempt) == (self.index, self.attempt)
            and before.step == 0
            and before.phase is self.phase
            and before.end_ns == self.start_ns
        )
        return not prolongs
