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

"""Monitor: a campaign as markers for RViz."""

from __future__ import annotations

import sys

from rclpy.clock import Clock, ClockType
from visualization_msgs.msg import MarkerArray

from repsq_ros import topics
from repsq_ros.campaign.records import EstimateRecord
from repsq_ros.campaign.result import Result
from repsq_ros.messages import campaign_messages
from repsq_ros.msg import Estimate, QuantizedResult, TestCommand, TestMeasurement
from repsq_ros.nodes import qos
from repsq_ros.nodes.markers import Scene
from repsq_ros.nodes.parameters import Parameters
from repsq_ros.nodes.phase_subscription import subscribe_to_phases
from repsq_ros.nodes.runtime import CampaignNode, run_node
from repsq_ros.protocols.phases import Span

REFRESH = 0.5  # [s] between two publications, at most


class Monitor(CampaignNode):
    """Listens to the records of a campaign and shows them."""

    def __init__(self) -> None:
        super().__init__('monitor')
        parameters = Parameters(self)
        self._specification = parameters.specification()
        frame = parameters.text('frame', 'repsq', 'frame in which everything is drawn')
        parameters.finish()
        self._scene = Scene(self._specification, frame)
        self._tests: dict[int, tuple[tuple[float, ...], float]] = {}  # x, psi of valid tests
        self._estimate: EstimateRecord | None = None
        self._result: Result | None = None
        self._span: Span | None = None
        self._campaign_id = ''
        self._stale = True
        self._markers = self.create_publisher(MarkerArray, '~/markers', qos.LATCHED)
        for kind, topic, callback, profile in (
            (TestMeasurement, topics.TEST_MEASUREMENT, self._hear_measurement, qos.RECORD),
            (Estimate, topics.ESTIMATE, self._hear_estimate, qos.RECORD),
            (QuantizedResult, topics.QUANTIZED_RESULT, self._hear_result, qos.LATCHED),
        ):
            self.create_subscription(
                kind, topic, callback, profile, qos_overriding_options=qos.OVERRIDABLE
            )
        subscribe_to_phases(self, self._hear_phase)
        self.create_timer(REFRESH, self._show, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def _enter(self, campaign_id: str) -> None:
        """Note that a campaign was heard of; another one than before clears the scene."""
        self._stale = True
        if campaign_id != self._campaign_id:
            self._campaign_id = campaign_id
            self._tests.clear()
            self._estimate = self._result = self._span = None

    # Messages of different topics come in any order, above all to one who joins late.

    def _hear_phase(self, test: TestCommand, span: Span) -> None:
        self._enter(test.campaign_id)
        self._span = span

    def _hear_measurement(self, message: TestMeasurement) -> None:
        self._enter(message.campaign_id)
        if message.valid:
            self._tests[message.index] = (tuple(message.x), message.psi)

    def _hear_estimate(self, message: Estimate) -> None:
        self._enter(message.campaign_id)
        self._estimate = campaign_messages.estimate_record_of(message)

    def _hear_result(self, message: QuantizedResult) -> None:
        self._enter(message.campaign_id)
        self._result = campaign_messages.result_of(message)

    def _show(self) -> None:
        if not self._stale:
            return
        self._stale = False
        tests = list(self._tests.values())
        self._markers.publish(
            self._scene.markers(tests, self._estimate, self._result, self._text())
        )

    def _text(self) -> str:
        """Return the text panel."""
        lines = [f'{self._specification.name}   {self._campaign_id}']
        if self._span is not None:
            span = self._span
            lines.append(f'test {span.index}, attempt {span.attempt}: {span.phase.name}')
            if span.reason:
                lines.append(span.reason)
        if self._estimate is not None:
            e = self._estimate
            lines.append(f'{e.n} tests of about {e.expected_n}, {e.invalid} INVALID')
            lines.append(f'estimate {e.mean:.4f} +- {e.half_width:.4f}, to reach {e.gamma:g}')
        if self._tests:
            values = [psi for _, psi in self._tests.values()]
            low, high = min(values), max(values)
            lines.append(f'colours: psi from {low:.3f} (dark) to {high:.3f} (bright)')
        if self._result is not None:
            lines.append(f'RESULT {self._result.value:.4f}')
        return '\n'.join(lines)


def main() -> int:
    """Run the monitor."""
    return run_node('monitor', Monitor)


if __name__ == '__main__':
    sys.exit(main())
