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

"""Velocity commands to a Unitree humanoid, as requests of its own service."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from typing import Any

from rclpy.node import Node

from repsq_ros import topics
from repsq_ros.errors import MissingError, ParameterError
from repsq_ros.nodes.commands.velocity_command import VelocityCommand
from repsq_ros.nodes.message_classes import message_class
from repsq_ros.nodes.parameters import Parameters
from repsq_ros.protocols.command_space import Command, CommandSpace
from repsq_ros.protocols.unitree_sport import (
    DAMPING,
    SET_STATE,
    SET_VELOCITY,
    state_request,
    velocity_request,
)

REQUEST = 'unitree_api/msg/Request'
# [s] Two periods of the slowest command_rate: one request that is late is no stop. And the robot
# walks on for no longer than this when nobody can speak to it any more.
SHORTEST, LONGEST = 0.2, 2.0


def sport_command(node: Node, parameters: Parameters, space: CommandSpace) -> VelocityCommand:
    """Return the command on api/sport/request.

    :raises MissingError: the robot's messages are not installed
    :raises ParameterError: sport_duration is too short or too long
    """
    duration = parameters.number(
        'sport_duration', 0.5, 's for which the robot obeys one request', above=SHORTEST
    )
    if duration > LONGEST:
        raise ParameterError(
            'sport_duration',
            f'{duration:g}',
            f'at most {LONGEST:g} s: so long the robot walks on when nobody can stop it',
        )
    damp_allowed = parameters.flag(
        'damp_allowed', False, 'a robot that does not stop may be damped: it falls'
    )
    try:
        kind: Any = message_class(REQUEST)
    except MissingError:
        raise MissingError(
            f'command_type unitree_sport sends {REQUEST}, but unitree_api is not installed here: '
            "build it from Unitree's unitree_ros2 and source its workspace"
        ) from None
    # Counted up from an instant: scheduler and guard never send the same one.
    identities = itertools.count(time.monotonic_ns())

    def request(api_id: int, parameter: str) -> Any:
        message = kind(parameter=parameter)
        message.header.identity.id = next(identities)
        message.header.identity.api_id = api_id
        return message

    def walk(command: Command) -> Any:
        return request(SET_VELOCITY, velocity_request(command, duration))

    made = VelocityCommand(node, parameters, space, kind, topics.SPORT_REQUEST, walk)
    if damp_allowed:
        made.other_stops.append(
            _Damp(lambda: made.send(request(SET_STATE, state_request(DAMPING))))
        )
    return made


class _Damp:
    """Damps the joints: the robot sinks to the ground."""

    def __init__(self, damp: Callable[[], None]) -> None:
        self._damp = damp

    def try_it(self, moving: bool) -> str:
        """Damp a robot that was seen moving: where nothing is heard of it, it may well stand."""
        if not moving:
            return 'no damping: the robot was not seen moving'
        self._damp()
        return 'damping of all joints'
