"""Observer: hears a campaign from outside, for the live line of `repsq run`."""

from __future__ import annotations

from collections.abc import Callable

from repsq_ros import messages, topics
from repsq_ros.campaign.records import EstimateRecord
from repsq_ros.campaign.result import Result
from repsq_ros.msg import Estimate, QuantizedResult, TestPhase
from repsq_ros.nodes import qos
from repsq_ros.nodes.runtime import CampaignNode


class Observer(CampaignNode):
    """Passes on the estimates of one campaign and keeps its result."""

    def __init__(
        self,
        campaign_id: str,
        on_estimate: Callable[[EstimateRecord], None],
        on_result: Callable[[Result], None],
        on_pause: Callable[[str], None],
    ) -> None:
        super().__init__('repsq_observer')
        self._campaign_id = campaign_id
        self._on_estimate = on_estimate
        self._on_result = on_result
        self._on_pause = on_pause
        self.result: Result | None = None
        self.create_subscription(TestPhase, topics.TEST_PHASE, self._hear_phase, qos.RECORD)
        self.create_subscription(Estimate, topics.ESTIMATE, self._hear_estimate, qos.RECORD)
        self.create_subscription(
            QuantizedResult, topics.QUANTIZED_RESULT, self._hear_result, qos.LATCHED
        )

    def _hear_phase(self, message: TestPhase) -> None:
        if message.campaign_id == self._campaign_id and message.phase == TestPhase.PAUSED:
            self._on_pause(message.reason)

    def _hear_estimate(self, message: Estimate) -> None:
        if message.campaign_id == self._campaign_id:
            self._on_estimate(messages.estimate_record_of(message))

    def _hear_result(self, message: QuantizedResult) -> None:
        if message.campaign_id == self._campaign_id:
            self.result = messages.result_of(message)
            self._on_result(self.result)
