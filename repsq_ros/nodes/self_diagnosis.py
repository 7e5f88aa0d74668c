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

"""A node's own status on /diagnostics, once a second, and at once when it changes."""

from __future__ import annotations

from collections.abc import Callable

from rclpy.clock import Clock, ClockType
from rclpy.node import Node

from repsq_ros.nodes.diagnostics import PERIOD, Diagnostics, status
from repsq_ros.views.health import Level

LOOK = 0.2  # [s] between two checks for a change


class SelfDiagnosis:
    """Publishes the status that the node describes.

    :param describe: returns level and text
    """

    def __init__(self, node: Node, describe: Callable[[], tuple[Level, str]]) -> None:
        self._name, self._describe = f'{node.get_name()}: node', describe
        self._diagnostics = Diagnostics(node)
        self._told: tuple[Level, str] | None = None
        self._looks = 0  # since it was last published
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = node.create_timer(LOOK, self._look, clock=steady)

    def _look(self) -> None:
        said = self._describe()
        self._looks += 1
        level_is_new = self._told is None or self._told[0] is not said[0]
        if level_is_new or self._looks * LOOK >= PERIOD:
            self._told, self._looks = said, 0
            level, text = said
            self._diagnostics.publish([status(self._name, bytes([level]), text, [])])
