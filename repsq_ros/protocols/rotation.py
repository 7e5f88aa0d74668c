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

"""Rotations as angles, quaternions and rotation vectors.

transforms3d writes quaternions as w, x, y, z; messages and this package as x, y, z, w.
"""

from __future__ import annotations

import math

from transforms3d.euler import euler2quat
from transforms3d.quaternions import axangle2quat

Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]  # x, y, z, w


def quaternion_of_rpy(roll: float, pitch: float, yaw: float) -> Quaternion:
    """Return the rotation by angles about fixed axes [rad], as in REP-103."""
    w, x, y, z = map(float, euler2quat(roll, pitch, yaw, 'sxyz'))
    return (x, y, z, w)


def rpy_of_quaternion(quaternion: Quaternion) -> Vector:
    """Return the angles about fixed axes [rad]; pitch is within -pi/2 and pi/2.

    If the tool points along the horizon, pitch is pi/2, and roll and yaw are the same rotation.
    Angles computed from a matrix lose the rotation there. Half their sum and half their
    difference, computed from the quaternion, do not:
    w - y, x + z are proportional to cos, sin of (roll + yaw) / 2,
    w + y, x - z to cos, sin of (roll - yaw) / 2.
    """
    x, y, z, w = quaternion
    half_sum = math.atan2(x + z, w - y)
    half_difference = math.atan2(x - z, w + y)
    pitch = 2.0 * math.atan2(math.hypot(x - z, w + y), math.hypot(x + z, w - y)) - math.pi / 2.0
    return (
        _within_pi(half_sum + half_difference),
        pitch,
        _within_pi(half_sum - half_difference),
    )


def _within_pi(angle: float) -> float:
    return math.remainder(angle, 2.0 * math.pi)


def vector_of_quaternion(quaternion: Quaternion) -> Vector:
    """Return the rotation vector: its direction is the axis, its length the angle [rad], <= pi."""
    x, y, z, w = quaternion if quaternion[3] >= 0.0 else tuple(-part for part in quaternion)
    sine = math.hypot(x, y, z)
    # atan2 instead of acos(w), which loses small angles.
    factor = 2.0 * math.atan2(sine, w) / sine if sine > 0.0 else 2.0
    return (x * factor, y * factor, z * factor)


def quaternion_of_vector(vector: Vector) -> Quaternion:
    """Return the quaternion of a rotation vector [rad]."""
    angle = math.hypot(*vector)
    if angle == 0.0:
        return (0.0, 0.0, 0.0, 1.0)
    w, x, y, z = map(float, axangle2quat([part / angle for part in vector], angle, True))
    return (x, y, z, w)


def angle_between(one: Quaternion, other: Quaternion) -> float:
    """Return the angle between two rotations [rad], 0 to pi."""
    sign = 1.0 if sum(a * b for a, b in zip(one, other, strict=True)) >= 0.0 else -1.0
    apart = math.hypot(*(a - sign * b for a, b in zip(one, other, strict=True)))
    return 4.0 * math.asin(min(apart / 2.0, 1.0))


def turned(start: Quaternion, target: Quaternion, fraction: float) -> Quaternion:
    """Interpolate between two rotations on the shortest way.

    :param fraction: 0 at the start, 1 at the target
    """
    sign = 1.0 if sum(a * b for a, b in zip(start, target, strict=True)) >= 0.0 else -1.0
    half = angle_between(start, target) / 2.0
    if half < 1e-9:
        one, other = 1.0 - fraction, fraction
    else:
        one = math.sin((1.0 - fraction) * half) / math.sin(half)
        other = math.sin(fraction * half) / math.sin(half)
    mixed = [one * sign * a + other * b for a, b in zip(start, target, strict=True)]
    norm = math.hypot(*mixed)
    x, y, z, w = (part / norm for part in mixed)
    return (x, y, z, w)
