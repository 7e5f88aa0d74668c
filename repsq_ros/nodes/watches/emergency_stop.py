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

"""The emergency stop: a topic on which one or more switches publish their state."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

from rclpy.node import Node
from std_msgs.msg import Bool

from repsq_ros import topics
from repsq_ros.campaign.switches import Switches
from repsq_ros.nodes import qos

# [s] A press counts at once. The sender of a message is determined later, when the graph surely
# shows all publishers: a release by a new switch must not count for another one.
SETTLED = 1.0


class _Stream:
    """The messages of one subscription, which has its own sequence numbers."""

    def __init__(self, watch: EmergencyStopWatch) -> None:
        self._watch, self._switches = watch, Switches()
        self._waiting: deque[tuple[float, int | None, bool]] = deque()
        # pressed, by an unnumbered message while there are several publishers
        self._latched = False

    def hear(self, message: Bool, info: dict[str, int]) -> None:
        """Add a message."""
        number, pressed = info.get('publication_sequence_number'), bool(message.data)
        self._waiting.append((time.monotonic(), number, pressed))
        if pressed:
            self._watch.press()

    def look(self, publishers: int) -> None:
        """Assign messages that are old enough to switches."""
        while self._waiting and time.monotonic() - self._waiting[0][0] >= SETTLED:
            _, number, pressed = self._waiting.popleft()
            if number is not None:
                self._switches.hear(number, pressed, publishers)
            elif pressed or publishers <= 1:
                self._latched = pressed

    @property
    def pressed(self) -> int:
        """Number of switches that are, or may be, pressed."""
        waiting = any(pressed for _, _, pressed in self._waiting)
        return max(self._switches.pressed, int(waiting or self._latched))


class EmergencyStopWatch:
    """Listens to all switches, with any quality of service.

    :param press: called with each message of a pressed switch
    """

    def __init__(self, node: Node, press: Callable[[], None]) -> None:
        self._node, self.press = node, press
        self.topic = node.resolve_topic_name(topics.EMERGENCY_STOP)
        self._streams = []
        self._counted: int | None = None
        for profile in (qos.SENSOR, qos.LATCHED):
            stream = _Stream(self)
            node.create_subscription(Bool, topics.EMERGENCY_STOP, stream.hear, profile)
            self._streams.append(stream)

    def look(self) -> None:
        """Process the messages; called several times a second."""
        publishers = self._node.count_publishers(self.topic)
        for stream in self._streams:
            stream.look(publishers)

    def announce(self) -> None:
        """Log the topic, and the number of switches."""
        publishers, logger = self._node.count_publishers(self.topic), self._node.get_logger()
        if publishers == self._counted:
            return
        self._counted = publishers
        if publishers:
            logger.info(f'emergency stop: {self.topic}, {publishers} publishers')
        else:
            logger.warning(f'emergency stop: nobody publishes on {self.topic}')

    def blockers(self) -> list[str]:
        """Return why the robot must not move."""
        pressed = max(stream.pressed for stream in self._streams)
        if not pressed:
            return []
        publishers = self._node.count_publishers(self.topic)
        if pressed == publishers == 1:
            return ['the emergency stop is pressed']
        return [
            f'the emergency stop is pressed: {pressed} of {publishers} publishers on '
            f'{self.topic} (one that was started again while it was pressed is not known any '
            'more: start the scheduler again, too)'
        ]
