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

"""Holds back messages until the publishers on their topic are known."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Generic, TypeVar

from rclpy.clock import Clock, ClockType
from rclpy.node import Node

from repsq_ros.nodes.watches.publishers import PublisherCheck

Message = TypeVar('Message')
PERIOD = 0.05  # [s] between two looks at whether all publishers have a name


class DeferredMessages(Generic[Message]):
    """Passes on the messages of a topic only if none but the expected nodes publish on it.

    A publisher's first message may come before its node name, or before the heartbeat of its
    process. So messages wait, in their order, until each publisher on the topic is known.

    :param callback: called with each message that is certainly of an expected node
    :param believe_single: a single publisher is always accepted, such as the player of a bag
    """

    def __init__(
        self,
        node: Node,
        publishers: PublisherCheck,
        topic: str,
        callback: Callable[[Message], None],
        believe_single: bool = False,
    ) -> None:
        self._publishers, self._topic, self._on_message = publishers, topic, callback
        self._alone = publishers.alone_or_only if believe_single else publishers.alone
        self._believe_single = believe_single
        # with each message, when it was received [ns], and its number
        self._waiting: list[tuple[Message, int, int | None]] = []
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = node.create_timer(PERIOD, self._decide, clock=steady)
        self._timer.cancel()

    def take(self, message: Message, info: dict[str, int]) -> None:
        """Accept a message: it is passed on now, later, or (from another node) never.

        :param info: as the middleware gives it with the message
        """
        received_ns = info['received_timestamp'] or time.time_ns()
        # Humble and other middlewares tell no number.
        self._waiting.append((message, received_ns, info.get('publication_sequence_number')))
        self._decide()

    def _decide(self) -> None:
        if not self._waiting:
            self._timer.cancel()
            return
        if self._publishers.nameless(self._topic, self._believe_single):
            self._timer.reset()
            return
        self._timer.cancel()
        waiting, self._waiting = self._waiting, []
        for message, received_ns, number in waiting:
            if self._alone(self._topic, received_ns, number):
                self._on_message(message)
