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

"""Distributions on a box: what they draw follows their density, whose integral is 1."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from repsq_ros.sampling.box import Box, Dimension
from repsq_ros.sampling.distributions import Cases, Mixture, Product, uniform
from repsq_ros.sampling.marginals import (
    Beta,
    TruncatedNormal,
    Uniform,
    log_density,
    log_largest_ratio,
)
from repsq_ros.sampling.weight_bound import largest_ratio, truncation_bias

LINE = Box((Dimension('a', 'm/s', -0.3, 0.5),))
PLANE = Box((Dimension('a', 'm/s', -0.3, 0.5), Dimension('b', 'rad/s', 0.0, 2.0)))


def scipy_marginal(marginal):
    """Return scipy's distribution on [0, 1] for one of ours."""
    if isinstance(marginal, Beta):
        return stats.beta(marginal.a, marginal.b)
    if isinstance(marginal, TruncatedNormal):
        mean, sd = marginal.mean, marginal.sd
        return stats.truncnorm(-mean / sd, (1 - mean) / sd, mean, sd)
    return stats.uniform()


MARGINALS = [
    Uniform(),
    Beta(0.83, 0.79),
    Beta(0.5, 3.0),
    Beta(4.0, 1.0),
    TruncatedNormal(0.5, 0.2),
    TruncatedNormal(0.5, 20.0),  # nearly uniform
    TruncatedNormal(-0.5, 0.3),  # its mean lies outside
    TruncatedNormal(1.5, 0.2),
    TruncatedNormal(3.0, 0.1),  # far outside: nothing but a tail
    TruncatedNormal(-2.0, 0.1),
]


# One dimension -----------------------------------------------------------------------------------


@pytest.mark.parametrize('marginal', MARGINALS, ids=repr)
def test_samples_follow_the_density(marginal):
    p = Product(LINE, (marginal,))
    rng = np.random.default_rng(31)
    u = [(p.sample(rng)[0] + 0.3) / 0.8 for _ in range(1500)]
    assert stats.kstest(u, scipy_marginal(marginal).cdf).pvalue > 1e-3


@pytest.mark.parametrize('marginal', MARGINALS, ids=repr)
def test_the_density_is_that_of_scipy(marginal):
    p, u = Product(LINE, (marginal,)), np.array([1e-3, 0.1, 0.3, 0.5, 0.8, 0.999])
    found = [p.logpdf((-0.3 + 0.8 * each,)) for each in u]
    expected = scipy_marginal(marginal).logpdf(u) - math.log(0.8)
    assert found == pytest.approx(expected, rel=1e-8, abs=1e-8)


@pytest.mark.parametrize('marginal', MARGINALS, ids=repr)
def test_the_density_integrates_to_one(marginal):
    # Over the quantiles of a law with more at both ends, which tames the infinite ends.
    tame = stats.beta(0.3, 0.3)

    def ratio(v):
        u = tame.ppf(v)
        if not 1e-12 < u < 1 - 1e-12:
            return 0.0
        return math.exp(log_density(marginal, u) - tame.logpdf(u))

    total, _ = integrate.quad(ratio, 0, 1, limit=400, points=[0.01, 0.5, 0.99])
    assert total == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize('marginal', MARGINALS, ids=repr)
@pytest.mark.parametrize('v', [0.0, 1e-9, 0.3, 0.7, 1 - 2**-53])
def test_the_quantile_is_within_and_the_inverse_of_the_distribution_function(marginal, v):
    u = marginal.inverse(v)
    assert 0.0 <= u <= 1.0
    assert scipy_marginal(marginal).cdf(u) == pytest.approx(v, abs=1e-5)
    assert math.isfinite(Product(LINE, (marginal,)).logpdf(LINE.from_unit((u,))))


def test_outside_the_box_there_is_nothing():
    p = Product(PLANE, (Beta(0.5, 0.5), TruncatedNormal(0.0, 1.0)))
    for x in ((-0.31, 1.0), (0.0, 2.1), (math.nan, 1.0), (0.0,), (0.0, 1.0, 0.0)):
        assert p.logpdf(x) == -math.inf


def test_a_density_that_is_infinite_at_an_end_is_never_read_as_infinite():
    p = Product(LINE, (Beta(0.5, 0.5),))
    assert math.isfinite(p.logpdf((-0.3,)))
    assert math.isfinite(p.logpdf((0.5,)))


def test_what_a_distribution_is_goes_into_the_contract_and_its_digest():
    p = Product(PLANE, (Beta(0.5, 0.7), TruncatedNormal(0.1, 0.2)))
    assert p.describe() == {
        'type': 'product',
        'marginals': {
            'a': {'type': 'beta', 'a': 0.5, 'b': 0.7},
            'b': {'type': 'truncated_normal', 'mean': 0.1, 'sd': 0.2},
        },
    }
    mixed = Mixture((uniform(PLANE), p), (0.25, 0.75)).describe()
    assert mixed['shares'] == [0.25, 0.75]
    assert mixed['parts'] == [uniform(PLANE).describe(), p.describe()]


