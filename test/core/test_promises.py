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

"""What a result promises: nothing that does not follow from what was done, on every path."""

import dataclasses
import itertools
import math

import numpy as np
import pytest
import yaml

from repsq_ros.campaign.campaign import Campaign
from repsq_ros.campaign.folder import CampaignFolder
from repsq_ros.campaign.promise import facts_of, sentences
from repsq_ros.campaign.records import TestRecord
from repsq_ros.errors import SpecificationError
from repsq_ros.estimation.alpha import anchored_c
from repsq_ros.estimation.probabilities import plug_in_text, probability_text, written
from repsq_ros.estimation.stopping import Outcome
from repsq_ros.specification.load import load

NARROW = {'type': 'beta', 'linear_x': {'a': 2, 'b': 2}}


@pytest.fixture
def anchored(content):
    content['partition'] = {'type': 'anchored'}
    content['tester']['stopping'] = {'rule': 'anytime'}
    return content


def record(index, psi, weight=1.0, attempt=0, **more):
    return TestRecord(index, attempt, psi, weight, more.pop('valid', True), **more)


def run(specification, psi, weight=1.0):
    """Run a campaign; psi is a number, or gives one for each index."""
    campaign, index = Campaign(specification, forecasts=False), itertools.count()
    while not campaign.stopped:
        place = next(index)
        campaign.add(record(place, psi(place) if callable(psi) else psi, weight))
    return campaign.result('lab')


def publish(specification, result, folder):
    """Return what replicators load."""
    folder.parent.mkdir(exist_ok=True)
    files = CampaignFolder(folder, specification)
    files.finish(result)
    files.close()
    return load(folder / 'replication.yaml')


# A replicator's promise is made from both campaigns ----------------------------------------------


def replicate(content, write, tmp_path, psi=0.46, change=None, lose=()):
    """Run an initiator and return the result of its replicator, which runs `anytime`."""
    specification = load(write(content))
    campaign = Campaign(specification)
    for index in itertools.count():
        if campaign.stopped:
            break
        if index in lose:
            campaign.add(record(index, 0.0, valid=False, skipped=True))
        else:
            campaign.add(record(index, psi(index) if callable(psi) else psi))
    result = campaign.result('lab')
    replication = publish(specification, result, tmp_path / 'campaign')
    assert replication.digest == result.replication_digest
    tester = {'proposal': 'monte_carlo', 'seed': 2, 'stopping': {'rule': 'anytime'}}
    text = (tmp_path / 'campaign' / 'replication.yaml').read_text()
    content = yaml.safe_load(text)
    content['tester'] = {
        **tester,
        **{k: content['tester'][k] for k in ('gamma',) if k in content['tester']},
    }
    if change:
        change(content)
    return result, run(load(write(content, 'replicator.yaml')), result.value)


def test_two_sound_campaigns_promise_agreement(anchored, write, tmp_path):
    first, second = replicate(anchored, write, tmp_path)
    assert first.accurate
    assert second.accurate
    for told in (first.agreement, second.agreement):
        assert told.startswith('With probability at least 0.9025, the first lab and one')


def short(content):
    content['tester']['max_tests'] = 20


def sobol(content):
    content['tester']['proposal'] = {'type': 'monte_carlo', 'sequence': 'sobol'}


def peeking(content):
    content['tester']['stopping'] = {'rule': 'empirical_bernstein', 'form': 'two_sided'}


def nothing(content):
    pass


def drifting(index):
    return 0.1 if index < 100 else 0.9


