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

"""The subscription of all nodes except the scheduler to the campaign's phases."""

from __future__ import annotations

from collections.abc import Callable

from rclpy.node import Node

from repsq_ros import topics
from repsq_ros.messages import campaign_messages
from repsq_ros.msg import TestCommand, TestPhase
from repsq_ros.nodes import qos
from repsq_ros.nodes.deferred_messages import DeferredMessages
from repsq_ros.nodes.watches.publishers import PublisherCheck
from repsq_ros.protocols.phases import Span


def subscribe_to_phases(
    node: Node, on_phase: Callable[[TestCommand, Span], None], of_anybody: bool = False
) -> None:
    """Subscribe to phases; invalid ones, and those of other publishers, are logged and dropped.

    :param on_phase: called with the attempt of a phase, and the phase
    :param of_anybody: accept any publisher, as a simulated robot does: its time would stand still
        after each dropped phase
    """
    publishers = PublisherCheck(node, {topics.TEST_PHASE: ('scheduler',)})

    def take(message: TestPhase) -> None:
        try:
            span = campaign_messages.span_of(message)
        except ValueError as error:
            node.get_logger().error(f'{topics.TEST_PHASE} not understood: {error}')
            return
        on_phase(message.test, span)

    deferred = DeferredMessages(node, publishers, topics.TEST_PHASE, take, believe_single=True)
    node.create_subscription(
        TestPhase,
        topics.TEST_PHASE,
        take if of_anybody else deferred.take,
        qos.RECORD,
        qos_overriding_options=qos.OVERRIDABLE,
    )
