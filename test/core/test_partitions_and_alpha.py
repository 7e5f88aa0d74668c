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

"""Partitions and alpha: what two labs can agree on, and at which price."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from repsq_ros.campaign.campaign import Campaign
from repsq_ros.campaign.folder import CampaignFolder
from repsq_ros.campaign.records import TestRecord
from repsq_ros.errors import SpecificationError
from repsq_ros.estimation.alpha import (
    agreement_exists,
    anchored_c,
    corrigendum_alpha,
    distinct_alpha,
    iid_alpha,
    paper_alpha,
)
from repsq_ros.estimation.partition import Partition, probability_same
from repsq_ros.specification.load import load

# Quantizing --------------------------------------------------------------------------------------


@given(
    lower=st.floats(-5, 5),
    width=st.floats(0.1, 10),
    anchor=st.floats(-0.2, 1.2),
    half=st.floats(0.01, 2),
    place=st.floats(0, 1),
)
def test_quantizing_on_an_anchored_partition(lower, width, anchor, half, place):
    """Idempotent, and nowhere further than half a cell."""
    half_width = half * width
    partition = Partition.anchored(lower, lower + width, lower + anchor * width, half_width)
    widths = np.diff(partition.edges)
    assert np.all(widths > 1e-9 * half_width), 'a sliver of rounding became a cell'
    assert np.all(widths <= 2 * half_width * (1 + 1e-6))
    assert (partition.edges[0], partition.edges[-1]) == (lower, lower + width)
    estimate = lower + place * width
    once = partition.quantize(estimate)
    assert partition.quantize(once.value).value == once.value
    assert partition.quantize(once.value).cell == once.cell
    assert abs(once.value - estimate) <= half_width * (1 + 1e-6)


@given(
    edges=st.lists(st.integers(0, 1000), min_size=2, max_size=12, unique=True),
    place=st.floats(-0.5, 1.5),
)
def test_quantizing_on_given_edges(edges, place):
    edges = tuple(float(edge) for edge in sorted(edges))
    partition = Partition(edges)
    estimate = edges[0] + place * (edges[-1] - edges[0])
    once = partition.quantize(estimate)
    assert once.outside == (not edges[0] <= estimate <= edges[-1])
    assert (once.lower, once.upper) == edges[once.cell : once.cell + 2]
    assert once.value == (once.lower + once.upper) / 2
    assert partition.quantize(once.value).cell == once.cell
    if not once.outside:
        assert once.lower <= estimate <= once.upper
        assert estimate < once.upper or once.cell == len(edges) - 2


def test_the_cell_of_the_anchor_is_closed_on_both_sides_and_its_value_the_anchor():
    partition = Partition.anchored(0.0, 1.0, 0.46, 0.125)
    cell = partition.anchor_cell
    low, high = partition.edges[cell : cell + 2]
    assert (low, high) == pytest.approx((0.46 - 0.125, 0.46 + 0.125), rel=1e-12)
    for estimate in (low, 0.4, 0.46, high):
        assert (partition.quantize(estimate).cell, partition.quantize(estimate).value) == (
            cell,
            0.46,
        )
    assert partition.quantize(math.nextafter(high, 2)).cell == cell + 1
    assert partition.quantize(math.nextafter(low, -1)).cell == cell - 1
    # Every other cell has its midpoint, and is half-open as ever.
    other = partition.quantize(high + 0.01)
    assert other.value == (other.lower + other.upper) / 2


@pytest.mark.parametrize(
    ('anchor', 'moved'), [(0.0, 0.0), (1.0, 1.0), (-0.3, 0.0), (1.7, 1.0), (0.01, 0.01)]
)
def test_an_anchor_at_or_beyond_an_end_of_the_range(anchor, moved):
    partition = Partition.anchored(0.0, 1.0, anchor, 0.1)
    assert partition.anchor == moved
    assert partition.quantize(anchor).value == moved
    assert partition.quantize(anchor).cell == partition.anchor_cell


def test_a_cell_of_the_anchor_wider_than_the_range():
    partition = Partition.anchored(0.0, 1.0, 0.3, 5.0)
    assert partition.edges == (0.0, 1.0)
    assert partition.quantize(0.9).value == 0.3


@pytest.mark.parametrize('half_width', [0.0, -0.1, math.nan])
def test_what_is_no_anchored_partition(half_width):
    with pytest.raises(ValueError, match='no partition'):
        Partition.anchored(0.0, 1.0, 0.5, half_width)


@pytest.mark.parametrize(
    ('alpha', 'first'), [(0.0, None), (-1.0, None), (math.nan, None), (0.1, 0.0), (0.1, 0.11)]
)
def test_what_is_no_almost_uniform_partition(alpha, first):
    with pytest.raises(ValueError, match=r'no partition|first cell'):
        Partition.almost_uniform(0.0, 1.0, alpha, first)


def test_nan_has_no_cell_and_infinity_has_the_last():
    partition = Partition.almost_uniform(0.0, 1.0, 0.3)
    with pytest.raises(ValueError, match='NaN'):
        partition.quantize(math.nan)
    assert (partition.quantize(math.inf).cell, partition.quantize(math.inf).outside) == (3, True)


def test_only_an_anchored_partition_has_a_cell_of_the_anchor():
    with pytest.raises(ValueError, match='no anchor'):
        _ = Partition.almost_uniform(0.0, 1.0, 0.3).anchor_cell


# Initiator and replicator ------------------------------------------------------------------------


@given(
    true=st.floats(0, 1),
    initiator=st.floats(-1, 1),
    replicator=st.floats(-1, 1),
    gamma=st.floats(0.002, 0.6),
)
def test_every_accurate_replicator_returns_the_initiators_value(
    true, initiator, replicator, gamma
):
    """r_1 and r_2 anywhere within gamma of r*, but for rounding; the cells are 4 gamma wide."""
    near = gamma * (1 - 1e-9)
    first, second = true + initiator * near, true + replicator * near
    partition = Partition.anchored(0.0, 1.0, first, 2 * gamma)
    assert partition.quantize(first).value == partition.anchor
    assert partition.quantize(second).value == partition.anchor
    assert abs(partition.anchor - true) <= gamma


@given(st.floats(0.1, 0.9), st.floats(0.01, 0.1), st.floats(0.01, 0.1))
def test_unequal_accuracies_need_the_sum_of_them(true, of_initiator, of_replicator):
    partition = Partition.anchored(
        0.0, 1.0, true + of_initiator * (1 - 1e-9), of_initiator + of_replicator
    )
    assert partition.quantize(true - of_replicator * (1 - 1e-9)).value == partition.anchor


def test_labs_that_are_accurate_with_1_minus_c_agree_as_often_as_promised():
    """Each misses with probability c, and is at gamma's end on one side or the other else."""
    rng, gamma, c = np.random.default_rng(61), 0.04, anchored_c(0.1)
    away = np.where(rng.random((4000, 2)) < c, 0.3, gamma * (1 - 1e-9))
    labs = 0.47 + away * rng.choice((-1, 1), (4000, 2))
    same = sum(
        Partition.anchored(0.0, 1.0, first, 2 * gamma).quantize(second).value == first
        for first, second in labs.tolist()
    )
    assert same / 4000 >= 0.9 - 2.33 * math.sqrt(0.9 * 0.1 / 4000)


