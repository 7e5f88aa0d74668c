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

"""Samples as columns: what every computation on a stream starts from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from repsq_ros.measurement.rowwise import all_finite, any_set
from repsq_ros.measurement.samples import BodySample

Array = NDArray[np.float64]
Stamps = NDArray[np.int64]


@dataclass(frozen=True)
class Track:
    """A body over time; `None` where the sensor does not report a quantity."""

    stamps: Stamps  # (n,) [ns], increasing
    position: Array | None  # (n, 3) [m]
    orientation: Array | None  # (n, 4) x, y, z, w, body to fixed frame
    linear: Array | None = None  # (n, 3) [m/s]
    angular: Array | None = None  # (n, 3) [rad/s]

    def __len__(self) -> int:
        return len(self.stamps)

    def take(self, rows: slice | NDArray[np.bool_]) -> Track:
        """Return the track of some samples."""
        position, orientation = self.position, self.orientation
        linear, angular = self.linear, self.angular
        return Track(
            self.stamps[rows],
            None if position is None else position[rows],
            None if orientation is None else orientation[rows],
            None if linear is None else linear[rows],
            None if angular is None else angular[rows],
        )

    def since(self, first: int) -> Track:
        """Return the track from a sample on."""
        return self.take(slice(first, None))


@dataclass(frozen=True)
class Series:
    """A number over time."""

    stamps: Stamps  # (n,) [ns], increasing
    values: Array  # (n,)

    def __len__(self) -> int:
        return len(self.stamps)

    def since(self, first: int) -> Series:
        """Return the series from a reading on."""
        return Series(self.stamps[first:], self.values[first:])


def broken(track: Track) -> NDArray[np.bool_]:
    """Tell which samples hold NaN, infinity or a quaternion of norm zero."""
    bad = np.zeros(len(track), dtype=np.bool_)
    for column in (track.position, track.orientation, track.linear, track.angular):
        if column is not None:
            bad |= ~all_finite(column)
    return bad | _without_norm(track)


def all_whole(track: Track) -> bool:
    """Tell whether no sample is broken."""
    columns = (track.position, track.orientation, track.linear, track.angular)
    # A sum that is finite has no other summands, and a last number that is not 0 makes a norm.
    sums = [float(np.add.reduce(column, axis=None)) for column in columns if column is not None]
    turn = track.orientation
    if math.isfinite(math.fsum(sums)) and (turn is None or bool(turn[:, 3].all())):
        return True
    return not broken(track).any()


def _without_norm(track: Track) -> NDArray[np.bool_]:
    if track.orientation is None:
        return np.zeros(len(track), dtype=np.bool_)
    return ~any_set(track.orientation != 0.0)


def track_of(samples: Sequence[BodySample]) -> Track:
    """Turn samples into columns; a quantity that one sample lacks is lacking."""
    return Track(
        np.array([sample.stamp_ns for sample in samples], dtype=np.int64),
        _column([sample.position for sample in samples], 3),
        _column([sample.orientation for sample in samples], 4),
        _column([sample.linear_velocity for sample in samples], 3),
        _column([sample.angular_velocity for sample in samples], 3),
    )


def _column(rows: Sequence[Sequence[float] | None], width: int) -> Array | None:
    if any(row is None for row in rows):
        return None
    return np.array(rows, dtype=np.float64).reshape(-1, width)
