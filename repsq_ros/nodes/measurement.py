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

"""Measurement: from sensor messages to psi of each test."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import replace

from rclpy.clock import Clock, ClockType

from repsq_ros import topics
from repsq_ros.auditing.stream_audit import CLOCK_TOLERANCE
from repsq_ros.campaign.attempts import Attempts
from repsq_ros.campaign.records import TestRecord, record_of
from repsq_ros.campaign.running_time import RunningTime
from repsq_ros.measurement.inputs import Input, Stamp
from repsq_ros.measurement.measure import Evaluation
from repsq_ros.measurement.reasons import Code
from repsq_ros.measurement.recorder import Key, Recorder
from repsq_ros.measurement.samples import Samples
from repsq_ros.measurement.tail import Tail
from repsq_ros.messages import campaign_messages
from repsq_ros.msg import TestCommand, TestMeasurement
from repsq_ros.nodes import qos, translate
from repsq_ros.nodes.diagnostics import PERIOD as DIAGNOSED
from repsq_ros.nodes.diagnostics import Diagnostics, Watched
from repsq_ros.nodes.heartbeat import PERIOD, HeartbeatPublisher
from repsq_ros.nodes.input_subscription import InputSubscription
from repsq_ros.nodes.parameters import Parameters
from repsq_ros.nodes.phase_subscription import subscribe_to_phases
from repsq_ros.nodes.runtime import CampaignNode, run_node
from repsq_ros.nodes.self_diagnosis import SelfDiagnosis
from repsq_ros.protocols.phases import Phase, Span
from repsq_ros.views.health import Level

OVERDUE = 5.0  # [s] after a test to wait for a sensor whose stamps lag


class Measurement(CampaignNode):
    """Selects the samples of each test's window by their stamps, and computes psi."""

    def __init__(self) -> None:
        super().__init__('measurement')
        parameters = Parameters(self)
        self._specification = parameters.specification()
        self._grace = parameters.number(
            'arrival_grace', 0.5, 's of sensor silence after a test that end it', at_least=0
        )
        self._clock_tolerance = parameters.number(
            'clock_tolerance',
            CLOCK_TOLERANCE,
            "s by which a sensor's clock may differ from this computer's; 0: any",
            at_least=0,
        )
        parameters.finish()
        self._clock_fault = ''
        self._recorder = Recorder(self._specification.measure)
        self._test = TestCommand()  # the latest attempt
        self._attempts = Attempts()
        # not counting stalls, which would end a test too early
        self._running = RunningTime(2 * PERIOD)
        self._over_since: dict[Key, float] = {}  # [s] running time; tests whose phases are over
        self._last: TestMeasurement | None = None  # the last answer, which is repeated on request
        self._frame = ''
        self._last_arrival = 0.0  # [s] running time
        self._diagnostics = Diagnostics(self)
        self._watched: list[Watched] = []
        self._measurements = self.create_publisher(
            TestMeasurement, topics.TEST_MEASUREMENT, qos.RECORD
        )
        subscribe_to_phases(self, self._on_phase)
        self._listen()
        self._heartbeat = HeartbeatPublisher(self, 'measurement', self._look)
        SelfDiagnosis(self, self._health)
        self.create_timer(DIAGNOSED, self._diagnose, clock=Clock(clock_type=ClockType.STEADY_TIME))

    # Inputs --------------------------------------------------------------------------------------

    def _listen(self) -> None:
        """Subscribe to the measure's input and to its conditions."""
        measure, recorder = self._specification.measure, self._recorder
        self._watch(measure.input, recorder.tail, self._take)
        for condition, source in zip(measure.conditions, measure.condition_inputs, strict=True):
            self._watch(source, recorder.conditions[condition.name], None)

    def _watch(self, source: Input, tail: Tail, then: Callable[[Samples], None] | None) -> None:
        watched = Watched(self.resolve_topic_name(source.topic), source, tail, then is None)
        note, add = watched.note, tail.add

        def take(sample: Samples, arrival_ns: int) -> None:
            note(sample.stamp_ns, arrival_ns)
            add(sample)
            if then is not None:
                then(sample)

        watched.subscription = InputSubscription(self, source, take, condition=then is None)
        self._watched.append(watched)

    def _take(self, sample: Samples) -> None:
        self._frame = sample.frame()
        self._last_arrival = self._running.now

    def _diagnose(self) -> None:
        now_ns = self.get_clock().now().nanoseconds
        name, limits = self.get_name(), self._specification.measure.limits
        for each in self._watched:
            mismatch = each.subscription.mismatch()
            if mismatch and mismatch != each.mismatch:
                self.get_logger().error(mismatch)
            each.mismatch = mismatch
        self._clock_fault = self._compare_clocks(now_ns)
        statuses = []
        for each in self._watched:
            self._heartbeat.beat()
            statuses.append(each.status(name, now_ns, limits))
        self._diagnostics.publish(statuses)

    def _compare_clocks(self, now_ns: int) -> str:
        """Return what is wrong with the stamps of the measured sensor, or ''.

        With simulated time there is nothing to compare: /clock and stamps have one source.
        """
        sensor, simulated = self._watched[0], self.get_parameter('use_sim_time').value
        if simulated or not self._clock_tolerance or sensor.source.stamp != Stamp.HEADER:
            return ''
        fault = sensor.clock_fault(now_ns, self._clock_tolerance)
        return fault and (
            f'right stamps on {sensor.topic}: they are {fault}. NTP or PTP sets both; '
            'clock_tolerance allows more where the messages are late and the stamps right'
        )

    # Tests ---------------------------------------------------------------------------------------

    def _on_phase(self, test: TestCommand, span: Span) -> None:
        case = campaign_messages.case_of(test)
        if test.campaign_id != self._test.campaign_id:
            self._attempts, self._last = Attempts(), None
        self._test, key = test, (case.index, case.attempt)
        self._last_arrival = self._running.now
        last = self._last
        if last is not None and (last.index, last.attempt) == key and span.phase is not Phase.DONE:
            self._measurements.publish(last)
            return
        record = self._attempts.on_phase(case, span)
        self._recorder.keep(self._attempts.windows)
        if record is not None:
            self._publish(record)
        self._over_since = {
            each: self._over_since.get(each, self._last_arrival) for each in self._attempts.over
        }
        self._measure_complete()

    def _measure_complete(self) -> None:
        """Measure tests whose phases are over and whose samples are complete."""
        # the conditions first: the sensor's samples need them
        for each in reversed(self._watched):
            each.subscription.look(self._heartbeat.beat)
        complete = self._recorder.complete_keys
        self._measure(tuple(key for key in complete if key in self._over_since))

    def _waits_for(self) -> str:
        """Return which input is missing before it can measure, or ''."""
        measure, heard = self._specification.measure, self._recorder.tail.newest_ns is not None
        unheard = [each.topic for each in self._watched if not each.subscription.matched]
        # A gauge may be silent before the first test.
        if not unheard and not (measure.of_readings or heard):
            unheard = [self._watched[0].topic]
        return f'something on {", ".join(unheard)}' if unheard else self._clock_fault

    def _health(self) -> tuple[Level, str]:
        waits_for = self._waits_for()
        return (Level.WARN, f'waits for {waits_for}') if waits_for else (Level.OK, 'measures')

    def _look(self) -> None:
        """Measure a test that is over with the available samples, if no more can be expected.

        The sensor has fallen silent, or its stamps never pass the end of the window.
        """
        waits_for = self._waits_for()
        self._heartbeat.set_status(not waits_for, waits_for)
        self._running.look(time.monotonic())
        self._measure_complete()
        now, overdue = self._running.now, max(OVERDUE, self._grace)
        silent = now - self._last_arrival > self._grace
        for key in self._recorder.open_keys:
            over_since = self._over_since.get(key)
            if over_since is not None and (silent or now - over_since > overdue):
                self._measure((key,))

    def _measure(self, keys: tuple[Key, ...]) -> None:
        for key in keys:
            self._heartbeat.beat()
            window, outcome = self._recorder.close(key)
            self._heartbeat.beat()
            several = self._watched[0].subscription.several_publishers()
            if several is not None:
                outcome = Evaluation.invalid(several.text, outcome.samples, several.code)
            attempt = self._attempts.close(key)
            self._over_since.pop(key, None)
            if attempt is not None:
                self._report(key, outcome)
                self._publish(record_of(key, attempt.case.draw, window, outcome))

    def _report(self, key: Key, outcome: Evaluation) -> None:
        """Log what is unusual."""
        if not (outcome.reason or outcome.note):
            return
        index, attempt = key
        word = '' if outcome.valid else 'INVALID: '
        self.get_logger().warning(
            f'test {index}, attempt {attempt}: {word}{outcome.reason or outcome.note}'
        )
        self._diagnostics.publish_test(index, attempt, outcome)

    def _publish(self, record: TestRecord) -> None:
        theirs, own = self._test.specification_digest, self._specification.digest
        if theirs != own and record.valid:
            reason = (
                f'the scheduler and {self._specification.file} of the measurement node differ: '
                f'digests {theirs[:12]} and {own[:12]}'
            )
            self.get_logger().error(reason)
            code = Code.SPECIFICATIONS.key
            record = replace(record, psi=0.0, valid=False, reason=reason, code=code)
        self._last = translate.test_measurement_of(
            record, self._test.campaign_id, theirs, self._frame
        )
        self._measurements.publish(self._last)


def main() -> int:
    """Run the measurement node."""
    return run_node('measurement', Measurement)


if __name__ == '__main__':
    sys.exit(main())
