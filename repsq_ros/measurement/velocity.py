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

"""Velocity of a body in its own frame, from a twist or from poses."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from repsq_ros.measurement.inputs import Input
from repsq_ros.measurement.track import Track

Array = NDArray[np.float64]

FITS = ('slope', 'cubic')  # estimators that lay a curve through the poses around each one
FEWEST = 3  # poses that a slope is laid through
FEWEST_OF_A_CUBIC = 5
EDGE_NS = 20  # beyond the span: stamps are rounded somewhere


def yaw_of(orientation: Array) -> Array:
    """Return the heading about z of quaternions: where the body's x axis points.

    :param orientation: (n, 4) as x, y, z, w; any norm but zero, either sign
    :returns: (n,) in rad, in (-pi, pi]
    """
    x, y, z, w = np.ascontiguousarray(orientation.T)  # columns that lie together
    return np.arctan2(2.0 * (w * z + x * y), w * w + x * x - y * y - z * z)


def from_twist(track: Track) -> Array:
    """Return (v_x, v_y, yaw rate) as the sensor reports them in the body frame.

    :returns: (n, 3) in m/s, m/s, rad/s
    :raises ValueError: no velocity
    """
    if track.linear is None or track.angular is None:
        raise ValueError('a sample has no velocity')
    return np.column_stack([track.linear[:, :2], track.angular[:, 2]])


def _poses(track: Track) -> tuple[Array, Array, Array]:
    """Return time [s] from the first pose, position (n, 3) and unwrapped heading (n,) [rad]."""
    if track.position is None or track.orientation is None:
        raise ValueError('a sample has no pose')
    seconds = (track.stamps - track.stamps[0]).astype(np.float64) * 1e-9
    heading = _unwrapped(yaw_of(track.orientation))
    return seconds, track.position, heading


def _unwrapped(heading: Array) -> Array:
    """Return what np.unwrap does, which has nothing to do where no step is half a turn.

    :param heading: (n,) [rad]; it may be changed
    """
    if np.abs(heading[1:] - heading[:-1]).max(initial=0.0) < np.pi:
        heading[1:] += 0.0  # as np.unwrap: no zero keeps a sign
        return heading
    return np.asarray(np.unwrap(heading), dtype=np.float64)


def into_body(velocity: Array, heading: Array) -> Array:
    """Turn velocities of the world frame into the body's by its heading.

    :param velocity: (n, 2) [m/s]
    :param heading: (n,) [rad]
    """
    cosine, sine = np.cos(heading), np.sin(heading)
    forward = cosine * velocity[:, 0] + sine * velocity[:, 1]
    leftward = -sine * velocity[:, 0] + cosine * velocity[:, 1]
    return np.column_stack([forward, leftward])


def by_difference(track: Track) -> Array:
    """Return (v_x, v_y, yaw rate) by backward differences, as the paper does.

    The displacement between two poses is turned into the body frame by their middle heading;
    headings are unwrapped, so that a turn through 180 degrees is no jump. Where stamps are those
    of arrival, two poses that came together make a velocity of any size: see `by_slope`.

    :param track: n + 1 poses
    :returns: (n, 3) in m/s, m/s, rad/s, one for each pose but the first
    """
    _, position, heading = _poses(track)
    step = np.diff(track.stamps).astype(np.float64) * 1e-9
    moved = np.diff(position[:, :2], axis=0)
    middle = (heading[1:] + heading[:-1]) / 2.0
    velocity: Array = np.column_stack([into_body(moved, middle), np.diff(heading)])
    return velocity / step[:, None]


def by_slope(track: Track, span: float, first: int = 0) -> Array:
    """Return (v_x, v_y, yaw rate) as slopes of straight lines through the poses around each pose.

    Least squares over the poses within span / 2 of each one; where these are fewer than three or
    lie within less than span / 2 (a gap, poses that came together), neighbours are taken in
    until they do not. The slope is turned into the body frame by the mean heading of the same
    poses, which is the heading at the instant for which the slope stands: no lag at the ends of
    the track, and an error of relative size (yaw rate x span)^2 / 40 on a circle.

    :param track: n >= 3 poses
    :param span: [s]
    :param first: the first pose for which a velocity is wanted
    :returns: (n - first, 3) in m/s, m/s, rad/s
    :raises ValueError: fewer than three poses, or all within less than span / 2
    """
    seconds, position, heading = _poses(track)
    low, high = _neighbours(track.stamps, span, first, FEWEST)
    count = (high - low).astype(np.float64)
    middle = seconds[(low + high) >> 1]

    x, y = position[:, 0] - position[0, 0], position[:, 1] - position[0, 1]
    # Running sums of all that is needed, side by side.
    running = np.zeros((8, len(seconds) + 1))
    summed = running[:, 1:]
    summed[0], summed[1] = seconds, seconds * seconds
    summed[2], summed[3], summed[4] = x, y, heading
    np.multiply(summed[2:5], seconds, out=summed[5:])
    np.add.accumulate(summed, axis=1, out=summed)
    sums = running.take(high, axis=1) - running.take(low, axis=1)
    # Moments about an instant near each window: t - middle is small, so little is cancelled.
    t, tt, values, products = sums[0], sums[1], sums[2:5], sums[5:]
    mean = t / count - middle
    square = (tt - 2.0 * middle * t) / count + middle * middle - mean * mean
    means = values / count
    slopes = ((products - middle * values) / count - mean * means) / square
    found = np.empty((len(count), 3))
    cosine, sine = np.cos(means[2]), np.sin(means[2])
    found[:, 0] = cosine * slopes[0] + sine * slopes[1]
    found[:, 1] = -sine * slopes[0] + cosine * slopes[1]
    found[:, 2] = slopes[2]
    return found


def by_cubic(track: Track, span: float, first: int = 0) -> Array:
    """Return (v_x, v_y, yaw rate) as slopes of cubic polynomials through the same poses.

    As Savitzky and Golay smooth, for stamps that need not be even. It follows a sway that a
    straight line flattens, and takes more of the noise. At the ends of the track, where there are
    poses on one side only, it stands for the middle of its poses as the line does: at its own end
    a cubic is hardly held by anything.

    :param track: n >= 5 poses
    :param span: [s]
    :param first: the first pose for which a velocity is wanted
    :returns: (n - first, 3) in m/s, m/s, rad/s
    :raises ValueError: fewer than five poses, or all within less than span / 2
    """
    seconds, position, heading = _poses(track)
    low, high = _neighbours(track.stamps, span, first, FEWEST_OF_A_CUBIC)
    places = low[:, None] + np.arange(int((high - low).max()))[None, :]
    inside = places < high[:, None]
    places = np.minimum(places, len(seconds) - 1)
    middle = np.sum(np.where(inside, seconds[places], 0.0), axis=1) / (high - low)
    # In units of half the span, so that all powers are of one size.
    time = np.where(inside, (seconds[places] - middle[:, None]) / (span / 2.0), 0.0)
    powers = np.stack([inside * time**k for k in range(4)], axis=2)
    values = np.column_stack([position[:, :2] - position[0, :2], heading])[places]
    normal = np.einsum('nkp,nkq->npq', powers, powers)
    right = np.einsum('nkp,nkv->npv', powers, values)
    found = np.linalg.solve(normal, right)
    slopes = found[:, 1, :] / (span / 2.0)
    return np.column_stack([into_body(slopes[:, :2], found[:, 0, 2]), slopes[:, 2]])


def _neighbours(
    stamps: NDArray[np.int64], span: float, first: int, fewest: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return [low, high) of the poses around each pose from `first` on.

    In whole ns, and with a little grace: a pose at the span's very edge is always within it.
    """
    half = round(span * 5e8)
    if len(stamps) < fewest or stamps[-1] - stamps[0] < half - EDGE_NS:
        raise ValueError('poses of too short a time')
    low = stamps.searchsorted(stamps[first:] - (half + EDGE_NS), 'left')
    high = stamps.searchsorted(stamps[first:] + (half + EDGE_NS), 'right')
    few = (stamps[high - 1] - stamps[low] < half - EDGE_NS) | (high - low < fewest)
    short = np.flatnonzero(few)
    while len(short):
        low[short] = begin = np.maximum(low[short] - 1, 0)
        high[short] = end = np.minimum(high[short] + 1, len(stamps))
        few = (stamps[end - 1] - stamps[begin] < half - EDGE_NS) | (end - begin < fewest)
        short = short[few]
    return low, high


