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

"""The baselines of the paper as rules of their own: what each promises, and that it holds."""

import math

import numpy as np
import pytest
from scipy.stats import t as student

from repsq_ros.campaign.campaign import Campaign
from repsq_ros.campaign.records import TestRecord
from repsq_ros.errors import SpecificationError
from repsq_ros.estimation.accumulator import Accumulator
from repsq_ros.estimation.alpha import query_alpha
from repsq_ros.estimation.divergence_sized import DivergenceSized
from repsq_ros.estimation.iso_cycles import IsoCycles
from repsq_ros.estimation.partition import Partition
from repsq_ros.estimation.reproducible_query import ReproducibleQuery
from repsq_ros.estimation.stopping import Bounds, Question
from repsq_ros.sampling.box import Box, Dimension
from repsq_ros.sampling.distributions import Product, uniform
from repsq_ros.sampling.divergence import divergence
from repsq_ros.sampling.marginals import Beta
from repsq_ros.specification.load import load
from repsq_ros.studies.expected_promise import expected_promise

C, BETA, GAMMA = 0.01, 0.1, 0.04
UNIT = Bounds(0.0, 1.0)
PAPER_BETAS = {
    'type': 'beta', 'linear_x': {'a': 0.83, 'b': 0.79}, 'linear_y': {'a': 0.73, 'b': 0.75},
    'angular_z': {'a': 0.77, 'b': 0.76},
}  # fmt: skip


def feed(progress, values, bounds=UNIT):
    total = Accumulator()
    for z in values:
        total.add(float(z))
        progress.add(total, float(z), bounds)
        if progress.reached:
            break
    return total


# Impagliazzo et al. ------------------------------------------------------------------------------


def test_the_query_is_that_of_impagliazzo_et_al():
    """Tau' = tau (rho - 2 delta) / (rho + 1 - 2 delta), alpha = 2 tau / (rho + 1 - 2 delta)."""
    rule = ReproducibleQuery(BETA)
    near = rule.reach(GAMMA, C)
    assert near == pytest.approx(GAMMA * 0.08 / 1.08, rel=1e-12)
    alpha = query_alpha(GAMMA, C, BETA)
    assert alpha == pytest.approx(2 * GAMMA / 1.08, rel=1e-12)
    assert near + alpha / 2 == pytest.approx(GAMMA, rel=1e-12)
    # An edge lies between two accurate runs with probability 2 near / alpha; either may miss.
    assert 2 * near / alpha + 2 * C == pytest.approx(BETA, rel=1e-12)
    total = feed(rule.begin(Question(0.3, C, UNIT)), [0.5] * 20_000)
    assert total.n == math.ceil(math.log(2 / C) / (2 * rule.reach(0.3, C) ** 2))


def test_more_runs_that_shall_agree_come_nearer():
    assert ReproducibleQuery(BETA, 3).reach(GAMMA, C) == pytest.approx(GAMMA * 0.07 / 1.07)
    assert query_alpha(GAMMA, C, BETA, 3) == pytest.approx(2 * GAMMA / 1.07)
    with pytest.raises(ValueError, match=r'beta = 0\.1 is not above 2 c = 0.1'):
        ReproducibleQuery(0.1).reach(GAMMA, 0.05)
    with pytest.raises(ValueError, match='not above 2 c'):
        query_alpha(GAMMA, 0.05, 0.1)


def test_the_query_agrees_as_it_promises_over_random_offsets():
    """Runs as far apart as they may be: at r* +- near with equal probability."""
    random, pairs = np.random.default_rng(1), 4000
    alpha, near = query_alpha(0.1, C, BETA), ReproducibleQuery(BETA).reach(0.1, C)
    same = 0
    for _ in range(pairs):
        cells = Partition.almost_uniform(0.0, 1.0, alpha, alpha * (1.0 - random.random()))
        # One lab always low, the other always high: the worst that accuracy allows.
        low, high = cells.quantize(0.5 - near), cells.quantize(0.5 + near)
        same += low.cell == high.cell
        assert abs(low.value - 0.5) <= 0.1 + 1e-12
    expected = 1 - (BETA - 2 * C)
    assert same / pairs == pytest.approx(expected, abs=4 * math.sqrt(0.08 * 0.92 / pairs))


