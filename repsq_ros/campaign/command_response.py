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

"""Whether measurements follow the commands, or are turned, mirrored, scaled or an echo."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from repsq_ros import special
from repsq_ros.protocols.command_space import COMPONENTS, CommandKind

Array = NDArray[np.float64]

FEWEST = 10  # tests needed for a finding
COMPARED = 3  # components: v_x, v_y, yaw rate, or x, y, z
LEVEL = 3.2e-5  # one-sided false alarm rate per finding: four standard errors with many tests
NAMES = {kind: COMPONENTS[kind][:3] for kind in (CommandKind.VELOCITY, CommandKind.POSE)}
TURNED = 0.1  # [rad] a larger angle between commands and measurements is reported
NOTHING = 0.1  # share of the command; a smaller gain counts as no response
FOLLOWED = 0.5  # a smaller gain does not follow if less than
EXPLAINED = 0.5  # this share of the variance is explained by the commands
TOO_MUCH = 2.0  # a larger gain is reported: feet read as metres give 3.28, centimetres 100
# Smallest eigenvalue of the commands' correlations: below it, some are a function of the others.
COLLINEAR = 1e-9
EXACT = 1e-6  # residual, as a share of the spread, of an echo that went through 32-bit floats


class Regression(NamedTuple):
    """Least-squares fit: rows are measured components, columns are commanded components."""

    gain: Array  # (3, 3); 0 in columns that do not vary
    error: Array  # (3, 3) standard errors of gain; +inf in columns that do not vary
    varied: Sequence[int]  # commanded components that vary
    freedom: int  # degrees of freedom
    echo: Sequence[int]  # measured components with no residual: copies of the command
    explained: Array  # (3,) share of the variance of each measured component
    size: Array  # (3,) standard deviation of each, measured over commanded; +inf: not commanded


class CommandResponse:
    """Least-squares regression of measured on commanded components, with a constant.

    Each finding is false with probability LEVEL at most. Scale errors of a few per cent, slip
    and lag are not found: they look like a robot that follows badly. With poses, a turned frame
    is not found either: it preserves distances.

    Running sums: the memory is bounded, however many tests there are.

    :param kind: what is commanded: velocity [m/s, m/s, rad/s] or pose [m]
    :param places: index of each component in a case; None: the component does not vary
    """

    def __init__(self, kind: CommandKind, places: Sequence[int | None] = ()) -> None:
        self._kind, self._names, self._places = kind, NAMES.get(kind, ()), places
        self._n, self._next_look, self._told = 0, FEWEST, set[str]()
        self._mean: Array = np.zeros(2 * COMPARED)
        self._products: Array = np.zeros((2 * COMPARED, 2 * COMPARED))

    def take_case(self, x: Sequence[float], measured: Sequence[float]) -> str:
        """Add a test; return a question for a person (once of each kind), or ''."""
        if not len(measured) == len(self._places) == COMPARED:
            return ''
        self.add([0.0 if at is None else x[at] for at in self._places], measured)
        if self._n < self._next_look:
            return ''
        self._next_look += max(self._next_look // 10, 1)  # few looks, so few false alarms
        new = [each for each in self.findings if each.split(':')[0] not in self._told]
        self._told.update(each.split(':')[0] for each in new)
        return f'measured against commanded: {"; ".join(new)}' if new else ''

    def add(self, command: Sequence[float], measured: Sequence[float]) -> None:
        """Add a commanded and a measured vector by Welford's update."""
        values = np.array([*command, *measured], dtype=np.float64)
        self._n += 1
        off = values - self._mean
        self._mean = self._mean + off / self._n
        self._products = self._products + np.outer(off, values - self._mean)

    def regress(self) -> Regression | None:
        """Return the regression; None with too few tests or constant commands."""
        s = self._products
        varied = [k for k in range(COMPARED) if s[k, k] > 0.0]
        freedom, of_commands = self._n - len(varied) - 1, s[np.ix_(varied, varied)]
        if not self._names or self._n < FEWEST or not varied or freedom < 3:
            return None
        scale = np.sqrt(np.diag(of_commands))
        correlations = of_commands / np.outer(scale, scale)
        if np.linalg.matrix_rank(correlations, tol=COLLINEAR, hermitian=True) < len(varied):
            return None
        inverse, total = np.linalg.inv(of_commands), np.diag(s)[COMPARED:]
        found = inverse @ s[varied, COMPARED:]
        left = np.maximum(total - np.sum(found * s[varied, COMPARED:], axis=0), 0.0)
        gain, error = np.zeros((COMPARED, COMPARED)), np.full((COMPARED, COMPARED), math.inf)
        gain[:, varied] = found.T
        error[:, varied] = np.sqrt(np.outer(left / freedom, np.diag(inverse)))
        echo = [k for k in varied if total[k] > 0.0 and left[k] <= EXACT**2 * total[k]]
        explained = 1.0 - left / np.maximum(total, np.finfo(float).tiny)
        size = np.full(COMPARED, math.inf)
        size[varied] = np.sqrt(total[varied] / np.diag(of_commands))
        return Regression(gain, error, varied, freedom, echo, explained, size)

    @property
    def lines(self) -> tuple[str, ...]:
        """Return the matrix with its standard errors, a line for each component measured."""
        found = self.regress()
        if found is None:
            return ()
        return tuple(
            f'measured {name}: '
            + ', '.join(
                f'{found.gain[row, k]:+.3f} +- {found.error[row, k]:.3f} of {self._names[k]}'
                for k in found.varied
            )
            for row, name in enumerate(self._names)
        )

    @property
    def findings(self) -> tuple[str, ...]:
        """Return what is wrong between commands and measurements, one sentence each."""
        found = self.regress()
        if found is None:
            return ()
        if found.echo:
            names = ', '.join(self._names[k] for k in found.echo)
            return (f'{names}: equals the command, scaled, to the last digit: an echo of it?',)
        # The normal law gives smaller error bounds than Student's: if it finds nothing, neither
        # does Student's, and scipy need not be loaded.
        least = found.error * NormalDist().inv_cdf(1.0 - LEVEL)
        if not self._judge_fit(found, least):
            return ()
        sure = found.error * float(special.stdtrit(found.freedom, 1.0 - LEVEL))
        return self._judge_fit(found, sure)

    def _judge_fit(self, found: Regression, sure: Array) -> tuple[str, ...]:
        """Return what is wrong with a regression, see `judge`.

        Velocities may vary as much as the commands without following them: of another robot, or
        of a body whose positions are mirrored or swapped against its orientation, so that the
        error depends on its heading.
        """
        told = self.judge(found.gain, sure, found.varied)
        if told or self._kind != CommandKind.VELOCITY:
            return told
        strange = [
            self._names[k]
            for k in found.varied
            if found.gain[k, k] + sure[k, k] < FOLLOWED
            and found.explained[k] < EXPLAINED
            and found.size[k] > FOLLOWED
        ]
        if not strange:
            return ()
        return (
            f'{" and ".join(strange)}: what is measured varies, and does not follow the command: '
            'another robot, or positions of another frame than the orientation?',
        )

    def judge(self, gain: Array, sure: Array, varied: Sequence[int]) -> tuple[str, ...]:
        """Return what is wrong with a gain matrix, one sentence each.

        :param gain: (3, 3) as in `Regression`
        :param sure: (3, 3) largest error of each element
        """
        told = self._pose_findings if self._kind == CommandKind.POSE else self._velocity_findings
        return tuple(told(gain, sure, varied))

    def _pose_findings(self, gain: Array, sure: Array, varied: Sequence[int]) -> list[str]:
        told = []
        if len(varied) == COMPARED:
            determinant = float(np.linalg.det(gain))
            cofactors = determinant * np.linalg.pinv(gain).T
            if determinant + float(np.linalg.norm(cofactors * sure)) < 0.0:
                told = ['x, y and z: one of them is mirrored, or two are swapped']
        for k in varied:
            size, se = (float(np.linalg.norm(each[:, k])) for each in (gain, sure))
            told += self._gain_findings(k, size, se)
        return told

    def _gain_findings(self, k: int, size: float, se: float) -> list[str]:
        """Return whether the response is missing or too large."""
        name = self._names[k]
        if abs(size) + se < NOTHING:
            about = ': is the orientation always the same?' if name == 'angular_z' else ''
            return [f'{name}: nothing of what is commanded is measured{about}']
        if size - se > TOO_MUCH:
            times = f'{size:.3g} (+- {se:.2g}) times'
            return [f'{name}: {times} what is commanded: feet, cm or mm?']
        return []

    def _velocity_findings(self, gain: Array, sure: Array, varied: Sequence[int]) -> list[str]:
        told = _plane_findings(gain, sure)
        for k in varied:
            own, se = float(gain[k, k]), float(sure[k, k])
            sized = self._gain_findings(k, own, se)
            if k == 2 and own + se < 0.0 and not sized:
                sized = [f'{self._names[k]}: {own:.2f} (+- {se:.2g}) of the command: a wrong sign']
            told += sized
        return told


def _plane_findings(gain: Array, error: Array) -> list[str]:
    """Return whether x and y are mirrored or turned about the vertical."""
    plane, errors = gain[:2, :2], error[:2, :2]
    known = np.isfinite(errors)
    if not known.all():
        for k in range(2):
            if known[k, k] and plane[k, k] + errors[k, k] < 0.0:
                name = NAMES[CommandKind.VELOCITY][k]
                return [f'{name}: goes the other way than commanded: mirrored, or turned?']
        return []
    determinant = float(np.linalg.det(plane))
    # First-order error propagation; errors of the elements are independent.
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
