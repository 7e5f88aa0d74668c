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

"""What a protocol commands: the kind of command, its range and its speed."""

from __future__ import annotations

import math
from dataclasses import dataclass

from repsq_ros.keys import TextEnum

Command = tuple[float, ...]


class CommandKind(TextEnum):
    """What is commanded: velocities, poses, or pushes by hand."""

    VELOCITY = 'velocity'
    POSE = 'pose'
    PUSH = 'push'


class CommandType(TextEnum):
    """How a command reaches the robot."""

    TWIST = 'twist'
    TWIST_STAMPED = 'twist_stamped'
    UNITREE_SPORT = 'unitree_sport'
    MANUAL = 'manual'  # by hand, following an instruction
    URSCRIPT = 'urscript'
    POSE_TARGET = 'pose_target'


# The components of a command and their units; angles are about fixed axes (REP-103).
COMPONENTS = {
    CommandKind.VELOCITY: ('linear_x', 'linear_y', 'angular_z'),
    CommandKind.POSE: ('x', 'y', 'z', 'roll', 'pitch', 'yaw'),
    # An impact by hand, hammer or pendulum. Azimuth: the direction in which the body is pushed,
    # about its z axis; 0 is forward.
    CommandKind.PUSH: ('impulse', 'azimuth'),
}
UNITS = {
    CommandKind.VELOCITY: ('m/s', 'm/s', 'rad/s'),
    CommandKind.POSE: ('m', 'm', 'm', 'rad', 'rad', 'rad'),
    CommandKind.PUSH: ('N s', 'rad'),
}
# The command that stops the robot: zero, no push, or an empty one for poses.
REST: dict[CommandKind, Command] = {
    CommandKind.VELOCITY: (0.0, 0.0, 0.0),
    CommandKind.POSE: (),
    CommandKind.PUSH: (0.0, 0.0),
}

TOLERANCE = 1e-9  # of a component [its unit]: tolerance for rounding in sums


@dataclass(frozen=True)
class CommandSpace:
    """The commands that a campaign can reach, and how the tool moves to a pose."""

    kind: CommandKind
    ranges: tuple[tuple[float, float], ...]  # (lower, upper) of each component [its unit]
    frame: str = ''  # frame_id of poses; '' for velocities
    speed: float = 0.0  # [m/s] of the tool on its way to a pose
    acceleration: float = 0.0  # [m/s^2] of the tool on its way to a pose
    longest_ramp: float = math.inf  # [s] within which the largest velocity must be reached

    @property
    def largest(self) -> Command:
        """Return the largest magnitude of each component."""
        return tuple(max(abs(lower), abs(upper)) for lower, upper in self.ranges)

    def fault(self, command: Command) -> str:
        """Return what is wrong with a command, or ''; a stop is always right."""
        if command == REST[self.kind]:
            return ''
        names, units = COMPONENTS[self.kind], UNITS[self.kind]
        if len(command) != len(names):
            return f'{len(command)} numbers, expected {len(names)}: {", ".join(names)}'
        for name, unit, value, (lower, upper) in zip(
            names, units, command, self.ranges, strict=True
        ):
            if not math.isfinite(value):
                return f'{name} = {value}, expected a finite number'
            if not lower - TOLERANCE <= value <= upper + TOLERANCE:
                return f'{name} = {value:g} {unit}, expected {lower:g} to {upper:g}'
        return ''
