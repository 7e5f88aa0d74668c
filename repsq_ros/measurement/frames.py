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
from numpy.typing import NDArray
from transforms3d.quaternions import quat2mat

from repsq_ros.measurement.inputs import Extrinsics, Input
from repsq_ros.measurement.rowwise import crossed, lengths
from repsq_ros.measurement.samples import Quaternion
from repsq_ros.measurement.track import Track

Array = NDArray[np.float64]


def matrix_of(quaternion: Quaternion) -> Array:
    """Return the (3, 3) rotation of one quaternion of any norm but zero."""
    x, y, z, w = quaternion
    matrix: Array = quat2mat((w, x, y, z))
    return matrix


def product(left: Array, right: Array) -> Array:
    """Return the quaternions left * right: first `right`, then `left`.

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
    """Turn vectors by quaternions, from the body's frame to the fixed one, or `back`.

    :param orientation: (n, 4), any norm but zero
    :param vectors: (n, 3) or (3,)
    :returns: (n, 3)
    """
    unit = orientation / lengths(orientation)[:, None]
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


def z_up(track: Track) -> Track:
    """Return a y-up track in z-up axes, those of the world and those of the body alike.

    The turn by 90 degrees about x takes (x, y, z) to (x, -z, y); a rotation R becomes T R T^-1,
    whose quaternion has its axis turned in the same way.
    """

    def turn(columns: Array | None) -> Array | None:
        if columns is None:
            return None
        upright = columns.copy()
        upright[:, 1], upright[:, 2] = -columns[:, 2], columns[:, 1]
        return upright

    return Track(
        track.stamps,
        turn(track.position),
        turn(track.orientation),
        turn(track.linear),
        turn(track.angular),
    )


def at_point(track: Track, extrinsics: Extrinsics) -> Track:
    """Return the track of the point that a rigid body carries.

    With R the body's orientation and t, Q the extrinsics: p' = p + R t, R' = R Q, and in the
    point's frame v' = Q^T (v + w x t), w' = Q^T w.
    """
    position, orientation = track.position, track.orientation
    linear, angular = track.linear, track.angular
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
    return Track(track.stamps, position, orientation, linear, angular)


def conditioned(track: Track, source: Input) -> Track:
    """Return a track in SI units, z-up, of the point that is measured.

    A velocity that the message tells in the world frame is turned into the body's by the whole
    orientation; a turn rate is about the body's axes in every known driver.
    """
    if source.scale != 1.0:
        track = replace(
            track,
            position=None if track.position is None else track.position * source.scale,
            linear=None if track.linear is None else track.linear * source.scale,
        )
    if source.velocity_frame == 'world' and track.linear is not None:
        if track.orientation is None:
            raise ValueError('a velocity in the world frame needs an orientation')
        track = replace(track, linear=turned(track.orientation, track.linear, back=True))
    if source.up_axis == 'y':
        track = z_up(track)
    if not source.extrinsics.trivial:
        track = at_point(track, source.extrinsics)
    return track


UNIT_NORM = 0.05  # by which the norm of a quaternion may differ from 1
LEANS = 0.35  # [rad] throughout: more than anything that walks
STANDS = 0.25  # [rad]
SURELY_STANDS = math.cos(LEANS) + 1e-9  # cosine of the tilt, more than rounding can change


def tilt_of(orientation: Array) -> Array:
    """Return the angle between the body's z axis and the vertical [rad], (n,).

    With q = (x, y, z, w) of any norm but zero, cos(tilt) = (w^2 + z^2 - x^2 - y^2) / |q|^2.

    :param orientation: (n, 4)
    """
    x, y, z, w = orientation.T
    size = x * x + y * y + z * z + w * w
    found: Array = np.arccos(np.clip((w * w + z * z - x * x - y * y) / size, -1.0, 1.0))
    return found


def leans_as_if_w_came_first(track: Track, source: Input) -> bool:
    """Tell whether a body leans throughout, and stands throughout if w is taken to come first.

    :param track: whole samples as they came
    """
    if track.orientation is None or not len(track):
        return False
    if _stands(track.orientation[0].tolist(), source):
        return False
    read, other = (
        conditioned(Track(track.stamps, None, track.orientation[:, order]), source)
        for order in ([0, 1, 2, 3], [1, 2, 3, 0])
    )
    assert read.orientation is not None
    assert other.orientation is not None
    leans = tilt_of(read.orientation).min() > LEANS
    return bool(leans and tilt_of(other.orientation).max() < STANDS)


def _stands(quaternion: list[float], source: Input) -> bool:
    """Tell whether a sample leans by less than `LEANS` for sure, where that takes no turning."""
    if source.up_axis != 'z' or not source.extrinsics.trivial:
        return False
    x, y, z, w = quaternion
    size = x * x + y * y + z * z + w * w
    return size > 0 and (w * w + z * z - x * x - y * y) / size > SURELY_STANDS