def estimated(track: Track, source: Input, first: int) -> Array:
    """Return (v_x, v_y, yaw rate) from sample `first` on, by the estimator of an input.

    :returns: (n - first, 3) in m/s, m/s, rad/s
    :raises ValueError: too few poses, or no velocity
    """
    if source.velocity == 'twist':
        return from_twist(track.since(first))
    since = first - lead_of(track.stamps, source, first)
    if source.velocity in FITS:
        fit = by_slope if source.velocity == 'slope' else by_cubic
        return fit(track.since(since), source.velocity_span, first - since)
    chain = track.since(since)
    if len(chain) < 2:
        raise ValueError('one pose')
    return by_difference(chain)


def lead_of(stamps: NDArray[np.int64], source: Input, first: int) -> int:
    """Return how many samples before sample `first` its estimator looks at.

    No further back than one span: what came before differs between a run and its recording.
    """
    if source.velocity not in FITS or not first:
        return min(first, 1)
    start_ns = stamps[first] - round(source.velocity_span * 1e9)
    return max(first - int(np.searchsorted(stamps, start_ns)), 0)


def pace(stamps: NDArray[np.int64], even: NDArray[np.int64], source: Input, first: int) -> Array:
    """Return how much time went by for each second of the stamps, as a velocity is estimated.

    :param stamps: (n,) [ns]
    :param even: (n,) [ns] the same instants by a clock that runs evenly
    :returns: (n - first,)
    """
    seconds = (even - even[0]).astype(np.float64) * 1e-9
    nothing = 0.0 * seconds
    ahead = Track(
        stamps,
        np.column_stack([seconds, nothing, nothing]),
        np.column_stack([nothing, nothing, nothing, nothing + 1.0]),
    )
    return estimated(ahead, source, first)[:, 0]
