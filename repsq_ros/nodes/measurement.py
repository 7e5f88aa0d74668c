"""Measurement: sensor messages in, psi of each test out."""

from __future__ import annotations

import sys

from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import Odometry
from rclpy.clock import Clock, ClockType
from rclpy.qos_overriding_options import QoSOverridingOptions

from repsq_ros import messages
from repsq_ros.campaign.records import TestRecord
from repsq_ros.measurement.measure import Outcome
from repsq_ros.measurement.recorder import Recorder, Window
from repsq_ros.msg import TestCommand, TestMeasurement, TestPhase
from repsq_ros.nodes import qos, topics, translate
from repsq_ros.nodes.parameters import Parameters
from repsq_ros.nodes.runtime import CampaignNode, run_node
from repsq_ros.protocols.phases import Phase, Span
from repsq_ros.timebase import to_nanoseconds

PATIENCE = 0.1  # [s] between two looks at a window that waits for its last sample


class Measurement(CampaignNode):
    """Cuts the measured window of each test out of the sensor's messages by their stamps."""

    def __init__(self) -> None:
        super().__init__('measurement')
        parameters = Parameters(self)
        self._specification = parameters.specification()
        self._grace_ns = to_nanoseconds(
            parameters.number(
                'arrival_grace', 0.5, 's to wait for late samples after a test', at_least=0
            )
        )
        parameters.finish()
        self._recorder = Recorder(self._specification.measure)
        self._case: TestCommand | None = None
        self._span: Span | None = None  # the phase whose window is to be measured
        self._frame = ''
        self._over_since_ns: int | None = None
        self._steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._measurements = self.create_publisher(
            TestMeasurement, topics.TEST_MEASUREMENT, qos.WATCHED_RECORD
        )
        self.create_subscription(TestCommand, topics.TEST_COMMAND, self._hear_case, qos.RECORD)
        self.create_subscription(TestPhase, topics.TEST_PHASE, self._hear_phase, qos.RECORD)
        source = self._specification.measure.source
        self._to_sample = {
            'odometry': messages.sample_of_odometry,
            'mocap': messages.sample_of_pose,
        }[source]
        self.create_subscription(
            {'odometry': Odometry, 'mocap': PoseStamped}[source],
            topics.SENSOR[source],
            self._hear_sensor,
            qos.SENSOR,
            qos_overriding_options=QoSOverridingOptions.with_default_policies(),
        )
        self.create_timer(PATIENCE, self._look, clock=self._steady)

    def _hear_case(self, message: TestCommand) -> None:
        self._case = message
        self._open()

    def _hear_phase(self, message: TestPhase) -> None:
        span = messages.span_of(message)
        if span.window is not None:
            self._span, self._over_since_ns = span, None
            self._open()
        elif span.phase in (Phase.PAUSED, Phase.ABORTED):
            self._span = None
            self._recorder.abandon()
        elif span.phase is Phase.IDLE and self._span is not None:
            self._over_since_ns = self._steady.now().nanoseconds
            self._measure_if_complete()

    def _open(self) -> None:
        """Open the window once both the case and its phase are known."""
        case, span = self._case, self._span
        if case is None or span is None or span.window is None or self._recorder.window:
            return
        if (case.index, case.attempt) != (span.index, span.attempt):
            return
        self._recorder.open(Window(*span.window, span.command))
        self._measure_if_complete()

    def _hear_sensor(self, message: Odometry | PoseStamped) -> None:
        self._frame = message.header.frame_id
        self._recorder.add(self._to_sample(message))
        if self._recorder.complete:
            self._measure()

    def _measure_if_complete(self) -> None:
        if self._recorder.complete:
            self._measure()

    def _look(self) -> None:
        """Measure with what is there when the test is over and no further sample comes."""
        if self._over_since_ns is None or self._recorder.window is None:
            return
        if self._steady.now().nanoseconds - self._over_since_ns > self._grace_ns:
            self._measure()

    def _measure(self) -> None:
        case, span = self._case, self._span
        self._span, self._over_since_ns = None, None
        outcome = self._recorder.close()
        if case is None or span is None or span.window is None:
            return
        if case.specification_digest != self._specification.digest:
            outcome = Outcome.invalid(
                f'the scheduler and {self._specification.file} of the measurement node differ: '
                f'digests {case.specification_digest[:12]} and {self._specification.digest[:12]}'
            )
        if not outcome.valid:
            self.get_logger().warning(
                f'test {case.index}, attempt {case.attempt}: INVALID: {outcome.reason}'
            )
        record = TestRecord(
            case.index, case.attempt, outcome.psi, case.weight, outcome.valid, outcome.reason,
            outcome.samples, *span.window,
        )  # fmt: skip
        self._measurements.publish(
            translate.test_measurement_of(
                record, case.campaign_id, case.specification_digest, self._frame
            )
        )


def main() -> int:
    """Run the measurement node."""
    return run_node(Measurement)


if __name__ == '__main__':
    sys.exit(main())
