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

"""When a campaign paused by a fault resumes by itself: later after each fault."""

from __future__ import annotations

from collections import deque

STEP = 0.5  # [s] each fault adds to the waiting time
LONGEST = 30.0  # [s] longest waiting time
SPAN = 600.0  # [s] without a fault, after which the waiting time is reset
SAY = 30.0  # [s] between two reports of the waiting


class Recovery:
    """Decides when to resume after a fault. No fault ends a campaign. Times are steady [s]."""

    def __init__(self) -> None:
        self._at: deque[float] = deque(maxlen=round(LONGEST / STEP) + 1)
        self._told = 0.0
        self.under_way = False

    def begin(self, now: float) -> float:
        """Note a fault.

        :returns: minimum waiting time [s]
        """
        while self._at and now - self._at[0] >= SPAN:
            self._at.popleft()
        self._at.append(now)
        self._told = now
        self.under_way = True
        return self.wait

    @property
    def count(self) -> int:
        """Number of recent faults."""
        return len(self._at)

    @property
    def wait(self) -> float:
        """Minimum waiting time after the last fault [s]."""
        return min(STEP * max(self.count - 1, 0), LONGEST)

    def may_go_on(self, now: float) -> bool:
        """Tell whether it has waited long enough."""
        return self.under_way and now - self._at[-1] >= self.wait

    def lasts(self, now: float) -> float:
        """Return how long it has waited [s], if that should be reported again; else 0."""
        if not self.under_way or now - self._told < SAY:
            return 0.0
        self._told = now
        return now - self._at[-1]

    def end(self) -> None:
        """Note that the campaign continues, or that a person takes over."""
        self.under_way = False
