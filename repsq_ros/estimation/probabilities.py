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

"""Probabilities in decimals: rounded down, and never shown as 1."""

from __future__ import annotations

import math
from fractions import Fraction


def written(value: float) -> Fraction:
    """Return the exact value of a float's decimal form: 0.1 is a tenth.

    Results computed from it in integers and rounded once are the same on all machines; powers of
    C libraries are not.
    """
    return Fraction(repr(float(value)))


def plug_in(p_same: float) -> float:
    """Return an estimated probability for display, at most 0.999."""
    return min(p_same, 0.999)


def plug_in_text(p_same: float) -> str:
    """Return an estimated probability in decimals, never as 1."""
    return probability_text(plug_in(p_same), 2)


def probability_text(value: float | Fraction, digits: int = 4) -> str:
    """Return a probability in decimals, rounded down; one below 1 is never shown as 1.

    :param value: in [0, 1]; a float stands for its decimal form
    :param digits: decimals at most; more are used if needed to show the distance from 1
    """
    exact = value if isinstance(value, Fraction) else written(value)
    missing = 1 - exact
    if missing > 0:
        digits = max(digits, 1 - math.floor(math.log10(missing)))
    # The rounding error of a power must not cost a digit: .8999 for .9.
    kept = math.floor(exact * 10**digits + Fraction(1, 1000))
    kept = min(kept, 10**digits - 1) if missing > 0 else kept
    whole, parts = divmod(kept, 10**digits)
    return f'{whole}.{parts:0{digits}d}'.rstrip('0').rstrip('.')


def confidence_text(c: float) -> str:
    """Return 1 - c in decimals."""
    return probability_text(1 - written(c))