def query_content(content):
    content['accuracy'].update(gamma=0.3, c=C, beta=BETA)
    content['partition'] = {'alpha': 'query', 'offset_seed': 3}
    content['tester'].update(stopping={'rule': 'reproducible_query'}, max_tests=10_000)
    return content


def test_a_specification_with_the_query_promises_accuracy_and_agreement(content, write):
    said = expected_promise(load(write(query_content(content))))
    assert said.accurate
    assert said.agreed
    assert 'With probability 0.99 the true mean is within 0.3 of this result' in said.guarantee
    assert 'With probability 0.9 at least two runs of any algorithms' in said.agreement


def test_a_campaign_by_the_query_ends_where_it_says(content, write):
    specification = load(write(query_content(content)))
    campaign, index = Campaign(specification, forecasts=False), 0
    while not campaign.stopped:
        campaign.add(TestRecord(index, 0, float(index % 2), 1.0, True))
        index += 1
    result = campaign.result('one')
    near = 0.3 * 0.08 / 1.08
    assert result.n == math.ceil(math.log(2 / C) / (2 * near**2))
    assert near - 1e-4 < result.half_width <= near
    assert result.accurate
    assert abs(result.value - 0.5) <= 0.3
    assert result.agreement.startswith('With probability 0.9 at least two runs')


@pytest.mark.parametrize(
    ('rule', 'gamma', 'agreed'),
    [('anytime', 0.3, False), ('anytime', 0.0222, True), ('anytime', 0.0223, False),
     ('reproducible_query', 0.3, True)],
)  # fmt: skip
def test_cells_of_the_query_suppose_runs_that_are_near_enough(content, write, rule, gamma, agreed):
    query_content(content)['tester'].update(gamma=gamma, stopping={'rule': rule})
    said = expected_promise(load(write(content)))
    assert said.agreed is agreed
    assert agreed or 'supposes runs within 0.02222 of the true mean' in said.agreement


def test_a_query_without_room_between_beta_and_c_is_refused(content, write):
    content['tester']['stopping'] = {'rule': 'reproducible_query'}
    with pytest.raises(SpecificationError, match=r'stopping\.rule.*beta = 0.1 is not above 2 c'):
        load(write(content))
    query_content(content)['accuracy'].update(c=0.05, beta=0.099)
    with pytest.raises(SpecificationError, match=r'partition\.alpha'):
        load(write(content))


# Capito et al. -----------------------------------------------------------------------------------


def box():
    return Box(tuple(Dimension(name, '1', 0.0, 1.0) for name in 'xy'))


def test_the_divergence_is_that_of_two_betas():
    """KL(uniform || Beta(2, 2)) = -E ln(6 u (1-u)) = 2 - ln 6, once for each dimension."""
    p = uniform(box())
    found = divergence(p, Product(box(), (Beta(2.0, 2.0), Beta(2.0, 2.0))))
    assert found.log_ratios.mean() == pytest.approx(2 * (2 - math.log(6)), abs=4 * found.error)
    assert found.upper > found.log_ratios.mean()
    assert divergence(p, p).upper == 0.0


def test_the_tail_is_above_what_it_bounds():
    p, q = uniform(box()), Product(box(), (Beta(2.0, 2.0), Beta(1.0, 1.0)))
    # ln p/q > 1, where 6 u (1-u) < 1/e: u within 0.0656 of an end.
    level = 1.0
    share = 1.0 - math.sqrt(1.0 - 4.0 / (6.0 * math.e))
    assert share < divergence(p, q).tail(level) < share + 0.02
    assert 0.0 < divergence(p, q).tail(50.0) < 1e-3


def test_the_number_of_tests_and_the_interval_follow_the_theorem():
    rule = DivergenceSized(divergence=0.5, margin=5.0, tail=0.01, largest_psi=2.0)
    assert rule.tests == math.ceil(math.exp(5.5))
    error = 2.0 * (math.exp(-1.25) + 2 * 0.1)
    assert rule.mean_error == pytest.approx(error, rel=1e-12)
    progress = rule.begin(Question(0.1, 0.2, UNIT))
    total = feed(progress, [0.5] * 400)
    assert total.n == rule.tests
    assert progress.upper - 0.5 == pytest.approx(error / 0.2)
    assert rule.half_width(rule.tests - 1, 0.0, 1.0, 0.2) == math.inf


