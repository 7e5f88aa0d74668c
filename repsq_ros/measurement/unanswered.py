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

"""A body that does not move at all during a clear velocity command: no answer."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from repsq_ros.measurement.cut import Cut
from repsq_ros.measurement.heading import unwrapped, yaw_of
from repsq_ros.measurement.inputs import Need
from repsq_ros.measurement.samples import Array

SPAN = 1.0  # [s] over which sway and sensor noise are averaged
TURN = 2.0  # [rad/s] per m/s of `least_speed`: corresponding yaw rate
CLEAR = 2.0  # times `least_speed`: a slower command may look like rest


def is_clear(command: Sequence[float], least_speed: float) -> bool:
    """Tell whether a command is a velocity that clearly differs from rest.

    :param command: v_x, v_y, yaw rate [m/s, m/s, rad/s]; false for a pose or a push
    :param least_speed: [m/s] of a moving robot
    """
    if len(command) != 3:
        return False
    return max(math.hypot(*command[:2]), abs(command[2]) / TURN) >= CLEAR * least_speed


def unanswered(cut: Cut) -> str:
    """Return that the body stood still from its command to the end of its window, or ''.

    :param cut: the window with everything before it
    """
    window = cut.window
    least = cut.limits.least_speed
    if cut.needs == Need.READING or not is_clear(window.command, least):
        return ''
    speed, turn = _means(cut.part(window.command_ns, window.end_ns))
    if not len(speed) or speed.max() >= least or turn.max() >= TURN * least:
        return ''
    return (
        f'no answer: commanded {", ".join(f"{each:.3g}" for each in window.command)}, and moved '
        f'by {speed.max():.3f} m/s and {turn.max():.3f} rad/s at most'
    )


def _means(cut: Cut) -> tuple[Array, Array]:
    """Return mean speed [m/s] and turn rate [rad/s] over each SPAN, (n,); empty: too short."""
    samples = cut.samples
    seconds = (samples.stamps - cut.start_ns).astype(np.float64) * 1e-9
    last = seconds.searchsorted(seconds + SPAN)
    first = np.flatnonzero(last < len(seconds))
    last = last[first]
    if samples.position is not None and not cut.by_twist:
        lapsed = seconds[last] - seconds[first]
        moved = samples.position[last] - samples.position[first]
        turned: Array = np.zeros(len(first))
        if samples.orientation is not None:
            heading: Array = unwrapped(yaw_of(samples.orientation))
            turned = np.abs(heading[last] - heading[first])
        return np.linalg.norm(moved[:, :2], axis=1) / lapsed, turned / lapsed
    if samples.linear is None or samples.angular is None:
        return np.empty(0), np.empty(0)
    velocity = np.column_stack([samples.linear[:, :2], samples.angular[:, 2]])
    summed = np.vstack([np.zeros(3), np.cumsum(velocity, axis=0)])
    mean = (summed[last] - summed[first]) / (last - first)[:, None]
    return np.linalg.norm(mean[:, :2], axis=1), np.abs(mean[:, 2])
