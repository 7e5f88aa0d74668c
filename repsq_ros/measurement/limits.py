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

"""From where on what a sensor reports is not believed."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Limits:
    """Thresholds of validity. A gauge may be silent for minutes: of them only `largest_gap`."""

    largest_gap_ns: int = 200_000_000  # without a sample, within the window and at its ends
    coverage: float = 0.8  # least share of the window that lies near a sample
    frozen: float = 0.25  # [s] at most of bit-identical poses with fresh stamps
    fastest: float = 10.0  # [m/s] no body that is tested moves faster: more is a jump
    fastest_turn: float = 40.0  # [rad/s] the same of its rotation
    step: float = 0.02  # [m] a step so small is noise, whatever its stamps say
    outlier: float = 0.001  # [m] by which a step may leave the path of its neighbours, at least
    outlier_turn: float = 0.002  # [rad] the same of its rotation

    def describe(self) -> dict[str, float | int]:
        """Return what two labs have to share; later thresholds only where they are not usual."""
        usual = Limits()
        found: dict[str, float | int] = asdict(self)
        for key in ('outlier', 'outlier_turn'):
            if found[key] == getattr(usual, key):
                del found[key]
        return found


@dataclass(frozen=True)
class Commanded:
    """The fastest that a campaign commands: what is far beyond it is not believed of a twist."""

    speed: float  # [m/s]
    turn: float  # [rad/s]


@dataclass(frozen=True)
class Fall:
    """When the subject counts as fallen: a result, and the worst there is."""

    height: float = -math.inf  # [m] it lies lower than this
    tilt: float = math.inf  # [rad] its z axis is further from the vertical than this
    hold: float = 0.1  # [s] for so long: one wild pose is no fall


@dataclass(frozen=True)
class Condition:
    """A second input that must be as it should while a test runs: a mode, a scaling, a battery."""

    name: str
    at_least: float = -math.inf
    at_most: float = math.inf
    one_of: tuple[float, ...] = ()  # empty: any
    longest_silence: float = math.inf  # [s] between its last message and the window's end

    def accepts(self, values: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Tell which values are as they should be; NaN and infinity never are."""
        within = np.isfinite(values) & (values >= self.at_least) & (values <= self.at_most)
        return within & np.isin(values, self.one_of) if self.one_of else within

    @property
    def expected(self) -> str:
        """What is expected of it, for people."""
        parts = []
        if self.one_of:
            parts.append(f'one of {", ".join(f"{each:g}" for each in self.one_of)}')
        if self.at_least > -math.inf:
            parts.append(f'at least {self.at_least:g}')
        if self.at_most < math.inf:
            parts.append(f'at most {self.at_most:g}')
        return ' and '.join(parts) or 'a finite number'
