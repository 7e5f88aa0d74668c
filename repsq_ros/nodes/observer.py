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

"""Observer: follows a campaign from outside, for the live line of `repsq run`."""

from __future__ import annotations

from collections.abc import Callable

from rclpy.publisher import Publisher
from std_msgs.msg import Float64, String
from std_srvs.srv import Trigger

from repsq_ros import topics
from repsq_ros.campaign.records import EstimateRecord
from repsq_ros.campaign.result import Result
from repsq_ros.messages import campaign_messages
from repsq_ros.msg import Estimate, QuantizedResult, TestCommand
from repsq_ros.nodes import qos
from repsq_ros.nodes.phase_subscription import subscribe_to_phases
from repsq_ros.nodes.runtime import CampaignNode
from repsq_ros.protocols.phases import Phase, Span


class Observer(CampaignNode):
    """Passes on the estimates of one campaign and keeps its result.

    :param on_pause: called with the phase when the campaign pauses
    :param report: called with text for people
    :param on_phase: called with each phase of the campaign
    """

    def __init__(
        self,
        campaign_id: str,
        on_estimate: Callable[[EstimateRecord], None],
        on_result: Callable[[Result], None],
        on_pause: Callable[[Span], None],
        report: Callable[[str], None],
        on_phase: Callable[[Span], None] = lambda span: None,
    ) -> None:
        super().__init__('repsq_observer')
        self._campaign_id = campaign_id
        self._on_estimate = on_estimate
        self._on_result = on_result
        self._on_pause, self._report, self._on_phase = on_pause, report, on_phase
        self._paused = False
        self.result: Result | None = None
        self._number: Publisher | None = None
        subscribe_to_phases(self, self._forward_phase)
        self.create_subscription(Estimate, topics.ESTIMATE, self._forward_estimate, qos.RECORD)
        self.create_subscription(
            QuantizedResult, topics.QUANTIZED_RESULT, self._forward_result, qos.LATCHED
        )
        self.create_subscription(
            String, topics.INSTRUCTION, lambda message: report(message.data), qos.LATCHED
        )
        self._asked = {
            name: self.create_client(Trigger, f'scheduler/{name}')
            for name in ('resume', 'confirm')
        }

    def go_on(self) -> None:
        """Resume after a pause, or confirm a phase, on behalf of a person at the terminal."""
        future = self._asked['resume' if self._paused else 'confirm'].call_async(Trigger.Request())
        future.add_done_callback(lambda done: self._report(done.result().message))

    def offer_number(self, topic: str) -> None:
        """Create a publisher for a number on a topic, in place of a sensor."""
        self._number = self.create_publisher(Float64, topic, qos.COMMAND)

    def publish_number(self, value: float) -> None:
        """Publish a number on that topic."""
        assert self._number is not None
        self._number.publish(Float64(data=value))

    def _forward_phase(self, test: TestCommand, span: Span) -> None:
        if test.campaign_id != self._campaign_id:
            return
        self._paused = span.phase is Phase.PAUSED
        self._on_phase(span)
        if self._paused:
            self._on_pause(span)

    def _forward_estimate(self, message: Estimate) -> None:
        if message.campaign_id == self._campaign_id:
            self._on_estimate(campaign_messages.estimate_record_of(message))

    def _forward_result(self, message: QuantizedResult) -> None:
        if message.campaign_id == self._campaign_id:
            self.result = campaign_messages.result_of(message)
            self._on_result(self.result)
