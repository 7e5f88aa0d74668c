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

"""The state of the sensors before and during a campaign, on /diagnostics."""

from __future__ import annotations

from collections import deque

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.node import Node

from repsq_ros.auditing.body_audit import audit_body
from repsq_ros.auditing.stream_audit import Stamps, audit, clock_fault
from repsq_ros.measurement.inputs import Input, Stamp, Velocity
from repsq_ros.measurement.limits import Limits
from repsq_ros.measurement.measure import Evaluation
from repsq_ros.measurement.tail import Tail
from repsq_ros.nodes import qos
from repsq_ros.nodes.input_subscription import InputSubscription
from repsq_ros.timebase import NANOSECONDS

TOPIC = '/diagnostics'
PERIOD = 1.0  # [s]
SPAN_NS = 5 * NANOSECONDS  # length of the evaluated history
KEPT = 8192  # number of stamps kept: 5 s at 1.6 kHz
SILENT_NS = 2 * NANOSECONDS


class Watched:
    """One input: its latest stamps and arrivals, and its samples."""

    def __init__(self, topic: str, source: Input, tail: Tail, condition: bool) -> None:
        self.topic, self.source, self.tail, self.condition = topic, source, tail, condition
        self.mismatch = ''
        self.subscription: InputSubscription
        self._stamps: deque[tuple[int, int]] = deque(maxlen=KEPT)

    def note(self, stamp_ns: int, arrival_ns: int) -> None:
        """Add the times of one message."""
        self._stamps.append((stamp_ns, arrival_ns))

    def clock_fault(self, now_ns: int, tolerance: float) -> str:
        """Return the offset of the sensor's clock over the last seconds as a sentence, or ''."""
        return clock_fault(*self._recent(now_ns), tolerance)

    def _recent(self, now_ns: int) -> tuple[Stamps, Stamps]:
        """Return stamps and arrivals of the last seconds, each (n,) [ns]."""
        recent = [pair for pair in self._stamps if pair[1] > now_ns - SPAN_NS]
        times = np.array(recent, dtype=np.int64).reshape(-1, 2)
        return times[:, 0], times[:, 1]

    def status(self, node: str, now_ns: int, limits: Limits) -> DiagnosticStatus:
        """Return the status of the last seconds."""
        stamps, arrivals = self._recent(now_ns)
        values: list[tuple[str, str]] = [('type', self.source.type)]
        level, text = DiagnosticStatus.OK, 'ok'
        if len(stamps):
            found = audit(stamps, arrivals, self.source.rate)
            values += found.lines()
            if found.guess.startswith('none'):
                level, text = DiagnosticStatus.WARN, found.guess
            elif self.source.stamp == Stamp.HEADER and found.backwards:
                level, text = DiagnosticStatus.WARN, f'{found.backwards} stamps run backwards'
            samples = self.tail.newest(SPAN_NS)
            if samples.position is not None:
                body = audit_body(samples)
                values += body.lines()
                if body.broken:
                    level, text = DiagnosticStatus.WARN, f'{body.broken} broken poses'
                elif body.frozen > limits.frozen and self.source.velocity != Velocity.TWIST:
                    level, text = DiagnosticStatus.WARN, f'frozen for {body.frozen:.3f} s'
        event_driven = self.condition or not self._is_body()
        last_ns = self._stamps[-1][1] if self._stamps else None
        if last_ns is None:
            level, text = DiagnosticStatus.STALE, 'never heard'
        elif now_ns - last_ns > SILENT_NS and not event_driven:
            level = DiagnosticStatus.STALE
            text = f'silent for {(now_ns - last_ns) * 1e-9:.1f} s'
        if self.mismatch:
            level, text = DiagnosticStatus.ERROR, self.mismatch
        return status(f'{node}: {self.topic}', level, text, values)

    def _is_body(self) -> bool:
        return len(self.tail) > 0 and self.tail.newest(0).value is None


def status(name: str, level: bytes, text: str, values: list[tuple[str, str]]) -> DiagnosticStatus:
    """Make one status."""
    return DiagnosticStatus(
        level=level,
        name=name,
        message=text,
        values=[KeyValue(key=key, value=value) for key, value in values],
    )


class Diagnostics:
    """Publishes the state of the inputs once a second, and each INVALID test at once."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._publisher = node.create_publisher(DiagnosticArray, TOPIC, qos.DIAGNOSTICS)
        self._invalid = 0

    def publish(self, statuses: list[DiagnosticStatus]) -> None:
        """Publish statuses, stamped now."""
        message = DiagnosticArray(status=statuses)
        message.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(message)

    def publish_test(self, index: int, attempt: int, outcome: Evaluation) -> None:
        """Publish a test that is INVALID, or valid but unusual."""
        valid, reason = outcome.valid, outcome.reason or outcome.note
        self._invalid += not valid
        values = [
            ('index', str(index)),
            ('attempt', str(attempt)),
            ('samples', str(outcome.samples)),
            ('reason', 'ok' if outcome.code is None else outcome.code.key),
            ('invalid so far', str(self._invalid)),
        ]
        self.publish(
            [
                status(
                    f'{self._node.get_name()}: test',
                    DiagnosticStatus.WARN if valid else DiagnosticStatus.ERROR,
                    reason if valid else f'INVALID: {reason}',
                    values,
                )
            ]
        )
