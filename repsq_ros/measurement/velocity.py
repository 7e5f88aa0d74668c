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

"""Velocities of a body: as its sensor reports them, or from its poses."""

from __future__ import annotations

import numpy as np

from repsq_ros.measurement.heading import into_body, unwrapped, yaw_of
from repsq_ros.measurement.inputs import Input, Velocity
from repsq_ros.measurement.samples import Array, Flags, Samples, Stamps

# Estimators that fit a curve to the poses around each one.
FITS = (Velocity.SLOPE, Velocity.CUBIC)
FEWEST = 3  # poses for a straight line
FEWEST_OF_A_CUBIC = 5
EDGE_NS = 20  # [ns] tolerance of the span, since stamps are rounded
# A power counts if the lower ones leave more than this share of its sum of squares. Where poses
# came together they leave less, and a parabola or a line is fitted.
DETERMINED = 1e-10


def from_twist(samples: Samples) -> Array:
    """Return (v_x, v_y, yaw rate) as the sensor reports them in the body frame.

    :returns: (n, 3) in m/s, m/s, rad/s
    :raises ValueError: no velocity
    """
    if samples.linear is None or samples.angular is None:
        raise ValueError('a sample has no velocity')
    return np.column_stack([samples.linear[:, :2], samples.angular[:, 2]])


def _poses(samples: Samples) -> tuple[Array, Array, Array]:
    """Return time [s] from the first pose, position (n, 3) and unwrapped heading (n,) [rad]."""
    if samples.position is None or samples.orientation is None:
        raise ValueError('a sample has no pose')
    seconds = (samples.stamps - samples.stamps[0]).astype(np.float64) * 1e-9
    return seconds, samples.position, unwrapped(yaw_of(samples.orientation))


def by_difference(samples: Samples) -> Array:
    """Return (v_x, v_y, yaw rate) by backward differences, as the paper does.

    The displacement between two poses is rotated to the body frame by their middle heading, which
    is unwrapped, so that turning through 180 degrees is no jump. If stamps are times of arrival,
    two poses that arrive together give an arbitrary velocity: see `by_slope`.

    :param samples: n + 1 poses
    :returns: (n, 3) in m/s, m/s, rad/s, one for each pose but the first
    """
    _, position, heading = _poses(samples)
    step = np.diff(samples.stamps).astype(np.float64) * 1e-9
    moved = np.diff(position[:, :2], axis=0)
    middle = (heading[1:] + heading[:-1]) / 2.0
    velocity: Array = np.column_stack([into_body(moved, middle), np.diff(heading)])
    return velocity / step[:, None]


def by_slope(samples: Samples, span: float, first: int = 0) -> Array:
    """Return (v_x, v_y, yaw rate) as slopes of straight lines through the poses around each pose.

    Least squares over the poses within span / 2 of each one. If these are fewer than three, or
    cover less than span / 2 (a gap, poses that came together), more neighbours are used. The slope
    is rotated to the body frame by the mean heading of the same poses, which is the heading at the
    slope's own instant: there is no lag at the ends of the path, and an error of relative size
    (yaw rate x span)^2 / 40 on a circle.

    :param samples: n >= 3 poses
    :param span: [s]
    :param first: index of the first pose whose velocity is returned
    :returns: (n - first, 3) in m/s, m/s, rad/s
    :raises ValueError: fewer than three poses, or all within less than span / 2
    """
    low, high = neighbours(samples.stamps, span, FEWEST, first)
    seconds, position, heading = _poses(samples)
    # sums of t, t^2, x, y, heading, and the last three times t
    summed = np.empty((8, len(samples)))
    summed[0], summed[1], summed[4] = seconds, seconds * seconds, heading
    summed[2:4] = (position[:, :2] - position[0, :2]).T
    np.multiply(summed[2:5], seconds, out=summed[5:])
    running = np.zeros((8, len(samples) + 1))
    np.add.accumulate(summed, axis=1, out=running[:, 1:])
    sums = running.take(high, axis=1) - running.take(low, axis=1)
    # Moments about an instant near each window: t - middle is small, so few digits cancel.
    n = (high - low).astype(np.float64)
    middle = seconds[(low + high) >> 1]
    mean = sums[0] / n - middle
    square = (sums[1] - 2.0 * middle * sums[0]) / n + middle * middle - mean * mean
    means = sums[2:5] / n
    slopes = ((sums[5:] - middle * sums[2:5]) / n - mean * means) / square
    return np.column_stack([into_body(slopes[:2].T, means[2]), slopes[2]])


