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

"""The statistics against reference values that were computed independently of this project."""

import math
import statistics
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from repsq_ros.estimation.accumulator import Accumulator
from repsq_ros.estimation.alpha import distinct_alpha, paper_alpha
from repsq_ros.estimation.moments import EmpiricalBernstein, Hoeffding, smallest_n
from repsq_ros.estimation.partition import Partition, probability_same

PRINTED = EmpiricalBernstein()
SQUARED = EmpiricalBernstein(range_power=2)
TWO_SIDED = EmpiricalBernstein(two_sided=True)

# Accumulation ------------------------------------------------------------------------------------


def test_running_mean_and_variance():
    total = Accumulator()
    assert math.isnan(total.mean)
    means, variances = [], []
    for z in (1, 2, 4, 7):
        total.add(z)
        means.append(total.mean)
        variances.append(total.variance)
    assert means == pytest.approx([1, 1.5, 2.3333333333333335, 3.5], rel=1e-12)
    assert variances == pytest.approx([0, 0.25, 1.5555555555555556, 5.25], rel=1e-12)
    assert total.unbiased_variance == pytest.approx(7.0, rel=1e-12)


def test_mean_and_variance_keep_their_digits_far_from_zero():
    z = (1000 + np.random.default_rng(3).random(100_000)).tolist()
    total = Accumulator()
    for value in z:
        total.add(value)
    mean = math.fsum(z) / len(z)
    variance = math.fsum((value - mean) ** 2 for value in z) / len(z)
    assert total.mean == pytest.approx(mean, rel=1e-10)
    assert total.variance == pytest.approx(variance, rel=1e-10)


@pytest.mark.parametrize('z', [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_never_enters(z):
    total = Accumulator()
    total.add(0.5)
    with pytest.raises(ValueError, match='cannot enter'):
        total.add(z)
    assert (total.n, total.mean) == (1, 0.5)


# Stopping rules ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ('rule', 'n', 'variance', 'z_range', 'radius'),
    [
        (PRINTED, 600, 0.0154, 6.0, 0.09997845383655292),
        (SQUARED, 600, 0.0154, 6.0, 0.5310662030652267),
        (PRINTED, 650, 0.083, 0.7, 0.039977146298649416),
        (SQUARED, 650, 0.083, 0.7, 0.03719201389107495),
        (PRINTED, 222, 0.0049, 0.7, 0.04002418443420771),
        (PRINTED, 100, 0.25, 1.0, 0.2227534383713601),
    ],
)
def test_empirical_bernstein_radius(rule, n, variance, z_range, radius):
    assert rule.half_width(n, variance, z_range, 0.05) == pytest.approx(radius, rel=1e-9)


def test_two_sided_empirical_bernstein_uses_the_unbiased_variance():
    # The reference takes the variance as given, so it is turned back here.
    mean_square = 0.25 * 99 / 100
    assert TWO_SIDED.half_width(100, mean_square, 1.0, 0.05) == pytest.approx(
        0.239579131816265, rel=1e-9
    )


@pytest.mark.parametrize(
    ('z_range', 'gamma', 'c', 'sd', 'n_printed', 'n_squared'),
    [
        (6, 0.1, 0.05, 0.124, 600, 3293),
        (6, 0.1, 0.05, 0, 518, 3100),
        (0.7, 0.04, 0.05, 0.2883, 650, 576),
        (0.7, 0.04, 0.05, 0.0699, 223, 168),
        (0.7, 0.04, 0.05, 0, 152, 107),
        (0.0001, 3e-09, 0.01, 0, 412093, 43),
    ],
)
def test_smallest_n_at_constant_variance(z_range, gamma, c, sd, n_printed, n_squared):
    assert smallest_n(PRINTED, gamma, sd**2, z_range, c) == n_printed
    assert smallest_n(SQUARED, gamma, sd**2, z_range, c) == n_squared


@pytest.mark.parametrize(
    ('z_range', 'gamma', 'c', 'n'),
    [(6, 0.1, 0.05, 6640), (0.7, 0.04, 0.05, 565), (1, 0.04, 0.05, 1153),
     (0.0001, 3e-09, 0.01, 2943509649)],
)  # fmt: skip
def test_hoeffding_counts(z_range, gamma, c, n):
    assert smallest_n(Hoeffding(), gamma, 0.0, z_range, c) == n


@given(
    n=st.integers(1, 10**6),
    sd=st.floats(0, 1),
    rule=st.sampled_from([PRINTED, TWO_SIDED, Hoeffding()]),
)
def test_more_tests_never_widen_the_interval(n, sd, rule):
    assert rule.half_width(n + 1, sd**2, 1.0, 0.05) <= rule.half_width(n, sd**2, 1.0, 0.05)


@pytest.mark.parametrize('rule', [PRINTED, TWO_SIDED, Hoeffding()])
def test_no_rule_says_anything_without_tests(rule):
    assert rule.half_width(0, math.nan, 1.0, 0.05) == math.inf


def test_empirical_bernstein_covers_at_a_fixed_n():
    """1000 campaigns of 200 tests with psi uniform on [0, 1]: the miss rate stays below c."""
    z = np.random.default_rng(11).random((1000, 200))
    misses = sum(
        abs(row.mean() - 0.5) > TWO_SIDED.half_width(200, float(row.var()), 1.0, 0.05) for row in z
    )
    assert misses <= 50 + 2.33 * math.sqrt(1000 * 0.05 * 0.95)


# Alpha, partition, agreement ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ('gamma', 'c', 'alpha'),
    [
        (0.1, 0.05, 0.18947368421052643),
        (3e-09, 0.01, 4.284730703262436e-09),
        (0.04, 0.05, 0.07578947368421057),
    ],
)
def test_papers_alpha(gamma, c, alpha):
    assert paper_alpha(gamma, c, 0.1) == pytest.approx(alpha, rel=1e-9)


