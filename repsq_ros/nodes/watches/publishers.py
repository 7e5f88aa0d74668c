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

"""The publishers on the topics that belong to the campaign's own nodes."""

from __future__ import annotations

import enum
import time
from collections.abc import Mapping

from rclpy.node import Node
from rclpy.topic_endpoint_info import TopicEndpointInfo

from repsq_ros.nodes.identity import ROLES, CampaignProcesses
from repsq_ros.nodes.message_numbers import MessageNumbers

SETTLED = 1.0  # [s] after which all nodes see the same publishers
NAMED = 10.0  # [s] after which a publisher has a name, on however busy a machine
PERIOD = 0.5  # [s] between two looks at the names of all publishers
GONE = 'a node that has gone'
UNKNOWN = 'NODE_NAME_UNKNOWN'  # of a publisher that was just discovered
BARE_DDS = '_CREATED_BY_BARE_DDS_APP_'  # name and namespace of a publisher that is not a ROS node


class _PublisherStanding(enum.Enum):
    """Whether a publisher may speak on a topic."""

    EXPECTED = enum.auto()
    UNDECIDED = enum.auto()  # not known yet
    FOREIGN = enum.auto()


def _full_name(publisher: TopicEndpointInfo) -> str:
    if publisher.node_name == BARE_DDS:
        return BARE_DDS
    return f'{publisher.node_namespace.rstrip("/")}/{publisher.node_name}'


