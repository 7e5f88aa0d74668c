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

"""How many tests a betting rule takes for a given mean and variance.

The logarithm of the capital is computed for a two-point distribution with this mean and variance.
Its expected growth is used, so the count is a median, not a bound. 0 means more than 2^20 tests.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from repsq_ros.estimation.accumulator import Accumulator
from repsq_ros.estimation.betting import CAPS
from repsq_ros.estimation.stopping import Bounds, Question, StoppingRule

LONGEST = 2**20  # largest number of tests that is forecast


class ThrottledForecast:
    """Caches a forecast, and updates it only when n has grown by 5 %."""

    def __init__(self) -> None:
        self._next, self._kept = 0.0, 0

    def get(self, n: int, make: Callable[[], int]) -> int:
        """Return the current forecast after n tests, at least n."""
        if n >= self._next:
            self._next, self._kept = 1.05 * n, make()
        return max(self._kept, n) if self._kept else 0


def expected_tests(rule: StoppingRule, question: Question, mean: float, variance: float) -> int:
    """Return the approximate number of tests of a rule; 0: unknown or beyond 2^20.

    :param mean: of z [unit of psi]
    :param variance: of z [unit of psi squared]
    """
    return rule.begin(question).expected_n(Accumulator(2, mean, 2.0 * variance))


def settled(tests: Callable[[int], int], n: int) -> int:
    """Return the smallest n, from the given one on, with tests(n) <= n; 0 beyond 2^20.

    :param tests: tests needed if n were reached, 0 for none; it decreases with n
    """
    high = max(n, 1)
    while not 0 < tests(high) <= high:
        high *= 2
        if high > LONGEST:
            return 0
    low = max(n, high // 2)
    while high - low > max(1, high // 100):
        middle = (low + high) // 2
        low, high = (low, middle) if 0 < tests(middle) <= middle else (middle, high)
    return high


def tests_to_distance(
    mean: float,
    variance: float,
    bounds: Bounds,
    distance: float,
    c: float,
    c_below: float = 0.5,
    middle: bool = False,
) -> int:
    """Return the approximate number of tests until both mean -+ distance are rejected.

    If the estimate is the interval's middle, one end may be farther away and the other nearer.

    :param mean: of z [unit of psi]
    :param variance: of z [unit of psi squared]
    :param c_below: share of c for the lower end
    """
    sides = (
        tests_to_reject(mean, variance, bounds, distance, 2.0 * c * c_below),
        tests_to_reject(
            -mean,
            variance,
            Bounds(-bounds.upper, -bounds.lower),
            distance,
            2.0 * c * (1.0 - c_below),
        ),
    )
    if not all(sides):
        return 0
    return math.ceil(sum(sides) / 2) if middle else max(sides)


def tests_to_reject(
    mean: float, variance: float, bounds: Bounds, distance: float, c: float
) -> int:
    """Return the approximate number of tests until K+ rejects the candidate mean - distance."""
    middle = (bounds.lower + bounds.upper) / 2.0
    mean, down, up, share_up = _two_values(mean, variance, bounds)
    room = max(mean - distance - bounds.lower, 0.0)
    wanted, logs, begun, size = math.log(2.0 / c), [0.0] * len(CAPS), 0, 256
    while begun < LONGEST:
        n = begun + np.arange(size)
        # The first guess of the mean, the middle of the bounds, acts like extra variance.
        learning = (mean - middle) ** 2 * (0.6449 - 1.0 / (n + 1.5))
        spread = (bounds.width**2 / 4.0 + n * variance + np.maximum(learning, 0.0)) / (n + 1.0)
        stake = distance / (spread + distance**2)
        tracks = []
        for log, cap in zip(logs, CAPS, strict=True):
            bet = np.minimum(stake, cap / room) if room > 0.0 else stake
            gain = share_up * np.log1p(bet * (distance + up))
            gain += (1.0 - share_up) * np.log1p(bet * np.maximum(distance - down, -room))
            tracks.append(log + np.cumsum(gain))
        capital = np.logaddexp(*tracks) - math.log(2.0)
        enough = np.flatnonzero(capital >= wanted)
        if enough.size:
            return begun + int(enough[0]) + 1
        logs, begun, size = [float(track[-1]) for track in tracks], begun + size, size * 2
    return 0


def _two_values(mean: float, variance: float, bounds: Bounds) -> tuple[float, float, float, float]:
    """Return a two-point distribution: mean, distances down and up, P(the upper one)."""
    mean = min(max(mean, bounds.lower), bounds.upper)
    down = min(math.sqrt(variance), mean - bounds.lower)
    up = variance / down if down > 0.0 else 0.0
    return mean, down, up, down / (up + down) if up + down > 0.0 else 0.5


def growth(mean: float, variance: float, bounds: Bounds, distance: float) -> float:
    """Return the growth of ln K+ at the candidate mean - distance, per test of a long campaign."""
    mean, down, up, share_up = _two_values(mean, variance, bounds)
    room = max(mean - distance - bounds.lower, 0.0)
    stake = distance / (variance + distance**2)
    gains = []
    for cap in CAPS:
        bet = min(stake, cap / room) if room > 0.0 else stake
        gain = share_up * math.log1p(bet * (distance + up))
        gains.append(gain + (1.0 - share_up) * math.log1p(bet * max(distance - down, -room)))
    return max(gains)
