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

"""A table of samples, of a body or of a number over time, with any number of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from repsq_ros.measurement.reasons import Code

Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]  # x, y, z, w as in ROS
Array = NDArray[np.float64]
Stamps = NDArray[np.int64]
Flags = NDArray[np.bool_]
Rows = slice | Flags | NDArray[np.int64]
Doubted = tuple[Code, str]  # fault that a message reports about its own sample

POSE = ('position', 'orientation')
TWIST = ('linear', 'angular')
COLUMNS = (*POSE, *TWIST, 'value')


class NumberColumn(np.ndarray):  # type: ignore[type-arg]  # numpy 1.21 takes no index
    """One number of many messages, usable like the number of a single message."""


def real(value: Any) -> Any:
    """Return a number, or each one in a column, as a float."""
    if isinstance(value, NumberColumn):
        return value.astype(np.float64)
    return float(value)


@dataclass(eq=False, slots=True)
class Samples:
    """Samples of one input; a column is None if the sensor does not report it."""

    stamps: Stamps  # (n,) [ns]
    position: Array | None = None  # (n, 3) [m, or the input's unit], in the sensor's fixed frame
    orientation: Array | None = None  # (n, 4) x, y, z, w, body to fixed frame
    linear: Array | None = None  # (n, 3) [m/s, or the input's unit per s]
    angular: Array | None = None  # (n, 3) [rad/s]
    value: Array | None = None  # (n,) of a gauge, a battery, a mode; in the input's unit
    frames: str | Sequence[str] = ''  # frame_id of all, or of each
    doubts: Mapping[int, Doubted] = field(default_factory=dict)  # by row
    logs: Stamps | None = None  # (n,) [ns] when each was recorded; None: not known

    def __len__(self) -> int:
        return len(self.stamps)

    @property
    def stamp_ns(self) -> int:
        """Stamp of the last row [ns]."""
        return int(self.stamps[-1])

    def frame(self, row: int = -1) -> str:
        """Return the frame_id of one row."""
        return self.frames if isinstance(self.frames, str) else self.frames[row]

    @property
    def columns(self) -> dict[str, Array]:
        """Return the columns that are there, by name."""
        return {name: column for name in COLUMNS if (column := getattr(self, name)) is not None}

    def take(self, rows: Rows) -> Samples:
        """Return the selected rows."""
        frames, doubts = self.frames, self.doubts
        if doubts or not isinstance(frames, str):
            places = np.arange(len(self))[rows].tolist()
            doubts = {k: doubts[place] for k, place in enumerate(places) if place in doubts}
            if not isinstance(frames, str):
                frames = [frames[place] for place in places]
        columns = {name: column[rows] for name, column in self.columns.items()}
        logs = None if self.logs is None else self.logs[rows]
        return Samples(self.stamps[rows], **columns, frames=frames, doubts=doubts, logs=logs)

    def since(self, first: int) -> Samples:
        """Return the rows from `first` on."""
        return self.take(slice(first, None))

    def moved(self, by_ns: int) -> Samples:
        """Return the samples with shifted stamps."""
        return replace(self, stamps=self.stamps + by_ns)

    def repeated(self, count: int) -> Samples:
        """Repeat a single row `count` times; a table of `count` rows is returned unchanged."""
        if len(self) == count:
            return self
        return self.take(np.zeros(count, dtype=np.int64))

    @property
    def broken(self) -> Flags:
        """Return which rows have NaN, infinity or a quaternion of norm zero."""
        bad = np.zeros(len(self), dtype=np.bool_)
        for column in self.columns.values():
            finite = np.isfinite(column)
            if not finite.all():
                bad |= ~finite.all(axis=tuple(range(1, column.ndim)))
        if self.orientation is not None and not self.orientation[:, 3].all():
            bad |= ~self.orientation.any(axis=1)
        return bad

    def sent_again(self, equal: bool) -> NDArray[np.int64]:
        """Return the rows whose stamp is repeated in the next row.

        :param equal: only those whose numbers are repeated, too
        """
        again: NDArray[np.int64] = np.flatnonzero(self.stamps[1:] == self.stamps[:-1])
        for column in self.columns.values() if equal else ():
            same = equal_numbers(column[again], column[again + 1])
            again = again[same.all(axis=tuple(range(1, same.ndim)))]
        return again


def equal_numbers(left: Array, right: Array) -> Flags:
    """Return which numbers are equal; NaN equals NaN."""
    found: Flags = (left == right) | (np.isnan(left) & np.isnan(right))
    return found


def body_sample(
    stamp_ns: Any,
    position: Sequence[Any] | None,
    orientation: Sequence[Any] | None = None,
    linear: Sequence[Any] | None = None,
    angular: Sequence[Any] | None = None,
    frame: str = '',
    doubt: Doubted | None = None,
) -> Samples:
    """Make a row of a body; several rows if some numbers are columns.

    :param stamp_ns: [ns]
    :param position: x, y, z [m, or the input's unit]
    :param orientation: x, y, z, w
    :param linear: x, y, z [m/s, or the input's unit per s]
    :param angular: x, y, z [rad/s]
    :raises ValueError: columns of different lengths, or not numbers
    """
    stamps = np.array(stamp_ns, dtype=np.int64, ndmin=1)
    parts = [None if e is None else _rows(e) for e in (position, orientation, linear, angular)]
    count = max(len(stamps), *(0 if part is None else len(part) for part in parts))
    if count > 1:  # values that all messages share are single numbers
        stamps = np.broadcast_to(stamps, count)
        parts = [None if p is None else np.broadcast_to(p, (count, p.shape[1])) for p in parts]
    columns = dict(zip(COLUMNS, parts, strict=False))
    return Samples(stamps, **columns, frames=frame, doubts={0: doubt} if doubt else {}, logs=None)


def number_sample(
    stamp_ns: Any, value: Any, frame: str = '', doubt: Doubted | None = None
) -> Samples:
    """Make a row of a number over time; several rows if stamp or number are columns."""
    stamps = np.array(stamp_ns, dtype=np.int64, ndmin=1)
    values = np.array(value, dtype=np.float64, ndmin=1)
    count = max(len(stamps), len(values))
    if count > 1:
        stamps, values = np.broadcast_to(stamps, count), np.broadcast_to(values, count)
    return Samples(stamps, value=values, frames=frame, doubts={0: doubt} if doubt else {})


def _rows(numbers: Sequence[Any]) -> Array:
    """Return (1, k), or (n, k) if some of the k numbers are columns."""
    try:
        rows = np.array(numbers, dtype=np.float64)
    except ValueError:
        rows = np.array(np.broadcast_arrays(*numbers), dtype=np.float64)
    return rows[None] if rows.ndim == 1 else np.ascontiguousarray(rows.T)


def joined(parts: Sequence[Samples]) -> Samples:
    """Concatenate several tables.

    A column that one part lacks is dropped.

    :raises ValueError: there is no part
    """
    if len(parts) == 1:
        return parts[0]
    names = [name for name in COLUMNS if all(getattr(part, name) is not None for part in parts)]
    columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
    frames: str | Sequence[str] = parts[0].frames
    if not isinstance(frames, str) or any(part.frames != frames for part in parts):
        frames = [part.frame(k) for part in parts for k in range(len(part))]
    doubts: dict[int, Doubted] = {}
    at = 0
    for part in parts:
        doubts.update({at + k: doubt for k, doubt in part.doubts.items()})
        at += len(part)
    logs = [part.logs for part in parts if part.logs is not None]
    return Samples(
        np.concatenate([part.stamps for part in parts]),
        **columns,
        frames=frames,
        doubts=doubts,
        logs=np.concatenate(logs) if len(logs) == len(parts) else None,
    )
