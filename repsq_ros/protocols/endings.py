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

"""How a phase ends: by time, by the robot having settled, or by somebody's word."""

from __future__ import annotations

from dataclasses import dataclass

LOOK_NS = 200_000_000  # between two looks whether the robot has settled
LATE_NS = (
    100_000_000  # before the end of a look: not judged yet, its samples may still be under way
)
CONFIRM_LOOK_NS = 1_000_000_000  # between two looks whether somebody has confirmed


@dataclass(frozen=True)
class Timed:
    """It ends after a time."""

    duration_ns: int


@dataclass(frozen=True)
class Settled:
    """It ends when the body has been slow enough, and near enough to its goal, for a time.

    That is what the sensor says of the body, never what a controller says of itself.
    """

    timeout_ns: int
    hold_ns: int
    speed: float  # [m/s] at most
    within: float  # [m] of the position that is commanded; of no account for velocities


@dataclass(frozen=True)
class Confirmed:
    """It ends when somebody confirms."""

    timeout_ns: int


Ending = Timed | Settled | Confirmed
