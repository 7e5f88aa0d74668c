"""The peers that a node relies on: who is there, who is gone."""

from __future__ import annotations

from collections.abc import Callable

from rclpy.clock import Clock, ClockType
from rclpy.event_handler import QoSLivelinessChangedInfo, SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.time import Time

from repsq_ros.nodes import qos
from repsq_ros.timebase import to_seconds

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

    def watch(
        self,
        kind: type,
        topic: str,
        callback: Callable[..., None],
        peer: str,
        profile: QoSProfile = qos.WATCHING,
    ) -> None:
        """Subscribe to a topic of a peer, and watch whether it lives."""

        def changed(event: QoSLivelinessChangedInfo) -> None:
            if event.alive_count > 0 and peer not in self._alive_since:
                self._alive_since[peer] = self._steady.now()
                self._on_arrival(peer)
            elif event.alive_count == 0 and self._alive_since.pop(peer, None) is not None:
                self._on_loss(peer)

        self._node.create_subscription(
            kind, topic, callback, profile,
            event_callbacks=SubscriptionEventCallbacks(liveliness=changed),
        )  # fmt: skip

    def lives(self, peer: str) -> bool:
        """Tell whether a peer has shown signs of life for a while.

        On a busy machine the first ones may be late, and a peer that has just been found is then
        taken for lost for a moment.
        """
        since = self._alive_since.get(peer)
        return since is not None and to_seconds((self._steady.now() - since).nanoseconds) > SETTLED
