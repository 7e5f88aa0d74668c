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

"""The soft-L-infinity tracking loss."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from repsq_ros.keys import KeyedDataclass, TextEnum, key
from repsq_ros.measurement.cut import Cut
from repsq_ros.measurement.inputs import Need
from repsq_ros.measurement.psi_error import PsiError
from repsq_ros.measurement.velocity_error import twist_error, velocity_error
from repsq_ros.timebase import to_seconds


class Reduction(TextEnum):
    """How the errors of all states are combined."""

    SUM = 'sum'
    MEAN = 'mean'
    RMS = 'rms'


COMPONENTS = ('linear_x', 'linear_y', 'angular_z')


def soft_linf(errors: NDArray[np.float64], gain: float, reduction: Reduction) -> float:
    """Return psi = 1 - exp(-gain * g), g from S = sum over the states of |e_i|^2.

    `sum`: g = S, as printed in the paper; it saturates at 1 on real walks. `mean`: g = S/n.
    `rms`: g = sqrt(S/n), the form that reproduces the paper's values.

    :param errors: (n, k) measured minus commanded, n >= 1 states of k components
    :param gain: > 0, in the unit that makes gain * g a number
    :returns: in [0, 1]
    :raises ValueError: no states, an unknown reduction
    """
    n = len(errors)
    if n == 0:
        raise ValueError('no states')
    total = float(np.sum(errors * errors))
    if reduction == Reduction.SUM:
        size = total
    elif reduction == Reduction.MEAN:
        size = total / n
    elif reduction == Reduction.RMS:
        size = math.sqrt(total / n)
    else:
        raise ValueError(f'reduction {reduction!r} is none of {", ".join(Reduction)}')
    return -math.expm1(-gain * size)


@dataclass(frozen=True)
class TrackingLoss(KeyedDataclass, type='soft_linf'):
    """soft-L-infinity loss of (v_x, v_y, yaw rate) against the command, in the body frame."""

    gain: float = field(metadata=key('gain of psi = 1 - exp(-gain g)', above=0))
    reduction: Reduction = field(
        metadata=key(
            'g from S, the sum of the squared velocity errors of n states: '
            'sum is S, mean is S/n, rms is sqrt(S/n)',
        )
    )
    weights: tuple[float, float, float] = field(
        default=(1.0, 1.0, 1.0),
        metadata=key(
            'weights of the squared errors; those left out are 0', names=COMPONENTS, at_least=0
        ),
    )
    # 0: use the sensor's states
    state_rate: float = field(
        default=0.0,
        metadata=key(
            "with reduction sum: states per second, whatever the sensor's own rate",
            'Hz',
            above=0,
            default_text='the rate of the input',
            later=True,
        ),
    )

    needs = Need.VELOCITY
    unit = '1'
    judges_stamps = True  # psi_error covers the errors of arrival stamps
    lower = 0.0  # range M of psi
    upper = 1.0

    def psi(self, cut: Cut) -> float:
        """Return the loss of the window's states."""
        errors = cut.velocity - np.asarray(cut.window.command, dtype=np.float64)
        if self.weights != (1.0, 1.0, 1.0):
            errors = errors * np.sqrt(np.array(self.weights))
        return soft_linf(errors, self._gain(cut), self.reduction)

    def _gain(self, cut: Cut) -> float:
        """Return the gain; with `sum`, scaled to the declared number of states."""
        if self.reduction != Reduction.SUM or not self.state_rate > 0:
            return self.gain
        states = round(self.state_rate * to_seconds(cut.end_ns - cut.start_ns))
        return self.gain * (max(states, 1) / len(cut.velocity))

    def error_of_psi(self, cut: Cut) -> PsiError:
        """Return the largest error of the loss due to the instruments."""
        gain, states = self._gain(cut), len(cut.velocity) if self.reduction == Reduction.SUM else 1

        def loss(mean_square: float) -> float:
            size = mean_square * states
            return -math.expm1(
                -gain * (math.sqrt(size) if self.reduction == Reduction.RMS else size)
            )

        found = velocity_error(cut, np.array(self.weights), loss)
        if not cut.by_twist:
            return found
        return replace(twist_error(cut, self.psi), noise_or_jolts=found.noise_or_jolts)
