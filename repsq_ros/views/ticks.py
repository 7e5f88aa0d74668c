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

"""Round numbers for axes."""

from __future__ import annotations

import math


def step_of(lower: float, upper: float, most: int) -> float:
    """Return the smallest of 1, 2, 5 times a power of ten that gives at most `most` steps.

    :raises ValueError: an empty range, or ends that are not finite
    """
    span = upper - lower
    if not (span > 0.0 and math.isfinite(span)):
        raise ValueError(f'no range from {lower} to {upper}')
    least = span / most
    power = 10.0 ** math.floor(math.log10(least))
    return next(f * power for f in (1.0, 2.0, 5.0, 10.0, 20.0) if f * power >= least * (1 - 1e-9))


def ticks(lower: float, upper: float, most: int) -> list[float]:
    """Return the round numbers within a range, with at most `most` steps between them."""
    step = step_of(lower, upper, most)
    first = math.ceil(lower / step - 1e-9)
    last = math.floor(upper / step + 1e-9)
    return [round(k * step, 12) + 0.0 for k in range(first, last + 1)]


def around(lower: float, upper: float, most: int = 4) -> tuple[float, float]:
    """Return the nearest round numbers around a range; for a single value, a range around it."""
    if not upper > lower:
        half = max(abs(lower) * 0.1, 0.05)
        lower, upper = lower - half, lower + half
    step = step_of(lower, upper, most)
    return (
        round(math.floor(lower / step + 1e-9) * step, 12),
        round(math.ceil(upper / step - 1e-9) * step, 12),
    )


def number(value: float) -> str:
    """Return a number in the form of an axis label."""
    return f'{value:.4g}'
