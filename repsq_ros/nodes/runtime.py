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

"""How every node starts, spins and ends: one way in, and one way out whatever happens."""

from __future__ import annotations

import gc
import signal
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from types import FrameType
from typing import Any

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from repsq_ros.errors import ParameterError, RepsqError
from repsq_ros.nodes.process_end import exits_within
from repsq_ros.nodes.rclpy_versions import PublisherEventCallbacks, SubscriptionEventCallbacks

LEAVING = 2.0  # [s] at most between being told to end and doing so
SPIN = 0.1  # [s] at most between two looks at the signals
DESTROYING = 3.0  # [s] at most for the middleware to end


class CampaignNode(Node):
    """A node with an end: `finished` ends it from inside, `shut_down` is its last word.

    Its publishers and subscriptions have no events (such as an incompatible QoS) unless they are
    given some: the executor checks each event before each callback, which took a fifth of the
    processor time of a simulated campaign.
    """

    finished = False
    exit_code = 0

    def create_publisher(self, *given: Any, **named: Any) -> Any:
        """Make a publisher without events."""
        events = PublisherEventCallbacks(use_default_callbacks=False)
        return super().create_publisher(*given, **{'event_callbacks': events, **named})

    def create_subscription(self, *given: Any, **named: Any) -> Any:
        """Make a subscription without events."""
        events = SubscriptionEventCallbacks(use_default_callbacks=False)
        return super().create_subscription(*given, **{'event_callbacks': events, **named})

    def work(self, executor: SingleThreadedExecutor) -> None:
        """Do the next piece of work; by default, wait for a callback and run it."""
        executor.spin_once(timeout_sec=SPIN)

    def leave(self, reason: str) -> None:
        """Hear that the process is told to end; it goes on until `may_leave`, for a moment."""

    @property
    def may_leave(self) -> bool:
        """Tell whether others can do without it."""
        return True

    def shut_down(self, reason: str) -> None:
        """Leave the robot at rest and say why; called on every way out."""


class _Signals:
    """Remembers Ctrl-C, a terminal that is closed, and whatever else asks a process to end.

    rclpy's own handlers would end the context at once, and with it every publisher that could
    still send a zero command.
    """

    def __init__(self) -> None:
        self.name = ''
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            signal.signal(number, self._remember)

    def _remember(self, number: int, frame: FrameType | None) -> None:
        self.name = signal.Signals(number).name


def run_node(
    name: str,
    make: Callable[[], CampaignNode],
    conclude: Callable[[int], int] = int,
    ends_process: bool = True,
) -> int:
    """Run a node until it finishes or is told to stop.

    :param name: said before what goes wrong
    :param conclude: what follows the node's last words: it gets the exit code so far and returns
        that of the process
    :param ends_process: whether the process has nothing else to do
    :returns: the exit code: 0, or that of the error that ended the node
    """
    signals = _Signals()
    node: CampaignNode | None = None
    reason, code = 'an error in the node', 0
    try:
        try:
            rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
        except Exception as error:
            raise ParameterError(
                '--ros-args', ' '.join(str(error).split()), 'ROS arguments'
            ) from None
        node = make()
        # What stays until the end need not be looked through in each collection of garbage.
        gc.collect()
        gc.freeze()
        executor = SingleThreadedExecutor()
        executor.add_node(node)
        while not (signals.name or node.finished):
            node.work(executor)
        reason = signals.name or 'finished'
        if signals.name:
            node.leave(reason)
            until = time.monotonic() + LEAVING
            while not node.may_leave and time.monotonic() < until:
                node.work(executor)
    except RepsqError as error:
        reason, code = str(error), error.exit_code
        print(f'{name}: {error}', file=sys.stderr, flush=True)
    finally:
        if node is not None:
            node.shut_down(reason)
            code = code or node.exit_code  # what its last words have changed counts, too
        try:
            code = conclude(code)
        finally:
            sys.stdout.flush()
            with exits_within(DESTROYING, code) if ends_process else nullcontext():
                if node is not None:
                    node.destroy_node()
                rclpy.try_shutdown()
    return code
