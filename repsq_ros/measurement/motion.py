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

"""Whether poses can belong to one body: no impossible step, and no outlier."""

from __future__ import annotations

import numpy as np

from repsq_ros.measurement.frames import lengths
from repsq_ros.measurement.limits import Limits
from repsq_ros.measurement.reasons import Code, Fault
from repsq_ros.measurement.samples import Array
from repsq_ros.measurement.steps import FEWEST, Steps, off_neighbours
from repsq_ros.measurement.window import Window

# Threshold in units of the 90th percentile of the steps. On walks of two humanoids, on wheels
# and at rest, no step exceeded 5.3, except for those explained by the other terms.
FAR = 6.5
MOST_NOISE = (0.02, 0.15)  # [m], [rad]: larger deviations are never noise
SHAKEN = (10.0, 20.0)  # [m/s^2], [rad/s^2] times the squared period: largest bend of a path


def jump_fault(steps: Steps, period: float, window: Window, limits: Limits) -> Fault | None:
    """Return a fault if the body moves or turns impossibly fast.

    If two messages came together, their step counts as a full period.

    :param period: [s] between two samples
    """
    if not len(steps):
        return None
    stamps, moved, angle = steps.samples.stamps, steps.move_lengths, steps.turn_lengths
    if moved is not None and not moved.max() <= limits.step:
        time = np.maximum(steps.seconds, period)
        at = worst(moved - np.maximum(limits.fastest * time, limits.step))
        if at is not None:
            return Fault(
                Code.JUMP,
                f'jump: {moved[at]:.3f} m within {steps.seconds[at]:.4f} s at '
                f'{window.at(stamps[at + 1])}, at most {limits.fastest:g} m/s is believed',
            )
    if angle is not None and not angle.max() <= limits.fastest_turn * period:
        time = np.maximum(steps.seconds, period)
        at = worst(angle - limits.fastest_turn * time)
        if at is not None:
            return Fault(
                Code.JUMP,
                f'jump: a turn by {angle[at]:.3f} rad within {steps.seconds[at]:.4f} s at '
                f'{window.at(stamps[at + 1])}, at most {limits.fastest_turn:g} rad/s is '
                'believed',
            )
    return None


def worst(excess: Array) -> int | None:
    """Return the index of the largest excess; None: there is none."""
    at = int(np.argmax(excess))
    return at if excess[at] > 0 else None


def outlier_fault(steps: Steps, period: float, window: Window, limits: Limits) -> Fault | None:
    """Return a fault if a step leaves the path of its neighbours: another body, or wrong frame.

    A step is compared with the median of the two before and the two after it. It may differ
    by the noise of the path, by the bend that a shaken body makes within a period, and by the
    distance covered in the deviation from one period.

    :param period: [s] between two samples
    """
    stamps = steps.samples.stamps
    if len(steps) < FEWEST or not period > 0:
        return None
    for each, sizes, least, most, shaken, word, unit in zip(
        (steps.moves, steps.turns),
        (steps.move_lengths, steps.turn_lengths),
        (limits.outlier, limits.outlier_turn),
        MOST_NOISE,
        SHAKEN,
        ('step', 'turn'),
        ('m', 'rad'),
        strict=True,
    ):
        if each is None or sizes is None:
            continue
        off = lengths(off_neighbours(each, steps.seconds, period))
        if off.max() <= least + shaken * period**2:
            continue  # noise only adds to `least`, so no closer check is needed
        noise = max(least, min(FAR * float(np.percentile(off, 90)), most))
        pace = 1.5 * float(np.percentile(sizes, 90)) / period
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
