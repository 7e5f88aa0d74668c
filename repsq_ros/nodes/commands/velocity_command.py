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

"""Velocity commands: ramped within acceleration limits, except for an immediate zero."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from geometry_msgs.msg import Twist, TwistStamped
from rclpy.node import Node

from repsq_ros import topics
from repsq_ros.errors import ParameterError
from repsq_ros.nodes import translate
from repsq_ros.nodes.commands.command_publisher import CommandPublisher
from repsq_ros.nodes.parameters import Parameters
from repsq_ros.protocols.command_space import Command, CommandSpace
from repsq_ros.protocols.slew import SlewLimiter


class VelocityCommand(CommandPublisher):
    """Publishes the current velocity, in any message type.

    :param kind: class of the messages
    :param topic: relative name
    :param message: makes the message of (v_x, v_y, yaw rate) [m/s, m/s, rad/s]
    :raises ParameterError: the ramp would extend into the measured window
    """

    def __init__(
        self,
        node: Node,
        parameters: Parameters,
        space: CommandSpace,
        kind: type,
        topic: str,
        message: Callable[[Command], Any],
    ) -> None:
        super().__init__(node, kind, topic, space)
        self._message = message
        linear = parameters.number(
            'acceleration_linear',
            0.0,
            'm/s^2 within which velocities are ramped; 0: steps',
            at_least=0,
        )
        angular = parameters.number('acceleration_angular', 0.0, 'rad/s^2, likewise', at_least=0)
        self._slew = SlewLimiter((linear, linear, angular))
        ramp = self._slew.seconds_to(space.largest)
        if ramp > space.longest_ramp:
            raise ParameterError(
                'acceleration_linear, acceleration_angular',
                f'a ramp of {ramp:.3g} s',
                f'one of {space.longest_ramp:g} s at most, after which the window is measured',
            )
        self._sent = time.monotonic()

    def _go(self, command: Command) -> None:
        """Publish a command or the next step of its ramp; a zero command is sent at once."""
        now = time.monotonic()
        self.send(self._message(self._slew.step(command, now - self._sent)))
        self._sent = now

    def stop(self) -> None:
        """Publish zero at once."""
        self._sent = time.monotonic()
        self.send(self._message(self._slew.stop()))


def twist_command(
    node: Node,
    parameters: Parameters,
    space: CommandSpace,
    now_ns: Callable[[], int],
    stamped: bool,
) -> VelocityCommand:
    """Return the command on cmd_vel.

    :param now_ns: time for the stamps
    :param stamped: TwistStamped instead of Twist
    """
    frame = parameters.text('command_frame', 'base_link', 'frame_id of a stamped command')

    def stamped_twist(command: Command) -> TwistStamped:
        return translate.twist_stamped_of(command, now_ns(), frame)

    kind, message = (TwistStamped, stamped_twist) if stamped else (Twist, translate.twist_of)
    return VelocityCommand(node, parameters, space, kind, topics.COMMAND_VELOCITY, message)
