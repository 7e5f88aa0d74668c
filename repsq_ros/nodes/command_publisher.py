"""A topic on which a robot takes commands, and whether it does."""

from __future__ import annotations

from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSProfile

from repsq_ros.nodes import qos


class CommandPublisher:
    """Publishes commands, and tells whether a robot is there that takes them.

    :param kind: class of the messages
    :param topic: relative name; the robot's own by remapping
    """

    def __init__(
        self, node: Node, kind: type, topic: str, profile: QoSProfile = qos.COMMAND
    ) -> None:
        self._publisher = node.create_publisher(kind, topic, profile)

    @property
    def topic(self) -> str:
        """Name of the topic, as resolved."""
        return str(self._publisher.topic_name)

    def missing(self) -> str:
        """Return 'a robot that ...' where nobody takes the commands, or ''."""
        taken = self._publisher.get_subscription_count() > 0
        return '' if taken else f'a robot that takes commands on {self.topic}'

    def send(self, message: Any) -> None:
        """Publish a message."""
        self._publisher.publish(message)

    def wait_for_all_acked(self) -> None:
        """Wait until the last command has arrived, for a moment."""
        self._publisher.wait_for_all_acked(qos.PEER_LEASE)
