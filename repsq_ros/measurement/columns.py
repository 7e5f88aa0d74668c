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

"""Many samples of an input at once, as columns."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from repsq_ros.measurement.reasons import Code
from repsq_ros.measurement.samples import BodySample, Quaternion, Reading, Sample, Vector

# A row of a body: position, orientation, linear and angular velocity, NaN where there is none. Of
# a reading: its value.
BODY, READING = 13, 1
NO_VECTOR = (math.nan,) * 3
NO_TURN = (math.nan,) * 4
NOTHING = BodySample(0, NO_VECTOR, NO_TURN, NO_VECTOR, NO_VECTOR)  # that gives everything
PLACES = (slice(0, 3), slice(3, 7), slice(7, 10), slice(10, 13))

Gives = tuple[bool, bool, bool, bool]  # position, orientation, linear, angular velocity


class NumberColumn(np.ndarray[Any, Any]):
    """One number of many messages, where a reader of one message expects one number."""


def real(value: Any) -> Any:
    """Return a number, or each of a column, as a float."""
    if isinstance(value, NumberColumn):
        return value.astype(np.float64)
    return float(value)


@dataclass(frozen=True)
class SampleColumns:
    """Samples of one input, in the order in which they came."""

    stamps: NDArray[np.int64]  # (n,) [ns]
    rows: NDArray[np.float64]  # (n, 13) or (n, 1)
    gives: Gives | None  # which quantities there are; None: readings
    frames: str | Sequence[str] = ''  # frame_id of all, or of each
    doubts: Mapping[int, tuple[Code, str]] = field(default_factory=dict)  # by row
    logs: NDArray[np.int64] | None = None  # (n,) [ns] when each was recorded; None: not known

    def __len__(self) -> int:
        return len(self.stamps)

    def moved(self, by_ns: int) -> SampleColumns:
        """Return the same with other stamps."""
        return replace(self, stamps=self.stamps + by_ns)

    def frame(self, row: int) -> str:
        """Return the frame_id of one sample."""
        return self.frames if isinstance(self.frames, str) else self.frames[row]

    @property
    def in_order(self) -> bool:
        """Whether each is later than the one before it, and none is in doubt."""
        return not self.doubts and bool((self.stamps[1:] > self.stamps[:-1]).all())

    def of_frame(self, wanted: str) -> NDArray[np.bool_]:
        """Tell which samples name a frame_id, (n,)."""
        if isinstance(self.frames, str):
            return np.full(len(self), self.frames == wanted)
        return np.fromiter((frame == wanted for frame in self.frames), np.bool_, len(self))

    def sent_again(self, first: int, equal: bool) -> NDArray[np.int64]:
        """Return the samples from one on whose stamp the next one has, too, counted from it.

        :param equal: only those that the next one is equal to; NaN is like NaN
        """
        stamps, rows = self.stamps[first:], self.rows[first:]
        again: NDArray[np.int64] = np.flatnonzero(stamps[1:] == stamps[:-1])
        if not equal or not len(again):
            return again
        left, right = rows[again], rows[again + 1]
        equal_ones: NDArray[np.int64] = again[
            ((left == right) | (np.isnan(left) & np.isnan(right))).all(axis=1)
        ]
        return equal_ones

    def sample(self, row: int) -> Sample:
        """Return one sample."""
        stamp_ns, values = int(self.stamps[row]), self.rows[row].tolist()
        doubt = self.doubts.get(row)
        if self.gives is None:
            return Reading(stamp_ns, values[0], self.frame(row), doubt)
        position, turn, linear, angular = (
            tuple(values[place]) if there else None
            for place, there in zip(PLACES, self.gives, strict=True)
        )
        return BodySample(
            stamp_ns,
            position,
            turn,
            linear,
            angular,
            self.frame(row),
            doubt,
        )

    def __iter__(self) -> Iterator[Sample]:
        return (self.sample(row) for row in range(len(self)))


def gives_of(sample: Sample) -> Gives | None:
    """Return which quantities a sample has; None: it is a reading."""
    if isinstance(sample, Reading):
        return None
    return (
        sample.position is not None,
        sample.orientation is not None,
        sample.linear_velocity is not None,
        sample.angular_velocity is not None,
    )


def width_of(gives: Gives) -> int:
    """Return how many numbers of a row, from the first on, hold all that there is."""
    return max(
        (place.stop for place, there in zip(PLACES, gives, strict=True) if there), default=0
    )


def parts_of(rows: NDArray[np.float64], gives: Gives) -> tuple[NDArray[np.float64] | None, ...]:
    """Return the quantities in rows, None where there is none.

    :param rows: (n, k), k at least the width of what there is
    """
    return tuple(
        rows[:, place] if there else None for place, there in zip(PLACES, gives, strict=True)
    )


def row_of(sample: Sample) -> tuple[float, ...]:
    """Return the numbers of a sample, laid out as a row."""
    if isinstance(sample, Reading):
        return (sample.value,)
    _, position, orientation, linear, angular, _, _ = sample
    return (
        (NO_VECTOR if position is None else position)
        + (NO_TURN if orientation is None else orientation)
        + (NO_VECTOR if linear is None else linear)
        + (NO_VECTOR if angular is None else angular)
    )


def same_rows(left: array[float], right: array[float]) -> bool:
    """Tell whether two rows hold the same; NaN is like NaN."""
    return all(a == b or (a != a and b != b) for a, b in zip(left, right, strict=True))


def columns_of(sample: Any, count: int) -> SampleColumns:
    """Turn one sample of columns into samples in columns.

    :param sample: as a reader makes it from a message of columns; no column where all are equal
    :param count: of the messages
    """
    stamps = np.empty(count, dtype=np.int64)
    stamps[:] = sample.stamp_ns
    if isinstance(sample, Reading):
        rows = np.empty((count, READING))
        rows[:, 0] = sample.value
        return SampleColumns(stamps, rows, None, sample.frame)
    parts: tuple[Vector | Quaternion | None, ...] = (
        sample.position,
        sample.orientation,
        sample.linear_velocity,
        sample.angular_velocity,
    )
    rows = np.full((count, BODY), np.nan)
    numbers: list[Any] = [None] * BODY
    for place, part in zip(PLACES, parts, strict=True):
        if part is not None:
            numbers[place] = part
    _lay(rows, numbers)
    return SampleColumns(stamps, rows, gives_of(sample), sample.frame)


def _lay(rows: NDArray[np.float64], numbers: Sequence[Any]) -> None:
    """Lay columns side by side; at once where they are side by side already.

    :param rows: (n, width), to be filled
    :param numbers: of each column: its values, or one for all; None: stays as it is
    """
    column = 0
    while column < len(numbers):
        several = _side_by_side(numbers[column:])
        if several > 1:
            first = numbers[column]
            came = np.lib.stride_tricks.as_strided(
                first, (len(first), several), (first.strides[0], first.itemsize), writeable=False
            )
            whole = f'V{several * first.itemsize}'  # as one number each
            rows[:, column : column + several].view(whole)[:, 0] = came.view(whole)[:, 0]
        elif numbers[column] is not None:
            rows[:, column] = numbers[column]
        column += max(several, 1)


def _side_by_side(numbers: Sequence[Any]) -> int:
    """Return how many columns follow each other in memory, from the first one on."""
    several, expected = 0, 0
    for values in numbers:
        if not isinstance(values, NumberColumn) or values.dtype != np.float64 or values.ndim != 1:
            break
        at = values.__array_interface__['data'][0]
        if several and (at != expected or values.strides != numbers[0].strides):
            break
        several, expected = several + 1, at + values.itemsize
    return several


def together(
    parts: Sequence[tuple[NDArray[np.int64], SampleColumns]], count: int
) -> SampleColumns:
    """Put samples of one input into one order.

    :param parts: places in that order, and the samples of these places
    :param count: of places; those that no part has are left out
    """
    if len(parts) == 1 and len(parts[0][1]) == count:
        return parts[0][1]
    order = np.argsort(np.concatenate([places for places, _ in parts]), kind='stable')
    rank = np.argsort(order)
    frames = [columns.frame(k) for _, columns in parts for k in range(len(columns))]
    doubts, at = {}, 0
    for _, columns in parts:
        doubts.update({int(rank[at + k]): doubt for k, doubt in columns.doubts.items()})
        at += len(columns)
    return SampleColumns(
        np.concatenate([columns.stamps for _, columns in parts])[order],
        np.concatenate([columns.rows for _, columns in parts])[order],
        parts[0][1].gives,
        frames[0] if len(set(frames)) == 1 else [frames[k] for k in order],
        doubts,
    )


def columns_of_samples(samples: Sequence[Sample]) -> SampleColumns:
    """Turn samples into columns; a quantity that one sample lacks is lacking."""
    stamps = np.array([sample.stamp_ns for sample in samples], dtype=np.int64)
    frames = [sample.frame for sample in samples]
    doubts = {k: sample.doubt for k, sample in enumerate(samples) if sample.doubt}
    rows = np.array([row_of(sample) for sample in samples], dtype=np.float64)
    first = samples[0]
    if isinstance(first, Reading):
        return SampleColumns(stamps, rows.reshape(-1, READING), None, frames, doubts)
    return SampleColumns(stamps, rows.reshape(-1, BODY), gives_of(first), frames, doubts)
