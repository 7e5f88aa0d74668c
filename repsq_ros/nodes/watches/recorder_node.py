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

"""Whether the recorder is running: what is not recorded cannot be verified later."""

from __future__ import annotations

import time

from rclpy.node import Node

from repsq_ros import topics

PERIOD = 0.5  # [s] between two checks


class RecorderWatch:
    """Looks for the recorder's subscription to the phases.

    :param name: of its node; empty: no recorder is required
    """

    def __init__(self, node: Node, name: str) -> None:
        self._node, self._name = node, name
        self._topic = node.resolve_topic_name(topics.TEST_PHASE)
        self._there, self._looked = False, -PERIOD

    def look(self) -> None:
        """Check the subscriptions, from time to time."""
        if not self._name or time.monotonic() - self._looked < PERIOD:
            return
        self._looked = time.monotonic()
        listeners = self._node.get_subscriptions_info_by_topic(self._topic)
        self._there = any(each.node_name == self._name for each in listeners)

    def blockers(self) -> list[str]:
        """Return why the robot must not move."""
        if not self._name or self._there:
            return []
        return [f'the node {self._name} does not record {self._topic}']
