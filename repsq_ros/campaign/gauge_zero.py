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

"""Whether a gauge was zeroed, or moved, between tests: its reading before the command jumps."""

from __future__ import annotations

from collections import deque

import numpy as np

from repsq_ros.campaign.command_response import FEWEST

KEPT = 50  # changes that tell what is usual
NINE_OF_TEN = 0.9
JUMP = 8.0  # times what nine of ten changes stay within


class GaugeZero:
    """Jumps of the reading before the command, from test to test.

    With a tare of each test, only the psi in which the jump happened is wrong; with a tare that is
    a number, all later ones are.

    :param least: a smaller change is no jump [mm]
    """

    def __init__(self, least: float) -> None:
        self._least, self._last = least, (-1, 0.0)
        self._changes: deque[tuple[int, int, float]] = deque(maxlen=KEPT)
        self._first, self._jumps, self._looked_at = '', 0, -1

    def take(self, index: int, before: float) -> str:
        """Add a test; return a question for a person, once, or ''.

        :param before: reading before the command [mm]
        """
        (last, value), self._last = self._last, (index, before)
        if last < 0:
            return ''
        self._changes.append((last, index, before - value))
        if len(self._changes) < FEWEST:
            return ''
        sizes = [abs(change) for *_, change in self._changes]
        usual = float(np.quantile(sizes, NINE_OF_TEN, method='lower'))
        known = self._jumps
        for start, end, change in self._changes:
            if end > self._looked_at and abs(change) > max(self._least, JUMP * usual):
                self._jumps += 1
                self._first = self._first or (
                    f'the reading before the command jumps by {change:+.4g} mm from test {start} '
                    f'to {end}: zeroed, or moved? psi of test {start} may be wrong by that'
                )
        self._looked_at = index
        return '' if known or not self._jumps else f'readings of the gauge: {self._first}'

    @property
    def findings(self) -> tuple[str, ...]:
        """Return what is wrong with the readings, one sentence or none."""
        if self._jumps > 1:
            return (f'{self._first}; {self._jumps} jumps in all',)
        return (self._first,) if self._first else ()
