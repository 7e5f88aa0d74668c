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

"""The conditions of the measure (mode, scaling, battery), watched while the campaign runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np
from rclpy.node import Node

from repsq_ros.measurement.inputs import Input
from repsq_ros.measurement.limits import Condition
from repsq_ros.measurement.samples import Samples
from repsq_ros.nodes.input_subscription import InputSubscription
from repsq_ros.timebase import to_seconds

PERIOD = 1.0  # [s] between two checks of the publishers


class _WatchedCondition:
    """One condition, with its newest value and its faults."""

    def __init__(
        self,
        node: Node,
        condition: Condition,
        source: Input,
        clocks: Callable[[], tuple[float, float]],
    ) -> None:
        self._condition, self._source, self._clocks = condition, source, clocks
        self._value: float | None = None  # in SI units
        self._heard = (0.0, 0.0)  # time of the newest value on both clocks [s]
        self._glimpsed = self.recent = ''  # faults since the last look, and before it
        self.mismatch = ''
        self.subscription = InputSubscription(node, source, self._take, condition=True)

    def _take(self, sample: Samples, arrival_ns: int) -> None:
        assert sample.value is not None
        self._value = float(self._source.to_si(sample.value)[-1])
        self._heard = self._clocks()
        # A protective stop may be over before the next look.
        self._glimpsed = self.fault() or self._glimpsed

    def look(self) -> None:
        """Update `recent` with the faults since the last look."""
        self.subscription.look()
        self.recent, self._glimpsed = self._glimpsed, ''

    def fault(self) -> str:
        """Return its present fault, or ''."""
        condition = self._condition
        if self._value is None:
            why = f' ({self.mismatch})' if self.mismatch else ''
            return f'condition {condition.name}: nothing heard on {self.subscription.topic}{why}'
        if not condition.accepts(np.array([self._value]))[0]:
            return f'condition {condition.name}: {self._value:g}, expected {condition.expected}'
        silent = min(now - heard for now, heard in zip(self._clocks(), self._heard, strict=True))
        if silent > condition.longest_silence:
            return (
                f'condition {condition.name}: last heard on {self.subscription.topic} '
                f'{silent:.1f} s ago, at most {condition.longest_silence:g} s allowed'
            )
        return ''


class ConditionWatch:
    """Judges each condition as the measurement node does, but during the test.

    Silence only counts while this node runs, and while the campaign's clock advances.

    :param now_ns: the campaign's time
    :param running: running time of this node [s]
    """

    def __init__(
        self,
        node: Node,
        conditions: Sequence[Condition],
        inputs: Sequence[Input],
        now_ns: Callable[[], int],
        running: Callable[[], float],
    ) -> None:
        self._node = node

        def clocks() -> tuple[float, float]:
            return running(), to_seconds(now_ns())

        self._watched = [
            _WatchedCondition(node, condition, source, clocks)
            for condition, source in zip(conditions, inputs, strict=True)
        ]
        self._looked = 0.0

    def look(self) -> None:
        """Check the values, and from time to time the publishers."""
        for each in self._watched:
            each.look()
        now = time.monotonic()
        if now - self._looked >= PERIOD:
            self._looked = now
            self._look_at_publishers()

    def blockers(self) -> list[str]:
        """Return why the robot must not move."""
        return [fault for each in self._watched if (fault := each.fault() or each.recent)]

    def _look_at_publishers(self) -> None:
        """Find incompatible publishers; for a mode that was published once, subscribe again."""
        for each in self._watched:
            mismatch = each.subscription.mismatch()
            if mismatch and mismatch != each.mismatch:
                self._node.get_logger().error(mismatch)
            each.mismatch = mismatch
