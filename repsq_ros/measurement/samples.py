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

"""Stamped samples, as any sensor gives them."""

from __future__ import annotations

from typing import NamedTuple

from repsq_ros.measurement.reasons import Code

Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]  # x, y, z, w as in ROS


class BodySample(NamedTuple):
    """Pose and velocity of a body at one instant, as far as the sensor has them."""

    stamp_ns: int
    position: Vector | None  # [m, or the input's unit], in the sensor's fixed frame
    orientation: Quaternion | None  # body to fixed frame
    linear_velocity: Vector | None = None  # [m/s, or the input's unit per s]
    angular_velocity: Vector | None = None  # [rad/s]
    frame: str = ''  # frame_id of its header
    doubt: tuple[Code, str] | None = None  # what its message itself says against it


class Reading(NamedTuple):
    """One number at one instant: a dial gauge, a range, a battery, a mode."""

    stamp_ns: int
    value: float  # in the input's unit
    frame: str = ''  # frame_id of its header
    doubt: tuple[Code, str] | None = None  # what its message itself says against it


Sample = BodySample | Reading
