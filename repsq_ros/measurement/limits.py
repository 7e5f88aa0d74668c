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

"""Thresholds beyond which a sensor's data are not trusted."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from repsq_ros.keys import LABS_OWN, KeyedDataclass, TextEnum, key


class Unanswered(TextEnum):
    """What happens to a test if the robot did not move under its command."""

    ASK = 'ask'  # ask a person, after several in a row
    RESULT = 'result'  # the test counts, with the worst psi
    INVALID = 'invalid'


@dataclass(frozen=True)
class Limits(KeyedDataclass):
    """Thresholds of validity.

    For a gauge without a rate, which may be silent for minutes, only `largest_error` and `obeys`.
    """

    largest_gap_ns: int = field(
        default=200_000_000,
        metadata=key('longest time without a sample, within the window and at its ends', above=0),
    )
    coverage: float = field(
        default=0.8,
        metadata=key(
            'smallest share of the window that lies near a sample', at_least=0, at_most=1
        ),
    )
    frozen: float = field(
        default=0.25, metadata=key('longest run of bit-identical poses', 's', above=0)
    )
    fastest: float = field(
        default=10.0,
        metadata=key('highest speed of a tested body: anything faster is a jump', 'm/s', above=0),
    )
    fastest_turn: float = field(
        default=40.0, metadata=key('the same for its rotation', 'rad/s', above=0)
    )
    step: float = field(
        default=0.02,
        metadata=key('a step up to this counts as noise, whatever the stamps', 'm', at_least=0),
    )
    outlier: float = field(
        default=0.001,
        metadata=key(
            'a sample may deviate from the path of its neighbours by this',
            'm',
            above=0,
            later=True,
        ),
    )
    outlier_turn: float = field(
        default=0.002, metadata=key('the same for its rotation', 'rad', above=0, later=True)
    )
    bunched: float = field(
        default=0.01,
        metadata=key(
            'largest error that bunched arrivals may add to a velocity, root mean square',
            'm/s or rad/s',
            above=0,
            later=True,
        ),
    )
    rest_tilt: float = field(
        default=0.5,
        metadata=key(
            'largest tilt of a body at rest before its command', 'rad', above=0, later=True
        ),
    )
    level_turn: float = field(
        default=0.25,
        metadata=key(
            'largest steady turn of a body about a horizontal axis in a window',
            'rad',
            above=0,
            later=True,
        ),
    )
    climb: float = field(
        default=0.1,
        metadata=key(
            'largest vertical motion in a window, if the body moves further vertically than '
            'horizontally',
            'm',
            above=0,
            later=True,
        ),
    )
    largest_error: float = field(
        default=0.25,
        metadata=key(
            'largest effect of the instruments on psi (psi_error), as a share of gamma',
            above=0,
            later=True,
        ),
    )
    unanswered: Unanswered = field(
        default=Unanswered.ASK,
        metadata=key(
            'how an attempt counts in which the robot does not move under its command: ask an '
            'operator, the worst result, or INVALID',
            later=True,
        ),
    )
    least_speed: float = field(
        default=0.05,
        metadata=key(
            'a robot does not move if its mean over each second of a command is slower than this, '
            'and turns slower than twice this in rad/s',
            'm/s',
            above=0,
            later=True,
        ),
    )
    obeys: int = field(
        default=2,
        metadata={
            **key(
                'number of such attempts in a row after which the operator is asked; 0: never',
                at_least=0,
            ),
            **LABS_OWN,
        },
    )


@dataclass(frozen=True)
class Fall:
    """When the subject counts as fallen: a result with the worst psi."""

    height: float = field(
        default=-math.inf, metadata=key('fallen if the body is lower than this', 'm')
    )
    tilt: float = field(
        default=math.inf,
        metadata=key('fallen if its z axis tilts more than this', 'rad', above=0, at_most=math.pi),
    )
    hold: float = field(
        default=0.1,
        metadata=key(
            'shortest duration of a fall: a single wrong pose does not count', 's', at_least=0
        ),
    )


@dataclass(frozen=True)
class Condition:
    """A second input with required values during a test: a mode, a scaling, a battery."""

    name: str
    at_least: float = field(default=-math.inf, metadata=key('smallest nominal value'))
    at_most: float = field(default=math.inf, metadata=key('largest nominal value'))
    one_of: tuple[float, ...] = field(default=(), metadata=key('the nominal values'))
    longest_silence: float = field(
        default=math.inf,
        metadata=key("longest time between its last message and the window's end", 's', above=0),
    )

    def accepts(self, values: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return which values are as required; NaN and infinity never are."""
        within = np.isfinite(values) & (values >= self.at_least) & (values <= self.at_most)
        return within & np.isin(values, self.one_of) if self.one_of else within

    @property
    def expected(self) -> str:
        """The required values, for people."""
        parts = []
        if self.one_of:
            parts.append(f'one of {", ".join(f"{each:g}" for each in self.one_of)}')
        if self.at_least > -math.inf:
            parts.append(f'at least {self.at_least:g}')
        if self.at_most < math.inf:
            parts.append(f'at most {self.at_most:g}')
        return ' and '.join(parts) or 'a finite number'
