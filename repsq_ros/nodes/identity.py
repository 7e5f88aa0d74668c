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

"""Which endpoints belong to the nodes of one campaign, independent of their names.

A launch draws an ID and gives it to all its nodes. Each node sends it in its heartbeats, with
the prefix that the middleware gives to all endpoints of its process. Other nodes compare this
prefix with the publishers in the graph.

This finds mistakes: a second launch, another program with the name of one of our nodes, an old
process. It is no protection from somebody who copies the ID: see docs/security.md for that.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator

from rclpy.node import Node
from rclpy.subscription import Subscription
from rclpy.topic_endpoint_info import TopicEndpointInfo

from repsq_ros import topics
from repsq_ros.msg import Heartbeat
from repsq_ros.nodes import qos
from repsq_ros.nodes.polling import polled_subscription, take_waiting

LAUNCH_ID = 'launch_id'
ROLES = ('scheduler', 'guard', 'measurement', 'estimator')
PREFIX = 12  # bytes of a GID that all endpoints of a process share (DDSI-RTPS 9.3.1: GuidPrefix)


def launch_id(node: Node) -> str:
    """Return the ID of the launch that started a node; '': it was started by hand."""
    if not node.has_parameter(LAUNCH_ID):
        node.declare_parameter(LAUNCH_ID, '')
    return str(node.get_parameter(LAUNCH_ID).value)


def participant_of(endpoint: TopicEndpointInfo) -> str:
    """Return the prefix that all endpoints of a process share, as hexadecimal digits."""
    return bytes(endpoint.endpoint_gid[:PREFIX]).hex()


def participant(node: Node) -> str:
    """Return this process's prefix.

    rclpy does not give the GID of a publisher. So this publishes on a topic with a random name, on
    which the graph shows only this publisher.
    """
    topic = f'{topics.HEARTBEAT}/probe_{secrets.token_hex(8)}'
    probe = node.create_publisher(Heartbeat, topic, qos.HEARTBEAT)
    (own,) = node.get_publishers_info_by_topic(node.resolve_topic_name(topic))
    node.destroy_publisher(probe)
    return participant_of(own)


class Heartbeats:
    """Heartbeats of the nodes of the same launch; a node started by hand accepts all."""

    def __init__(self, node: Node, roles: Iterable[str]) -> None:
        self._node, self._launch_id = node, launch_id(node)
        self._subscriptions = {role: self._subscribe(role) for role in roles}

    def _subscribe(self, role: str) -> Subscription[Heartbeat]:
        topic = f'{topics.HEARTBEAT}/{role}'
        return polled_subscription(self._node, Heartbeat, topic, qos.HEARTBEAT)

    def new(self) -> Iterator[tuple[str, Heartbeat]]:
        """Yield role and heartbeat of each one received since the last call."""
        for role, subscription in self._subscriptions.items():
            for beat, _ in take_waiting(subscription):
                if self._launch_id in ('', beat.launch_id):
                    yield role, beat

    def are_sent(self, role: str) -> bool:
        """Tell whether the graph shows a publisher of them."""
        topic = self._node.resolve_topic_name(f'{topics.HEARTBEAT}/{role}')
        return bool(self._node.get_publishers_info_by_topic(topic))

    def listen_again(self, role: str) -> None:
        """Replace a subscription: the middleware may stop delivering from a living node."""
        self._node.destroy_subscription(self._subscriptions[role])
        self._subscriptions[role] = self._subscribe(role)


class CampaignProcesses:
    """The processes of the same launch, known by their heartbeats."""

    def __init__(self, node: Node) -> None:
        self._launch_id = launch_id(node)
        self._roles: dict[str, set[str]] = {role: set() for role in ROLES}
        self._own = participant(node) if self._launch_id else ''
        self._heartbeats = Heartbeats(node, ROLES if self._launch_id else ())

    @property
    def known(self) -> bool:
        """True if there is a launch ID to recognize them by."""
        return bool(self._launch_id)

    def speaks_as(self, endpoint: TopicEndpointInfo, roles: set[str]) -> bool:
        """Tell whether an endpoint belongs to a process with one of the roles.

        :param roles: names of nodes; names that are not our roles are ignored
        """
        for role, beat in self._heartbeats.new():
            self._roles[role].add(beat.participant)
        prefix = participant_of(endpoint)
        return any(prefix in self._roles.get(role, ()) for role in roles)
