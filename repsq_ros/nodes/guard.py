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

"""Guard: stops the robot when the scheduler falls silent for any reason.

The scheduler itself stops the robot on every orderly exit. After SIGKILL, the out-of-memory
killer, a crash of the interpreter or a hanging executor it cannot: then this process does.
"""

from __future__ import annotations

import math
import sys
import time

from rclpy.clock import Clock, ClockType

from repsq_ros.msg import TestCommand
from repsq_ros.nodes.body_input import body_input_of
from repsq_ros.nodes.commands.robot_command import make_stop_command
from repsq_ros.nodes.commands.verified_stop import VerifiedStop, read_stop_settings
from repsq_ros.nodes.heartbeat import STOPPING, HeartbeatPublisher
from repsq_ros.nodes.parameters import Parameters
from repsq_ros.nodes.phase_subscription import subscribe_to_phases
from repsq_ros.nodes.runtime import CampaignNode, run_node
from repsq_ros.nodes.self_diagnosis import SelfDiagnosis
from repsq_ros.nodes.watches.peers import Peers
from repsq_ros.protocols.command_space import CommandType
from repsq_ros.protocols.phases import Phase, Span
from repsq_ros.views.health import Level, guard_health

RATE = 20.0  # [Hz] of stop commands
AT_REST = (Phase.DONE, Phase.ABORTED, Phase.PAUSED)


class Guard(CampaignNode):
    """Stops the robot if a campaign is running and its scheduler is gone."""

    def __init__(self) -> None:
        super().__init__('guard')
        parameters = Parameters(self)
        self._command = make_stop_command(
            self, parameters, lambda: int(self.get_clock().now().nanoseconds)
        )
        self._seconds = parameters.number(
            'hold', 5.0, 's of stop commands after the scheduler is lost', above=0
        )
        specification = parameters.specification_if_given()
        stops = read_stop_settings(parameters, self._command.kind, self._command_type)
        parameters.finish()
        body = body_input_of(self, specification, stops.wanted)
        self._stops = VerifiedStop(self, self._command, stops, body)
        self._phase: Phase | None = None  # the last announced phase
        self._stop_until = -math.inf  # steady [s]; later, if the robot is not at rest then
        self._interventions = 0
        self._leaving = False
        self._heartbeat = HeartbeatPublisher(self, 'guard', self._look)
        self._peers = Peers(self, 'scheduler')
        self._watched = False  # the scheduler was alive at the last look
        self._seen = False  # it has ever been alive
        subscribe_to_phases(self, self._on_phase)
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(1.0 / RATE, self._tick, clock=steady)
        SelfDiagnosis(self, self._health)

    def _health(self) -> tuple[Level, str]:
        if self._stops.alarm:
            return Level.ERROR, self._stops.alarm
        return guard_health(self._watched, self._stopping, self._interventions)

    def _on_phase(self, test: TestCommand, span: Span) -> None:
        self._phase = span.phase

    def _look(self) -> None:
        self._peers.look()
        self._stops.look()
        before, self._watched = self._watched, self._peers.lives('scheduler')
        self._seen = self._seen or self._watched
        if self._watched:
            self._stop_until = -math.inf  # it is back, and commands the robot again
            self._stops.release()
        elif before and (self._under_way or self._was_stopping):
            self._stop()
        self._set_status()

    def _set_status(self) -> None:
        """Tell the scheduler whether it is watched; it moves nothing before."""
        ready = self._watched and not self._leaving
        status = self._command_type if ready else 'the scheduler'
        self._heartbeat.set_status(
            ready, 'its own end' if self._leaving else status, self._interventions
        )

    @property
    def _command_type(self) -> CommandType:
        return CommandType(self.get_parameter('command_type').value)

    @property
    def _under_way(self) -> bool:
        """True from the first message of the scheduler until it announces its end."""
        return self._phase not in (Phase.DONE, Phase.ABORTED)

    @property
    def _was_stopping(self) -> bool:
        """True if the scheduler fell silent before it saw the robot at rest."""
        last = self._peers.last('scheduler')
        return last is not None and last.status == STOPPING

    def _stop(self) -> None:
        self._interventions += 1
        self._stop_until = time.monotonic() + self._seconds
        self._stops.stop()
        self.get_logger().error(
            'no sign of life from the scheduler in the middle of a campaign: stopping the robot'
        )

    @property
    def _stopping(self) -> bool:
        """True while stop commands are sent: for a minimum time, until the robot is at rest."""
        return time.monotonic() < self._stop_until or self._stops.pending

    def _tick(self) -> None:
        if self._stopping:
            self._stops.stop()

    def leave(self, reason: str) -> None:
        """Announce the end first, so that the scheduler can stop the robot."""
        self._leaving = True
        self._set_status()

    @property
    def may_leave(self) -> bool:
        """True once the scheduler has announced that the robot is at rest."""
        at_rest = self._phase in (None, *AT_REST) and not self._was_stopping
        return at_rest or self._stopping

    def shut_down(self, reason: str) -> None:
        """Leave the robot at rest, unless the scheduler has announced that it is."""
        if self._seen and (self._phase not in AT_REST or self._was_stopping or self._stopping):
            self._stops.finish()
            self._command.wait_for_all_acked()


def main() -> int:
    """Run the guard."""
    return run_node('guard', Guard)


if __name__ == '__main__':
    sys.exit(main())
