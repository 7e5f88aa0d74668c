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

"""The newest samples of an input, sorted by their stamps."""

from __future__ import annotations

from itertools import pairwise
from typing import Literal

import numpy as np

from repsq_ros.measurement.reasons import Code, Doubt
from repsq_ros.measurement.samples import Array, Flags, Samples, Stamps, equal_numbers
from repsq_ros.timebase import NANOSECONDS, to_seconds

KEEP_NS = 120 * NANOSECONDS  # length of the history
TRIM = 4096  # number of old samples dropped at once, to move memory rarely
UNEQUAL = (Code.CONFLICT, 'equal stamps with unequal content: two bodies, or two publishers')
SET_BACK_NS = NANOSECONDS  # no sample is later than this
IN_A_ROW = 5  # number of such samples that prove a clock set back; fewer are stray frames


class Tail:
    """Keeps the newest samples of an input, `keep_ns` of history.

    Single old stamps (a frame without a stamp, or a repeated one) are sorted in without further
    effect. Several in a row with increasing stamps mean that the clock was set back, or that a bag
    is played again: then earlier samples of the repeated time are dropped.

    :param frame: expected frame_id; empty: any
    :param stamped: the stamps are the sensor's: two samples with one stamp must be equal
    """

    def __init__(self, keep_ns: int = KEEP_NS, frame: str = '', stamped: bool = True) -> None:
        self._keep_ns, self._frame, self._stamped = keep_ns, frame, stamped
        # Rows [begin, end) of larger arrays.
        self._stamps: Stamps = np.empty(0, dtype=np.int64)
        self._columns: dict[str, Array] = {}
        self._begin, self._end = 0, 0
        self._trim_at = TRIM
        self._doubts: list[Doubt] = []
        self._back: list[Samples] = []  # successive rows with old stamps
        self.from_long_ago = 0  # number of samples with old stamps so far
        self._set_back: list[Doubt] = []  # time intervals that occurred twice

    def __len__(self) -> int:
        return self._end - self._begin

    @property
    def newest_ns(self) -> int | None:
        """Stamp of the newest sample; None: no sample."""
        return int(self._stamps[self._end - 1]) if self._end > self._begin else None

    @property
    def times_set_back(self) -> int:
        """How often the clock of the stamps was set back."""
        return len(self._set_back)

    # Adding --------------------------------------------------------------------------------------

    def add(self, samples: Samples) -> None:
        """Add samples in the order of their arrival; late ones are sorted in."""
        if len(samples) == 1:
            self._add_one(samples)
            return
        row = 0
        while row < len(samples):
            row = self._add_some(samples.since(row) if row else samples) + row

    def _add_one(self, sample: Samples) -> None:
        stamp_ns, newest_ns = sample.stamp_ns, self.newest_ns
        if sample.doubts or (self._frame and sample.frame() != self._frame):
            self._note(sample)
        if newest_ns is None or stamp_ns > newest_ns:
            self._back.clear()
            self._append(sample)
            return
        self._insert(sample)
        if newest_ns - stamp_ns > SET_BACK_NS:
            self._look_back(sample)

    def _add_some(self, samples: Samples) -> int:
        """Add rows from the first one on; return how many, fewer if the clock was set back."""
        stamps, newest_ns = samples.stamps, self.newest_ns
        before_ns = int(stamps[0]) - 1 if newest_ns is None else newest_ns
        plain: Flags = stamps > np.maximum.accumulate(np.append(before_ns, stamps[:-1]))
        if not plain.all():
            # Repeated samples are treated like the first of them.
            for row in samples.sent_again(equal=self._stamped).tolist():
                plain[row + 1] = plain[row]
        plain[list(samples.doubts)] = False
        if self._frame and not isinstance(samples.frames, str):
            plain &= np.array([frame == self._frame for frame in samples.frames])
        elif self._frame and samples.frames != self._frame:
            plain[:] = False
        edges = [0, *(np.flatnonzero(plain[1:] != plain[:-1]) + 1).tolist(), len(plain)]
        for begin, end in pairwise(edges):
            if plain[begin]:
                self._back.clear()
                self._append(samples.take(slice(begin, end)))
                continue
            for row in range(begin, end):
                count = len(self)
                self._add_one(samples.take(slice(row, row + 1)))
                if len(self) <= count:  # the clock was set back: check the remaining rows again
                    return row + 1
        return len(samples)

    def _append(self, samples: Samples) -> None:
        """Append samples that are later than all others."""
        self._make_room(samples)
        rows = slice(self._end, self._end + len(samples))
        self._stamps[rows] = samples.stamps
        for name, column in self._columns.items():
            came = getattr(samples, name)
            column[rows] = np.nan if came is None else came
        self._end = rows.stop
        if len(self) > self._trim_at:
            self._trim()

    def _make_room(self, samples: Samples) -> None:
        count = len(samples)
        if not len(self):
            self._begin = self._end = 0
            if set(self._columns) != set(samples.columns):
                shapes = {name: each.shape[1:] for name, each in samples.columns.items()}
                capacity = len(self._stamps)
                self._columns = {n: np.empty((capacity, *shape)) for n, shape in shapes.items()}
        if self._end + count <= len(self._stamps):
            return
        kept, there = slice(self._begin, self._end), len(self)
        room = 2 * (there + count)
        self._stamps = _moved(self._stamps[kept], room)
        self._columns = {name: _moved(each[kept], room) for name, each in self._columns.items()}
        self._begin, self._end = 0, there

    def _insert(self, sample: Samples) -> None:
        """Insert a late sample at its place."""
        self._make_room(sample)
        stamp_ns, end = sample.stamp_ns, self._end
        place = self._place(stamp_ns, 'right')
        if self._stamped and place > self._begin and self._stamps[place - 1] == stamp_ns:
            for name, column in self._columns.items():
                came = getattr(sample, name)
                if came is None or not equal_numbers(column[place - 1], came[0]).all():
                    self._doubts.append(Doubt(stamp_ns, stamp_ns, *UNEQUAL))
                    break
        self._stamps[place + 1 : end + 1] = self._stamps[place:end].copy()
        self._stamps[place] = stamp_ns
        for name, column in self._columns.items():
            came = getattr(sample, name)
            column[place + 1 : end + 1] = column[place:end].copy()
            column[place] = np.nan if came is None else came[0]
        self._end = end + 1

    def _note(self, sample: Samples) -> None:
        """Note the fault of a sample."""
        stamp_ns, doubted = sample.stamp_ns, sample.doubts.get(0)
        if doubted is None:
            text = f'wrong frame: frame_id {sample.frame()!r}, expected {self._frame!r}'
            doubted = (Code.FRAME, text)
        self._doubts.append(Doubt(stamp_ns, stamp_ns, *doubted))

    def _look_back(self, sample: Samples) -> None:
        """Handle an old stamp: several in a row mean that the clock was set back."""
        back = self._back
        self.from_long_ago += 1
        if back and sample.stamp_ns <= back[-1].stamp_ns:
            back.clear()
        back.append(sample)
        if len(back) < IN_A_ROW:
            return
        start_ns, end_ns = back[0].stamp_ns, int(self._stamps[self._end - 1])
        first = self._place(start_ns)
        again = self._end - first - len(back)
        self._end = first
        for each in back:
            self._append(each)
        self._doubts = [each for each in self._doubts if each.start_ns < start_ns]
        # A few frames from the future were strays themselves.
        if again >= IN_A_ROW:
            seconds = to_seconds(end_ns - start_ns)
            text = (
                f'clock set back: stamps ran back by {seconds:.3f} s, and what came before is gone'
            )
            self._set_back.append(Doubt(start_ns, end_ns, Code.CLOCK, text))
        back.clear()

    # Dropping ------------------------------------------------------------------------------------

    def forget(self, before_ns: int) -> None:
        """Drop all samples before an instant except the last one, which is still valid."""
        self._drop(max(self._place(before_ns) - 1 - self._begin, 0))

    def _trim(self) -> None:
        newest_ns = int(self._stamps[self._end - 1])
        self._drop(self._place(newest_ns - self._keep_ns) - self._begin)
        self._trim_at = len(self) + TRIM

    def _drop(self, count: int) -> None:
        """Drop the oldest samples with their faults."""
        self._begin += count
        if count and self._doubts and len(self):
            oldest_ns = int(self._stamps[self._begin])
            self._doubts = [each for each in self._doubts if each.end_ns >= oldest_ns]

    # Reading -------------------------------------------------------------------------------------

    def _place(self, stamp_ns: int, side: Literal['left', 'right'] = 'left') -> int:
        """Return the row of the first sample at (left) or after (right) an instant."""
        stamps = self._stamps[self._begin : self._end]
        return self._begin + int(stamps.searchsorted(stamp_ns, side))

    def doubts(self, start_ns: int, end_ns: int, set_back_since: int = 0) -> list[Doubt]:
        """Return the faults of samples in [start, end).

        :param set_back_since: earlier count of the clock's set-backs, which are then ignored
        """
        return [
            each
            for each in (*self._doubts, *self._set_back[set_back_since:])
            if each.start_ns < end_ns and each.end_ns >= start_ns
        ]

    def between(self, start_ns: int, end_ns: int, last_before: bool = False) -> Samples:
        """Return the samples of [start, end); of equal stamps, the first one.

        :param last_before: include the last one before: a number is valid until the next one
        """
        first, after = self._place(start_ns), self._place(end_ns)
        found = self._rows(max(first - last_before, self._begin), after)
        fresh = np.append(True, found.stamps[1:] > found.stamps[:-1])
        return found if fresh.all() else found.take(fresh)

    def repeats(self, start_ns: int, end_ns: int) -> bool:
        """Tell whether a sample of [start, end), or the last one before, repeats a stamp."""
        first = max(self._place(start_ns) - 2, self._begin)
        stamps = self._stamps[first : self._place(end_ns)]
        return bool((stamps[1:] == stamps[:-1]).any())

    def newest(self, span_ns: int) -> Samples:
        """Return the samples of the last `span_ns`."""
        newest_ns = self.newest_ns
        first = self._end if newest_ns is None else self._place(newest_ns - span_ns)
        return self._rows(first, self._end)

    def _rows(self, first: int, after: int) -> Samples:
        rows = slice(first, max(first, after))
        columns = {name: column[rows].copy() for name, column in self._columns.items()}
        return Samples(
            self._stamps[rows].copy(), **columns, frames=self._frame, doubts={}, logs=None
        )


def _moved(kept: np.ndarray, room: int) -> np.ndarray:  # type: ignore[type-arg]
    """Return an array with more room that begins with the kept rows."""
    found = np.empty((room, *kept.shape[1:]), dtype=kept.dtype)
    found[: len(kept)] = kept
    return found