# The largest ratio -------------------------------------------------------------------------------


def two_digits(low, high):
    return st.integers(round(low * 100), round(high * 100)).map(lambda k: k / 100)


any_marginal = st.one_of(
    st.just(Uniform()),
    st.builds(Beta, two_digits(0.3, 4), two_digits(0.3, 4)),
    st.builds(TruncatedNormal, two_digits(-0.5, 1.5), two_digits(0.15, 2)),
)

# Both u and 1 - u, so that neither end loses its digits.
NEAR = np.concatenate((np.logspace(-300, -3, 2000), np.linspace(1e-3, 0.5, 20_000)[1:]))
U, V = np.concatenate((NEAR, 1 - NEAR)), np.concatenate((1 - NEAR, NEAR))


def log_f(marginal, u, v):
    """ln f(u), v = 1 - u, but for the constant that scipy knows."""
    if isinstance(marginal, Beta):
        at = stats.beta(marginal.a, marginal.b).logpdf(0.5)
        shape = lambda u, v: (marginal.a - 1) * np.log(u) + (marginal.b - 1) * np.log(v)  # noqa: E731
        return at + shape(u, v) - shape(0.5, 0.5)
    return scipy_marginal(marginal).logpdf(u)


@given(any_marginal, any_marginal)
def test_the_largest_ratio_is_that_of_a_fine_grid(p, q):
    ratio = log_f(p, U, V) - log_f(q, U, V)
    found = log_largest_ratio(p, q)
    assert found >= -1e-9  # two densities are somewhere at least equal
    if math.isinf(found):
        # It grows beyond all limits, right up to an end.
        assert max(ratio[0] - ratio[600], ratio[len(NEAR)] - ratio[len(NEAR) + 600]) > 1.0
    else:
        assert found >= ratio.max() - 1e-9
        assert found == pytest.approx(ratio.max(), abs=1e-6)


def test_the_largest_ratio_of_a_product_is_the_product_of_the_largest():
    p, q = (Beta(0.9, 0.9), Uniform()), (Beta(0.7, 0.8), TruncatedNormal(0.5, 0.4))
    separate = [largest_ratio(Product(LINE, (a,)), Product(LINE, (b,))) for a, b in zip(p, q)]  # noqa: B905
    both = largest_ratio(Product(PLANE, p), Product(PLANE, q))
    assert both == pytest.approx(math.prod(separate), rel=1e-12)


def test_the_largest_ratio_of_a_density_to_itself_is_one():
    p = Product(LINE, (Beta(0.5, 0.5),))
    assert largest_ratio(p, p) == 1.0
    assert largest_ratio(p, Product(LINE, (Beta(0.5, 0.5),))) == 1.0


@given(any_marginal, any_marginal, any_marginal, st.floats(0.05, 0.95))
def test_the_bound_of_mixtures_is_never_below_a_fine_grid(p, first, second, share):
    target = Product(LINE, (p,))
    parts = (Product(LINE, (first,)), Product(LINE, (second,)))
    mixture = Mixture(parts, (share, 1 - share))
    logs = log_f(p, U, V)
    mixed = np.logaddexp(
        math.log(share) + log_f(first, U, V), math.log1p(-share) + log_f(second, U, V)
    )
    bound = largest_ratio(target, mixture)
    assert bound >= math.exp(min((logs - mixed).max(), 600.0)) * (1 - 1e-9)
    # And the other way round.
    bound = largest_ratio(mixture, target)
    assert bound >= math.exp(min((mixed - logs).max(), 600.0)) * (1 - 1e-9)


@pytest.mark.parametrize('share', [0.1, 0.5])
def test_a_share_of_the_target_bounds_the_weights_by_its_inverse(share):
    target = uniform(LINE)
    mixture = Mixture((target, Product(LINE, (Beta(5.0, 5.0),))), (share, 1 - share))
    assert largest_ratio(target, mixture) == pytest.approx(1 / share, rel=1e-12)


def test_tables_of_cases():
    points = ((0.0,), (0.1,), (0.2,))
    p, q = Cases(LINE, points, (1.0, 1.0, 2.0)), Cases(LINE, points, (2.0, 1.0, 1.0))
    assert largest_ratio(p, q) == pytest.approx(2.0, rel=1e-12)
    assert largest_ratio(p, Cases(LINE, points[:2], (1.0, 1.0))) == math.inf
    assert largest_ratio(Cases(LINE, points[:2], (1.0, 1.0)), q) == pytest.approx(2.0)
    assert largest_ratio(uniform(LINE), q) == math.inf
    assert largest_ratio(p, uniform(LINE)) == math.inf


class Own:
    """A user's own density: twice as dense on the lower half."""

    box = LINE

    def logpdf(self, x):
        return math.log((4 if x[0] < 0.1 else 2) / 3 / 0.8)

    def largest_ratio(self, q):
        return 4 / 3 if q == uniform(LINE) else math.inf


