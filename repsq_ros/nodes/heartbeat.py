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

"""The heartbeat of a node, sent by its own executor."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable

from rclpy.clock import Clock, ClockType
from rclpy.node import Node

from repsq_ros import topics
from repsq_ros.msg import Heartbeat
from repsq_ros.nodes import qos
from repsq_ros.nodes.identity import launch_id, participant

PERIOD = 0.05  # [s]
SOON = 0.01  # [s] after a heartbeat in which `beat` sends no other
STOPPING = 'stops the robot'  # status of a scheduler that has not seen the robot at rest yet


class HeartbeatPublisher:
    """Sends a heartbeat at 20 Hz from the node's own executor, so a hanging node sends none.

    :param role: role of the node, independent of its name: scheduler, guard, ...
    :param on_beat: called after each heartbeat, on the steady clock
    """

    def __init__(self, node: Node, role: str, on_beat: Callable[[], None] | None = None) -> None:
        self._node, self._on_beat = node, on_beat
        self._sent = -math.inf  # when the last one was sent, steady [s]
        self._message = Heartbeat(
            node=node.get_fully_qualified_name(),
            session=random.SystemRandom().getrandbits(64),
            launch_id=launch_id(node),
            participant=participant(node),
        )
        self._publisher = node.create_publisher(
            Heartbeat, f'{topics.HEARTBEAT}/{role}', qos.HEARTBEAT
        )
        node.create_timer(PERIOD, self._beat, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def set_status(self, ready: bool, status: str, interventions: int = 0) -> None:
        """Set the content of further heartbeats; a change is sent at once."""
        message = self._message
        new = (ready, status, interventions)
        if new == (message.ready, message.status, message.interventions):
            return
        message.ready, message.status, message.interventions = new
        self._publish()

    def beat(self) -> None:
        """Send one now: before long work, or for a node whose executor no longer runs.

        May be called often: it sends none if the last one was sent a moment ago.
        """
        if time.monotonic() - self._sent >= SOON:
            self._publish()

    def _beat(self) -> None:
        self._publish()
        if self._on_beat is not None:
            self._on_beat()

    def _publish(self) -> None:
        self._message.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(self._message)
        self._sent = time.monotonic()
