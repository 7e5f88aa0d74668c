"""From the name of a subject to the subject."""

from __future__ import annotations

from pathlib import Path

from repsq_ros.errors import ParameterError
from repsq_ros.subjects.arm import Arm, ArmParameters
from repsq_ros.subjects.g1_mujoco import G1Mujoco
from repsq_ros.subjects.subject import Subject
from repsq_ros.subjects.surrogate import Surrogate

SUBJECTS = ('surrogate', 'g1', 'arm')


def usual_subject(takes: str) -> str:
    """Return the simulated robot that stands for any that takes velocities, or poses."""
    return 'arm' if takes == 'pose' else 'surrogate'


def make_subject(name: str, model: str, gauge: tuple[float, ...] = ()) -> Subject:
    """Return a subject at rest.

    :param model: folder with the model, for g1
    :param gauge: x, y, z [m] of the gauge, for an arm; empty: where a test begins
    :raises ParameterError: g1 without a usable folder; MissingError: MuJoCo is not installed
    """
    if name == 'surrogate':
        return Surrogate()
    if name == 'arm':
        return Arm(ArmParameters(gauge=gauge))
    if not model:
        raise ParameterError('model', 'nothing', 'the folder of the G1 model and its policy')
    return G1Mujoco(Path(model).expanduser())
