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

"""Making a subject from its name and its changed parameters."""

from __future__ import annotations

import math
from dataclasses import fields
from pathlib import Path
from typing import Any

from repsq_ros.errors import ParameterError
from repsq_ros.protocols.command_space import CommandKind
from repsq_ros.simulation.arm import Arm, ArmParameters
from repsq_ros.simulation.g1_mujoco import G1Changes, G1Mujoco
from repsq_ros.simulation.pushed import Pushed, PushedG1, PushedParameters
from repsq_ros.simulation.subject import Subject
from repsq_ros.simulation.surrogate import Surrogate, SurrogateParameters

PARAMETERS: dict[str, type] = {  # adjustable parameters
    'surrogate': SurrogateParameters,
    'g1': G1Changes,
    'arm': ArmParameters,
    'pushed': PushedParameters,
    'pushed_g1': G1Changes,
}
SUBJECTS = tuple(PARAMETERS)
WORD = f'{", ".join(SUBJECTS)}; one that differs: g1:friction=0.5,wear=0.001'
USUAL = {CommandKind.VELOCITY: 'surrogate', CommandKind.POSE: 'arm', CommandKind.PUSH: 'pushed'}


def usual_subject(takes: CommandKind) -> str:
    """Return the default simulated robot that takes velocities, poses or pushes."""
    return USUAL[takes]


def changes_of(word: str) -> tuple[str, dict[str, float]]:
    """Parse a subject's name and changed parameters: NAME:KEY=NUMBER,KEY=NUMBER.

    :raises ParameterError: no such subject, or no such parameter
    """
    name, _, rest = word.partition(':')
    if name not in PARAMETERS:
        raise ParameterError('subject', f'text {name!r}', f'one of {", ".join(SUBJECTS)}')
    usual = {each.name: each.default for each in fields(PARAMETERS[name]) if each.type == 'float'}
    changes = {}
    for change in rest.split(',') if rest else []:
        key, _, text = change.partition('=')
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if key not in usual:
            raise ParameterError('subject', f'{change!r} of {name}', f'one of {", ".join(usual)}')
        if not (math.isfinite(value) and (value > 0.0 or value == usual[key])):
            raise ParameterError('subject', f'{change!r}', f'{key}=NUMBER, a positive one')
        changes[key] = value
    return name, changes


def make_subject(word: str, model: str, gauge: tuple[float, ...] = ()) -> Subject:
    """Return a subject at rest.

    :param word: its name and changed parameters (see changes_of)
    :param model: folder with the model, for g1 and pushed_g1
    :param gauge: x, y, z [m] of the gauge, for an arm; empty: at the start of a test
    :raises ParameterError: no such subject, or g1 without a usable folder
    :raises MissingError: MuJoCo is not installed
    """
    name, changes = changes_of(word)
    if name == 'arm':
        return Arm(ArmParameters(gauge=gauge, **changes))
    apart: Any = PARAMETERS[name](**changes)
    if name == 'surrogate':
        return Surrogate(apart)
    if name == 'pushed':
        return Pushed(apart)
    if not model:
        raise ParameterError('model', 'nothing', 'the folder of the G1 model and its policy')
    folder = Path(model).expanduser()
    return G1Mujoco(folder, apart) if name == 'g1' else PushedG1(folder, apart)
