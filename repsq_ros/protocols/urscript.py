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

"""The URScript that moves a tool along a straight line, or stops it; and its parser.

Poses in URScript are positions [m] and rotation vectors [rad] in the robot's base frame.
Source: Universal Robots, script manual, module motion: movel, stopl.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import Literal

from repsq_ros.protocols.command_space import Command
from repsq_ros.protocols.rotation import (
    quaternion_of_rpy,
    quaternion_of_vector,
    rpy_of_quaternion,
    vector_of_quaternion,
)

FRAME = 'base'  # frame_id of the robot's base frame in its driver
Script = tuple[Literal['movel'], Command, float, float] | tuple[Literal['stopl'], float]

_NUMBER = r'\s*([-+.\w]+)\s*'
_POSE = ','.join([_NUMBER] * 6)
_MOVE = re.compile(rf'\s*movel\(\s*p\[{_POSE}\]\s*,\s*a\s*={_NUMBER},\s*v\s*={_NUMBER}\)\s*')
_STOP = re.compile(r'\s*stopl\(' + _NUMBER + r'\)\s*')


def movel(pose: Command, acceleration: float, speed: float) -> str:
    """Return the script that moves the tool.

    :param pose: x, y, z [m], roll, pitch, yaw [rad] in the robot's base frame
    :param acceleration: [m/s^2]
    :param speed: [m/s]
    """
    x, y, z, roll, pitch, yaw = pose
    vector = vector_of_quaternion(quaternion_of_rpy(roll, pitch, yaw))
    numbers = ', '.join(_digits(value) for value in (x, y, z, *vector))
    return f'movel(p[{numbers}], a={_digits(acceleration)}, v={_digits(speed)})'


def stopl(acceleration: float) -> str:
    """Return the script that brings the tool to rest.

    :param acceleration: of braking [m/s^2]
    """
    return f'stopl({_digits(acceleration)})'


def parse_script(text: str) -> Script:
    """Parse a script: ('movel', pose, a, v) or ('stopl', a).

    The pose is x, y, z [m], roll, pitch, yaw [rad] in the robot's base frame.

    :raises ValueError: another command, or an invalid number
    """
    move = _MOVE.fullmatch(text)
    if move:
        x, y, z, a, b, c, acceleration, speed = map(_number, move.groups())
        turn = rpy_of_quaternion(quaternion_of_vector((a, b, c)))
        return ('movel', (x, y, z, *turn), _positive(acceleration), _positive(speed))
    stop = _STOP.fullmatch(text)
    if stop:
        return ('stopl', _positive(_number(stop[1])))
    raise ValueError(
        f'script: found {text!r}, expected movel(p[x, y, z, rx, ry, rz], a=..., v=...) or stopl(a)'
    )


def _digits(value: float) -> str:
    """Return all digits of a number, without an exponent, which a robot rejects silently."""
    return f'{Decimal(repr(float(value))):f}'


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f'script: found {text!r}, expected a finite number')
    return value


def _positive(value: float) -> float:
    if not value > 0.0:
        raise ValueError(f'script: found {value:g} as acceleration or speed, expected > 0')
    return value
