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

"""The poses around each pose, through which a curve is laid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Stamps = NDArray[np.int64]

FEWEST = 3  # poses that a slope is laid through
FEWEST_OF_A_CUBIC = 5
EDGE_NS = 20  # beyond the span: stamps are rounded somewhere


class TrackPart(NamedTuple):
    """One of several tracks whose samples lie one behind the other."""

    begin: int  # its samples are [begin, end) of all
    end: int
    first: int  # from which of its own samples on something is wanted


def long_enough(stamps: Stamps, span: float, fewest: int) -> bool:
    """Tell whether each pose of a track has poses around it."""
    return len(stamps) >= fewest and bool(stamps[-1] - stamps[0] >= half_of(span) - EDGE_NS)


def half_of(span: float) -> int:
    """Return half of a span [s] in ns."""
    return round(span * 5e8)


def neighbours(
    stamps: Stamps, parts: Sequence[TrackPart], span: float, fewest: int
) -> tuple[Stamps, Stamps]:
    """Return [low, high) of the poses around each wanted pose, among its own track's.

    In whole ns, and with a little grace: a pose at the span's very edge is always within it.

    :param stamps: (n,) [ns] of all tracks
    :raises ValueError: too few poses in a track, or all within less than span / 2
    """
    half = half_of(span)
    lows, highs = [], []
    for begin, end, first in parts:
        own = stamps[begin:end]
        if not long_enough(own, span, fewest):
            raise ValueError('poses of too short a time')
        lows.append(own.searchsorted(own[first:] - (half + EDGE_NS), 'left') + begin)
        highs.append(own.searchsorted(own[first:] + (half + EDGE_NS), 'right') + begin)
    low, high = (ways[0] if len(ways) == 1 else np.concatenate(ways) for ways in (lows, highs))
    short = np.flatnonzero(_short(stamps, low, high, half, fewest))
    if len(short):
        wanted = np.cumsum([end - begin - first for begin, end, first in parts])
        own_part = np.searchsorted(wanted, short, 'right')
        least = np.array([part.begin for part in parts])[own_part]
        most = np.array([part.end for part in parts])[own_part]
    while len(short):
        low[short] = np.maximum(low[short] - 1, least)
        high[short] = np.minimum(high[short] + 1, most)
        still = _short(stamps, low[short], high[short], half, fewest)
        short, least, most = short[still], least[still], most[still]
    return low, high


def _short(stamps: Stamps, low: Stamps, high: Stamps, half: int, fewest: int) -> NDArray[np.bool_]:
    """Tell which neighbours are too few, or lie within too short a time."""
    found: NDArray[np.bool_] = stamps[high - 1] - stamps[low] < half - EDGE_NS
    found |= high - low < fewest
    return found
