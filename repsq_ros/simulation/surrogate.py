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

"""A walking robot in a few equations: lag, bias, periodic sway, noise. Not a real robot."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from repsq_ros.protocols.command_space import CommandKind
from repsq_ros.simulation.simulated_sensors import SensorNoise
from repsq_ros.simulation.subject import BodyState, Command, Vector, worn

TICK_NS = 2_000_000
NOISE = SensorNoise(linear_velocity=0.01, angular_velocity=0.01, position=0.0005)


@dataclass(frozen=True)
class SurrogateParameters:
    """Behaviour of the surrogate. The default tracking loss is similar to a small humanoid's."""

    lag: float = 0.25  # [s] time constant of each component
    response: Vector = (0.80, 0.65, 0.75)  # steady velocity over commanded velocity
    bias: Vector = (0.010, -0.015, 0.020)  # [m/s, m/s, rad/s] steady drift
    stride: float = 0.8  # [s] period of the gait: of lateral sway, and twice that of forward sway
    sway: Vector = (0.030, 0.085, 0.060)  # [m/s, m/s, rad/s] amplitude
    wear: float = 0.0  # with each test, 1 / response grows by this share of the first one
    noise: SensorNoise = NOISE


class Surrogate:
    """First-order response to the command, plus a sway with the stride's period."""

    takes = CommandKind.VELOCITY
    sensors = ('mocap', 'odometry')
    tick_ns = TICK_NS

    def __init__(self, parameters: SurrogateParameters | None = None) -> None:
        self._parameters = parameters or SurrogateParameters()
        self._keep = math.exp(-TICK_NS * 1e-9 / self._parameters.lag)
        self.reset(np.random.default_rng(0), 0)

    @property
    def noise(self) -> SensorNoise:
        """Noise of its sensors."""
        return self._parameters.noise

    def reset(self, generator: np.random.Generator, index: int) -> None:
        """Stand at the origin, worn by the tests before; draw the phase of the stride."""
        self._worn = worn(self._parameters.wear, index)
        self._phase = 2 * math.pi * float(generator.random())
        self._time = 0.0
        self._mean: list[float] = [0.0, 0.0, 0.0]
        self._position = [0.0, 0.0]
        self._heading = 0.0
        self._velocity = self._swayed()

    def _swayed(self) -> Vector:
        """Return the mean velocity plus the sway."""
        lateral = 2 * math.pi * self._time / self._parameters.stride + self._phase
        sway = self._parameters.sway
        return (
            self._mean[0] + sway[0] * math.sin(2 * lateral),
            self._mean[1] + sway[1] * math.sin(lateral),
            self._mean[2] + sway[2] * math.cos(lateral),
        )

    def step(self, command: Command) -> None:
        """Simulate one tick."""
        seconds = TICK_NS * 1e-9
        forward, leftward, turn = self._velocity
        cosine, sine = math.cos(self._heading), math.sin(self._heading)
        self._position[0] += (cosine * forward - sine * leftward) * seconds
        self._position[1] += (sine * forward + cosine * leftward) * seconds
        self._heading += turn * seconds
        self._time += seconds
        parameters = self._parameters
        for k in range(3):
            aim = parameters.response[k] / self._worn * command[k] + parameters.bias[k]
            self._mean[k] = aim + (self._mean[k] - aim) * self._keep
        self._velocity = self._swayed()

    def seen_by(self, sensor: str) -> BodyState:
        """Return the true state, for all sensors."""
        return self.state()

    def state(self) -> BodyState:
        """Return the current state."""
        half = self._heading / 2
        return BodyState(
            (self._position[0], self._position[1], 0.75),
            (0.0, 0.0, math.sin(half), math.cos(half)),
            (self._velocity[0], self._velocity[1], 0.0),
            (0.0, 0.0, self._velocity[2]),
        )
