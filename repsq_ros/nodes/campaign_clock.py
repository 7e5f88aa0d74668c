"""The time that a campaign lives by: /clock where it is simulated, else the system's."""

from __future__ import annotations

from collections.abc import Callable

from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rosgraph_msgs.msg import Clock as ClockMessage

from repsq_ros.nodes import qos
from repsq_ros.timebase import from_time, to_seconds

LATE_NS = 500_000  # after an instant, at which it has come for sure: two clocks are read apart
LEAP = 0.1  # [s] by which a clock in real time may leap forward, after a stall
TIMEOUT = 2.0  # [s] without a message on /clock after which a simulated clock is lost


class CampaignClock:
    """One source of time: rclpy's own hears /clock apart, and may be ahead or behind.

    :param on_tick: called with each new simulated time [ns]. A timer would fire between the ticks
        of a clock that stands still at the end of a phase: only the clock itself tells that the
        end is there.
    """

    def __init__(self, node: Node, on_tick: Callable[[int], None]) -> None:
        self._node, self._on_tick = node, on_tick
        self._steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._heard = self._steady.now()
        self._simulated_ns: int | None = None
        self._planned_ns = 0  # latest instant that was announced
        self._broken_off_ns = 0  # until when a simulated robot may have lived on
        self._fast = False  # the simulation was seen to run much faster than real time
        self._alarm = node.create_timer(TIMEOUT, self._ring, clock=self._steady)
        self._alarm.cancel()
        if node.get_parameter('use_sim_time').value:
            self._simulated_ns = 0
            node.create_subscription(ClockMessage, '/clock', self._hear, qos.CLOCK)

    def _hear(self, message: ClockMessage) -> None:
        time_ns, now = from_time(message.clock), self._steady.now()
        before_ns, lapsed = (
            self._simulated_ns or time_ns,
            to_seconds((now - self._heard).nanoseconds),
        )
        if time_ns < before_ns:
            self._planned_ns = self._broken_off_ns = 0  # a time that runs back is to be seen
        self._fast = self._fast or to_seconds(time_ns - before_ns) > LEAP + 3.0 * lapsed
        self._simulated_ns, self._heard = time_ns, now
        self._on_tick(self.now_ns())

    def now_ns(self) -> int:
        """Return the time in ns; 0 while a simulated clock has not been heard."""
        if self._simulated_ns is not None:
            return max(self._simulated_ns, self._broken_off_ns)
        return int(self._node.get_clock().now().nanoseconds)

    def wake_at(self, at_ns: int | None) -> None:
        """Call `on_tick` at an instant as well; a simulated clock ticks there by itself.

        :param at_ns: None: what was planned does not come. A robot that is simulated fast has
            perhaps lived on to the end of its phase before it hears so, and what comes next must
            not begin in its past
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

    @property
    def fault(self) -> str:
        """What is wrong with it; '' where nothing is."""
        silent = to_seconds((self._steady.now() - self._heard).nanoseconds)
        if self._simulated_ns is None or silent <= TIMEOUT:
            return ''
        return f'lost clock: nothing on /clock for {TIMEOUT:g} s'
