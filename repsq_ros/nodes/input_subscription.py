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

"""Subscriptions to the inputs of a specification, and why an input is not received."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSCompatibility, QoSProfile, qos_check_compatible
from rclpy.qos_overriding_options import QoSOverridingOptions
from rclpy.subscription import Subscription

from repsq_ros.measurement.catalogue import TF
from repsq_ros.measurement.condition_checks import publishers_fault
from repsq_ros.measurement.inputs import Input, Stamp
from repsq_ros.measurement.reasons import Fault
from repsq_ros.measurement.samples import Samples
from repsq_ros.messages.sensor_messages import reader_of
from repsq_ros.nodes import qos
from repsq_ros.nodes.message_classes import message_class
from repsq_ros.nodes.polling import SimulatedTimes, polled_subscription, take_waiting
from repsq_ros.nodes.rclpy_versions import publisher_count

FEW = 25  # messages that are read without a heartbeat: some ms


def several_publishers(node: Node, topic: str, kind: str) -> Fault | None:
    """Return a fault if several programs publish on a sensor's topic."""
    if kind == TF:
        return None  # on /tf, several are normal
    found = node.get_publishers_info_by_topic(topic)
    return publishers_fault(
        topic, [f'{each.node_namespace.rstrip("/")}/{each.node_name}' for each in found]
    )


class InputSubscription:
    """One input: its messages as samples, and problems with its publishers.

    Messages wait until they are polled: at 1000 a second, each would wake the node.

    A condition may be a mode that was published once (transient local). As soon as a publisher
    offers that, a second subscription requests it; the first one must not, since it would then
    miss volatile publishers. A reading that is received twice does no harm.
    """

    def __init__(
        self, node: Node, source: Input, take: Callable[[Samples, int], None], condition: bool
    ) -> None:
        """Subscribe.

        :param take: called with each sample and its time of arrival [ns]
        """
        self.topic = str(node.resolve_topic_name(source.topic))
        self._node, self._source, self._take = node, source, take
        self._condition = condition
        self._read = reader_of(source)
        self._arrival_ns = _arrivals(node, source)
        self.received_ns = 0  # when the middleware received the newest message, system time
        self._subscription = self._subscribe(qos.SENSOR, qos.OVERRIDABLE)
        self._latched: Subscription | None = None
        self._profile = self._subscription.qos_profile

    def look(self, beat: Callable[[], None] = lambda: None) -> None:
        """Process the messages received since the last look.

        :param beat: called after each FEW of them: a fast simulation may send many
        """
        for subscription in (self._subscription, self._latched):
            while subscription is not None and (waiting := list(take_waiting(subscription, FEW))):
                for message, info in waiting:
                    self._on_message(message, info)
                if len(waiting) == FEW:
                    beat()

    def drop(self) -> None:
        """Drop the messages received since the last look unread."""
        for subscription in (self._subscription, self._latched):
            while subscription is not None and (
                waiting := list(take_waiting(subscription, raw=True))
            ):
                self.received_ns = _received_ns(waiting[-1][1])

    def _on_message(self, message: Any, info: dict[str, int]) -> None:
        self.received_ns = _received_ns(info)
        arrival_ns = self._arrival_ns(self.received_ns)
        sample = self._read(message, arrival_ns)
        if sample is not None:
            self._take(sample, arrival_ns)

    @property
    def matched(self) -> bool:
        """Tell whether a compatible publisher is connected."""
        return self.publishers > 0

    @property
    def publishers(self) -> int:
        """How many compatible publishers are connected."""
        return publisher_count(self._node, self._subscription)

    def several_publishers(self) -> Fault | None:
        """Return a fault if several programs publish on the topic."""
        return several_publishers(self._node, self.topic, self._source.type)

    def _subscribe(
        self, profile: QoSProfile, overridable: QoSOverridingOptions | None = None
    ) -> Subscription:
        return polled_subscription(
            self._node,
            message_class(self._source.type),
            self._source.topic,
            profile,
            qos_overriding_options=overridable,
        )

    def mismatch(self) -> str:
        """Return why publishers are not received, with the remedy, or ''."""
        complaints = []
        for publisher in self._node.get_publishers_info_by_topic(self.topic):
            offered = publisher.qos_profile
            name = f'{publisher.node_namespace.rstrip("/")}/{publisher.node_name}'
            if publisher.topic_type != self._source.type:
                complaints.append(
                    f'{name} publishes {publisher.topic_type}, expected {self._source.type}'
                )
                continue
            if (
                self._condition
                and self._latched is None
                and offered.durability == DurabilityPolicy.TRANSIENT_LOCAL
            ):
                self._latched = self._subscribe(qos.LATCHED)
            fits, why = qos_check_compatible(offered, self._profile)
            if fits == QoSCompatibility.ERROR:
                complaints.append(
                    f'{name} is not heard: {" ".join(why.split())} Remedy: -p '
                    f'qos_overrides.{self.topic}.subscription.{self._remedy(offered)}'
                )
        return f'{self.topic}: {"; ".join(complaints)}' if complaints else ''

    def _remedy(self, offered: QoSProfile) -> str:
        if offered.durability != self._profile.durability:
            return f'durability:={offered.durability.name.lower()}'
        return f'reliability:={offered.reliability.name.lower()}'


def _received_ns(info: dict[str, int]) -> int:
    return info['received_timestamp'] or time.time_ns()


def _arrivals(node: Node, source: Input) -> Callable[[int], int]:
    """Return a function from the middleware's time of reception to the time of arrival [ns]."""
    if not node.get_parameter('use_sim_time').value:
        return lambda received_ns: received_ns
    if source.stamp == Stamp.RECEIVE:
        return SimulatedTimes(node).at
    clock = node.get_clock()
    return lambda _: int(clock.now().nanoseconds)  # accurate enough: the stamp is in the message
