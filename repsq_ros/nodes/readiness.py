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

"""What has to be there before anything moves."""

from __future__ import annotations

from collections.abc import Callable

from rclpy.node import Node

from repsq_ros import topics
from repsq_ros.campaign.conductor import Conductor
from repsq_ros.nodes.campaign_clock import CampaignClock
from repsq_ros.nodes.command_publisher import CommandPublisher
from repsq_ros.nodes.condition_watch import ConditionWatch
from repsq_ros.nodes.guard_watch import GuardWatch
from repsq_ros.nodes.peers import Peers
from repsq_ros.nodes.sensor_watch import SensorWatch
from repsq_ros.specification.model import Specification


class Readiness:
    """Looks at all peers of the scheduler; each that is missing is told by its name.

    :param sensor_timeout: [s] of silence after which the sensor of a body is lost
    :param on_trouble: called with the reason when such a sensor is lost, or a condition of the
        measure is met no more
    """

    def __init__(
        self,
        node: Node,
        specification: Specification,
        command: CommandPublisher,
        time: CampaignClock,
        conductor: Conductor,
        peers: Peers,
        guard: GuardWatch,
        sensor_timeout: float,
        on_trouble: Callable[[str], None],
    ) -> None:
        self._node, self._command, self._time, self._conductor = node, command, time, conductor
        self._peers, self._guard = peers, guard
        measure = specification.measure
        self._conditions = ConditionWatch(
            node, measure.conditions, measure.condition_inputs, on_trouble
        )
        bodies = [] if measure.of_readings else [measure.input]
        if specification.feedback is not None:
            bodies.append(specification.feedback)
        self._bodies = SensorWatch(node, bodies, time.now_ns, sensor_timeout, on_trouble)
        self._gauges = [node.resolve_topic_name(measure.input.topic)] * measure.of_readings

    def look(self) -> None:
        """Look at what does not come by a message."""
        self._peers.look()
        self._conditions.look()
        self._bodies.look()

    def missing(self) -> list[str]:
        """Return what is missing."""
        cases = self._node.resolve_topic_name(topics.EXTERNAL_CASE)
        wanted = {
            **{f'a sensor on {each}': self._node.count_publishers(each) > 0
               for each in self._gauges},
            'the measurement node (does it run, and hear the sensor?)': (
                self._peers.lives('measurement')
            ),
            'the estimator node': self._peers.lives('estimator'),
            'a publisher of /clock (use_sim_time is set)': (
                self._time.now_ns() > 0 and not self._time.fault
            ),
            f'the first case of another program on {cases}': self._conductor.can_start,
        }  # fmt: skip
        against = (
            self._command.missing(), self._guard.missing(), self._conditions.against(),
            *self._bodies.against(),
        )  # fmt: skip
        return [*filter(None, against), *(name for name, there in wanted.items() if not there)]
