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

"""The operator's interface of the scheduler: services, emergency stop, battery."""

from __future__ import annotations

from collections.abc import Callable

from rclpy.node import Node
from std_srvs.srv import Trigger

from repsq_ros.nodes.parameters import Parameters
from repsq_ros.nodes.watches.battery import BatteryWatch
from repsq_ros.nodes.watches.emergency_stop import EmergencyStopWatch


class Operator:
    """Turns services and switches into start, pause, resume, skip and abort.

    :param resume: resumes after a pause; returns an objection, or ''
    :param pause: pauses the campaign for a reason; false if it is not running
    :param skip: skips the case under test for a reason; false if there is none
    :param abort: aborts the campaign for a reason
    :param confirm: confirms the end of a phase; false if no phase waits for it
    :param begun: tells whether the campaign has begun
    """

    def __init__(
        self,
        node: Node,
        parameters: Parameters,
        resume: Callable[[], str],
        pause: Callable[[str], bool],
        skip: Callable[[str], bool],
        abort: Callable[[str], None],
        confirm: Callable[[], bool],
        begun: Callable[[], bool],
    ) -> None:
        self._node, self._resume, self._pause, self._skip = node, resume, pause, skip
        self._abort, self._confirm, self._begun = abort, confirm, begun
        self.autostart = parameters.flag('autostart', True, 'begin without a call of ~/start')
        self.may_start = self.autostart
        for name, answer in (
            ('start', self._on_start),
            ('pause', self._on_pause),
            ('resume', self._on_resume),
            ('skip', self._on_skip),
            ('abort', self._on_abort),
            ('confirm', self._on_confirm),
        ):
            node.create_service(Trigger, f'~/{name}', answer)
        self.emergency_stop = EmergencyStopWatch(node, self._press)
        self._battery = BatteryWatch(node, parameters, pause)

    @property
    def how_to_resume(self) -> str:
        """How the operator can resume, in words."""
        name = self._node.get_fully_qualified_name()
        return f'To go on: ros2 service call {name}/resume std_srvs/srv/Trigger'

    def _press(self) -> None:
        """Stop the robot because a switch was pressed."""
        self.may_start = False
        self._pause('emergency stop')

    def look(self) -> None:
        """Check the switches and the battery; called with each heartbeat."""
        self.emergency_stop.look()
        self._battery.look()

    def blockers(self) -> list[str]:
        """Return why the robot must not move."""
        return [*self.emergency_stop.blockers(), *self._battery.blockers()]

    def _blockers(self) -> str:
        return '; '.join(self.blockers())

    @staticmethod
    def _answer(response: Trigger.Response, blockers: str, done: str) -> Trigger.Response:
        response.success, response.message = not blockers, blockers or done
        return response

    def _on_start(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        if self._begun():
            return self._answer(response, 'the campaign has begun already', '')
        blockers = self._blockers()
        self.may_start = not blockers
        return self._answer(response, blockers, 'begins as soon as all peers are there')

    def _on_pause(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        held = self._pause('by the operator')
        return self._answer(response, '' if held else 'nothing is under way', 'paused')

    def _on_resume(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        return self._answer(response, self._blockers() or self._resume(), 'goes on')

    def _on_skip(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        skipped = self._skip('by the operator')
        return self._answer(response, '' if skipped else 'no case is under way', 'skipped')

    def _on_confirm(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        return self._answer(
            response, '' if self._confirm() else 'nothing is to be confirmed', 'confirmed'
        )

    def _on_abort(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self._abort('by the operator')
        return self._answer(response, '', 'aborted')
