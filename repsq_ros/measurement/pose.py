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

"""Poses: a reference, the mean pose of a window, distances and angles."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from repsq_ros.keys import key
from repsq_ros.measurement.frames import continuous
from repsq_ros.measurement.reasons import Code
from repsq_ros.measurement.samples import Array, Quaternion, Samples, Vector
from repsq_ros.measurement.velocity import by_slope
from repsq_ros.measurement.window import UnmeasurableError


@dataclass(frozen=True)
class Pose:
    """Position and orientation."""

    position: Vector = field(metadata=key('x, y, z', 'm', at_least=-10, at_most=10))
    orientation: Quaternion | None = field(
        default=None, metadata=key('orientation: x, y, z, w', name='rotation', rotation=True)
    )


def mean_pose(samples: Samples) -> tuple[Array, Array | None]:
    """Return mean position (3,) [m] and mean orientation (4,), the latter of norm 1.

    The mean of the quaternions with equal signs, normalised: for similar rotations, this is the
    rotation of least mean squared angle, to second order.
    """
    if samples.position is None:
        raise UnmeasurableError('no position: the source does not report it', Code.POSITION)
    position: Array = samples.position.mean(axis=0)
    if samples.orientation is None:
        return position, None
    norms = np.linalg.norm(samples.orientation, axis=1, keepdims=True)
    mean = continuous(samples.orientation / norms).mean(axis=0)
    return position, mean / np.linalg.norm(mean)


def mean_variance(samples: Samples) -> float:
    """Return the variance of a mean position due to sensor noise, summed over the axes [m^2].

    From third differences, whose variance is 20 times that of white noise. They ignore creep,
    which `settled_within` limits.
    """
    if samples.position is None or len(samples) < 4:
        return 0.0
    thirds = np.diff(samples.position, 3, axis=0)
    return float(np.mean(np.sum(thirds * thirds, axis=1))) / 20.0 / len(samples)


def angle_between(left: Array, right: Array) -> float:
    """Return the angle of the rotation between two quaternions [rad], in [0, pi]."""
    a, b = left / np.linalg.norm(left), right / np.linalg.norm(right)
    # The nearer of q and -q; half chords are exact for small angles, unlike arccos.
    chord = min(float(np.linalg.norm(a - b)), float(np.linalg.norm(a + b)))
    return 4.0 * math.asin(min(chord / 2.0, 1.0))


def speed_of(samples: Samples) -> float:
    """Return the speed of a body in space [m/s].

    The 95th percentile of the slopes over 0.1 s (or a quarter of the samples, if that is longer).
    It is independent of what a controller reports.

    :raises UnmeasurableError: too few positions, or too short a time
    """
    if samples.position is None or len(samples) < 3:
        raise UnmeasurableError(
            f'settle unknown: {len(samples)} positions in the window', Code.SETTLE
        )
    seconds = float(samples.stamps[-1] - samples.stamps[0]) * 1e-9
    span = max(0.1, seconds / 4.0)
    upright = np.tile([0.0, 0.0, 0.0, 1.0], (len(samples), 1))
    x, y, z = samples.position.T
    try:
        flat = by_slope(Samples(samples.stamps, np.column_stack([x, y, z]), upright), span)
        tall = by_slope(Samples(samples.stamps, np.column_stack([z, y, x]), upright), span)
    except ValueError:
        raise UnmeasurableError(
            'settle unknown: positions of too short a time', Code.SETTLE
        ) from None
    return float(np.percentile(np.hypot(np.hypot(flat[:, 0], flat[:, 1]), tall[:, 0]), 95))


def gone_in(samples: Samples) -> tuple[float, float]:
    """Return the distance from the first to the last sample, and its noise limit [m].

    By straight lines through x, y and z: it detects creep, which is slow at any instant. The noise
    limit is three standard errors.

    :param samples: n >= 3 positions
    """
    assert samples.position is not None
    seconds = (samples.stamps - samples.stamps[0]).astype(np.float64) * 1e-9
    seconds -= seconds.mean()
    square = float(np.sum(seconds * seconds))
    around = samples.position - samples.position.mean(axis=0)
    slope = seconds @ around / square
    left = around - seconds[:, None] * slope
    error = np.sqrt(np.sum(left * left) / max(len(samples) - 2, 1) / square)
    length = float(seconds[-1] - seconds[0])
    return float(np.linalg.norm(slope)) * length, 3.0 * float(error) * length


def require_rest(samples: Samples, speed: float, within: float, when: str = '') -> None:
    """Refuse a time interval in which the body still moves.

    :param speed: [m/s] at most
    :param within: [mm] largest distance between beginning and end
    :param when: name of the interval, if it is not the window
    :raises UnmeasurableError: with the speed or the distance
    """
    found = speed_of(samples)
    if found > speed:
        raise UnmeasurableError(
            f'settle not reached: the body moves at {found:.4f} m/s{when}, at most {speed:g} m/s '
            'allowed',
            Code.SETTLE,
        )
    way, noise = gone_in(samples)
    if way * 1e3 > within + noise * 1e3:
        raise UnmeasurableError(
            f'settle not reached: the body creeps by {way * 1e3:.3f} mm{when}, at most '
            f'{within:g} mm allowed',
            Code.SETTLE,
        )
