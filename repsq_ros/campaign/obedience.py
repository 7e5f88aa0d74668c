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

"""Whether the robot reacts to its commands at all, for measures that do not see its motion."""

from __future__ import annotations

import math

from repsq_ros.campaign.rest import RestBounds, RestState
from repsq_ros.measurement.recorder import Key
from repsq_ros.protocols.command_space import Command

CLEAR = 2.0  # times the bounds of rest; a slower command may look like rest
ANSWER = 0.5  # [s] reaction time of a robot, besides the averaging time of the rest detector


def did_not_move(attempts: int) -> str:
    """Return why a campaign asks after this many attempts in a row without a reaction."""
    return (
        f'the robot did not move in {attempts} attempts in a row, although it was commanded to: '
        'is it in the mode in which it takes commands?'
    )


class ObedienceCheck:
    """Counts attempts in a row in which the robot stood still during a clear velocity command.

    :param limit: number of attempts that triggers; 0: never
    """

    def __init__(self, bounds: RestBounds, limit: int) -> None:
        self._bounds, self._limit = bounds, limit
        self._attempt: Key | None = None
        self._since = 0.0  # when its command began, steady [s]
        self._moved = self._stood = False
        self.unanswered = 0  # attempts in a row

    def look(self, attempt: Key | None, command: Command, state: RestState, now: float) -> bool:
        """Update with the robot's state; called with each heartbeat.

        :param attempt: (index, attempt) being commanded; None: no command
        :param command: v_x, v_y, yaw rate [m/s, m/s, rad/s]
        :param now: steady time [s]
        :returns: whether the limit has just been reached; the count then restarts
        """
        reached = attempt != self._attempt and self._end_attempt()
        if attempt is None or len(command) != 3 or not self._is_clear(command):
            return reached
        if attempt != self._attempt:
            self._attempt, self._since, self._moved, self._stood = attempt, now, False, False
        if state is RestState.MOVING:
            self._moved = True
        elif state is RestState.AT_REST and now - self._since >= self._bounds.time + ANSWER:
            self._stood = True
        return reached

    def _is_clear(self, command: Command) -> bool:
        speed, turn = math.hypot(*command[:2]), abs(command[2])
        return speed >= CLEAR * self._bounds.speed or turn >= CLEAR * self._bounds.turn

    def _end_attempt(self) -> bool:
        self._attempt = None
        if self._moved:
            self.unanswered = 0
        elif self._stood:
            self.unanswered += 1
        self._moved = self._stood = False
        if not 0 < self._limit <= self.unanswered:
            return False
        self.unanswered = 0
        return True
