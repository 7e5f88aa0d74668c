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

"""A gauge that was zeroed or moved between two tests is named, with the test that it may spoil."""

from dataclasses import replace

import numpy as np
import pytest
from conftest import ROOT

from repsq_ros.campaign.campaign import Campaign
from repsq_ros.campaign.gauge_zero import GaugeZero
from repsq_ros.campaign.records import TestRecord
from repsq_ros.measurement.recorder import Recorder, Window
from repsq_ros.measurement.samples import Samples
from repsq_ros.specification.load import load


def before(n=60, pressed=(), by=-4.9, sd=0.02):
    """Readings at the reference: where a robot came to, and a zero that is pressed."""
    at = 5.0 + np.random.default_rng(1).normal(0, sd, n)
    for index in pressed:
        at[index:] += by
    return at


@pytest.mark.parametrize(
    ('readings', 'words'),
    [
        (before(), ''),
        (before(2000), ''),
        (before(sd=0.0), ''),
        (5.0 + 0.002 * np.arange(60), ''),  # a drift
        (before(pressed=[20], by=0.1), ''),  # within what is usual of it
        (before(pressed=[20]), 'from test 19 to 20: zeroed, or moved? psi of test 19 may be'),
        (before(pressed=[3]), 'from test 2 to 3:'),  # known once there are enough tests
        (before(pressed=[20], by=0.02, sd=0.0), 'jumps by +0.02 mm from test 19 to 20'),
        (before(pressed=[20, 40, 50]), 'from test 19 to 20: zeroed'),
        (before(pressed=[20, 40, 50]), '; 3 jumps in all'),
    ],
)
def test_a_jump_of_the_reading_before_the_command(readings, words):
    zero = GaugeZero(0.01)
    asked = [zero.take(index, float(each)) for index, each in enumerate(readings)]
    assert len(list(filter(None, asked))) == len(zero.findings) == bool(words)
    assert words in ' '.join(zero.findings)


@pytest.mark.parametrize('tare', [None, 5.0])
def test_a_campaign_asks_and_says_so_on_its_result(tare):
    """The reading before the command comes from the samples, whatever the tare is."""
    specification = load(ROOT / 'config' / 'ur10e_positioning.yaml')
    specification = replace(specification, tester=replace(specification.tester, max_tests=30))
    quantity = replace(specification.measure.quantity, tare=tare)
    measure = replace(specification.measure, quantity=quantity, conditions=(), condition_inputs=())
    campaign, asked = Campaign(specification), {}
    stamps = 1_000_000_000 + np.arange(100) * 50_000_000
    window = Window(4_000_000_000, 5_000_000_000, (), 2_500_000_000)
    for index, each in enumerate(before(30, pressed=[20], by=-0.3, sd=0.005)):
        recorder = Recorder(measure)
        values = np.where(stamps < window.command_ns, each, each + 0.05) / 1000.0
        recorder.add(Samples(stamps, value=values))
        outcome = recorder.measure(window)
        assert outcome.valid and outcome.measured == pytest.approx((each,))
        record = TestRecord(index, 0, outcome.psi, 1.0, True, measured=outcome.measured)
        asked[index] = campaign.add(record).question
    assert 'readings of the gauge: the reading before the command jumps by -0.2987 mm' in asked[20]
    assert campaign.stopped
    result = campaign.result('c')
    assert any('from test 19 to 20' in each for each in result.provisos)
    assert any('from test 19 to 20' in each for each in result.events)