@pytest.fixture
def initiator(content):
    content['partition'] = {'type': 'anchored'}
    content['tester']['stopping'] = {'rule': 'anytime'}
    return content


def run(specification, psi, weight=1.0):
    campaign = Campaign(specification)
    while not campaign.stopped:
        n = 0 if campaign.latest is None else campaign.latest.n
        campaign.add(TestRecord(n, 0, psi, weight, True))
    return campaign.result('lab')


def publish(specification, result, folder):
    """Return what the replicators load."""
    written = CampaignFolder(folder, specification)
    written.finish(result)
    written.close()
    return load(folder / 'replication.yaml')


def test_what_an_initiator_publishes_is_what_a_replicator_shares(initiator, write, tmp_path):
    specification = load(write(initiator))
    result = run(specification, 0.46)
    assert result.value == result.estimate
    replication = publish(specification, result, tmp_path / 'campaign')
    assert replication.digest == result.replication_digest != specification.digest
    replica = run(replication, 0.46 + 0.079)
    assert (replica.value, replica.cell) == (result.value, result.cell)
    assert replica.specification_digest == replica.replication_digest == replication.digest
    assert run(replication, 0.46 + 0.081).value != result.value


def test_an_estimate_beyond_the_range_can_be_published_too(initiator, write, tmp_path):
    """Weights may carry an estimate beyond the range; it is set to the range's end."""
    initiator['tester'].update(max_tests=30, proposal={
        'type': 'importance', 'distribution': {'type': 'mixture', 'components': [
            {'share': 0.5, 'type': 'uniform'},
            {'share': 0.5, 'type': 'beta', 'linear_x': {'a': 2, 'b': 2}}]},
    })  # fmt: skip
    specification = load(write(initiator))
    result = run(specification, 1.0, weight=1.5)
    assert (result.estimate, result.value, result.outside) == (1.5, 1.0, True)
    replication = publish(specification, result, tmp_path / 'campaign')
    assert replication.partition.anchor == 1.0
    assert replication.digest == result.replication_digest


