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

"""Other schedulers: two must not command one robot."""

from __future__ import annotations

from collections.abc import Callable

from rclpy.node import Node

from repsq_ros import topics
from repsq_ros.errors import CampaignError
from repsq_ros.msg import TestPhase
from repsq_ros.nodes import qos
from repsq_ros.protocols.phases import MOVING


class Rivals:
    """Looks for another scheduler on the same topics.

    :param under_way: tells whether the own campaign has begun
    """

    def __init__(self, node: Node, campaign_id: str, under_way: Callable[[], bool]) -> None:
        self._node, self._campaign_id, self._under_way = node, campaign_id, under_way
        self._topic = node.resolve_topic_name(topics.TEST_PHASE)
        self.fault = ''  # another one moves the robot, whoever came first
        node.create_subscription(TestPhase, topics.TEST_PHASE, self._hear, qos.RECORD)

    def _hear(self, message: TestPhase) -> None:
        foreign = message.campaign_id != self._campaign_id
        if foreign and message.phase in MOVING and self._under_way():
            self.fault = f'another scheduler commands the robot: campaign {message.campaign_id}'

    def refuse(self) -> None:
        """Refuse to begin beside another one.

        :raises CampaignError: there is another one
        """
        if self._node.count_publishers(self._topic) > 1:
            raise CampaignError(
                f'another scheduler publishes on {self._topic}: two must not command one robot. '
                'Stop it, or use another namespace or ROS_DOMAIN_ID'
            )