@pytest.mark.parametrize(
    ('prepare', 'psi', 'reason'),
    [
        (short, 0.46, 'the budget of tests ran out at a half-width of'),
        (sobol, 0.46, 'points of a low-discrepancy sequence'),
        (peeking, 0.46, 'so only approximately where, as here, each test may be the last'),
        (nothing, lambda index: 1.5 if index == 3 else 0.46, '1 value lay outside the bounds'),
    ],
)
def test_a_replicator_cannot_promise_more_than_its_initiator(
    prepare, psi, reason, anchored, write, tmp_path
):
    prepare(anchored)
    first, second = replicate(anchored, write, tmp_path, psi)
    assert not first.accurate
    assert second.accurate  # it is itself within gamma; only agreement is another matter
    assert first.agreement.startswith('No agreement is promised')
    assert second.agreement.startswith(
        'No agreement is promised: the initiator promises no accuracy: '
    )
    assert reason in second.agreement


def test_a_certified_cell_around_an_anchor_needs_the_initiators_accuracy_too(
    anchored, write, tmp_path
):
    def certify(content):
        content['tester']['stopping'] = {'rule': 'certified_cell'}

    first, second = replicate(anchored, write, tmp_path / 'sound', change=certify)
    assert second.value == first.value
    assert second.agreement.startswith('With probability at least 0.9025, the first lab and one')
    short(anchored)
    second = replicate(anchored, write, tmp_path / 'short', change=certify)[1]
    assert second.accurate
    assert second.agreement.startswith('No agreement is promised: the initiator promises no')


def test_labs_whose_number_of_tests_is_fixed_promise_the_same(anchored, write, tmp_path):
    anchored['tester']['stopping'] = {'rule': 'fixed', 'tests': 400}
    for told in replicate(anchored, write, tmp_path):
        assert told.agreement.startswith('With probability at least 0.9025, the first lab and one')


def test_after_a_drift_the_replicator_promises_no_agreement(anchored, write, tmp_path):
    anchored['accuracy']['gamma'] = 0.02
    first, second = replicate(anchored, write, tmp_path, drifting)
    assert first.outcome == 'void'
    assert 'contradict the assumptions' in second.agreement


def test_what_an_initiator_assumes_its_replicator_assumes_too(anchored, write, tmp_path):
    anchored['accuracy']['selection'] = 'assume_independent'
    first, second = replicate(anchored, write, tmp_path, lose=(3, 5))
    assert first.provisos == (
        'the 2 attempts and cases were lost whatever psi would have been, which is assumed and '
        'not proven',
    )
    for told in (first.agreement, second.agreement):
        assert told.startswith('With probability at least 0.9025')
        assert 'and the 2 attempts and cases were lost whatever psi' in told
    assert second.provisos == ()  # of its own accuracy


@pytest.mark.parametrize(('first', 'second'), [(0.004, 0.008), (0.008, 0.004)])
def test_where_both_labs_doubt_their_sensors_the_larger_doubt_is_said_once(
    first, second, anchored, write, tmp_path
):
    specification = load(write(anchored))
    campaign = Campaign(specification)
    for index in itertools.takewhile(lambda _: not campaign.stopped, itertools.count()):
        campaign.add(record(index, 0.46, psi_error=first))
    replication = publish(specification, campaign.result('lab'), tmp_path / 'campaign')
    facts = facts_of(replication, replication.make_proposal())
    told = sentences(dataclasses.replace(facts, systematic=second)).agreement
    assert told.count('the sensors are right') == 1
    assert '(their errors may have moved the mean by 0.008, the mean of psi_error)' in told


def test_skips_that_a_wider_interval_paid_for_cost_the_replicator_nothing(
    anchored, write, tmp_path
):
    first, second = replicate(anchored, write, tmp_path, lose=(3, 5))
    assert first.accurate
    assert first.half_width <= 0.04
    assert first.selection_bound > 0.0
    assert second.agreement.startswith('With probability at least 0.9025')


def test_an_anchor_of_unknown_origin_promises_nothing(anchored, write, tmp_path):
    def forget(content):
        del content['partition']['initiator']

    second = replicate(anchored, write, tmp_path, change=forget)[1]
    assert second.agreement.startswith('Nothing is proved: the specification does not say what')


