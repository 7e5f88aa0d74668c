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

"""Frames of rigid bodies: up axis, fixed extrinsics, heading; quaternions are x, y, z, w."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from transforms3d.quaternions import quat2mat

from repsq_ros.measurement.inputs import Extrinsics, Input, UpAxis, VelocityFrame
from repsq_ros.measurement.samples import Array, Quaternion, Samples


def lengths(rows: Array) -> Array:
    """Return the Euclidean norm of each row, several times faster than numpy for short rows.

    :param rows: (n, k), k below 8: above, numpy adds in another order
    """
    total = rows[:, 0] * rows[:, 0]
    for k in range(1, rows.shape[1]):
        total += rows[:, k] * rows[:, k]
    found: Array = np.sqrt(total, out=total)
    return found


def crossed(left: Array, right: Array) -> Array:
    """Return the cross product of each row, several times faster than `np.cross`.

    :param left: (n, 3)
    :param right: (n, 3)
    """
    found = np.empty(np.broadcast_shapes(left.shape, right.shape))
    for k, (i, j) in enumerate(((1, 2), (2, 0), (0, 1))):
        found[:, k] = left[:, i] * right[:, j] - left[:, j] * right[:, i]
    return found


def matrix_of(quaternion: Quaternion) -> Array:
    """Return the (3, 3) rotation of one quaternion of any norm but zero."""
    x, y, z, w = quaternion
    matrix: Array = quat2mat((w, x, y, z))
    return matrix


def product(left: Array, right: Array) -> Array:
    """Return the quaternions left * right: first the rotation `right`, then `left`.

    :param left: (n, 4) or (4,), x, y, z, w
    :param right: (n, 4) or (4,)
    :returns: (n, 4)
    """
    a, b = np.atleast_2d(left), np.atleast_2d(right)
    vector = a[:, 3:] * b[:, :3] + b[:, 3:] * a[:, :3] + crossed(a[:, :3], b[:, :3])
    both = np.empty((len(vector), 4))
    both[:, :3] = vector
    inner = a[:, 0] * b[:, 0] + a[:, 1] * b[:, 1] + a[:, 2] * b[:, 2]
    both[:, 3] = a[:, 3] * b[:, 3] - inner
    return both


def turned(orientation: Array, vectors: Array, back: bool = False) -> Array:
    """Rotate vectors by quaternions, from the body's frame to the fixed one, or `back`.

    :param orientation: (n, 4), any norm but zero
    :param vectors: (n, 3) or (3,)
    :returns: (n, 3)
    """
    unit = orientation / np.linalg.norm(orientation, axis=1)[:, None]
    axis, w = unit[:, :3] * (-1.0 if back else 1.0), unit[:, 3:]
    rows = np.broadcast_to(vectors, (len(unit), 3))
    twice = 2.0 * np.cross(axis, rows)
    result: Array = rows + w * twice + np.cross(axis, twice)
    return result


def continuous(orientation: Array) -> Array:
    """Return quaternions whose sign does not flip: q and -q are the same rotation.

    :param orientation: (n, 4)
    """
    if len(orientation) < 2:
        return orientation
    inner = orientation[1:, 0] * orientation[:-1, 0]
    for k in range(1, 4):
        inner += orientation[1:, k] * orientation[:-1, k]
    flips = inner < 0
    if not flips.any():
        return orientation
    signs = np.concatenate([[1.0], np.where(np.cumsum(flips) % 2 == 1, -1.0, 1.0)])
    kept: Array = orientation * signs[:, None]
    return kept


def z_up(samples: Samples) -> Samples:
    """Convert y-up samples to z-up axes, of the world and of the body.

    A rotation by 90 degrees about x maps (x, y, z) to (x, -z, y); a rotation R becomes T R T^-1,
    whose quaternion's axis is rotated in the same way.
    """

    def turn(columns: Array | None) -> Array | None:
        if columns is None:
            return None
        upright = columns.copy()
        upright[:, 1], upright[:, 2] = -columns[:, 2], columns[:, 1]
        return upright

    return replace(
        samples,
        position=turn(samples.position),
        orientation=turn(samples.orientation),
        linear=turn(samples.linear),
        angular=turn(samples.angular),
    )


def at_point(samples: Samples, extrinsics: Extrinsics) -> Samples:
    """Return the samples of a point that is fixed on the rigid body.

    With R the body's orientation and t, Q the extrinsics: p' = p + R t, R' = R Q, and in the
    point's frame v' = Q^T (v + w x t), w' = Q^T w.
    """
    position, orientation = samples.position, samples.orientation
    linear, angular = samples.linear, samples.angular
    translation = np.array(extrinsics.translation)
    to_body = matrix_of(extrinsics.rotation)
    if position is not None and orientation is not None:
        position = position + turned(orientation, translation)
    if orientation is not None:
        orientation = product(orientation, np.array(extrinsics.rotation))
    if linear is not None:
        carried = 0.0 if angular is None else np.cross(angular, translation)
        linear = (linear + carried) @ to_body
    if angular is not None:
        angular = angular @ to_body
    return replace(
        samples, position=position, orientation=orientation, linear=linear, angular=angular
    )


def conditioned(samples: Samples, source: Input) -> Samples:
    """Return samples of the measured point in SI units, z up.

    A velocity in the world frame is rotated to the body frame by the full orientation; a turn
    rate is about the body's axes in all supported drivers.
    """
    if samples.value is not None:
        return replace(samples, value=source.to_si(samples.value))
    if source.scale != 1.0:
        samples = replace(
            samples,
            position=None if samples.position is None else samples.position * source.scale,
            linear=None if samples.linear is None else samples.linear * source.scale,
        )
    if source.velocity_frame == VelocityFrame.WORLD and samples.linear is not None:
        if samples.orientation is None:
            raise ValueError('a velocity in the world frame needs an orientation')
        samples = replace(samples, linear=turned(samples.orientation, samples.linear, back=True))
    if source.up_axis == UpAxis.Y:
        samples = z_up(samples)
    if not source.extrinsics.trivial:
        samples = at_point(samples, source.extrinsics)
    return samples


UNIT_NORM = 0.05  # largest deviation of a quaternion's norm from 1


def tilt_of(orientation: Array) -> Array:
    """Return the angle between the body's z axis and the vertical [rad], (n,).

    With q = (x, y, z, w) of any norm but zero, cos(tilt) = (w^2 + z^2 - x^2 - y^2) / |q|^2.

    :param orientation: (n, 4)
    """
    x, y, z, w = orientation.T
    size = x * x + y * y + z * z + w * w
    found: Array = np.arccos(np.clip((w * w + z * z - x * x - y * y) / size, -1.0, 1.0))
    return found


def up_in_body(orientation: Array) -> Array:
    """Return the upward direction in the body's frame.

    :param orientation: (n, 4), any norm but zero
    :returns: (3, n)
    """
    x, y, z, w = orientation.T
    # The third row of the rotation matrix, times the squared norm.
    rows = (2.0 * (x * z - w * y), 2.0 * (y * z + w * x), w * w + z * z - x * x - y * y)
    found: Array = np.stack(rows) / (x * x + y * y + z * z + w * w)
    return found


def leaning(up: Array) -> tuple[float, str]:
    """Return the mean lean of a body [rad], and which of its axes points up.

    :param up: (3, n), n > 0, as `up_in_body` returns it
    """
    up = up.mean(axis=1)
    axis = int(np.argmax(np.abs(up)))
    sign = '-' if up[axis] < 0 else ''
    return math.atan2(math.hypot(up[0], up[1]), up[2]), sign + 'xyz'[axis]


def rotation_between(before: Array, after: Array) -> Array:
    """Return the rotation from one orientation to another in the fixed frame, axis times angle.

    :param before: (4,) x, y, z, w, of any norm but zero
    :param after: (4,)
    :returns: (3,) [rad], of an angle up to pi
    """
    (a, b, c, d), (x, y, z, w) = before.tolist(), after.tolist()
    turn = np.array(
        [
            d * x - a * w + b * z - c * y,
            d * y - b * w + c * x - a * z,
            d * z - c * w + a * y - b * x,
        ]
    )
    inner = d * w + a * x + b * y + c * z
    turn, inner = (turn, inner) if inner >= 0 else (-turn, -inner)
    size = math.sqrt(float(turn @ turn))
    return turn * (2.0 * math.atan2(size, inner) / size) if size > 0 else 2.0 * turn


def leans_as_if_w_came_first(samples: Samples, source: Input, most: float) -> bool:
    """Tell whether a body always leans, but is always upright if w is assumed to come first.

    :param samples: unbroken samples as received
    :param most: [rad] largest lean of an upright body
    """
    if samples.orientation is None or not len(samples):
        return False
    if _stands(samples.orientation[0].tolist(), source, most):
        return False
    read, other = (
        conditioned(Samples(samples.stamps, None, samples.orientation[:, order]), source)
        for order in ([0, 1, 2, 3], [1, 2, 3, 0])
    )
    assert read.orientation is not None
    assert other.orientation is not None
    leans = tilt_of(read.orientation).min() > most
    return bool(leans and tilt_of(other.orientation).max() < most / 2.0)


def _stands(quaternion: list[float], source: Input, most: float) -> bool:
    """Tell whether a sample surely leans by less, if that needs no conversion."""
    if source.up_axis != UpAxis.Z or not source.extrinsics.trivial:
        return False
    x, y, z, w = quaternion
    size = x * x + y * y + z * z + w * w
    return size > 0 and (w * w + z * z - x * x - y * y) / size > math.cos(most) + 1e-9
