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

"""What the scheduler says: into the journal first, then on its topics."""

from __future__ import annotations

from collections.abc import Callable

from rclpy.node import Node
from rclpy.publisher import Publisher

from repsq_ros import topics
from repsq_ros.campaign.conductor import Action, Counted, Skipped
from repsq_ros.campaign.history import ABORT, DONE, PAUSE
from repsq_ros.campaign.logbook import Logbook
from repsq_ros.campaign.records import Case
from repsq_ros.errors import OutputError
from repsq_ros.msg import TestCommand, TestMeasurement, TestPhase
from repsq_ros.nodes import qos, translate
from repsq_ros.protocols.phases import Phase, Span
from repsq_ros.specification.model import Specification


class Announcements:
    """Publishes cases, phases and skipped tests, each after its line in the journal."""

    def __init__(
        self,
        node: Node,
        specification: Specification,
        logbook: Logbook,
        now_ns: Callable[[], int],
    ) -> None:
        self._node, self._specification, self._logbook = node, specification, logbook
        self._now_ns = now_ns
        self._cases = node.create_publisher(TestCommand, topics.TEST_COMMAND, qos.RECORD)
        self._phases = node.create_publisher(TestPhase, topics.TEST_PHASE, qos.WATCHED_RECORD)
        self._skips: Publisher | None = None

    def write(self, action: Action) -> None:
        """Put into the journal what belongs there.

        :raises OutputError: it could not be written; for what stops the robot, that is only told
        """
        if isinstance(action, Counted):
            self._logbook.write_test(action)
        elif isinstance(action, Case):
            self._logbook.write_case(action)
        elif isinstance(action, Span) and action.phase is Phase.DONE:
            self._logbook.write(DONE, {})
        elif isinstance(action, Span) and action.phase in (Phase.PAUSED, Phase.ABORTED):
            try:
                event = PAUSE if action.phase is Phase.PAUSED else ABORT
                self._logbook.write(event, {'reason': action.reason})
            except OutputError as error:
                self._node.get_logger().error(str(error))

    def publish(self, action: Action) -> None:
        """Say it on its topic."""
        campaign_id = self._logbook.campaign_id
        if isinstance(action, Span):
            names = self._specification.protocol.command_names
            self._phases.publish(translate.test_phase_of(action, names, campaign_id))
        elif isinstance(action, Case):
            self._cases.publish(
                translate.test_command_of(action, self._specification, campaign_id, self._now_ns())
            )
        elif isinstance(action, Skipped):
            self._skip(action)

    def _skip(self, skipped: Skipped) -> None:
        """Publish a skipped test in place of the measurement node, whose topic it is."""
        if self._skips is None:
            # Without a lease, so that it is no sign of life of the measurement node; for that,
            # who watches these signs is told of an incompatible publisher, once.
            self._skips = self._node.create_publisher(
                TestMeasurement, topics.TEST_MEASUREMENT, qos.RECORD
            )
        self._skips.publish(
            translate.test_measurement_of(
                skipped.record, self._logbook.campaign_id, self._specification.digest, ''
            )
        )

    def wait_for_all_acked(self) -> None:
        """Wait until the last phase has arrived, for a moment."""
        self._phases.wait_for_all_acked(qos.PEER_LEASE)