def test_papers_alpha_does_not_exist_for_a_large_c():
    with pytest.raises(ValueError, match='below 1-beta'):
        paper_alpha(0.1, 0.06, 0.1)


def test_partition_with_a_given_first_cell():
    partition = Partition.almost_uniform(0, 1, 0.3, first=0.1)
    assert partition.edges == pytest.approx([0, 0.1, 0.4, 0.7, 1])
    for estimate, cell, value, outside in (
        (0.1, 1, 0.25, False), (0.3999, 1, 0.25, False), (0.4, 2, 0.55, False),
        (0, 0, 0.05, False), (1, 3, 0.85, False), (-0.2, 0, 0.05, True), (1.7, 3, 0.85, True),
    ):  # fmt: skip
        quantized = partition.quantize(estimate)
        assert (quantized.cell, quantized.outside) == (cell, outside)
        assert quantized.value == pytest.approx(value, rel=1e-12)


def test_partitions_of_the_papers_studies():
    manipulator = Partition.almost_uniform(0, 6, 0.18947368421052643)
    assert len(manipulator.edges) - 1 == 32
    assert manipulator.edges[-1] - manipulator.edges[-2] == pytest.approx(0.12631578947368105)
    assert manipulator.quantize(1.5).value == pytest.approx(1.4210526315789482, rel=1e-12)
    locomotion = Partition.almost_uniform(0, 1, 0.07578947368421057)
    assert len(locomotion.edges) - 1 == 14
    assert locomotion.edges[-1] - locomotion.edges[-2] == pytest.approx(0.014736842105262493)
    assert locomotion.quantize(0.47).value == pytest.approx(0.4926315789473687, rel=1e-12)
    assert locomotion.quantize(0.39).value == pytest.approx(0.4168421052631581, rel=1e-12)


def test_an_alpha_wider_than_the_range_leaves_one_cell():
    assert Partition.almost_uniform(0, 1, 2.0).edges == (0, 1)
    assert Partition.almost_uniform(0, 1, 2.0).quantize(0.3).edge_distance == math.inf


def test_no_sliver_of_rounding_becomes_a_cell():
    assert len(Partition.almost_uniform(0, 1, 0.1).edges) == 11


@given(
    alpha=st.floats(1e-3, 3),
    first=st.floats(0.001, 1),
    lower=st.floats(-5, 5),
    width=st.floats(0.1, 10),
    place=st.floats(0, 1),
)
def test_quantizing_is_idempotent_and_moves_at_most_half_a_cell(alpha, first, lower, width, place):
    partition = Partition.almost_uniform(lower, lower + width, alpha, first * alpha)
    widths = np.diff(partition.edges)
    assert np.all(widths > 0)
    assert np.all(widths <= alpha * (1 + 1e-6))
    estimate = lower + place * width
    once = partition.quantize(estimate)
    assert partition.quantize(once.value).value == once.value
    assert abs(once.value - estimate) <= alpha / 2 * (1 + 1e-6)


def test_agreement_depends_on_the_distance_to_the_edge():
    partition = Partition.almost_uniform(0, 1, 0.1)
    assert probability_same(partition, 0.45, 0.001) == pytest.approx(1.0, abs=1e-9)
    assert probability_same(partition, 0.4, 0.001) == pytest.approx(0.5, abs=1e-3)
    assert probability_same(partition, 0.4, 0.0) == 1.0
    assert math.isnan(probability_same(partition, 0.4, math.nan))


@pytest.mark.parametrize('estimate', [0.43, 0.46, 0.401, 0.02])
def test_agreement_is_what_the_second_of_two_gaussian_runs_shows(estimate):
    """Given the first: among many places of r*, runs that happen to give this estimate."""
    partition, rng = Partition.almost_uniform(0, 1, 0.1), np.random.default_rng(5)
    truth = estimate + rng.normal(0, 0.03, 4000)
    cells = np.searchsorted(partition.edges[1:-1], truth + rng.normal(0, 0.03, 4000), 'right')
    shown = np.mean(cells == partition.quantize(estimate).cell)
    expected = probability_same(partition, estimate, 0.03)
    assert shown == pytest.approx(expected, abs=3.3 * math.sqrt(expected * (1 - expected) / 4000))


