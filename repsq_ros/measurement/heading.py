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

"""The heading of a body, and velocities rotated to its frame."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def yaw_of(orientation: Array) -> Array:
    """Return the heading about z of quaternions: where the body's x axis points.

    :param orientation: (n, 4) as x, y, z, w; any norm but zero, either sign
    :returns: (n,) in rad, in (-pi, pi]
    """
    x, y, z, w = np.ascontiguousarray(orientation.T)  # contiguous columns
    found: Array = np.arctan2(2.0 * (w * z + x * y), w * w + x * x - y * y - z * z)
    return found


def unwrapped(heading: Array) -> Array:
    """Return headings without jumps at 180 degrees.

    :param heading: (n,) [rad]
    """
    if (np.abs(heading[1:] - heading[:-1]) < np.pi).all():
        return heading
    return np.asarray(np.unwrap(heading), dtype=np.float64)


def into_body(velocity: Array, heading: Array) -> Array:
    """Turn velocities of the world frame into the body's by its heading.

    :param velocity: (n, 2) [m/s]
    :param heading: (n,) [rad]
    """
    cosine, sine = np.cos(heading), np.sin(heading)
    forward = cosine * velocity[:, 0] + sine * velocity[:, 1]
    leftward = -sine * velocity[:, 0] + cosine * velocity[:, 1]
    return np.column_stack([forward, leftward])
