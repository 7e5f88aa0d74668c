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

"""A subject that falls: a result, never an INVALID test."""

from __future__ import annotations

import math

import numpy as np

from repsq_ros.measurement.limits import Fall
from repsq_ros.measurement.track import Track


def tilt_of(track: Track) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the angle between the body's z axis and the vertical [rad], (n,); n >= 1.

    With q = (x, y, z, w) of any norm, cos(tilt) = (w^2 + z^2 - x^2 - y^2) / |q|^2.
    """
    assert track.orientation is not None
    x, y, z, w = track.orientation.T
    size = x * x + y * y + z * z + w * w
    found: np.ndarray[tuple[int], np.dtype[np.float64]] = np.arccos(
        np.clip((w * w + z * z - x * x - y * y) / size, -1.0, 1.0)
    )
    return found


def fallen(track: Track, fall: Fall) -> str:
    """Return how the body has fallen, or ''.

    It has where it lies too low, or leans too far, in all samples of a span of `hold`.

    :param track: whole samples in SI units, z up, from the command on
    """
    down = np.zeros(len(track), dtype=np.bool_)
    if track.position is not None and fall.height > -math.inf:
        down |= track.position[:, 2] < fall.height
    if track.orientation is not None and fall.tilt < math.inf:
        down |= tilt_of(track) > fall.tilt
    began: int | None = None
    for stamp, is_down in zip(track.stamps.tolist(), down.tolist(), strict=True):
        if not is_down:
            began = None
            continue
        began = stamp if began is None else began
        if (stamp - began) * 1e-9 >= fall.hold:
            return _told(track)
    return ''


def _told(track: Track) -> str:
    parts = []
    if track.position is not None:
        parts.append(f'lowest height {track.position[:, 2].min():.3f} m')
    if track.orientation is not None:
        parts.append(f'largest tilt {tilt_of(track).max():.3f} rad')
    return f'fall: {", ".join(parts)}'
