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

"""The interface of a simulated robot."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from repsq_ros.protocols.command_space import CommandKind

if TYPE_CHECKING:
    from repsq_ros.simulation.simulated_sensors import SensorNoise

Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]  # x, y, z, w as in ROS
Command = tuple[float, ...]  # see `Subject.takes`

REST: Vector = (0.0, 0.0, 0.0)


def worn(wear: float, index: int) -> float:
    """Return the factor by which a robot has worn before the test of this index."""
    return 1.0 + wear * index


class BodyState(NamedTuple):
    """True state of the robot's body."""

    position: Vector  # [m], world
    orientation: Quaternion  # body to world
    linear_velocity: Vector  # [m/s], in the body frame
    angular_velocity: Vector  # [rad/s], in the body frame


class Subject(Protocol):
    """A robot that takes a command, in ticks of fixed length."""

    @property
    def takes(self) -> CommandKind:
        """Return the kind of command that it takes.

        velocity: (v_x [m/s], v_y [m/s], yaw rate [rad/s]). pose: (x, y, z [m], roll, pitch, yaw
        [rad]) of its tool, or an empty command: stop. push: (impulse [N s], azimuth [rad], 0 is
        forward), once when it changes from rest.
        """

    @property
    def sensors(self) -> tuple[str, ...]:
        """Return the names of its sensors in simulated_sensors.SENSORS."""

    @property
    def tick_ns(self) -> int:
        """Return the length of a tick."""

    @property
    def noise(self) -> SensorNoise:
        """Return the noise of its sensors."""

    def reset(self, generator: np.random.Generator, index: int) -> None:
        """Put the robot at the start of a test, and draw all randomness until the next reset.

        :param index: of the test, from 0; how far the robot has worn follows from it alone
        """

    def step(self, command: Command) -> None:
        """Simulate one tick with a command."""

    def state(self) -> BodyState:
        """Return the current state."""

    def seen_by(self, sensor: str) -> BodyState | float:
        """Return a sensor's report without noise; a gauge's in m, speed scaling in %."""
