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

import math
import time
from collections import deque
from collections.abc import Callable

from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, ReliabilityPolicy
from std_msgs.msg import Bool

from repsq_ros import topics
from repsq_ros.campaign.switches import Switches
from repsq_ros.nodes import qos

# [s] A press counts at once. The sender of a message is determined later, when the graph surely
# shows all publishers: a release by a new switch must not count for another one.
SETTLED = 1.0
# [s] in which a reliable message arrives that had to be sent again: Fast DDS repeats every 3 s.
RESENT = 10.0


class _Stream:
    """The messages of one subscription, which has its own sequence numbers."""

    def __init__(self, watch: EmergencyStopWatch) -> None:
        self._watch, self._switches = watch, Switches()
        self._waiting: deque[tuple[float, int | None, bool]] = deque()
        # pressed, by an unnumbered message while there are several publishers
        self._latched = False
        self._pressed_at = -math.inf  # when the last message of a pressed switch came

    def on_message(self, message: Bool, info: dict[str, int]) -> None:
        """Add a message."""
        number, pressed = info.get('publication_sequence_number'), bool(message.data)
        self._waiting.append((time.monotonic(), number, pressed))
        if pressed:
            self._pressed_at = time.monotonic()
            self._watch.press()

    @property
    def seconds_since_press(self) -> float:
        """Time since the last message of a pressed switch [s]."""
        return time.monotonic() - self._pressed_at

    def look(self, publishers: int) -> None:
        """Assign messages that are old enough to switches."""
        while self._waiting and time.monotonic() - self._waiting[0][0] >= SETTLED:
            _, number, pressed = self._waiting.popleft()
            if number is not None:
                self._switches.on_message(number, pressed, publishers)
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
        self._counted: int | None = None
        self._best_effort, self._reliable = _Stream(self), _Stream(self)
        self._streams = (self._best_effort, self._reliable)
        # RECORD, not LATCHED: of two switches, a queue of one message would lose the slower one.
        for stream, profile in zip(self._streams, (qos.SENSOR, qos.RECORD), strict=True):
            node.create_subscription(Bool, topics.EMERGENCY_STOP, stream.on_message, profile)

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
        pressed = self._pressed()
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

    def _pressed(self) -> int:
        """Return the number of switches that are, or may be, pressed.

        A best-effort subscription may lose a release that is never repeated. So it does not count
        once the reliable one has heard everything from every switch.
        """
        best_effort, reliable = self._best_effort.pressed, self._reliable.pressed
        if best_effort > reliable and self._best_effort.seconds_since_press > RESENT:
            offered = [
                each.qos_profile for each in self._node.get_publishers_info_by_topic(self.topic)
            ]
            if offered and all(
                profile.reliability == ReliabilityPolicy.RELIABLE
                and profile.durability == DurabilityPolicy.TRANSIENT_LOCAL
                for profile in offered
            ):
                return reliable
        return max(best_effort, reliable)
