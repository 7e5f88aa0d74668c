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

"""The scheduler's announcements: cases and phases, in the journal and on its topics."""

from __future__ import annotations

from collections.abc import Callable

from rclpy.node import Node
from std_msgs.msg import String

from repsq_ros import topics
from repsq_ros.campaign.conductor import Action
from repsq_ros.campaign.journal_queue import STOPS, JournalQueue
from repsq_ros.campaign.records import Case
from repsq_ros.errors import OutputError
from repsq_ros.msg import TestCommand, TestPhase
from repsq_ros.nodes import qos, translate
from repsq_ros.protocols.phases import Phase, Span
from repsq_ros.specification.model import Specification


class Announcements:
    """Writes cases and phases into the journal, and publishes them.

    A line is written before its message is published, so that a restart knows everything that
    others may have received. The journal's head is published before a case, and at the end: so a
    recording proves that no line was changed or inserted later. Stops (a pause, a skip, an abort)
    are published even if the disk is full.
    """

    def __init__(
        self,
        node: Node,
        specification: Specification,
        journal: JournalQueue,
        now_ns: Callable[[], int],
    ) -> None:
        self._node, self._specification, self._journal = node, specification, journal
        self._now_ns = now_ns
        self._test = TestCommand(
            campaign_id=journal.campaign_id, specification_digest=specification.digest
        )
        self._phase = TestPhase()  # the last one published
        self._heads = node.create_publisher(String, topics.JOURNAL_HEAD, qos.RECORD)
        self._cases = node.create_publisher(TestCommand, topics.TEST_COMMAND, qos.RECORD)
        self._phases = node.create_publisher(TestPhase, topics.TEST_PHASE, qos.RECORD)

    def write(self, action: Action, awaited: bool) -> None:
        """Write an action into the journal, if it belongs there.

        A stop that cannot be written is only logged: the robot must not wait for the disk.

        :param awaited: an attempt is over, but has not been counted yet
        :raises OutputError: the disk is full; the action has to wait until it is written
        """
        try:
            self._journal.write_action(action, awaited)
        except OutputError as error:
            if not (isinstance(action, Span) and action.phase in STOPS):
                raise
            self._node.get_logger().error(str(error))

    def publish(self, action: Action) -> None:
        """Publish a case or a phase."""
        if isinstance(action, Case):
            self._test = translate.test_command_of(
                action, self._specification, self._journal.campaign_id, self._now_ns()
            )
            self._publish_head()
            self._cases.publish(self._test)
        elif isinstance(action, Span):
            if action.phase is Phase.DONE:
                self._publish_head()
            names = self._specification.protocol.command_names
            self._phase = translate.test_phase_of(action, self._test, names)
            self._phases.publish(self._phase)

    def _publish_head(self) -> None:
        if self._journal.head:
            self._heads.publish(String(data=f'{self._journal.head} {self._journal.campaign_id}'))

    def repeat(self) -> None:
        """Publish the current phase again, so that nodes repeat a lost answer."""
        self._phases.publish(self._phase)

    def wait_for_all_acked(self) -> None:
        """Wait shortly for the last phase and the journal's head to be acknowledged."""
        self._phases.wait_for_all_acked(qos.ACKNOWLEDGED)
        self._heads.wait_for_all_acked(qos.ACKNOWLEDGED)
