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


"""Whether a gauge is stuck, or too coarse: no single test shows it, many do."""

from __future__ import annotations

import math

from repsq_ros.campaign.command_response import FEWEST

GRID = 1e-5  # [mm] differences below this are rounding of the numbers themselves


class GaugeSteps:
    """The largest step of which all psi are multiples.

    A gauge that moves in steps moves psi by up to half a step, and noise below a step does not
    show. Of the mean, tests do not average that out: tare and reading may lie on the same step.
    A gauge with steps of r gives n multiples of 2 r by chance with probability 2^-n at most.

    :param largest: half a step that may remain [mm]
    """

    def __init__(self, largest: float) -> None:
        self._largest, self._first = largest, math.nan
        self._n = self._common = 0
        self._same, self._told = True, False

    def take(self, psi: float) -> str:
        """Add a test; return a question for a person, once, or ''."""
        self.add(psi)
        found = self.findings
        if self._told or not found:
            return ''
        self._told = True
        return f'readings of the gauge: {found[0]}'

    def add(self, psi: float) -> None:
        """Add a displacement [mm]."""
        self._first = psi if not self._n else self._first
        self._n += 1
        self._same = self._same and abs(psi - self._first) < GRID
        self._common = math.gcd(self._common, round(psi / GRID))

    @property
    def findings(self) -> tuple[str, ...]:
        """Return what is wrong with the readings, one sentence or none."""
        if self._n < FEWEST:
            return ()
        if self._same:
            return (f'{self._first:g} mm in each of {self._n} tests: stuck, or with large steps?',)
        step = self._common * GRID
        if step / 2.0 <= self._largest:
            return ()
        return (
            f'all displacements are multiples of {step:g} mm: half a step is more than the '
            f'{self._largest:g} mm of largest_error; a finer gauge?',
        )
