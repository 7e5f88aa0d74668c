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

"""Quantiles and counts out of bins: exact for few values, to the stated width for many."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from repsq_ros.auditing.quantile_sketch import EXACT, Bins, QuantileSketch

UNIT = 1e-4


def values_of(kind, count, rng):
    """Return values as they are met: noise, a drift, few different ones, outliers."""
    values = rng.normal(5.0, 0.01, count)
    if kind == 'drift':
        values += np.linspace(0, 3, count)
    if kind == 'few':
        values = rng.choice([8.0, 8.0, 8.0, 16.0, 24.0], count)
    if kind == 'equal':
        values[:] = 8.0
    if kind == 'outliers':
        values[rng.random(count) < 0.01] *= 1e6
        values[rng.random(count) < 0.01] *= -1e-6
    return values


def width(values, at):
    """Return the stated width of a bin at some value."""
    first = values[:EXACT]
    scale = max(np.subtract(*np.quantile(first, [0.75, 0.25])), UNIT)
    return 2.0**-12 * (scale + abs(at - np.median(first)))


def sketch_of(values, cuts=()):
    sketch = QuantileSketch(UNIT)
    for part in np.split(values, sorted(cuts)):
        sketch.add(part)
    return sketch


kinds = st.sampled_from(['noise', 'drift', 'few', 'equal', 'outliers'])
seeds = st.integers(0, 2**32 - 1)


def test_within_a_bin_values_lie_evenly():
    """Four from 0 to 6, two of 10, and two from 20 to 21."""
    bins = Bins(np.array([0.0, 10.0, 20.0]), np.array([6.0, 10.0, 21.0]), np.array([4, 2, 2]))
    values = [0.0, 2.0, 4.0, 6.0, 10.0, 10.0, 20.0, 21.0]
    assert [bins.value(rank) for rank in range(8)] == values
    bounds = [-1.0, 0.0, 0.1, 1.9, 2.0, 2.1, 5.9, 6.0, 6.1, 10.0, 10.1, 20.0, 20.5, 21.0, 22.0]
    for bound in bounds:
        assert bins.below(bound) == sum(value < bound for value in values)
        assert bins.above(bound) == sum(value > bound for value in values)
    assert bins.spread(1.0, 7.0) == pytest.approx(3.0)
    assert bins.quantile(0.5) == 8.0
    assert bins.quantile(1.0) == 21.0


@settings(max_examples=50)
@given(kinds, st.integers(1, 400) | st.just(EXACT), seeds, st.floats(0, 1))
def test_of_few_values_all_is_exact(kind, count, seed, share):
    values = values_of(kind, count, np.random.default_rng(seed))
    bins = sketch_of(values).bins()
    assert bins.quantile(share) == pytest.approx(np.quantile(values, share), rel=1e-12)
    for bound in (5.0, 8.0, 16.0, float(values[0])):
        assert bins.below(bound) == np.sum(values < bound)
        assert bins.above(bound) == np.sum(values > bound)
        inside = values[values < bound]
        expected = np.sqrt(np.mean((inside - 7.0) ** 2)) if len(inside) else 0.0
        assert bins.spread(7.0, bound) == pytest.approx(expected, rel=1e-9)


@settings(max_examples=50)
@given(kinds, st.integers(EXACT + 1, 5 * EXACT), seeds, st.floats(0, 1))
@example('few', EXACT + 1, 1, 0.5)
def test_of_many_values_all_is_told_to_the_stated_width(kind, count, seed, share):
    values = values_of(kind, count, np.random.default_rng(seed))
    bins = sketch_of(values).bins()
    assert bins.counts.sum() == count
    ordered = np.sort(values)
    for rank in {0, 1, int(share * (count - 1)), count - 2, count - 1}:
        assert abs(bins.value(rank) - ordered[rank]) <= width(values, ordered[rank])
    expected = np.quantile(values, share)
    assert abs(bins.quantile(share) - expected) <= width(values, expected) * 1.001
    for bound in (5.0, 6.0, 8.0, 24.0):
        near = width(values, bound)
        assert np.sum(values < bound - near) <= bins.below(bound) <= np.sum(values < bound + near)
        assert np.sum(values > bound + near) <= bins.above(bound) <= np.sum(values > bound - near)
        inside = values[values < bound]
        if len(inside) > 100 and kind != 'outliers':
            expected = np.sqrt(np.mean((inside - 7.0) ** 2))
            assert bins.spread(7.0, bound) == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize('kind', ['few', 'equal'])
def test_values_that_are_met_again_and_again_are_exact(kind):
    """As gaps of whole periods: none is split between what is counted and what is not."""
    values = values_of(kind, 5 * EXACT, np.random.default_rng(1))
    bins = sketch_of(values).bins()
    np.testing.assert_array_equal(bins.least, np.unique(values))
    np.testing.assert_array_equal(bins.most, np.unique(values))
    for bound in (8.0, 16.0, 24.0):
        assert bins.below(bound) == np.sum(values < bound)
        assert bins.above(bound) == np.sum(values > bound)
    assert bins.spread(8.0, 20.0) == np.sqrt(np.mean((values[values < 20.0] - 8.0) ** 2))


@settings(max_examples=30)
@given(kinds, seeds, st.lists(st.integers(0, 3 * EXACT), max_size=10))
def test_how_values_come_makes_no_difference(kind, seed, cuts):
    values = values_of(kind, 3 * EXACT, np.random.default_rng(seed))
    once, cut = sketch_of(values), sketch_of(values, cuts)
    assert once.count == cut.count == 3 * EXACT
    for one, other in zip(once.bins(), cut.bins(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_bins_are_fewer_than_values():
    """8192 for each doubling of the distance: this noise fills three of them, and half of that."""
    rng = np.random.default_rng(1)
    sketch = sketch_of(rng.normal(0, 1, 2_000_000))
    bins = sketch.bins()
    assert len(bins.counts) < 3 * 8192
    assert (bins.least[1:] > bins.most[:-1]).all()
    assert bins.quantile(0.99) == pytest.approx(2.3263, abs=0.01)


def test_values_are_copied():
    values, sketch = np.arange(10.0), QuantileSketch(UNIT)
    sketch.add(values)
    values[:] = 0.0
    assert sketch.bins().quantile(1.0) == 9.0


def test_nothing_is_told_of_nothing():
    sketch = QuantileSketch(UNIT)
    sketch.add(np.empty(0))
    bins = sketch.bins()
    assert (sketch.count, len(bins.counts), bins.below(1.0), bins.above(1.0)) == (0, 0, 0, 0)
    assert bins.spread(0.0, 1.0) == 0.0
