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

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from repsq_ros.measurement.heading import into_body, unwrapped, yaw_of
from repsq_ros.measurement.inputs import Input
from repsq_ros.measurement.neighbours import (
    FEWEST,
    FEWEST_OF_A_CUBIC,
    TrackPart,
    long_enough,
    neighbours,
)
from repsq_ros.measurement.slopes import by_slope, slopes_side_by_side
from repsq_ros.measurement.track import Track

Array = NDArray[np.float64]

FITS = ('slope', 'cubic')  # estimators that lay a curve through the poses around each one


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
    heading = unwrapped(yaw_of(track.orientation))
    return seconds, track.position, heading


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
    whole = TrackPart(0, len(track), first)
    low, high = neighbours(track.stamps, [whole], span, FEWEST_OF_A_CUBIC)
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


def estimated_at_once(tracks: Sequence[tuple[Track, int]], source: Input) -> list[Array | None]:
    """Return what `estimated` does of several tracks, each with its first sample.

    :returns: None where a track has to be asked alone
    """
    found: list[Array | None] = [None] * len(tracks)
    if source.velocity != 'slope':
        return found
    places, parts = [], []
    for place, (track, first) in enumerate(tracks):
        since = first - lead_of(track.stamps, source, first)
        part = track.since(since)
        if long_enough(part.stamps, source.velocity_span, FEWEST):
            places.append(place)
            parts.append((part, first - since))
    if parts:
        slopes = slopes_side_by_side(parts, source.velocity_span)
        for place, velocity in zip(places, slopes, strict=True):
            found[place] = velocity
    return found


def lead_of(stamps: NDArray[np.int64], source: Input, first: int) -> int:
    """Return how many samples before sample `first` its estimator looks at.

    No further back than one span: what came before differs between a run and its recording.
    """
    if source.velocity not in FITS or not first:
        return min(first, 1)
    start_ns = stamps[first] - round(source.velocity_span * 1e9)
    return max(first - int(stamps.searchsorted(start_ns)), 0)


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
