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

"""The change of a body's pose since before its command: after a push, or a walk."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from repsq_ros.keys import KeyedDataclass, TextEnum, key
from repsq_ros.measurement.checks import checked_reference
from repsq_ros.measurement.cut import Cut
from repsq_ros.measurement.heading import yaw_of
from repsq_ros.measurement.inputs import Need
from repsq_ros.measurement.pose import gone_in, mean_pose, mean_variance
from repsq_ros.measurement.psi_error import PsiError, lengthened
from repsq_ros.measurement.reasons import Code
from repsq_ros.measurement.samples import Samples
from repsq_ros.measurement.window import GUARD_NS, REACH_NS, UnmeasurableError
from repsq_ros.timebase import to_nanoseconds, to_seconds

MM = 1000.0
LONGEST = to_seconds(REACH_NS - GUARD_NS)  # [s] of history before a command that is kept


class Change(TextEnum):
    """The changing quantity."""

    POSITION = 'position'
    HEADING = 'heading'


UNITS = {Change.POSITION: 'mm', Change.HEADING: 'rad'}


@dataclass(frozen=True)
class PoseChange(KeyedDataclass, type='pose_change'):
    """Distance [mm], or angle of heading [rad], between the mean poses before and after.

    Poses are means over time, so that a robot that steps in place may sway: `stable` and the
    window should be full strides. If a body has not reached a stable pose by the end, that is a
    failure with the worst psi, not a fault of the instruments.
    """

    upper: float = field(metadata=key('upper end of psi, mm or rad: the worst there is', above=0))
    what: Change = field(metadata=key('which change is measured'))
    stable: float = field(
        default=0.8,
        metadata=key(
            'time before the command over which the pose is averaged',
            's', above=0, at_most=LONGEST,
        ),
    )  # fmt: skip
    creep: float = field(
        default=50.0,
        metadata=key(
            'largest distance moved within the window for the pose to count as stable',
            'mm',
            above=0,
        ),
    )

    lower = 0.0

    @property
    def needs(self) -> Need:
        """The columns that it uses."""
        return Need.POSE if self.what == Change.HEADING else Need.POSITION

    @property
    def unit(self) -> str:
        """Unit of psi."""
        return UNITS[self.what]

    def psi(self, cut: Cut) -> float:
        """Return |p_after - p_before| [mm], or |yaw_after - yaw_before| [rad]; at most `upper`."""
        before, after = self._before(cut), cut.measured
        if self._creeps(after):
            return self.upper
        if self.what == Change.HEADING:
            turned = math.remainder(_heading(after) - _heading(before), math.tau)
            return min(abs(turned), self.upper)
        moved = mean_pose(after)[0] - mean_pose(before)[0]
        return min(float(np.linalg.norm(moved)) * MM, self.upper)

    def error_of_psi(self, cut: Cut) -> PsiError:
        """Return the error due to noise of both positions; for a heading, none is known."""
        after = cut.measured
        if self.what == Change.HEADING or self._creeps(after):
            return PsiError()
        variance = mean_variance(self._before(cut)) + mean_variance(after)
        return PsiError(noise=lengthened(self.psi(cut), variance * MM * MM))

    def _before(self, cut: Cut) -> Samples:
        """Return the samples before the command; creep there is a fault of the set-up."""
        before = checked_reference(cut, Need.POSE, to_nanoseconds(self.stable))
        if self._creeps(before):
            raise UnmeasurableError(
                f'reference: the body creeps by more than {self.creep:g} mm before the command',
                Code.REFERENCE,
            )
        return before

    def _creeps(self, samples: Samples) -> bool:
        if len(samples) < 3:
            return False
        way, noise = gone_in(samples)
        return way * MM > self.creep + noise * MM


def _heading(samples: Samples) -> float:
    """Return the mean direction of the body's x axis about z [rad]."""
    assert samples.orientation is not None
    yaw = yaw_of(samples.orientation)
    return math.atan2(float(np.sin(yaw).mean()), float(np.cos(yaw).mean()))
