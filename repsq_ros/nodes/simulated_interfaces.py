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

"""The topics of simulated robots: how they hear commands, and what their sensors say."""

from __future__ import annotations

import math
import time
from typing import Protocol

from geometry_msgs.msg import PoseStamped, Twist, TwistStamped
from nav_msgs.msg import Odometry
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import Range
from std_msgs.msg import Float64, String

from repsq_ros import topics
from repsq_ros.messages import campaign_messages
from repsq_ros.nodes import qos, translate
from repsq_ros.nodes.parameters import Parameters
from repsq_ros.protocols.command_space import REST, Command
from repsq_ros.protocols.rotation import angle_between, quaternion_of_rpy
from repsq_ros.protocols.urscript import FRAME, parse_script
from repsq_ros.simulation.simulated_sensors import SENSORS
from repsq_ros.simulation.simulation import SensorReading
from repsq_ros.simulation.subject import BodyState

BASE_TIMEOUT = 0.5  # [s] without a command after which a base on the system's clock stops
NO_LOSS = QoSProfile(depth=10_000, reliability=ReliabilityPolicy.RELIABLE)


def is_heard(publisher: Publisher) -> bool:
    """Tell whether anybody listens by now: asked anew each time, for who comes late."""
    return int(publisher.get_subscription_count()) > 0


class Interface(Protocol):
    """A robot's side of its topics."""

    command: Command  # heard last

    @property
    def tells_time_by_clock(self) -> bool:
        """Tell whether somebody hears a message without a stamp."""

    def carries(self, command: Command) -> bool:
        """Tell whether this is the command that was heard last, as far as its message tells."""

    def forget(self) -> None:
        """Do as the robot does when nobody commands it any more."""

    def publish(self, reading: SensorReading) -> None:
        """Say what a sensor reports, where somebody listens: to make a message takes long."""


class Base:
    """A mobile robot: takes cmd_vel, and stops when that falls silent, as real ones do."""

    tells_time_by_clock = False

    def __init__(self, node: Node, parameters: Parameters, by_system_clock: bool) -> None:
        stamped = (
            parameters.choice(
                'command_type', ('twist', 'twist_stamped'), 'twist', 'message on cmd_vel'
            )
            == 'twist_stamped'
        )
        self._node = node
        self.command: Command = REST['velocity']
        self._heard = time.monotonic()
        self._odometry = node.create_publisher(Odometry, SENSORS['odometry'].topic, NO_LOSS)
        self._mocap = node.create_publisher(PoseStamped, SENSORS['mocap'].topic, NO_LOSS)
        if stamped:
            node.create_subscription(
                TwistStamped, topics.COMMAND_VELOCITY,
                lambda message: self._hear(message.twist), qos.COMMAND,
            )  # fmt: skip
        else:
            node.create_subscription(Twist, topics.COMMAND_VELOCITY, self._hear, qos.COMMAND)
        if by_system_clock:
            node.create_timer(BASE_TIMEOUT / 5, self._watch)

    def _hear(self, twist: Twist) -> None:
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
        """Tell whether this is the velocity that was heard last."""
        return self.command == tuple(command)

    def forget(self) -> None:
        """Stand still."""
        self.command = REST['velocity']

    def publish(self, reading: SensorReading) -> None:
        """Publish odometry or a mocap pose."""
        assert isinstance(reading.state, BodyState)
        if reading.sensor == 'odometry':
            if is_heard(self._odometry):
                self._odometry.publish(
                    translate.odometry_of(reading.state, reading.stamp_ns, 'odom', 'base_link')
                )
        elif is_heard(self._mocap):
            self._mocap.publish(translate.pose_of(reading.state, reading.stamp_ns, 'world'))


class ArmTopics:
    """A robot arm: takes URScript, and goes to its end whoever falls silent."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self.command: Command = REST['pose']
        node.create_subscription(String, topics.SCRIPT_COMMAND, self._hear, qos.COMMAND)
        self._poses = {
            'mocap': (
                node.create_publisher(PoseStamped, SENSORS['mocap'].topic, NO_LOSS),
                'world',
            ),
            'tool_pose': (
                node.create_publisher(PoseStamped, SENSORS['tool_pose'].topic, NO_LOSS),
                FRAME,
            ),
        }
        self._gauge = node.create_publisher(Range, SENSORS['gauge'].topic, NO_LOSS)
        self._scaling = node.create_publisher(Float64, SENSORS['speed_scaling'].topic, NO_LOSS)

    def _hear(self, message: String) -> None:
        try:
            script = parse_script(message.data)
        except ValueError as error:
            self._node.get_logger().warning(f'{error}: ignored')
            return
        self.command = script[1] if script[0] == 'movel' else REST['pose']

    @property
    def tells_time_by_clock(self) -> bool:
        """Tell whether somebody hears the speed scaling."""
        return is_heard(self._scaling)

    def carries(self, command: Command) -> bool:
        """Tell whether this is the pose that was heard last: a script turns its angles."""
        here = self.command
        if not command or not here:
            return tuple(command) == here
        turn = angle_between(quaternion_of_rpy(*command[3:]), quaternion_of_rpy(*here[3:]))
        return math.dist(command[:3], here[:3]) < 1e-9 and turn < 1e-6

    def forget(self) -> None:
        """Go on: a script that was sent is carried out."""

    def publish(self, reading: SensorReading) -> None:
        """Publish a pose, or what gauge or speed scaling read."""
        if isinstance(reading.state, BodyState):
            publisher, frame = self._poses[reading.sensor]
            if is_heard(publisher):
                publisher.publish(translate.pose_of(reading.state, reading.stamp_ns, frame))
        elif reading.sensor == 'speed_scaling':
            if is_heard(self._scaling):
                self._scaling.publish(Float64(data=float(reading.state)))
        elif is_heard(self._gauge):
            self._gauge.publish(translate.range_of(reading.state, reading.stamp_ns, 'gauge'))


def make_interface(
    node: Node, parameters: Parameters, takes: str, by_system_clock: bool
) -> Interface:
    """Return the topics of a robot that takes velocities, or poses."""
    return ArmTopics(node) if takes == 'pose' else Base(node, parameters, by_system_clock)
