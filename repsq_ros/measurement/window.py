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

"""The window of a test, and the error if it cannot be measured."""

from __future__ import annotations

from dataclasses import dataclass

from repsq_ros.measurement.reasons import Code
from repsq_ros.timebase import NANOSECONDS, to_seconds

# A baseline (a tare, a reference, the tilt at rest) covers BASELINE_NS before the command, minus a
# guard at its end: with late stamps, it must not contain the beginning of the move.
BASELINE_NS = 350_000_000
GUARD_NS = 100_000_000
REACH_NS = NANOSECONDS  # history used before a test, for slopes, re-timing and a tare


@dataclass(frozen=True)
class Window:
    """The measured samples [start, end) of a test, and its command."""

    start_ns: int
    end_ns: int
    command: tuple[float, ...]
    began_ns: int | None = None  # when the command took effect; None: at the window's start

    @property
    def command_ns(self) -> int:
        """When the command took effect."""
        return self.start_ns if self.began_ns is None else min(self.began_ns, self.start_ns)

    @property
    def reach_ns(self) -> int:
        """Instant from which samples are used."""
        return self.command_ns - REACH_NS

    def at(self, stamp_ns: int) -> str:
        """Return an instant in s from the window's start, as text."""
        return f'{to_seconds(int(stamp_ns) - self.start_ns):.3f} s of the window'


class UnmeasurableError(Exception):
    """A window or quantity cannot be measured, for the reason in the message.

    :param code: what is wrong, for programs
    """

    def __init__(self, reason: str, code: Code = Code.OWN) -> None:
        self.code = code
        super().__init__(reason)