# What is promised --------------------------------------------------------------------------------


def promised(content, write):
    return run(load(write(content)), 0.46).agreement


def test_an_anchored_partition_promises_agreement(initiator, write):
    assert promised(initiator, write).startswith(
        'With probability at least 0.9025, the first lab and one'
    )
    initiator['accuracy'].update(runs=3, c=0.03)
    assert promised(initiator, write).startswith(
        'With probability at least 0.9126, the first lab and 2'
    )


def test_cells_too_narrow_for_a_second_lab_promise_no_agreement(initiator, write):
    """Two labs within gamma of r* are up to 2 gamma apart: half a cell of gamma leaves nothing."""
    initiator['partition']['half_width'] = 0.04
    assert '0.9025' not in promised(initiator, write)


@pytest.mark.parametrize('partition', [{'type': 'anchored'}, {'alpha': 1.0, 'first': 0.9}])
def test_a_bound_with_c_on_each_side_does_not_promise_as_much(partition, initiator, write):
    """Each run misses with 2 c, so that both are accurate with (1 - 2c)^2 only."""
    if 'alpha' in partition:
        initiator['accuracy']['c'] = 0.02
        partition = {'alpha': 'distinct', 'offset_seed': 1}
    initiator['partition'] = partition
    initiator['tester']['stopping'] = {'rule': 'empirical_bernstein', 'form': 'paper'}
    told = promised(initiator, write)
    assert '0.9025' not in told
    assert 'With probability 0.9 ' not in told


def test_a_random_offset_promises_agreement_over_it(initiator, write):
    initiator['accuracy']['c'] = 0.02
    for alpha, law in (('iid', 'of one law'), ('distinct', 'of any algorithms')):
        initiator['partition'] = {'alpha': alpha, 'offset_seed': 1}
        assert promised(initiator, write).startswith(
            f'With probability 0.9 at least two runs {law}'
        )
        initiator['partition'] = {'alpha': alpha}  # no offset was drawn
        assert promised(initiator, write).startswith('Nothing is proved for a fixed partition')


def test_the_papers_alpha_promises_nothing_and_says_so(initiator, write):
    initiator['partition'] = {'alpha': 'paper', 'offset_seed': 1}
    assert promised(initiator, write).startswith("Nothing is proved: the paper's alpha")


def test_the_offset_of_a_seed_is_the_same_for_all_and_another_for_another(initiator, write):
    edges = []
    for seed in (1, 1, 2):
        initiator['partition'] = {'alpha': 0.2, 'offset_seed': seed}
        edges.append(load(write(initiator)).partition.edges)
    assert edges[0] == edges[1] != edges[2]
    assert 0 < edges[0][1] <= 0.2


# Alpha -------------------------------------------------------------------------------------------


@given(st.floats(1e-6, 1), st.floats(0.001, 0.3), st.floats(0.01, 0.9), st.integers(2, 6))
def test_alpha_grows_with_gamma_and_exists_where_all_runs_can_be_accurate(gamma, c, beta, runs):
    for rule in (paper_alpha, iid_alpha, distinct_alpha):
        if not agreement_exists(c, beta, runs):
            with pytest.raises(ValueError, match='below 1-beta'):
                rule(gamma, c, beta, runs)
        elif (1 - c) ** runs > 1 - beta + 1e-6:
            alpha = rule(gamma, c, beta, runs)
            assert alpha >= 0
            assert rule(2 * gamma, c, beta, runs) == pytest.approx(2 * alpha, rel=1e-9)
            if rule is not paper_alpha:
                assert alpha > 0
                assert rule(gamma, c / 2, beta, runs) <= alpha * (1 + 1e-12)


@given(st.floats(0.001, 0.9), st.integers(2, 6))
def test_the_largest_c_of_an_anchored_partition_is_accepted(beta, runs):
    c = anchored_c(beta, runs)
    assert (1 - c) ** runs == pytest.approx(1 - beta, rel=1e-12)
    assert agreement_exists(c, beta, runs)
    assert not agreement_exists(c * (1 + 1e-6), beta, runs)