def test_given_an_estimate_it_is_not_the_agreement_of_two_runs_around_a_known_mean():
    """That is the sum of squares: .975 here, where a second run returns this cell with .923."""
    partition = Partition.almost_uniform(0, 1, 0.1)
    edges = np.array([-np.inf, *partition.edges[1:-1], np.inf])
    squares = np.sum(np.diff(stats.norm.cdf(edges, 0.45, 0.02)) ** 2)
    assert squares == pytest.approx(0.975, abs=5e-4)
    assert probability_same(partition, 0.45, 0.02) == pytest.approx(0.923, abs=5e-4)


# The same data, the same value -------------------------------------------------------------------


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30), st.randoms())
def test_mean_and_variance_are_exact_and_rounded_once_in_any_order(z, order):
    straight, shuffled = Accumulator(), Accumulator()
    for value in z:
        straight.add(value)
    order.shuffle(z)
    for value in z:
        shuffled.add(value)
    assert straight.mean == shuffled.mean == statistics.mean(z)
    assert straight.variance == shuffled.variance
    exact = [Fraction(value) for value in z]
    middle = sum(exact) / len(z)
    squares = sum((value - middle) ** 2 for value in exact)
    assert straight.variance == float(squares / len(z))
    assert straight.square_sum == float(squares)
    if len(z) > 1:
        assert straight.unbiased_variance == float(squares / (len(z) - 1))


@given(st.floats(-1e9, 1e9), st.integers(1, 50))
def test_the_mean_of_equal_values_is_that_value(z, n):
    total = Accumulator()
    for _ in range(n):
        total.add(z)
    assert (total.mean, total.variance) == (z, 0.0)


@given(st.integers(2, 1000), st.floats(-1e3, 1e3), st.floats(0, 1e3), st.floats(-1e3, 1e3))
def test_one_can_go_on_from_a_known_mean_and_spread(n, mean, square_sum, z):
    total = Accumulator(n, mean, square_sum)
    assert (total.mean, total.square_sum) == (mean, square_sum)
    assert total.variance == float(Fraction(square_sum) / n)
    total.add(z)
    assert total.mean == float((n * Fraction(mean) + Fraction(z)) / (n + 1))
    away = (Fraction(z) - Fraction(mean)) ** 2 * n / (n + 1)
    assert total.square_sum == float(Fraction(square_sum) + away)


def test_tiny_and_huge_values_keep_their_digits():
    total = Accumulator()
    for value in (1e300, 5e-324, -1e300, 1.0):
        total.add(value)
    assert total.mean == 0.25
    assert total.variance == math.inf  # beyond the largest float


def test_edges_are_those_of_the_numbers_as_they_are_written():
    assert Partition.almost_uniform(0, 1, 0.1).edges == tuple(k / 10 for k in range(11))
    assert Partition.almost_uniform(-0.3, 0.6, 0.1, 0.05).edges == (
        -0.3, -0.25, -0.15, -0.05, 0.05, 0.15, 0.25, 0.35, 0.45, 0.55, 0.6,
    )  # fmt: skip
    assert Partition.anchored(0.0, 1.0, 0.3, 0.1).edges == (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


def test_thirty_of_a_hundred_is_one_cell_in_any_order():
    partition, rng = Partition.almost_uniform(0, 1, 0.1), np.random.default_rng(9)
    outcomes, cells = [1.0] * 30 + [0.0] * 70, set()
    for _ in range(50):
        total = Accumulator()
        for value in rng.permutation(outcomes).tolist():
            total.add(value)
        cells.add(partition.quantize(total.mean).value)
    assert cells == {partition.quantize(0.3).value} == {0.35}


@pytest.mark.parametrize('runs', [2, 3, 5])
def test_papers_alpha_for_more_runs_counts_all_of_them(runs):
    kept, wanted = 0.99**runs, 0.9
    expected = 2 * 0.1 * (1 - math.sqrt(1 - wanted / kept))
    assert paper_alpha(0.1, 0.01, 0.1, runs) == pytest.approx(expected, rel=1e-12)
    powers = [paper_alpha(0.1, 0.01, 0.1, k) for k in (2, 3)]
    assert powers[1] > 1.01 * powers[0]


@given(st.floats(1e-6, 1), st.floats(0.001, 0.02), st.floats(0.1, 0.9), st.integers(2, 4))
def test_alpha_is_the_float_nearest_to_the_number(gamma, c, beta, runs):
    """As in whole numbers: a library's pow is off in the last digit now and then."""
    g, kept = Fraction(repr(gamma)), (1 - Fraction(repr(c))) ** runs
    wanted = 1 - Fraction(repr(beta))
    assert distinct_alpha(gamma, c, beta, runs) == float(2 * g * kept / (kept - wanted))
    alpha = Fraction(paper_alpha(gamma, c, beta, runs))
    assert abs((1 - alpha / (2 * g)) ** 2 - (1 - wanted / kept)) < Fraction(1, 10**15)
