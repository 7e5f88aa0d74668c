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

"""Listens to a campaign, its nodes and its sensors from outside, for `repsq watch`."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from diagnostic_msgs.msg import DiagnosticArray
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node

from repsq_ros import topics
from repsq_ros.messages import campaign_messages
from repsq_ros.msg import CountedTest, Heartbeat, QuantizedResult, TestCommand
from repsq_ros.nodes import qos
from repsq_ros.nodes.diagnostics import TOPIC
from repsq_ros.nodes.identity import ROLES
from repsq_ros.nodes.phase_subscription import subscribe_to_phases
from repsq_ros.nodes.runtime import own_node
from repsq_ros.protocols.phases import Span
from repsq_ros.views.campaign_state import CampaignState, CaseHeard
from repsq_ros.views.health import Health, Level

SILENT = 1.0  # [s] after which a peer counts as gone; only for display
STALE = 3.5  # [s] after which a diagnosis is old; they come once a second
FORGOTTEN = 60.0  # [s] after which it is no longer shown


def case_heard(test: TestCommand) -> CaseHeard:
    """Return the case of a phase."""
    return CaseHeard(
        test.index,
        test.attempt,
        tuple(test.names),
        tuple(test.units),
        tuple(test.x),
        test.weight,
        test.specification_digest,
    )


def add_counted(state: CampaignState, message: CountedTest) -> None:
    """Add a counted attempt to a state."""
    state.on_counted(
        message.estimate.campaign_id,
        campaign_messages.counted_of(message),
        tuple(message.names),
        tuple(message.units),
        message.measurement.specification_digest,
    )


class CampaignListener:
    """Collects the state of a campaign.

    :ivar lock: hold it to read `state`, since messages come in another thread
    """

    def __init__(self, node: Node) -> None:
        self.lock = threading.RLock()
        self.state = CampaignState()
        self._beats: dict[str, tuple[float, Heartbeat]] = {}
        self._diagnoses: dict[str, tuple[float, Health]] = {}
        subscribe_to_phases(node, self._on_phase)
        node.create_subscription(CountedTest, topics.COUNTED_TEST, self._on_counted, qos.WHOLE)
        node.create_subscription(
            QuantizedResult, topics.QUANTIZED_RESULT, self._on_result, qos.LATCHED
        )
        node.create_subscription(DiagnosticArray, TOPIC, self._on_diagnostics, qos.DIAGNOSTICS)
        for role in ROLES:
            node.create_subscription(
                Heartbeat,
                f'{topics.HEARTBEAT}/{role}',
                lambda beat, role=role: self._on_heartbeat(role, beat),
                qos.HEARTBEAT,
            )

    def _on_heartbeat(self, role: str, beat: Heartbeat) -> None:
        with self.lock:
            self._beats[role] = (time.monotonic(), beat)

    def _on_phase(self, test: TestCommand, span: Span) -> None:
        with self.lock:
            self.state.on_phase(test.campaign_id, case_heard(test), span)

    def _on_counted(self, message: CountedTest) -> None:
        with self.lock:
            add_counted(self.state, message)

    def _on_result(self, message: QuantizedResult) -> None:
        with self.lock:
            self.state.on_result(message.campaign_id, campaign_messages.result_of(message))

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            level = Level(min(int.from_bytes(status.level, 'little'), Level.STALE))
            health = Health(status.name, level, status.message)
            with self.lock:
                self._diagnoses[status.name] = (time.monotonic(), health)

    def peers(self) -> list[Health]:
        """Return the health of the nodes."""
        now, found = time.monotonic(), []
        with self.lock:
            beats = dict(self._beats)
        for role in ROLES:
            heard = beats.get(role)
            if heard is None:
                found.append(Health(role, Level.STALE, 'never heard'))
            elif now - heard[0] > SILENT:
                found.append(Health(role, Level.STALE, f'silent for {now - heard[0]:.0f} s'))
            elif not heard[1].ready:
                found.append(Health(role, Level.WARN, f'waits for {heard[1].status}'))
            else:
                found.append(Health(role, Level.OK, 'ready'))
        return found

    def health(self) -> list[Health]:
        """Return the health from /diagnostics, the worst first; old entries are marked."""
        now, found = time.monotonic(), []
        with self.lock:
            diagnoses = dict(self._diagnoses)
        for name, (heard, health) in diagnoses.items():
            age = now - heard
            event = name.endswith(': test')  # published once, when it happens
            if age > FORGOTTEN:
                continue
            if name.endswith(': node') and health.level is Level.OK and age <= STALE:
                continue  # its heartbeat has the same information
            old = age > STALE and not event
            found.append(Health(name, Level.STALE, f'silent for {age:.0f} s') if old else health)
        return sorted(found, key=lambda each: (-each.level, each.name))


@contextmanager
def listening() -> Iterator[CampaignListener]:
    """Yield a listener whose messages come in another thread; the process ends with it."""
    ended = threading.Event()
    with own_node('repsq_listener', then_ends=True) as (node, executor):
        listener = CampaignListener(node)

        def spin() -> None:
            while not ended.is_set():
                try:
                    executor.spin_once(timeout_sec=0.1)
                except ExternalShutdownException:
                    return

        thread = threading.Thread(target=spin, daemon=True)
        thread.start()
        try:
            yield listener
        finally:
            ended.set()
            thread.join()
