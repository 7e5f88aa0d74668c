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

"""Lost tests: INVALID, broken off, skipped. What they can hide at worst, and who pays for it."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from repsq_ros.campaign.campaign import Campaign
from repsq_ros.campaign.records import TestRecord
from repsq_ros.estimation.accumulator import Accumulator
from repsq_ros.estimation.anytime import Anytime
from repsq_ros.estimation.certified_cell import CertifiedCell
from repsq_ros.estimation.moments import FixedN, Hoeffding
from repsq_ros.estimation.selection import Selection, could_be
from repsq_ros.estimation.stopping import Bounds, Question
from repsq_ros.specification.load import load

UNIT = Bounds(0.0, 1.0)
RUNS, C, MEAN = 30, 0.05, 0.3
MISSES = C * RUNS + 2.33 * math.sqrt(RUNS * C * (1 - C))  # more in 1 % of trials; 2 c is above it
WEIGHTED = {
    'type': 'importance',
    'distribution': {'type': 'mixture', 'components': [
        {'share': 0.5, 'type': 'uniform'},
        {'share': 0.5, 'type': 'beta', 'linear_x': {'a': 3, 'b': 3}}]},
}  # fmt: skip


# What can have been, at worst --------------------------------------------------------------------


@st.composite
def losses(draw):
    """Tests of weights and psi, of which some were lost once and some never came."""
    rows = draw(
        st.lists(
            st.tuples(
                st.floats(-1, 2), st.floats(0, 3), st.sampled_from(['kept', 'again', 'missing'])
            ),
            min_size=1,
            max_size=20,
        )
    )
    return [(0.5, 1.0, 'kept'), *rows], draw(st.floats(0, 1))


@given(losses())
def test_no_completion_of_what_was_lost_shifts_the_mean_by_more_than_the_bound(history):
    rows, place = history
    step, total, lost = Bounds(-3.0, 6.0), Accumulator(), Selection()
    lowest, highest, chosen = [], [], []
    for psi, weight, kind in rows:
        z, could = psi * weight, could_be(-1.0, 2.0, weight, math.inf, step)
        if kind != 'missing':
            total.add(z)
        if kind == 'again':
            lost.add(z, could)
        elif kind == 'missing':
            lost.miss(could, step.width)
        known = kind == 'kept'
        lowest.append(z if known else could.lower)
        highest.append(z if known else could.upper)
        chosen.append(z if known else could.lower + place * could.width)
    if not lost.some:
        assert lost.shift(total) == 0.0
        return
    low, high = lost.means(total)
    assert low == pytest.approx(float(np.mean(lowest)), abs=1e-9)
    assert high == pytest.approx(float(np.mean(highest)), abs=1e-9)
    bound = lost.shift(total)
    assert bound == pytest.approx(max(high - total.mean, total.mean - low), abs=1e-9)
    assert abs(float(np.mean(chosen)) - total.mean) <= bound + 1e-9
    assert lost.cases(total) == len(rows)
    assert float(np.var(chosen)) <= lost.variance(total) + 1e-9


@pytest.mark.parametrize(
    ('weight', 'expected'),
    [(2.0, (-2.0, 4.0)), (0.0, (0.0, 0.0)), (math.nan, (-3.0, 6.0)), (math.inf, (-3.0, 6.0)),
     (-1.0, (-3.0, 6.0)), (9.0, (-3.0, 6.0))],
)  # fmt: skip
def test_what_a_case_can_have_given(weight, expected):
    found = could_be(-1.0, 2.0, weight, math.inf, Bounds(-3.0, 6.0))
    assert (found.lower, found.upper) == expected


def test_a_truncated_case_can_have_given_no_more_than_the_truncation():
    assert could_be(0.0, 1.0, 3.0, 2.5, Bounds(0.0, 2.5)).upper == 2.5


def record(index, psi, attempt=0, weight=1.0, **more):
    return TestRecord(index, attempt, psi, weight, more.pop('valid', True), 'lost', **more)


@pytest.fixture
def specification(content, write):
    content['tester'].update(stopping={'rule': 'anytime'}, max_tests=1500)
    return load(write(content))


def counted(specification, rows):
    """Return the campaign after rows of (psi, how)."""
    campaign = Campaign(specification)
    for index, (psi, how) in enumerate(rows):
        if how == 'skipped':
            campaign.add(record(index, 0.0, valid=False, skipped=True))
        elif how != 'kept':
            campaign.add(record(index, 0.0, valid=False, broken_off=how == 'broken off'))
            campaign.add(record(index, psi, attempt=1))
        else:
            campaign.add(record(index, psi))
    return campaign


@pytest.mark.parametrize('how', ['INVALID', 'broken off'])
def test_k_first_attempts_can_have_shifted_the_mean_by_k_of_n(how, content, write):
    """20 of 40 tests were 1 at first and are 0 now: .5, where a share of the attempts is .33."""
    content['tester'].update(stopping={'rule': 'fixed', 'tests': 40})
    rows = [(0.0, how)] * 20 + [(0.0, 'kept')] * 20
    result = counted(load(write(content)), rows).result('lab')
    assert result.selection_bound == 0.5
    assert (result.invalid, result.broken_off) == ((20, 0) if how == 'INVALID' else (0, 20))
    assert result.upper >= 0.5


def test_a_skipped_case_can_have_been_anything_times_its_weight(content, write):
    content['tester'].update(stopping={'rule': 'fixed', 'tests': 11}, proposal=WEIGHTED)
    campaign = Campaign(load(write(content)))
    campaign.add(record(0, 0.0, weight=1.9, valid=False, skipped=True))
    for index in range(1, 11):
        campaign.add(record(index, 0.5, weight=1.0))
    result = campaign.result('lab')  # 11 cases are over
    assert (result.n, result.skipped, result.estimate) == (10, 1, 0.5)
    assert result.selection_bound == pytest.approx((5 + 1.9) / 11 - 0.5)


def test_nothing_lost_is_no_bound_and_no_other_number(specification):
    rng = np.random.default_rng(1)
    rows = [(float(psi), 'kept') for psi in rng.random(1500) < MEAN]
    campaign = counted(specification, rows)
    assert campaign.result('lab').selection_bound == 0.0
    assert campaign.latest.note == ''


# The promise under adversaries -------------------------------------------------------------------


def run(specification, rng, adversary, spare, weights=(1.0,)):
    """Run a campaign of Bernoulli psi; the adversary knows what a test gave and may lose it.

    :param spare: how many tests it may lose
    :param weights: those of many cases, of which each test has one
    """
    campaign, index, attempt = Campaign(specification, forecasts=False), 0, 0
    weight = rng.choice(weights)
    while not campaign.stopped:
        psi = float(rng.random() < MEAN)
        how = adversary(psi, weight) if spare else 'kept'
        spare -= how != 'kept' and attempt == 0
        campaign.add(
            record(
                index, 0.0 if how == 'skipped' else psi, attempt, weight, valid=how == 'kept',
                skipped=how == 'skipped', broken_off=how == 'broken off',
            )
        )  # fmt: skip
        if how in ('kept', 'skipped'):
            index, attempt, weight = index + 1, 0, rng.choice(weights)
        else:
            attempt += 1
    return campaign.result('lab')


def prepared(content, write, weighted):
    """Return a specification, and the weights of many cases of it."""
    content['accuracy']['gamma'] = 0.2
    content['tester']['max_tests'] = 800
    if weighted:
        content['tester']['proposal'] = WEIGHTED
    specification = load(write(content))
    proposal = specification.make_proposal()
    return specification, [proposal.draw(k, 1).weight for k in range(500 if weighted else 1)]


def skip_ones(psi, weight):
    return 'skipped' if psi else 'kept'


def break_off_ones(psi, weight):
    return 'broken off' if psi else 'kept'


def spoil_heavy_ones(psi, weight):
    return 'INVALID' if psi * weight > 0.8 else 'kept'


ADVERSARIES = [(skip_ones, False), (break_off_ones, False), (spoil_heavy_ones, True)]


@pytest.mark.parametrize(
    ('adversary', 'weighted', 'rule'),
    [(*each, 'anytime') for each in ADVERSARIES] + [(skip_ones, False, 'hoeffding')],
)
def test_the_widened_interval_is_right_whatever_is_lost(adversary, weighted, rule, content, write):
    content['tester']['stopping'] = {'rule': rule}
    specification, weights = prepared(content, write, weighted)
    rng, missed = np.random.default_rng(31), 0
    for _ in range(RUNS):
        result = run(specification, rng, adversary, 30 if weighted else 20, weights)
        assert result.accurate, result.guarantee
        away = abs(result.estimate - MEAN)
        missed += away > 0.2 or not result.lower <= MEAN <= result.upper
    assert missed <= MISSES


@pytest.mark.parametrize(('adversary', 'weighted'), ADVERSARIES)
def test_the_same_adversaries_break_a_promise_that_assumes_there_are_none(
    adversary, weighted, content, write
):
    """So the laws above reach c, and an interval that is not widened would be found."""
    content['accuracy']['selection'] = 'assume_independent'
    content['tester']['stopping'] = {'rule': 'anytime'}
    specification, weights = prepared(content, write, weighted)
    rng, missed = np.random.default_rng(32), 0
    for _ in range(RUNS):
        result = run(specification, rng, adversary, 30 if weighted else 20, weights)
        lost = result.invalid + result.skipped + result.broken_off
        assert ('lost whatever psi would have been' in result.guarantee) == (lost > 0)
        missed += abs(result.estimate - MEAN) > 0.2
    assert missed > MISSES


@pytest.mark.parametrize('adversary', [skip_ones, break_off_ones])
def test_a_certified_cell_is_right_whatever_is_lost(adversary, content, write):
    content['partition'] = {'type': 'edges', 'edges': [0, 0.2, 1]}
    content['tester']['stopping'] = {'rule': 'certified_cell'}
    found = {}
    for selection in ('widen', 'assume_independent'):
        content['accuracy']['selection'] = selection
        specification, weights = prepared(content, write, False)
        rng = np.random.default_rng(33)
        cells = [run(specification, rng, adversary, 25, weights).cell for _ in range(30)]
        found[selection] = cells.count(0)
    assert found['widen'] <= 30 * C + 2.33 * math.sqrt(30 * C * (1 - C))
    assert found['assume_independent'] > 8


def test_half_of_the_failures_skipped_is_no_accurate_result(specification):
    """psi Bernoulli .3, half of the ones skipped, always: no number of tests mends that."""
    rng = np.random.default_rng(34)
    notes, campaign, index = [], Campaign(specification), 0
    while not campaign.stopped:
        psi = float(rng.random() < MEAN)
        if psi and rng.random() < 0.5:
            notes.append(campaign.add(record(index, 0.0, valid=False, skipped=True)).note)
        else:
            notes.append(campaign.add(record(index, psi)).note)
        index += 1
    result = campaign.result('lab')
    assert (result.outcome, result.accurate) == ('budget', False)
    assert abs(result.estimate - MEAN) > 0.08  # off by twice gamma
    assert result.lower <= MEAN <= result.upper
    assert result.guarantee.startswith('With probability 0.95 the true mean lies in [')
    told = [place for place, note in enumerate(notes) if 'out of reach' in note]
    assert told[0] < 40
    assert len(told) > 1400


def test_a_campaign_goes_on_until_the_widened_interval_meets_gamma(specification):
    rows = [(0.5, 'INVALID')] * 8 + [(0.5, 'kept')] * 1492
    straight = counted(specification, [(0.5, 'kept')] * 1500).result('lab')
    campaign = counted(specification, rows)
    result = campaign.result('lab')
    assert result.accurate
    assert result.half_width <= 0.04
    assert result.selection_bound == pytest.approx(8 * 0.5 / result.n)
    assert straight.n + 40 < result.n < 150
    assert campaign.latest.expected_n == result.n
    early = counted(specification, rows[:40])
    assert early.latest.expected_n == pytest.approx(result.n, rel=0.25)


def test_losses_that_the_budget_cannot_outweigh_are_told_early(content, write):
    content['tester'].update(stopping={'rule': 'anytime'}, max_tests=400)
    campaign = counted(load(write(content)), [(0.5, 'INVALID')] * 30 + [(0.5, 'kept')] * 370)
    assert campaign.latest.n == 400
    assert campaign.latest.note.startswith('gamma = 0.04 is out of reach')
    early = counted(load(write(content)), [(0.5, 'INVALID')] * 30 + [(0.5, 'kept')] * 10)
    assert 'the 30 attempts and cases lost so far can hide up to 0.375' in early.latest.note


# Rules by themselves -----------------------------------------------------------------------------


@pytest.mark.parametrize('missing', [False, True])
def test_whoever_loses_all_ones_makes_the_upper_end_miss_nearly_as_often_as_it_may(missing):
    """The end then counts what was drawn, no more: c / 2 is reached; 2 c would be found out."""
    rng, c, runs, missed = np.random.default_rng(36), 0.2, 200, 0
    for row in rng.random((runs, 120)) < 0.5:
        progress, total = Anytime().begin(Question(0.35, c, UNIT)), Accumulator()
        for one in row:
            if one and missing:
                progress.miss(total, UNIT)
            else:
                total.add(0.0)
                progress.add(total, 0.0, UNIT, UNIT if one else None)
            progress.reached = False
            if progress.upper < 0.5:
                missed += 1
                break
    allowed = c / 2 * runs
    assert 0.55 * allowed < missed <= allowed + 2.33 * math.sqrt(allowed * (1 - c / 2))


@pytest.mark.parametrize('rule', [Anytime(), Hoeffding(), FixedN(400)])
def test_lost_tests_widen_both_ends(rule):
    """As many tests and cases each time; of some, 0, 10 or 30, nobody knows what they gave."""
    ends = []
    for lost in (0, 10, 30):
        for missing in (False, True):
            progress, total = rule.begin(Question(0.07, C, UNIT)), Accumulator()
            for index in range(300):
                if index < lost and missing:
                    progress.miss(total, UNIT)
                else:
                    total.add(index % 2)
                    progress.add(total, index % 2, UNIT, UNIT if index < lost else None)
            ends.append((progress.lower, progress.upper))
    lower, upper = zip(*ends, strict=True)
    assert lower[0] == lower[1] > max(lower[2:4]) and min(lower[2:4]) > max(lower[4:])
    assert upper[0] == upper[1] < min(upper[2:4]) and max(upper[2:4]) < min(upper[4:])


def test_a_missing_case_hides_edges_from_a_certified_cell():
    question, total = Question(0.1, C, UNIT, (0, 0.3, 0.7, 1)), Accumulator()
    progress = CertifiedCell().begin(question)
    for _ in range(12):
        progress.miss(total, UNIT)
    seen = CertifiedCell().begin(question)
    while not seen.reached:
        total.add(0.5)
        progress.add(total, 0.5, UNIT)
        seen.add(total, 0.5, UNIT)
    assert not progress.reached


def test_hoeffdings_line_touches_its_half_width_at_the_planned_n_and_holds_at_every_n():
    question = Question(0.2, 0.2, UNIT)  # 29 tests are planned
    rule = Hoeffding()
    assert rule.half_width_after_losses(29, 0.0, question) == rule.half_width(29, 0.0, 1.0, 0.2)
    short = Question(0.2, 0.2, UNIT, (), 20)
    assert rule.half_width_after_losses(20, 0.0, short) == rule.half_width(20, 0.0, 1.0, 0.2)
    line = np.array([rule.half_width_after_losses(n, 0.0, question) for n in range(1, 121)])
    z = np.random.default_rng(35).random((4000, 120)) < 0.5
    away = np.cumsum(z, axis=1) / np.arange(1, 121) - 0.5
    above, below = np.any(away > line, axis=1), np.any(away < -line, axis=1)
    # c = .2: ever out by either side, at an n that an adversary chooses.
    assert np.mean(above | below) <= 0.2
    assert np.mean(above | below) >= 0.1  # near enough for 2 c to be found out


def test_a_fixed_number_of_cases_is_not_stretched_by_skipping():
    progress, total = FixedN(10).begin(Question(0.1, C, UNIT)), Accumulator()
    progress.miss(total, UNIT)
    for _ in range(9):
        total.add(0.5)
        progress.add(total, 0.5, UNIT)
    assert progress.reached
