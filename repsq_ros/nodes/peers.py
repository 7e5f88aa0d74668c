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

"""The peers that a node relies on: who is there, who is gone."""

from __future__ import annotations

from collections.abc import Callable

from rclpy.clock import Clock, ClockType
from rclpy.event_handler import QoSLivelinessChangedInfo, SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.subscription import Subscription
from rclpy.time import Time

from repsq_ros.nodes import qos
from repsq_ros.timebase import to_seconds

UNHEARD = 3.0  # [s] of a peer that is there without a sign of life
SETTLED = 1.0  # [s] of signs of life from a peer before it is relied on; two of its leases


class Peers:
    """Watches signs of life, on the steady clock.

    :param on_loss: called with the name of a peer that has fallen silent
    :param on_arrival: called with the name of a peer that gives its first sign of life
    """

    def __init__(
        self,
        node: Node,
        on_loss: Callable[[str], None],
        on_arrival: Callable[[str], None] = lambda peer: None,
    ) -> None:
        self._node, self._on_loss, self._on_arrival = node, on_loss, on_arrival
        self._steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._alive_since: dict[str, Time] = {}
        self._watched: dict[str, _Watched] = {}

    def watch(
        self,
        kind: type,
        topic: str,
        callback: Callable[..., None],
        peer: str,
    ) -> None:
        """Subscribe to a topic of a peer, and watch whether it lives."""

        def changed(event: QoSLivelinessChangedInfo) -> None:
            if event.alive_count > 0 and peer not in self._alive_since:
                self._watched[peer].known = True
                self._alive_since[peer] = self._steady.now()
                self._on_arrival(peer)
            elif event.alive_count == 0 and self._alive_since.pop(peer, None) is not None:
                self._on_loss(peer)

        def subscribe(times: int) -> Subscription:
            return self._node.create_subscription(
                kind, topic, callback, qos.watching(times),
                event_callbacks=SubscriptionEventCallbacks(liveliness=changed),
            )  # fmt: skip

        self._watched[peer] = _Watched(subscribe)

    def look(self) -> None:
        """Ask anew after peers that are there, and have never given a sign of life.

        In rare starts that sign does not come through, and then never would.
        """
        for watched in self._watched.values():
            subscription = watched.subscription
            if watched.known or subscription.get_publisher_count() == 0:
                watched.unheard_since = None
            elif watched.unheard_since is None:
                watched.unheard_since = self._steady.now()
            elif self._seconds_since(watched.unheard_since) > UNHEARD:
                self._node.destroy_subscription(subscription)
                watched.subscribe_anew()

    def _seconds_since(self, instant: Time) -> float:
        return to_seconds((self._steady.now() - instant).nanoseconds)

    def lives(self, peer: str) -> bool:
        """Tell whether a peer has shown signs of life for a while.

        On a busy machine the first ones may be late, and a peer that has just been found is then
        taken for lost for a moment.
        """
        since = self._alive_since.get(peer)
        return since is not None and self._seconds_since(since) > SETTLED


class _Watched:
    """One peer: how to subscribe to it, and what came of that."""

    def __init__(self, subscribe: Callable[[int], Subscription]) -> None:
        self._subscribe, self._times = subscribe, 0
        self.known = False  # it has given a sign of life
        self.unheard_since: Time | None = None  # since when it is there without one
        self.subscription = subscribe(0)

    def subscribe_anew(self) -> None:
        """Subscribe once more, and differently: the middleware takes the same for known."""
        self._times += 1
        self.unheard_since = None
        self.subscription = self._subscribe(self._times)
