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

"""Simulated robot: receives commands, publishes its sensors' data and /clock.

Simulated time waits for the slowest node. It stands still at the end of each announced phase until
the next one and its command have arrived, so that a command takes effect at its stamped instant;
and during a test while a node of the campaign sends no heartbeat. With `clock: system` it behaves
like a real robot, on the system clock, whatever the phase.
"""

from __future__ import annotations

import math
import sys
import time
from collections import deque

from rclpy.clock import Clock as RosClock
from rclpy.clock import ClockType
from rclpy.executors import SingleThreadedExecutor
from rosgraph_msgs.msg import Clock

from repsq_ros import topics
from repsq_ros.errors import ParameterError
from repsq_ros.measurement.recorder import Key
from repsq_ros.msg import CountedTest, TestCommand
from repsq_ros.nodes import qos, translate
from repsq_ros.nodes.heartbeat import PERIOD
from repsq_ros.nodes.identity import ROLES
from repsq_ros.nodes.parameters import Parameters
from repsq_ros.nodes.phase_subscription import subscribe_to_phases
from repsq_ros.nodes.runtime import CampaignNode, run_node
from repsq_ros.nodes.self_diagnosis import SelfDiagnosis
from repsq_ros.nodes.simulated_interfaces import SensorTopics, make_command_input
from repsq_ros.nodes.watches.peers import Peers
from repsq_ros.protocols.command_space import Command
from repsq_ros.protocols.phases import Span
from repsq_ros.simulation.build import make_subject
from repsq_ros.simulation.simulated_sensors import SENSORS
from repsq_ros.simulation.simulation import Simulation
from repsq_ros.timebase import NANOSECONDS, to_seconds
from repsq_ros.views.health import Level

EPOCH_NS = NANOSECONDS  # simulated time begins at 1 s: tf2 never finds a transform stamped 0
HOLD = 0.05  # [s] between two repetitions of a clock that stands still
WAITED_LONG = 2.0  # [s] of standing still that is unusual
PATIENCE = 5.0  # [s] of standing still after which the reason is logged
# Simulated s per real s between tests, if the simulation is as fast as possible: the first phase
# has to arrive before its time comes. Real time until a scheduler has been heard for a second: it
# begins no earlier, and waits for what each sensor says first.
IDLE_SPEED = 0.1
HEARD = 1.0
CATCH_UP = 0.1  # [s] of delay that is made up by running faster
LOOK = 0.01  # [s] of real time between two checks for messages, when as fast as possible
STRETCH_NS = NANOSECONDS // 5  # simulated at a time then


