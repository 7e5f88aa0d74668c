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

"""The steps between successive samples of a body, and their deviations from neighbours."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from repsq_ros.measurement.frames import continuous, crossed, lengths
from repsq_ros.measurement.samples import Array, Samples

FEWEST = 5  # fewest steps for comparing one with its neighbours


class Steps:
    """The n - 1 steps between n samples, for several checks.

    :param samples: unbroken, in SI units
    """

    def __init__(self, samples: Samples) -> None:
        self.samples = samples

    def __len__(self) -> int:
        return max(len(self.samples) - 1, 0)

    @cached_property
    def seconds(self) -> Array:
        """Return the duration of each step [s], (n - 1,)."""
        return np.diff(self.samples.stamps).astype(np.float64) * 1e-9

    @cached_property
    def moves(self) -> Array | None:
        """Return the change of position [m], (n - 1, 3); None: no position."""
        position = self.samples.position
        return None if position is None else np.diff(position, axis=0)

    @cached_property
    def turns(self) -> Array | None:
        """Return the rotation vectors [rad], (n - 1, 3); None: no orientation."""
        orientation = self.samples.orientation
        return None if orientation is None else turns_of(orientation)

    @cached_property
    def move_lengths(self) -> Array | None:
        """Return the distances [m], (n - 1,); None: no position."""
        return None if self.moves is None else lengths(self.moves)

    @cached_property
    def turn_lengths(self) -> Array | None:
        """Return the angles [rad], (n - 1,); None: no orientation."""
        return None if self.turns is None else lengths(self.turns)

    def between(self, first: int, samples: Samples) -> Steps:
        """Return the steps of a part of these samples, without computing them again.

        :param first: index of the first one of `samples`
        """
        part = Steps(samples)
        rows = slice(first, first + len(part))
        for name in ('seconds', 'moves', 'turns', 'move_lengths', 'turn_lengths'):
            column = getattr(self, name)
            part.__dict__[name] = None if column is None else column[rows]
        return part


def off_neighbours(steps: Array, seconds: Array, period: float) -> Array:
    """Return each step minus the median of the two steps before and the two after it, (n, 3).

    Neighbours that took longer than a period are scaled to one; at the ends they are mirrored.

    :param steps: (n, 3), n >= 5
    :param seconds: (n,) duration of each [s]
    :param period: [s] between two samples
    """
    scaled = steps * np.minimum(1.0, period / seconds)[:, None]
    padded = np.concatenate([scaled[2:0:-1], scaled, scaled[-2:-4:-1]])
    a, b, c, d = (padded[k : len(padded) - 4 + k] for k in (0, 1, 3, 4))
    # The second and third largest of four.
    second = np.maximum(np.minimum(a, b), np.minimum(c, d))
    third = np.minimum(np.maximum(a, b), np.maximum(c, d))
    found: Array = steps - (second + third) / 2.0
    return found


def turns_of(orientation: Array) -> Array:
    """Return the rotation vectors between successive quaternions, axis times angle [rad].

    :param orientation: (n, 4) x, y, z, w, any norm but zero
    :returns: (n - 1, 3)
    """
    unit = continuous(orientation / lengths(orientation)[:, None])
    before, after = unit[:-1], unit[1:]
    # |a - b| = 2 sin(angle / 4): exact for small angles, unlike the inner product.
    half = lengths(after - before) / 2.0
    angle = 4.0 * np.arcsin(np.minimum(half, 1.0))
    # The vector part of before^-1 * after: w v' - w' v - v x v'.
    axis = before[:, 3:] * after[:, :3] - after[:, 3:] * before[:, :3]
    axis -= crossed(before[:, :3], after[:, :3])
    size = lengths(axis)
    turns: Array = axis * (angle / np.where(size > 0, size, 1.0))[:, None]
    turns[size == 0] = np.column_stack([angle, 0 * angle, 0 * angle])[size == 0]
    return turns
