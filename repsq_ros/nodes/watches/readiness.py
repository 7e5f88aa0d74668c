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

"""Everything that a test needs: reasons not to move, before and during the test."""

from __future__ import annotations

from rclpy.node import Node

from repsq_ros import topics
from repsq_ros.campaign.conductor import Conductor
from repsq_ros.errors import CampaignError
from repsq_ros.nodes.body_input import BodyInput
from repsq_ros.nodes.campaign_clock import CampaignClock
from repsq_ros.nodes.commands.command_publisher import CommandPublisher
from repsq_ros.nodes.identity import ROLES
from repsq_ros.nodes.scheduler_settings import SchedulerSettings
from repsq_ros.nodes.watches.conditions import ConditionWatch
from repsq_ros.nodes.watches.health_check import HealthCheck
from repsq_ros.nodes.watches.interventions import GuardWatch
from repsq_ros.nodes.watches.peers import Peers
from repsq_ros.nodes.watches.publishers import PublisherCheck
from repsq_ros.nodes.watches.recorder_node import RecorderWatch
from repsq_ros.nodes.watches.sensors import SensorWatch
from repsq_ros.protocols.phases import Cause
from repsq_ros.specification.model import Specification


class Readiness:
    """Asks all watches of the scheduler for reasons not to move.

    :param guarded_by: command_type that the guard has to use; empty: no guard
    :param body: the reader of the input with the robot's motion; None: nobody reads it
    """

    def __init__(
        self,
        node: Node,
        specification: Specification,
        command: CommandPublisher,
        clock: CampaignClock,
        conductor: Conductor,
        settings: SchedulerSettings,
        guarded_by: str,
        body: BodyInput | None,
    ) -> None:
        self._lockstep = settings.lockstep  # with lockstep, silence does not affect tests
        self._node, self._command, self._clock, self._conductor = node, command, clock, conductor
        measure = specification.measure
        roles = ('measurement', 'estimator', *(['guard'] * bool(guarded_by)))
        self.peers = Peers(node, *roles, settled=settings.peer_settled)
        self._guard = GuardWatch(self.peers, guarded_by)
        self.publishers = PublisherCheck(
            node,
            {
                topics.TEST_COMMAND: ('scheduler',),
                topics.TEST_PHASE: ('scheduler',),
                topics.TEST_MEASUREMENT: ('measurement',),
                topics.ESTIMATE: ('estimator',),
                topics.QUANTIZED_RESULT: ('estimator',),
                topics.COUNTED_TEST: ('estimator',),
                topics.INSTRUCTION: ('scheduler', 'guard'),
                **{f'{topics.HEARTBEAT}/{role}': (role,) for role in ROLES},
                command.topic: ('scheduler', 'guard', *settings.other_publishers),
            },
        )
        self._conditions = ConditionWatch(
            node, measure.conditions, measure.condition_inputs, clock.now_ns, self.peers.running
        )
        bodies = [] if measure.of_readings else [measure.input]
        if specification.feedback is not None:
            bodies.append(specification.feedback)
        self._bodies = SensorWatch(
            node, bodies, clock.now_ns, settings.sensor_timeout, self.peers.running, body
        )
        self._recorder = RecorderWatch(node, settings.recorder)
        self._gauges = [node.resolve_topic_name(measure.input.topic)] * measure.of_readings

    def look(self) -> float:
        """Poll everything that does not come as a message; call it with each heartbeat.

        :returns: [s] since the last look
        """
        passed = self.peers.look()
        watches: tuple[HealthCheck, ...] = (
            self._guard,
            self.publishers,
            self._conditions,
            self._bodies,
            self._recorder,
        )
        for watch in watches:
            watch.look()
        return passed

    def refuse_other_scheduler(self) -> None:
        """Refuse to begin if there is another scheduler.

        :raises CampaignError: there is one
        """
        topic = self._node.resolve_topic_name(topics.TEST_PHASE)
        if self._node.count_publishers(topic) > 1:
            raise CampaignError(
                f'another scheduler publishes on {topic}: two must not command one robot. '
                'Stop it, or use another namespace or ROS_DOMAIN_ID'
            )

    def lost(self) -> tuple[list[str], Cause]:
        """Return what breaks off an attempt and may recover by itself, and its cause.

        The cause is the bench only if heartbeats alone show it: a loss that involves a sensor or
        the robot may depend on psi.
        """
        if self._lockstep:
            missing = [*self.peers.restarted(), *self.publishers.blockers()]
        else:
            missing = self.missing()
        if not missing:
            return [], Cause.BENCH
        if self.publishers.blockers():
            return missing, Cause.OPERATOR
        instruments = self._command.missing() or self._bodies.blockers() or self.peers.waiting()
        return missing, Cause.INSTRUMENT if instruments else Cause.BENCH

    def missing(self) -> list[str]:
        """Return what a test needs and is missing."""
        losing: tuple[HealthCheck, ...] = (
            self.peers,
            self._guard,
            self.publishers,
            self._bodies,
            self._recorder,
        )
        robot = self._command.missing()
        return [
            *(why for watch in losing for why in watch.blockers()),
            *([f'missing {robot}'] * bool(robot)),
            *([self._clock.fault] * bool(self._clock.fault)),
        ]

    def trouble(self) -> list[str]:
        """Return what a person has to check."""
        refusal = self._command.refusal()
        return [*self._conditions.blockers(), *([refusal] if refusal else [])]

    def blockers(self) -> list[str]:
        """Return all reasons not to begin, or to continue."""
        cases = self._node.resolve_topic_name(topics.EXTERNAL_CASE)
        begun = self._conductor.span is not None
        blockers = [*self.missing(), *self.trouble()]
        blockers += [
            f'nobody publishes on {gauge}'
            for gauge in self._gauges
            if self._node.count_publishers(gauge) == 0
        ]
        if self._clock.now_ns() == 0:
            blockers.append('nothing on /clock (use_sim_time is set)')
        if not (begun or self._conductor.can_start):
            blockers.append(f'no first case of another program on {cases}')
        return blockers
