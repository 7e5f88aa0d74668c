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

"""Numbers as a line of block characters."""

from __future__ import annotations

import math
from collections.abc import Sequence

BLOCKS = '▁▂▃▄▅▆▇█'


def sparkline(
    values: Sequence[float], width: int, limits: tuple[float, float] | None = None
) -> str:
    """Return at most `width` blocks, with the last value at the end.

    Each block shows the last value of its share of the values; a blank means not finite.

    :param limits: values of the lowest and the highest block; None: of the shown values
    """
    count = min(len(values), width)
    if count <= 0:
        return ''
    shown = [values[(k + 1) * len(values) // count - 1] for k in range(count)]
    finite = [value for value in shown if math.isfinite(value)]
    if not finite:
        return ' ' * count
    low, high = limits or (min(finite), max(finite))
    return ''.join(_block(value, low, high) for value in shown)


def _block(value: float, low: float, high: float) -> str:
    if not math.isfinite(value):
        return ' '
    if not high > low:
        return BLOCKS[len(BLOCKS) // 2 - 1]
    share = min(max((value - low) / (high - low), 0.0), 1.0)
    return BLOCKS[min(int(share * len(BLOCKS)), len(BLOCKS) - 1)]
