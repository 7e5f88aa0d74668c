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

"""Guard: stops the robot when the scheduler falls silent, whatever has become of it.

The scheduler stops it on every way out that it lives to see. SIGKILL, the out-of-memory killer
or a crash of the interpreter leave it no time: then this process, which outlives it, does.
"""

from __future__ import annotations

import sys

from rclpy.clock import Clock, ClockType
from std_msgs.msg import String

from repsq_ros import messages, topics
from repsq_ros.msg import TestPhase
from repsq_ros.nodes import qos
from repsq_ros.nodes.parameters import Parameters
from repsq_ros.nodes.peers import Peers
from repsq_ros.nodes.robot_command import make_stop_command
from repsq_ros.nodes.runtime import CampaignNode, run_node
from repsq_ros.protocols.phases import Phase

RATE = 20.0  # [Hz] of stop commands


class Guard(CampaignNode):
    """Holds the robot while a campaign is under way and its scheduler is gone."""

    def __init__(self) -> None:
        super().__init__('guard')
        parameters = Parameters(self)
        self._command = make_stop_command(
            self, parameters, lambda: int(self.get_clock().now().nanoseconds)
        )
        self._seconds = parameters.number(
            'hold', 5.0, 's of stop commands after the scheduler is lost', above=0
        )
        parameters.finish()
        self._under_way = False
        self._left = 0  # stop commands that are still to be sent
        # With what it stops the robot, while it watches; else nothing.
        self._means = String(data=str(self.get_parameter('command_type').value))
        self._alive = self.create_publisher(String, topics.GUARD, qos.WATCHED_RECORD)
        self._alive.publish(String())
        self._peers = Peers(self, self._lost, self._found)
        self._peers.watch(TestPhase, topics.TEST_PHASE, self._hear_phase, 'scheduler')
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(1.0 / RATE, self._tick, clock=steady)

    def _hear_phase(self, message: TestPhase) -> None:
        self._under_way = messages.span_of(message).phase not in (Phase.DONE, Phase.ABORTED)
        self._left = 0  # a scheduler speaks

    def _found(self, peer: str) -> None:
        """Tell the scheduler that it is watched: before, it moves nothing."""
        self._under_way = True  # until it says that it has ended
        self._alive.publish(self._means)

    def _lost(self, peer: str) -> None:
        self._alive.publish(String())
        if not self._under_way:
            return
        self.get_logger().error(f'{peer} is gone in the middle of a campaign: stopping the robot')
        self._left = round(self._seconds * RATE)
        self._tick()

    def _tick(self) -> None:
        self._peers.look()
        if self._left > 0:
            self._left -= 1
            self._command.stop()

    def shut_down(self, reason: str) -> None:
        """Leave the robot at rest, unless the scheduler has said that it does."""
        if self._under_way:
            self._command.stop()
            self._command.wait_for_all_acked()


def main() -> int:
    """Run the guard."""
    return run_node('guard', Guard)


if __name__ == '__main__':
    sys.exit(main())
