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

"""Whether sensors of bodies send data: the robot must not move unobserved."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rclpy.node import Node

from repsq_ros.measurement.inputs import Input
from repsq_ros.nodes.body_input import BodyInput
from repsq_ros.nodes.input_subscription import several_publishers
from repsq_ros.nodes.polling import PolledTopic
from repsq_ros.timebase import to_seconds


class SensorWatch:
    """Notes when each sensor last sent a message.

    Polls for a new message instead of using callbacks, which would load the scheduler at 1 kHz.

    Silence only counts while this node runs, and while the campaign's clock advances.

    :param inputs: of bodies only, since a gauge may be silent for minutes
    :param now_ns: the campaign's time
    :param timeout: [s] of silence after which a sensor is lost
    :param running: running time of this node [s]
    :param body: the reader of the input with the robot's motion, which may be one of them
    """

    def __init__(
        self,
        node: Node,
        inputs: Sequence[Input],
        now_ns: Callable[[], int],
        timeout: float,
        running: Callable[[], float],
        body: BodyInput | None = None,
    ) -> None:
        self._node, self._now_ns, self._timeout = node, now_ns, timeout
        self._running = running
        self._heard: dict[str, tuple[float, int]] = {}  # running [s], campaign's time [ns]
        self._topics = {node.resolve_topic_name(each.topic): each.type for each in inputs}
        self._polled: dict[str, PolledTopic | BodyInput] = {
            topic: body
            if body is not None and body.topic == topic
            else PolledTopic(node, topic, kind)
            for topic, kind in self._topics.items()
        }

    def _listen(self) -> None:
        """Note which sensors have sent a message since the last call."""
        for topic, polled in self._polled.items():
            if polled.has_new():
                self._heard[topic] = (self._running(), self._now_ns())

    def look(self) -> None:
        """Note which sensors have sent a message since the last look."""
        self._listen()

    def blockers(self) -> list[str]:
        """Return which sensors are silent, or have several publishers."""
        silent = [why for topic in self._topics if (why := self._silence(topic))]
        return silent + [
            fault.text
            for topic, polled in self._polled.items()
            if polled.publishers > 1
            and (fault := several_publishers(self._node, topic, self._topics[topic])) is not None
        ]

    def _silence(self, topic: str) -> str:
        heard = self._heard.get(topic)
        if heard is None:
            return f'nothing was heard on {topic}'
        at, at_ns = heard
        silent = self._running() - at
        if min(silent, to_seconds(self._now_ns() - at_ns)) <= self._timeout:
            return ''
        return f'nothing on {topic} for {silent:.1f} s'
