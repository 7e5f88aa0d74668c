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

"""A commanded velocity that never changes faster than the robot's acceleration limits allow."""

from __future__ import annotations

from collections.abc import Sequence

Command = tuple[float, ...]


class SlewLimiter:
    """Moves from command to command in steps; each component has its own limit.

    :param limits: largest rate of change of each component [its unit per s]; 0: no limit
    """

    def __init__(self, limits: Sequence[float]) -> None:
        self._limits = tuple(limits)
        self._command: Command = (0.0,) * len(self._limits)

    def step(self, target: Sequence[float], seconds: float) -> Command:
        """Return the command after `seconds`, on the way to a target."""
        steps = []
        for now, wanted, limit in zip(self._command, target, self._limits, strict=True):
            reach = limit * max(seconds, 0.0)
            change = wanted - now
            free = limit == 0.0 or abs(change) <= reach
            steps.append(wanted if free else now + (reach if change > 0 else -reach))
        self._command = tuple(steps)
        return self._command

    def stop(self) -> Command:
        """Return zero at once: a stop is not ramped."""
        self._command = (0.0,) * len(self._limits)
        return self._command

    def seconds_to(self, target: Sequence[float]) -> float:
        """Return the time from rest to a target [s]."""
        return max(
            (
                abs(wanted) / limit
                for wanted, limit in zip(target, self._limits, strict=True)
                if limit > 0.0
            ),
            default=0.0,
        )
