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

"""Proposals: weights that integrate to 1, under a bound that holds, by index and seed alone."""

import math

import numpy as np
import pytest
from scipy import integrate, stats

from repsq_ros.errors import CampaignError, SpecificationError
from repsq_ros.sampling.adaptive import Adaptation, AdaptiveImportance
from repsq_ros.sampling.box import Box, Dimension
from repsq_ros.sampling.distributions import Cases, Mixture, Product, uniform
from repsq_ros.sampling.external import External, external_draw
from repsq_ros.sampling.marginals import Beta, TruncatedNormal, Uniform
from repsq_ros.sampling.proposals import (
    Dependence,
    Draw,
    Importance,
    MonteCarlo,
    SobolMonteCarlo,
)
from repsq_ros.specification.load import load

LINE = Box((Dimension('a', 'm/s', -0.3, 0.3),))
CUBE = Box(tuple(Dimension(name, 'm/s', -0.3, 0.3) for name in 'abc'))
GRID = tuple((x,) for x in (-0.2, -0.1, 0.0, 0.1, 0.2))


def learnt(target, shapes=(0.5, 1.0)):
    """An adaptive proposal after some batches that drew it to one side."""
    proposal = AdaptiveImportance(target, Adaptation(batch=20, rate=0.5, shapes=shapes))
    for index in range(100):
        draw = proposal.draw(index, 41)
        proposal.tell(draw.x, target.box.to_unit(draw.x)[0] ** 3, draw.weight)
    assert proposal.shapes[0][0] > proposal.shapes[0][1]
    return proposal


def product(box, *marginals):
    return Product(box, marginals)


PROPOSALS = {
    'importance by Betas': lambda: Importance(
        uniform(CUBE), product(CUBE, Beta(0.83, 0.79), Beta(0.73, 0.75), Beta(0.77, 0.76))
    ),
    'importance by a mixture': lambda: Importance(
        uniform(CUBE),
        Mixture((uniform(CUBE), product(CUBE, *[Beta(2.0, 3.0)] * 3)), (0.2, 0.8)),
    ),
    'importance by truncated normals': lambda: Importance(
        uniform(CUBE), product(CUBE, *[TruncatedNormal(0.6, 0.7)] * 3)
    ),
    'importance for a target that is not uniform': lambda: Importance(
        product(CUBE, TruncatedNormal(0.5, 0.3), Uniform(), Beta(2.0, 2.0)),
        product(CUBE, Beta(1.0, 0.8), Beta(0.9, 0.9), Beta(1.5, 1.5)),
    ),
    'importance on cases': lambda: Importance(
        Cases(LINE, GRID, (1.0,) * 5), Cases(LINE, GRID, (5.0, 1.0, 2.0, 1.0, 5.0))
    ),
    'adaptive after some batches': lambda: learnt(uniform(CUBE)),
    'adaptive for a target that is not uniform': lambda: learnt(
        product(CUBE, Beta(2.0, 2.0), Uniform(), TruncatedNormal(0.5, 0.5)), (0.5, 3.0)
    ),
    'monte carlo': lambda: MonteCarlo(uniform(CUBE)),
    'sobol': lambda: SobolMonteCarlo(uniform(CUBE)),
}


@pytest.mark.parametrize('name', PROPOSALS)
def test_weights_average_to_one_and_stay_within_their_bound(name):
    proposal = PROPOSALS[name]()
    draws = [proposal.draw(index, 42) for index in range(2000)]
    weights = np.array([draw.weight for draw in draws])
    error = 3.3 * weights.std() / math.sqrt(len(weights))
    assert weights.mean() == pytest.approx(1.0, abs=error + 1e-12)
    for draw in draws:
        assert 0.0 < draw.weight <= draw.weight_bound * (1 + 1e-12)
    assert draws[0].weight_bound == proposal.weight_bound <= proposal.largest_weight_bound
    assert proposal.proven


