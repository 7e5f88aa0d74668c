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


"""A mean that changes within a campaign is found, and seldom where it does not change."""

import re

import numpy as np
import pytest
from conftest import paper_settings
from scipy import stats

from repsq_ros.campaign.campaign import Campaign
from repsq_ros.campaign.records import TestRecord
from repsq_ros.estimation.stationarity import LEVEL, RunningMean, StationarityTest
from repsq_ros.estimation.stopping import Bounds
from repsq_ros.specification.load import load

UNIT = Bounds(0.0, 1.0)


def beta(random, mean, runs, sd=0.28):
    strength = mean * (1.0 - mean) / sd**2 - 1.0
    return random.beta(mean * strength, (1.0 - mean) * strength, runs)


def changed(draw, tests, runs):
    test = StationarityTest(UNIT, runs)
    for index in range(tests):
        test.add(draw(index), UNIT)
    return test.changed


@pytest.mark.parametrize('law', ['beta', 'coin', 'rare', 'constant'])
def test_a_mean_that_stays_is_seldom_called_drifting(law):
    random, runs = np.random.default_rng(1), 200
    draw = {
        'beta': lambda index: beta(random, 0.47, runs),
        'coin': lambda index: (random.random(runs) < 0.5) * 1.0,
        'rare': lambda index: (random.random(runs) < 0.05) * 1.0,
        'constant': lambda index: np.full(runs, 0.4),
    }[law]
    found = int(changed(draw, 150, runs).sum())
    assert stats.binomtest(found, runs, LEVEL, 'greater').pvalue > 1e-3


@pytest.mark.parametrize('sign', [1.0, -1.0])
def test_a_mean_that_jumps_is_found(sign):
    random = np.random.default_rng(2)
    found = changed(lambda index: beta(random, 0.5 + sign * (index >= 60) * 0.3, 50), 160, 50)
    assert found.mean() > 0.7


def test_it_is_an_event_of_the_result_once(write):
    content = paper_settings()
    content['tester'].update(stopping={'rule': 'fixed', 'tests': 200})
    random, campaign = np.random.default_rng(3), Campaign(load(write(content)))
    for index in range(200):
        psi = float(beta(random, 0.3 + 0.4 * (index >= 100), 1)[0])
        campaign.add(TestRecord(index, 0, psi, 1.0, True))
    (event,) = [each for each in campaign.result('lab').events if 'drift' in each]
    assert 'tested at level 0.01' in event
    result = campaign.result('lab')
    assert not result.accurate
    assert result.objection == 'the mean changed while the campaign ran (see events)'
    told = re.search(r'a mean that changes lies in \[(\S+), (\S+)\]', result.guarantee)
    lower, upper = map(float, told.groups())
    assert 0.3 < lower < 0.5 < upper < 0.7
    assert 'No agreement is promised' in result.agreement


LAWS = {
    'ramp': (lambda index: 0.35 + 0.003 * index, lambda random, mean: beta(random, mean, None)),
    'coin': (lambda index: 0.5, lambda random, mean: float(random.random() < mean)),
    'jump': (
        lambda index: 0.05 + 0.6 * (index >= 50),
        lambda random, mean: random.random() < mean,
    ),
}


@pytest.mark.parametrize('law', LAWS)
def test_the_mean_over_the_tests_is_seldom_outside_its_interval(law):
    mean, draw = LAWS[law]
    random, missed, runs = np.random.default_rng(4), 0, 150
    for _ in range(runs):
        running, total, outside = RunningMean(UNIT, 0.2), 0.0, False
        for index in range(100):
            total += mean(index)
            running.add(float(draw(random, mean(index))))
            if index in (3, 10, 30, 60, 99):
                found = running.interval
                outside |= not found.lower <= total / (index + 1) <= found.upper
        missed += outside
    assert stats.binomtest(missed, runs, 0.2, 'greater').pvalue > 1e-3
    assert found.width < 0.4


def test_the_mean_over_the_tests_is_that_of_the_plain_formula():
    random, c = np.random.default_rng(5), 0.1
    running, z = RunningMean(Bounds(-1.0, 3.0), c), 4.0 * random.beta(2, 3, 80) - 1.0
    for each in z.tolist():
        running.add(each)
    scaled = (z + 1.0) / 4.0
    guesses = (0.5 + np.cumsum(scaled) - scaled) / (1.0 + np.arange(80))
    square = np.sum((scaled - guesses) ** 2)
    t = np.geomspace(0.05, 0.9, 6)
    far = np.linspace(0.0, 40.0, 400_001)
    capital = np.mean(np.exp(t[:, None] * far + (np.log1p(-t) + t)[:, None] * square), axis=0)
    half = 4.0 * far[np.argmax(capital >= 2.0 / c)] / 80
    assert running.interval.lower == pytest.approx(np.mean(z) - half, abs=1e-4)
    assert running.interval.upper == pytest.approx(np.mean(z) + half, abs=1e-4)


def test_lost_tests_count_at_their_worst_in_the_mean_over_the_tests():
    plain, lost = RunningMean(UNIT, 0.05), RunningMean(UNIT, 0.05)
    for index in range(200):
        plain.add(0.5)
        lost.add(0.5, UNIT if index % 20 == 0 else None)
        if index % 20 == 1:
            plain.add(0.5)
            lost.add(None, UNIT)
    assert lost.interval.lower < plain.interval.lower - 0.03
    assert lost.interval.upper > plain.interval.upper + 0.03


def test_where_losses_widen_a_change_may_be_theirs(write):
    content = paper_settings()
    content['accuracy']['selection'] = 'widen'
    content['tester'].update(stopping={'rule': 'fixed', 'tests': 200})
    random, campaign = np.random.default_rng(3), Campaign(load(write(content)))
    campaign.add(TestRecord(0, 0, 0.0, 1.0, False, 'lost'))
    for index in range(200):
        psi = float(beta(random, 0.3 + 0.4 * (index >= 100), 1)[0])
        campaign.add(TestRecord(index, int(index == 0), psi, 1.0, True))
    result = campaign.result('lab')
    assert [each for each in result.events if 'drift' in each]
    assert 'changed' not in result.objection