class PublisherCheck:
    """Looks for publishers that are not expected.

    In a launch, nodes of the campaign are told by their processes (`identity.py`), others that are
    allowed by their names; nodes that were started by hand all by their names.

    :param expected: for each topic the nodes that may publish on it: roles, or full names. A
        program that is no ROS node has the name BARE_DDS
    """

    def __init__(self, node: Node, expected: Mapping[str, tuple[str, ...]]) -> None:
        self._node, self._processes = node, CampaignProcesses(node)
        self._roles = {
            node.resolve_topic_name(topic): {name for name in names if name in ROLES}
            for topic, names in expected.items()
        }
        own = node.get_namespace().rstrip('/')
        self._expected = {
            node.resolve_topic_name(topic): tuple(
                name if name.startswith('/') or name == BARE_DDS else f'{own}/{name}'
                for name in names
            )
            for topic, names in expected.items()
        }
        self._counts: dict[str, int] = {}
        self._foreign: dict[str, tuple[str, ...]] = {}
        self._gone_ns: dict[str, int] = {}  # when one was found to have gone, system time [ns]
        self._unknown_since: dict[str, float] = {}  # of a publisher without a name, steady [s]
        self._last: dict[str, tuple[str, float]] = {}  # who was seen last, and when [s]
        self._first_seen: dict[bytes, float] = {}  # publishers with a name of ours
        self._looked = -PERIOD
        self._numbers = MessageNumbers()

    def look(self) -> None:
        """Look at all topics now and then, and at once where a publisher has come or gone."""
        due = time.monotonic() - self._looked >= PERIOD
        for topic in self._expected:
            if due or self._node.count_publishers(topic) != self._counts.get(topic):
                self._look_at(topic)
        if due:
            self._looked = time.monotonic()

    def _look_at(self, topic: str) -> None:
        found = self._node.get_publishers_info_by_topic(topic)
        if self._foreign.get(topic) and len(found) < self._counts[topic]:
            self._gone_ns[topic] = time.time_ns()
        self._counts[topic] = len(found)
        standings = [(each, self._standing(topic, each)) for each in found]
        self._foreign[topic] = tuple(
            UNKNOWN if standing is _PublisherStanding.UNDECIDED else self._describe(topic, each)
            for each, standing in standings
            if standing is not _PublisherStanding.EXPECTED
        )
        unheard = [
            f'{_full_name(each)}, whose heartbeat was not heard,'
            for each, standing in standings
            if standing is _PublisherStanding.UNDECIDED and UNKNOWN not in each.node_name
        ]
        self._remember(topic, time.monotonic(), unheard)

    def _describe(self, topic: str, publisher: TopicEndpointInfo) -> str:
        name = _full_name(publisher)
        return f'another process named {name}' if name in self._expected[topic] else name

    def _standing(self, topic: str, publisher: TopicEndpointInfo) -> _PublisherStanding:
        name, roles = _full_name(publisher), self._roles[topic]
        if UNKNOWN in publisher.node_name:
            return _PublisherStanding.UNDECIDED
        if not self._processes.known or name.rpartition('/')[2] not in roles:
            return (
                _PublisherStanding.EXPECTED
                if name in self._expected[topic]
                else _PublisherStanding.FOREIGN
            )
        if self._processes.speaks_as(publisher, roles):
            return _PublisherStanding.EXPECTED
        # It has a name of ours. Its heartbeat may not have been heard yet.
        gid = bytes(publisher.endpoint_gid)
        since = self._first_seen.setdefault(gid, time.monotonic())
        waiting = time.monotonic() - since < SETTLED
        return _PublisherStanding.UNDECIDED if waiting else _PublisherStanding.FOREIGN

    def _remember(self, topic: str, now: float, unheard: list[str]) -> None:
        foreign = self._foreign[topic]
        named = [*(name for name in foreign if name != UNKNOWN), *unheard]
        if UNKNOWN not in foreign:
            self._unknown_since.pop(topic, None)
        elif now - self._unknown_since.setdefault(topic, now) > SETTLED:
            named.append('a node that is not known')
        if named:
            self._last[topic] = (' and '.join(named), now)

    def _seen_now(self, topic: str) -> str:
        """Look at a topic if anything about it may have changed; returns its full name."""
        name = str(self._node.resolve_topic_name(topic))
        if self._foreign.get(name) or self._node.count_publishers(name) != self._counts.get(name):
            self._look_at(name)
        return name

    def nameless(self, topic: str, believe_single: bool = False) -> bool:
        """Tell whether a publisher on a topic was found a moment ago, and has no name yet.

        :param believe_single: a single publisher needs none
        """
        name = self._seen_now(topic)
        if believe_single and not self._processes.known and self._counts[name] == 1:
            return False
        since = self._unknown_since.get(name)
        return since is not None and time.monotonic() - since < NAMED

    def alone(self, topic: str, received_ns: int, number: int | None = None) -> bool:
        """Tell whether a message on a topic can only be of those expected.

        A publisher is known before its first message can come, though not always by its name. One
        that has gone may have left messages that are still waiting.

        :param received_ns: when the middleware received it, system time
        :param number: that the middleware of its publisher gave to it; None: not known
        """
        name = self._seen_now(topic)
        who = ' and '.join(self._foreign[name])
        if not who and received_ns <= self._gone_ns.get(name, 0):
            who = GONE
        elif not who and not self._numbers.follows(name, number, lambda: self._gids(name)):
            who = GONE  # all that waits is refused: ours is asked for again
            self._gone_ns[name] = time.time_ns()
            self._last[name] = (who, time.monotonic())
        if who:
            self._numbers.forget(name)
            text = f'not counted: {who} on {name}'
            self._node.get_logger().error(text, throttle_duration_sec=5.0)
        return not who

    def _gids(self, name: str) -> frozenset[bytes]:
        found = self._node.get_publishers_info_by_topic(name)
        return frozenset(bytes(each.endpoint_gid) for each in found)

    def alone_or_only(self, topic: str, received_ns: int, number: int | None = None) -> bool:
        """Like `alone`, but by hand a single publisher is always accepted (bag replay)."""
        name = self._node.resolve_topic_name(topic)
        by_hand = not self._processes.known and self._node.count_publishers(name) == 1
        return by_hand or self.alone(topic, received_ns, number)

    def blockers(self) -> list[str]:
        """Return why the robot must not move; also publishers that have just gone.

        Other nodes may see those a moment longer, and would reject messages meanwhile.
        """
        now = time.monotonic()
        return [
            f'{names} on {topic} beside {" and ".join(self._expected[topic])}'
            for topic, (names, seen) in self._last.items()
            if now - seen < SETTLED
        ]