class SimulatedRobot(CampaignNode):
    """A simulated subject with the topics of a real robot."""

    def __init__(self) -> None:
        super().__init__('simulated_robot')
        parameters = Parameters(self)
        name = parameters.text(
            'subject',
            'surrogate',
            'surrogate, g1, arm, pushed, pushed_g1; one that differs: g1:friction=0.5,wear=0.001',
        )
        model = parameters.text('model', '', "folder of the subject's model (g1)")
        seed = parameters.whole('seed', 0, 'seed of everything random in it', at_least=0)
        self._speed = parameters.number(
            'speed', 1.0, 'simulated s in each real s; 0: as fast as possible', at_least=0
        )
        rates = {
            sensor: parameters.number(f'{sensor}_rate', about.rate, 'Hz, if it has one', above=0)
            for sensor, about in SENSORS.items()
        }
        self._system_clock = (
            parameters.choice(
                'clock', ('simulated', 'system'), 'simulated', 'on whose clock the stamps are'
            )
            == 'system'
        )
        clock_rate = parameters.number('clock_rate', 50.0, 'Hz of /clock', above=0)
        gauge = parameters.numbers(
            'gauge_position', 3, 'x y z [m] of the gauge of an arm; empty: where a test begins'
        )
        subject = make_subject(name, model, gauge)
        self._sensors = SensorTopics(self, subject.sensors)
        self._commanded = make_command_input(self, parameters, subject.takes, self._system_clock)
        parameters.finish()
        self._chunk_ns = round(NANOSECONDS / clock_rate)
        self._clock_period = 1.0 / clock_rate
        if self._system_clock and self._speed != 1.0:
            raise ParameterError('speed', f'{self._speed:g}', "1.0 with clock 'system'")
        self._now_ns = time.time_ns() if self._system_clock else EPOCH_NS
        self._simulation = Simulation(subject, seed, self._now_ns, rates)
        self._in_force = self._commanded.command  # current command, if clock: system
        # later commands, with their time of arrival [ns]
        self._changes: deque[tuple[int, Command]] = deque()
        self._span: Span | None = None  # the phase being simulated
        self._upcoming: deque[Span] = deque()
        self._broken_off: set[Key] = set()  # broken-off attempts of the current test
        self._last_moved = time.monotonic()  # when now_ns was due in real time
        self._held_since: float | None = None
        self._scheduler = 0  # session of the last scheduler heard
        self._scheduler_since = math.inf  # when the first one was heard, steady [s]
        self._orphaned = False  # no phase was announced since that scheduler fell silent
        self._nodes: set[str] = set()  # nodes that sent heartbeats since that scheduler started
        self._clock_told, self._told_ns = (
            0.0,
            0,
        )  # time and content of the last /clock message
        self._looked = 0.0  # when it last checked for messages

        SelfDiagnosis(self, self._health)
        self._clock_topic = (
            None if self._system_clock else self.create_publisher(Clock, '/clock', 10)
        )
        if self._system_clock:
            return
        self._peers = Peers(self, *ROLES)
        self.create_timer(PERIOD, self._look, clock=RosClock(clock_type=ClockType.STEADY_TIME))
        subscribe_to_phases(self, self._on_phase, of_anybody=True)
        # A restarted robot needs the attempts broken off before.
        self.create_subscription(CountedTest, topics.COUNTED_TEST, self._on_counted, qos.WHOLE)

    def _health(self) -> tuple[Level, str]:
        held = self._held_since is not None and time.monotonic() - self._held_since > WAITED_LONG
        if held:
            return Level.WARN, f'its time is held at {to_seconds(self._now_ns):.3f} s'
        return Level.OK, 'lives through its time'

    # Events --------------------------------------------------------------------------------------

    def _on_phase(self, test: TestCommand, span: Span) -> None:
        self._orphaned = False
        if span.broken_off:
            self._note_broken_off((span.index, span.attempt))
        if span.end_ns is None:  # paused, done, aborted: at once, whatever was planned
            self._upcoming.clear()
            self._span = None
        else:
            self._upcoming.append(span)

    def _on_counted(self, counted: CountedTest) -> None:
        test = counted.measurement
        if test.broken_off:
            self._note_broken_off((test.index, test.attempt))

    def _note_broken_off(self, key: Key) -> None:
        """Note a broken-off attempt: the next attempt has the same noise."""
        self._broken_off = {each for each in self._broken_off if each[0] >= key[0]} | {key}

    def _look(self) -> None:
        self._peers.look()
        alive, session = self._peers.alive(), self._peers.session('scheduler')
        if session != self._scheduler:
            self._scheduler, self._nodes = session, set()
            self._scheduler_since = min(self._scheduler_since, time.monotonic())
            if self._orphaned:  # of a scheduler that was killed
                self._span = None
                self._upcoming.clear()
                self._commanded.forget()
        self._nodes |= alive
        self._orphaned = self._orphaned or 'scheduler' not in alive

    # Time ----------------------------------------------------------------------------------------

    def work(self, executor: SingleThreadedExecutor) -> None:
        """Simulate the next part of time, or wait for what has to come first."""
        if self._silent:
            self._hold(executor)
            return
        while self._upcoming and self._may_enter(self._upcoming[0]):
            self._enter(self._upcoming.popleft())
        if self._span is not None and not self._commanded.carries(self._span.command):
            # A foreign command during a phase, e.g. of a guard that took a busy scheduler for
            # dead: time stands still until it is overruled or the phase is stopped.
            self._hold(executor)
            return
        horizon_ns = self._horizon_ns()
        if horizon_ns is not None and horizon_ns <= self._now_ns:
            self._hold(executor)
            return
        self._held_since = None
        until_ns = self._now_ns + (self._chunk_ns if self._speed or self._idle else STRETCH_NS)
        if horizon_ns is not None:
            until_ns = min(until_ns, horizon_ns)
        if self._wait_until_due(executor, until_ns):
            self._simulate_until(until_ns)
            if (until_ns == horizon_ns and until_ns != self._told_ns) or self._clock_is_due():
                self._publish_clock()

    @property
    def _silent(self) -> list[str]:
        """Return the nodes that time waits for; between tests, none."""
        if self._system_clock or self._idle:
            return []
        return sorted(self._nodes - self._peers.alive())

    @property
    def _idle(self) -> bool:
        """True while no test is under way."""
        return self._span is None and not self._upcoming

    @property
    def _idle_speed(self) -> float:
        """Return the simulated s per real s between tests, if it is as fast as possible."""
        return IDLE_SPEED if time.monotonic() - self._scheduler_since > HEARD else 1.0

    def _may_enter(self, span: Span) -> bool:
        """Tell whether it is time for a phase and its command has arrived."""
        return self._now_ns >= span.start_ns and self._commanded.carries(span.command)

    def _horizon_ns(self) -> int | None:
        """Return the instant up to which the phases are known; None: no limit."""
        if self._upcoming:
            return self._upcoming[0].start_ns
        return self._span.end_ns if self._span is not None else None

    def _enter(self, span: Span) -> None:
        if self._now_ns > span.start_ns:
            self.get_logger().error(
                f'phase {span.phase.name} of test {span.index} came '
                f'{to_seconds(self._now_ns - span.start_ns):.3f} s of simulated time late: its '
                'measurement depends on the timing. Raise start_lead of the scheduler'
            )
        begins = span.begins_test(self._span)
        self._span = span
        if begins:
            broken_off = sum(key[0] == span.index for key in self._broken_off)
            self._simulation.begin(span.index, self._now_ns, max(span.attempt - broken_off, 0))

    def _hold(self, executor: SingleThreadedExecutor) -> None:
        """Stop time until a message comes; repeat /clock for nodes that missed it."""
        now = time.monotonic()
        if self._held_since is None:
            self._held_since = now
        elif now - self._held_since > PATIENCE:
            self._held_since = now
            waiting_for = 'the next phase on repsq/test_phase'
            if self._silent:
                waiting_for = f'a heartbeat of {", ".join(self._silent)}'
            elif self._upcoming:
                waiting_for = (
                    f'command {tuple(self._upcoming[0].command)}, where '
                    f'{self._commanded.command} was heard last'
                )
            self.get_logger().warning(
                f'simulated time is held at {to_seconds(self._now_ns):.3f} s for {waiting_for}'
            )
        executor.spin_once(timeout_sec=HOLD)
        if time.monotonic() - self._clock_told >= HOLD:
            self._publish_clock()

    def _wait_until_due(self, executor: SingleThreadedExecutor, until_ns: int) -> bool:
        """Process messages until real time is due; false if a campaign begins meanwhile."""
        idle = self._idle
        speed = (min(self._speed, 1.0) or self._idle_speed) if idle else self._speed
        if speed == 0:
            # A check takes as long as simulating 0.1 s of the surrogate.
            if time.monotonic() - self._looked >= LOOK:
                executor.spin_once(timeout_sec=0)
                self._looked = time.monotonic()
            return True
        if self._system_clock:
            while (left := to_seconds(until_ns - time.time_ns())) > 0:
                self._listen(executor, left)
            self._listen(executor, 0.0)
            return True
        due = self._last_moved + to_seconds(until_ns - self._now_ns) / speed
        while (left := due - time.monotonic()) > 0:
            executor.spin_once(timeout_sec=left)
            if idle and self._upcoming:
                return False
        executor.spin_once(timeout_sec=0)
        # After a hold or a stall, continue from now without catching up.
        self._last_moved = due if left > -CATCH_UP else time.monotonic()
        return True

    def _listen(self, executor: SingleThreadedExecutor, seconds: float) -> None:
        """Process a message, and note when a command came (clock: system)."""
        executor.spin_once(timeout_sec=seconds)
        last = self._changes[-1][1] if self._changes else self._in_force
        if self._commanded.command != last:
            self._changes.append((time.time_ns(), self._commanded.command))

    def _apply_commands(self, until_ns: int) -> None:
        """Simulate up to each command that came before an instant, so that it acts at its time."""
        while self._changes and self._changes[0][0] < until_ns:
            at_ns, command = self._changes.popleft()
            self._publish_readings(at_ns, self._in_force)
            self._in_force = command

    def _simulate_until(self, until_ns: int) -> None:
        # A message may round a command's last digits; the phase has the exact values.
        command = self._commanded.command if self._span is None else self._span.command
        if self._system_clock:
            self._apply_commands(until_ns)
            command = self._in_force
        self._publish_readings(until_ns, command)
        self._now_ns = until_ns

    def _publish_readings(self, until_ns: int, command: Command) -> None:
        # All at once, so that a listener wakes up only once.
        for reading in list(self._simulation.advance(until_ns, command)):
            if self._sensors.needs_clock(reading):
                self._now_ns = max(self._now_ns, reading.stamp_ns)
                self._publish_clock()
            self._sensors.publish(reading)

    def _clock_is_due(self) -> bool:
        """Tell whether /clock has to be published during a phase.

        Faster than real time, it is published less often: every node processes each message, but
        nodes only wait for the ends of phases. Before a message without a stamp, it is always
        published.
        """
        slow = 0.0 < self._speed <= 1.0
        late = time.monotonic() - self._clock_told >= self._clock_period
        return slow or late

    def _publish_clock(self) -> None:
        self._clock_told, self._told_ns = time.monotonic(), self._now_ns
        if self._clock_topic is not None:
            self._clock_topic.publish(Clock(clock=translate.to_time(self._now_ns)))


def main() -> int:
    """Run the simulated robot."""
    return run_node('simulated_robot', SimulatedRobot)


if __name__ == '__main__':
    sys.exit(main())
