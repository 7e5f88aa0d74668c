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

"""Sorts samples by their stamps as they come, holding back only a few."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Stamps = NDArray[np.int64]

HELD = 1024  # number of newest samples held back, so that late ones can be sorted in


class StampOrder:
    """Sorts by stamps; of samples with one stamp, the first to arrive counts.

    The 1024 newest samples are held back. A sample that arrives later than that is left out and
    counted. Samples of one call are sorted together, however late they are.
    """

    def __init__(self) -> None:
        self.late = 0  # samples left out
        self._stamps: Stamps = np.empty(0, dtype=np.int64)
        self._rows: Array = np.empty((0, 0))
        self._given: int | None = None  # the last stamp that was returned

    def put(self, stamps: Stamps, rows: Array) -> tuple[Stamps, Array]:
        """Add samples, and return those whose order is final.

        :param stamps: (n,) [ns], n > 0
        :param rows: (k, n) their values
        """
        if self._given is not None and stamps.min() <= self._given:
            timely = stamps > self._given
            self.late += len(stamps) - int(timely.sum())
            stamps, rows = stamps[timely], rows[:, timely]
        if len(self._stamps):
            stamps = np.concatenate([self._stamps, stamps])
            rows = np.concatenate([self._rows, rows], axis=1)
        if not (stamps[1:] > stamps[:-1]).all():
            order = np.argsort(stamps, kind='stable')
            ordered = stamps[order]
            order = order[np.append(True, ordered[1:] > ordered[:-1])]
            stamps, rows = stamps[order], rows[:, order]
        ready = max(len(stamps) - HELD, 0)
        self._stamps, self._rows = stamps[ready:].copy(), rows[:, ready:].copy()
        if ready:
            self._given = int(stamps[ready - 1])
        return stamps[:ready], rows[:, :ready]

    def rest(self) -> tuple[Stamps, Array]:
        """Return the samples that were held back."""
        found = self._stamps, self._rows
        if len(self._stamps):
            self._given = int(self._stamps[-1])
        self._stamps, self._rows = self._stamps[:0], self._rows[:, :0]
        return found
