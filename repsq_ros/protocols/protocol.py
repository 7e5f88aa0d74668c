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

"""A protocol: the steps of one test, the command in each, and how each ends."""

from __future__ import annotations

import enum
import math
from dataclasses import asdict, dataclass, field
from typing import Any, cast

from repsq_ros.keys import TextEnum, key
from repsq_ros.protocols.command_space import (
    COMPONENTS,
    REST,
    UNITS,
    Command,
    CommandKind,
    CommandSpace,
)
from repsq_ros.protocols.endings import Ending, TimedEnding
from repsq_ros.protocols.phases import Phase
from repsq_ros.sampling.box import Box
from repsq_ros.timebase import to_seconds


class ProtocolType(TextEnum):
    """How a protocol is declared."""

    LOCOMOTION = 'locomotion'
    POSITIONING = 'positioning'
    FREE = 'free'  # its phases are listed in the specification


class Goal(enum.Enum):
    """The command of a step."""

    REST = 'rest'  # zero velocity
    STAY = 'stay'  # the last commanded pose
    TARGET = 'target'  # the command of the case
    APPROACH = 'approach'  # the pose from which the case is approached
    REFERENCE = 'reference'  # the reference pose
    REFERENCE_APPROACH = 'reference_approach'  # the pose from which the reference is approached


@dataclass(frozen=True)
class Step:
    """One phase of a test."""

    phase: Phase
    goal: Goal
    ending: Ending
    window_ns: int = 0  # measured part at its end; 0: not measured

    def describe(self) -> dict[str, object]:
        """Return everything that two labs have to share."""
        ending = self.ending
        return {
            'phase': self.phase.name.lower(),
            'goal': self.goal.value,
            'ends': ending.kind,
            **asdict(cast(Any, ending)),
            'window_ns': self.window_ns,
        }

    @property
    def look_ns(self) -> int:
        """Announced duration of the phase."""
        return self.ending.look_ns


@dataclass(frozen=True)
class Positions:
    """Poses that a protocol needs in addition to the case."""

    frame: str = field(metadata=key('frame_id of all poses; base for URScript'))
    reference: Command  # (x, y, z, roll, pitch, yaw) [m, rad]
    direction: tuple[float, float, float] = field(
        metadata=key('direction of the last part of each move: a vector in the frame')
    )
    distance: float = field(metadata=key('length of the last part of each move', 'm', at_least=0))
    speed: float = field(metadata=key('speed of the tool', 'm/s', above=0))
    acceleration: float = field(metadata=key('acceleration of the tool', 'm/s^2', above=0))

    def approach_to(self, pose: Command) -> Command:
        """Return the pose from which the given pose is approached."""
        size = math.hypot(*self.direction)
        back = tuple(-self.distance * each / size for each in self.direction)
        moved = (here + there for here, there in zip(pose[:3], back, strict=True))
        return (*moved, *pose[3:])


@dataclass(frozen=True)
class Protocol:
    """The steps of one test, in their order.

    :param homing: steps from any pose to the start of a test
    :param description: what two labs have to share of the protocol
    """

    type: ProtocolType
    steps: tuple[Step, ...]
    description: dict[str, object]
    positions: Positions | None = None  # of a robot that takes poses
    homing: tuple[Step, ...] = ()
    by_hand: bool = False  # the robot is pushed; false and no positions: it takes velocities

    @property
    def kind(self) -> CommandKind:
        """Kind of command that the robot takes."""
        if self.positions is not None:
            return CommandKind.POSE
        return CommandKind.PUSH if self.by_hand else CommandKind.VELOCITY

    @property
    def command_names(self) -> tuple[str, ...]:
        """Names of the components of a command."""
        return COMPONENTS[self.kind]

    @property
    def command_units(self) -> tuple[str, ...]:
        """Units of the components of a command."""
        return UNITS[self.kind]

    @property
    def rest(self) -> Command:
        """Command of rest: zero velocity, or for poses to stay."""
        return REST[self.kind]

    @property
    def settles(self) -> bool:
        """Tell whether a phase ends once the robot has settled."""
        return any(s.ending.needs_body for s in (*self.homing, *self.steps))

    @property
    def before_window_ns(self) -> int:
        """Time from the start of the measured phase to the start of the window."""
        measured = next(step for step in self.steps if step.window_ns)
        return measured.look_ns - measured.window_ns

    def target(self, names: tuple[str, ...], x: tuple[float, ...]) -> Command:
        """Return the command of a case; other components are zero, or those of the reference."""
        given = dict(zip(names, x, strict=True))
        usual = self.rest if self.positions is None else self.positions.reference
        return tuple(
            given.get(name, other) for name, other in zip(self.command_names, usual, strict=True)
        )

    def command(self, goal: Goal, target: Command, last: Command) -> Command:
        """Return the command of a step.

        :param target: the command of the case
        :param last: the previous command
        """
        if goal is Goal.REST or self.positions is None:
            return target if goal is Goal.TARGET else self.rest
        if goal is Goal.STAY:
            return last
        to_case = goal in (Goal.TARGET, Goal.APPROACH)
        pose = target if to_case else self.positions.reference
        direct = goal in (Goal.TARGET, Goal.REFERENCE)
        return pose if direct else self.positions.approach_to(pose)

    def command_space(self, box: Box) -> CommandSpace:
        """Return the commands that a campaign can use."""
        corners = [
            self.target(box.names, tuple(getattr(d, end) for d in box.dimensions))
            for end in ('lower', 'upper')
        ]
        if self.positions is None:
            reached = [*corners, self.rest]
        else:
            reference = self.positions.reference
            reached = [*corners, reference]
            reached += [self.positions.approach_to(pose) for pose in reached]
        ranges = tuple((min(each), max(each)) for each in zip(*reached, strict=True))
        if self.positions is None:
            # The ramp has to end before the window begins.
            ramps = [s.look_ns - s.window_ns for s in self.steps if s.phase is Phase.COMMAND]
            return CommandSpace(self.kind, ranges, longest_ramp=to_seconds(min(ramps)))
        positions = self.positions
        return CommandSpace(
            CommandKind.POSE, ranges, positions.frame, positions.speed, positions.acceleration
        )

    def duration_ns(self, box: Box) -> int:
        """Return the approximate duration of one test, without waiting for a person.

        Moves are counted from the reference to the middle of the box, at full speed.
        """
        total = sum(step.ending.least_ns for step in self.steps)
        if self.positions is None:
            return total
        middle = self.target(box.names, tuple((d.lower + d.upper) / 2 for d in box.dimensions))
        where = self.positions.reference
        for step in self.steps:
            goes_to = self.command(step.goal, middle, where)
            if step.phase in (Phase.MOVE, Phase.RETURN) and not isinstance(
                step.ending, TimedEnding
            ):
                total += round(math.dist(where[:3], goes_to[:3]) / self.positions.speed * 1e9)
            where = goes_to
        return total
