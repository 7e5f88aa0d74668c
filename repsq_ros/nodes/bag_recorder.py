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

"""Recorder: writes the serialized messages of some topics to a bag until it is stopped."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from queue import SimpleQueue
from threading import Thread
from typing import NamedTuple, Protocol

from rclpy.clock import Clock, ClockType
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.subscription import Subscription
from rclpy.topic_endpoint_info import TopicEndpointInfo

from repsq_ros.errors import MissingError, OutputError, RepsqError
from repsq_ros.nodes.message_classes import message_class
from repsq_ros.nodes.polling import take_waiting
from repsq_ros.nodes.runtime import CampaignNode

LOOK = 0.25  # [s] between two checks for new topics
TELL = 10.0  # [s] between two progress reports
DEPTH = 10_000  # messages that may wait while this process is busy
FLUSH = 2.0  # [s] after which received messages are on the disk
LARGEST_BACKLOG = 2**29  # [bytes] that may wait for the disk; more is an error


class Sink(Protocol):
    """Writes topics and messages, as the writer of a bag does."""

    counts: dict[str, int]

    def add(self, topic: str, kind: str, profiles: Iterable[Mapping[str, object]] = ()) -> None:
        """Add a topic, before its first message."""

    def write(self, topic: str, kind: str, log_ns: int, data: bytes) -> None:
        """Write one message."""

    def flush(self) -> None:
        """Flush everything to the disk."""

    def close(self) -> None:
        """Write the index and close the file."""


class _RawMessage(NamedTuple):
    topic: str
    kind: str
    log_ns: int
    data: bytes


class _NewTopic(NamedTuple):
    topic: str
    kind: str
    profiles: tuple[Mapping[str, object], ...]  # of all publishers on the topic


class _Writing(Thread):
    """Writes in a thread, so that a slow disk does not block subscriptions."""

    def __init__(self, sink: Sink) -> None:
        super().__init__(name='writing', daemon=True)
        self.sink = sink
        self.error: RepsqError | None = None
        self.queue: SimpleQueue[_RawMessage | _NewTopic | None] = SimpleQueue()
        self.taken = self.written = 0  # [bytes]
        self._flushed = time.monotonic()

    @property
    def backlog(self) -> int:
        """Return how many bytes wait."""
        return self.taken - self.written

    def run(self) -> None:
        """Write until told to end; after an error, messages are only counted."""
        while (item := self.queue.get()) is not None:
            if self.error is not None:
                continue
            try:
                self._take(item)
            except RepsqError as error:
                self.error = error
            # any error of the writer's library: the thread must not end silently
            except Exception as error:
                self.error = OutputError(f'the recording cannot be written: {error!r}')
        try:
            self.sink.close()
        except RepsqError as error:
            self.error = self.error or error

    def _take(self, item: _RawMessage | _NewTopic) -> None:
        if isinstance(item, _NewTopic):
            self.sink.add(*item)
            return
        self.sink.write(*item)
        self.written += len(item.data)
        now = time.monotonic()
        if now - self._flushed > FLUSH:
            self._flushed = now
            self.sink.flush()


class BagRecorder(CampaignNode):
    """Subscribes to each wanted topic as soon as it has a publisher.

    Messages are kept serialized. It requests the strictest quality of service that all publishers
    of a topic offer, as rosbag2 does, but with a limited depth: no publisher ever waits for it.

    :param wanted: topics with their types; '' for any type
    :param simulated: use the time of /clock for the recording
    """

    def __init__(self, wanted: Mapping[str, str], sink: Sink, simulated: bool = False) -> None:
        sim_time = Parameter('use_sim_time', Parameter.Type.BOOL, simulated)
        super().__init__('repsq_recorder', parameter_overrides=[sim_time])
        self._wanted, self._simulated = wanted, simulated
        self._subscriptions_of: dict[str, tuple[Subscription, QoSProfile]] = {}
        self._told: set[str] = set()
        self._early: list[tuple[str, str, bytes]] = []  # received before the first /clock
        self._writing = _Writing(sink)
        self._writing.start()
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(LOOK, self._look, clock=steady)
        self.create_timer(TELL, self._report, clock=steady)
        self._look()

    @property
    def unheard(self) -> list[str]:
        """Return topics of known type without a message."""
        counts = self._writing.sink.counts
        return [topic for topic, kind in self._wanted.items() if kind and not counts.get(topic)]

    def _look(self) -> None:
        if self._writing.error is not None:
            raise self._writing.error
        if self._writing.backlog > LARGEST_BACKLOG:
            raise OutputError(
                f'{self._writing.backlog >> 20} MiB wait for the disk, expected one that keeps up'
            )
        for topic, expected in self._wanted.items():
            publishers = self.get_publishers_info_by_topic(topic)
            if publishers:
                self._follow(topic, expected, publishers)

    def _follow(self, topic: str, expected: str, publishers: list[TopicEndpointInfo]) -> None:
        kinds = sorted({each.topic_type for each in publishers})
        kind = expected or kinds[0]
        for other in kinds:
            if other != kind:
                self._report_once(f'{topic}: {other} is not recorded, but {kind}')
        offered = [each.qos_profile for each in publishers if each.topic_type == kind]
        if not offered:
            return
        asked = _asked_of(offered)
        known = self._subscriptions_of.get(topic)
        if known is not None:
            subscription, before = known
            if (asked.reliability, asked.durability) == (before.reliability, before.durability):
                return
            if _weaker(before, asked):
                return
            self.destroy_subscription(subscription)
        try:
            made = self._subscribe(topic, kind, asked)
        except MissingError as error:
            self._report_once(f'{topic}: not recorded: {error}')
            return
        if known is None:
            profiles = tuple(_profile_of(each) for each in offered)
            self._writing.queue.put(_NewTopic(topic, kind, profiles))
        self._subscriptions_of[topic] = (made, asked)

    def _subscribe(self, topic: str, kind: str, profile: QoSProfile) -> Subscription:
        def keep(data: bytes, info: Mapping[str, int]) -> None:
            self._keep(topic, kind, data, info)
            for more, its_info in take_waiting(made, raw=True):
                self._keep(topic, kind, more, its_info)

        made = self.create_subscription(message_class(kind), topic, keep, profile, raw=True)
        return made

    def _keep(self, topic: str, kind: str, data: bytes, info: Mapping[str, int]) -> None:
        if not self._simulated:
            self._put(topic, kind, info['received_timestamp'] or time.time_ns(), data)
            return
        log_ns = self.get_clock().now().nanoseconds
        self._early.append((topic, kind, data))
        if log_ns:
            self._put_early(log_ns)

    def _put_early(self, log_ns: int) -> None:
        for topic, kind, data in self._early:
            self._put(topic, kind, log_ns, data)
        self._early.clear()

    def _put(self, topic: str, kind: str, log_ns: int, data: bytes) -> None:
        self._writing.taken += len(data)
        self._writing.queue.put(_RawMessage(topic, kind, log_ns, data))

    def _report(self) -> None:
        counts = self._writing.sink.counts
        silent = f'; nothing yet on {", ".join(self.unheard)}' if self.unheard else ''
        self.get_logger().info(
            f'{sum(counts.values())} messages of {len(counts)} topics recorded{silent}'
        )

    def _report_once(self, text: str) -> None:
        if text not in self._told:
            self._told.add(text)
            self.get_logger().warning(text)

    def shut_down(self, reason: str) -> None:
        """Write the received messages and the index."""
        self._put_early(0)
        self._writing.queue.put(None)
        self._writing.join()
        if self._writing.error is not None:
            self.exit_code = self._writing.error.exit_code
            self.get_logger().error(str(self._writing.error))


def _asked_of(offered: list[QoSProfile]) -> QoSProfile:
    """Return the strictest quality of service that all publishers of a topic offer."""
    reliable = all(each.reliability == ReliabilityPolicy.RELIABLE for each in offered)
    kept = all(each.durability == DurabilityPolicy.TRANSIENT_LOCAL for each in offered)
    return QoSProfile(
        depth=DEPTH,
        reliability=ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if kept else DurabilityPolicy.VOLATILE,
    )


def _weaker(before: QoSProfile, asked: QoSProfile) -> bool:
    """Tell whether an existing subscription already accepts everything that is offered."""
    takes_any = before.reliability == ReliabilityPolicy.BEST_EFFORT
    takes_volatile = before.durability == DurabilityPolicy.VOLATILE
    reliability = takes_any or bool(asked.reliability == before.reliability)
    return reliability and (takes_volatile or bool(asked.durability == before.durability))


def _profile_of(offered: QoSProfile) -> dict[str, object]:
    """Return a profile in the form of rosbag2; the history is unknown to the network."""
    return {
        'history': offered.history.name.lower(),
        'depth': offered.depth,
        'reliability': offered.reliability.name.lower(),
        'durability': offered.durability.name.lower(),
        'liveliness': offered.liveliness.name.lower(),
        'deadline': offered.deadline.nanoseconds,
        'lifespan': offered.lifespan.nanoseconds,
        'liveliness_lease_duration': offered.liveliness_lease_duration.nanoseconds,
    }
