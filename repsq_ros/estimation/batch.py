"""Many campaigns at once, for rules whose half-width follows from moments: whole arrays of z."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from repsq_ros.estimation.moments import EmpiricalBernstein, MomentRule

Numbers = NDArray[np.float64]


def first_stops(
    z: Numbers, rule: MomentRule, gamma: float, z_range: float, c: float
) -> tuple[NDArray[np.int64], Numbers]:
    """Return where each run stops, as the rule would have it test by test.

    :param z: values of the runs, shape (runs, tests)
    :param z_range: R, the width of the range of z
    :returns: n of each run, 0 where it does not stop, shape (runs,), and the mean then (of all
        values where it does not stop), shape (runs,)
    """
    runs, tests = z.shape
    # Sums of squares lose their digits far from zero: each run is shifted by its own mean.
    shift = z.mean(axis=1)
    # One row for each test, so that running sums are additions of whole rows.
    away = np.empty((tests, runs))
    np.subtract(z.T, shift, out=away)
    total = np.cumsum(away, axis=0)
    np.multiply(away, away, out=away)
    np.cumsum(away, axis=0, out=away)
    if isinstance(rule, EmpiricalBernstein):
        reached = _within(rule, away, total, gamma, z_range, c)
    else:
        reached = _one_by_one(rule, away, total, shift, gamma, z_range, c)
    place = reached.argmax(axis=0)
    stops = reached[place, np.arange(runs)]
    place = np.where(stops, place, tests - 1)
    mean = shift + total[place, np.arange(runs)] / (place + 1.0)
    return np.where(stops, place + 1, 0).astype(np.int64), mean


def _within(
    rule: EmpiricalBernstein,
    squares: Numbers,
    total: Numbers,
    gamma: float,
    z_range: float,
    c: float,
) -> NDArray[np.bool_]:
    """Return where half-width <= gamma, solved for n^2 s^2 = n sum z^2 - (sum z)^2.

    `squares` is overwritten.
    """
    n = np.arange(1.0, len(squares) + 1.0)[:, None]
    log = math.log((3.0 if rule.two_sided else 2.0) / c)
    with np.errstate(divide='ignore', invalid='ignore'):  # at n = 1
        room = gamma - 7.0 * z_range**rule.range_power * log / (3.0 * (n - 1.0))
        divisor = (n - 1.0) if rule.two_sided else n
        limit = n * n * divisor * room * room / (2.0 * log)
    found = np.zeros(squares.shape, dtype=np.bool_)
    # Before, the range alone is too much: no variance is small enough.
    first = int(np.count_nonzero(room <= 0.0))
    late = squares[first:]
    late *= n[first:]
    late -= np.square(total[first:])
    np.less_equal(late, limit[first:], out=found[first:])
    return found


def _one_by_one(
    rule: MomentRule,
    squares: Numbers,
    total: Numbers,
    shift: Numbers,
    gamma: float,
    z_range: float,
    c: float,
) -> NDArray[np.bool_]:
    """Return where any other rule is reached."""
    n = np.arange(1.0, len(squares) + 1.0)[:, None]
    mean = total / n
    variance = np.maximum(squares / n - mean * mean, 0.0)
    mean += shift
    rows = zip(mean.tolist(), variance.tolist(), strict=True)
    return np.array(
        [
            [rule.reached(k, m, rule.half_width(k, v, z_range, c), gamma)
             for m, v in zip(*row, strict=True)]
            for k, row in enumerate(rows, start=1)
        ]
    )  # fmt: skip
