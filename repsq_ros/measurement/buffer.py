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

"""The newest samples of an input, as they come and at once as columns."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from repsq_ros.measurement.column_blocks import ColumnBlocks
from repsq_ros.measurement.columns import (
    BODY,
    NOTHING,
    READING,
    Gives,
    SampleColumns,
    gives_of,
    parts_of,
    row_of,
    same_rows,
    width_of,
)
from repsq_ros.measurement.reasons import Code, Doubt
from repsq_ros.measurement.samples import BodySample, Sample
from repsq_ros.measurement.track import Series, Track
from repsq_ros.timebase import NANOSECONDS, to_seconds

KEEP_NS = 120 * NANOSECONDS  # of history
TRIM = 4096  # samples too old that are given up at once: memory moves seldom
UNEQUAL = (Code.CONFLICT, 'equal stamps with unequal content: two bodies, or two publishers')
SET_BACK_NS = NANOSECONDS  # further back than any sample can be late
IN_A_ROW = 5  # samples so far back that are a clock that was set back, not some stray frames


class SampleBuffer:
    """The newest samples, in the order of their stamps.

    Keeps `keep_ns` of history. Single stamps from long ago (a frame without a stamp, or sent
    again) are put in their place and change nothing else. Several in a row, each later than the
    one before, are a clock that was set back, or a bag played again: what was there of the time
    that now comes again is given up. The numbers of bodies are laid into columns when they come,
    so that a window is there at once when its last sample has come.

    :param frame: frame_id that is expected; empty: any
    :param stamped: the stamps are the sensor's: two samples of one stamp must be equal
    """

    def __init__(self, keep_ns: int = KEEP_NS, frame: str = '', stamped: bool = True) -> None:
        self._keep_ns, self._frame, self._stamped = keep_ns, frame, stamped
        self._samples: list[Sample | None] = []  # None: it came in columns, and is in a row only
        self._gives: Gives | None = None  # those that came in columns
        self._stamps = array('q')
        self._rows = array('d')  # so many numbers for each sample:
        self._width = BODY
        # Those that came in columns, later than all above, which were not touched since.
        self._blocks = ColumnBlocks()
        self._trim_at = TRIM
        self._doubts: list[Doubt] = []
        self._back: list[Sample] = []  # from long ago, in a row
        self.from_long_ago = 0  # how many samples were, so far
        self._set_back: list[Doubt] = []  # times that came twice

    @property
    def newest_ns(self) -> int | None:
        """Stamp of the newest sample; None while there is none."""
        if self._blocks:
            return self._blocks.newest_ns
        return self._stamps[-1] if self._stamps else None

    def __len__(self) -> int:
        return len(self._stamps) + len(self._blocks)

    @property
    def times_set_back(self) -> int:
        """How often the clock of the stamps was set back."""
        return len(self._set_back)

    def add(self, sample: Sample) -> None:
        """Take in one sample; one that comes a little late is put in its place."""
        if self._blocks:
            self._lay_blocks()
        stamps, stamp_ns = self._stamps, sample.stamp_ns
        if sample.doubt or (self._frame and sample.frame != self._frame):
            self._note(sample)
        if stamps and stamp_ns <= stamps[-1]:
            self._insert(sample)
            if stamps[-1] - stamp_ns > SET_BACK_NS:
                self._look_back(sample)
            return
        if self._back:
            self._back.clear()
        if not stamps:
            self._width = BODY if isinstance(sample, BodySample) else READING
        self._samples.append(sample)
        stamps.append(stamp_ns)
        self._rows.extend(row_of(sample))
        if len(stamps) > self._trim_at:
            self._trim()

    def _note(self, sample: Sample) -> None:
        stamp_ns = sample.stamp_ns
        doubt = Doubt(stamp_ns, stamp_ns, *sample.doubt) if sample.doubt else None
        if doubt is None:
            text = f'wrong frame: frame_id {sample.frame!r}, expected {self._frame!r}'
            doubt = Doubt(stamp_ns, stamp_ns, Code.FRAME, text)
        self._doubts.append(doubt)

    def _insert(self, sample: Sample) -> None:
        place = bisect_right(self._stamps, sample.stamp_ns)
        row = array('d', row_of(sample))
        if self._stamped and place and self._stamps[place - 1] == sample.stamp_ns:
            at = (place - 1) * self._width
            if not same_rows(self._rows[at : at + self._width], row):
                self._doubts.append(Doubt(sample.stamp_ns, sample.stamp_ns, *UNEQUAL))
        self._samples.insert(place, sample)
        self._stamps.insert(place, sample.stamp_ns)
        at = place * self._width
        self._rows[at:at] = row

    def _look_back(self, sample: Sample) -> None:
        """Take notice of a stamp from long ago, and of several for a clock that was set back."""
        back = self._back
        self.from_long_ago += 1
        if back and sample.stamp_ns <= back[-1].stamp_ns:
            back.clear()
        back.append(sample)
        if len(back) < IN_A_ROW:
            return
        start_ns, end_ns = back[0].stamp_ns, self._stamps[-1]
        first = bisect_left(self._stamps, start_ns)
        again = len(self._stamps) - first - len(back)
        self._drop(first, len(self._stamps))
        for each in back:
            self._samples.append(each)
            self._stamps.append(each.stamp_ns)
            self._rows.extend(row_of(each))
        self._doubts = [each for each in self._doubts if each.start_ns < start_ns]
        # A few frames from the future were strays themselves.
        if again >= IN_A_ROW:
            seconds = to_seconds(end_ns - start_ns)
            text = (
                f'clock set back: stamps ran back by {seconds:.3f} s, and what came before is gone'
            )
            self._set_back.append(Doubt(start_ns, end_ns, Code.CLOCK, text))
        back.clear()

    def doubts(self, start_ns: int, end_ns: int, set_back_since: int = 0) -> list[Doubt]:
        """Return what is wrong with samples of [start, end).

        :param set_back_since: how often the clock had been set back when somebody began to look
        """
        return [
            each
            for each in (*self._doubts, *self._set_back[set_back_since:])
            if each.start_ns < end_ns and each.end_ns >= start_ns
        ]

    def _drop(self, first: int, after: int) -> None:
        del self._samples[first:after]
        del self._stamps[first:after]
        del self._rows[first * self._width : after * self._width]

    def _give_up(self, count: int) -> None:
        """Give up the oldest samples, and with them what was wrong with them."""
        singly = len(self._stamps)
        self._drop(0, min(count, singly))
        if count > singly:
            self._blocks.drop(count - singly)
        if count and self._doubts:
            oldest_ns = self._stamps[0] if self._stamps else self._blocks.oldest_ns
            self._doubts = [each for each in self._doubts if each.end_ns >= oldest_ns]

    def forget(self, before_ns: int) -> None:
        """Give up all samples before an instant but the last one, which holds until the next."""
        self._give_up(max(self._before(before_ns) - 1, 0))

    def extend(self, samples: Iterable[Sample]) -> None:
        """Take in several samples."""
        for sample in samples:
            self.add(sample)

    def add_columns(self, columns: SampleColumns) -> None:
        """Take in samples one after the other; those that come in order at once."""
        row = 0
        while row < len(columns):
            row = self._add_some(columns, row)

    def _add_some(self, columns: SampleColumns, row: int) -> int:
        """Take in samples from a row on; return from which on to look again."""
        stamps = columns.stamps[row:]
        newest = self.newest_ns if len(self) else int(stamps[0]) - 1
        if stamps[0] > newest and columns.in_order and self._frame in ('', columns.frames):
            self._append(columns, row, len(columns))
            return len(columns)
        highest = np.maximum.accumulate(np.concatenate([[newest], stamps]))
        plain = stamps > highest[:-1]
        for k in columns.sent_again(row, self._stamped):
            plain[k + 1] = plain[k]  # nothing is strange in samples that were sent twice in a row
        plain[[k - row for k in columns.doubts if k >= row]] = False
        if self._frame:
            plain &= columns.of_frame(self._frame)[row:]
        edges = [0, *(np.flatnonzero(plain[1:] != plain[:-1]) + 1).tolist(), len(plain)]
        for begin, end in pairwise(edges):
            if plain[begin]:
                self._append(columns, row + begin, row + end)
                continue
            for k in range(begin, end):
                self.add(columns.sample(row + k))
                if self.newest_ns != highest[k + 1]:  # the clock was set back
                    return row + k + 1
        return len(columns)

    def _append(self, columns: SampleColumns, begin: int, end: int) -> None:
        self._back.clear()
        if not len(self):
            self._width = columns.rows.shape[1]
        self._gives = columns.gives
        self._blocks.append(columns.stamps[begin:end], columns.rows[begin:end])
        self._trim()

    def _lay_blocks(self) -> None:
        """Lay what came in columns among the others, to be changed with them."""
        for stamps, rows in self._blocks:
            self._samples.extend([None] * len(stamps))
            for kept, came in ((self._stamps, stamps), (self._rows, rows)):
                kept.frombytes(np.ascontiguousarray(came).data.cast('B'))
        self._blocks.clear()

    def _trim(self) -> None:
        newest = self.newest_ns
        if newest is not None and len(self) > self._trim_at:
            self._give_up(self._before(newest - self._keep_ns))
            self._trim_at = len(self) + TRIM

    def _before(self, stamp_ns: int) -> int:
        """Return how many samples are before an instant."""
        found = bisect_left(self._stamps, stamp_ns)
        return found + self._blocks.before(stamp_ns) if found == len(self._stamps) else found

    def series(self, start_ns: int, end_ns: int) -> Series:
        """Return the readings of [start, end), the first one of each stamp, and the last before.

        A reading holds until the next one. Values are in the input's unit.
        """
        first, after = (self._before(each) for each in (start_ns, end_ns))
        stamps, rows = self._columns(max(first - 1, 0), after, READING)
        return Series(stamps, rows[:, 0])

    def track(self, start_ns: int, end_ns: int) -> Track:
        """Return the track of [start, end), the first sample of each stamp."""
        first, after = (self._before(each) for each in (start_ns, end_ns))
        # Which quantities an input has is the same for all its samples.
        one: Sample | None = NOTHING
        if first < after:
            one = self._samples[first] if first < len(self._samples) else None
        gives = self._gives if one is None else gives_of(one)
        if gives is None:
            raise ValueError('the input is a number, not a body')
        stamps, rows = self._columns(first, after, width_of(gives))
        return Track(stamps, *parts_of(rows, gives))

    def _columns(
        self, first: int, after: int, width: int = BODY
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return stamps (n,) and rows (n, width) of some samples, the first one of each stamp."""
        own, singly = self._width, len(self._stamps)
        if singly <= first < after:
            stamps, rows = self._blocks.part(first - singly, after - singly, width)
        else:
            stamps = np.array(self._stamps[first:after], dtype=np.int64)
            rows = np.array(self._rows[first * own : after * own]).reshape(-1, own)[:, :width]
            if first < after and singly < after:
                later, came = self._blocks.part(0, after - singly, width)
                stamps, rows = np.concatenate([stamps, later]), np.concatenate([rows, came])
        fresh = stamps[1:] > stamps[:-1]
        if fresh.all():
            return stamps, rows
        fresh = np.append(True, fresh)
        return stamps[fresh], rows[fresh]

    def newest(self, span_ns: int) -> Sequence[Sample]:
        """Return the samples of the last `span_ns`."""
        self._lay_blocks()
        if not self._stamps:
            return ()
        first = bisect_left(self._stamps, self._stamps[-1] - span_ns)
        found = self._samples[first:]
        return [
            self._laid(first + k) if sample is None else sample for k, sample in enumerate(found)
        ]

    def _laid(self, row: int) -> Sample:
        """Return a sample that came in columns; its frame was the one that is expected."""
        stamps, rows = self._columns(row, row + 1)
        return SampleColumns(stamps, rows, self._gives, self._frame).sample(0)