@pytest.mark.parametrize(('key', 'value'), [('outcome', 'budget'), ('violations', 3)])
def test_an_edited_initiator_promises_nothing_and_has_another_digest(
    key, value, anchored, write, tmp_path
):
    def edit(content):
        content['partition']['initiator'][key] = value

    first, second = replicate(anchored, write, tmp_path, change=edit)
    assert second.agreement.startswith('No agreement is promised')
    assert second.specification_digest != first.replication_digest


def test_a_replicator_of_narrower_cells_is_asked_for_what_they_leave_it(anchored, write, tmp_path):
    """Half a cell of .06 = .04 + .02."""
    anchored['partition']['half_width'] = 0.06
    first, second = replicate(anchored, write, tmp_path)
    assert '(each replicator within 0.02 of the true mean)' in first.agreement
    assert first.gamma == second.gamma == 0.04  # as the contract asks; the second aims at less
    assert second.half_width <= 0.02
    assert second.n > 1.5 * first.n
    assert second.agreement.startswith('With probability at least 0.9025')

    def loosen(content):
        del content['tester']['gamma']

    loose = replicate(anchored, write, tmp_path / 'again', change=loosen)[1]
    assert loose.accurate
    assert loose.agreement.startswith('Nothing is proved: half a cell is 0.06, less than the 0.04')


def test_the_agreement_of_unequal_labs_is_the_product_of_their_probabilities(
    anchored, write, tmp_path
):
    anchored['accuracy'].update(runs=3, c=0.03)

    def edit(content):
        content['partition']['initiator']['c'] = 0.1

    second = replicate(anchored, write, tmp_path, change=edit)[1]
    assert second.agreement.startswith(
        f'With probability at least {0.9 * 0.97**2:.4g}, the first lab and 2'
    )


@pytest.mark.parametrize(
    ('where', 'key', 'value', 'found'),
    [
        ('initiator', 'outcome', 'fine', "text 'fine'"),
        ('initiator', 'gamma', -1, '-1'),
        ('initiator', 'c', 1.5, '1.5'),
        ('initiator', 'violations', -1, '-1'),
        ('initiator', 'provisos', 'none', "text 'none'"),
        ('initiator', 'provisos', [3], '3 in the list'),
        ('initiator', 'colour', 'red', 'an unknown key'),
    ],
)
def test_a_fault_in_what_is_said_of_the_initiator_is_told(
    where, key, value, found, anchored, write, tmp_path
):
    def edit(content):
        content['partition'][where][key] = value

    with pytest.raises(SpecificationError) as raised:
        replicate(anchored, write, tmp_path, change=edit)
    assert f'partition.initiator.{key}: found {found}' in str(raised.value)


@pytest.mark.parametrize(('gamma', 'expected'), [(0.05, 'at most accuracy.gamma'), (0, '> 0')])
def test_a_tester_may_aim_finer_and_not_coarser(gamma, expected, content, write):
    content['tester']['gamma'] = gamma
    with pytest.raises(SpecificationError, match=expected):
        load(write(content))
    content['tester']['gamma'] = 0.03
    finer = load(write(content))
    assert finer.gamma == Campaign(finer).question.gamma == 0.03
    del content['tester']['gamma']
    assert load(write(content)).digest == finer.digest


@pytest.mark.parametrize('cut', [False, True])
def test_pairs_agree_as_often_as_the_replicator_says(cut, anchored, write):
    """Bernoulli .5. Cut at 3 tests the initiator is far off, and .9025 would be a lie."""
    anchored['accuracy'].update(gamma=0.15)
    first = load(write(anchored))
    anchored['tester']['max_tests'] = 3
    cut_short = load(write(anchored, 'short.yaml'))
    rng, same, pairs = np.random.default_rng(41), 0, 40 if cut else 30

    def coin(_):
        return float(rng.random() < 0.5)

    for _ in range(pairs):
        initiator = run(cut_short if cut else first, coin)
        replicator = run(initiator.published(first), coin)
        promised = replicator.agreement.startswith('With probability at least 0.9025')
        assert promised is not cut
        same += replicator.value == initiator.value
    bad = 0.9025 * pairs - 2.33 * math.sqrt(pairs * 0.9025 * 0.0975)
    assert (same < bad) is cut


