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

"""Standing robots that are pushed: a few equations, and the Unitree G1 in MuJoCo."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from transforms3d.euler import euler2quat

from repsq_ros.protocols.command_space import CommandKind
from repsq_ros.simulation.g1_mujoco import UNCHANGED, G1Changes, G1Mujoco
from repsq_ros.simulation.simulated_sensors import SensorNoise
from repsq_ros.simulation.subject import REST, BodyState, Command, Vector, worn

TICK_NS = 2_000_000
SECONDS = TICK_NS * 1e-9
NO_PUSH: Command = (0.0, 0.0)
IMPACT = 0.1  # [s] duration of a push on the G1
STAND: Command = (0.0, 0.0, 0.0)  # [m/s, m/s, rad/s] command to its policy
PELVIS = 1  # body of the G1's model; 0 is the world


@dataclass(frozen=True)
class PushedParameters:
    """Behaviour of the robot that is pushed. The defaults stand for a small humanoid."""

    mass: float = 35.0  # [kg]
    # [N s] largest impulse without a fall, forward and sideways
    capacity: tuple[float, float] = (26.0, 18.0)
    spread: float = 0.15  # standard deviation of the capacity between pushes, as a share
    recovery: float = 0.5  # [s] time constant of the velocity's decay
    lever: float = 0.02  # [m] standard deviation of the push's offset from the axis
    inertia: float = 2.0  # [kg m^2] about its vertical axis
    height: float = 0.75  # [m] of the pelvis
    fall: float = 0.6  # [s] duration of a fall
    wear: float = 0.0  # with each test, 1 / capacity grows by this share of the first one


class Pushed:
    """Responds to a push with a velocity that decays by steps; above its capacity, it falls."""

    takes = CommandKind.PUSH
    sensors = ('mocap',)
    tick_ns = TICK_NS
    noise = SensorNoise(position=0.0005)

    def __init__(self, parameters: PushedParameters | None = None) -> None:
        self._parameters = parameters or PushedParameters()
        self._keep = math.exp(-SECONDS / self._parameters.recovery)
        self.reset(np.random.default_rng(0), 0)

    def reset(self, generator: np.random.Generator, index: int) -> None:
        """Stand at the origin, worn by the tests before; draw the random part of the next push."""
        hit, strength = (float(each) for each in generator.standard_normal(2))
        self._lever = self._parameters.lever * hit
        self._strength = max(1.0 + self._parameters.spread * strength, 0.2)
        self._strength /= worn(self._parameters.wear, index)
        self._command = NO_PUSH
        self._position, self._velocity = [0.0, 0.0], [0.0, 0.0]
        self._heading = self._turning = self._tilt = 0.0
        self._falls = False

    def step(self, command: Command) -> None:
        """Simulate one tick; a push acts when it is new."""
        if command != self._command:
            self._command = command
            if command != NO_PUSH:
                self._take(*command)
        keep, parameters = self._keep, self._parameters
        for axis in (0, 1):
            self._position[axis] += self._velocity[axis] * SECONDS
            self._velocity[axis] *= keep
        self._heading += self._turning * SECONDS
        self._turning *= keep
        if self._falls:
            self._tilt = min(self._tilt + math.pi / 2 / parameters.fall * SECONDS, math.pi / 2)

    def _take(self, impulse: float, azimuth: float) -> None:
        parameters = self._parameters
        ahead, aside = math.cos(azimuth), math.sin(azimuth)
        forward, sideways = parameters.capacity
        capacity = 1.0 / math.hypot(ahead / forward, aside / sideways)
        self._falls = impulse > capacity * self._strength
        speed = impulse / parameters.mass
        way = self._heading + azimuth
        self._velocity = [speed * math.cos(way), speed * math.sin(way)]
        self._turning = impulse * self._lever / parameters.inertia

    def state(self) -> BodyState:
        """Return the true state of its pelvis."""
        qw, qx, qy, qz = map(float, euler2quat(0.0, self._tilt, self._heading, 'sxyz'))
        height = max(self._parameters.height * math.cos(self._tilt), 0.1)
        cosine, sine = math.cos(self._heading), math.sin(self._heading)
        x, y = self._velocity
        velocity: Vector = (cosine * x + sine * y, cosine * y - sine * x, 0.0)
        place = (self._position[0], self._position[1], height)
        return BodyState(place, (qx, qy, qz, qw), velocity, (REST[0], REST[1], self._turning))

    def seen_by(self, sensor: str) -> BodyState:
        """Return the true state, for all sensors."""
        return self.state()


class PushedG1(G1Mujoco):
    """The G1 stepping in place; a push is a horizontal force on its pelvis for IMPACT seconds."""

    takes = CommandKind.PUSH

    def __init__(self, folder: Path, changes: G1Changes = UNCHANGED) -> None:
        self._pushed, self._left = NO_PUSH, 0
        super().__init__(folder, changes)

    def reset(self, generator: np.random.Generator, index: int) -> None:
        """Stand at the origin, not pushed. The generator is not used."""
        self._pushed, self._left = NO_PUSH, 0
        super().reset(generator, index)

    def step(self, command: Command) -> None:
        """Simulate one tick; a push acts from its first tick on."""
        if command != self._pushed:
            self._pushed = command
            self._left = round(IMPACT / self._seconds) if command != NO_PUSH else 0
            if self._left:
                self._force = self._force_of(*command)
        self._data.xfrc_applied[PELVIS, :2] = self._force if self._left else 0.0
        self._left = max(self._left - 1, 0)
        super().step(STAND)

    def _force_of(self, impulse: float, azimuth: float) -> tuple[float, float]:
        """Return the force [N] in the world frame for an azimuth in the body frame."""
        w, x, y, z = self._data.qpos[3:7].tolist()
        yaw = math.atan2(2.0 * (w * z + x * y), w * w + x * x - y * y - z * z)
        size = impulse / IMPACT
        return size * math.cos(yaw + azimuth), size * math.sin(yaw + azimuth)
