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
    """What is wrong: the first words of the reason, except for names in brackets."""

    SILENT = 'silent'
    GAP = 'gap'
    COVERAGE = 'coverage'
    NOT_FINITE = 'not finite'
    ORIENTATION = 'no orientation'  # a quaternion of norm zero, or no orientation at all
    QUATERNION = 'quaternion'  # another norm, or another order of components
    TILT = 'tilt'  # another axis points up
    POSITION = 'no position'
    VELOCITY = 'no velocity'
    FROZEN = 'frozen'
    JUMP = 'jump'
    TWIST = 'twist disagrees with pose'
    TWIST_BOUND = 'twist beyond belief'
    ALL_ZERO = 'all-zero odometry'
    BUNCHED = 'bunched'
    CONFLICT = 'equal stamps'  # with different content
    PUBLISHERS = 'publishers'  # several publishers on the topic
    CLOCK = 'clock set back'
    FRAME = 'wrong frame'
    LOST_FALLING = 'lost while falling'
    STALE = 'stale gauge'
    READING = 'reading'  # outside of its range, an error code, not cast, or another unit
    TRAVEL = 'gauge at the end of its travel'
    TARE = 'tare'
    REFERENCE = 'reference'
    SETTLE = 'settle not reached'
    CONDITION = '(condition)'  # the reason starts with the condition's name
    POSES = 'one pose only'
    RESULT = 'psi is'  # not finite
    UNANSWERED = 'no answer'  # the robot ignores its command
    ERROR = 'psi error'  # the instruments may have changed psi by too much
    SPECIFICATIONS = 'the scheduler and'  # disagree on the specification
    SHORT = 'too short'  # a segment of a recording is shorter than the specification's protocol
    CUT = 'recording ends'  # during the measured window
    COMMAND = 'command'  # none in a segment, several, or not finite
    OWN = '(own)'  # from a user's own measure

    def __str__(self) -> str:
        return self.value

    @property
    def key(self) -> str:
        """Return its name in programs, e.g. not_finite."""
        return self.name.lower()


class Fault(NamedTuple):
    """A reason why a test is INVALID: a code for programs, a sentence for people."""

    code: Code
    text: str  # one line with numbers and what was expected


class Doubt(NamedTuple):
    """A fault of samples in a time interval, noted when they arrived."""

    start_ns: int
    end_ns: int  # its last instant
    code: Code
    text: str  # without the time
