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

"""What lies between successive samples of a track: times, ways and turns, each computed once."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from repsq_ros.measurement.frames import continuous
from repsq_ros.measurement.rowwise import lengths
from repsq_ros.measurement.track import Track

Array = NDArray[np.float64]


class TrackSteps:
    """The n - 1 steps between n samples; several checks look at them.

    :param track: in SI units
    :param period: [s] between two samples
    """

    def __init__(self, track: Track, period: float) -> None:
        self.track, self.period = track, period

    @cached_property
    def seconds(self) -> Array:
        """Return how long each took [s], (n - 1,)."""
        stamps = self.track.stamps
        return (stamps[1:] - stamps[:-1]).astype(np.float64) * 1e-9

    @cached_property
    def ways(self) -> Array | None:
        """Return by what the position changed [m], (n - 1, 3); None: there is none."""
        position = self.track.position
        if position is None:
            return None
        laid = np.ascontiguousarray(position.T)  # (3, n): columns that lie together
        return (laid[:, 1:] - laid[:, :-1]).T

    @cached_property
    def turns(self) -> Array | None:
        """Return by what it turned [rad], (n - 1, 3); None: it has no orientation."""
        orientation = self.track.orientation
        return None if orientation is None else turns_of(orientation)


def turns_of(orientation: Array) -> Array:
    """Return the turns between successive quaternions as vectors, axis times angle [rad].

    :param orientation: (n, 4) x, y, z, w, any norm but zero
    :returns: (n - 1, 3)
    """
    laid = np.ascontiguousarray(orientation.T)
    unit = continuous((laid / lengths(laid.T)).T).T
    before, after = unit[:, :-1], unit[:, 1:]
    # |a - b| = 2 sin(angle / 4): exact for small angles, where the inner product is not.
    half = lengths((after - before).T) / 2.0
    angle: Array = 4.0 * np.arcsin(np.minimum(half, 1.0))
    # The vector part of before^-1 * after: w v' - w' v - v x v'.
    axis: Array = before[3] * after[:3]
    axis -= after[3] * before[:3]
    # The other two axes of each, in the order of a cross product: y, z, x and z, x, y.
    around = np.concatenate([unit[1:3], unit[:2]])
    y, z = around[:3], around[1:]
    axis += z[:, :-1] * y[:, 1:] - y[:, :-1] * z[:, 1:]
    size = lengths(axis.T)
    some = size > 0
    if some.all():
        axis *= angle / size
        return axis.T
    axis *= angle / np.where(some, size, 1.0)
    where_none: Array = np.column_stack([angle, 0 * angle, 0 * angle])
    return np.where(some[:, None], axis.T, where_none)
