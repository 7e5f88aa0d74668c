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

"""Pose accuracy and repeatability of a manipulator after ISO 9283:1998, clause 7.

n cycles to one commanded pose give attained positions (x_j, y_j, z_j) and orientations
(a_j, b_j, c_j), angles about the axes. Positions here are in any one unit, angles in rad.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Accuracy:
    """Pose accuracy AP, clause 7.2.1."""

    position: float  # AP_P
    axes: tuple[float, float, float]  # AP_x, AP_y, AP_z, with sign
    orientation: tuple[float, float, float] | None = None  # AP_a, AP_b, AP_c [rad], with sign


@dataclass(frozen=True)
class Repeatability:
    """Pose repeatability RP, clause 7.2.2."""

    position: float  # RP_l = l_mean + 3 S_l
    mean_distance: float  # l_mean
    spread: float  # S_l
    orientation: tuple[float, float, float] | None = None  # +-3 S_a, 3 S_b, 3 S_c [rad]


@dataclass(frozen=True)
class Drift:
    """Drift over time, clause 7.6: of accuracy (dAP) and of repeatability (dRP)."""

    accuracy: float  # dAP_P = max |AP_t1 - AP_tK|
    repeatability: float  # dRP_l = max |RP_t1 - RP_tK|


def pose_accuracy(
    attained: Array,
    commanded: Array,
    angles: Array | None = None,
    commanded_angles: Array | None = None,
) -> Accuracy:
    """Return AP, clause 7.2.1.

    AP_P = sqrt((x_mean - x_c)^2 + (y_mean - y_c)^2 + (z_mean - z_c)^2), AP_x = x_mean - x_c, and
    AP_a = a_mean - a_c for the angles, taken to (-pi, pi].

    :param attained: (n, 3), n >= 1
    :param commanded: (3,)
    :param angles: (n, 3) [rad]
    :param commanded_angles: (3,) [rad]
    :raises ValueError: no cycle, not finite
    """
    _check(attained, 1)
    off = attained.mean(axis=0) - commanded
    orientation = None
    if angles is not None and commanded_angles is not None:
        _check(angles, 1)
        orientation = _triple(_mean_angles(angles - commanded_angles))
    return Accuracy(float(np.linalg.norm(off)), _triple(off), orientation)


def pose_repeatability(attained: Array, angles: Array | None = None) -> Repeatability:
    """Return RP, clause 7.2.2.

    l_j is the distance of attained position j from the barycentre; RP_l = l_mean + 3 S_l with
    S_l = sqrt(sum (l_j - l_mean)^2 / (n - 1)); for the angles +-3 S_a, with n - 1 likewise.

    :param attained: (n, 3), n >= 2
    :param angles: (n, 3) [rad]
    :raises ValueError: fewer than two cycles, not finite
    """
    _check(attained, 2)
    distances = np.linalg.norm(attained - attained.mean(axis=0), axis=1)
    mean, spread = float(distances.mean()), float(distances.std(ddof=1))
    orientation = None
    if angles is not None:
        _check(angles, 2)
        around = _wrapped(angles - _mean_angles(angles))
        orientation = _triple(3.0 * np.sqrt(np.sum(around * around, axis=0) / (len(angles) - 1)))
    return Repeatability(mean + 3.0 * spread, mean, spread, orientation)


def multi_directional_variation(directions: list[Array]) -> float:
    """Return vAP_P, clause 7.2.3: multi-directional pose accuracy variation.

    The greatest distance between the barycentres of positions attained by different paths.

    :param directions: h arrays (n, 3), h >= 2 (three paths in the standard)
    :raises ValueError: fewer than two paths, an empty one, not finite
    """
    if len(directions) < 2:
        raise ValueError(f'found {len(directions)} paths, expected at least 2')
    for attained in directions:
        _check(attained, 1)
    centres = np.array([attained.mean(axis=0) for attained in directions])
    return float(np.linalg.norm(centres[:, None] - centres[None, :], axis=2).max())


def drift(cycles: list[Array], commanded: Array) -> Drift:
    """Return dAP and dRP, clause 7.6.

    :param cycles: K >= 2 arrays (n, 3), each of one series of n >= 2 cycles, the first one first
    :param commanded: (3,)
    :raises ValueError: fewer than two series, too short a one, not finite
    """
    if len(cycles) < 2:
        raise ValueError(f'found {len(cycles)} series, expected at least 2')
    accuracy = [pose_accuracy(attained, commanded).position for attained in cycles]
    repeatability = [pose_repeatability(attained).position for attained in cycles]
    return Drift(
        max(abs(accuracy[0] - each) for each in accuracy[1:]),
        max(abs(repeatability[0] - each) for each in repeatability[1:]),
    )


def barycentre(attained: Array) -> Array:
    """Return the mean attained position, clause 7.2.1: (3,) from (n, 3)."""
    _check(attained, 1)
    centre: Array = attained.mean(axis=0)
    return centre


def _check(rows: Array, fewest: int) -> None:
    if rows.ndim != 2 or rows.shape[1] != 3 or len(rows) < fewest:
        raise ValueError(f'found an array of shape {rows.shape}, expected (n >= {fewest}, 3)')
    if not np.isfinite(rows).all():
        raise ValueError('found NaN or infinity, expected finite numbers')


def _wrapped(angles: Array) -> Array:
    """Take angles to [-pi, pi)."""
    wrapped: Array = np.remainder(angles + np.pi, 2.0 * np.pi) - np.pi
    return wrapped


def _mean_angles(angles: Array) -> Array:
    """Return mean angles (3,), each around the first one, so that a turn through pi is no jump."""
    around = _wrapped(angles - angles[0])
    return _wrapped(angles[0] + around.mean(axis=0))


def _triple(values: Array) -> tuple[float, float, float]:
    return float(values[0]), float(values[1]), float(values[2])
