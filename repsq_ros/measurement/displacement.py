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

"""Displacement after settling: by a gauge, or as a distance in space; both in mm."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from transforms3d.euler import euler2quat

from repsq_ros.keys import KeyedDataclass, TextEnum, key
from repsq_ros.measurement.checks import checked, checked_reference
from repsq_ros.measurement.coverage import FEWEST, coverage_of
from repsq_ros.measurement.cut import Cut
from repsq_ros.measurement.inputs import Need
from repsq_ros.measurement.pose import (
    Pose,
    angle_between,
    mean_pose,
    mean_variance,
    require_rest,
)
from repsq_ros.measurement.psi_error import PsiError, lengthened
from repsq_ros.measurement.reasons import Code
from repsq_ros.measurement.samples import Samples
from repsq_ros.measurement.window import GUARD_NS, UnmeasurableError
from repsq_ros.timebase import to_seconds


class WindowReading(TextEnum):
    """Which reading of the window is used."""

    LAST = 'last'
    MEDIAN = 'median'
    LARGEST = 'largest'


MM = 1000.0
COVERED = 0.9  # share of the window: a gauge that covers less may send on change only
BEYOND = 10.0  # times the largest displacement: a larger value is not a reading

UPPER = key('upper end of psi: the worst there is', 'mm', above=0)
SPEED = key('highest speed at which a body counts as at rest', 'm/s', above=0)
CREEP = key('largest creep of the body in the window', 'mm', above=0, later=True)


@dataclass(frozen=True)
class GaugeDisplacement(KeyedDataclass, type='displacement', of='gauge'):
    """|reading - tare| of a dial gauge, in mm."""

    upper: float = field(metadata=UPPER)
    take: WindowReading = field(
        default=WindowReading.LAST, metadata=key('which reading of the window counts')
    )
    tare: float | None = field(
        default=None,
        metadata=key(
            'the zero; before: median of the readings before the move',
            'mm',
            words={'before': None},
            default_text='before',
        ),
    )
    settled_within: float = field(
        default=0.1,
        metadata=key('largest difference between readings of the window', 'mm', above=0),
    )
    travel: tuple[float, float] | None = field(
        default=None,
        metadata=key(
            "lower and upper end of the gauge's travel, beyond which it measures nothing",
            'mm',
            later=True,
        ),
    )

    needs = Need.READING
    unit = 'mm'
    lower = 0.0

    def psi(self, cut: Cut) -> float:
        """Return the displacement [mm]."""
        inside = cut.values * MM
        self._require_travel(inside)
        self._require_settled(inside, 'settle not reached: readings of the window', Code.SETTLE)
        tare = self._tare(cut) if self.tare is None else self.tare
        self._require_travel(np.array([tare]))
        moved = np.abs(inside - tare)
        if moved.max() > BEYOND * self.upper:
            raise UnmeasurableError(
                f'reading {moved.max():g} mm from the tare: more than {BEYOND:g} times the '
                f'{self.upper:g} mm of upper: is the unit right, is it an error code?',
                Code.READING,
            )
        if self.take == WindowReading.LARGEST:
            return float(moved.max())
        return float(
            moved[-1] if self.take == WindowReading.LAST else np.abs(np.median(inside) - tare)
        )

    def error_of_psi(self, cut: Cut) -> PsiError:
        """Return the error of psi due to scatter and resolution in window and tare."""
        inside = cut.values * MM
        readings = [inside] if self.tare is not None else [inside, self._before(cut)]
        variances = [float(np.var(each)) for each in readings]
        medians = [self.take == WindowReading.MEDIAN, True]
        # With normal noise, the variance of a median of n is 1.57 / n.
        shares = [
            min(1.57 / len(each), 1.0) if median else 1.0
            for each, median in zip(readings, medians, strict=False)
        ]
        found = lengthened(self.psi(cut), float(np.dot(shares, variances)))
        highest = math.sqrt(variances[0]) if self.take == WindowReading.LARGEST else 0.0
        return PsiError(
            noise=math.hypot(found, highest, *(_step(each) / 2.0 for each in readings))
        )

    def reading_before(self, cut: Cut) -> tuple[float, ...]:
        """Return the median of the readings before the command [mm]; empty: not known."""
        try:
            return (self._tare(cut),)
        except UnmeasurableError:
            return ()

    def _tare(self, cut: Cut) -> float:
        """Return the median of the readings before the command [mm].

        If a gauge sends messages only on change, its last reading is still valid.
        """
        return float(np.median(self._before(cut)))

    def _before(self, cut: Cut) -> NDArray[np.float64]:
        usual = cut.before_command()
        before = cut.around.stamps[cut.around.stamps < usual.end_ns]
        if not len(before):
            raise UnmeasurableError(
                f'tare: no reading until {to_seconds(GUARD_NS):g} s before the command took '
                'effect',
                Code.TARE,
            )
        last_ns = int(before[-1])
        baseline = cut.part(min(usual.start_ns, last_ns), usual.end_ns)
        readings = baseline.inside.value
        if readings is None or not np.isfinite(readings).all():
            raise UnmeasurableError('tare: a reading before the command is no number', Code.TARE)
        readings = checked(baseline).values * MM
        self._require_settled(readings, 'tare: readings before the command', Code.TARE)
        # At rest, a gauge that sends on change is silent.
        gaps = np.diff([cut.start_ns, *cut.inside.stamps, cut.end_ns])
        period_ns = float(np.median(gaps))
        sends_at_rest = len(gaps) > FEWEST and coverage_of(gaps, period_ns) > COVERED
        if sends_at_rest and usual.start_ns - last_ns > 2.0 * period_ns:
            raise UnmeasurableError(
                'tare: the last reading before the command is '
                f'{to_seconds(usual.end_ns - last_ns):.3f} s old, and the gauge sends '
                f'{1e9 / period_ns:.3g} readings a second at rest',
                Code.TARE,
            )
        return readings

    def _require_settled(self, readings: NDArray[np.float64], of: str, code: Code) -> None:
        spread = float(readings.max() - readings.min())
        if spread > self.settled_within:
            reason = f'{of} differ by {spread:.4f} mm, at most {self.settled_within:g} mm allowed'
            raise UnmeasurableError(reason, code)

    def _require_travel(self, readings: NDArray[np.float64]) -> None:
        """Refuse readings at an end of the travel, where a gauge stops."""
        if self.travel is None:
            return
        lower, upper = self.travel
        beyond = readings[(readings <= lower) | (readings >= upper)]
        if len(beyond):
            raise UnmeasurableError(
                f'gauge at the end of its travel: {beyond[0]:.4f} mm, expected between {lower:g} '
                f'and {upper:g} mm',
                Code.TRAVEL,
            )


def _step(readings: NDArray[np.float64]) -> float:
    """Return an upper bound of the resolution [mm]: the smallest difference; 0: all equal."""
    steps = np.diff(np.unique(readings))
    return float(steps.min()) if len(steps) else 0.0


@dataclass(frozen=True)
class SpaceDisplacement(KeyedDataclass, type='displacement', of='body'):
    """Distance of the mean position of the window from a reference, in mm."""

    upper: float = field(metadata=UPPER)
    reference: Pose | None = field(
        default=None,
        metadata=key(
            'origin of the displacement; before: the median position before the move',
            words={'before': None},
            default_text='before',
        ),
    )
    settled_speed: float = field(default=0.02, metadata=SPEED)
    settled_within: float = field(default=1.0, metadata=CREEP)

    needs = Need.POSITION
    unit = 'mm'
    lower = 0.0

    def psi(self, cut: Cut) -> float:
        """Return the distance [mm]."""
        inside = cut.measured
        require_rest(inside, self.settled_speed, self.settled_within)
        here, _ = mean_pose(inside)
        return float(np.linalg.norm(here - self._reference(cut))) * MM

    def error_of_psi(self, cut: Cut) -> PsiError:
        """Return the error of psi due to noise in window and reference."""
        variance = mean_variance(cut.measured)
        if self.reference is None:
            variance += mean_variance(self._before(cut))
        return PsiError(noise=lengthened(self.psi(cut), variance * MM * MM))

    def _before(self, cut: Cut) -> Samples:
        before = checked_reference(cut, 'position')
        require_rest(before, self.settled_speed, self.settled_within, ' before the command')
        return before

    def _reference(self, cut: Cut) -> NDArray[np.float64]:
        if self.reference is not None:
            return np.array(self.reference.position)
        before = self._before(cut)
        assert before.position is not None
        middle: NDArray[np.float64] = np.median(before.position, axis=0)
        return middle


@dataclass(frozen=True)
class FinalPoseError(KeyedDataclass, type='final_pose_error'):
    """Distance from a target pose at the end, in mm; an angle counts with a length per rad."""

    upper: float = field(metadata=UPPER)
    target: Pose | None = field(
        metadata=key(
            'the correct pose; commanded: the pose that the robot was sent to',
            words={'commanded': None},
        )
    )
    per_radian: float = field(
        default=0.0,
        metadata=key('weight of the angle; 0: positions alone', 'mm/rad', at_least=0),
    )
    settled_speed: float = field(default=0.02, metadata=SPEED)
    settled_within: float = field(default=1.0, metadata=CREEP)

    unit = 'mm'
    lower = 0.0

    @property
    def needs(self) -> Need:
        """The columns that it uses."""
        return Need.POSE if self.per_radian > 0 else Need.POSITION

    def psi(self, cut: Cut) -> float:
        """Return |p - p*| [mm] + per_radian x angle(R, R*)."""
        inside = cut.measured
        require_rest(inside, self.settled_speed, self.settled_within)
        position, orientation = mean_pose(inside)
        target = _commanded(cut) if self.target is None else self.target
        error = float(np.linalg.norm(position - np.array(target.position))) * MM
        if self.per_radian > 0 and orientation is not None:
            assert target.orientation is not None
            turn = angle_between(orientation, np.array(target.orientation))
            error += self.per_radian * turn
        return error

    def error_of_psi(self, cut: Cut) -> PsiError:
        """Return the error of the distance due to noise of the position."""
        return PsiError(noise=lengthened(self.psi(cut), mean_variance(cut.measured) * MM * MM))


def _commanded(cut: Cut) -> Pose:
    """Return the commanded pose."""
    command = cut.window.command
    if len(command) != 6:
        raise UnmeasurableError(
            f'target: {len(command)} numbers were commanded, a pose has 6', Code.REFERENCE
        )
    x, y, z, *turn = command
    qw, qx, qy, qz = map(float, euler2quat(*turn, 'sxyz'))
    return Pose((x, y, z), (qx, qy, qz, qw))
