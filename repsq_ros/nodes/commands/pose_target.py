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

"""Pose commands to a Cartesian motion controller, as a moving target that starts at the tool.

Such a controller follows its target as fast as it can, so the target's speed is the tool's.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from geometry_msgs.msg import PoseStamped
from rclpy.node import Node

from repsq_ros import topics
from repsq_ros.nodes import translate
from repsq_ros.nodes.commands.command_publisher import CommandPublisher
from repsq_ros.nodes.commands.tool_pose import ToolPoseSubscription
from repsq_ros.protocols.command_space import Command, CommandSpace
from repsq_ros.protocols.rotation import angle_between, quaternion_of_rpy
from repsq_ros.protocols.straight_line import StraightLine, ToolPose

# [s] of motion in one step: a late call slows the target down, never speeds it up
LONGEST_STEP = 0.1
# While the tool is held, the target stays unless the tool is further away than this: an arm that
# sags under its weight would creep if each measured pose became the new target.
HELD_WITHIN = (0.01, 0.05)  # [m], [rad]


class PoseTargetCommand(CommandPublisher):
    """Sends targets along a straight line, within the space's speed and acceleration.

    :param now_ns: time for the stamps
    """

    def __init__(self, node: Node, space: CommandSpace, now_ns: Callable[[], int]) -> None:
        super().__init__(node, PoseStamped, topics.TARGET_FRAME, space)
        self._now_ns = now_ns
        self._tool = ToolPoseSubscription(node, space.frame)
        self._line: StraightLine | None = None  # None: the tool is held
        self._stepped = time.monotonic()
        self._held: ToolPose | None = None

    def missing(self) -> str:
        """Return why the command would not be carried out, or ''."""
        return '; '.join(filter(None, (super().missing(), self._tool.missing())))

    def _go(self, command: Command) -> None:
        """Send the next target towards a pose; nothing while the tool's pose is not known."""
        if not command:
            self.stop()
            return
        if self._line is None:
            if self._tool.pose is None or self._tool.missing():
                return
            self._line = StraightLine(self._tool.pose, self._space.speed, self._space.acceleration)
            self._stepped = time.monotonic()
        now = time.monotonic()
        x, y, z, roll, pitch, yaw = command
        target = ToolPose((x, y, z), quaternion_of_rpy(roll, pitch, yaw))
        self._send_pose(self._line.step(target, min(now - self._stepped, LONGEST_STEP)))
        self._stepped = now

    def stop(self) -> None:
        """Send the tool's own pose as the target; nothing if that pose is not known.

        Without a new target, the controller also holds the tool; an old pose would pull the tool
        back.
        """
        tool = self._tool.fresh
        if tool is None:
            self._line = self._held = None
            return
        if self._line is not None or self._held is None or not _near(tool, self._held):
            self._line, self._held = None, tool
        self._send_pose(self._held)

    def _send_pose(self, pose: ToolPose) -> None:
        self.send(translate.pose_stamped_of(pose, self._now_ns(), self._tool.frame))


def _near(tool: ToolPose, held: ToolPose) -> bool:
    metres, radians = HELD_WITHIN
    return (
        math.dist(tool.position, held.position) <= metres
        and angle_between(tool.orientation, held.orientation) <= radians
    )
