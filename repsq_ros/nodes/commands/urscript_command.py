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

"""Pose commands to a robot arm of Universal Robots, as URScript."""

from __future__ import annotations

import math
import time

from rclpy.node import Node
from std_msgs.msg import String

from repsq_ros import topics
from repsq_ros.errors import ParameterError
from repsq_ros.nodes.commands.command_publisher import CommandPublisher
from repsq_ros.protocols import urscript
from repsq_ros.protocols.command_space import Command, CommandSpace

REPEAT = 0.2  # [s] between two stops: at 0.25 m/s the tool goes 5 cm


class UrscriptCommand(CommandPublisher):
    """Sends one script for each new pose; a script replaces the running one.

    The driver's urscript_interface passes the text to the robot with a newline at its end; its
    subscription is reliable and keeps one message. It drops a script while its action is busy or
    its connection is read-only, so stops have to be repeated.

    :raises ParameterError: the poses are in a frame that URScript does not know
    """

    streams = False

    def __init__(self, node: Node, space: CommandSpace) -> None:
        if space.frame != urscript.FRAME:
            raise ParameterError(
                'command_type',
                f'urscript, with poses in the frame {space.frame!r}',
                f"poses in the robot's own frame {urscript.FRAME!r}, as URScript takes them",
            )
        super().__init__(node, String, topics.SCRIPT_COMMAND, space)
        self._in_force: Command | None = None  # None: nothing has been sent yet
        self._stopped = -math.inf  # time of the last stop

    def _go(self, command: Command) -> None:
        """Send the script of a pose, if it is new."""
        if not command:
            if self._in_force != ():
                self.stop()
        elif command != self._in_force:
            self._in_force = command
            script = urscript.movel(command, self._space.acceleration, self._space.speed)
            self.send(String(data=script))

    def repeat(self) -> None:
        """Make the next pose be sent again."""
        self._in_force = None

    def stop(self) -> None:
        """Send the stop script, at most every REPEAT seconds."""
        now = time.monotonic()
        if self._in_force != () or now - self._stopped >= REPEAT:
            self._in_force, self._stopped = (), now
            self.send(String(data=urscript.stopl(self._space.acceleration)))
