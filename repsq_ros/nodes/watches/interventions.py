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

"""The scheduler's view of the guard: whether it can stop this robot, and whether it did."""

from __future__ import annotations

from repsq_ros.nodes.watches.peers import Peers


class GuardWatch:
    """Evaluates the guard's heartbeats.

    :param command_type: of the scheduler; the guard's has to be the same. Empty: the campaign
        runs without a guard
    """

    def __init__(self, peers: Peers, command_type: str) -> None:
        self._peers, self._command_type = peers, command_type
        self._known: tuple[int, int] | None = None  # (session, interventions)
        self.intervened = False  # it has stopped the robot since the last look

    def look(self) -> None:
        """Check whether it has stopped the robot because it missed the scheduler's heartbeat."""
        state = self._peers.state('guard') if self._command_type else None
        self.intervened = False
        if state is not None:
            before, self._known = self._known, (state.session, state.interventions)
            anew = before is None or before[0] != state.session
            self.intervened = not anew and before != self._known

    def blockers(self) -> list[str]:
        """Return why the robot must not move; `Peers` checks that the guard is alive and ready."""
        if self.intervened:
            return ['the guard had no sign of life from the scheduler, and stopped the robot']
        state = self._peers.state('guard') if self._command_type else None
        if state is None or not state.ready or state.status == self._command_type:
            return []
        return [
            f'the guard stops the robot by command_type {state.status}, expected '
            f'{self._command_type}'
        ]
