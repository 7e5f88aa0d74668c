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

"""The pose of the tool, as published by the robot."""

from __future__ import annotations

import math
import time

from geometry_msgs.msg import PoseStamped
from rclpy.node import Node

from repsq_ros.measurement.catalogue import TOOL_POSE
from repsq_ros.nodes import qos
from repsq_ros.protocols.straight_line import ToolPose

LONGEST_SILENCE = 0.5  # [s] without a pose after which it is unknown
NORM = 0.01  # largest deviation of a quaternion's norm from 1


class ToolPoseSubscription:
    """Keeps the newest valid tool pose.

    :param frame: required frame_id; empty: any
    """

    def __init__(self, node: Node, frame: str) -> None:
        self.pose: ToolPose | None = None
        self.frame = frame  # frame_id of the pose
        self._wanted = frame
        self._heard = -math.inf
        self._fault = 'nothing heard'
        self._topic = node.resolve_topic_name(TOOL_POSE)
        node.create_subscription(PoseStamped, TOOL_POSE, self._on_message, qos.NEWEST)

    def _on_message(self, message: PoseStamped) -> None:
        place, turn = message.pose.position, message.pose.orientation
        position = (float(place.x), float(place.y), float(place.z))
        quaternion = (float(turn.x), float(turn.y), float(turn.z), float(turn.w))
        norm = math.hypot(*quaternion)
        frame = str(message.header.frame_id)
        if self._wanted and frame != self._wanted:
            self._fault = f'frame_id {frame!r}, expected {self._wanted!r}'
        elif not all(map(math.isfinite, (*position, *quaternion))):
            self._fault = 'NaN or infinity in a pose'
        elif abs(norm - 1.0) > NORM:
            self._fault = f'a quaternion of norm {norm:.3g}, expected 1'
        else:
            x, y, z, w = (part / norm for part in quaternion)
            self.pose, self.frame = ToolPose(position, (x, y, z, w)), frame
            self._heard, self._fault = time.monotonic(), ''

    @property
    def fresh(self) -> ToolPose | None:
        """The newest pose, unless it is too old; None: not known."""
        return self.pose if self._silent <= LONGEST_SILENCE else None

    @property
    def _silent(self) -> float:
        return time.monotonic() - self._heard

    def missing(self) -> str:
        """Return 'the tool pose on ...' and why it is not known, or ''."""
        fault, silent = self._fault, self._silent
        if not fault and silent > LONGEST_SILENCE:
            fault = f'last heard {silent:.1f} s ago, at most {LONGEST_SILENCE:g} s allowed'
        return f'the tool pose on {self._topic} ({fault})' if fault else ''
