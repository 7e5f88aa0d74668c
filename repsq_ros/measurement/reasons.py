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

"""Reasons why a test is INVALID: a code for programs, and words with numbers for people."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class Code(str, Enum):
    """What is wrong: the beginning of the reason's words, but for those in brackets."""

    SILENT = 'silent'
    GAP = 'gap'
    COVERAGE = 'coverage'
    NOT_FINITE = 'not finite'
    ORIENTATION = 'no orientation'  # a quaternion of norm zero, or none at all
    QUATERNION = 'quaternion'  # of another norm or order
    TILT = 'tilt'  # another axis is up
    POSITION = 'no position'
    VELOCITY = 'no velocity'
    FROZEN = 'frozen'
    JUMP = 'jump'
    TWIST = 'twist disagrees with pose'
    TWIST_BOUND = 'twist beyond belief'
    ALL_ZERO = 'all-zero odometry'
    BUNCHED = 'bunched'
    CONFLICT = 'equal stamps'  # with unequal content
    PUBLISHERS = 'publishers'  # more than one on the topic
    CLOCK = 'clock set back'
    FRAME = 'wrong frame'
    LOST_FALLING = 'lost while falling'
    STALE = 'stale gauge'
    READING = 'reading'  # outside its own range, an error code, not a cast number, of another unit
    TRAVEL = 'gauge at the end of its travel'
    TARE = 'tare'
    REFERENCE = 'reference'
    SETTLE = 'settle not reached'
    CONDITION = '(condition)'  # begins with the name of the condition
    POSES = 'one pose only'
    RESULT = 'psi is'  # not finite
    UNANSWERED = 'no answer'  # of the robot to its command
    ERROR = 'psi error'  # the instruments may have moved psi by more than is allowed
    SPECIFICATIONS = 'the scheduler and'  # two programs with different specifications
    SHORT = 'too short'  # a segment of a recording, for the specification's protocol
    CUT = 'recording ends'  # within the measured window
    COMMAND = 'command'  # of a segment: none, several, or not a finite number
    OWN = '(own)'  # of a measure of the user's own

    def __str__(self) -> str:
        return self.value

    @property
    def key(self) -> str:
        """Return its name for programs, e.g. not_finite."""
        return self.name.lower()


class Fault(NamedTuple):
    """A reason why a test is INVALID: a code for programs, a sentence for people."""

    code: Code
    text: str  # one line with its numbers and with what was expected


class Doubt(NamedTuple):
    """What is wrong with samples of a stretch of time, as it was seen when they came."""

    start_ns: int
    end_ns: int  # the last instant of it
    code: Code
    text: str  # without the instant
