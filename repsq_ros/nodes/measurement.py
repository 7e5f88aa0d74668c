"""Measurement: sensor messages in, psi of each test out."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from rclpy.clock import Clock, ClockType
from rclpy.publisher import Publisher

from repsq_ros import messages, topics
from repsq_ros.campaign.records import record_of
from repsq_ros.campaign.windows import window_of
from repsq_ros.measurement.buffer import SampleBuffer
from repsq_ros.measurement.inputs import Input
from repsq_ros.measurement.measure import Outcome
from repsq_ros.measurement.reasons import Code
from repsq_ros.measurement.recorder import Key, Recorder, Window
from repsq_ros.measurement.samples import Sample
from repsq_ros.msg import TestCommand, TestMeasurement, TestPhase
from repsq_ros.nodes import qos, translate
from repsq_ros.nodes.diagnostics import PERIOD, Diagnostics, Watched
from repsq_ros.nodes.inputs import NO_EVENTS, InputSubscription
from repsq_ros.nodes.parameters import Parameters
from repsq_ros.nodes.runtime import CampaignNode, run_node
from repsq_ros.protocols.phases import Phase
from repsq_ros.timebase import to_nanoseconds

PATIENCE = 0.1  # [s] between two looks for windows whose last sample does not come
OVERDUE_NS = 5_000_000_000  # after a test, for a sensor whose stamps stay behind


class Measurement(CampaignNode):
    """Cuts the measured window of each test out of the sensor's messages by their stamps."""

    def __init__(self) -> None:
        super().__init__('measurement')
        parameters = Parameters(self)
        self._specification = parameters.specification()
        self._grace_ns = to_nanoseconds(
            parameters.number(
                'arrival_grace', 0.5, 's of sensor silence after a test that end it', at_least=0
            )
        )
        parameters.finish()
        self._recorder = Recorder(self._specification.measure)
        self._cases: dict[Key, TestCommand] = {}
        self._windows: dict[Key, Window] = {}  # of phases whose case is not known yet
        self._over_since_ns: dict[Key, int] = {}  # tests whose phases are over
        self._frame = ''
        self._last_arrival_ns = time.monotonic_ns()
        self._diagnostics = Diagnostics(self)
        self._watched: list[Watched] = []
        # Made once sensor and conditions can be heard, and the sensor of a body is: until then
        # there is no measurement node for the scheduler, which begins only once there is one.
        self._measurements: Publisher | None = None
        for kind, topic, callback in (
            (TestCommand, topics.TEST_COMMAND, self._hear_case),
            (TestPhase, topics.TEST_PHASE, self._hear_phase),
        ):
            self.create_subscription(
                kind,
                topic,
                callback,
                qos.RECORD,
                event_callbacks=NO_EVENTS,
                qos_overriding_options=qos.OVERRIDABLE,
            )
        self._listen()
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(PATIENCE, self._look, clock=steady)
        self.create_timer(PERIOD, self._diagnose, clock=steady)

    # Inputs --------------------------------------------------------------------------------------

    def _listen(self) -> None:
        """Subscribe to the measure's input and to its conditions."""
        measure, recorder = self._specification.measure, self._recorder
        self._watch(measure.input, recorder.buffer, self._take)
        for condition, source in zip(measure.conditions, measure.condition_inputs, strict=True):
            self._watch(source, recorder.conditions[condition.name], None)

    def _watch(
        self, source: Input, buffer: SampleBuffer, then: Callable[[Sample], None] | None
    ) -> None:
        watched = Watched(self.resolve_topic_name(source.topic), source, buffer, then is None)
        note, add = watched.note, buffer.add

        def take(sample: Sample, arrival_ns: int) -> None:
            note(sample.stamp_ns, arrival_ns)
            add(sample)
            if then is not None:
                then(sample)

        watched.subscription = InputSubscription(self, source, take, condition=then is None)
        self._watched.append(watched)

    def _take(self, sample: Sample) -> None:
        self._frame = sample.frame
        self._last_arrival_ns = time.monotonic_ns()
        if sample.stamp_ns >= self._recorder.due_ns:
            self._measure_complete()

    def _diagnose(self) -> None:
        now_ns = self.get_clock().now().nanoseconds
        name, limits = self.get_name(), self._specification.measure.limits
        for each in self._watched:
            mismatch = each.subscription.mismatch()
            if mismatch and mismatch != each.mismatch:
                self.get_logger().error(mismatch)
            each.mismatch = mismatch
        self._diagnostics.publish([each.status(name, now_ns, limits) for each in self._watched])

    # Tests ---------------------------------------------------------------------------------------

    def _hear_case(self, message: TestCommand) -> None:
        self._cases[message.index, message.attempt] = message
        self._open((message.index, message.attempt))

    def _hear_phase(self, message: TestPhase) -> None:
        span = messages.span_of(message)
        key = (span.index, span.attempt)
        self._last_arrival_ns = time.monotonic_ns()
        window = window_of(span)
        if window is not None:
            self._windows[key] = window
            self._open(key)
        elif span.phase in (Phase.PAUSED, Phase.ABORTED):
            # The cases stay: one that is made again may be heard before the pause.
            self._windows.clear()
            self._over_since_ns.clear()
            self._recorder.abandon()
        elif span.phase is Phase.IDLE and (key in self._cases or key in self._windows):
            self._over_since_ns[key] = time.monotonic_ns()
            self._measure_complete()

    def _open(self, key: Key) -> None:
        """Open a window once both the case and its phase are known."""
        if key in self._cases and key in self._windows:
            self._recorder.open(key, self._windows.pop(key))
            self._measure_complete()

    def _measure_complete(self) -> None:
        """Measure tests whose phases are over and whose samples are there.

        Not before: a pause in the last moments of a window may be heard after its last sample,
        and what was measured then is not what was commanded.
        """
        complete = self._recorder.complete_keys
        self._measure(tuple(key for key in complete if key in self._over_since_ns))

    def _hears(self) -> bool:
        measure, heard = self._specification.measure, self._recorder.buffer.newest_ns is not None
        # A gauge may have nothing to say before the first test.
        return (measure.of_readings or heard) and all(
            w.subscription.matched for w in self._watched
        )

    def _publisher(self) -> Publisher:
        if self._measurements is None:
            self._measurements = self.create_publisher(
                TestMeasurement, topics.TEST_MEASUREMENT, qos.WATCHED_RECORD
            )
        return self._measurements

    def _look(self) -> None:
        """Measure with what is there when a test is over and no sample of it can be hoped for.

        The sensor has fallen silent, or it speaks on, but never of a time after the window.
        """
        if self._measurements is None and self._hears():
            self._publisher()
        now_ns = time.monotonic_ns()
        silent = now_ns - self._last_arrival_ns > self._grace_ns
        for key in self._recorder.open_keys:
            over_since_ns = self._over_since_ns.get(key)
            if over_since_ns is not None and (silent or now_ns - over_since_ns > OVERDUE_NS):
                self._measure((key,))

    def _measure(self, keys: tuple[Key, ...]) -> None:
        for key in keys:
            window, outcome = self._recorder.close(key)
            rivals = self._watched[0].subscription.rivals()
            if rivals is not None:
                outcome = Outcome.invalid(rivals.text, outcome.samples, rivals.code)
            case = self._cases.pop(key)
            self._over_since_ns.pop(key, None)
            self._publish(case, window, outcome)

    def _publish(self, case: TestCommand, window: Window, outcome: Outcome) -> None:
        if case.specification_digest != self._specification.digest:
            outcome = Outcome.invalid(
                f'the scheduler and {self._specification.file} of the measurement node differ: '
                f'digests {case.specification_digest[:12]} and {self._specification.digest[:12]}',
                outcome.samples, Code.SPECIFICATIONS,
            )  # fmt: skip
        if not outcome.valid:
            self.get_logger().warning(
                f'test {case.index}, attempt {case.attempt}: INVALID: {outcome.reason}'
            )
        if outcome.note:
            self.get_logger().warning(f'test {case.index}, attempt {case.attempt}: {outcome.note}')
        if outcome.reason or outcome.note:
            self._diagnostics.tell_test(
                case.index, case.attempt, outcome.valid, outcome.reason or outcome.note,
                outcome.samples,
            )  # fmt: skip
        record = record_of((case.index, case.attempt), messages.draw_of(case), window, outcome)
        self._publisher().publish(
            translate.test_measurement_of(
                record, case.campaign_id, case.specification_digest, self._frame
            )
        )


def main() -> int:
    """Run the measurement node."""
    return run_node('measurement', Measurement)


if __name__ == '__main__':
    sys.exit(main())
