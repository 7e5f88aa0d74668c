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

"""A subject with its sensors and its own time.

What a test gives depends on the seed, the index and the command alone: each attempt starts at
rest, and everything random is drawn from streams of its own. So an attempt that is made again,
after a pause or because a peer was lost, gives what the first one would have given.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from repsq_ros.errors import ParameterError
from repsq_ros.seeds import RandomStream, generator
from repsq_ros.simulation.subject import BodyState, Command, Subject, Vector
from repsq_ros.timebase import NANOSECONDS

FIRST_ATTEMPT = 0  # part of the key of the streams
BETWEEN_TESTS = 2**32 - 1  # stands for the index while no test is under way


@dataclass(frozen=True)
class SensorRates:
    """How often the simulated sensors report, in Hz; each must divide the subject's tick rate."""

    odometry: float = 50.0
    mocap: float = 100.0
    tool_pose: float = 125.0
    gauge: float = 10.0
    speed_scaling: float = 10.0

    def ticks(self, subject: Subject) -> dict[str, int]:
        """Return the ticks between two reports of each of the subject's sensors.

        :raises ParameterError: a rate that is no whole part of the subject's tick rate
        """
        tick_rate = NANOSECONDS / subject.tick_ns
        counts = {}
        for sensor in subject.sensors:
            rate = float(getattr(self, sensor))
            count = round(tick_rate / rate) if rate > 0 else 0
            if count < 1 or abs(count * rate - tick_rate) > 1e-6 * tick_rate:
                raise ParameterError(
                    f'{sensor}_rate',
                    f'{rate:g} Hz',
                    f'a rate of which {tick_rate:g} Hz is a multiple',
                )
            counts[sensor] = count
        return counts


class SensorReading(NamedTuple):
    """One report of one sensor; a gauge gives a number [m], speed scaling one in %."""

    sensor: str
    stamp_ns: int
    state: BodyState | float


STREAMS = {
    'odometry': RandomStream.ODOMETRY,
    'mocap': RandomStream.MOCAP,
    'tool_pose': RandomStream.TOOL_POSE,
    'gauge': RandomStream.GAUGE,
    'speed_scaling': RandomStream.GAUGE,  # it has no noise
}


class Simulation:
    """Runs a subject from instant to instant and gives what its sensors report."""

    def __init__(self, subject: Subject, seed: int, rates: SensorRates, start_ns: int) -> None:
        self._subject = subject
        self._seed = seed
        self._sensors = rates.ticks(subject)
        self.begin(BETWEEN_TESTS, start_ns)

    @property
    def now_ns(self) -> int:
        """Return the instant up to which the subject has lived."""
        return self._start_ns + self._ticks * self._subject.tick_ns

    def begin(self, index: int, start_ns: int) -> None:
        """Put the subject at rest for a test that begins at the given instant."""
        self._start_ns = start_ns
        self._ticks = 0
        key = (index, FIRST_ATTEMPT)
        self._noise = {
            sensor: generator(self._seed, STREAMS[sensor], *key) for sensor in self._sensors
        }
        self._subject.reset(generator(self._seed, RandomStream.SUBJECT, *key))

    def advance(self, until_ns: int, command: Command) -> Iterator[SensorReading]:
        """Live up to an instant (to the last whole tick before it), under a command."""
        subject = self._subject
        while self.now_ns + subject.tick_ns <= until_ns:
            subject.step(command)
            self._ticks += 1
            for sensor, ticks in self._sensors.items():
                if self._ticks % ticks == 0:
                    yield SensorReading(sensor, self.now_ns, self._seen_by(sensor))

    def _seen_by(self, sensor: str) -> BodyState | float:
        noise, chance = self._subject.noise, self._noise[sensor]
        state = self._subject.seen_by(sensor)
        if not isinstance(state, BodyState):
            if sensor == 'gauge':
                # As a float32 of sensor_msgs/Range carries it.
                return float(np.float32(state + noise.gauge * float(chance.standard_normal())))
            return state
        if sensor == 'tool_pose':
            return state
        if sensor == 'mocap':
            return state._replace(position=_noisy(state.position, noise.position, chance))
        return state._replace(
            linear_velocity=_noisy(state.linear_velocity, noise.linear_velocity, chance),
            angular_velocity=_noisy(state.angular_velocity, noise.angular_velocity, chance),
        )


def _noisy(vector: Vector, sd: float, noise: np.random.Generator) -> Vector:
    if sd == 0.0:
        return vector
    x, y, z = noise.standard_normal(3)
    return (vector[0] + sd * float(x), vector[1] + sd * float(y), vector[2] + sd * float(z))
