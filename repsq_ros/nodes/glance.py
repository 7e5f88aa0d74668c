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


"""A glance at a body now and then: the newest message alone, not all thousand a second."""

from __future__ import annotations

from rclpy.node import Node

from repsq_ros.measurement.inputs import Input
from repsq_ros.measurement.samples import Samples
from repsq_ros.messages.sensor_messages import reader_of
from repsq_ros.nodes import qos
from repsq_ros.nodes.input_subscription import NO_EVENTS, message_class
from repsq_ros.nodes.unattended import Unattended


class BodyGlance:
    """Takes the newest message of an input when it is asked.

    :raises MissingError: the package of the message is not installed
    """

    def __init__(self, node: Node, source: Input) -> None:
        self._node, self._read = node, reader_of(source)
        self._subscription = node.create_subscription(
            message_class(source.type),
            source.topic,
            lambda _: None,
            qos.NEWEST,
            callback_group=Unattended(),
            event_callbacks=NO_EVENTS,
        )

    def newest(self) -> Samples | None:
        """Return what has come since the last glance; None where nothing has."""
        with self._subscription.handle:
            taken = self._subscription.handle.take_message(self._subscription.msg_type, False)
        if taken is None:
            return None
        return self._read(taken[0], self._node.get_clock().now().nanoseconds)
