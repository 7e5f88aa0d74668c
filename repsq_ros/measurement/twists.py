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

"""Whether a twist can be believed: within bounds, without spikes, and as the pose moves."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from repsq_ros.measurement.frames import turned
from repsq_ros.measurement.heading import yaw_of
from repsq_ros.measurement.limits import CommandedSpeed, Limits
from repsq_ros.measurement.motion import worst
from repsq_ros.measurement.reasons import Code, Fault
from repsq_ros.measurement.samples import Array, Samples
from repsq_ros.measurement.velocity import by_slope
from repsq_ros.measurement.window import Window

SPAN = 0.2  # [s] over which twist and pose are compared, at least
PERIODS = 9  # in that span, at least: poses include the motion between two seldom twists
OF_WORLD = 0.5  # share of a difference; less is left of it where the twist is one of the world
FAR = 8.0  # times what nine of ten twists stay within: a spike
SPIKE = (0.06, 0.4)  # of the speed, beside twist_outlier and twist_outlier_turn
SPEEDS_UP = 5.0  # [m/s^2, rad/s^2]
AT_REST = 1e-6  # [m/s, rad/s] that a filter leaves of nothing
AHEAD = np.array([1.0, 0.0, 0.0])  # where the heading points
FEWEST_REPEATED = 5  # twists


def bound_fault(
    samples: Samples, window: Window, limits: Limits, commanded: CommandedSpeed | None
) -> Fault | None:
    """Return where a twist is faster than anything, or than what is commanded explains."""
    bounds = [limits.fastest, limits.fastest_turn]
    if commanded is not None:
        bounds[0] = min(bounds[0], 2.0 + 10.0 * commanded.speed)
        bounds[1] = min(bounds[1], 5.0 + 10.0 * commanded.turn)
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


def spike_fault(samples: Samples, period: float, window: Window, limits: Limits) -> Fault | None:
    """Return where single twists stand out from those around them.

    Each is held against the median of itself and the two on either side: a velocity that goes up
    or down is its own median.
    """
    if samples.linear is None or samples.angular is None or len(samples) < 6:
        return None
    for columns, least, share, unit in zip(
        (samples.linear[:, :2], samples.angular[:, 2:]),
        (limits.twist_outlier, limits.twist_outlier_turn),
        SPIKE,
        UNITS,
        strict=True,
    ):
        padded = np.pad(columns, ((2, 2), (0, 0)), mode='reflect')
        around = np.stack([padded[k : k + len(columns)] for k in range(5)])
        middle = np.median(around, axis=0)
        off = np.linalg.norm(columns - middle, axis=1)
        allowed = max(least + share * _rms(middle), FAR * float(np.percentile(off, 90)))
        # The first and the last two are held against one side alone: a body may speed up there.
        excess = off - allowed
        excess[:2] -= SPEEDS_UP * period
        excess[-2:] -= SPEEDS_UP * period
        at = worst(excess)
        if at is not None:
            return Fault(
                Code.TWIST_BOUND,
                f'twist beyond belief: {off[at]:.4g} {unit} beside those around it at '
                f'{window.at(samples.stamps[at])}, at most '
                f'{off[at] - excess[at]:.4g} {unit} is believed',
            )
    return None


def dead_fault(samples: Samples, window: Window, limits: Limits) -> Fault | None:
    """Return whether the velocities of an odometry are exact zeros that it does not mean.

    A controller that is off reports zeros throughout; a driver that knows poses alone leaves the
    twist zero while the pose moves. Zeros under a command of zero are what is to be expected.
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
    """Return where a twist without a pose beside it is repeated to the last bit under a command.

    Nothing that is measured repeats itself while the body moves.
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


def tells_motion(samples: Samples) -> bool:
    """Tell whether an odometry that has a position tells of a motion in all of its samples.

    Wheels at rest repeat themselves, and a bridge may leave the position zero.
    """
    if samples.position is None or samples.linear is None or samples.angular is None:
        return False
    fast = np.maximum(np.abs(samples.linear).max(axis=1), np.abs(samples.angular).max(axis=1))
    return bool(((fast > AT_REST) & samples.position.any(axis=1)).all())


class SlopesOfBoth(NamedTuple):
    """Velocities by the twist and by the pose of the same samples, smoothed alike.

    :ivar by_twist: (n, 3) in m/s, m/s, rad/s
    :ivar by_pose: (n, 3)
    :ivar span: of the slopes [s]
    :ivar within: samples in a span
    """

    by_twist: Array
    by_pose: Array
    span: float
    within: float


def slopes_of_both(samples: Samples) -> SlopesOfBoth | None:
    """Return what twist and pose differ in: the twist is integrated, slopes are taken of both.

    :param samples: of the window, in SI units
    :returns: None: too few, or the position is zero throughout
    """
    if samples.position is None or samples.orientation is None or len(samples) < 6:
        return None
    if samples.linear is None or samples.angular is None or not samples.position.any():
        return None
    period = float(samples.stamps[-1] - samples.stamps[0]) * 1e-9 / (len(samples) - 1)
    span = max(SPAN, PERIODS * period)
    try:
        by_pose = by_slope(samples, span)
        led = integrated(samples)
        by_twist = by_slope(led, span)
        by_twist[:, :2] = by_slope(replace(led, orientation=samples.orientation), span)[:, :2]
    except ValueError:
        return None
    return SlopesOfBoth(by_twist, by_pose, span, span / period)


def differences_told(samples: Samples, both: SlopesOfBoth) -> str:
    """Return by how much twist and pose differ, and what explains it, for people.

    :param samples: of the window, in SI units
    :param both: their velocities, as `slopes_of_both` returns them
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
    """Return the poses to which the twist would lead, from the first one on; heading alone.

    :param of_world: as if its linear part were told in the world's frame
    """
    assert samples.position is not None
    assert samples.orientation is not None
    assert samples.linear is not None
    assert samples.angular is not None
    steps = np.diff(samples.stamps).astype(np.float64)[:, None] * 1e-9
    velocity = samples.linear if of_world else turned(samples.orientation, samples.linear)
    turn = turned(samples.orientation, samples.angular)
    ahead = turned(samples.orientation, AHEAD)
    # Of a body that leans, the heading turns otherwise than the body does about z.
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
