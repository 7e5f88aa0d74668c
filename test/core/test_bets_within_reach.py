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

"""Bets that aim at what can be reached, and the middle of the interval as the estimate.

Each claim of validity is a binomial test at c .05: runs in which r* ever left the interval. With
REPSQ_FAR=1 there are 1500 runs of each law.
"""

import os

import numpy as np
import pytest
from conftest import paper_settings
from scipy import stats

from repsq_ros.campaign.campaign import Campaign
from repsq_ros.campaign.records import TestRecord
from repsq_ros.errors import SpecificationError
from repsq_ros.estimation.accumulator import Accumulator
from repsq_ros.estimation.anytime import Anytime, AnytimeBatch
from repsq_ros.estimation.betting import Bet
from repsq_ros.estimation.moments import FixedN
from repsq_ros.estimation.stopping import Bounds, Question, Validity
from repsq_ros.specification.load import load
from repsq_ros.studies.laws import read_law

UNIT = Bounds(0.0, 1.0)
C = 0.05
RUNS = 1500 if os.environ.get('REPSQ_FAR') else 300
LAWS = ['bernoulli:0.5', 'bernoulli:0.05', 'beta:0.47,0.28', 'beta:0.14,0.077']


def follow(law_text, question, rule, tests, runs=RUNS):
    """Return, for each run, whether r* ever left the interval, and the last half-width."""
    law, random = read_law(law_text, 0.0, 1.0), np.random.default_rng(4)
    batch, missed = AnytimeBatch(question, runs, rule), np.zeros(runs, dtype=bool)
    for _ in range(tests):
        batch.add(law.many(random, runs))
        missed |= (batch.lower > law.mean) | (batch.upper < law.mean)
    return missed, np.maximum(batch.upper - batch.mean, batch.mean - batch.lower)


def rejects(missed):
    """Tell whether so many misses reject a probability of c at most."""
    return stats.binomtest(int(missed.sum()), missed.size, C, 'greater').pvalue < 1e-3


@pytest.mark.parametrize('law', LAWS)
@pytest.mark.parametrize('tests', [20, 60])
def test_within_a_tight_budget_the_interval_is_narrower_and_still_holds(law, tests):
    question = Question(0.04, C, UNIT, (), tests)
    missed, narrow = follow(law, question, Anytime(reachable=True), tests)
    _, wide = follow(law, question, Anytime(), tests, 100)
    assert not rejects(missed)
    ratio = narrow.mean() / wide.mean()
    assert ratio < (0.95 if law in LAWS[1::2] else 0.7)


def test_the_stake_is_that_of_the_half_width_in_reach():
    bet = Bet(0.04, 0.0, 1.0, 0.0, 2.0 * np.log(2.0 / C) / 60)
    aim = np.sqrt(2.0 * 0.25 * np.log(2.0 / C) / 60)
    assert bet.stake == pytest.approx(aim / (0.25 + aim**2))
    assert Bet(0.3, 0.0, 1.0, 0.0, 1e-9).stake == Bet(0.3, 0.0, 1.0, 0.0).stake, 'gamma is coarser'


@pytest.mark.parametrize(('law', 'gamma', 'share'), [(LAWS[3], 0.02, 0.86), (LAWS[2], 0.06, 0.97)])
def test_with_the_middle_fewer_tests_reach_the_same_gamma(law, gamma, share):
    found = {}
    for middle in (False, True):
        random, batch = (
            np.random.default_rng(6),
            AnytimeBatch(Question(gamma, C, UNIT), 100, Anytime(middle=middle)),
        )
        ends, truth = [], read_law(law, 0.0, 1.0)
        while batch.mean.size:
            batch.add(truth.many(random, batch.mean.size))
            stop = batch.reached | batch.void
            if middle:
                away = (batch.lower + batch.upper)[stop] / 2.0 - truth.mean
                ends += [(batch.n, abs(each) > gamma) for each in away]
            else:
                ends += [(batch.n, False)] * int(stop.sum())
            batch.keep(~stop)
        found[middle] = np.array(ends, dtype=float)
    assert found[True][:, 0].mean() < share * found[False][:, 0].mean()
    assert not rejects(found[True][:, 1])


def records(psi):
    return [TestRecord(index, 0, float(each), 1.0, True) for index, each in enumerate(psi)]


def count(specification, psi):
    campaign = Campaign(specification)
    for record in records(psi):
        campaign.add(record)
    return campaign.result('lab')


def test_the_result_of_the_middle_is_the_middle(content, write):
    content['partition'] = {'type': 'anchored'}
    content['tester']['stopping'] = {'rule': 'anytime', 'estimate': 'middle'}
    psi = np.random.default_rng(1).beta(2.0, 9.0, 2000)
    result = count(load(write(content)), psi)
    assert result.estimate == result.value == (result.lower + result.upper) / 2.0
    assert result.half_width == pytest.approx((result.upper - result.lower) / 2.0)
    assert result.accurate and result.half_width <= 0.04
    assert 'the middle of the interval' in result.guarantee


def test_cells_that_are_fixed_take_no_middle(content, write):
    content['tester']['stopping'] = {'rule': 'anytime', 'estimate': 'middle'}
    with pytest.raises(SpecificationError, match=r"estimate.*'middle' beside partition type"):
        load(write(content))


