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

"""Velocity commands to a Unitree humanoid: requests to its walking service, with replies."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from rclpy.node import Node

from repsq_ros import topics
from repsq_ros.errors import MissingError, ParameterError
from repsq_ros.nodes import qos
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

REQUEST, RESPONSE = 'unitree_api/msg/Request', 'unitree_api/msg/Response'
# [s] At least two periods of the slowest command_rate: a late request is no stop. And if the
# connection is lost, the robot walks on for this time.
SHORTEST, LONGEST = 0.2, 2.0
REFUSED_FOR = 1.0  # [s] for which a refusal counts, unless a later request is accepted
# Source: see docs/g1.md.
CODES = {7301: 'the service that walks is not available', 7302: 'it is in a wrong state'}


class SportCommand(VelocityCommand):
    """Publishes requests on api/sport/request, and evaluates the replies.

    :raises MissingError: the robot's messages are not installed
    :raises ParameterError: sport_duration is too short or too long
    """

    def __init__(self, node: Node, parameters: Parameters, space: CommandSpace) -> None:
        self._duration = parameters.number(
            'sport_duration', 0.5, 's for which the robot obeys one request', above=SHORTEST
        )
        if self._duration > LONGEST:
            raise ParameterError(
                'sport_duration',
                f'{self._duration:g}',
                f'at most {LONGEST:g} s: the robot walks on for this time when nobody can stop it',
            )
        damp_allowed = parameters.flag(
            'damp_allowed', False, 'a robot that does not stop may be damped: it falls'
        )
        try:
            self._kind: Any = message_class(REQUEST)
            response = message_class(RESPONSE)
        except MissingError:
            raise MissingError(
                f'command_type unitree_sport sends {REQUEST}, but unitree_api is not installed '
                "here: build it from Unitree's unitree_ros2 and source its workspace"
            ) from None
        # Starts at the current time, so that scheduler and guard use different numbers.
        self._first = self._last = time.monotonic_ns()
        self._refused, self._refused_at = '', 0.0
        super().__init__(node, parameters, space, self._kind, topics.SPORT_REQUEST, self._walk)
        node.create_subscription(response, topics.SPORT_RESPONSE, self._on_message, qos.COMMAND)
        if damp_allowed:
            self.other_stops.append(
                _Damp(lambda: self.send(self._request(SET_STATE, state_request(DAMPING))))
            )

    def _request(self, api_id: int, parameter: str) -> Any:
        message = self._kind(parameter=parameter)
        self._last += 1
        message.header.identity.id = self._last
        message.header.identity.api_id = api_id
        return message

    def _walk(self, command: Command) -> Any:
        return self._request(SET_VELOCITY, velocity_request(command, self._duration))

    def _on_message(self, response: Any) -> None:
        identity, code = response.header.identity, int(response.header.status.code)
        if not self._first < identity.id <= self._last:
            return  # the reply to another program
        if code == 0:
            self._refused = ''
            return
        meaning = CODES.get(code, "see the vendor's list of codes")
        self._refused = f'the robot refuses request {identity.api_id} with code {code}: {meaning}'
        self._refused_at = time.monotonic()

    def refusal(self) -> str:
        """Return the robot's reply if it refuses its commands."""
        return self._refused if time.monotonic() - self._refused_at < REFUSED_FOR else ''


class _Damp:
    """Damps the joints: the robot sinks to the ground."""

    def __init__(self, damp: Callable[[], None]) -> None:
        self._damp = damp

    def try_it(self, moving: bool) -> str:
        """Damp a robot that was seen moving; if nothing is known of it, it may be standing."""
        if not moving:
            return 'no damping: the robot was not seen moving'
        self._damp()
        return 'damping of all joints'
