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

"""Probabilities: exact intervals at a fixed number of tests; c split unequally beforehand."""

import math

import numpy as np
import pytest
from scipy import stats

from repsq_ros.campaign.campaign import Campaign
from repsq_ros.campaign.records import TestRecord
from repsq_ros.cli import main
from repsq_ros.errors import SpecificationError
from repsq_ros.estimation.accumulator import Accumulator
from repsq_ros.estimation.anytime import Anytime, AnytimeBatch
from repsq_ros.estimation.binomial import Binomial, tests_for
from repsq_ros.estimation.proportions import clopper_pearson
from repsq_ros.estimation.stopping import Bounds, Question
from repsq_ros.specification.load import load
from repsq_ros.studies.expected_promise import expected_promise

UNIT = Bounds(0.0, 1.0)
tests_for.__test__ = False

# Exact intervals ---------------------------------------------------------------------------------


@pytest.mark.parametrize(('successes', 'trials'), [(0, 9), (9, 9), (4, 9), (10, 201)])
def test_the_interval_is_that_of_scipy(successes, trials):
    exact = stats.binomtest(successes, trials).proportion_ci(0.95, 'exact')
    assert clopper_pearson(successes, trials, 0.025, 0.025) == pytest.approx(
        (exact.low, exact.high), abs=1e-10
    )
    with pytest.raises(ValueError, match='10 successes in 9'):
        clopper_pearson(10, 9, 0.025, 0.025)


@pytest.mark.parametrize('below', [0.5, 0.1, 0.9])
@pytest.mark.parametrize('p', [0.02, 0.3, 0.5, 0.97])
def test_each_end_misses_its_share_of_c_at_most(p, below):
    """Computed, not simulated: P(lower > p) and P(upper < p) over all numbers of successes."""
    rule, c = Binomial(80, below), 0.1
    chance = stats.binom.pmf(np.arange(81), 80, p)
    ends = [rule.interval(k, k, 80, c) for k in range(81)]
    missed_low = sum(q for q, (low, _) in zip(chance, ends, strict=True) if low > p)
    missed_high = sum(q for q, (_, high) in zip(chance, ends, strict=True) if high < p)
    assert missed_low <= c * below
    assert missed_high <= c * (1 - below)
    assert missed_low + missed_high > 0.02 * c


def test_how_many_tests_it_takes():
    """201 tests were told for p .05 and 623 for .5; empirical Bernstein takes 626 and 1725."""
    assert tests_for(0.04, 0.05, 0.05) == pytest.approx(201, rel=0.04)
    assert tests_for(0.04, 0.5, 0.05) == 623
    assert tests_for(0.04, 0.05, 0.05, 0.1) < 0.8 * tests_for(0.04, 0.05, 0.05)
    rule = Binomial(250)
    each = [rule.half_width(k, 0.05) for k in range(251)]
    assert rule.widest(0.05) == max(each) < 1.02 * each[125]


# In a campaign -----------------------------------------------------------------------------------


@pytest.fixture
def indicator(content):
    content['measure'] = {'type': 'indicator', 'above': 0.5, 'of': content['measure']}
    inner = content['measure']['of']
    for key in ('source', 'largest_gap'):
        if key in inner:
            content['measure'][key] = inner.pop(key)
    content['accuracy']['gamma'] = 0.1
    content['partition'] = {'alpha': 0.2}
    content['tester'].update(stopping={'rule': 'binomial', 'tests': 60}, proposal='monte_carlo')
    return content


def record(index, psi, **kw):
    return TestRecord(index, kw.pop('attempt', 0), psi, 1.0, kw.pop('valid', True), x=(0.0,) * 3,
                      weight_bound=1.0, **kw)  # fmt: skip


def test_a_campaign_makes_its_tests_and_says_what_holds(indicator, write):
    specification = load(write(indicator))
    campaign = Campaign(specification)
    for index in range(60):
        assert not campaign.stopped
        latest = campaign.add(record(index, float(index % 20 == 0)))
        assert latest.expected_n == 60
    assert campaign.stopped
    result = campaign.result('lab')
    exact = stats.binomtest(3, 60).proportion_ci(0.95, 'exact')
    assert (result.lower, result.upper) == pytest.approx((exact.low, exact.high), abs=1e-10)
    assert result.estimate == 0.05
    assert result.accurate
    assert 'exact one of Clopper and Pearson' in result.guarantee
    campaign = Campaign(specification)
    for index in range(60):
        campaign.add(record(index, float(index % 2)))
    result = campaign.result('lab')
    assert not result.accurate, 'half-width 0.13'
    assert 'That is not what was asked for' in result.guarantee


def test_lost_tests_count_as_either(indicator, write):
    campaign = Campaign(load(write(indicator)))
    for index in range(60):
        if index in (7, 8):
            campaign.add(record(index, math.nan, valid=False, reason='gap'))
            if index == 8:
                campaign.add(record(index, math.nan, valid=False, skipped=True, attempt=1))
                continue
        campaign.add(record(index, 0.0, attempt=int(index == 7)))
    assert campaign.stopped
    result = campaign.result('lab')
    assert result.n == 59
    assert result.lower == 0.0
    assert result.upper == pytest.approx(clopper_pearson(2, 60, 0.025, 0.025)[1])


