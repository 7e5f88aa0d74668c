"""The period of a stream, whatever its messages' arrivals look like."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

TOGETHER = 0.2  # of the mean gap: messages nearer than this came together,
AT_ONCE = 2e6  # [ns] and those nearer than this, if it is under half of the mean gap


def period_of(stamps: NDArray[np.int64], rate: float) -> float:
    """Return the time between two messages, or two bursts of messages [s]; 0: too few of them.

    The median of the gaps, those within a burst left out: where each value is sent twice, or
    several come together, the period is that of the pairs or of the bursts.

    :param stamps: (n,) [ns], increasing
    :param rate: [Hz] nominal; 0: not known
    """
    if rate > 0:
        return 1.0 / rate
    gaps = np.diff(stamps)
    if not len(gaps):
        return 0.0
    mean = float(gaps.mean())
    apart = gaps[gaps > max(TOGETHER * mean, min(AT_ONCE, mean / 2.0))]
    return float(np.median(apart)) * 1e-9
