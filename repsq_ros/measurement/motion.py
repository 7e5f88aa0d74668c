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

from repsq_ros.measurement.frames import continuous, product
from repsq_ros.measurement.limits import Limits
from repsq_ros.measurement.reasons import Code, Fault
from repsq_ros.measurement.rowwise import lengths, percentile
from repsq_ros.measurement.track import Track
from repsq_ros.measurement.window import Window

Array = NDArray[np.float64]

# Times what nine of ten steps stay within. On walks of two humanoids, wheels and a body at rest no
# step was further out than 5.3 times, but for those that the other terms explain.
FAR = 6.5
MOST_NOISE = (0.02, 0.15)  # [m], [rad]: more than that is never taken for noise
SHAKEN = (10.0, 20.0)  # [m/s^2], [rad/s^2] times the square of a period: what it may bend a path


def jump_fault(
    track: Track, period: float, window: Window, limits: Limits, turns: Array | None = None
) -> Fault | None:
    """Return where the body moves or turns faster than anything can.

    Two messages that came together are given a whole period for their step.

    :param track: in SI units
    :param period: [s]
    :param turns: of the track, where they are known
    """
    if len(track) < 2:
        return None
    steps = np.diff(track.stamps).astype(np.float64) * 1e-9
    time = np.maximum(steps, period)
    if track.position is not None:
        moved = lengths(track.position[1:] - track.position[:-1])
        excess = moved - np.maximum(limits.fastest * time, limits.step)
        at = worst(excess)
        if at is not None:
            return Fault(
                Code.JUMP,
                f'jump: {moved[at]:.3f} m within {steps[at]:.4f} s at '
                f'{window.at(track.stamps[at + 1])}, at most {limits.fastest:g} m/s is believed',
            )
    if track.orientation is not None:
        angle = lengths(turns_of(track.orientation) if turns is None else turns)
        excess = angle - limits.fastest_turn * time
        at = worst(excess)
        if at is not None:
            return Fault(
                Code.JUMP,
                f'jump: a turn by {angle[at]:.3f} rad within {steps[at]:.4f} s at '
                f'{window.at(track.stamps[at + 1])}, at most {limits.fastest_turn:g} rad/s is '
                'believed',
            )
    return None


def worst(excess: Array) -> int | None:
    """Return where an excess is largest; None: there is none anywhere."""
    at = int(np.argmax(excess))
    return at if excess[at] > 0 else None


def outlier_fault(
    track: Track, period: float, window: Window, limits: Limits, turns: Array | None = None
) -> Fault | None:
    """Return where a step leaves the path that its neighbours are on: another body, a wrong frame.

    A step is held against the median of the two before and the two after it. What it may differ
    is the noise of the track, the bend that a shaken body makes within a period, and what the body
    goes in the time that was longer or shorter than a period.

    :param track: in SI units
    :param period: [s]
    :param turns: of the track, where they are known
    """
    if len(track) < 6 or not period > 0:
        return None
    time = np.diff(track.stamps).astype(np.float64) * 1e-9
    uneven = np.abs(time - period)
    as_long = np.minimum(1.0, period / time)[:, None]
    steps = [
        None if track.position is None else track.position[1:] - track.position[:-1],
        turns_of(track.orientation) if turns is None and track.orientation is not None else turns,
    ]
    for each, least, most, shaken, word, unit in zip(
        steps, (limits.outlier, limits.outlier_turn), MOST_NOISE, SHAKEN, ('step', 'turn'),
        ('m', 'rad'), strict=True,
    ):  # fmt: skip
        if each is None:
            continue
        off = _off(each, each * as_long)
        noise = max(least, min(FAR * percentile(off, 90), most))
        pace = 1.5 * percentile(lengths(each), 90) / period
        excess = off - (noise + shaken * period**2 + pace * uneven)
        at = worst(excess)
        if at is not None:
            return Fault(
                Code.JUMP,
                f'jump: a {word} at {window.at(track.stamps[at + 1])} leaves the path of its '
                f'neighbours by {off[at]:.4f} {unit}, at most {off[at] - excess[at]:.4f} {unit} '
                'is believed',
            )
    return None


def _off(steps: Array, as_long: Array) -> Array:
    """Return how far each step is from the median of its neighbours.

    :param steps: (n, 3), n >= 5
    :param as_long: (n, 3), the steps of more than a period brought to one
    """
    # At the ends the neighbours are mirrored.
    padded = np.concatenate([as_long[2:0:-1], as_long, as_long[-2:-4:-1]])
    a, b, c, d = (padded[k : k + len(steps)] for k in (0, 1, 3, 4))
    # The second and the third of four.
    second = np.maximum(np.minimum(a, b), np.minimum(c, d))
    third = np.minimum(np.maximum(a, b), np.maximum(c, d))
    return lengths(steps - (second + third) / 2.0)


def turns_of(orientation: Array) -> Array:
    """Return the turns between successive quaternions as vectors, axis times angle [rad]."""
    unit = continuous(orientation / lengths(orientation)[:, None])
    # |a - b| = 2 sin(angle / 4): exact for small angles, where the inner product is not.
    half = lengths(unit[1:] - unit[:-1]) / 2.0
    angle: Array = 4.0 * np.arcsin(np.minimum(half, 1.0))
    back = unit[:-1] * np.array([-1.0, -1.0, -1.0, 1.0])
    axis = product(back, unit[1:])[:, :3]
    size = lengths(axis)
    along: Array = axis * (angle / np.where(size > 0, size, 1.0))[:, None]
    if (size > 0).all():
        return along
    return np.where((size > 0)[:, None], along, np.column_stack([angle, 0 * angle, 0 * angle]))
