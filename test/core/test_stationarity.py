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

import numpy as np
import pytest
from conftest import paper_settings
from scipy import stats

from repsq_ros.campaign.campaign import Campaign
from repsq_ros.campaign.records import TestRecord
from repsq_ros.estimation.stationarity import LEVEL, StationarityTest
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
    assert found.mean() > 0.9


def test_it_is_an_event_of_the_result_once(write):
    content = paper_settings()
    content['tester'].update(stopping={'rule': 'fixed', 'tests': 200})
    random, campaign = np.random.default_rng(3), Campaign(load(write(content)))
    for index in range(200):
        psi = float(beta(random, 0.3 + 0.4 * (index >= 100), 1)[0])
        campaign.add(TestRecord(index, 0, psi, 1.0, True))
    (event,) = [each for each in campaign.result('lab').events if 'drift' in each]
    assert 'tested at level 0.01' in event