def test_what_is_neither_0_nor_1_voids_it(indicator, write):
    campaign = Campaign(load(write(indicator)))
    campaign.add(record(0, 0.0))
    campaign.add(record(1, 0.5))
    assert campaign.stopped
    result = campaign.result('lab')
    assert (result.outcome, result.accurate) == ('void', False)
    assert any('neither 0 nor 1' in event for event in result.events)


def test_it_is_promised_beforehand_where_it_cannot_be_wider(indicator, write):
    assert not expected_promise(load(write(indicator))).accurate
    indicator['tester']['stopping']['tests'] = 130
    assert expected_promise(load(write(indicator))).accurate
    assert Binomial(130).widest(0.05) < 0.1 < Binomial(60).widest(0.05)


@pytest.mark.parametrize(
    ('change', 'told'),
    [
        ({'proposal': {'type': 'adaptive'}}, 'weighted values are no counts'),
        ({'stopping': {'rule': 'binomial', 'tests': 9000}}, 'at most max_tests'),
        ({'stopping': {'rule': 'binomial', 'tests': 60, 'c_below': 1.0}}, 'c_below: found 1.0'),
        ({'stopping': {'rule': 'anytime', 'c_below': 0}}, 'c_below: found'),
    ],
)
def test_what_cannot_be_is_refused(change, told, indicator, write):
    indicator['tester'].update(change)
    with pytest.raises(SpecificationError) as caught:
        load(write(indicator))
    assert told in str(caught.value)


def test_another_measure_has_no_counts(content, write):
    content['tester']['stopping'] = {'rule': 'binomial', 'tests': 60}
    with pytest.raises(SpecificationError, match='psi is no indicator'):
        load(write(content))


def test_a_plan_offers_it_for_indicators_alone(indicator, content, write, capsys):
    indicator['accuracy']['gamma'] = 0.1
    indicator['tester']['stopping'] = {'rule': 'anytime'}
    file = str(write(indicator))
    words = ['plan', file, '--sd', '0.2179', '--mean', '0.05']
    assert main(words) == 0
    line = next(x for x in capsys.readouterr().out.splitlines() if x.endswith('binomial'))
    assert int(line.split()[0]) == tests_for(0.1, 0.05, 0.05)
    assert main([*words, '--tests', '60']) == 0
    line = next(x for x in capsys.readouterr().out.splitlines() if x.endswith('binomial'))
    upper = stats.beta.ppf(0.975, 4, 57)  # Clopper and Pearson, 3 of 60
    assert float(line.split()[0]) == pytest.approx(upper - 0.05, abs=1e-4)


# c split unequally -------------------------------------------------------------------------------


@pytest.mark.parametrize('below', [0.1, 0.9])
def test_each_end_has_its_own_share(below, content, write):
    """The lower end is that of c' = 2 c share, the upper one that of c' = 2 c (1 - share)."""
    random, c = np.random.default_rng(2), 0.1
    progress = Anytime(below).begin(Question(0.03, c, UNIT))
    others = [Anytime().begin(Question(0.03, 2 * c * s, UNIT)) for s in (below, 1 - below)]
    many = AnytimeBatch(Question(0.03, c, UNIT), 1, Anytime(below))
    total = Accumulator()
    for z in random.beta(2, 5, 150).tolist():
        total.add(z)
        many.add(np.array([z]))
        for each in (progress, *others):
            each.add(total, z, UNIT)
    assert progress.lower == pytest.approx(others[0].lower, abs=1e-6)
    assert progress.upper == pytest.approx(others[1].upper, abs=1e-6)
    assert (many.lower[0], many.upper[0]) == (progress.lower, progress.upper)
    assert progress.lower > 0.1


def test_rare_events_take_fewer_tests_with_c_toward_the_upper_end():
    """Bernoulli .05: 261 instead of 293."""
    random, counts = np.random.default_rng(3), {}
    for below in (0.5, 0.1):
        many, ended = AnytimeBatch(Question(0.04, 0.05, UNIT), 150, Anytime(below)), []
        while many.mean.size:
            many.add((random.random(many.mean.size) < 0.05).astype(float))
            stop = many.reached | many.void
            ended += [many.n] * int(stop.sum())
            many.keep(~stop)
        counts[below] = np.mean(ended)
    assert counts[0.5] == pytest.approx(293, rel=0.06)
    assert counts[0.1] == pytest.approx(261, rel=0.06)


def test_the_result_says_how_c_was_split(content, write):
    content['tester']['stopping'] = {'rule': 'anytime', 'c_below': 0.1}
    told = expected_promise(load(write(content))).guarantee
    assert '0.1 of the probability of a miss is that of the lower end, as was declared' in told
    content['tester']['control'] = 'regression'
    assert '0.1 of the probability of a miss' in expected_promise(load(write(content))).guarantee