@pytest.mark.parametrize('name', PROPOSALS)
def test_weighted_cases_have_the_mean_of_the_target(name):
    """E_q[w f(x)] = E_p[f(x)], here for f = u and f = (u > 0.8)."""
    proposal = PROPOSALS[name]()
    target = proposal._target
    rng = np.random.default_rng(43)
    box, draws = target.box, [proposal.draw(index, 44) for index in range(2000)]
    for f in (lambda u: u, lambda u: float(u > 0.8)):
        plain = [f(box.to_unit(target.sample(rng))[0]) for _ in range(4000)]
        weighted = [draw.weight * f(box.to_unit(draw.x)[0]) for draw in draws]
        error = math.sqrt(np.var(plain) / 4000 + np.var(weighted) / 2000)
        assert np.mean(weighted) == pytest.approx(np.mean(plain), abs=3.5 * error)


@pytest.mark.parametrize(
    ('p', 'q'),
    [
        (uniform(LINE), product(LINE, Beta(0.6, 0.7))),
        (product(LINE, Beta(2.0, 1.5)), product(LINE, Beta(0.8, 0.9))),
        (product(LINE, TruncatedNormal(0.2, 0.4)), product(LINE, TruncatedNormal(0.4, 0.8))),
        (uniform(LINE), Mixture((uniform(LINE), product(LINE, Beta(0.5, 3.0))), (0.1, 0.9))),
        (uniform(LINE), learnt(uniform(LINE))._proposal),
    ],
)
def test_in_one_dimension_the_weights_integrate_to_one(p, q):
    """Integral of q w, and of q alone, over the box; and w is nowhere above its bound."""
    tame, bound = stats.beta(0.4, 0.4, -0.3, 0.6), Importance(p, q).weight_bound

    def integrand(density):
        def under_tame(v):
            x = tame.ppf(v)
            return math.exp(density((x,)) - tame.logpdf(x)) if -0.3 < x < 0.3 else 0.0

        return under_tame

    def q_times_w(x):
        weight = math.exp(p.logpdf(x) - q.logpdf(x))
        assert weight <= bound * (1 + 1e-9)
        return q.logpdf(x) + math.log(weight)

    for density in (q.logpdf, q_times_w):
        total, _ = integrate.quad(integrand(density), 0, 1, limit=200)
        assert total == pytest.approx(1.0, abs=1e-4)


# Bounds ------------------------------------------------------------------------------------------


def test_a_declared_bound_is_proven_where_the_weights_cannot_exceed_it():
    target, q = uniform(LINE), product(LINE, Beta(0.83, 0.79))
    provable = Importance(target, q).weight_bound
    for factor, proven in ((1.0, True), (1.5, True), (0.99, False)):
        proposal = Importance(target, q, provable * factor)
        assert proposal.proven is proven
        assert proposal.weight_bound == proposal.largest_weight_bound == provable * factor
        assert proposal.draw(0, 1).weight_bound == provable * factor


def test_monte_carlo_needs_no_bound():
    proposal = MonteCarlo(uniform(LINE))
    assert (proposal.weight_bound, proposal.unweighted, proposal.proven) == (1.0, True, True)
    assert proposal.dependence is Dependence.INDEPENDENT


@pytest.mark.parametrize('name', PROPOSALS)
def test_a_case_depends_on_index_and_seed_alone(name):
    proposal, order = PROPOSALS[name](), [5, 3, 9, 0, 3, 8, 5]
    first = {index: proposal.draw(index, 7) for index in order}
    assert any(proposal.draw(index, 8) != draw for index, draw in first.items())
    again = PROPOSALS[name]()
    assert {index: again.draw(index, 7) for index in sorted(order)} == first


# Sobol -------------------------------------------------------------------------------------------


def test_sobol_points_do_not_depend_on_the_order_of_calls():
    straight = SobolMonteCarlo(uniform(CUBE))
    points = [straight.draw(index, 5).x for index in range(64)]
    assert len(set(points)) == 64
    jumping = SobolMonteCarlo(uniform(CUBE))
    for index in (63, 0, 1, 17, 16, 62, 62, 30, 2):
        assert jumping.draw(index, 5).x == points[index]
    assert jumping.draw(17, 6).x != points[17]
    assert jumping.draw(17, 5).x == points[17]


