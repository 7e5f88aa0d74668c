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

"""The scheduler's view of the guard: whether it stops this robot, and whether it has done so."""

from __future__ import annotations

from repsq_ros.nodes.watches.peers import Peers


class GuardWatch:
    """Reads what the guard says of itself in its heartbeats.

    :param command_type: how the scheduler commands the robot; the guard has to stop it so, too.
        Empty: the campaign runs without a guard
    """

    def __init__(self, peers: Peers, command_type: str) -> None:
        self._peers, self._command_type = peers, command_type
        self._known: tuple[int, int] | None = None  # (session, interventions)
        self.intervened = False  # since the last look it has stopped the robot

    def look(self) -> None:
        """Look whether it has stopped the robot, for want of a sign of life of the scheduler."""
        state = self._peers.state('guard') if self._command_type else None
        self.intervened = False
        if state is not None:
            before, self._known = self._known, (state.session, state.interventions)
            anew = before is None or before[0] != state.session
            self.intervened = not anew and before != self._known

    def blockers(self) -> list[str]:
        """Return what speaks against moving: of its life and readiness, `Peers` tells."""
        if self.intervened:
            return ['the guard had no sign of life from the scheduler, and stopped the robot']
        state = self._peers.state('guard') if self._command_type else None
        if state is None or not state.ready or state.status == self._command_type:
            return []
        return [
            f'the guard stops the robot by command_type {state.status}, expected '
            f'{self._command_type}'
        ]
