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

"""Falls of the subject: a result if it is observed, else possibly a fault of the instrument."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from repsq_ros.measurement.frames import tilt_of
from repsq_ros.measurement.frozen import longest_frozen
from repsq_ros.measurement.limits import Fall, Limits
from repsq_ros.measurement.motion import jump_fault
from repsq_ros.measurement.reasons import Code, Fault
from repsq_ros.measurement.samples import Samples
from repsq_ros.measurement.steps import Steps
from repsq_ros.measurement.window import Window

GOING = 0.15  # [s] before a loss, in which the motion is estimated
FORESEEN = 0.3  # [s] of extrapolation


def fallen(samples: Samples, fall: Fall, period: float, window: Window, limits: Limits) -> str:
    """Return how the body has fallen, or ''.

    It has fallen if it is too low, or leans too far, in all samples of a span of `hold`, and got
    there by plausible steps: after a jump, the instrument is at fault.

    :param samples: unbroken samples in SI units, z up, from the command on
    :param period: [s] between two samples
    """
    down = _down(samples, fall)
    if not down.any():
        return ''
    began: int | None = None
    for place, (stamp, is_down) in enumerate(
        zip(samples.stamps.tolist(), down.tolist(), strict=True)
    ):
        if not is_down:
            began = None
            continue
        began = place if began is None else began
        if (stamp - samples.stamps[began]) * 1e-9 >= fall.hold:
            way = samples.take(slice(max(began - 1, 0), place + 1))
            jumped = jump_fault(Steps(way), period, window, limits)
            return '' if jumped else _state_text(samples)
    return ''


def lost_falling(samples: Samples, fall: Fall, window: Window, limits: Limits) -> Fault | None:
    """Return a fault if the body was going down when it was last seen.

    It was not seen down for `hold`, so it is not a fall; but the reason says what happened.

    :param samples: unbroken samples in SI units, z up, from the command on
    """
    stamps = samples.stamps
    ends = [*np.flatnonzero(np.diff(stamps) > limits.largest_gap_ns).tolist()]
    if len(stamps) and window.end_ns - stamps[-1] > limits.largest_gap_ns:
        ends.append(len(stamps) - 1)
    span, first = longest_frozen(samples)
    if span > limits.frozen:
        ends.append(first)
    for end in sorted(ends):
        why = _going_down(samples.take(slice(0, end + 1)), fall)
        if why:
            return Fault(
                Code.LOST_FALLING,
                f'lost while falling: {why} when it was seen last, at {window.at(stamps[end])}; '
                f'a fall is one that is seen for {fall.hold:g} s',
            )
    return None


def _going_down(samples: Samples, fall: Fall) -> str:
    """Return how low it is or how far it leans, if it goes down or is down, or ''."""
    late = samples.since(
        int(np.searchsorted(samples.stamps, samples.stamps[-1] - round(GOING * 1e9)))
    )
    seconds = (late.stamps - late.stamps[-1]).astype(np.float64) * 1e-9
    for values, limit, sign, what in (
        (None if late.position is None else late.position[:, 2], fall.height, 1.0, 'height'),
        (None if late.orientation is None else tilt_of(late.orientation), fall.tilt, -1.0, 'tilt'),
    ):
        if values is None or not math.isfinite(limit):
            continue
        slope = float(np.polyfit(seconds, values, 1)[0]) if len(values) > 2 else 0.0
        soon = float(values[-1]) + FORESEEN * slope
        if min(sign * float(values[-1]), sign * soon) < sign * limit:
            return f'its {what} was {values[-1]:.3f} and went by {slope:+.3f} a second'
    return ''


def _down(samples: Samples, fall: Fall) -> NDArray[np.bool_]:
    down = np.zeros(len(samples), dtype=np.bool_)
    if samples.position is not None and fall.height > -math.inf:
        down |= samples.position[:, 2] < fall.height
    if samples.orientation is not None and fall.tilt < math.inf:
        down |= tilt_of(samples.orientation) > fall.tilt
    return down


def _state_text(samples: Samples) -> str:
    parts = []
    if samples.position is not None:
        parts.append(f'lowest height {samples.position[:, 2].min():.3f} m')
    if samples.orientation is not None:
        parts.append(f'largest tilt {tilt_of(samples.orientation).max():.3f} rad')
    return f'fall: {", ".join(parts)}'
