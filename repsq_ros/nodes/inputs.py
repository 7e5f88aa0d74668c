"""Subscriptions to what the specification names; a mismatch is told by its name."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from rclpy.event_handler import QoSRequestedIncompatibleQoSInfo, SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.qos import QoSProfile, qos_policy_name_from_kind

from repsq_ros.errors import MissingError
from repsq_ros.measurement.inputs import Input
from repsq_ros.nodes import qos

REMEDIES = {
    'RELIABILITY': 'the publisher is best effort: set reliability:=best_effort',
    'DURABILITY': 'the publisher keeps nothing for late joiners: set durability:=volatile',
}


def message_class(name: str) -> type:
    """Return the class of a message type.

    :param name: as in `ros2 interface show`, e.g. geometry_msgs/msg/PoseStamped
    :raises MissingError: its package is not installed, or has no such message
    """
    package, _, kind = name.partition('/msg/')
    try:
        module = importlib.import_module(f'{package}.msg')
    except ImportError:
        raise MissingError(
            f'the input is {name}, but {package} is not installed here: install '
            f'ros-jazzy-{package.replace("_", "-")}, or build it and source its workspace'
        ) from None
    found = getattr(module, kind, None)
    if found is None:
        raise MissingError(f'{package} is installed, but has no message {kind}')
    return found  # type: ignore[no-any-return]


def subscribe(
    node: Node,
    source: Input,
    hear: Callable[[Any, dict[str, int]], None],
    mismatch: Callable[[str], None],
    profile: QoSProfile = qos.SENSOR,
) -> None:
    """Subscribe to an input.

    :param hear: called with each message and its reception times
    :param mismatch: called with one line when a publisher offers less than is asked for
    """
    topic = node.resolve_topic_name(source.topic)

    def told(event: QoSRequestedIncompatibleQoSInfo) -> None:
        policy = qos_policy_name_from_kind(event.last_policy_kind)
        remedy = REMEDIES.get(policy, f'make {policy.lower()} of both sides fit')
        mismatch(
            f'{topic}: nothing is received from {event.total_count} publisher(s), {policy} does '
            f'not fit: {remedy} (-p qos_overrides.{topic}.subscription.*)'
        )

    node.create_subscription(
        message_class(source.type),
        source.topic,
        hear,
        profile,
        event_callbacks=SubscriptionEventCallbacks(incompatible_qos=told),
        qos_overriding_options=qos.OVERRIDABLE,
    )


def subscribe_guard(
    node: Node,
    source: Input,
    hear: Callable[[Any, dict[str, int]], None],
) -> None:
    """Subscribe to a guard twice: to what is said, and to what was said once for all to come.

    A latched mode is heard late only by who asks for it, and who asks for it does not hear a
    publisher that keeps nothing. Heard twice, a reading is the same reading.
    """

    def ignore(event: QoSRequestedIncompatibleQoSInfo) -> None:
        """Take it as told: the other subscription hears that publisher."""

    for profile in (qos.SENSOR, qos.LATCHED):
        node.create_subscription(
            message_class(source.type),
            source.topic,
            hear,
            profile,
            event_callbacks=SubscriptionEventCallbacks(incompatible_qos=ignore),
        )