def test_a_fixed_number_of_tests_gives_the_betting_interval(content, write):
    psi = np.random.default_rng(2).beta(2.0, 3.0, 40)
    found = {}
    for interval in ('empirical_bernstein', 'betting'):
        content['tester']['stopping'] = {'rule': 'fixed', 'tests': 40, 'interval': interval}
        found[interval] = count(load(write(content)), psi)
    assert found['betting'].n == found['empirical_bernstein'].n == 40
    assert found['betting'].half_width < 0.55 * found['empirical_bernstein'].half_width
    assert FixedN(40, betting=True).validity is Validity.ANY_N


def test_the_betting_interval_of_a_fixed_number_holds():
    random, missed = np.random.default_rng(8), []
    for _ in range(RUNS // 3):
        progress, total = FixedN(30, betting=True).begin(Question(0.04, C, UNIT)), Accumulator()
        for z in (random.random(30) < 0.3).astype(float).tolist():
            total.add(z)
            progress.add(total, z, UNIT)
        assert progress.reached
        missed.append(not progress.lower <= 0.3 <= progress.upper)
    assert not rejects(np.array(missed))


def test_a_share_of_the_capital_bets_with_the_control_variate(write):
    content = paper_settings()
    content['accuracy']['gamma'] = 0.05
    content['tester'].update(stopping={'rule': 'anytime'}, seed=1)
    found = {}
    for share in (0.5, 0.9):
        content['tester']['control'] = {'type': 'regression', 'share': share}
        specification = load(write(content))
        proposal, campaign, index = specification.make_proposal(), Campaign(specification), 0
        while not campaign.stopped:
            x = proposal.draw(index, 1).x
            away = sum(u * u for u in (2.0 * u - 1.0 for u in specification.box.to_unit(x)))
            campaign.add(TestRecord(index, 0, away / 3.0, 1.0, True, x=x))
            index += 1
        found[share] = campaign.result('lab')
    assert found[0.9].n < found[0.5].n
    assert '0.9 of the capital' in found[0.9].guarantee


@pytest.mark.parametrize('law', LAWS)
def test_bets_that_aim_earlier_are_narrower_on_the_way_and_still_hold(law):
    question = Question(0.01, C, UNIT, (), 60)
    missed, _ = follow(law, question, Anytime(reachable=2.0), 60)
    assert not rejects(missed)
    (_, early), (_, usual) = (
        follow(law, question, Anytime(reachable=factor), 30, 100) for factor in (2.0, 1.0)
    )
    ratio = early.mean() / usual.mean()
    assert ratio < (1.01 if law in LAWS[1::2] else 0.95)


# Bets that start from what is known --------------------------------------------------------------


@pytest.mark.parametrize('law', LAWS)
@pytest.mark.parametrize('expected', [(0.9, 0.02), (0.05, 0.0), (0.5, 0.5)])
def test_a_wrong_expectation_costs_no_validity(law, expected):
    rule = Anytime(expected_mean=expected[0], expected_sd=expected[1], expected_worth=20.0)
    missed, _ = follow(law, Question(0.04, C, UNIT), rule, 100)
    assert not rejects(missed)


def test_a_right_expectation_halves_the_interval_of_ten_tests():
    widths = [
        follow('beta:0.2,0.1', Question(0.04, C, UNIT), rule, 10, 100)[1].mean()
        for rule in (Anytime(), Anytime(expected_mean=0.2, expected_sd=0.1))
    ]
    assert widths[1] < 0.5 * widths[0]


def test_an_expectation_is_forgotten_as_tests_come():
    bet = Bet(0.05, 0.0, 1.0, 0.0, 0.0, (0.8, 0.04, 4.0))
    assert (bet.mean, bet.variance) == pytest.approx((0.8, 0.04))
    bet.learn(0.3)
    assert bet.mean == pytest.approx((4 * 0.8 + 0.3) / 5)
    assert bet.variance == pytest.approx((4 * 0.04 + (0.3 - 0.7) ** 2) / 5)
    for _ in range(4000):
        bet.learn(0.3)
    assert (bet.mean, bet.variance) == pytest.approx((0.3, 0.0), abs=1e-2)


def test_a_campaign_bets_as_its_specification_expects(write):
    content = paper_settings()
    content['tester'].update(
        stopping={'rule': 'anytime', 'expected_mean': 0.3, 'expected_sd': 0.1}, max_tests=12
    )
    specification = load(write(content))
    content['tester']['stopping'] = {'rule': 'anytime'}
    without = load(write(content))
    assert specification.digest == without.digest
    psi, batch = np.random.default_rng(8).beta(6, 14, 12), None
    ends = []
    for each in (specification, without):
        campaign = Campaign(each, forecasts=False)
        question, rule = campaign.question, each.tester.stopping
        batch = AnytimeBatch(question, 1, rule)
        for index, value in enumerate(psi.tolist()):
            estimate = campaign.add(TestRecord(index, 0, value, 1.0, True))
            batch.add(np.array([value]))
        assert (estimate.lower, estimate.upper) == (batch.lower[0], batch.upper[0])
        ends.append(estimate.upper - estimate.lower)
    assert ends[0] < 0.7 * ends[1]


@pytest.mark.parametrize('key', ['expected_mean', 'expected_sd'])
def test_a_mean_is_expected_with_its_spread(write, key):
    content = paper_settings()
    content['tester'].update(stopping={'rule': 'anytime', key: 0.1})
    with pytest.raises(SpecificationError, match='mean and sd stand together'):
        load(write(content))
