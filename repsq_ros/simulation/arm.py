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

"""A robot arm in a few equations: straight moves with small pose errors. Not a real robot."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from repsq_ros.protocols.command_space import CommandKind
from repsq_ros.protocols.rotation import quaternion_of_rpy
from repsq_ros.simulation.simulated_sensors import SensorNoise
from repsq_ros.simulation.subject import REST, BodyState, Command, Vector, worn

TICK_NS = 2_000_000
START: Command = (0.4, 0.1, 0.5, math.pi, 0.0, 0.0)  # [m, rad] initial pose
NOISE = SensorNoise(position=0.00001, gauge=0.0000003)


@dataclass(frozen=True)
class ArmParameters:
    """How precisely and how fast the simulated arm moves."""

    speed: float = 0.25  # [m/s] on its moves, whatever is requested
    lag: float = 0.05  # [s] time to come to rest
    repeatability: float = 0.00002  # [m] standard deviation of each axis at each arrival
    hysteresis: float = 0.0001  # [m] error at an arrival, per m of path since the reset
    travel: float = 0.010  # [m] of the gauge, which is in its middle at `gauge`
    gauge: Command = ()  # x, y, z [m] of the tool; empty: where it was reset
    wear: float = 0.0  # share by which repeatability and hysteresis grow with each test


quaternion_of = lru_cache(maxsize=8)(quaternion_of_rpy)  # most moves keep the orientation


class Arm:
    """Moves straight to its goal; the true pose has a random error and a path-dependent one."""

    takes = CommandKind.POSE
    sensors = ('mocap', 'tool_pose', 'gauge', 'speed_scaling')
    tick_ns = TICK_NS
    noise = NOISE

    def __init__(self, parameters: ArmParameters | None = None) -> None:
        self._parameters = parameters or ArmParameters()
        self._share = 1.0 - math.exp(-TICK_NS * 1e-9 / self._parameters.lag)
        self._goal: Command = START
        self._here = list(START)
        self._rested: list[float] = []  # the exact pose at rest
        self.reset(np.random.default_rng(0), 0)

    def reset(self, generator: np.random.Generator, index: int) -> None:
        """Rest at the goal, which becomes the place of the gauge; worn by the tests before."""
        self._worn = worn(self._parameters.wear, index)
        self._generator = generator
        self._here, self._rested = list(self._goal), []
        self._base = self._parameters.gauge or self._goal[:3]
        self._far = 0.0
        self._arrive()

    def _arrive(self) -> None:
        """Draw the pose error at the goal."""
        if math.dist(self._here[:3], self._base) < 1e-3:
            self._far = 0.0
        sd = self._parameters.repeatability * self._worn
        lost = self._parameters.hysteresis * self._worn * self._far
        x, y, z = (sd * float(each) for each in self._generator.standard_normal(3))
        self._off: Vector = (x, y, z - lost)

    def step(self, command: Command) -> None:
        """Simulate one tick; without a command it stops."""
        goal = tuple(command) or tuple(self._here)
        if goal != self._goal:
            self._goal, self._rested = goal, []
            self._arrive()
        here = self._here
        if here == self._rested:
            return
        way = [there - now for there, now in zip(goal, here, strict=True)]
        length = math.hypot(*way[:3])
        reach = self._parameters.speed * TICK_NS * 1e-9
        share = self._share if length == 0 else min(self._share, reach / length)
        self._here = [now + share * each for now, each in zip(here, way, strict=True)]
        if self._here == here:
            self._rested = self._here
        self._far = max(self._far, math.dist(self._here[:3], self._base))

    def _state(self, off: Vector) -> BodyState:
        x, y, z, *turn = self._here
        return BodyState((x + off[0], y + off[1], z + off[2]), quaternion_of(*turn), REST, REST)

    def state(self) -> BodyState:
        """Return the true pose of the tool."""
        return self._state(self._off)

    def seen_by(self, sensor: str) -> BodyState | float:
        """Return the tool's true pose, its pose by the controller, or a number."""
        if sensor == 'gauge':
            return self._gauge()
        if sensor == 'speed_scaling':
            return 100.0
        return self._state(REST) if sensor == 'tool_pose' else self.state()

    def _gauge(self) -> float:
        """Return the displacement of the gauge by the tool, along z [m]."""
        travel = self._parameters.travel
        off = math.dist(self._here[:2], self._base[:2])
        if off > travel:
            return travel
        reading = travel / 2 + self._here[2] + self._off[2] - self._base[2]
        return min(max(reading, 0.0), travel)
