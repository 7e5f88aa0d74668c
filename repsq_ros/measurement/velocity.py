"""Velocity of a body in its own frame, from a twist or from poses."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from repsq_ros.measurement.samples import BodySample

Array = NDArray[np.float64]


def yaw_of(orientation: Array) -> Array:
    """Return the heading about z of quaternions.

    :param orientation: (n, 4) as x, y, z, w; any norm but zero
    :returns: (n,) in rad, in (-pi, pi]
    """
    x, y, z, w = (orientation[:, k] for k in range(4))
    return np.arctan2(2.0 * (w * z + x * y), w * w + x * x - y * y - z * z)


def from_twist(samples: Sequence[BodySample]) -> Array:
    """Return (v_x, v_y, yaw rate) as the sensor reports them in the body frame.

    :returns: (n, 3) in m/s, m/s, rad/s
    :raises ValueError: a sample without velocity
    """
    rows = []
    for sample in samples:
        if sample.linear_velocity is None or sample.angular_velocity is None:
            raise ValueError('a sample has no velocity')
        rows.append((*sample.linear_velocity[:2], sample.angular_velocity[2]))
    return np.array(rows, dtype=np.float64).reshape(-1, 3)


def from_poses(before: BodySample, samples: Sequence[BodySample]) -> Array:
    """Return (v_x, v_y, yaw rate) by backward differences, as the paper does.

    The displacement between two poses is turned into the body frame by their middle heading;
    headings are unwrapped, so that a turn through 180 degrees is no jump.

    :param before: the sample before the first one
    :returns: (n, 3) in m/s, m/s, rad/s
    """
    chain = [before, *samples]
    stamps = np.array([sample.stamp_ns for sample in chain], dtype=np.int64)
    step = np.diff(stamps).astype(np.float64) * 1e-9
    position = np.array([sample.position for sample in chain], dtype=np.float64)
    heading = np.unwrap(yaw_of(np.array([sample.orientation for sample in chain])))
    moved = np.diff(position[:, :2], axis=0)
    middle = (heading[1:] + heading[:-1]) / 2.0
    cosine, sine = np.cos(middle), np.sin(middle)
    forward = cosine * moved[:, 0] + sine * moved[:, 1]
    leftward = -sine * moved[:, 0] + cosine * moved[:, 1]
    velocity: Array = np.column_stack([forward, leftward, np.diff(heading)]) / step[:, None]
    return velocity
