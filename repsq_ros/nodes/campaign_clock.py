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

"""The clock of a campaign: /clock with a simulated robot, else the system clock."""

from __future__ import annotations

import time
from collections.abc import Callable

from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rosgraph_msgs.msg import Clock as ClockMessage

from repsq_ros.nodes import qos
from repsq_ros.timebase import from_time, to_seconds

# A timer is set late by this: steady and system clock are read one after the other, and it must
# not fire early.
LATE_NS = 500_000
STEP_NS = 50_000_000  # a smaller change between two looks is NTP adjusting the clock gradually
READING_NS = 1_000_000  # if reading both clocks takes longer, they are not compared
TIMEOUT = 2.0  # [s] without a message on /clock after which simulated time counts as lost


class CampaignClock:
    """One source of time for the whole scheduler.

    rclpy's clock has its own subscription to /clock, and may be ahead of this one or behind.

    :param on_tick: called with each new simulated time [ns]. Simulated time is held at the end of
        a phase, when no timer fires: only /clock itself announces that end.
    :param speed: simulated s in each real s; 0: as fast as possible
    """

    def __init__(self, node: Node, on_tick: Callable[[int], None], speed: float = 1.0) -> None:
        self._node, self._on_tick = node, on_tick
        self._steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._heard = self._steady.now()
        self._simulated_ns: int | None = None
        self._stepped_ns = 0  # jump of a simulated clock since the last look
        self._offset_ns: int | None = None  # system clock minus steady clock
        self._planned_ns = 0  # latest announced end of a phase
        self._broken_off_ns = 0  # instant that a simulated robot may have reached after a stop
        self._fast = speed == 0.0 or speed > 1.0
        self._moved = self._steady.now()  # when simulated time last advanced
        self._alarm = node.create_timer(TIMEOUT, self._ring, clock=self._steady)
        self._alarm.cancel()
        if node.get_parameter('use_sim_time').value:
            self._simulated_ns = 0
            node.create_subscription(ClockMessage, '/clock', self._on_message, qos.CLOCK)

    def _on_message(self, message: ClockMessage) -> None:
        time_ns, now = from_time(message.clock), self._steady.now()
        before_ns = self._simulated_ns or time_ns
        if time_ns < before_ns:
            self._planned_ns = self._broken_off_ns = 0  # else they would hide that time runs back
            self._stepped_ns += time_ns - before_ns
        if time_ns != self._simulated_ns:
            self._moved = now
        self._simulated_ns, self._heard = time_ns, now
        self._on_tick(self.now_ns())

    def now_ns(self) -> int:
        """Return the time in ns; 0 before the first simulated time."""
        if self._simulated_ns is not None:
            return max(self._simulated_ns, self._broken_off_ns)
        return int(self._node.get_clock().now().nanoseconds)

    def wake_at(self, at_ns: int | None) -> None:
        """Also call `on_tick` at an instant; a simulated clock ticks there by itself.

        :param at_ns: None: the current phase was stopped. A fast simulated robot may reach the
            phase's planned end before it receives the stop; the next phase must not begin before.
        """
        if at_ns is None:
            self._broken_off_ns = self._planned_ns if self._fast else self._broken_off_ns
            return
        self._planned_ns = max(self._planned_ns, at_ns)
        if self._simulated_ns is None:
            self._alarm.timer_period_ns = max(at_ns - self.now_ns(), 0) + LATE_NS
            self._alarm.reset()

    def _ring(self) -> None:
        self._alarm.cancel()
        self._on_tick(self.now_ns())

    def stepped_ns(self) -> int:
        """Return by how much the clock was set since the last look; 0: not set.

        An operator or NTP may set the system clock. A simulated clock goes back when the
        simulation is started anew.
        """
        if self._simulated_ns is not None:
            stepped_ns, self._stepped_ns = self._stepped_ns, 0
            return stepped_ns
        before_ns, offset_ns = self._offset_ns, _offset_ns()
        if offset_ns is None:
            return 0
        self._offset_ns = offset_ns
        stepped_ns = 0 if before_ns is None else offset_ns - before_ns
        return stepped_ns if abs(stepped_ns) > STEP_NS else 0

    @property
    def stands_still(self) -> float:
        """Time since simulated time last advanced [s]."""
        return to_seconds((self._steady.now() - self._moved).nanoseconds)

    @property
    def fault(self) -> str:
        """What is wrong with the clock, or ''."""
        silent = to_seconds((self._steady.now() - self._heard).nanoseconds)
        if self._simulated_ns is None or silent <= TIMEOUT:
            return ''
        return f'nothing on /clock for {TIMEOUT:g} s'


def _offset_ns() -> int | None:
    """Return system time minus steady time; None: interrupted between both readings."""
    before_ns, system_ns, after_ns = time.monotonic_ns(), time.time_ns(), time.monotonic_ns()
    return system_ns - before_ns if after_ns - before_ns < READING_NS else None
