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

import math
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from repsq_ros.measurement.samples import BodySample, Reading, Sample
from repsq_ros.measurement.track import Series, Track
from repsq_ros.timebase import NANOSECONDS

TRIM = 4096  # samples too old that are given up at once: memory moves seldom

# A row of a body: position, orientation, linear and angular velocity, NaN where there is none. Of
# a reading: its value.
BODY, READING = 13, 1
NO_VECTOR = (math.nan,) * 3
NO_TURN = (math.nan,) * 4
NOTHING = BodySample(0, NO_VECTOR, NO_TURN, NO_VECTOR, NO_VECTOR)


class SampleBuffer:
    """The newest samples, in the order of their stamps.

    Keeps `keep_ns` of history; a jump of the stamps backwards by more than a second (a bag played
    again, a clock set back) empties it. The numbers of bodies are laid into columns when they
    come, so that a window is there at once when its last sample has come.
    """

    def __init__(self, keep_ns: int = 120 * NANOSECONDS) -> None:
        self._keep_ns = keep_ns
        self._samples: list[Sample] = []
        self._stamps = array('q')
        self._rows = array('d')  # so many numbers for each sample:
        self._width = BODY
        self._trim_at = TRIM

    @property
    def newest_ns(self) -> int | None:
        """Stamp of the newest sample; None while there is none."""
        return self._stamps[-1] if self._stamps else None

    def add(self, sample: Sample) -> None:
        """Take in one sample; one that comes a little late is put in its place."""
        stamps, stamp_ns = self._stamps, sample.stamp_ns
        if stamps and stamp_ns < stamps[-1]:
            if stamps[-1] - stamp_ns > NANOSECONDS:
                self._drop(len(stamps))
            else:
                self._insert(sample)
                return
        if not stamps:
            self._width = BODY if isinstance(sample, BodySample) else READING
        self._samples.append(sample)
        stamps.append(stamp_ns)
        self._rows.extend(_row(sample))
        if len(stamps) > self._trim_at:
            self._drop(bisect_left(stamps, stamp_ns - self._keep_ns))
            self._trim_at = len(stamps) + TRIM

    def _insert(self, sample: Sample) -> None:
        place = len(self._stamps)
        while place and self._stamps[place - 1] > sample.stamp_ns:
            place -= 1
        self._samples.insert(place, sample)
        self._stamps.insert(place, sample.stamp_ns)
        at = place * self._width
        self._rows[at:at] = array('d', _row(sample))

    def _drop(self, count: int) -> None:
        del self._samples[:count]
        del self._stamps[:count]
        del self._rows[: count * self._width]

    def extend(self, samples: Iterable[Sample]) -> None:
        """Take in several samples."""
        for sample in samples:
            self.add(sample)

    def _between(self, start_ns: int, end_ns: int) -> tuple[int, int]:
        return bisect_left(self._stamps, start_ns), bisect_left(self._stamps, end_ns)

    def series(self, start_ns: int, end_ns: int) -> Series:
        """Return the readings of [start, end), the first one of each stamp, and the last before.

        A reading holds until the next one. Values are in the input's unit.
        """
        first, after = self._between(start_ns, end_ns)
        stamps, rows = self._columns(max(first - 1, 0), after)
        return Series(stamps, rows[:, 0])

    def track(self, start_ns: int, end_ns: int) -> Track:
        """Return the track of [start, end), the first sample of each stamp."""
        first, after = self._between(start_ns, end_ns)
        stamps, rows = self._columns(first, after)
        # Which quantities an input has is the same for all its samples.
        one = self._samples[first] if len(stamps) else NOTHING
        if not isinstance(one, BodySample):
            raise ValueError('the input is a number, not a body')
        return Track(
            stamps,
            None if one.position is None else rows[:, 0:3],
            None if one.orientation is None else rows[:, 3:7],
            None if one.linear_velocity is None else rows[:, 7:10],
            None if one.angular_velocity is None else rows[:, 10:13],
        )

    def _columns(self, first: int, after: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return stamps (n,) and rows (n, width) of some samples, the first one of each stamp."""
        width = self._width
        stamps = np.array(self._stamps[first:after], dtype=np.int64)
        rows = np.array(self._rows[first * width : after * width], dtype=np.float64)
        rows = rows.reshape(-1, width)
        fresh = np.ones(len(stamps), dtype=np.bool_)
        fresh[1:] = stamps[1:] > stamps[:-1]
        return (stamps, rows) if fresh.all() else (stamps[fresh], rows[fresh])

    def frames(self, start_ns: int, end_ns: int) -> list[str]:
        """Return the frame_id of each sample of [start, end)."""
        first, after = self._between(start_ns, end_ns)
        return [sample.frame for sample in self._samples[first:after]]

    def newest(self, span_ns: int) -> Sequence[Sample]:
        """Return the samples of the last `span_ns`."""
        if not self._stamps:
            return ()
        return self._samples[bisect_left(self._stamps, self._stamps[-1] - span_ns) :]


def _row(sample: Sample) -> tuple[float, ...]:
    if isinstance(sample, Reading):
        return (sample.value,)
    _, position, orientation, linear, angular, _ = sample
    return (
        (NO_VECTOR if position is None else position)
        + (NO_TURN if orientation is None else orientation)
        + (NO_VECTOR if linear is None else linear)
        + (NO_VECTOR if angular is None else angular)
    )