# What is accurate, and what holds when it is not -------------------------------------------------


def test_psi_out_of_its_range_counts_against_the_promise(content, write):
    """1.5 now and then, small enough in z to be within its bounds: weights are 2 at most."""
    content['tester'].update(stopping={'rule': 'anytime'}, proposal={
        'type': 'importance', 'distribution': {'type': 'mixture', 'components': [
            {'share': 0.5, 'type': 'uniform'}, {'share': 0.5, **NARROW}]}})  # fmt: skip
    result = run(load(write(content)), lambda index: 0.5 if index % 10 else 1.5, weight=0.9)
    assert (result.violations, result.accurate) == (math.ceil(result.n / 10), False)
    assert result.outcome == 'reached'
    assert result.guarantee.startswith(f'Nothing: {result.violations} values lay outside')
    within = 1.0 + 1e-13  # as rounding may have it
    assert run(load(write(content)), within, weight=0.5).violations == 0


def test_a_skipped_case_that_weighs_too_much_tells_of_a_wrong_bound_too(content, write):
    content['tester'].update(stopping={'rule': 'hoeffding'}, max_tests=20)
    campaign = Campaign(load(write(content)))
    campaign.add(record(0, 0.0, weight=1.2, valid=False, skipped=True))
    for index in range(1, 21):
        campaign.add(record(index, 0.5))
    result = campaign.result('lab')
    assert (result.violations, result.skipped) == (1, 1)
    assert 'test 0, attempt 0: weight 1.2 above its bound 1.0' in result.events
    assert result.guarantee.startswith('Nothing: 1 value lay outside')


@pytest.mark.parametrize('psi', [1.5, -0.5])
@pytest.mark.parametrize(
    'rule',
    [
        {'rule': 'anytime'},
        {'rule': 'certified_cell'},
        {'rule': 'first_of', 'rules': [{'rule': 'hoeffding'}, {'rule': 'anytime'}]},
    ],
)
def test_a_campaign_ends_where_its_end_has_become_unreachable(rule, psi, content, write):
    content['tester']['stopping'] = rule
    campaign = Campaign(load(write(content)))
    campaign.add(record(0, 0.5))
    campaign.add(record(1, 0.5))
    estimate = campaign.add(record(2, psi))
    assert estimate.stopped
    assert estimate.expected_n == 0 or rule['rule'] == 'first_of'
    assert estimate.note == 'no accuracy will be promised: 1 tests out of their bounds'
    result = campaign.result('lab')
    assert (result.outcome, result.accurate, result.n) == ('void', False, 3)


def test_many_values_out_of_range_are_counted_and_not_all_listed(content, write):
    content['tester']['max_tests'] = 300
    content['tester']['stopping'] = {'rule': 'hoeffding'}
    result = run(load(write(content)), 1.5)
    assert (result.violations, result.accurate) == (300, False)
    assert len(result.events) < 25
    assert '280 more tests with values outside bounds' in result.events


def test_first_of_keeps_the_alarm_of_a_member(content, write):
    """The mean drifts: `anytime` knows it, and hoeffding would promise .95 at its n."""
    content['accuracy']['gamma'] = 0.02
    content['partition'] = {'alpha': 0.2}
    content['tester']['stopping'] = {
        'rule': 'first_of',
        'rules': [{'rule': 'hoeffding'}, {'rule': 'anytime'}],
    }
    result = run(load(write(content)), drifting)
    assert (result.outcome, result.accurate) == ('void', False)
    assert result.guarantee.startswith('Nothing: the tests contradict the assumptions')
    assert any('the interval is empty' in event for event in result.events)


