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

"""Arrival stamps back onto the rate at which the sensor measured."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Stamps = NDArray[np.int64]

EARLIEST = 5.0  # percentile of the delays that stands for no delay


def retimed(stamps: Stamps, rate: float) -> Stamps:
    """Return stamps as the sensor would have set them, from stamps of arrival.

    A sensor measures every 1 / rate s; its messages come late by varying delays, some together.
    From the last message back, each one is given the latest instant of the sensor's that is not
    after its arrival and before the next one's. A straight line through arrival over instant then
    takes up what the true rate differs from the nominal one. The mean delay stays in the stamps:
    arrival alone cannot tell it.

    :param stamps: (n,) [ns], not decreasing
    :param rate: [Hz] nominal
    :returns: (n,) [ns], increasing; unchanged where there are fewer than three
    """
    if len(stamps) < 3:
        return stamps
    period = 1e9 / rate
    since = (stamps - stamps[0]).astype(np.float64)
    delay = _delays(since, period)
    # Ties of the rounding must not depend on a hair: half a period of grace for an early message.
    latest = np.floor((since - delay) / period + 0.5).astype(np.int64)
    # k_i = min(latest_i, k_{i+1} - 1), from the back: a running minimum of latest_i - i.
    order = np.arange(len(stamps))
    place = np.minimum.accumulate((latest - order)[::-1])[::-1] + order
    slope, start = np.polyfit(place.astype(np.float64), since, 1)
    if slope <= 0:
        return stamps
    back: Stamps = stamps[0] + np.rint(start + slope * place).astype(np.int64)
    return back


def _delays(since: NDArray[np.float64], period: float) -> float:
    """Return the phase [ns] at which messages come that are hardly delayed."""
    angle = since * (2.0 * np.pi / period)
    middle = float(np.arctan2(np.mean(np.sin(angle)), np.mean(np.cos(angle))))
    around = np.remainder(angle - middle + np.pi, 2.0 * np.pi) - np.pi
    return float((middle + np.percentile(around, EARLIEST)) / (2.0 * np.pi) * period)