def by_cubic(samples: Samples, span: float, first: int = 0) -> Array:
    """Return (v_x, v_y, yaw rate) as slopes of cubic polynomials through the same poses.

    Like a Savitzky-Golay filter, but for uneven stamps. It follows a sway that a straight line
    flattens, but passes more noise. At the ends, with poses on one side only, it gives the slope
    at the middle of its poses, as the line does: a cubic is poorly constrained at its ends.

    :param samples: n >= 5 poses
    :param span: [s]
    :param first: index of the first pose whose velocity is returned
    :returns: (n - first, 3) in m/s, m/s, rad/s
    :raises ValueError: fewer than five poses, or all within less than span / 2
    """
    low, high = neighbours(samples.stamps, span, FEWEST_OF_A_CUBIC, first)
    time, inside, values = _around(samples, span, low, high)
    powers = np.stack([inside * time**k for k in range(4)], axis=2)
    normal = np.einsum('nkp,nkq->npq', powers, powers)
    found = _solved(normal, np.einsum('nkp,nkv->npv', powers, values))
    slopes = found[:, 1, :] / (span / 2.0)
    return np.column_stack([into_body(slopes[:, :2], found[:, 0, 2]), slopes[:, 2]])


def cubic_noise(samples: Samples, span: float, first: int, every: int) -> Array:
    """Return the variances of x, y and heading about local cubics.

    :param every: a cubic is fitted around every `every`th pose from `first` on
    :returns: (3,) in m^2, m^2, rad^2
    :raises ValueError: too few poses, or too short a time
    """
    low, high = neighbours(samples.stamps, span, FEWEST_OF_A_CUBIC, first, every)
    time, inside, values = _around(samples, span, low, high)
    square = time * time
    powers = np.stack([inside, time, square, square * time], axis=1)
    across = powers.transpose(0, 2, 1)
    left = values - across @ _solved(powers @ across, powers @ values)
    rows = left.reshape(-1, 3)
    variances: Array = np.diagonal(rows.T @ rows) / float(np.sum(high - low - 4))
    return variances


def line_noise(stamps: Stamps, span: float, first: int, cubic: bool = False) -> float:
    """Return the mean variance of a slope per unit variance of the poses [1/s^2].

    :param cubic: for the cubic, whose noise is 25/4 times that of the line with dense poses, and
        9.03 times with five poses
    :raises ValueError: too few poses, or too short a time
    """
    low, high = neighbours(stamps, span, FEWEST_OF_A_CUBIC if cubic else FEWEST, first)
    seconds = (stamps - stamps[0]).astype(np.float64) * 1e-9
    running = np.zeros((2, len(seconds) + 1))
    np.add.accumulate(np.stack([seconds, seconds * seconds]), axis=1, out=running[:, 1:])
    total, squares = running.take(high, axis=1) - running.take(low, axis=1)
    n = (high - low).astype(np.float64)
    inverse = 1.0 / (squares - total * total / n)
    if cubic:
        inverse *= 6.25 + 70.0 / (n * n)
    return float(np.mean(inverse))


def _solved(normal: Array, right: Array) -> Array:
    """Solve normal equations by elimination, without a linear algebra library.

    A library solves nearly singular equations on one processor and refuses them on another: two
    labs would not agree which tests are INVALID. Here a power that is not determined gets the
    coefficient 0.

    :param normal: (k, p, p)
    :param right: (k, p, v)
    :returns: (k, p, v)
    """
    size = normal.shape[1]
    table = np.concatenate([normal, right], axis=2)
    for j in range(size):
        pivot = table[:, j, j]  # what the lower powers leave of this one
        determined = pivot > DETERMINED * normal[:, j, j]
        row = (determined / np.where(determined, pivot, 1.0))[:, None] * table[:, j]
        table -= table[:, :, j, None] * row[:, None, :]
        table[:, j] = row
    return table[:, :, size:]


