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

"""Polling of subscriptions without the executor: the newest message, or all that wait.

The executor of rclpy wakes up once for each message and checks every entity of the node before
each callback. At 1000 messages a second this costs a core. Polling costs one call per look. rclpy
has no public function for this, so all use of `Subscription.handle` is in this file.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import Any

from rclpy.callback_groups import CallbackGroup
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.subscription import Subscription
from rosgraph_msgs.msg import Clock

from repsq_ros.measurement.inputs import Input
from repsq_ros.measurement.samples import Samples
from repsq_ros.messages.sensor_messages import reader_of
from repsq_ros.nodes import qos
from repsq_ros.nodes.message_classes import message_class
from repsq_ros.nodes.rclpy_versions import publisher_count
from repsq_ros.timebase import from_time

MOST = 100  # largest number of messages from one subscription before the next one's turn


class _NotExecuted(CallbackGroup):
    """Keeps subscriptions away from the executor."""

    def can_execute(self, entity: object) -> bool:
        """Return False: no executor may take their messages."""
        return False

    def beginning_execution(self, entity: object) -> bool:
        """Return False: no executor may take their messages."""
        return False

    def ending_execution(self, entity: object) -> None:
        """Do nothing: no executor ever begins to execute them."""


def polled_subscription(
    node: Node, kind: type, topic: str, profile: QoSProfile, **more: Any
) -> Subscription[Any]:
    """Return a subscription that wakes no executor: its messages wait until they are taken.

    :param more: further arguments of `create_subscription`
    """
    return node.create_subscription(
        kind, topic, lambda _: None, profile, callback_group=_NotExecuted(), **more
    )


def take(subscription: Subscription, raw: bool = False) -> tuple[Any, dict[str, int]] | None:
    """Return the next message that waits, with its info; None if none does.

    :param raw: return the serialized bytes instead of the message
    """
    with subscription.handle:
        taken: tuple[Any, dict[str, int]] | None = subscription.handle.take_message(
            subscription.msg_type, raw
        )
    return taken


def take_waiting(
    subscription: Subscription, most: int = MOST, raw: bool = False
) -> Iterator[tuple[Any, dict[str, int]]]:
    """Yield the messages that wait, at most `most` of them."""
    for _ in range(most):
        taken = take(subscription, raw)
        if taken is None:
            return
        yield taken


class SimulatedTimes:
    """Simulated time by time of reception, from /clock."""

    def __init__(self, node: Node) -> None:
        self._subscription = polled_subscription(node, Clock, '/clock', qos.SENSOR)
        self._received: list[int] = [0]  # [ns]
        self._told: list[int] = [0]  # simulated time from then on [ns]

    def at(self, received_ns: int) -> int:
        """Return the simulated time at which a message was received [ns].

        Messages are to be asked for in the order of their reception.
        """
        for clock, info in take_waiting(self._subscription):
            self._received.append(info['received_timestamp'])
            self._told.append(from_time(clock.clock))
        place = max(bisect_right(self._received, received_ns) - 1, 0)
        del self._received[:place], self._told[:place]
        return self._told[0]


class PolledTopic:
    """Keeps the newest message of a topic until somebody takes it.

    :param kind: name of the type, e.g. nav_msgs/msg/Odometry
    :raises MissingError: the package of the message is not installed
    """

    def __init__(self, node: Node, topic: str, kind: str) -> None:
        self._node = node
        self.subscription = polled_subscription(node, message_class(kind), topic, qos.NEWEST)

    @property
    def topic(self) -> str:
        """Resolved name of the topic."""
        return str(self.subscription.topic_name)

    @property
    def publishers(self) -> int:
        """How many compatible publishers are connected."""
        return publisher_count(self._node, self.subscription)

    def has_new(self) -> bool:
        """Tell whether a message came since the last look, and drop it unread."""
        return take(self.subscription, raw=True) is not None


class LatestPose(PolledTopic):
    """The newest sample of a body, when it is asked for.

    :raises MissingError: the package of the message is not installed
    """

    def __init__(self, node: Node, source: Input) -> None:
        super().__init__(node, source.topic, source.type)
        self._read = reader_of(source)

    def newest(self) -> Samples | None:
        """Return the sample that came since the last look; None if none came."""
        taken = take(self.subscription)
        if taken is None:
            return None
        return self._read(taken[0], self._node.get_clock().now().nanoseconds)