def test_sobol_points_fill_the_box_evenly():
    """Of the first 64 points one lies in each 1/64 of every dimension."""
    proposal = SobolMonteCarlo(uniform(CUBE))
    u = np.array([CUBE.to_unit(proposal.draw(index, 5).x) for index in range(64)])
    for column in u.T:
        assert sorted(np.floor(column * 64)) == list(range(64))
    assert proposal.dependence is Dependence.LOW_DISCREPANCY


@pytest.mark.parametrize(
    'target',
    [
        product(LINE, Beta(0.5, 2.0)),
        product(LINE, TruncatedNormal(0.2, 0.3)),
        Mixture((uniform(LINE), product(LINE, Beta(5.0, 1.0))), (0.4, 0.6)),
    ],
)
def test_sobol_points_follow_any_target(target):
    """Their mean is closer to that of many independent cases than theirs could be."""
    proposal, rng = SobolMonteCarlo(target), np.random.default_rng(45)
    mean = np.mean([proposal.draw(index, 6).x for index in range(512)])
    plain = [target.sample(rng)[0] for _ in range(8000)]
    assert mean == pytest.approx(np.mean(plain), abs=3.5 * np.std(plain) / math.sqrt(8000))


# Cases of another program ------------------------------------------------------------------------

TARGET = uniform(LINE)
LOG_P = TARGET.logpdf((0.0,))


def test_a_weight_or_a_density_makes_a_case():
    by_weight = external_draw(TARGET, (0.1,), 3.0, weight=2.0)
    by_density = external_draw(TARGET, (0.1,), 3.0, log_q=LOG_P - math.log(2.0))
    by_both = external_draw(TARGET, (0.1,), 3.0, weight=2.0, log_q=LOG_P - math.log(2.0))
    for draw in (by_weight, by_density, by_both):
        assert draw.weight == pytest.approx(2.0, rel=1e-12)
        assert (draw.x, draw.log_p, draw.weight_bound) == ((0.1,), LOG_P, 3.0)


@pytest.mark.parametrize(
    ('x', 'offered', 'told'),
    [
        ((0.31,), {'weight': 1.0}, 'outside the target'),
        ((math.nan,), {'weight': 1.0}, 'outside the target'),
        ((0.1, 0.1), {'weight': 1.0}, 'outside the target'),
        ((0.1,), {}, 'weight None'),
        ((0.1,), {'weight': 0.0}, 'weight 0.0, expected a finite number > 0'),
        ((0.1,), {'weight': -1.0}, 'weight -1.0'),
        ((0.1,), {'weight': math.nan}, 'weight nan'),
        ((0.1,), {'weight': math.inf}, 'weight inf'),
        ((0.1,), {'log_q': math.nan}, 'log_q nan'),
        ((0.1,), {'log_q': -math.inf}, 'log_q -inf'),
        ((0.1,), {'weight': 2.0, 'log_q': LOG_P}, 'weight 2.0, but p\\(x\\)/q\\(x\\) = 1.0'),
        ((0.1,), {'weight': math.nan, 'log_q': LOG_P}, 'weight nan, but'),
    ],
)
def test_a_case_that_contradicts_itself_is_refused(x, offered, told):
    with pytest.raises(ValueError, match=told):
        external_draw(TARGET, x, 3.0, **offered)


def test_a_case_outside_the_support_of_a_table_is_refused():
    with pytest.raises(ValueError, match='outside the target'):
        external_draw(Cases(LINE, GRID, (1.0,) * 5), (0.05,), 3.0, weight=1.0)


