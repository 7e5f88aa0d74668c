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

"""Subscriptions to the inputs of a specification, and why an input is not heard."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSCompatibility, QoSProfile, qos_check_compatible
from rclpy.subscription import Subscription

from repsq_ros.measurement.catalogue import TF
from repsq_ros.measurement.condition_checks import publishers_fault
from repsq_ros.measurement.inputs import Input, Stamp
from repsq_ros.measurement.reasons import Fault
from repsq_ros.measurement.samples import Samples
from repsq_ros.messages.sensor_messages import reader_of
from repsq_ros.nodes import qos
from repsq_ros.nodes.message_classes import message_class
from repsq_ros.nodes.polling import NO_EVENTS, take_waiting
from repsq_ros.nodes.rclpy_versions import publisher_count


def several_publishers(node: Node, topic: str, kind: str) -> Fault | None:
    """Return whether more than one program publishes on a topic that belongs to one sensor."""
    if kind == TF:
        return None  # all of a robot's programs do
    found = node.get_publishers_info_by_topic(topic)
    return publishers_fault(
        topic, [f'{each.node_namespace.rstrip("/")}/{each.node_name}' for each in found]
    )


class InputSubscription:
    """One input: its messages as samples, and what is wrong with its publishers.

    A condition may be a mode that was published once (transient local). As soon as a publisher
    offers that, a second subscription asks for it; the first one must not, or it would not hear
    publishers that keep nothing. A reading that is heard twice does no harm.
    """

    def __init__(
        self, node: Node, source: Input, take: Callable[[Samples, int], None], condition: bool
    ) -> None:
        """Subscribe.

        :param take: called with each sample and the time of its arrival [ns]
        """
        self.topic = node.resolve_topic_name(source.topic)
        self._node, self._source = node, source
        self._condition, self._latched = condition, False
        self._hear = _hearer(node, source, take)
        self._subscription = self._subscribe(qos.SENSOR)
        self._profile = self._subscription.qos_profile

    @property
    def matched(self) -> bool:
        """Tell whether there is a publisher that is heard when it speaks."""
        return publisher_count(self._node, self._subscription) > 0

    def several_publishers(self) -> Fault | None:
        """Return whether more than one program publishes on the topic."""
        return several_publishers(self._node, self.topic, self._source.type)

    def _subscribe(self, profile: QoSProfile) -> Subscription:
        def hear(message: Any, info: dict[str, int]) -> None:
            self._hear(message, info)
            for more, its_info in take_waiting(made):
                self._hear(more, its_info)

        made = self._node.create_subscription(
            message_class(self._source.type),
            self._source.topic,
            hear,
            profile,
            event_callbacks=NO_EVENTS,
            qos_overriding_options=None if self._latched else qos.OVERRIDABLE,
        )
        return made

    def mismatch(self) -> str:
        """Return why publishers are not heard, with the remedy, or ''."""
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
                and not self._latched
                and offered.durability == DurabilityPolicy.TRANSIENT_LOCAL
            ):
                self._latched = True
                self._subscribe(qos.LATCHED)
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


def _hearer(
    node: Node, source: Input, take: Callable[[Samples, int], None]
) -> Callable[..., None]:
    """Return the callback for one message; it is called up to 1000 times a second."""
    read = reader_of(source)

    def by_simulated_clock(message: Any, info: dict[str, int]) -> None:
        arrival_ns = node.get_clock().now().nanoseconds
        sample = read(message, arrival_ns)
        if sample is not None:
            take(sample, arrival_ns)

    def by_header(message: Any, info: dict[str, int]) -> None:
        arrival_ns = time.time_ns()
        sample = read(message, arrival_ns)
        if sample is not None:
            take(sample, arrival_ns)

    def by_arrival(message: Any, info: dict[str, int]) -> None:
        # The middleware's time of reception, which may be long before this callback is called.
        arrival_ns = info['received_timestamp'] or time.time_ns()
        sample = read(message, arrival_ns)
        if sample is not None:
            take(sample, arrival_ns)

    if node.get_parameter('use_sim_time').value:
        return by_simulated_clock
    return by_arrival if source.stamp == Stamp.RECEIVE else by_header