@pytest.mark.parametrize('runs', [2, 3, 5])
@pytest.mark.parametrize('law', ['one law', 'any'])
def test_the_alphas_keep_their_promise_at_the_worst_law(law, runs):
    """Over random offsets. One law: at either end of r* +- gamma by chance; any: at both ends."""
    rng, gamma, c, beta = np.random.default_rng(62), 0.03, 0.015, 0.1
    alpha = (iid_alpha if law == 'one law' else distinct_alpha)(gamma, c, beta, runs)
    same, trials = 0, 3000
    for _ in range(trials):
        cells = Partition.almost_uniform(-10.0, 10.0, alpha, alpha * (1 - rng.random()))
        side = rng.choice((-1, 1), runs) if law == 'one law' else np.resize((-1, 1), runs)
        # The runs that miss are as far off as they like.
        away = np.where(rng.random(runs) < c, 9.0, gamma)
        same += len({cells.quantize(0.2 + each).cell for each in side * away}) == 1
    assert same / trials >= 1 - beta - 2.33 * math.sqrt(beta * (1 - beta) / trials)
    assert same / trials <= 1 - beta + 0.05  # nor is it wider than it has to be


# The plug-in -------------------------------------------------------------------------------------


def test_the_plug_in_of_an_anchored_partition_is_what_replicators_show():
    rng, error = np.random.default_rng(63), 0.05
    partition = Partition.anchored(0.0, 1.0, 0.46, 0.08)
    # Initiator and replicator scatter alike: the replicator around the anchor by sqrt(2) se.
    shown = np.mean(
        [
            partition.quantize(each).value == 0.46
            for each in rng.normal(0.46, math.sqrt(2) * error, 4000)
        ]
    )
    expected = probability_same(partition, 0.46, error)
    assert shown == pytest.approx(expected, abs=3.3 * math.sqrt(expected * (1 - expected) / 4000))


def test_a_cell_at_an_end_takes_what_lies_beyond():
    # Of an anchored cell from 0 to 0.11 only the upper end can be passed.
    found = probability_same(Partition.anchored(0.0, 1.0, 0.01, 0.1), 0.01, 0.05)
    assert found == pytest.approx(stats.norm.cdf(0.1 / (math.sqrt(2) * 0.05)), rel=1e-12)
    assert probability_same(Partition((0.0, 1.0)), 0.5, 10.0) == 1.0


@given(st.floats(-0.2, 1.2), st.floats(1e-9, 10))
def test_the_plug_in_is_a_probability(estimate, error):
    for partition in (
        Partition.almost_uniform(0.0, 1.0, 0.1),
        Partition.anchored(0.0, 1.0, 0.4, 0.08),
    ):
        assert 0.0 <= probability_same(partition, estimate, error) <= 1.0 + 1e-12


def test_without_any_spread_a_replicator_far_from_the_anchor_does_not_return_it():
    partition = Partition.anchored(0.0, 1.0, 0.4, 0.08)
    assert probability_same(partition, 0.41, 0.0) == 1.0
    assert probability_same(partition, 0.7, 0.0) == 0.0


@pytest.mark.parametrize(('c', 'beta'), [(0.05, 0.4), (0.01, 0.3), (0.1, 0.6)])
def test_the_corrigendum_solves_its_own_equation(c, beta):
    alpha, gamma = corrigendum_alpha(0.1, c, beta), 0.1
    kept = (6.0 * gamma * alpha - alpha**2) / (12.0 * gamma**2) * (1.0 - c) ** 2
    assert kept == pytest.approx(1.0 - beta, rel=1e-12)


def test_at_the_papers_beta_the_corrigendum_has_no_alpha():
    with pytest.raises(ValueError, match=r'below \(4/3\)'):
        corrigendum_alpha(0.1, 0.01, 0.1)


@pytest.mark.parametrize(
    ('beta', 'expected'),
    [(0.1, 'accuracy.beta of at least 0.25'), (0.3, 'a smaller accuracy.c or a larger')],
)
def test_it_is_told_what_the_corrigendum_needs(beta, expected, content, write):
    content['accuracy'].update(c=0.05, beta=beta)
    content['partition'] = {'alpha': 'corrigendum'}
    with pytest.raises(SpecificationError, match=f'expected {expected}'):
        load(write(content))
    content['accuracy'].update(c=0.02, beta=0.3)
    assert load(write(content)).partition is not None
