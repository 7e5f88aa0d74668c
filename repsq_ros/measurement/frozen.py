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

"""Spans over which a sensor says the very same, while its stamps go on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from repsq_ros.measurement.rowwise import any_set
from repsq_ros.measurement.track import Track

Array = NDArray[np.float64]
Stamps = NDArray[np.int64]


def longest_frozen(track: Track) -> tuple[float, int]:
    """Return the longest span of bit-identical poses [s] and the index at which it begins."""
    columns = [c for c in (track.position, track.orientation) if c is not None]
    if len(track) < 2 or not columns:
        return 0.0, 0
    # A flip of the quaternion's sign is no change, but NaN is one: it is another fault.
    changed = any_set(columns[0][1:] != columns[0][:-1])
    for column in columns[1:]:
        changed |= any_set(column[1:] != column[:-1])
    moved = np.flatnonzero(changed) + 1
    starts = np.concatenate([[0], moved])
    ends = np.concatenate([moved - 1, [len(track) - 1]])
    spans = (track.stamps[ends] - track.stamps[starts]).astype(np.float64) * 1e-9
    longest = int(np.argmax(spans))
    return float(spans[longest]), int(starts[longest])


class FrozenSpans:
    """Looks for the longest span, stretch by stretch."""

    def __init__(self) -> None:
        self._longest = 0  # [ns]
        self._since, self._until = 0, 0  # the span that is not at its end [ns]
        self._last: Array | None = None

    def add(self, stamps: Stamps, rows: Array) -> None:
        """Take in the next whole poses.

        :param stamps: (n,) [ns], increasing, n > 0
        :param rows: (k, n) their numbers
        """
        changed = np.empty(len(stamps), dtype=np.bool_)
        changed[0] = self._last is None or bool((rows[:, 0] != self._last).any())
        if self._last is None:
            self._since = self._until = int(stamps[0])
        inside = changed[1:]
        np.not_equal(rows[0, 1:], rows[0, :-1], out=inside)
        for row in rows[1:]:
            if inside.all():
                break
            inside |= row[1:] != row[:-1]
        moved = np.flatnonzero(changed)
        if len(moved):
            until = stamps[moved - 1]
            until[0] = stamps[moved[0] - 1] if moved[0] else self._until
            since = np.append(self._since, stamps[moved[:-1]])
            self._longest = max(self._longest, int((until - since).max()))
            self._since = int(stamps[moved[-1]])
        self._until = int(stamps[-1])
        self._last = rows[:, -1].copy()

    def longest(self) -> float:
        """Return the longest so far [s]."""
        return max(self._longest, self._until - self._since) * 1e-9
