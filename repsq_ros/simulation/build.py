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

"""From the name of a subject to the subject."""

from __future__ import annotations

from pathlib import Path

from repsq_ros.errors import ParameterError
from repsq_ros.protocols.command_space import CommandKind
from repsq_ros.simulation.arm import Arm, ArmParameters
from repsq_ros.simulation.g1_mujoco import G1Mujoco
from repsq_ros.simulation.pushed import Pushed, PushedG1
from repsq_ros.simulation.subject import Subject
from repsq_ros.simulation.surrogate import Surrogate

SUBJECTS = ('surrogate', 'g1', 'arm', 'pushed', 'pushed_g1')
USUAL = {CommandKind.VELOCITY: 'surrogate', CommandKind.POSE: 'arm', CommandKind.PUSH: 'pushed'}


def usual_subject(takes: CommandKind) -> str:
    """Return the simulated robot that stands for any that takes velocities, poses or pushes."""
    return USUAL[takes]


def make_subject(name: str, model: str, gauge: tuple[float, ...] = ()) -> Subject:
    """Return a subject at rest.

    :param model: folder with the model, for g1 and pushed_g1
    :param gauge: x, y, z [m] of the gauge, for an arm; empty: where a test begins
    :raises ParameterError: g1 without a usable folder; MissingError: MuJoCo is not installed
    """
    if name == 'surrogate':
        return Surrogate()
    if name == 'arm':
        return Arm(ArmParameters(gauge=gauge))
    if name == 'pushed':
        return Pushed()
    if not model:
        raise ParameterError('model', 'nothing', 'the folder of the G1 model and its policy')
    folder = Path(model).expanduser()
    return G1Mujoco(folder) if name == 'g1' else PushedG1(folder)
