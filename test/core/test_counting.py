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

"""What a campaign counts of weighted tests, field by field, against the sums done at once."""

import math

import numpy as np
import pytest

from repsq_ros.campaign.campaign import Campaign
from repsq_ros.campaign.records import TestRecord
from repsq_ros.estimation.partition import Partition
from repsq_ros.estimation.weights import Weights, z_bounds
from repsq_ros.specification.load import load


@pytest.fixture
def weighted(content, write):
    """An adaptive campaign on the demo's box: every weight is below 1 / 0.2."""
    content['tester'].update(
        proposal={'type': 'adaptive', 'share_of_target': 0.2, 'batch': 1000},
        max_tests=400,
    )
    return load(write(content))


def weighted_records(n, seed=3):
    rng = np.random.default_rng(seed)
    psi, weight = rng.uniform(0.2, 0.8, n), rng.uniform(0.5, 1.1, n)
    return [TestRecord(i, 0, float(psi[i]), float(weight[i]), True, '') for i in range(n)]


def test_every_number_of_an_estimate_is_that_of_the_sums_done_at_once(weighted):
    campaign = Campaign(weighted)
    records = weighted_records(25)
    for one in records:
        latest = campaign.add(one)
    z = np.array([one.psi * one.weight for one in records])
    w = np.array([one.weight for one in records])
    assert (latest.index, latest.attempt, latest.n) == (24, 0, 25)
    assert latest.mean == pytest.approx(z.mean(), rel=1e-12)
    assert latest.variance == pytest.approx(z.var(), rel=1e-12)
    assert latest.effective_sample_size == pytest.approx(w.sum() ** 2 / (w**2).sum(), rel=1e-12)
    assert latest.largest_weight == w.max()
    assert latest.rule == weighted.tester.stopping.name
    assert latest.lower < latest.mean < latest.upper
    assert latest.half_width == max(latest.upper - latest.mean, latest.mean - latest.lower)
    assert 25 < latest.expected_n <= 400


def test_skipped_and_invalid_tests_are_counted_one_by_one_and_told(weighted):
    campaign = Campaign(weighted)
    told = [
        campaign.add(TestRecord(0, 0, 0.0, 0.0, False, 'a wall', skipped=True)),
        campaign.add(TestRecord(1, 0, 0.0, 0.0, False, 'another', skipped=True)),
        campaign.add(TestRecord(2, 0, 0.0, 0.0, False, 'gap: 0.4 s')),
        campaign.add(TestRecord(2, 1, 0.0, 0.0, False, 'gap: 0.5 s')),
        campaign.add(TestRecord(2, 2, math.nan, 1.0, True, '')),
        campaign.add(TestRecord(2, 3, 0.5, 1.0, True, '')),
    ]
    assert [one.skipped for one in told] == [1, 2, 2, 2, 2, 2]
    assert [one.invalid for one in told] == [0, 0, 1, 2, 3, 3]
    assert [one.n for one in told] == [0, 0, 0, 0, 0, 1]
    for one in weighted_records(10_000)[3:]:
        if campaign.stopped:
            break
        campaign.add(one)
    assert campaign.result('lab').events[:5] == (
        'test 0, attempt 0: skipped: a wall',
        'test 1, attempt 0: skipped: another',
        'test 2, attempt 0: INVALID: gap: 0.4 s',
        'test 2, attempt 1: INVALID: gap: 0.5 s',
        'test 2, attempt 2: not counted: psi nan, weight 1.0',
    )


@pytest.mark.parametrize(
    'psi, weight, event',
    [
        (0.5, 6.0, 'weight 6.0 above its bound 3.0'),
        (1.5, 1.0, 'psi 1.5 outside its range [0.0, 1.0]'),
    ],
)
def test_what_breaks_a_bound_is_told_with_its_test(weighted, psi, weight, event):
    campaign = Campaign(weighted)
    records = weighted_records(10_000)
    for place in (4, 5):
        records[place] = TestRecord(place, 0, psi, weight, True, '', weight_bound=3.0)
    for one in records:
        if campaign.stopped:
            break
        campaign.add(one)
    events = [each for each in campaign.result('lab').events if event in each]
    assert events == [f'test 4, attempt 0: {event}', f'test 5, attempt 0: {event}']


def test_a_truncated_campaign_cuts_counts_and_widens_by_the_bias(content, write):
    content['tester'].update(
        proposal={
            'type': 'importance',
            'truncation': 1.5,
            'distribution': {'type': 'beta', 'linear_x': {'a': 1.2, 'b': 1.2}},
        },
        max_tests=50,
    )
    specification = load(write(content))
    bias = specification.tester.proposal.truncation_bias
    assert bias > 0.0
    campaign = Campaign(specification)
    latest = campaign.add(TestRecord(0, 0, 0.8, 1.0, True, ''))
    assert latest.mean == 0.8
    for index, weight in enumerate((2.0, 3.0), start=1):  # z of 1.6 and 2.4: both are cut
        latest = campaign.add(TestRecord(index, 0, 0.8, weight, True, ''))
    assert latest.mean == pytest.approx((0.8 + 1.5 + 1.5) / 3, rel=1e-12)
    while not campaign.stopped:
        latest = campaign.add(TestRecord(latest.index + 1, 0, 0.5, 1.0, True, ''))
    assert campaign.question.gamma == pytest.approx(specification.accuracy.gamma - bias)
    assert '2 values cut to the truncation 1.5' in campaign.result('lab').events


def test_running_sums_of_weights():
    weights = Weights()
    assert weights.effective_sample_size == 0.0
    for weight in (3.0, 0.5, 2.0):
        weights.add(weight)
    assert weights.largest == 3.0
    assert weights.effective_sample_size == pytest.approx(5.5**2 / 13.25, rel=1e-12)


@pytest.mark.parametrize(
    'lower, upper, bound, options, expected',
    [
        (0.0, 1.0, 4.0, {}, (0.0, 4.0)),
        (0.2, 0.8, 4.0, {}, (0.0, 3.2)),  # a weight of 0 makes 0 of every psi
        (-2.0, 1.0, 4.0, {}, (-8.0, 4.0)),
        (-2.0, -1.0, 4.0, {}, (-8.0, 0.0)),
        (0.2, 0.8, 4.0, {'unweighted': True}, (0.2, 0.8)),
        (0.2, 0.8, 4.0, {'unweighted': True, 'truncation': 0.5}, (0.2, 0.5)),
        (0.0, 1.0, 4.0, {'truncation': 3.0}, (0.0, 3.0)),
        (0.0, 1.0, math.inf, {}, (0.0, math.inf)),
        (-1.0, 0.0, math.inf, {}, (-math.inf, 0.0)),
    ],
)
def test_bounds_of_z(lower, upper, bound, options, expected):
    found = z_bounds(lower, upper, bound, **options)
    assert (found.lower, found.upper) == expected


def test_the_distance_to_the_next_edge_leaves_out_the_ends_of_the_range():
    partition = Partition((0.0, 0.3, 0.5, 0.9, 1.0))
    for estimate, distance in ((0.01, 0.29), (0.32, 0.02), (0.45, 0.05), (0.88, 0.02),
                               (0.99, 0.09)):  # fmt: skip
        assert partition.quantize(estimate).edge_distance == pytest.approx(distance, rel=1e-9)
    assert Partition((0.0, 1.0)).quantize(0.4).edge_distance == math.inf