def test_a_truncated_campaign_is_short_of_gamma_by_its_bias(content, write):
    content['accuracy']['gamma'] = 0.2
    content['tester'].update(
        stopping={'rule': 'anytime'},
        proposal={'type': 'importance', 'distribution': NARROW, 'truncation': 4.0},
    )
    specification = load(write(content))
    campaign = Campaign(specification)
    for index in range(9):
        campaign.add(record(index, 0.5))
    assert campaign.latest.upper == 1.0 < campaign._progress.upper, 'no mean is above the range'
    for index in range(9, 60):
        campaign.add(record(index, 0.5))
    bias = specification.tester.proposal.truncation_bias
    assert bias > 0.01
    assert campaign.latest.upper == campaign._progress.upper + bias < 1.0
    assert campaign.latest.lower == campaign._progress.lower > 0.0


@pytest.mark.parametrize(
    ('value', 'text'),
    [
        (0.95, '0.95'),
        (1 - written(0.1), '0.9'),
        ((1 - written(0.05)) ** 2, '0.9025'),
        ((1 - written(anchored_c(0.1))) ** 2, '0.9'),
        (1 - written(1e-7), '0.9999999'),
        (1 - written(1e-7) * 3, '0.9999997'),
        (0.12349, '0.1234'),
        (1.0, '1'),
        (0.0, '0'),
    ],
)
def test_probabilities_are_rounded_down_and_never_to_one(value, text):
    assert probability_text(value) == text


def test_an_estimated_probability_never_reads_as_one():
    assert [plug_in_text(p) for p in (0.5, 0.999999, 1.0)] == ['0.5', '0.999', '0.999']


@pytest.mark.parametrize('rule', ['anytime', 'empirical_bernstein', 'hoeffding'])
@pytest.mark.parametrize('psi', [0.0, 0.97])
def test_no_interval_leaves_the_range_of_psi(rule, psi, content, write):
    content['tester']['stopping'] = {'rule': rule}
    campaign = Campaign(load(write(content)))
    for index in range(12):
        estimate = campaign.add(record(index, psi))
        assert 0.0 <= estimate.lower <= psi <= estimate.upper <= 1.0
        assert estimate.half_width == max(psi - estimate.lower, estimate.upper - psi)


def test_where_one_rule_of_several_is_void_the_end_of_another_does_not_count(content, write):
    content['accuracy']['gamma'] = 0.4
    content['tester']['stopping'] = {
        'rule': 'first_of',
        'rules': [{'rule': 'hoeffding'}, {'rule': 'anytime'}],
    }
    specification = load(write(content))
    last = run(specification, lambda index: index % 2).n - 1
    result = run(specification, lambda index: 1.5 if index == last else index % 2)
    assert (result.n, result.outcome) == (last + 1, 'void')


RULES = [
    ({'rule': 'anytime'}, True),
    ({'rule': 'hoeffding'}, True),
    ({'rule': 'certified_cell'}, True),
    ({'rule': 'fixed', 'tests': 400}, True),
    ({'rule': 'fixed', 'tests': 40}, False),
    ({'rule': 'empirical_bernstein'}, False),
    ({'rule': 'empirical_bernstein', 'form': 'two_sided'}, False),
    ({'rule': 'relative_half_width', 'relative': 0.1}, False),
    ({'rule': 'first_of', 'rules': [{'rule': 'hoeffding'}, {'rule': 'anytime'}]}, True),
    (
        {'rule': 'first_of', 'rules': [{'rule': 'hoeffding'}, {'rule': 'empirical_bernstein'}]},
        False,
    ),
]