def test_the_mean_error_stays_below_the_bound_of_the_theorem():
    p, q = uniform(box()), Product(box(), (Beta(2.0, 2.0), Beta(2.0, 2.0)))
    far = divergence(p, q)
    rule = DivergenceSized(far.upper, 3.0, far.tail(far.upper + 1.5), 1.0)
    random = np.random.default_rng(2)
    u = random.beta(2.0, 2.0, (2000, rule.tests, 2))
    z = u[:, :, 0] / np.prod(6.0 * u * (1.0 - u), axis=2)
    assert np.mean(np.abs(z.mean(axis=1) - 0.5)) < rule.mean_error


def test_a_specification_sizes_its_tests_by_the_divergence(content, write):
    content['tester'].update(
        proposal={'type': 'importance', 'distribution': PAPER_BETAS},
        stopping={'rule': 'divergence_sized', 'margin': 5.0},
    )
    rule = load(write(content)).tester.stopping
    assert 0.05 < rule.divergence < 0.2
    assert rule.tail == 0.0  # ln 1.637 is below L + 2.5
    assert rule.tests == math.ceil(math.exp(rule.divergence + 5.0))
    assert not expected_promise(load(write(content))).accurate
    content['tester'].update(proposal='monte_carlo')
    assert load(write(content)).tester.stopping.tests == math.ceil(math.exp(5.0))


@pytest.mark.parametrize(
    ('proposal', 'stopping', 'told'),
    [
        ('monte_carlo', {}, 'stopping.margin: found nothing'),
        ('monte_carlo', {'margin': -1.0}, 'stopping.margin: found -1'),
        ('monte_carlo', {'margin': 9.0}, 'stopping.margin: found 8104 tests'),
        ('monte_carlo', {'margin': 50.0}, r'stopping.margin: found 50.0: exp\(50\) tests'),
        ({'type': 'adaptive'}, {'margin': 1.0}, 'stopping.rule: found text'),
        ({'type': 'monte_carlo', 'sequence': 'sobol'}, {'margin': 1.0}, 'stopping.rule'),
    ],
)  # fmt: skip
def test_tests_that_cannot_be_sized_so_are_told(content, write, proposal, stopping, told):
    content['tester'].update(
        proposal=proposal, stopping={'rule': 'divergence_sized', **stopping}, max_tests=5000
    )
    with pytest.raises(SpecificationError, match=told):
        load(write(content))


def test_it_takes_no_part_in_first_of(content, write):
    rules = [{'rule': 'anytime'}, {'rule': 'divergence_sized', 'margin': 1.0}]
    content['tester']['stopping'] = {'rule': 'first_of', 'rules': rules}
    with pytest.raises(SpecificationError, match='divergence_sized'):
        load(write(content))


# ISO 9283 ----------------------------------------------------------------------------------------


def test_iso9283_makes_thirty_cycles_and_promises_nothing(content, write):
    content['tester']['stopping'] = {'rule': 'iso9283'}
    specification = load(write(content))
    said = expected_promise(specification)
    assert specification.tester.stopping.cycles == 30
    assert not said.accurate
    assert said.guarantee.startswith('Nothing: ISO 9283 asks for a number of cycles')


def test_the_half_width_of_the_cycles_is_students():
    z = np.random.default_rng(3).random(50)
    progress = IsoCycles(20).begin(Question(1e-9, 0.05, UNIT))
    total = feed(progress, z)
    assert total.n == 20
    expected = student.ppf(0.975, 19) * np.std(z[:20], ddof=1) / math.sqrt(20)
    assert progress.upper - total.mean == pytest.approx(expected, rel=1e-9)
    assert IsoCycles().half_width(1, 0.0, 1.0, 0.05) == math.inf


def test_more_cycles_than_the_budget_are_refused(content, write):
    content['tester'].update(stopping={'rule': 'iso9283', 'cycles': 31}, max_tests=30)
    with pytest.raises(SpecificationError, match=r'stopping\.cycles: found 31 tests'):
        load(write(content))
