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

"""The simulated sensors: by which message and on which topic each reports."""

from __future__ import annotations

from typing import NamedTuple

from repsq_ros.measurement.catalogue import CATALOGUE, TOOL_POSE
from repsq_ros.measurement.inputs import Input


class SimulatedSensor(NamedTuple):
    """How a simulated sensor reports."""

    type: str  # ROS name of its message
    topic: str  # relative


def _usual(name: str) -> SimulatedSensor:
    return SimulatedSensor(name, CATALOGUE[name].topic)


SENSORS = {
    'odometry': _usual('nav_msgs/msg/Odometry'),
    'mocap': _usual('geometry_msgs/msg/PoseStamped'),
    'tool_pose': SimulatedSensor('geometry_msgs/msg/PoseStamped', TOOL_POSE),
    'gauge': _usual('sensor_msgs/msg/Range'),
    'speed_scaling': SimulatedSensor('std_msgs/msg/Float64', 'condition/speed_scaling'),
}


def sensor_of(source: Input) -> str:
    """Return the name of the simulated sensor that stands for an input, or '' (none does)."""
    for name, sensor in SENSORS.items():
        if source.topic == sensor.topic and source.type == sensor.type and not source.field:
            return name
    return ''
