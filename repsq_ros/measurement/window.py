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

"""What is to be measured, and what was seen of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from repsq_ros.measurement.inputs import Input
from repsq_ros.measurement.reasons import Code, Doubt
from repsq_ros.measurement.track import Series, Track
from repsq_ros.timebase import NANOSECONDS, to_seconds

REACH_NS = NANOSECONDS  # looked back before a test: for slopes, re-timing and a tare


@dataclass(frozen=True)
class Window:
    """What is to be measured: the samples of [start, end) against a command."""

    start_ns: int
    end_ns: int
    command: tuple[float, ...]
    began_ns: int | None = None  # when the command took effect; None: with the window

    @property
    def command_ns(self) -> int:
        """When the command took effect."""
        return self.start_ns if self.began_ns is None else min(self.began_ns, self.start_ns)

    @property
    def reach_ns(self) -> int:
        """From when on samples are looked at."""
        return self.command_ns - REACH_NS

    def at(self, stamp_ns: int) -> str:
        """Tell an instant in s from the start of the window."""
        return f'{to_seconds(int(stamp_ns) - self.start_ns):.3f} s of the window'


@dataclass(frozen=True)
class Observation:
    """The samples around a window, in the order of the stamps, one for each stamp."""

    window: Window
    track: Track | None = None  # of the measure's body, from `reach_ns` on
    series: Series | None = None  # or of its gauge, raw: the last before `reach_ns`, and since
    doubts: Sequence[Doubt] = ()  # what was seen to be wrong with samples when they came
    conditions: Mapping[str, Series] = field(
        default_factory=dict
    )  # raw: the last before, and since
    condition_doubts: Mapping[str, Sequence[Doubt]] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """Number of samples in the window."""
        start_ns = self.window.start_ns
        seen = self.track or self.series
        return 0 if seen is None else len(seen) - int(seen.stamps.searchsorted(start_ns))


@dataclass(frozen=True)
class Seen:
    """What a quantity is computed from: in SI units, checked; a body or a number over time.

    A track begins with the samples before the window that were checked with it. Who needs others
    asks `stretch` for them.
    """

    source: Input
    track: Track | None = None
    series: Series | None = None  # the same of a gauge
    first: int = 0  # index of the first sample in the window
    stretch: Callable[[int, int], Track] | None = None  # checked samples of [start, end) [ns]
    velocity: NDArray[np.float64] | None = None  # of the window by the estimator, if it is known


class UnmeasurableError(Exception):
    """A window cannot be measured, or a quantity not be formed; the reason is told.

    :param code: what is wrong, for programs
    """

    def __init__(self, reason: str, code: Code = Code.OWN) -> None:
        self.code = code
        super().__init__(reason)
