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
