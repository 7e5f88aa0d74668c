"""Pose commands to a robot arm of Universal Robots, as URScript."""

from __future__ import annotations

import math
import time

from rclpy.node import Node
from std_msgs.msg import String

from repsq_ros import topics
from repsq_ros.errors import ParameterError
from repsq_ros.nodes.command_publisher import CommandPublisher
from repsq_ros.protocols import urscript
from repsq_ros.protocols.command_space import Command, CommandSpace


class UrscriptCommand:
    """Sends one script for each new pose: a script replaces the one that runs.

    The driver's urscript_interface hands the text to the robot as it is, and ends it with a
    newline; its subscription is reliable and keeps one message.

    :param repeat: after so long a stop is sent anew although nothing has moved since [s]
    :raises ParameterError: the poses are in a frame that URScript does not know
    """

    def __init__(self, node: Node, space: CommandSpace, repeat: float = math.inf) -> None:
        if space.frame != urscript.FRAME:
            raise ParameterError(
                'command_type', f'urscript, with poses in the frame {space.frame!r}',
                f"poses in the robot's own frame {urscript.FRAME!r}, as URScript takes them",
            )  # fmt: skip
        self._space, self._repeat = space, repeat
        self._publisher = CommandPublisher(node, String, topics.SCRIPT_COMMAND)
        self._in_force: Command | None = None  # nothing has been sent yet
        self._stopped = -math.inf  # when a stop was sent last

    @property
    def topic(self) -> str:
        """Name of the topic, as resolved."""
        return self._publisher.topic

    def missing(self) -> str:
        """Return what keeps the command from being carried out, or ''."""
        return self._publisher.missing()

    def publish(self, command: Command) -> None:
        """Send the script of a pose, where it is another one than before."""
        if not command:
            self.stop()
        elif command != self._in_force:
            self._in_force = command
            self._send(urscript.movel(command, self._space.acceleration, self._space.speed))

    def stop(self) -> None:
        """Send the script that stops, where it is not in force already."""
        now = time.monotonic()
        if self._in_force != () or now - self._stopped >= self._repeat:
            self._in_force, self._stopped = (), now
            self._send(urscript.stopl(self._space.acceleration))

    def _send(self, script: str) -> None:
        self._publisher.send(String(data=script))

    def wait_for_all_acked(self) -> None:
        """Wait until the last command has arrived, for a moment."""
        self._publisher.wait_for_all_acked()
