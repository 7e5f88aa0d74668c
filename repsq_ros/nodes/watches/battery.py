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

"""The robot's battery: a campaign pauses before it is empty."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from rclpy.node import Node
from sensor_msgs.msg import BatteryState

from repsq_ros import topics
from repsq_ros.nodes import qos
from repsq_ros.nodes.parameters import Parameters

LONGEST_SILENCE = 60.0  # [s]


class BatteryWatch:
    """Compares the battery's charge with a limit, if one is set.

    :param pause: called with the reason when the charge falls below the limit
    :raises ParameterError: the limit is not between 0 and 1
    """

    def __init__(self, node: Node, parameters: Parameters, pause: Callable[[str], object]) -> None:
        self._pause = pause
        self._limit = parameters.number(
            'battery_limit',
            0.0,
            'share of the battery (0 to 1) below which it pauses; 0: never',
            at_least=0,
            at_most=1,
        )
        self._share: float | None = None  # the last received charge
        self._heard = math.inf  # steady [s] of the last message
        self._silent = False
        self._topic = node.resolve_topic_name(topics.BATTERY)
        if self._limit > 0:
            node.create_subscription(BatteryState, topics.BATTERY, self._on_message, qos.SENSOR)

    def _on_message(self, message: BatteryState) -> None:
        share = float(message.percentage)
        if math.isnan(share):
            return
        was_low, self._share, self._heard = self._low, share, time.monotonic()
        if self._low and not was_low:
            self._pause(f'battery at {share:.0%}, below the limit of {self._limit:.0%}')

    @property
    def _low(self) -> bool:
        return self._share is not None and self._share < self._limit

    def look(self) -> None:
        """Pause if no more message of the battery comes."""
        was_silent, self._silent = self._silent, time.monotonic() - self._heard > LONGEST_SILENCE
        if self._silent and not was_silent:
            self._pause(self.blockers()[0])

    def blockers(self) -> list[str]:
        """Return why the robot must not move."""
        if self._limit == 0.0:
            return []
        if self._share is None:
            return [f'battery_limit is set, and no percentage was heard on {self._topic}']
        if self._silent:
            return [f'nothing on {self._topic} for {LONGEST_SILENCE:g} s: is the battery low?']
        if not 0.0 <= self._share <= 1.0:
            return [
                f'{self._topic} says percentage {self._share:g}, expected a share from 0 to 1 '
                'as sensor_msgs/BatteryState has it: battery_limit cannot be watched'
            ]
        return ['the battery is below its limit'] if self._low else []