def _around(
    samples: Samples, span: float, low: Stamps, high: Stamps
) -> tuple[Array, Array, Array]:
    """Return the poses [low, high) of each row, padded with 0.

    :returns: times from the middle of each row's poses in units of span / 2, so that all powers
        have a similar size, (k, m); 1 where there is a pose, (k, m); x and y relative to the
        first of all poses, and heading, (k, m, 3)
    """
    seconds, position, heading = _poses(samples)
    places = low[:, None] + np.arange(int((high - low).max()))[None, :]
    inside = (places < high[:, None]).astype(np.float64)
    places = np.minimum(places, len(seconds) - 1)
    times = seconds[places]
    middle = np.sum(inside * times, axis=1) / (high - low)
    times = inside * ((times - middle[:, None]) / (span / 2.0))
    values = np.column_stack([position[:, :2] - position[0, :2], heading])
    return times, inside, inside[:, :, None] * values[places]


def neighbours(
    stamps: Stamps, span: float, fewest: int, first: int = 0, every: int = 1
) -> tuple[Stamps, Stamps]:
    """Return the range [low, high) of the poses around each pose.

    In integer ns with a small tolerance, so that a pose exactly at the span's end is included.

    :param stamps: (n,) [ns]
    :param span: [s]
    :param first: index of the first pose; from there on, every `every`th one
    :returns: (n - first,) each, or as many as are wanted
    :raises ValueError: too few poses, or all within less than span / 2
    """
    half = round(span * 5e8)
    if len(stamps) < fewest or stamps[-1] - stamps[0] < half - EDGE_NS:
        raise ValueError('poses of too short a time')
    wanted = stamps[first::every]
    low = stamps.searchsorted(wanted - (half + EDGE_NS), 'left')
    high = stamps.searchsorted(wanted + (half + EDGE_NS), 'right')
    short = np.flatnonzero(_short(stamps, low, high, half, fewest))
    while len(short):
        low[short] = np.maximum(low[short] - 1, 0)
        high[short] = np.minimum(high[short] + 1, len(stamps))
        short = short[_short(stamps, low[short], high[short], half, fewest)]
    return low, high


def _short(stamps: Stamps, low: Stamps, high: Stamps, half: int, fewest: int) -> Flags:
    """Tell which neighbours are too few, or cover too short a time."""
    found: Flags = (stamps[high - 1] - stamps[low] < half - EDGE_NS) | (high - low < fewest)
    return found


def estimated(samples: Samples, source: Input, first: int) -> Array:
    """Return (v_x, v_y, yaw rate) from sample `first` on, by the estimator of an input.

    :returns: (n - first, 3) in m/s, m/s, rad/s
    :raises ValueError: too few poses, or no velocity
    """
    if source.velocity == Velocity.TWIST:
        return from_twist(samples.since(first))
    since = first - lead_of(samples.stamps, source, first)
    if source.velocity in FITS:
        fit = by_slope if source.velocity == Velocity.SLOPE else by_cubic
        return fit(samples.since(since), source.velocity_span, first - since)
    chain = samples.since(since)
    if len(chain) < 2:
        raise ValueError('one pose')
    return by_difference(chain)


def lead_of(stamps: Stamps, source: Input, first: int) -> int:
    """Return how many samples before sample `first` its estimator uses.

    At most one span: earlier samples differ between a live run and its recording.
    """
    if source.velocity not in FITS or not first:
        return min(first, 1)
    start_ns = stamps[first] - round(source.velocity_span * 1e9)
    return max(first - int(stamps.searchsorted(start_ns)), 0)


def pace(stamps: Stamps, even: Stamps, source: Input, first: int) -> Array:
    """Return the true time per second of the stamps, averaged as in estimating a velocity.

    :param stamps: (n,) [ns]
    :param even: (n,) [ns] the same instants by an even clock
    :returns: (n - first,)
    """
    seconds = (even - even[0]).astype(np.float64) * 1e-9
    nothing = 0.0 * seconds
    ahead = Samples(
        stamps,
        np.column_stack([seconds, nothing, nothing]),
        np.column_stack([nothing, nothing, nothing, nothing + 1.0]),
    )
    return estimated(ahead, source, first)[:, 0]
