"""What a simulated robot is."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]  # x, y, z, w as in ROS

REST: Vector = (0.0, 0.0, 0.0)


class BodyState(NamedTuple):
    """True state of the robot's body."""

    position: Vector  # [m], world
    orientation: Quaternion  # body to world
    linear_velocity: Vector  # [m/s], in the body frame
    angular_velocity: Vector  # [rad/s], in the body frame


class SensorNoise(NamedTuple):
    """Standard deviations of the simulated sensors' white noise."""

    linear_velocity: float = 0.0  # [m/s]
    angular_velocity: float = 0.0  # [rad/s]
    position: float = 0.0  # [m]


class Subject(Protocol):
    """A robot that takes a velocity command, in ticks of fixed length."""

    @property
    def tick_ns(self) -> int:
        """Return the length of a tick."""

    @property
    def noise(self) -> SensorNoise:
        """Return the noise of its sensors."""

    def reset(self, generator: np.random.Generator) -> None:
        """Put the robot at rest at the origin; all chance until the next reset is drawn here."""

    def step(self, command: Vector) -> None:
        """Live through one tick with (v_x [m/s], v_y [m/s], yaw rate [rad/s]) commanded."""

    def state(self) -> BodyState:
        """Return the state now."""
