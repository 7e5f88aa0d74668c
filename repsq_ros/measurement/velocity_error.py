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

"""Errors of a window's velocities due to the instruments."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from repsq_ros.measurement import velocity
from repsq_ros.measurement.cut import Cut
from repsq_ros.measurement.inputs import Velocity
from repsq_ros.measurement.psi_error import PsiError
from repsq_ros.measurement.retime import retimed
from repsq_ros.measurement.samples import Array, Samples, Stamps
from repsq_ros.measurement.twists import SlopesOfBoth, differences_told, spikes, spikes_told
from repsq_ros.measurement.velocity import by_slope, cubic_noise, line_noise

CENTRES = 60  # number of instants in a window at which the noise is estimated
UNEVEN = 0.02  # share of a period: stamps closer than this to even ones count as even
LOST = (0.5, 1.5)  # periods: if all gaps are within these limits, no message was lost
ALIKE = 0.9  # share of the runs of equal poses that have one length
BETTER = 0.8  # share of the noise: other stamps are better if they leave less than this
# Over half the span, a straight line has a quarter of the smoothing.
OF_HALF = 4.0 / 3.0
# 1 - H of a cubic is 0.2 times the square of that of a line: u^4 / 504 and u^2 / 10.
OF_CUBIC = 0.2

ORDERS = (3, 8)  # orders of the differences that estimate the noise of a twist
SURE = 2.0  # standard errors by which means of twist and pose may differ
# factor on the variance of white noise / n in a slope of the integral over n samples
PARABOLA = 1.2
FACTORED = np.array([[1.0, 0.0], [1.0j, 0.0], [0.0, 1.0]])  # v_x + i v_y, and the yaw rate
TINY = 1e-30  # replaces 0 as a divisor
OF_NORMAL = 0.6745  # median of |z| of a standard normal z
OF_MEDIAN = 3.2  # standard error of that variance, times sqrt(n) (simulated, 60 to 1500 rows)

Loss = Callable[[float], float]  # psi from a weighted mean square of errors [m^2/s^2]


class OtherVelocities(NamedTuple):
    """Velocities at the same instants, by the used and by another estimator.

    :ivar taken: (k, 3) [m/s, m/s, rad/s]
    :ivar other: (k, 3)
    :ivar noise: (2, 3) variances of both due to sensor noise
    """

    taken: Array
    other: Array
    noise: Array


def velocity_error(cut: Cut, weights: Array, loss: Loss) -> PsiError:
    """Return the errors of a psi that is a function of a mean square, due to the instruments.

    :param weights: (3,) of the velocities' squared errors
    :param loss: from the mean over the states of the weighted sum of squares to psi
    """
    command = np.asarray(cut.window.command, dtype=np.float64)

    base = float(np.mean((cut.velocity - command) ** 2 @ weights))
    psi = loss(base)
    if cut.by_twist:
        noise_or_jolts = float(_noise_of_twist(cut.velocity) @ weights)
        return PsiError(noise_or_jolts=abs(loss(max(base - noise_or_jolts, 0.0)) - psi))

    def square(velocities: Array) -> float:
        return float(np.mean((velocities - command) ** 2 @ weights))

    def moved(by: float) -> float:
        return abs(loss(max(base + by, 0.0)) - psi)

    def change(variant: OtherVelocities) -> float:
        of_taken, of_other = map(float, variant.noise @ weights)
        return square(variant.other) - of_other - square(variant.taken) + of_taken

    timed, first, source = cut.timed, cut.first, cut.source
    held = 0.0
    try:
        of_all = pose = _noise_of_pose(timed, source.velocity_span, first)
        distinct = _distinct_poses(timed, first, source.velocity_span)
        if distinct is not None:
            timed, first = distinct
            pose = _noise_of_pose(timed, source.velocity_span, first)
            held = moved(square(velocity.estimated(timed, source, first)) - base)
        noise = _noise_of_velocity(timed, source.velocity, source.velocity_span, first, pose)
    except ValueError:
        return PsiError()
    smoothing = 0.0
    if source.velocity in velocity.FITS:
        variant = _smoothed_otherwise(cut, noise, pose)
        smoothing = 0.0 if variant is None else change(variant)
        if source.velocity == Velocity.SLOPE:
            smoothing *= OF_HALF
        elif variant is not None:
            power = 2.0 * float(variant.taken.var(axis=0) @ weights)
            smoothing *= min(OF_CUBIC * abs(smoothing) / power, 1.0) if power > 0 else 0.0
    stamps = _by_even_stamps(cut, of_all)
    return PsiError(
        noise=math.hypot(moved(-float(noise @ weights)), held),
        stamps=0.0 if stamps is None else moved(square(stamps) - base),
        smoothing=moved(smoothing),
    )


def twist_error(cut: Cut, psi: Callable[[Cut], float]) -> PsiError:
    """Return the errors of psi due to spikes of a twist, and to disagreement with its poses.

    First the spikes are removed. Then the difference from the poses beyond noise is removed, once
    as an offset and once as factors. The larger change of psi counts.

    :param cut: from which psi was computed
    :raises UnmeasurableError: as psi does
    """
    if not cut.by_twist:
        return PsiError()

    def moved(by: Array) -> float:
        return abs(psi(cut.less(by)) - here) if by.any() else 0.0

    here, both, off = psi(cut), cut.slopes_of_both, spikes(cut.velocity, cut.measured)
    told = {'spikes': partial(spikes_told, cut.measured, off, cut.window)}
    differs = 0.0
    if both is not None:
        differs = max(map(moved, _excess_of_twist(cut.velocity, both)))
        told['disagreement'] = partial(differences_told, cut.measured, both)
    return PsiError(spikes=moved(off), disagreement=differs, told=told)


def _excess_of_twist(taken: Array, both: SlopesOfBoth) -> tuple[Array, Array]:
    """Return by how much a twist exceeds the velocity of its poses, in two ways.

    First as an offset: the mean difference minus SURE standard errors, and the variation about it
    minus the part that noise explains. Everything that smoothing removes from the twist counts as
    noise, and so does an undersampled gait. Then as factors by least squares, one in the plane and
    one for the yaw rate, each minus SURE standard errors and the share of that noise in the twist,
    by which it makes a factor smaller.

    :returns: (n, 3) each, in m/s, m/s, rad/s
    """
    off = both.by_twist - both.by_pose
    mean, white = off.mean(axis=0), np.mean((taken - both.by_twist) ** 2, axis=0)
    sure = SURE * np.sqrt(white / len(off))
    scatter = np.mean((off - mean) ** 2, axis=0)
    noise = PARABOLA * white / both.within
    kept = np.sqrt(np.maximum(1.0 - noise / (scatter + TINY), 0.0))
    offset = np.sign(mean) * np.maximum(np.abs(mean) - sure, 0.0) + kept * (off - mean)

    twist, pose = both.by_twist @ FACTORED, both.by_pose @ FACTORED
    power = np.sum(np.abs(twist) ** 2, axis=0) + TINY
    factor = np.sum(twist.conj() * pose, axis=0) / power
    left = np.sum(np.abs(pose - factor * twist) ** 2, axis=0)
    # samples in one span are not independent
    spans = len(pose) / both.within
    of_noise = len(pose) * np.array([noise[0] + noise[1], noise[2]]) / power
    unsure = SURE * np.sqrt(left / power / spans) + of_noise * (1.0 + SURE * np.sqrt(2.0 / spans))
    share = np.maximum(1.0 - unsure / (np.abs(1.0 - factor) + TINY), 0.0)
    scaled = (1.0 - factor) * share * (taken @ FACTORED) @ FACTORED.conj().T
    return offset, scaled.real


def _noise_of_twist(rows: Array) -> Array:
    """Return the variance of white noise, (3,), from differences of order k.

    Their variance is C(2k, k) times that of the noise. A high order leaves 2 % of a sway at a
    quarter of the rate, a low one spreads a jolt over fewer samples: the smaller result counts.
    The median is used, since the jolts of a gait are rare but large.
    """
    if len(rows) < 2 * max(ORDERS):
        return np.zeros(3)
    found = []
    for order in ORDERS:
        deviation = np.median(np.abs(np.diff(rows, order, axis=0)), axis=0) / OF_NORMAL
        found.append(deviation**2 / math.comb(2 * order, order))
    least: Array = np.min(found, axis=0) * (1.0 + SURE * OF_MEDIAN / math.sqrt(len(rows)))
    return least


def _noise_of_pose(samples: Samples, span: float, first: int) -> Array:
    """Return the variances of x and y (their mean, twice) and of the heading, (3,)."""
    assert samples.position is not None
    assert samples.orientation is not None
    every = max((len(samples) - first) // CENTRES, 1)
    found = cubic_noise(samples, span, first, every)
    # Rounding errors persist while a value repeats.
    changed = np.stack(
        [
            (column[1:] != column[:-1]).any(axis=1)
            for column in (samples.position[:, :1], samples.position[:, 1:2], samples.orientation)
        ]
    )
    repeats = len(samples) / (1.0 + changed.sum(axis=1))
    x, y, heading = found * np.sqrt(repeats)
    return np.array([(x + y) / 2.0, (x + y) / 2.0, heading])


def _distinct_poses(samples: Samples, first: int, span: float) -> tuple[Samples, int] | None:
    """Return the first pose of each run of equal ones, if all runs are about equally long.

    Poses that are held until the next one, or sent twice, have no noise beyond that of the
    distinct ones: a slope averages the sawtooth between them.

    :param span: [s] of the estimator; poses further apart give no velocity
    :returns: the poses, and the index of the first one of the window; None: they are not held
    """
    assert samples.position is not None
    assert samples.orientation is not None
    rows = np.column_stack([samples.position, samples.orientation])
    new = np.flatnonzero(np.append(True, (rows[1:] != rows[:-1]).any(axis=1)))
    lengths = np.diff(new)
    if not len(lengths) or np.median(lengths) < 2:
        return None
    if np.mean(np.abs(lengths - np.median(lengths)) <= 1) < ALIKE:
        return None
    if float(np.median(np.diff(samples.stamps[new]))) * 1e-9 > span:
        return None
    return samples.take(new), int(np.searchsorted(new, first))


def _noise_of_velocity(
    samples: Samples, estimator: Velocity, span: float, first: int, pose: Array
) -> Array:
    """Return the variances of the velocities of an estimator, (3,)."""
    if estimator == Velocity.DIFFERENCE:
        steps = np.diff(samples.stamps[max(first - 1, 0) :]).astype(np.float64) * 1e-9
        return pose * float(np.mean(2.0 / steps**2))
    return pose * line_noise(samples.stamps, span, first, cubic=estimator == Velocity.CUBIC)


def _smoothed_otherwise(cut: Cut, noise: Array, pose: Array) -> OtherVelocities | None:
    """Return velocities by a line over half the span instead, or by a cubic instead of a line.

    Without the ends of the poses, so that there are poses on either side.
    """
    timed, first, source = cut.timed, cut.first, cut.source
    span = source.velocity_span
    stamps = timed.stamps[first:]
    edge = round(span * 1e9)
    inner = (stamps >= timed.stamps[0] + edge) & (stamps <= timed.stamps[-1] - edge)
    if not inner.any():
        return None
    other = span / 2.0 if source.velocity == Velocity.SLOPE else span
    try:
        by_other = by_slope(timed, other, first)[inner]
        of_other = pose * line_noise(timed.stamps, other, first)
    except ValueError:
        return None
    return OtherVelocities(cut.velocity[inner], by_other, np.stack([noise, of_other]))


def _by_even_stamps(cut: Cut, pose: Array) -> Array | None:
    """Return the velocities with even stamps; None: the actual stamps are right.

    If neither set of stamps gives a clearly smoother path, either may be right.
    """
    samples, source = cut.samples, cut.source
    if source.retime or len(samples) < 4:
        return None
    found: list[tuple[float, Samples]] = []
    for even in _even(samples.stamps, cut.period):
        if np.abs(even - samples.stamps).max() <= UNEVEN * cut.period * 1e9:
            return None
        moved = Samples(even, samples.position, samples.orientation)
        try:
            by_even = _noise_of_pose(moved, source.velocity_span, cut.first)
        except ValueError:
            continue
        found.append((float(by_even[0]), moved))
    least, moved = min(found, key=lambda each: each[0], default=(math.inf, samples))
    if least * BETTER > pose[0]:
        return None
    try:
        return velocity.estimated(moved, source, cut.first)
    except ValueError:
        return None


def _even(stamps: Stamps, period: float) -> list[Stamps]:
    """Return possible stamps of an even clock: no message was lost; else some were.

    A delay that wanders may make gaps as long as a lost message does.

    :param period: [s] between two samples
    """
    gaps = np.diff(stamps) * 1e-9
    order = np.arange(len(stamps)) - (len(stamps) - 1) / 2.0
    since = (stamps - stamps[0]).astype(np.float64)
    fitted = since.mean() + order * (float(order @ since) / float(order @ order))
    line: Stamps = stamps[0] + np.rint(fitted).astype(np.int64)
    if gaps.min() > LOST[0] * period and gaps.max() < LOST[1] * period:
        return [line]
    return [line, retimed(stamps, 1.0 / min(period, float(gaps.mean())))]
