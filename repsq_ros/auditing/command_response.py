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

"""Whether what was measured follows what was commanded: turned, mirrored, scaled, or an echo."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from repsq_ros import special

Array = NDArray[np.float64]

FEWEST = 10  # tests
LEVEL = 3.2e-5  # of a finding on one side: four standard errors, where there are many tests
NAMES = ('linear_x', 'linear_y', 'angular_z')
TURNED = 0.1  # [rad]
NOTHING = 0.1  # of what is commanded: a response below that is none
TOO_MUCH = 2.0  # times what is commanded: feet read as metres are 3.28, centimetres 100


def response_findings(commands: Sequence[Sequence[float]], means: Sequence[Array]) -> list[str]:
    """Return what is wrong between commands and mean velocities, a sentence each.

    The means are regressed on the commands, with a constant, by least squares. Each finding is
    false with probability LEVEL at most. A scale that is a few per cent off, slip and lag are not
    found: they look like a robot that follows badly.

    :param commands: (n, 3) v_x, v_y, yaw rate [m/s, m/s, rad/s]
    :param means: (n, 3) measured over the windows
    """
    x, y = np.array(commands, dtype=np.float64), np.array(means, dtype=np.float64)
    if len(x) < FEWEST or x.shape != y.shape or x.shape[1] != len(NAMES):
        return []
    varied = [k for k in range(3) if float(np.ptp(x[:, k])) > 0.0]
    design = np.column_stack([x[:, varied], np.ones(len(x))])
    if len(x) < design.shape[1] + 4 or np.linalg.matrix_rank(design) < design.shape[1]:
        return []
    if varied and np.array_equal(x[:, varied], y[:, varied]):
        return ['the measured velocity equals the command to the last digit: an echo of it?']
    inverse = np.linalg.inv(design.T @ design)
    found = inverse @ design.T @ y
    left = y - design @ found
    variance = np.sum(left * left, axis=0) / (len(x) - design.shape[1])
    gain, error = np.zeros((3, 3)), np.full((3, 3), math.inf)  # [of what is measured, commanded]
    gain[:, varied] = found[:-1].T
    error[:, varied] = np.sqrt(np.outer(variance, np.diag(inverse)[:-1]))
    # In units of what is surely not by chance, by Student's law: few tests need more.
    error *= float(special.stdtrit(len(x) - design.shape[1], 1.0 - LEVEL))
    told = _of_plane(gain, error)
    for k in varied:
        own, se = float(gain[k, k]), float(error[k, k])
        if abs(own) + se < NOTHING:
            about = ': is the orientation always the same?' if k == 2 else ''
            told.append(f'{NAMES[k]}: nothing of what is commanded is measured{about}')
        elif own - se > TOO_MUCH:
            told.append(
                f'{NAMES[k]}: {own:.3g} (+- {se:.2g}) times what is commanded: feet, cm or mm?'
            )
        elif k == 2 and own + se < 0.0:
            told.append(f'{NAMES[k]}: {own:.2f} (+- {se:.2g}) times the command: a wrong sign')
    return told


def _of_plane(gain: Array, error: Array) -> list[str]:
    """Return whether x and y are mirrored, or turned about the vertical."""
    plane, errors = gain[:2, :2], error[:2, :2]
    known = np.isfinite(errors)
    if not known.all():
        for k in range(2):
            if known[k, k] and plane[k, k] + errors[k, k] < 0.0:
                return [f'{NAMES[k]}: goes the other way than commanded: mirrored, or turned?']
        return []
    determinant = float(np.linalg.det(plane))
    # To first order, as the elements err by themselves.
    cofactors = np.array([[plane[1, 1], plane[1, 0]], [plane[0, 1], plane[0, 0]]])
    if determinant + float(np.linalg.norm(cofactors * errors)) < 0.0:
        return ['linear_x and linear_y: one of them is mirrored, or both are swapped']
    across, along = plane[1, 0] - plane[0, 1], plane[0, 0] + plane[1, 1]
    size = math.hypot(across, along)
    if not size > 0.0:
        return []
    angle = math.atan2(across, along)
    if abs(angle) > max(TURNED, float(np.linalg.norm(errors)) / size):
        return [
            'linear_x and linear_y: what is measured is turned by '
            f'{math.degrees(angle):+.0f} degrees against the command: axes, or extrinsics?'
        ]
    return []
