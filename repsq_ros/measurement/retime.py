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

"""Stamps of arrival, corrected by the rate at which the sensor measures."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Stamps = NDArray[np.int64]

EARLIEST = 5.0  # percentile of the delays that counts as undelayed


def retimed(stamps: Stamps, rate: float) -> Stamps:
    """Return estimates of when the sensor measured, from stamps of arrival.

    A sensor measures every 1 / rate s; its messages arrive after varying delays, some in bunches.
    Going back from the last message, each is assigned to the latest measurement that is not after
    its arrival and before that of the next message. A straight line through arrival times over
    the numbers of the measurements then corrects for a rate that is not exactly the nominal one.
    The mean delay stays in the stamps: arrival times alone do not tell it.

    :param stamps: (n,) [ns], not decreasing
    :param rate: [Hz] nominal
    :returns: (n,) [ns], increasing; unchanged where there are fewer than three
    """
    if len(stamps) < 3:
        return stamps
    period = 1e9 / rate
    since = (stamps - stamps[0]).astype(np.float64)
    delay = _delays(since, period)
    # Half a period of tolerance, so that a slightly early message is not a full period off.
    latest = np.floor((since - delay) / period + 0.5).astype(np.int64)
    # k_i = min(latest_i, k_{i+1} - 1), from the end: a running minimum of latest_i - i.
    order = np.arange(len(stamps))
    place = np.minimum.accumulate((latest - order)[::-1])[::-1] + order
    slope, start = np.polyfit(place.astype(np.float64), since, 1)
    if slope <= 0:
        return stamps
    back: Stamps = stamps[0] + np.rint(start + slope * place).astype(np.int64)
    return back


def _delays(since: NDArray[np.float64], period: float) -> float:
    """Return the phase of the sensor's period at which undelayed messages arrive [ns]."""
    angle = since * (2.0 * np.pi / period)
    middle = float(np.arctan2(np.mean(np.sin(angle)), np.mean(np.cos(angle))))
    around = np.remainder(angle - middle + np.pi, 2.0 * np.pi) - np.pi
    return float((middle + np.percentile(around, EARLIEST)) / (2.0 * np.pi) * period)