@pytest.mark.parametrize(('rule', 'accurate'), RULES)
def test_accurate_is_what_the_sentence_says(rule, accurate, content, write):
    content['tester']['stopping'] = rule
    result = run(load(write(content)), 0.46)
    assert result.outcome == 'reached'
    assert result.accurate is accurate
    assert (result.objection == '') is accurate
    promised = ' is within 0.04 of ' in result.guarantee or ', and within 0.04 of' in (
        result.guarantee
    )
    cell = 'the true mean lies in this cell' in result.guarantee
    assert (promised or cell) is accurate


@pytest.mark.parametrize(
    'rule',
    [
        {'rule': 'anytime'},
        {'rule': 'hoeffding'},
        {'rule': 'empirical_bernstein', 'form': 'two_sided'},
    ],
)
def test_at_a_budgets_end_the_interval_that_is_said_holds(rule, content, write):
    content['tester'].update(stopping=rule, max_tests=100)
    specification = load(write(content))
    rng, missed = np.random.default_rng(42), 0
    for _ in range(50):
        result = run(specification, lambda _: float(rng.random() < 0.46))
        assert result.guarantee.startswith(
            f'With probability 0.95 the true mean lies in [{result.lower:.4g}, {result.upper:.4g}]'
        )
        missed += not result.lower <= 0.46 <= result.upper
    assert missed <= 2.5 + 2.33 * math.sqrt(50 * 0.05 * 0.95)


def test_a_lost_test_moves_the_end_of_a_rule_that_needs_it_fixed(content, write):
    content['tester'].update(
        stopping={'rule': 'empirical_bernstein', 'form': 'two_sided'}, max_tests=30
    )
    campaign = Campaign(load(write(content)))
    campaign.add(record(0, 0.0, valid=False))
    for index in range(30):
        campaign.add(record(index, 0.5, attempt=1))
    assert campaign.result('lab').guarantee.startswith('Nothing exactly')


# The same sentences before a campaign ------------------------------------------------------------


@pytest.mark.parametrize(('rule', 'accurate'), RULES)
def test_before_a_campaign_the_same_is_said_as_after_one_that_went_well(
    rule, accurate, content, write
):
    content['tester']['stopping'] = rule
    specification = load(write(content))
    planned = sentences(facts_of(specification, specification.make_proposal()))
    result = run(specification, 0.46)
    if accurate:
        assert (planned.guarantee, planned.agreement) == (result.guarantee, result.agreement)
    # Nobody knows beforehand how wide the interval of a fixed number will be.
    assert planned.accurate is (accurate or rule['rule'] == 'fixed')


def test_before_a_campaign_an_assumption_is_said_and_after_one_only_if_it_was_needed(
    content, write
):
    content['tester']['stopping'] = {'rule': 'anytime'}
    content['accuracy']['selection'] = 'assume_independent'
    specification = load(write(content))
    facts = facts_of(specification, specification.make_proposal())
    assert 'tests were lost whatever psi would have been' in sentences(facts).guarantee
    assert sentences(dataclasses.replace(facts, lost=0, independent=0)).provisos == ()
    assert run(specification, 0.46).provisos == ()


@pytest.mark.parametrize('outcome', Outcome)
@pytest.mark.parametrize('violations', [0, 2])
@pytest.mark.parametrize('half_width', [0.03, 0.05])
def test_only_one_path_leads_to_a_promise(outcome, violations, half_width, content, write):
    content['tester']['stopping'] = {'rule': 'anytime'}
    specification = load(write(content))
    facts = dataclasses.replace(
        facts_of(specification, specification.make_proposal()),
        outcome=outcome, violations=violations, half_width=half_width, lower=0.4, upper=0.5,
    )  # fmt: skip
    sound = outcome is Outcome.REACHED and not violations and half_width <= 0.04
    said = sentences(facts)
    assert said.accurate is sound
    assert ('within 0.04 of the estimate' in said.guarantee) is sound
    holds = not violations and outcome is not Outcome.VOID
    assert said.guarantee.startswith('With probability 0.95') is holds
