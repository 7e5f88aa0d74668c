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

"""Many campaigns at once, for rules whose half-width follows from moments: whole arrays of z."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from repsq_ros.estimation.moments import EmpiricalBernstein, MomentRule, RelativeHalfWidth

Numbers = NDArray[np.float64]
Stops = tuple[NDArray[np.int64], Numbers]

BLOCK = 32  # tests that are looked at as one before they are looked at one by one
SHIFT = 32  # values of a run that its sums are taken from: they lose digits far from zero


def first_stops(z: Numbers, rule: MomentRule, gamma: float, z_range: float, c: float) -> Stops:
    """Return where each run stops, as the rule would have it test by test.

    :param z: values of the runs, shape (runs, tests)
    :param z_range: R, the width of the range of z
    :returns: n of each run, 0 where it does not stop, shape (runs,), and the mean then (of all
        values where it does not stop), shape (runs,)
    """
    shift = z[:, :SHIFT].mean(axis=1)
    if isinstance(rule, EmpiricalBernstein):
        limit = _largest_sums(rule, z.shape[1], gamma, z_range, c)
        return _below(z, shift, limit)
    if isinstance(rule, RelativeHalfWidth):
        return _relative(z, shift, rule, c)
    return _one_by_one(z, shift, rule, gamma, z_range, c)


def _largest_sums(
    rule: EmpiricalBernstein, tests: int, gamma: float, z_range: float, c: float
) -> Numbers:
    """Return the largest n^2 s^2 with half-width <= gamma, for each n; -1 where none is."""
    n = np.arange(1.0, tests + 1.0)
    log = math.log((3.0 if rule.two_sided else 2.0) / c)
    with np.errstate(divide='ignore', invalid='ignore'):  # at n = 1
        room = gamma - 7.0 * z_range**rule.range_power * log / (3.0 * (n - 1.0))
        divisor = (n - 1.0) if rule.two_sided else n
        found: Numbers = np.where(room > 0.0, n * n * divisor * room * room / (2.0 * log), -1.0)
    return found


def _below(z: Numbers, shift: Numbers, limit: Numbers) -> Stops:
    """Return the first n at which n^2 s^2 = n sum z^2 - (sum z)^2 is at most the limit.

    Neither side falls with n. So a block of tests in which the left side begins above the limit's
    end holds no stop, one in which it ends below holds one; few blocks are left to be looked into.
    """
    runs, tests = z.shape
    count = -(-tests // BLOCK)
    away = np.zeros((runs, count * BLOCK))
    np.subtract(z, shift[:, None], out=away[:, :tests])
    blocks = away.reshape(runs, count, BLOCK)
    ends = np.full(count * BLOCK, -1.0)
    ends[:tests] = limit
    limits = ends.reshape(count, BLOCK)
    n = np.arange(1.0, count * BLOCK + 1.0).reshape(count, BLOCK)

    sums, squares = blocks.sum(axis=2), np.einsum('ijk,ijk->ij', blocks, blocks)
    after, square_after = np.cumsum(sums, axis=1), np.cumsum(squares, axis=1)
    before, square_before = after - sums, square_after - squares
    first = blocks[:, :, 0]
    begins = n[:, 0] * (square_before + first * first) - (before + first) ** 2
    sure = n[:, -1] * square_after - after * after <= limits[:, -1] * (1.0 - 1e-9)
    over = np.zeros_like(sure)
    np.logical_or.accumulate(sure[:, :-1], axis=1, out=over[:, 1:])
    # The allowances are for rounding: nothing is decided by them.
    open_ = ~over & (begins <= limits.max(axis=1) * (1.0 + 1e-9) + 1e-300)
    open_ &= limits.max(axis=1) >= 0.0

    run, block = np.nonzero(open_)
    inside = blocks[run, block]
    total = before[run, block, None] + np.cumsum(inside, axis=1)
    square = square_before[run, block, None] + np.cumsum(inside * inside, axis=1)
    reached = n[block] * square - total * total <= limits[block]
    place = reached.argmax(axis=1)
    stops = reached[np.arange(len(place)), place]
    counts, means = np.zeros(runs, dtype=np.int64), shift + after[:, -1] / tests
    # Backwards, so that of several blocks of a run the first one stays.
    chosen = np.flatnonzero(stops)[::-1]
    counts[run[chosen]] = block[chosen] * BLOCK + place[chosen] + 1
    found = shift[run] + total[np.arange(len(place)), place] / (block * BLOCK + place + 1.0)
    means[run[chosen]] = found[chosen]
    return counts, means


def _relative(z: Numbers, shift: Numbers, rule: RelativeHalfWidth, c: float) -> Stops:
    """Return where the relative half-width is small enough: its half-width is k s / sqrt(n)."""
    n = np.arange(1.0, z.shape[1] + 1.0)
    each = rule.half_width(2, 1.0, 1.0, c)  # k, as n - 1 is 1 there
    counts, means = np.zeros(len(z), dtype=np.int64), np.empty(len(z))
    for place, row in enumerate(z - shift[:, None]):
        mean = np.cumsum(row) / n
        variance = np.maximum(np.cumsum(row * row) / n - mean * mean, 0.0)
        mean += shift[place]
        half = each * np.sqrt(variance[1:] / (n[1:] - 1.0))
        met = (n[1:] >= rule.at_least) & (mean[1:] > 0.0) & (half <= rule.relative * mean[1:])
        first = int(met.argmax()) + 1
        counts[place] = first + 1 if met[first - 1] else 0
        means[place] = mean[first if met[first - 1] else -1]
    return counts, means


def _one_by_one(
    z: Numbers, shift: Numbers, rule: MomentRule, gamma: float, z_range: float, c: float
) -> Stops:
    """Return where any other rule stops."""
    runs, tests = z.shape
    n = np.arange(1.0, tests + 1.0)
    away = z - shift[:, None]
    mean = np.cumsum(away, axis=1) / n
    variance = np.maximum(np.cumsum(away * away, axis=1) / n - mean * mean, 0.0)
    mean += shift[:, None]
    reached = np.array(
        [
            [
                rule.reached(k, m, rule.half_width(k, v, z_range, c), gamma)
                for k, (m, v) in enumerate(zip(*row, strict=True), start=1)
            ]
            for row in zip(mean.tolist(), variance.tolist(), strict=True)
        ]
    )
    place = reached.argmax(axis=1)
    stops = reached[np.arange(runs), place]
    place = np.where(stops, place, tests - 1)
    return np.where(stops, place + 1, 0).astype(np.int64), mean[np.arange(runs), place]
