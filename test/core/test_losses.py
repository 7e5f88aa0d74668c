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

"""Losses by cause: what widens the interval, what is only said, and the price of each."""

from dataclasses import replace

import pytest

from repsq_ros.campaign.campaign import Campaign
from repsq_ros.campaign.records import TestRecord
from repsq_ros.protocols.phases import Cause
from repsq_ros.specification.load import load

SECOND = 1_000_000_000
TEST = 8 * SECOND  # that one test takes


def psi_of(index):
    return 0.3 + 0.2 * ((index * 7919) % 97) / 97


def broken_off(cause):
    return {'valid': False, 'psi': 0.0, 'broken_off': True, 'cause': cause, 'reason': 'a stall'}


INVALID = {'valid': False, 'psi': 0.0, 'reason': 'a gap'}
SKIPPED = {'valid': False, 'psi': 0.0, 'skipped': True, 'reason': 'by the operator'}


def run(specification, loss, at=(5, 12), pause=20 * SECOND):
    """Count tests until the rule is met; the cases `at` are lost once, and then made again."""
    campaign, now_ns, index = Campaign(specification), 100 * SECOND, 0
    while not campaign.stopped:
        attempt, whole = 0, TestRecord(index, 0, psi_of(index), 1.0, True, x=(0.1, 0.1, 0.1))
        if index in at and loss is not None:
            now_ns += TEST // 2
            lost = replace(whole, window_start_ns=now_ns, window_end_ns=now_ns, **loss)
            campaign.add(lost)
            now_ns, attempt = now_ns + pause, 1
        if not (index in at and loss is SKIPPED):
            now_ns += TEST
            campaign.add(replace(whole, attempt=attempt, window_end_ns=now_ns))
        index += 1
    return campaign.result('lab')


@pytest.fixture
def anytime(content):
    content['tester']['stopping'] = {'rule': 'anytime'}
    return content


def test_what_the_bench_breaks_off_costs_its_repeat_and_a_proviso_and_no_width(anytime, write):
    specification = load(write(anytime))
    undisturbed = run(specification, None)
    result = run(specification, broken_off('bench'))
    same = ('n', 'lower', 'upper', 'half_width', 'estimate', 'value', 'accurate')
    assert [getattr(result, name) for name in same] == [
        getattr(undisturbed, name) for name in same
    ]
    assert (result.broken_off, result.bench, result.extra_tests) == (2, 2, 0)
    assert result.provisos == (
        'the 2 attempts that the bench broke off (stall, lost node, disk or clock) were lost '
        'whatever psi would have been, which is assumed and not proven',
    )
    assert undisturbed.provisos == ()
    assert result.lost_time == pytest.approx(2 * (4 + 20))


@pytest.mark.parametrize(
    'loss', [broken_off('instrument'), broken_off('operator'), broken_off(''), INVALID, SKIPPED]
)
def test_what_may_depend_on_psi_widens_and_its_price_is_told(loss, anytime, write):
    specification = load(write(anytime))
    undisturbed, result = run(specification, None), run(specification, loss)
    assert result.n > undisturbed.n
    assert result.provisos == ()
    assert result.bench == 0
    if loss is SKIPPED:  # the two are no test of either
        assert result.extra_tests > 0
    else:
        assert result.extra_tests == result.n - undisturbed.n
    assert result.lost_time == pytest.approx(2 * (4 + 20))


@pytest.mark.parametrize('cause', Cause)
def test_the_specification_may_say_otherwise_for_each_cause(cause, anytime, write):
    digest = load(write(anytime)).digest
    choice = 'widen' if cause is Cause.BENCH else 'assume_independent'
    anytime['accuracy'][f'selection_{cause.value}'] = choice
    specification = load(write(anytime))
    assert specification.digest != digest
    result, undisturbed = run(specification, broken_off(cause.value)), run(specification, None)
    assert (result.n > undisturbed.n) is (cause is Cause.BENCH)
    assert bool(result.provisos) is (cause is not Cause.BENCH)


def test_the_night_between_two_sessions_is_no_price(anytime, write):
    specification = load(write(anytime))
    night = {**broken_off('operator'), 'reason': 'the scheduler ended in this attempt'}
    assert run(specification, night, at=(5,), pause=0).lost_time == pytest.approx(0.0)