def test_cases_are_handed_out_by_index_once_they_are_offered():
    proposal = External(3.0, 'a topic')
    first, second = (external_draw(TARGET, (x,), 3.0, weight=1.0) for x in (0.1, 0.2))
    assert not proposal.ready(0)
    assert proposal.offer(1, second)
    assert not proposal.ready(0)
    assert proposal.offer(0, first)
    assert proposal.ready(0)
    assert (proposal.draw(0, 1), proposal.draw(1, 99)) == (first, second)
    assert proposal.offer(0, first)  # the same once more
    assert not proposal.offer(0, second)  # another one for the same index
    assert proposal.draw(0, 1) == first
    assert not proposal.proven


def test_the_end_of_a_table_is_told():
    proposal = External(3.0, 'cases.csv', (Draw((0.1,), 0.0, 0.0),))
    assert proposal.ready(0)
    assert proposal.ready(1)
    with pytest.raises(CampaignError, match=r'cases\.csv: found 1 cases, expected more'):
        proposal.draw(1, 1)


@pytest.fixture
def external(content):
    """A specification whose cases come from a table."""
    content['tester']['proposal'] = {
        'type': 'external',
        'file': 'cases.csv',
        'weight_bound': 2.0,
        'accept_unproven_bound': True,
    }
    return content


HEADER = 'linear_x,linear_y,angular_z,'
LOG_P3 = -3 * math.log(0.6)


def test_a_table_of_weighted_cases(external, write):
    file = write(external)
    (file.parent / 'cases.csv').write_text(
        f'{HEADER}weight,log_q\n0.1,0.2,0.0,1.25,{LOG_P3 - math.log(1.25)!r}\n'
        f'-0.3,0.3,0.0,0.5,{LOG_P3 - math.log(0.5)!r}\n'
    )
    proposal = load(file).make_proposal()
    assert proposal.draw(0, 1).x == (0.1, 0.2, 0.0)
    assert proposal.draw(0, 1).weight == pytest.approx(1.25, rel=1e-9)
    assert proposal.draw(1, 1).weight == pytest.approx(0.5, rel=1e-9)
    assert proposal.weight_bound == 2.0
    assert proposal.dependence is Dependence.ADAPTIVE


@pytest.mark.parametrize(
    ('text', 'told'),
    [
        ('', 'expected a column linear_x'),
        ('linear_x,linear_y\n0,0\n', 'expected a column angular_z'),
        (f'{HEADER}weight\n', 'no rows'),
        (f'{HEADER}weight\n0,0,0,1\n0,0,0.4,1\n', 'row 2'),
        (f'{HEADER}weight\n0,0,zero,1\n', "row 1, angular_z: found 'zero'"),
        (f'{HEADER}weight\n0,0\n', 'row 1, angular_z'),
        (f'{HEADER}weight\n0,0,0,\n', "row 1, weight: found ''"),
        (f'{HEADER}weight\n0,0,0,nan\n', 'row 1, weight'),
        (f'{HEADER}weight\n0,0,0,0\n', 'row 1: weight 0.0, expected a finite number > 0'),
        (f'{HEADER}weight\n0,0,0,-2\n', 'row 1: weight -2.0'),
        (f'{HEADER}log_q\n0,0,0,inf\n', 'row 1, log_q'),
        (f'{HEADER}weight,log_q\n0,0,0,1.5,{LOG_P3!r}\n', 'row 1: weight 1.5, but p(x)/q(x) = 1'),
        (f'{HEADER}other\n0,0,0,1\n', 'weight None'),
        (f'{HEADER}weight\n0,1,0,1,0,1,1\n', 'row 1'),  # commas for decimal points
        (f'{HEADER}weight\n0,0,0,1,7\n', 'row 1'),  # a column too many
    ],
)
def test_a_table_with_a_bad_row_is_told_with_the_row(text, told, external, write):
    file = write(external)
    (file.parent / 'cases.csv').write_text(text)
    with pytest.raises(SpecificationError) as error:
        load(file)
    assert 'cases.csv' in str(error.value)
    assert told in str(error.value)


def test_a_table_that_is_not_there_is_told(external, write):
    with pytest.raises(SpecificationError, match=r'cases\.csv: found no readable file'):
        load(write(external))
