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

"""Velocities as slopes of straight lines through poses, of one track or several side by side.

Most of the time for a window of some hundred poses goes into preparing numpy's calls. Of tracks
side by side each number is the one that its track would give alone, to the last bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray

from repsq_ros.measurement.heading import unwrapped, yaw_of
from repsq_ros.measurement.neighbours import FEWEST, TrackPart, neighbours
from repsq_ros.measurement.track import Track

Array = NDArray[np.float64]


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
    return slopes_side_by_side([(track, first)], span)[0]


def slopes_side_by_side(tracks: Sequence[tuple[Track, int]], span: float) -> list[Array]:
    """Return `by_slope` of several tracks.

    :param tracks: each with the first pose for which a velocity is wanted
    :raises ValueError: as `by_slope` does, of any of them
    """
    edges = list(accumulate((len(track) for track, _ in tracks), initial=0))
    parts = [
        TrackPart(begin, end, first)
        for (begin, end), (_, first) in zip(pairwise(edges), tracks, strict=True)
    ]
    stamps = np.concatenate([track.stamps for track, _ in tracks])
    low, high = neighbours(stamps, parts, span, FEWEST)
    summed = np.empty((8, edges[-1]))  # all of which sums are needed
    _lay(summed, tracks, parts)
    seconds, n = summed[0], (high - low).astype(np.float64)
    middle = seconds[(low + high) >> 1]

    # Running sums of each track, from 0 on.
    running = np.zeros((8, edges[-1] + len(parts)))
    for place, (begin, end, _) in enumerate(parts):
        into = running[:, begin + place + 1 : end + place + 1]
        np.add.accumulate(summed[:, begin:end], axis=1, out=into)
    rows = list(accumulate((end - begin - first for begin, end, first in parts), initial=0))
    if len(parts) > 1:
        behind = np.repeat(np.arange(len(parts)), np.diff(rows))
        low, high = low + behind, high + behind
    sums = running.take(high, axis=1) - running.take(low, axis=1)
    # Moments about an instant near each window: t - middle is small, so little is cancelled.
    t, tt, values, products = sums[0], sums[1], sums[2:5], sums[5:]
    mean = t / n - middle
    square = (tt - 2.0 * middle * t) / n + middle * middle - mean * mean
    means = values / n
    slopes = ((products - middle * values) / n - mean * means) / square
    found = np.empty((len(n), 3))
    cosine, sine = np.cos(means[2]), np.sin(means[2])
    found[:, 0] = cosine * slopes[0] + sine * slopes[1]
    found[:, 1] = -sine * slopes[0] + cosine * slopes[1]
    found[:, 2] = slopes[2]
    return [found[begin:end] for begin, end in pairwise(rows)]


def _lay(summed: Array, tracks: Sequence[tuple[Track, int]], parts: Sequence[TrackPart]) -> None:
    """Fill in t, t^2, x, y, heading, and the products of the last three with t, (8, n)."""
    turns = []
    for (track, _), (begin, end, _) in zip(tracks, parts, strict=True):
        if track.position is None or track.orientation is None:
            raise ValueError('a sample has no pose')
        turns.append(track.orientation.T)
        since = summed[:, begin:end]
        since[0] = track.stamps - track.stamps[0]
        since[2] = track.position[:, 0] - track.position[0, 0]
        since[3] = track.position[:, 1] - track.position[0, 1]
    seconds = summed[0]
    seconds *= 1e-9
    np.multiply(seconds, seconds, out=summed[1])
    heading = yaw_of(np.concatenate(turns, axis=1).T)
    for begin, end, _ in parts:
        summed[4, begin:end] = unwrapped(heading[begin:end])
    np.multiply(summed[2:5], seconds, out=summed[5:])
