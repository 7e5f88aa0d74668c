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

"""The time during which this process was actually running."""

from __future__ import annotations


class RunningTime:
    """A clock that stops while its process is stalled.

    After a stall, a process must not take other nodes for dead: their heartbeats are still
    waiting to be read. So each look adds the time since the last one, limited to `step`.

    :param step: [s] between two looks, at most, while the process runs
    """

    def __init__(self, step: float) -> None:
        self._step = step
        self._looked: float | None = None
        self.now = 0.0  # [s] during which the process ran

    def look(self, steady: float) -> float:
        """Update with the steady time.

        :param steady: [s], never going back
        :returns: [s] since the last look
        """
        passed = self.since_look(steady)
        self._looked = steady
        self.now += min(passed, self._step)
        return passed

    def since_look(self, steady: float) -> float:
        """Return the time since the last look [s]; long if the process was stalled."""
        return 0.0 if self._looked is None else steady - self._looked
