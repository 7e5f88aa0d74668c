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

"""The rotation and translation between two frames, from poses measured in both."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

FEWEST = 6  # poses
TURNED = 0.1  # smallest spread of the goals' rotations (Frobenius norm), about 4 degrees
ROUNDS = 30


def rigid_fit(source: Array, target: Array) -> tuple[Array, Array, Array]:
    """Return the rotation R and translation t that map source closest to target.

    Least squares over all points by the singular value decomposition of their covariance (Kabsch);
    a reflection is excluded.

    :param source: (n, 3), n >= 3, not on one line
    :param target: (n, 3)
    :returns: R (3, 3), t (3,), and the remaining distances (n,)
    """
    from_centre, to_centre = source.mean(axis=0), target.mean(axis=0)
    rotation = nearest_rotation(((source - from_centre).T @ (target - to_centre)).T)
    shift: Array = to_centre - rotation @ from_centre
    left: Array = np.linalg.norm(source @ rotation.T + shift - target, axis=1)
    return rotation, shift, left


def lever_arm(goals: Array, turns: Sequence[Array], attained: Array) -> tuple[Array, Array] | None:
    """Return the place of the attained point on the tool, and the remaining distances (n,).

    Least squares of p_i = t + R (g_i + G_i a) in t, R and a, by turns: R as in `rigid_fit`, then
    t and a, which are linear. None: the goals' rotations differ too little to separate a from t.

    :param goals: (n, 3) g_i
    :param turns: n rotations (3, 3), G_i
    :param attained: (n, 3) p_i
    """
    arm, each = np.zeros(3), np.array(turns)
    spread = np.linalg.norm(each - each.mean(axis=0), axis=(1, 2))
    if len(goals) < FEWEST or float(np.sqrt(np.mean(spread**2))) < TURNED:
        return None
    for _ in range(ROUNDS):
        rotation, _, left = rigid_fit(goals + each @ arm, attained)
        design = np.concatenate(
            [np.broadcast_to(np.eye(3), each.shape), rotation @ each], axis=2
        ).reshape(-1, 6)
        arm = np.linalg.lstsq(design, (attained - goals @ rotation.T).ravel(), rcond=None)[0][3:]
    return arm, left


def nearest_rotation(matrix: Array) -> Array:
    """Return the rotation nearest to a (3, 3) matrix."""
    u, _, vt = np.linalg.svd(matrix)
    rotation: Array = u @ np.diag([1.0, 1.0, np.sign(np.linalg.det(u @ vt))]) @ vt
    return rotation


def turns_left(base: Array, goals: Sequence[Array], attained: Sequence[Array]) -> Array:
    """Return the angles [rad] between attained and commanded rotations, (n,).

    They are related by the known rotation R of the base and the common rotation T of the target
    on the tool: A_i = R G_i T. T is the mean of all (R G_i)^-1 A_i.

    :param base: (3, 3), R
    :param goals: n matrices (3, 3)
    :param attained: n matrices (3, 3)
    """
    each = np.array([(base @ g).T @ a for g, a in zip(goals, attained, strict=True)])
    tool = nearest_rotation(each.mean(axis=0))
    cosine = (np.einsum('ij,nij->n', tool, each) - 1.0) / 2.0
    angles: Array = np.arccos(np.clip(cosine, -1.0, 1.0))
    return angles
