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

"""The topics of simulated robots: command inputs and sensor outputs."""

from __future__ import annotations

import math
import time
from collections.abc import Collection
from typing import Protocol

from geometry_msgs.msg import Twist, TwistStamped
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import QoSProfile, ReliabilityPolicy
from std_msgs.msg import String

from repsq_ros import topics
from repsq_ros.measurement.catalogue import CATALOGUE
from repsq_ros.messages import campaign_messages
from repsq_ros.nodes import qos, translate
from repsq_ros.nodes.message_classes import message_class
from repsq_ros.nodes.parameters import Parameters
from repsq_ros.protocols.command_space import REST, Command, CommandKind, CommandType
from repsq_ros.protocols.rotation import angle_between, quaternion_of_rpy
from repsq_ros.protocols.urscript import parse_script
from repsq_ros.simulation.simulated_sensors import SENSORS, SensorReading

BASE_TIMEOUT = 0.5  # [s] without a command after which a base on the system clock stops
NO_LOSS = QoSProfile(depth=10_000, reliability=ReliabilityPolicy.RELIABLE)


def is_heard(publisher: Publisher) -> bool:
    """Tell whether there is a subscriber; checked each time, for late joiners."""
    return int(publisher.get_subscription_count()) > 0


class SensorTopics:
    """Publishes the reports of a robot's sensors that have subscribers.

    :param sensors: their names, see simulation/simulated_sensors.py
    """

    def __init__(self, node: Node, sensors: Collection[str]) -> None:
        self._publishers = {
            name: node.create_publisher(
                message_class(SENSORS[name].type), SENSORS[name].topic, NO_LOSS
            )
            for name in sensors
        }
        self._without_stamp = {
            name for name in sensors if not CATALOGUE[SENSORS[name].type].stamped
        }

    def needs_clock(self, reading: SensorReading) -> bool:
        """Tell whether a subscriber receives messages whose time is that of /clock."""
        return reading.sensor in self._without_stamp and is_heard(self._publishers[reading.sensor])

    def publish(self, reading: SensorReading) -> None:
        """Publish a sensor's report, only if there is a subscriber, since messages take time."""
        publisher = self._publishers[reading.sensor]
        if is_heard(publisher):
            publisher.publish(translate.sensor_message_of(reading, publisher.msg_type))


TWISTS = (CommandType.TWIST, CommandType.TWIST_STAMPED)


class CommandInput(Protocol):
    """How a robot receives commands."""

    command: Command  # the last one received

    def carries(self, command: Command) -> bool:
        """Tell whether this is the last received command, up to what its message can express."""

    def forget(self) -> None:
        """React as the robot does when commands cease."""


class VelocityInput:
    """A mobile robot: follows cmd_vel, and stops when commands cease, as real ones do."""

    def __init__(self, node: Node, parameters: Parameters, by_system_clock: bool) -> None:
        stamped = (
            parameters.choice('command_type', TWISTS, CommandType.TWIST, 'message on cmd_vel')
            == CommandType.TWIST_STAMPED
        )
        self._node = node
        self.command: Command = REST[CommandKind.VELOCITY]
        self._heard = time.monotonic()
        if stamped:
            node.create_subscription(
                TwistStamped,
                topics.COMMAND_VELOCITY,
                lambda message: self._on_message(message.twist),
                qos.COMMAND,
            )
        else:
            node.create_subscription(Twist, topics.COMMAND_VELOCITY, self._on_message, qos.COMMAND)
        if by_system_clock:
            node.create_timer(BASE_TIMEOUT / 5, self._watch)

    def _on_message(self, twist: Twist) -> None:
        command = campaign_messages.command_of_twist(twist)
        if not all(map(math.isfinite, command)):
            self._node.get_logger().warning(f'cmd_vel {command} is not finite: ignored')
            return
        self.command = command
        self._heard = time.monotonic()

    def _watch(self) -> None:
        if time.monotonic() - self._heard > BASE_TIMEOUT:
            self.forget()

    def carries(self, command: Command) -> bool:
        """Tell whether this is the last received velocity."""
        return self.command == tuple(command)

    def forget(self) -> None:
        """Stop."""
        self.command = REST[CommandKind.VELOCITY]


class ScriptInput:
    """A robot arm: runs URScript to its end, even if commands cease."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self.command: Command = REST[CommandKind.POSE]
        node.create_subscription(String, topics.SCRIPT_COMMAND, self._on_message, qos.COMMAND)

    def _on_message(self, message: String) -> None:
        try:
            script = parse_script(message.data)
        except ValueError as error:
            self._node.get_logger().warning(f'{error}: ignored')
            return
        self.command = script[1] if script[0] == 'movel' else REST[CommandKind.POSE]

    def carries(self, command: Command) -> bool:
        """Tell whether this is the last received pose; scripts use another form of angles."""
        here = self.command
        if not command or not here:
            return tuple(command) == here
        turn = angle_between(quaternion_of_rpy(*command[3:]), quaternion_of_rpy(*here[3:]))
        return math.dist(command[:3], here[:3]) < 1e-9 and turn < 1e-6

    def forget(self) -> None:
        """Do nothing: the script runs to its end."""


class PhaseInput:
    """A robot that is pushed: the announced phase itself counts as the push, at its time."""

    command: Command = REST[CommandKind.PUSH]

    def carries(self, command: Command) -> bool:
        """Return true: no command has to be received."""
        return True

    def forget(self) -> None:
        """Do nothing."""


def make_command_input(
    node: Node, parameters: Parameters, takes: CommandKind, by_system_clock: bool
) -> CommandInput:
    """Return the input of a robot that takes velocities or poses, or is pushed."""
    if takes == CommandKind.PUSH:
        return PhaseInput()
    if takes == CommandKind.POSE:
        return ScriptInput(node)
    return VelocityInput(node, parameters, by_system_clock)
