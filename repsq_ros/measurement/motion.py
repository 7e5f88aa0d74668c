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

"""Whether poses can be those of one body: no step faster than anything moves, none out of line."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from repsq_ros.measurement.limits import Limits
from repsq_ros.measurement.reasons import Code, Fault
from repsq_ros.measurement.rowwise import lengths, percentile
from repsq_ros.measurement.track_steps import TrackSteps
from repsq_ros.measurement.window import Window

Array = NDArray[np.float64]

# Times what nine of ten steps stay within. On walks of two humanoids, wheels and a body at rest no
# step was further out than 5.3 times, but for those that the other terms explain.
FAR = 6.5
MOST_NOISE = (0.02, 0.15)  # [m], [rad]: more than that is never taken for noise
SHAKEN = (10.0, 20.0)  # [m/s^2], [rad/s^2] times the square of a period: what it may bend a path


def jump_fault(steps: TrackSteps, window: Window, limits: Limits) -> Fault | None:
    """Return where the body moves or turns faster than anything can.

    Two messages that came together are given a whole period for their step.
    """
    if not len(steps):
        return None
    stamps = steps.track.stamps
    # What is no more than the least that any step may be needs no look at each.
    if steps.ways is not None and not steps.way_bounds.length <= limits.step:
        moved, time = lengths(steps.ways), np.maximum(steps.seconds, steps.period)
        excess = moved - np.maximum(limits.fastest * time, limits.step)
        at = worst(excess)
        if at is not None:
            return Fault(
                Code.JUMP,
                f'jump: {moved[at]:.3f} m within {steps.seconds[at]:.4f} s at '
                f'{window.at(stamps[at + 1])}, at most {limits.fastest:g} m/s is believed',
            )
    fastest = limits.fastest_turn * steps.period
    if steps.turns is not None and not steps.turn_bounds.length <= fastest:
        angle, time = lengths(steps.turns), np.maximum(steps.seconds, steps.period)
        excess = angle - limits.fastest_turn * time
        at = worst(excess)
        if at is not None:
            return Fault(
                Code.JUMP,
                f'jump: a turn by {angle[at]:.3f} rad within {steps.seconds[at]:.4f} s at '
                f'{window.at(stamps[at + 1])}, at most {limits.fastest_turn:g} rad/s is '
                'believed',
            )
    return None


def worst(excess: Array) -> int | None:
    """Return where an excess is largest; None: there is none anywhere."""
    at = int(np.argmax(excess))
    return at if excess[at] > 0 else None


def outlier_fault(steps: TrackSteps, window: Window, limits: Limits) -> Fault | None:
    """Return where a step leaves the path that its neighbours are on: another body, a wrong frame.

    A step is held against the median of the two before and the two after it. What it may differ
    is the noise of the track, the bend that a shaken body makes within a period, and what the body
    goes in the time that was longer or shorter than a period.
    """
    period, stamps = steps.period, steps.track.stamps
    if not steps.comparable:
        return None
    for each, apart, bounds, least, most, shaken, word, unit in zip(
        (steps.ways, steps.turns),
        (steps.ways_apart, steps.turns_apart),
        (steps.way_bounds, steps.turn_bounds),
        (limits.outlier, limits.outlier_turn),
        MOST_NOISE,
        SHAKEN,
        ('step', 'turn'),
        ('m', 'rad'),
        strict=True,
    ):
        if each is None or bounds.departure <= least + shaken * period**2:
            continue  # the noise is never less than `least`, and more is only added
        off = lengths(apart)
        if off.max() <= least + shaken * period**2:
            continue
        noise = max(least, min(FAR * percentile(off, 90), most))
        pace = 1.5 * percentile(lengths(each), 90) / period
        uneven = np.abs(steps.seconds - period)
        excess = off - (noise + shaken * period**2 + pace * uneven)
        at = worst(excess)
        if at is not None:
            return Fault(
                Code.JUMP,
                f'jump: a {word} at {window.at(stamps[at + 1])} leaves the path of its '
                f'neighbours by {off[at]:.4f} {unit}, at most {off[at] - excess[at]:.4f} {unit} '
                'is believed',
            )
    return None
