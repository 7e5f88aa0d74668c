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

"""A target pose that moves along a straight line, within the speed limit of the tool."""

from __future__ import annotations

import math
from typing import NamedTuple

from repsq_ros.protocols.rotation import Quaternion, Vector, angle_between, turned

RADIAN = 1.0  # [m] of path that counts for a turn of one radian


class ToolPose(NamedTuple):
    """Position [m] and orientation of a tool."""

    position: Vector
    orientation: Quaternion  # x, y, z, w


class _Motion:
    """Distance covered over time: accelerating, cruising, braking.

    :param phases: (duration [s], initial speed [m/s], acceleration [m/s^2]) of each
    """

    def __init__(self, phases: list[tuple[float, float, float]]) -> None:
        self._phases = phases
        self.duration = sum(duration for duration, _, _ in phases)

    def at(self, time: float) -> tuple[float, float]:
        """Return distance [m] and speed [m/s]."""
        covered, speed = 0.0, 0.0
        for duration, first, acceleration in self._phases:
            spent = min(time, duration)
            covered += (first + 0.5 * acceleration * spent) * spent
            speed = first + acceleration * spent
            time -= spent
            if time <= 0.0:
                break
        return covered, max(speed, 0.0)


def _from_rest_to_rest(length: float, speed: float, acceleration: float) -> _Motion:
    top = min(speed, math.sqrt(length * acceleration))
    if top == 0.0:
        return _Motion([])
    ramp = top / acceleration
    cruise = max(length / top - ramp, 0.0)
    return _Motion([(ramp, 0.0, acceleration), (cruise, top, 0.0), (ramp, top, -acceleration)])


class StraightLine:
    """Moves from pose to pose; the orientation turns in proportion to the path.

    On a new target it first brakes on its present line. A turn counts as path, 1 m for each
    radian: so `speed` is the largest turn rate [rad/s], too.

    :param start: initial pose
    :param speed: [m/s], > 0
    :param acceleration: of speeding up and braking [m/s^2], > 0
    """

    def __init__(self, start: ToolPose, speed: float, acceleration: float) -> None:
        self._speed, self._acceleration = speed, acceleration
        self._begin_line(start, start)

    def _begin_line(self, start: ToolPose, end: ToolPose) -> None:
        self._start, self._end, self._stop = start, end, False
        self._length = max(
            math.dist(start.position, end.position),
            RADIAN * angle_between(start.orientation, end.orientation),
        )
        self._motion = _from_rest_to_rest(self._length, self._speed, self._acceleration)
        self._offset = self._time = 0.0

    def step(self, target: ToolPose, seconds: float) -> ToolPose:
        """Return the pose after `seconds`, on the way to a target.

        :param target: its quaternion has norm 1
        :param seconds: since the last step, >= 0
        """
        if target != self._end and not self._stop:
            if self._time >= self._motion.duration:
                self._begin_line(self._end, target)
            else:
                self._brake()
        self._time += max(seconds, 0.0)
        if self._stop and self._time >= self._motion.duration:
            left = self._time - self._motion.duration
            self._begin_line(self._pose(self._motion.duration), target)
            self._time = left
        return self._pose(self._time)

    def _brake(self) -> None:
        """Shorten the line to the braking distance."""
        covered, speed = self._motion.at(self._time)
        self._offset, self._time, self._stop = self._offset + covered, 0.0, True
        self._motion = _Motion([(speed / self._acceleration, speed, -self._acceleration)])

    def _pose(self, time: float) -> ToolPose:
        if not self._stop and time >= self._motion.duration:
            return self._end
        covered = self._offset + self._motion.at(time)[0]
        fraction = min(covered / self._length, 1.0) if self._length > 0.0 else 1.0
        x, y, z = (
            a + fraction * (b - a)
            for a, b in zip(self._start.position, self._end.position, strict=True)
        )
        return ToolPose(
            (x, y, z), turned(self._start.orientation, self._end.orientation, fraction)
        )
