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

from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from repsq_ros.measurement.pose import Pose, angle_between, mean_pose, require_settled
from repsq_ros.measurement.window import Seen, UnmeasurableError, Window

TAKES = ('last', 'median', 'largest')
MM = 1000.0


@dataclass(frozen=True)
class GaugeDisplacement:
    """|reading - tare| of a dial gauge, in mm."""

    upper: float  # [mm] end of its travel
    take: str = 'last'  # which reading of the window stands for it
    tare: float | None = None  # [mm]; None: the last reading before the command took effect
    settled_within: float = 0.1  # [mm] readings of the window may differ by so much
    travel: tuple[float, float] | None = None  # [mm] within which readings are believed

    needs = 'reading'
    unit = 'mm'
    lower = 0.0

    def describe(self) -> dict[str, object]:
        """Return all that two labs have to share."""
        shared = {'type': 'displacement', 'of': 'gauge', **asdict(self)}
        if self.travel is None:
            del shared['travel']
        return shared

    def psi(self, seen: Seen, window: Window) -> float:
        """Return the displacement [mm]."""
        series = seen.series
        assert series is not None
        inside = series.values[seen.first :] * MM
        self._require_travel(inside)
        spread = float(inside.max() - inside.min())
        if spread > self.settled_within:
            raise UnmeasurableError(
                f'settle not reached: readings of the window differ by {spread:.4f} mm, at most '
                f'{self.settled_within:g} mm allowed'
            )
        tare = self.tare
        if tare is None:
            before = series.values[series.stamps < window.command_ns]
            if not len(before):
                raise UnmeasurableError('no tare: no reading before the command took effect')
            tare = float(before[-1]) * MM
            if not np.isfinite(tare):
                raise UnmeasurableError(
                    'no tare: the last reading before the command is no number'
                )
        self._require_travel(np.array([tare]))
        moved = np.abs(inside - tare)
        if self.take == 'largest':
            return float(moved.max())
        return float(moved[-1] if self.take == 'last' else np.abs(np.median(inside) - tare))

    def _require_travel(self, readings: NDArray[np.float64]) -> None:
        """Refuse readings at an end of the travel, where a gauge shows nothing any more."""
        if self.travel is None:
            return
        lower, upper = self.travel
        beyond = readings[(readings <= lower) | (readings >= upper)]
        if len(beyond):
            raise UnmeasurableError(
                f'gauge at the end of its travel: {beyond[0]:.4f} mm, expected between {lower:g} '
                f'and {upper:g} mm'
            )


@dataclass(frozen=True)
class SpaceDisplacement:
    """Distance of the mean position of the window from a reference, in mm."""

    upper: float  # [mm]
    reference: Pose | None = None  # None: the mean position over 0.5 s before the command
    settled_speed: float = 0.02  # [m/s] at most in the window

    needs = 'position'
    unit = 'mm'
    lower = 0.0

    def describe(self) -> dict[str, object]:
        """Return all that two labs have to share."""
        return {'type': 'displacement', 'of': 'body', **asdict(self)}

    def psi(self, seen: Seen, window: Window) -> float:
        """Return the distance [mm]."""
        require_settled(seen, self.settled_speed)
        assert seen.track is not None
        here, _ = mean_pose(seen.track.since(seen.first))
        return float(np.linalg.norm(here - self._reference(seen, window))) * MM

    def _reference(self, seen: Seen, window: Window) -> NDArray[np.float64]:
        if self.reference is not None:
            return np.array(self.reference.position)
        assert seen.track is not None
        stamps = seen.track.stamps
        rows = (stamps < window.command_ns) & (stamps >= window.command_ns - 500_000_000)
        if not rows.any():
            raise UnmeasurableError('no reference: no position within 0.5 s before the command')
        position, _ = mean_pose(seen.track.take(rows))
        return position


@dataclass(frozen=True)
class FinalPoseError:
    """Distance from a target pose at the end, in mm; a turn counts with a length per rad."""

    upper: float  # [mm]
    target: Pose
    per_radian: float = 0.0  # [mm/rad] weight of the angle; 0: positions alone
    settled_speed: float = 0.02  # [m/s] at most in the window

    unit = 'mm'
    lower = 0.0

    @property
    def needs(self) -> str:
        """What it is computed from."""
        return 'pose' if self.per_radian > 0 else 'position'

    def describe(self) -> dict[str, object]:
        """Return all that two labs have to share."""
        return {'type': 'final_pose_error', **asdict(self)}

    def psi(self, seen: Seen, window: Window) -> float:
        """Return |p - p*| [mm] + per_radian x angle(R, R*)."""
        require_settled(seen, self.settled_speed)
        assert seen.track is not None
        position, orientation = mean_pose(seen.track.since(seen.first))
        error = float(np.linalg.norm(position - np.array(self.target.position))) * MM
        if self.per_radian > 0 and orientation is not None:
            assert self.target.orientation is not None
            turn = angle_between(orientation, np.array(self.target.orientation))
            error += self.per_radian * turn
        return error
