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

"""Commands to people, who move the robot themselves and confirm."""

from __future__ import annotations

from rclpy.node import Node
from std_msgs.msg import String

from repsq_ros import topics
from repsq_ros.nodes import qos
from repsq_ros.nodes.commands.command_publisher import CommandPublisher
from repsq_ros.protocols.command_space import REST, Command, CommandKind, CommandSpace
from repsq_ros.protocols.instruction import instruction


class ManualCommand(CommandPublisher):
    """Publishes each new instruction once: in the log, and on a latched topic."""

    streams = False

    def __init__(self, node: Node, space: CommandSpace) -> None:
        super().__init__(node, String, topics.INSTRUCTION, space, qos.LATCHED)
        self._node = node
        self._told = ''

    def missing(self) -> str:
        """Return '': people read the log."""
        return ''

    def _go(self, command: Command) -> None:
        """Publish the instruction, if it is new."""
        text = instruction(self._space.kind, command)
        if self._space.kind == CommandKind.POSE and command:
            name = self._node.get_fully_qualified_name()
            text += f', then confirm: ros2 service call {name}/confirm std_srvs/srv/Trigger'
        if text != self._told:
            self._told = text
            self._node.get_logger().info(text)
            self.send(String(data=text))

    def stop(self) -> None:
        """Ask people to stop the robot, in the log and on the topic."""
        self._go(REST[self._space.kind])
