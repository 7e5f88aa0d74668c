"""What has to be there before anything moves."""

from __future__ import annotations

from collections.abc import Callable

from rclpy.node import Node

from repsq_ros import topics
from repsq_ros.campaign.conductor import Conductor
from repsq_ros.nodes.campaign_clock import CampaignClock
from repsq_ros.nodes.condition_watch import ConditionWatch
from repsq_ros.nodes.guard_watch import GuardWatch
from repsq_ros.nodes.peers import Peers
from repsq_ros.nodes.robot_command import RobotCommand
from repsq_ros.specification.model import Specification


class Readiness:
    """Looks at all peers of the scheduler; each that is missing is told by its name.

    :param on_trouble: called with the reason when a condition of the measure is met no more
    """

    def __init__(
        self,
        node: Node,
        specification: Specification,
        command: RobotCommand,
        time: CampaignClock,
        conductor: Conductor,
        peers: Peers,
        guard: GuardWatch,
        on_trouble: Callable[[str], None],
    ) -> None:
        self._node, self._command, self._time, self._conductor = node, command, time, conductor
        self._peers, self._guard = peers, guard
        measure = specification.measure
        self._conditions = ConditionWatch(
            node, measure.conditions, measure.condition_inputs, on_trouble
        )
        inputs = [measure.input]
        if specification.feedback is not None:
            inputs.append(specification.feedback)
        self._sensors = [node.resolve_topic_name(each.topic) for each in inputs]

    def look(self) -> None:
        """Look at what does not come by a message."""
        self._conditions.look()

    def missing(self) -> list[str]:
        """Return what is missing."""
        cases = self._node.resolve_topic_name(topics.EXTERNAL_CASE)
        wanted = {
            **{f'a sensor on {each}': self._node.count_publishers(each) > 0
               for each in self._sensors},
            'the measurement node (does it run, and hear the sensor?)': (
                self._peers.lives('measurement')
            ),
            'the estimator node': self._peers.lives('estimator'),
            'the guard node (or set guard: false)': self._guard.there,
            'a publisher of /clock (use_sim_time is set)': self._time.now_ns() > 0,
            f'the first case of another program on {cases}': self._conductor.can_start,
        }  # fmt: skip
        against = (self._command.missing(), self._conditions.against())
        return [*filter(None, against), *(name for name, there in wanted.items() if not there)]
