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

"""The command to the robot, with the type of the parameter command_type."""

from __future__ import annotations

from collections.abc import Callable

from rclpy.node import Node

from repsq_ros.nodes.commands.command_limits import check_limits
from repsq_ros.nodes.commands.command_publisher import CommandPublisher
from repsq_ros.nodes.commands.manual_command import ManualCommand
from repsq_ros.nodes.commands.pose_target import PoseTargetCommand
from repsq_ros.nodes.commands.sport_command import SportCommand
from repsq_ros.nodes.commands.urscript_command import UrscriptCommand
from repsq_ros.nodes.commands.velocity_command import twist_command
from repsq_ros.nodes.parameters import Parameters
from repsq_ros.protocols import urscript
from repsq_ros.protocols.command_space import COMPONENTS, CommandKind, CommandSpace, CommandType

# For each kind; the first one is the default.
TYPES = {
    CommandKind.VELOCITY: (
        CommandType.TWIST,
        CommandType.TWIST_STAMPED,
        CommandType.UNITREE_SPORT,
        CommandType.MANUAL,
    ),
    CommandKind.POSE: (CommandType.URSCRIPT, CommandType.POSE_TARGET, CommandType.MANUAL),
    CommandKind.PUSH: (CommandType.MANUAL,),
}


def make_robot_command(
    node: Node, parameters: Parameters, space: CommandSpace, now_ns: Callable[[], int]
) -> CommandPublisher:
    """Return the command of the type that the parameter command_type names.

    :param space: the allowed commands
    :param now_ns: time for the stamps
    :raises ParameterError: a type of the other kind, or a space that exceeds the limits
    :raises MissingError: the type's messages are not installed
    """
    types = TYPES[space.kind]
    usual = types[0]  # twist for velocities, urscript for poses
    chosen = parameters.choice('command_type', types, usual, 'how the command gets there')
    check_limits(parameters, space)
    return _make(chosen, node, parameters, space, now_ns)


def make_stop_command(
    node: Node, parameters: Parameters, now_ns: Callable[[], int]
) -> CommandPublisher:
    """Return the command of a node that only stops the robot, of any type.

    :raises ParameterError: no such type
    :raises MissingError: the type's messages are not installed
    """
    every = tuple(CommandType)
    chosen = parameters.choice('command_type', every, CommandType.TWIST, "as the scheduler's")
    kind, frame, acceleration = CommandKind.VELOCITY, '', 0.0
    if chosen == CommandType.URSCRIPT:
        kind, frame = CommandKind.POSE, urscript.FRAME
        acceleration = parameters.number(
            'stop_acceleration', 2.0, 'm/s^2 with which the tool brakes', above=0
        )
    elif chosen == CommandType.POSE_TARGET:
        kind = CommandKind.POSE
        frame = parameters.text(
            'command_frame', '', 'frame_id that the tool pose has to have; empty: any'
        )
    nowhere = ((0.0, 0.0),) * len(COMPONENTS[kind])
    space = CommandSpace(kind, nowhere, frame, acceleration=acceleration)
    return _make(chosen, node, parameters, space, now_ns)


def _make(
    chosen: CommandType,
    node: Node,
    parameters: Parameters,
    space: CommandSpace,
    now_ns: Callable[[], int],
) -> CommandPublisher:
    if chosen == CommandType.MANUAL:
        return ManualCommand(node, space)
    if chosen == CommandType.URSCRIPT:
        return UrscriptCommand(node, space)
    if chosen == CommandType.POSE_TARGET:
        return PoseTargetCommand(node, space, now_ns)
    if chosen == CommandType.UNITREE_SPORT:
        return SportCommand(node, parameters, space)
    return twist_command(node, parameters, space, now_ns, chosen == CommandType.TWIST_STAMPED)
