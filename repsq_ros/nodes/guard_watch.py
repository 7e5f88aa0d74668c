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

"""The scheduler's view of the guard: whether it watches, and whether it has taken over."""

from __future__ import annotations

from collections.abc import Callable

from std_msgs.msg import String

from repsq_ros import topics
from repsq_ros.nodes.peers import Peers


class GuardWatch:
    """Hears what the guard says of itself.

    :param command_type: how the scheduler commands the robot; the guard has to stop it so, too.
        Empty: the campaign runs without a guard
    :param on_takeover: called with the reason when the guard, for want of a sign of life of the
        scheduler, has stopped the robot: whatever is measured meanwhile is not what was commanded
    """

    def __init__(
        self, peers: Peers, command_type: str, on_takeover: Callable[[str], None]
    ) -> None:
        self._peers, self._command_type, self._on_takeover = peers, command_type, on_takeover
        self._means = ''  # with what it stops the robot, while it watches
        if command_type:
            peers.watch(String, topics.GUARD, self._hear, 'guard')

    def missing(self) -> str:
        """Return what is missing of it, or ''."""
        if not self._command_type:
            return ''
        if self._means and self._means != self._command_type:
            return (
                f'a guard that stops the robot by command_type {self._command_type}, found '
                f'{self._means}'
            )
        watches = self._means and self._peers.lives('guard')
        return '' if watches else 'the guard node (or set guard: false)'

    def _hear(self, message: String) -> None:
        before, self._means = self._means, str(message.data)
        if before and not self._means:
            self._on_takeover(
                'the guard had no sign of life from the scheduler, and stopped the robot'
            )
