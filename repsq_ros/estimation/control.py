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

"""Control variates: a value with mean r* and a smaller spread than z, test by test.

For g fixed before test t is drawn, with known mu = E_p[g], v = w (psi - g(x)) + mu has the
conditional mean r* for any g, and its bounds are known before the draw.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Protocol

from repsq_ros.estimation.stopping import Bounds


@dataclass(frozen=True)
class CountedCase:
    """One counted test; add further inputs of a control variate here."""

    x: tuple[float, ...]
    psi: float
    weight: float
    weight_bound: float  # of the proposal that drew x, known before the draw


@dataclass(frozen=True)
class Predictable:
    """What is known of v before psi: v = z + offset, within the bounds."""

    known_before: ClassVar[bool] = True  # bounds are known at the draw, so v itself may be bet on
    offset: float  # mu - w g(x); NaN if the case has no weight
    bounds: Bounds

    def on_limit(
        self, z: float | None, bounds: Bounds, could: Bounds | None
    ) -> tuple[float | None, Bounds, Bounds | None]:
        """Return value, bounds and possible range of v if v may be bet on, else of z."""
        if not self.known_before:
            return z, bounds, could
        return self._v, self.bounds, None if could is None else self.shifted(could)

    @property
    def _v(self) -> float | None:
        """v; None: no psi, so no v."""
        return None

    def shifted(self, could: Bounds) -> Bounds:
        """Return the possible range of v, given that of z."""
        if not math.isfinite(self.offset):
            return self.bounds
        return Bounds(
            max(could.lower + self.offset, self.bounds.lower),
            min(could.upper + self.offset, self.bounds.upper),
        )


@dataclass(frozen=True)
class ControlledValue(Predictable):
    """v of one test."""

    value: float

    @property
    def _v(self) -> float | None:
        return self.value

    @property
    def bet_bounds(self) -> Bounds:
        """Bounds of the values that are bet on: for the lower end, and for the upper end."""
        return self.bounds


class Control(Protocol):
    """A control variate, updated with the counted tests of a campaign, in their order."""

    def predict(self, test: CountedCase) -> Predictable:
        """Return what earlier tests predict of v; psi of this test is not used."""

    def count(self, test: CountedCase) -> ControlledValue:
        """Return v from the fit to earlier tests, then learn from this one."""


def controlled_bounds(
    psi: Bounds, g: Bounds, mean: float, weight_bound: float, unweighted: bool
) -> Bounds:
    """Return the bounds of v = w (psi - g) + mean for w in [0, w_max], or w = 1.

    :param psi: range M of psi
    :param g: bounds of g on all cases
    :param mean: E_p[g]
    """
    low, high = psi.lower - g.upper, psi.upper - g.lower
    if unweighted:
        return Bounds(mean + low, mean + high)
    return Bounds(mean + min(0.0, weight_bound * low), mean + max(0.0, weight_bound * high))