def test_a_class_of_ones_own_may_know_its_largest_ratio():
    assert largest_ratio(Own(), uniform(LINE)) == 4 / 3
    assert largest_ratio(Own(), Product(LINE, (Beta(0.5, 0.5),))) == math.inf
    assert largest_ratio(uniform(LINE), Own()) == math.inf


# Tables and mixtures -----------------------------------------------------------------------------


def test_cases_are_drawn_by_their_weights():
    points = tuple((round(0.1 * k, 1),) for k in range(-3, 5))
    weights = (1.0, 2.0, 3.0, 4.0, 5.0, 0.5, 0.25, 10.0)
    p = Cases(LINE, points, weights)
    rng = np.random.default_rng(33)
    drawn = [p.sample(rng) for _ in range(4000)]
    shown = [drawn.count(point) for point in points]
    expected = np.array(weights) / sum(weights) * 4000
    assert stats.chisquare(shown, expected).pvalue > 1e-3
    assert math.fsum(math.exp(p.logpdf(point)) for point in points) == pytest.approx(1.0)
    assert p.logpdf((0.05,)) == -math.inf


def test_the_largest_random_number_still_is_a_case():
    p = Cases(LINE, tuple((k / 100,) for k in range(7)), (0.1,) * 7)
    assert p.from_uniform([1 - 2**-53]) == (0.06,)
    assert p.from_uniform([0.0]) == (0.0,)


@pytest.mark.parametrize(
    ('points', 'weights', 'told'),
    [
        ((), (), 'each one once'),
        (((0.1,), (0.1,)), (1.0, 1.0), 'each one once'),
        (((0.1,),), (0.0,), 'must be > 0'),
        (((0.1,),), (-1.0,), 'must be > 0'),
        (((0.1,),), (math.nan,), 'must be > 0'),
        (((0.1,),), (math.inf,), 'must be > 0'),
    ],
)
def test_what_is_no_table_of_cases(points, weights, told):
    with pytest.raises(ValueError, match=told):
        Cases(LINE, points, weights)


def test_a_mixture_draws_each_part_by_its_share():
    low = Product(LINE, (Beta(1.0, 8.0),))
    high = Product(LINE, (Beta(8.0, 1.0),))
    p = Mixture((low, high), (0.3, 0.7))
    rng = np.random.default_rng(34)
    u = [(p.sample(rng)[0] + 0.3) / 0.8 for _ in range(1500)]

    def cdf(u):
        return 0.3 * stats.beta(1, 8).cdf(u) + 0.7 * stats.beta(8, 1).cdf(u)

    assert stats.kstest(u, cdf).pvalue > 1e-3
    x = (0.2,)
    expected = 0.3 * math.exp(low.logpdf(x)) + 0.7 * math.exp(high.logpdf(x))
    assert math.exp(p.logpdf(x)) == pytest.approx(expected, rel=1e-12)
    assert p.logpdf((0.7,)) == -math.inf


def test_a_mixture_of_parts_that_take_different_numbers():
    table = Cases(PLANE, ((0.0, 1.0),), (1.0,))
    other = Cases(PLANE, ((0.1, 1.0), (0.2, 1.0)), (1.0, 1.0))
    p = Mixture((table, other), (0.5, 0.5))
    assert p.uniforms == 2
    assert p.from_uniform([0.49, 0.9]) == (0.0, 1.0)
    assert p.from_uniform([0.51, 0.9]) == (0.2, 1.0)
    assert math.exp(p.logpdf((0.2, 1.0))) == pytest.approx(0.25, rel=1e-12)


# The box -----------------------------------------------------------------------------------------


@given(st.floats(-1e3, 1e3), st.floats(1e-3, 1e3), st.floats(0, 1))
def test_scaling_stays_in_the_box(lower, width, u):
    box = Box((Dimension('a', 'm', lower, lower + width),))
    x = box.from_unit((u,))
    assert box.contains(x)
    assert box.to_unit(x)[0] == pytest.approx(u, abs=1e-9)


# Truncation --------------------------------------------------------------------------------------


@pytest.mark.parametrize('truncation', [1.2, 2.0, 4.0])
def test_the_bias_of_a_truncation_is_bounded_closely(truncation):
    """r* - E min(z, T) for psi = 1 everywhere, where the bound is attained: by quadrature."""
    p, q = Product(LINE, (Beta(0.8, 1.0),)), Product(LINE, (Beta(1.0, 1.0),))
    assert largest_ratio(p, q) == math.inf
    law = stats.beta(0.8, 1.0)
    exact, _ = integrate.quad(
        lambda v: max(0.0, 1 - truncation / law.pdf(law.ppf(v))), 1e-12, 1, limit=200
    )
    bound = truncation_bias(p, q, 1.0, truncation)
    assert exact <= bound <= exact + 0.003 + 0.02 * math.sqrt(exact)
