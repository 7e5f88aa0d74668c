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

"""Whether a twist can be trusted: plausible, without spikes, and consistent with the pose."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from repsq_ros.measurement.frames import turned
from repsq_ros.measurement.heading import yaw_of
from repsq_ros.measurement.limits import Limits
from repsq_ros.measurement.motion import worst
from repsq_ros.measurement.reasons import Code, Fault
from repsq_ros.measurement.samples import Array, Samples
from repsq_ros.measurement.velocity import by_difference, by_slope
from repsq_ros.measurement.window import Window

# shortest span of the comparison, in periods: poses have the motion between two twists
PERIODS = 9
# share of a difference; if less is left in the world frame, the twist is in that frame
OF_WORLD = 0.5
FAR = 8.0  # spike threshold, in units of the 90th percentile
# share of a twist's spike that poses have to follow; its integral has half over two steps
GOES_ALONG = 0.25
AT_REST = 1e-6  # [m/s, rad/s] remainder of a filter that counts as rest
AHEAD = np.array([1.0, 0.0, 0.0])  # direction of the heading
FEWEST_REPEATED = 5  # twists


def bound_fault(samples: Samples, window: Window, limits: Limits) -> Fault | None:
    """Return a fault if a twist is impossibly fast."""
    bounds = (limits.fastest, limits.fastest_turn)
    for column, bound, unit in zip((samples.linear, samples.angular), bounds, UNITS, strict=True):
        if column is None or not len(column):
            continue
        size = np.linalg.norm(column, axis=1)
        at = worst(size - bound)
        if at is not None:
            return Fault(
                Code.TWIST_BOUND,
                f'twist beyond belief: {size[at]:.4g} {unit} at {window.at(samples.stamps[at])}, '
                f'at most {bound:g} {unit} is believed',
            )
    return None


UNITS = ('m/s', 'rad/s')
PARTS = (slice(0, 2), slice(2, 3))  # parts of velocities: in the plane, about the vertical


def spikes(rows: Array, samples: Samples) -> Array:
    """Return by how much single twists stand out from their neighbours; 0: they do not.

    Each twist is compared with the median of itself and two neighbours on either side, which
    ignores rising and falling velocities. If the poses follow the spike, the body really moved.

    :param rows: (n, 3) in m/s, m/s, rad/s, of the samples
    :returns: (n, 3)
    """
    off = _off_median(rows)
    for part in PARTS:
        size = np.linalg.norm(off[:, part], axis=1)
        off[size <= FAR * float(np.percentile(size, 90)), part] = 0.0
    if samples.position is None or samples.orientation is None or not off.any():
        return off
    steps = by_difference(samples)
    gone = _off_median(np.vstack([steps[:1], (steps[1:] + steps[:-1]) / 2.0, steps[-1:]]))
    for part in PARTS:
        along, size = (np.sum(each[:, part] * off[:, part], axis=1) for each in (gone, off))
        off[along > GOES_ALONG * size, part] = 0.0
    return off


def _off_median(rows: Array) -> Array:
    padded = np.pad(rows, ((2, 2), (0, 0)), mode='reflect')
    off: Array = rows - np.median(sliding_window_view(padded, 5, axis=0), axis=-1)
    return off


def spikes_told(samples: Samples, off: Array, window: Window) -> str:
    """Return a description of the largest spike.

    :param off: (n, 3) from `spikes`
    """
    sizes = np.hypot(off[:, 0], off[:, 1]), np.abs(off[:, 2])
    size, unit = max(zip(sizes, UNITS, strict=True), key=lambda each: float(each[0].max()))
    at = int(np.argmax(size))
    return f'{size[at]:.4g} {unit} beside those around it at {window.at(samples.stamps[at])}'


def dead_fault(samples: Samples, window: Window, limits: Limits) -> Fault | None:
    """Return a fault if the velocities of an odometry are zeros that are not measured.

    A controller that is off reports zeros throughout; a driver without velocities leaves the
    twist zero while the pose moves. With a zero command, zeros are normal.
    """
    if samples.linear is None or samples.angular is None or len(samples) < 2:
        return None
    if samples.position is None:
        return _repeated(samples, window, limits)
    if samples.linear.any() or samples.angular.any():
        return None
    count = len(samples)
    if not samples.position.any():
        if not any(window.command):
            return None
        return Fault(
            Code.ALL_ZERO,
            f'all-zero odometry: position and twist of all {count} samples are exactly zero',
        )
    moved = float(np.linalg.norm(samples.position - samples.position[0], axis=1).max())
    if moved > limits.step:
        return Fault(
            Code.ALL_ZERO,
            f'all-zero odometry: the twist of all {count} samples is exactly zero while the '
            f'position moves by {moved:.4f} m',
        )
    return None


def _repeated(samples: Samples, window: Window, limits: Limits) -> Fault | None:
    """Return a fault if a twist without a pose is bit-identical for too long during a command.

    Measured values of a moving body do not repeat.
    """
    assert samples.linear is not None
    assert samples.angular is not None
    if not any(window.command):
        return None
    rows = np.hstack([samples.linear, samples.angular])
    moved = np.flatnonzero((rows[1:] != rows[:-1]).any(axis=1)) + 1
    starts, ends = np.append(0, moved), np.append(moved - 1, len(samples) - 1)
    spans = (samples.stamps[ends] - samples.stamps[starts]).astype(np.float64) * 1e-9
    at = int(np.argmax(spans))
    if spans[at] <= limits.frozen or ends[at] - starts[at] + 1 < FEWEST_REPEATED:
        return None
    row, seconds, where = rows[starts[at]], spans[at], window.at(samples.stamps[starts[at]])
    if not row.any():
        return Fault(
            Code.ALL_ZERO,
            f'all-zero odometry: the twist is exactly zero for {seconds:.3f} s from {where} on, '
            'under a command',
        )
    echo = len(window.command) == 3 and np.allclose(
        row[[0, 1, 5]], window.command, rtol=1e-6, atol=0.0
    )
    return Fault(
        Code.FROZEN,
        f'frozen: bit-identical twists with fresh stamps for {seconds:.3f} s from {where} on'
        f'{", equal to the command: an echo of it?" if echo else ""}',
    )


def follows_motion(samples: Samples) -> bool:
    """Tell whether an odometry with a position reports motion in all its samples.

    Wheels at rest repeat values, and a bridge may leave the position zero.
    """
    if samples.position is None or samples.linear is None or samples.angular is None:
        return False
    fast = np.maximum(np.abs(samples.linear).max(axis=1), np.abs(samples.angular).max(axis=1))
    return bool(((fast > AT_REST) & samples.position.any(axis=1)).all())


class SlopesOfBoth(NamedTuple):
    """Velocities by twist and by pose of the same samples, equally smoothed.

    :ivar by_twist: (n, 3) in m/s, m/s, rad/s
    :ivar by_pose: (n, 3)
    :ivar span: of the slopes [s]
    :ivar within: number of samples in a span
    """

    by_twist: Array
    by_pose: Array
    span: float
    within: float


def slopes_of_both(samples: Samples, span: float) -> SlopesOfBoth | None:
    """Return comparable velocities by twist and by pose: the twist is integrated first.

    :param samples: of the window, in SI units
    :param span: [s] of a slope of poses; here at least twice as long, and PERIODS
    :returns: None: too few samples, or the position is always zero
    """
    if samples.position is None or samples.orientation is None or len(samples) < 6:
        return None
    if samples.linear is None or samples.angular is None or not samples.position.any():
        return None
    period = float(samples.stamps[-1] - samples.stamps[0]) * 1e-9 / (len(samples) - 1)
    span = max(2.0 * span, PERIODS * period)
    try:
        by_pose = by_slope(samples, span)
        led = integrated(samples)
        by_twist = by_slope(led, span)
        by_twist[:, :2] = by_slope(replace(led, orientation=samples.orientation), span)[:, :2]
    except ValueError:
        return None
    return SlopesOfBoth(by_twist, by_pose, span, span / period)


def differences_told(samples: Samples, both: SlopesOfBoth) -> str:
    """Return a description of the difference between twist and pose, and of its cause.

    :param samples: of the window, in SI units
    :param both: their velocities, from `slopes_of_both`
    """
    off = both.by_twist - both.by_pose
    mean = off.mean(axis=0)
    world = replace(integrated(samples, of_world=True), orientation=samples.orientation)
    by_world = _rms((by_slope(world, both.span) - both.by_pose)[:, :2])
    told = f'they differ by {np.hypot(mean[0], mean[1]):.4f} m/s and {abs(mean[2]):.4f} rad/s '
    if by_world < OF_WORLD * _rms(off[:, :2]):
        return f'{told}on average, and hardly in the world frame: velocity_frame: world?'
    if not np.abs(both.by_twist[:, 2]).max() > AT_REST:
        return f'{told}on average, and the twist has no yaw rate: velocity: slope?'
    return f'{told}on average: another frame, a wrong unit or scale, slip?'


def _rms(rows: Array) -> float:
    return float(np.sqrt(np.mean(np.sum(rows * rows, axis=1))))


def integrated(samples: Samples, of_world: bool = False) -> Samples:
    """Return the poses that result from integrating the twist from the first pose; heading only.

    :param of_world: assume that its linear part is in the world frame
    """
    assert samples.position is not None
    assert samples.orientation is not None
    assert samples.linear is not None
    assert samples.angular is not None
    steps = np.diff(samples.stamps).astype(np.float64)[:, None] * 1e-9
    velocity = samples.linear if of_world else turned(samples.orientation, samples.linear)
    turn = turned(samples.orientation, samples.angular)
    ahead = turned(samples.orientation, AHEAD)
    # If a body leans, its heading rate differs from the turn rate about its z axis.
    leans = np.einsum('ij,ij->i', turn[:, :2], ahead[:, :2]) / (ahead[:, :2] ** 2).sum(axis=1)
    rate = turn[:, 2] - ahead[:, 2] * leans
    rates = np.column_stack([velocity, rate])  # integrated by trapezoids
    path = np.zeros_like(rates)
    np.cumsum((rates[1:] + rates[:-1]) / 2.0 * steps, axis=0, out=path[1:])
    heading = yaw_of(samples.orientation[:1])[0] + path[:, 3]
    orientation = np.column_stack(
        [0 * heading, 0 * heading, np.sin(heading / 2), np.cos(heading / 2)]
    )
    return Samples(samples.stamps, path[:, :3], orientation)
