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

"""The requests that make a Unitree humanoid walk at a velocity, or go limp.

Source: Unitree's SDK, locomotion client of the G1: the requests that set velocity and state.
"""

from __future__ import annotations

import json

from repsq_ros.protocols.command_space import Command

SET_VELOCITY = 7105  # api_id of the request
SET_STATE = 7101
DAMPING = 1  # state in which the joints only damp: the robot sinks to the ground


def velocity_request(velocity: Command, duration: float) -> str:
    """Return the parameter of the request, as JSON.

    :param velocity: v_x, v_y, yaw rate [m/s, m/s, rad/s] in the robot's frame
    :param duration: validity of the request, unless another one comes [s]
    :raises ValueError: a number is not finite, which JSON cannot hold
    """
    return json.dumps(
        {'velocity': [float(value) for value in velocity], 'duration': float(duration)},
        allow_nan=False,
    )


def state_request(state: int) -> str:
    """Return the parameter of the request for a state of the robot, as JSON."""
    return json.dumps({'data': state})
