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

"""How every node starts, spins and ends, with an orderly end in all cases."""

from __future__ import annotations

import gc
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from types import FrameType
from typing import Any

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from repsq_ros.errors import ParameterError, RepsqError
from repsq_ros.nodes.process_end import exits_within
from repsq_ros.nodes.rclpy_versions import PublisherEventCallbacks, SubscriptionEventCallbacks
from repsq_ros.nodes.transport import use_udp

LEAVING = 2.0  # [s] longest time from the request to end until the end
SPIN = 0.1  # [s] longest time between two checks for signals
DESTROYING = 3.0  # [s] longest time for the middleware to end


class CampaignNode(Node):
    """A node with an end: `finished` ends it from inside; `shut_down` is called at the end.

    Its publishers and subscriptions have no event callbacks (such as for an incompatible QoS)
    by default: the executor checks each event before each callback, which took a fifth of the
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
        """Do the next part of the work; by default, wait for a callback and run it."""
        executor.spin_once(timeout_sec=SPIN)

    def leave(self, reason: str) -> None:
        """Receive the request to end; the node continues until `may_leave`, but not for long."""

    @property
    def may_leave(self) -> bool:
        """Tell whether no other node needs it any more."""
        return True

    def shut_down(self, reason: str) -> None:
        """Leave the robot at rest and log why; called at every kind of end."""


class _Signals:
    """Catches Ctrl-C, a closed terminal, and all other signals that ask a process to end.

    rclpy's own handlers would end the context at once, so that no publisher could send a
    zero command any more.
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
) -> int:
    """Run a node until it finishes or is told to stop; the process ends with it.

    :param name: prefix of error messages
    :param conclude: called after the node's end with the exit code so far; returns the exit code
        of the process
    :returns: the exit code: 0, or that of the error that ended the node
    """
    signals = _Signals()
    node: CampaignNode | None = None
    reason, code = 'an error in the node', 0
    try:
        try:
            use_udp()
            rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
        except Exception as error:
            raise ParameterError(
                '--ros-args', ' '.join(str(error).split()), 'ROS arguments'
            ) from None
        node = make()
        # Exclude permanent objects from each garbage collection.
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
            code = code or node.exit_code  # `shut_down` may have changed the exit code
        try:
            code = conclude(code)
        finally:
            sys.stdout.flush()
            with exits_within(DESTROYING, code):
                if node is not None:
                    node.destroy_node()
                rclpy.try_shutdown()
    return code


@contextmanager
def own_node(name: str, then_ends: bool = False) -> Iterator[tuple[Node, SingleThreadedExecutor]]:
    """Yield a node with a context of its own, and its executor; destroy all of them at the end.

    :param then_ends: the process has nothing left to do: it ends even if the middleware hangs
    """
    use_udp()
    context = rclpy.Context()
    rclpy.init(context=context)
    node = rclpy.create_node(name, context=context)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    code = 1
    try:
        yield node, executor
        code = 0
    finally:
        sys.stdout.flush()
        with exits_within(DESTROYING, code) if then_ends else nullcontext():
            executor.shutdown()
            node.destroy_node()
            rclpy.shutdown(context=context)
