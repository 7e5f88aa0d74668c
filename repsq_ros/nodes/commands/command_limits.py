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

"""Hard limits that a lab sets for its robot's commands, independent of the specification."""

from __future__ import annotations

from repsq_ros.errors import ParameterError
from repsq_ros.nodes.parameters import Parameters
from repsq_ros.protocols.command_space import (
    COMPONENTS,
    TOLERANCE,
    UNITS,
    CommandKind,
    CommandSpace,
)


def check_limits(parameters: Parameters, space: CommandSpace) -> None:
    """Refuse a specification that exceeds the limits.

    :raises ParameterError: the component, its range and its limit
    """
    if space.kind == CommandKind.VELOCITY:
        _check_velocities(parameters, space)
    elif space.kind == CommandKind.POSE:
        _check_workspace(parameters, space)
    else:
        _check_impulse(parameters, space)


def _check_impulse(parameters: Parameters, space: CommandSpace) -> None:
    limit = parameters.number(
        'limit_impulse', 0.0, 'N s that no push exceeds; 0: the box alone', at_least=0
    )
    if 0.0 < limit < space.largest[0] - TOLERANCE:
        raise ParameterError(
            'limit_impulse',
            f'{limit:g} N s, and a specification whose impulse reaches {space.largest[0]:g}',
            f'a specification within it, or a limit of {space.largest[0]:g} at least',
        )


def _check_velocities(parameters: Parameters, space: CommandSpace) -> None:
    linear, angular = (
        parameters.number(
            f'limit_{name}', 0.0, f'{unit} that no command exceeds; 0: the box alone', at_least=0
        )
        for name, unit in (('linear', 'm/s'), ('angular', 'rad/s'))
    )
    for name, unit, largest, parameter, limit in zip(
        COMPONENTS[CommandKind.VELOCITY],
        UNITS[CommandKind.VELOCITY],
        space.largest,
        ('limit_linear', 'limit_linear', 'limit_angular'),
        (linear, linear, angular),
        strict=True,
    ):
        if 0.0 < limit < largest - TOLERANCE:
            raise ParameterError(
                parameter,
                f'{limit:g} {unit}, and a specification whose {name} reaches {largest:g}',
                f'a specification within it, or a limit of {largest:g} at least',
            )


def _check_workspace(parameters: Parameters, space: CommandSpace) -> None:
    bounds = parameters.numbers(
        'workspace', 6, 'x_min x_max y_min y_max z_min z_max [m] of the tool; empty: the ranges'
    )
    for at in range(len(bounds) // 2):
        name, (lower, upper) = COMPONENTS[CommandKind.POSE][at], space.ranges[at]
        least, most = bounds[2 * at : 2 * at + 2]
        if not least < most:
            raise ParameterError(
                'workspace', f'{name} from {least:g} to {most:g} m', 'the smaller one first'
            )
        if lower < least - TOLERANCE or upper > most + TOLERANCE:
            raise ParameterError(
                'workspace',
                f'{name} from {least:g} to {most:g} m, and a specification that '
                f'reaches from {lower:g} to {upper:g} m',
                'a specification within it',
            )
