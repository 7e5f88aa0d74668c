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

"""Adaptive importance sampling: what it learns, that its bounds hold, that a history decides."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from repsq_ros.sampling.adaptive import Adaptation, AdaptiveImportance
from repsq_ros.sampling.beta_fit import effective_size, fit_betas
from repsq_ros.sampling.box import Box, Dimension
from repsq_ros.sampling.distributions import Product, uniform
from repsq_ros.sampling.marginals import Beta, TruncatedNormal, Uniform, log_largest_ratio
from repsq_ros.sampling.proposals import Dependence

BOX = Box(tuple(Dimension(name, 'm/s', -0.3, 0.3) for name in 'abc'))
TARGET = uniform(BOX)


def psi_of(x):
    """Steep toward the ends of the box, as a robot's tracking loss is."""
    return 1 - math.exp(-sum(abs(each / 0.3) ** 4 for each in x))


def history(n, seed=1, psi=psi_of, adaptation=Adaptation(batch=10)):  # noqa: B008 (frozen)
    """Return a proposal after n tests, and what it was told."""
    proposal, told = AdaptiveImportance(TARGET, adaptation), []
    for index in range(n):
        draw = proposal.draw(index, seed)
        told.append((draw.x, psi(draw.x), draw.weight))
        proposal.tell(*told[-1])
    return proposal, told


# A history decides -------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 60), max_size=4), st.integers(0, 2**20))
def test_a_history_in_pieces_gives_what_it_gives_whole(cuts, seed):
    whole, told = history(60, seed)
    pieces = AdaptiveImportance(TARGET, Adaptation(batch=10))
    for start, end in itertools.pairwise([0, *sorted(cuts), 60]):
        pieces.draw(end, seed + 1)  # looking ahead, by another seed, changes nothing
        for each in told[start:end]:
            pieces.tell(*each)
    assert pieces.shapes == whole.shapes
    assert pieces.weight_bound == whole.weight_bound
    assert pieces.draw(60, seed) == whole.draw(60, seed)


def test_within_a_batch_the_proposal_stays():
    proposal, _ = history(10)
    shapes = proposal.shapes
    for index in range(10, 19):
        draw = proposal.draw(index, 1)
        proposal.tell(draw.x, psi_of(draw.x), draw.weight)
        assert proposal.shapes == shapes
    draw = proposal.draw(19, 1)
    proposal.tell(draw.x, psi_of(draw.x), draw.weight)
    assert proposal.shapes != shapes


def test_the_shapes_follow_the_newest_batch_by_the_rate():
    adaptation = Adaptation(batch=10, rate=0.25)
    before, told = history(29, adaptation=adaptation)
    draw = before.draw(29, 1)
    batch = [*told[20:], (draw.x, psi_of(draw.x), draw.weight)]
    u, outcomes, weights = zip(*((BOX.to_unit(x), psi, w) for x, psi, w in batch), strict=True)
    expected = [
        (0.75 * a + 0.25 * new_a, 0.75 * b + 0.25 * new_b)
        for (a, b), (new_a, new_b) in zip(
            before.shapes, fit_betas(u, outcomes, weights), strict=True
        )
    ]
    before.tell(*batch[-1])
    assert np.array(before.shapes) == pytest.approx(np.array(expected), rel=1e-12)


def test_it_starts_with_the_given_shapes():
    assert AdaptiveImportance(TARGET, Adaptation(start=0.8)).shapes == ((0.8, 0.8),) * 3
    assert AdaptiveImportance(TARGET, Adaptation()).dependence is Dependence.ADAPTIVE


@pytest.mark.parametrize('psi', [0.0, -0.5])
def test_a_batch_of_zeros_leaves_the_shapes(psi):
    proposal, _ = history(50, psi=lambda x: psi)
    assert proposal.shapes == ((0.99, 0.99),) * 3


def test_a_batch_in_which_a_single_case_counts_leaves_the_shapes():
    counted = itertools.count()
    proposal, _ = history(10, psi=lambda x: float(next(counted) == 3))
    assert proposal.shapes == ((0.99, 0.99),) * 3


