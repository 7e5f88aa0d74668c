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

"""The simulated sensors: message type, rate and noise of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from repsq_ros.measurement.catalogue import CATALOGUE, TOOL_POSE
from repsq_ros.measurement.inputs import Input
from repsq_ros.measurement.samples import Samples, body_sample, number_sample
from repsq_ros.protocols import urscript
from repsq_ros.seeds import RandomStream
from repsq_ros.simulation.subject import BodyState, Vector

Reported = BodyState | float  # a gauge gives a number [m], speed scaling one in %


class SensorReading(NamedTuple):
    """One report of one sensor."""

    sensor: str
    stamp_ns: int
    state: Reported


class SensorNoise(NamedTuple):
    """Standard deviations of the simulated sensors' white noise."""

    linear_velocity: float = 0.0  # [m/s]
    angular_velocity: float = 0.0  # [rad/s]
    position: float = 0.0  # [m]
    gauge: float = 0.0  # [m]


def _noisy(vector: Vector, sd: float, chance: np.random.Generator) -> Vector:
    if sd == 0.0:
        return vector
    x, y, z = chance.standard_normal(3)
    return (vector[0] + sd * float(x), vector[1] + sd * float(y), vector[2] + sd * float(z))


def _as_it_is(state: Reported, noise: SensorNoise, chance: np.random.Generator) -> Reported:
    return state


def _odometry(state: Reported, noise: SensorNoise, chance: np.random.Generator) -> Reported:
    assert isinstance(state, BodyState)
    return state._replace(
        linear_velocity=_noisy(state.linear_velocity, noise.linear_velocity, chance),
        angular_velocity=_noisy(state.angular_velocity, noise.angular_velocity, chance),
    )


def _mocap(state: Reported, noise: SensorNoise, chance: np.random.Generator) -> Reported:
    assert isinstance(state, BodyState)
    return state._replace(position=_noisy(state.position, noise.position, chance))


def _gauge(state: Reported, noise: SensorNoise, chance: np.random.Generator) -> Reported:
    assert not isinstance(state, BodyState)
    # Rounded as in sensor_msgs/Range, which has a float32.
    return float(np.float32(state + noise.gauge * float(chance.standard_normal())))


class SimulatedSensor(NamedTuple):
    """A simulated sensor; measurement/catalogue.py reads and fills its message."""

    type: str  # ROS name of the message
    topic: str  # relative name
    frame: str  # frame_id; empty: the message has none
    rate: float  # [Hz] default
    stream: RandomStream  # of its noise
    disturb: Callable[[Reported, SensorNoise, np.random.Generator], Reported] = (
        _as_it_is  # adds noise
    )


def _usual(name: str, *more: object) -> SimulatedSensor:
    """Return a sensor on the default topic of its message type."""
    return SimulatedSensor(name, CATALOGUE[name].topic, *more)  # type: ignore[arg-type]


ODOMETRY, POSE = 'nav_msgs/msg/Odometry', 'geometry_msgs/msg/PoseStamped'
RANGE, NUMBER = 'sensor_msgs/msg/Range', 'std_msgs/msg/Float64'
SENSORS = {
    'odometry': _usual(ODOMETRY, 'odom', 50.0, RandomStream.ODOMETRY, _odometry),
    'mocap': _usual(POSE, 'world', 100.0, RandomStream.MOCAP, _mocap),
    'tool_pose': SimulatedSensor(POSE, TOOL_POSE, urscript.FRAME, 50.0, RandomStream.TOOL_POSE),
    'gauge': _usual(RANGE, 'gauge', 10.0, RandomStream.GAUGE, _gauge),
    'speed_scaling': SimulatedSensor(
        NUMBER,
        'condition/speed_scaling',
        '',
        2.0,
        RandomStream.GAUGE,  # it has no noise
    ),
}


def sensor_of(source: Input) -> str:
    """Return the name of the simulated sensor for an input; '': there is none."""
    for name, sensor in SENSORS.items():
        if (source.type, source.topic, source.field) == (sensor.type, sensor.topic, ''):
            return name
    return ''


def sample_of(reading: SensorReading, frame: str) -> Samples:
    """Return the sample of a simulated reading, as read from its message."""
    state = reading.state
    if not isinstance(state, BodyState):
        return number_sample(reading.stamp_ns, state, frame)
    twist: tuple[Vector | None, Vector | None] = (None, None)
    if 'twist' in CATALOGUE[SENSORS[reading.sensor].type].gives:
        twist = state.linear_velocity, state.angular_velocity
    return body_sample(reading.stamp_ns, state.position, state.orientation, *twist, frame)
