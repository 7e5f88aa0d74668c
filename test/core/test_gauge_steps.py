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


"""A gauge that is stuck, or too coarse for gamma, is named after ten tests."""

import numpy as np
import pytest
from conftest import ROOT

from repsq_ros.campaign.campaign import Campaign
from repsq_ros.campaign.gauge_steps import GaugeSteps
from repsq_ros.campaign.records import TestRecord
from repsq_ros.specification.load import load

LARGEST = 0.0025  # [mm]


def displacements(n=40, seed=1):
    return np.abs(np.random.default_rng(seed).normal(0.05, 0.03, n))


def read_in_steps(step, n=40):
    """Tare and reading are rounded, as is what is made of them by 32 bits."""
    rng = np.random.default_rng(2)
    tare = 5.0 + rng.uniform(0.0, 2.0, n)
    rounded = [np.round(each / step) * step for each in (tare, tare + displacements(n))]
    return np.abs(np.float32(rounded[1]) - np.float32(rounded[0]))


@pytest.mark.parametrize(
    ('psi', 'words'),
    [
        (displacements(), ''),
        (read_in_steps(0.001), ''),
        (read_in_steps(0.005), ''),  # half of it is as much as is allowed
        (read_in_steps(0.01), 'multiples of 0.01 mm'),
        (read_in_steps(0.0254), 'multiples of 0.0254 mm'),
        (20 * read_in_steps(1.0), 'multiples of 20 mm'),
        (np.zeros(40), '0 mm in each of 40 tests: stuck'),
        (np.full(12, 0.3), '0.3 mm in each of 12 tests: stuck'),
        (np.zeros(9), ''),
    ],
)
def test_steps_of_a_gauge(psi, words):
    steps = GaugeSteps(LARGEST)
    for each in psi:
        steps.add(float(each))
    assert bool(steps.findings) is bool(words)
    assert words in ' '.join(steps.findings)


def test_a_campaign_asks_once_and_says_so_on_its_result():
    specification = load(ROOT / 'config' / 'ur10e_positioning.yaml')
    campaign, asked = Campaign(specification), []
    psi = read_in_steps(0.1, 300)
    for index in range(len(psi)):
        estimate = campaign.add(TestRecord(index, 0, float(psi[index]), 1.0, True))
        if estimate.question:
            asked.append((index, estimate.question))
        if campaign.stopped:
            break
    ((index, question),) = asked
    assert index == 9 and question.startswith('readings of the gauge: all displacements are')
    if campaign.stopped:
        result = campaign.result('c')
        assert 'multiples of 0.1 mm' in result.provisos[-1] and question in result.events[0]