# Bounds ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ('target', 'adaptation'),
    [
        (TARGET, Adaptation(batch=5, rate=0.5)),
        (TARGET, Adaptation(batch=5, rate=0.5, fit='mle')),
        (TARGET, Adaptation(batch=5, rate=0.5, fit='unweighted')),
        (TARGET, Adaptation(batch=5, rate=0.9, shapes=None)),
        (TARGET, Adaptation(batch=5, rate=0.9, shapes=(0.3, 3.0), start=2.0)),
        (TARGET, Adaptation(batch=5, rate=0.5, shapes=(0.2, 0.9), start=0.3)),
        (
            Product(BOX, (Beta(2.0, 2.0), Uniform(), TruncatedNormal(0.5, 0.3))),
            Adaptation(batch=5, rate=0.5),
        ),
    ],
)
def test_every_weight_is_within_the_bound_in_force(target, adaptation):
    proposal = AdaptiveImportance(target, adaptation)
    rng = np.random.default_rng(51)
    for index in range(150):
        bound = proposal.weight_bound
        assert bound <= proposal.largest_weight_bound <= 1 / adaptation.share_of_target + 1e-9
        draw = proposal.draw(index, 52)
        assert draw.weight_bound == bound
        # What is drawn, and what else might have been, in the middle and at the ends.
        for x in (draw.x, BOX.from_unit(rng.random(3)), (0.0,) * 3, (-0.3, 0.0, 0.3)):
            weight = math.exp(target.logpdf(x) - proposal._proposal.logpdf(x))
            assert weight <= bound * (1 + 1e-9)
        proposal.tell(draw.x, psi_of(draw.x), draw.weight)
    assert proposal.proven


@given(st.lists(st.floats(0, 1), min_size=30, max_size=30), st.floats(0.2, 0.9))
def test_the_shapes_stay_in_their_limits_whatever_happens(outcomes, low):
    given_outcomes = iter(outcomes)
    adaptation = Adaptation(batch=5, rate=0.9, shapes=(low, 1.0))
    proposal, _ = history(30, psi=lambda x: next(given_outcomes), adaptation=adaptation)
    for shape in itertools.chain(*proposal.shapes):
        assert low <= shape <= 1.0


def test_the_largest_bound_of_all_shapes_within_the_limits():
    proposal = AdaptiveImportance(TARGET, Adaptation())
    assert proposal.largest_weight_bound == pytest.approx(1 / (0.1 + 0.9 * 0.5**3), rel=1e-12)
    assert AdaptiveImportance(
        TARGET, Adaptation(shapes=None)
    ).largest_weight_bound == pytest.approx(10.0, rel=1e-12)


@pytest.mark.parametrize(
    'start, bound',
    [
        (0.3, 1 / (0.1 + 0.9 * 0.3**3)),  # lower than any fit: the first cases decide
        (0.8, 1 / (0.1 + 0.9 * 0.5**3)),
        (1.0, 1 / (0.1 + 0.9 * 0.5**3)),
        (1.5, 10.0),  # a Beta density with a shape above 1 is 0 at an end
    ],
)
def test_the_largest_bound_holds_for_the_shapes_it_starts_with(start, bound):
    proposal = AdaptiveImportance(TARGET, Adaptation(start=start))
    assert proposal.largest_weight_bound == pytest.approx(bound, rel=1e-12)
    assert proposal.weight_bound <= proposal.largest_weight_bound


@given(st.floats(0.05, 1), st.floats(0.05, 1))
def test_a_beta_density_with_shapes_up_to_1_is_nowhere_below_the_smaller(a, b):
    assert math.exp(-log_largest_ratio(Uniform(), Beta(a, b))) >= min(a, b) * (1 - 1e-12)


@pytest.mark.parametrize(('declared', 'proven'), [(2.0, False), (5.0, True)])
def test_a_declared_bound_stands_in_place_of_the_computed_one(declared, proven):
    proposal = AdaptiveImportance(TARGET, Adaptation(batch=5), declared)
    assert proposal.proven is proven
    for index in range(10):
        draw = proposal.draw(index, 1)
        assert draw.weight_bound == proposal.largest_weight_bound == declared
        proposal.tell(draw.x, psi_of(draw.x), draw.weight)


