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

"""Stopping rules: what each promises, that it keeps it, and where it says nothing."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from repsq_ros.estimation.accumulator import Accumulator
from repsq_ros.estimation.anytime import Anytime
from repsq_ros.estimation.certified_cell import CertifiedCell
from repsq_ros.estimation.first_of import FirstOf
from repsq_ros.estimation.moments import (
    EmpiricalBernstein,
    FixedN,
    Hoeffding,
    RelativeHalfWidth,
    smallest,
    smallest_n,
)
from repsq_ros.estimation.stopping import Bounds, Question, Validity
from repsq_ros.estimation.weights import Weights, z_bounds

C = 0.05
UNIT = Bounds(0.0, 1.0)
PRINTED, TWO_SIDED = EmpiricalBernstein(), EmpiricalBernstein(two_sided=True)


def too_many(misses, c=C, runs=1000):
    """More than a rule that misses with probability c shows in 1 % of trials."""
    return misses > c * runs + 2.33 * math.sqrt(runs * c * (1 - c))


def feed(rule, z, bounds=UNIT, gamma=0.1, c=C):
    """Return progress and total, after all values or at the stop."""
    progress, total = rule.begin(Question(gamma, c, bounds)), Accumulator()
    for value in np.asarray(z, dtype=float).tolist():
        total.add(value)
        progress.add(total, value, bounds)
        if progress.reached:
            break
    return progress, total


# What each rule says of itself -------------------------------------------------------------------


@pytest.mark.parametrize(
    ('rule', 'name', 'validity', 'sides'),
    [
        (PRINTED, 'empirical_bernstein', Validity.APPROXIMATE, ' on each side'),
        (TWO_SIDED, 'empirical_bernstein', Validity.APPROXIMATE, ''),
        (EmpiricalBernstein(2), 'empirical_bernstein', Validity.NONE, ' on each side'),
        (Hoeffding(), 'hoeffding', Validity.FIXED_N, ''),
        (Anytime(), 'anytime', Validity.ANY_N, ''),
        (CertifiedCell(), 'certified_cell', Validity.ANY_N, ''),
        (FixedN(50), 'fixed', Validity.FIXED_N_INDEPENDENT, ''),
        (RelativeHalfWidth(0.03), 'relative_half_width', Validity.NONE, ''),
        (FirstOf((Anytime(), Hoeffding())), 'first_of', Validity.FIXED_N, ''),
        (FirstOf((Hoeffding(), PRINTED)), 'first_of', Validity.APPROXIMATE, ' on each side'),
        (FirstOf((Anytime(), EmpiricalBernstein(2))), 'first_of', Validity.NONE, ' on each side'),
    ],
)
def test_what_a_rule_says_of_itself(rule, name, validity, sides):
    assert (rule.name, rule.validity, rule.sides) == (name, validity, sides)
    assert rule.statement[0].islower()  # it follows a colon ...
    assert rule.statement[-1] != '.'  # ... and is followed by a full stop


@pytest.mark.parametrize(
    'rule', [PRINTED, TWO_SIDED, Hoeffding(), FixedN(5), RelativeHalfWidth(0.1), Anytime(),
             FirstOf((Anytime(), Hoeffding()))],
)  # fmt: skip
def test_one_test_or_none_forecasts_nothing(rule):
    progress = rule.begin(Question(0.1, C, UNIT))
    assert progress.expected_n(Accumulator()) == 0
    assert progress.expected_n(Accumulator(1, 0.5, 0.0)) == 0
    assert not progress.reached


@pytest.mark.parametrize('rule', [PRINTED, TWO_SIDED, FixedN(5), RelativeHalfWidth(0.1)])
def test_one_test_has_no_spread_and_so_no_interval(rule):
    assert rule.half_width(1, 0.0, 1.0, C) == math.inf
    progress, _ = feed(rule, [0.5])
    assert (progress.lower, progress.upper, progress.reached) == (-math.inf, math.inf, False)


# Counting ----------------------------------------------------------------------------------------


@given(st.integers(1, 10**6))
def test_smallest_finds_the_threshold(n):
    assert smallest(lambda k: k >= n) == n


def test_smallest_knows_that_there_is_none():
    assert smallest(lambda _: False) == 0


@given(
    rule=st.sampled_from([PRINTED, TWO_SIDED, EmpiricalBernstein(2), Hoeffding()]),
    gamma=st.floats(1e-3, 0.5),
    variance=st.floats(0, 0.25),
    z_range=st.floats(0.1, 10),
)
def test_the_smallest_n_is_within_gamma_and_the_one_before_is_not(rule, gamma, variance, z_range):
    n = smallest_n(rule, gamma, variance, z_range, C)
    assert rule.half_width(n, variance, z_range, C) <= gamma
    assert rule.half_width(n - 1, variance, z_range, C) > gamma


def test_the_forecast_counts_with_the_bounds_that_tests_have_now():
    # An adaptive proposal's bounds: each test's are narrower than what it may ever draw.
    now = Bounds(0.0, 1.1)
    progress, total = Anytime().begin(Question(0.05, C, Bounds(0.0, 3.0))), Accumulator()
    forecasts = []
    for value in np.random.default_rng(7).uniform(0.3, 0.7, 1000).tolist():
        total.add(value)
        progress.add(total, value, now)
        forecasts.append(progress.expected_n(total))
        if progress.reached:
            break
    assert total.n > 40
    assert forecasts[20:] == pytest.approx([total.n] * len(forecasts[20:]), rel=0.15)


def test_the_forecast_of_a_moment_rule_is_where_it_stops_if_nothing_changes():
    progress, total = feed(PRINTED, [0.3, 0.7] * 50, gamma=0.04)
    forecast = progress.expected_n(total)
    assert feed(PRINTED, [0.3, 0.7] * 2000, gamma=0.04)[1].n == pytest.approx(forecast, abs=2)


# Coverage ----------------------------------------------------------------------------------------

LAWS = {
    'uniform': (lambda rng, shape: rng.random(shape), 0.5),
    'Bernoulli .02': (lambda rng, shape: (rng.random(shape) < 0.02) * 1.0, 0.02),
    'Bernoulli .5': (lambda rng, shape: (rng.random(shape) < 0.5) * 1.0, 0.5),
    'nearly constant': (lambda rng, shape: 0.3 + 1e-6 * rng.random(shape), 0.3 + 5e-7),
    'rarely far off': (lambda rng, shape: np.where(rng.random(shape) < 0.01, 1.0, 0.2), 0.208),
}


@pytest.mark.parametrize('rule', [TWO_SIDED, Hoeffding(), FixedN(30)])
@pytest.mark.parametrize('name', LAWS)
@pytest.mark.parametrize('n', [2, 30, 200])
def test_intervals_at_a_fixed_n_miss_at_most_c_of_the_runs(rule, name, n):
    law, mean = LAWS[name]
    z = law(np.random.default_rng(7), (1000, n))
    means, variances = z.mean(axis=1), z.var(axis=1)
    half = [rule.half_width(n, variance, 1.0, C) for variance in variances.tolist()]
    assert not too_many(int(np.sum(np.abs(means - mean) > half)))


@pytest.mark.parametrize('name', LAWS)
def test_each_side_of_the_printed_bound_misses_at_most_c(name):
    law, mean = LAWS[name]
    z = law(np.random.default_rng(8), (1000, 100))
    half = np.array([PRINTED.half_width(100, row, 1.0, C) for row in z.var(axis=1).tolist()])
    away = z.mean(axis=1) - mean
    assert not too_many(int(np.sum(away > half)))
    assert not too_many(int(np.sum(away < -half)))


@pytest.mark.parametrize('rule', [Hoeffding(), FixedN(150)])
def test_campaigns_whose_n_is_fixed_by_the_rule_miss_at_most_c(rule):
    """They stop at an n that no outcome moves, and the interval then is that of this n."""
    z = (np.random.default_rng(9).random((1000, 200)) < 0.5) * 1.0
    ends = [feed(rule, row, gamma=0.1) for row in z]
    assert len({total.n for _, total in ends}) == 1
    assert ends[0][1].n == (185 if rule.name == 'hoeffding' else 150)
    assert not too_many(sum(not p.lower <= 0.5 <= p.upper for p, _ in ends))
    if rule.name == 'hoeffding':
        assert not too_many(sum(abs(total.mean - 0.5) > 0.1 for _, total in ends))


def test_hoeffding_holds_for_adaptive_values_too():
    """Wide steps until the mean is off, then hardly any: the mean of each is r* all the same."""
    rng, misses = np.random.default_rng(10), 0
    steps = rng.choice((-0.5, 0.5), (1000, 185))
    for row in steps.tolist():
        progress, total = Hoeffding().begin(Question(0.1, C, UNIT)), Accumulator()
        average = 0.5
        for step in row:
            total.add(0.5 + (step if abs(average - 0.5) < 0.1 else 0.0))
            average = total.mean
            progress.add(total, 0.5, UNIT)
        assert progress.reached
        misses += abs(average - 0.5) > 0.1
    assert not too_many(misses)


# first_of ----------------------------------------------------------------------------------------


def test_first_of_stops_with_the_first_and_gives_each_its_share_of_c():
    z = np.random.default_rng(3).uniform(0.4, 0.6, 2000)
    both, total = feed(FirstOf((Hoeffding(), PRINTED)), z)
    alone = {rule: feed(rule, z, c=C / 2) for rule in (Hoeffding(), PRINTED)}
    first = min(alone, key=lambda rule: alone[rule][1].n)
    assert first is PRINTED
    assert total.n == alone[PRINTED][1].n
    # The interval is that of the rule that was met, not the narrower of the two.
    assert (both.lower, both.upper) == (alone[first][0].lower, alone[first][0].upper)
    assert both.expected_n(total) == total.n


def test_first_of_misses_at_most_c():
    z = (np.random.default_rng(4).random((250, 250)) < 0.1) * 1.0
    rule, misses = FirstOf((Hoeffding(), Anytime())), 0
    for row in z:
        progress, total = feed(rule, row, gamma=0.15)
        assert progress.reached
        misses += abs(total.mean - 0.1) > 0.15 or not progress.lower <= 0.1 <= progress.upper
    assert not too_many(misses, runs=250)


def test_first_of_carries_the_events_of_its_rules():
    progress, _ = feed(FirstOf((Hoeffding(), Anytime())), [0.5, 2.0, 0.5])
    assert len(progress.events) == 1
    assert 'above its bound' in progress.events[0]


# relative_half_width and fixed -------------------------------------------------------------------


def test_the_relative_half_width_is_that_of_the_central_limit_theorem():
    z = np.random.default_rng(6).random(500) * 0.2
    progress, total = feed(RelativeHalfWidth(0.05), z)
    seen = z[: total.n]
    half = stats.norm.ppf(1 - C / 2) * seen.std(ddof=1) / math.sqrt(len(seen))
    assert progress.upper - total.mean == pytest.approx(half, rel=1e-12)
    assert half <= 0.05 * total.mean
    before = z[: total.n - 1]
    assert stats.norm.ppf(1 - C / 2) * before.std(ddof=1) / math.sqrt(len(before)) > (
        0.05 * before.mean()
    )


def test_the_relative_half_width_waits_for_enough_tests():
    assert feed(RelativeHalfWidth(0.05, at_least=20), [0.5] * 50)[1].n == 20


@pytest.mark.parametrize('z', [0.0, -0.5])
def test_a_mean_that_is_not_above_zero_has_no_relative_half_width(z):
    progress, total = feed(RelativeHalfWidth(0.05), [z] * 100, Bounds(-1.0, 1.0))
    assert not progress.reached
    assert progress.expected_n(total) == 0


def test_fixed_stops_at_its_n_however_wide_the_interval_is():
    progress, total = feed(FixedN(20), np.tile([0.0, 1.0], 40), gamma=1e-6)
    assert (total.n, progress.reached) == (20, True)
    half = TWO_SIDED.half_width(20, 0.25, 1.0, C)
    assert progress.upper - total.mean == pytest.approx(half, rel=1e-12)


# Bounds of z, and weights ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ('psi', 'w_max', 'unweighted', 'truncation', 'expected'),
    [
        ((0.0, 1.0), 3.0, False, math.inf, (0.0, 3.0)),
        ((0.2, 1.0), 3.0, False, math.inf, (0.0, 3.0)),  # a weight may be 0
        ((-1.0, 2.0), 3.0, False, math.inf, (-3.0, 6.0)),
        ((-2.0, -1.0), 3.0, False, math.inf, (-6.0, 0.0)),
        ((0.2, 1.0), 1.0, True, math.inf, (0.2, 1.0)),
        ((0.0, 1.0), math.inf, False, 4.0, (0.0, 4.0)),
        ((0.0, 1.0), 3.0, False, 4.0, (0.0, 3.0)),
        ((0.0, 1.0), math.inf, False, math.inf, (0.0, math.inf)),
    ],
)
def test_the_bounds_of_a_weighted_value(psi, w_max, unweighted, truncation, expected):
    bounds = z_bounds(*psi, w_max, unweighted, truncation)
    assert (bounds.lower, bounds.upper) == expected


@given(st.floats(-2, 2), st.floats(0, 3), st.floats(0, 1), st.floats(0, 1))
def test_no_value_leaves_its_bounds(lower, width, place, share):
    bounds = z_bounds(lower, lower + width, 3.0)
    assert bounds.hold((lower + place * width) * 3.0 * share)


def test_the_effective_size_counts_equal_weights_fully_and_one_large_one_as_one():
    weights = Weights()
    assert weights.effective_sample_size == 0.0
    for _ in range(10):
        weights.add(0.7)
    assert weights.effective_sample_size == pytest.approx(10.0, rel=1e-12)
    weights.add(1e9)
    assert weights.effective_sample_size == pytest.approx(1.0, rel=1e-6)
    assert weights.largest == 1e9
