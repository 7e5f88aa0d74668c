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

"""Bunched messages: delayed by a network and delivered together, where that spoils a velocity."""

from __future__ import annotations

import numpy as np

from repsq_ros.measurement.cut import Cut
from repsq_ros.measurement.inputs import Velocity
from repsq_ros.measurement.reasons import Code, Fault
from repsq_ros.measurement.retime import retimed
from repsq_ros.measurement.samples import Samples
from repsq_ros.measurement.velocity import by_slope, pace
from repsq_ros.timebase import to_seconds

HELD = 1.5  # periods without a message, and then
CAUGHT_UP = 0.25  # at most this share of a period until the next one: the first one was delayed
AT_ONCE = 0.002  # [s] upper limit of that: if most messages are lost, two are no bunch


def bunched_fault(cut: Cut) -> Fault | None:
    """Return whether bunched arrivals spoil the velocity.

    An even clock with the input's rate shows the error of the stamps: if the stamps advance by a
    factor 1 + e over the span of a slope, the velocity has a relative error e. A body at rest has
    no velocity to spoil.
    """
    steps, period, first, source = cut.steps, cut.period, cut.first, cut.source
    samples, gaps, believed = steps.samples, steps.seconds, cut.limits.bunched
    if source.velocity == Velocity.TWIST or source.retime or len(samples) - first < 4:
        return None
    if not gaps.max() > HELD * period:
        return None
    stamps = samples.stamps
    together = gaps[1:] < min(CAUGHT_UP * period, AT_ONCE)
    held = np.flatnonzero((gaps[:-1] > HELD * period) & together)
    if not len(held):
        return None
    even = retimed(stamps, 1.0 / min(period, float(gaps.mean())))
    try:
        ran = pace(stamps, even, source, first)
        smooth = by_slope(Samples(even, samples.position, samples.orientation), 0.2, first)
    except ValueError:
        return None
    smooth = smooth[len(smooth) - len(ran) :]  # the first pose has no difference
    spoiled = np.sqrt(np.mean(((ran - 1.0)[:, None] * smooth) ** 2, axis=0))
    worst = float(spoiled.max())
    if worst <= believed:
        return None
    at = int(held[np.argmax(gaps[held])])
    return Fault(
        Code.BUNCHED,
        f'bunched: messages held up for {to_seconds(int(stamps[at + 1] - stamps[at])):.3f} s came '
        f'together at {cut.window.at(stamps[at + 1])}, which makes the velocity wrong by '
        f'{worst:.4f} m/s or rad/s, at most {believed:g} is allowed: stamps of the sensor, or '
        'its rate and retime: true',
    )