# The fits ----------------------------------------------------------------------------------------


def sample(n=20_000, seed=53):
    return np.random.default_rng(seed).random((n, 1))


@pytest.mark.parametrize(
    ('fit', 'expected'), [('moments', (2.0, 1.0)), ('mle', (2.0, 1.0)), ('unweighted', (1.0, 1.0))]
)
def test_moments_and_likelihood_follow_psi_and_the_unweighted_fit_follows_the_cases(fit, expected):
    """Cases are uniform and psi(u) = u: q* ~ psi p is Beta(2, 1)."""
    u = sample()
    fitted = fit_betas(u, u[:, 0], np.ones(len(u)), fit, None)
    assert fitted[0] == pytest.approx(expected, rel=0.04)


@pytest.mark.parametrize('fit', ['moments', 'mle'])
def test_weights_undo_the_proposal_that_drew_the_cases(fit):
    """Cases of Beta(0.6, 1) with their weights: q* ~ psi p = Beta(2, 1) all the same."""
    u = sample() ** (1 / 0.6)
    weights = 1 / (0.6 * u[:, 0] ** -0.4)
    fitted = fit_betas(u, u[:, 0], weights, fit, None)
    assert fitted[0] == pytest.approx((2.0, 1.0), rel=0.05)


def test_moments_correct_the_variance_for_the_effective_size():
    u = np.array([[0.1], [0.4], [0.8]])
    psi, weights = np.array([0.4, 0.5, 0.9]), np.array([1.0, 0.7, 0.5])
    om = psi * weights
    size = om.sum() ** 2 / np.sum(om**2)
    mean = np.sum(om * u[:, 0]) / om.sum()
    variance = np.sum(om * (u[:, 0] - mean) ** 2) / om.sum() * size / (size - 1)
    t = mean * (1 - mean) / variance - 1
    assert fit_betas(u, psi, weights, 'moments', None)[0] == pytest.approx(
        (mean * t, (1 - mean) * t), rel=1e-12
    )
    assert effective_size(om) == pytest.approx(size, rel=1e-12)


@pytest.mark.parametrize('fit', ['moments', 'mle'])
@pytest.mark.parametrize(
    ('u', 'outcomes'),
    [
        ([[0.2], [0.7]], [0.0, 0.0]),  # nothing but zeros
        ([[0.2], [0.7]], [1.0, 0.0]),  # one that counts
        ([[0.2], [0.7]], [1.0, 0.1]),  # an effective size below 2
        ([[0.2], [0.7]], [-1.0, -2.0]),
    ],
)
def test_what_says_nothing_gives_no_fit(fit, u, outcomes):
    assert fit_betas(u, outcomes, [1.0, 1.0], fit) is None


@pytest.mark.parametrize('fit', ['moments', 'mle', 'unweighted'])
@pytest.mark.parametrize('u', [[[0.0], [1.0], [0.0], [1.0]], [[0.0], [0.0], [0.0], [1e-3]]])
def test_cases_at_the_ends_give_shapes_within_the_limits_or_none(fit, u):
    fitted = fit_betas(u, [1.0] * 4, [1.0] * 4, fit)
    if fitted is not None:
        assert all(0.5 <= shape <= 1.0 for shape in fitted[0])


def test_equal_cases_give_no_moments():
    assert fit_betas([[0.3]] * 5, [1.0] * 5, [1.0] * 5, 'moments') is None


# What it is for ----------------------------------------------------------------------------------


def test_it_needs_less_spread_than_monte_carlo():
    """The variance of z = psi w falls below that of psi, and the mean stays."""
    rng = np.random.default_rng(54)
    plain = [psi_of(TARGET.sample(rng)) for _ in range(4000)]
    _, told = history(1500, adaptation=Adaptation(batch=30))
    z = [psi * weight for _, psi, weight in told[300:]]
    assert np.var(z) < 0.8 * np.var(plain)
    error = math.sqrt(np.var(z) / len(z) + np.var(plain) / len(plain))
    assert np.mean(z) == pytest.approx(np.mean(plain), abs=3.5 * error)
