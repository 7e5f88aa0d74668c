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

"""Every number of `data/statistics.json`, which was computed independently of this project."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from repsq_ros.estimation.accumulator import Accumulator
from repsq_ros.estimation.alpha import (
    agreement_exists,
    anchored_c,
    distinct_alpha,
    iid_alpha,
    paper_alpha,
)
from repsq_ros.estimation.anytime import Anytime
from repsq_ros.estimation.moments import EmpiricalBernstein, Hoeffding, smallest_n
from repsq_ros.estimation.partition import Partition
from repsq_ros.estimation.stopping import Bounds, Question
from repsq_ros.measurement.tracking_loss import soft_linf
from repsq_ros.sampling.box import Box, Dimension
from repsq_ros.sampling.distributions import Mixture, Product, uniform
from repsq_ros.sampling.marginals import Beta, Uniform, log_density, log_largest_ratio
from repsq_ros.sampling.weight_bound import largest_ratio

COPY = Path(__file__).resolve().parent.parent / 'data' / 'statistics.json'
SHARED = COPY.parents[3] / 'shared' / 'data' / 'reference' / 'statistics.json'
REFERENCE = json.loads(COPY.read_text())
TOLERANCE = 1e-9  # relative, as the file says


def close(value):
    return pytest.approx(value, rel=TOLERANCE, abs=1e-300)


def rows(key):
    return [row for row in REFERENCE[key] if set(row) != {'_about'}]


def test_the_copy_is_the_file_it_was_copied_from():
    if not SHARED.exists():
        pytest.skip(f'{SHARED} is not there')
    assert json.loads(SHARED.read_text()) == REFERENCE


def test_nothing_of_the_file_is_left_out():
    covered = {
        'alpha_paper', 'alpha_distinct', 'alpha_iid', 'anchored_c', 'hoeffding_n',
        'empirical_bernstein_radius', 'empirical_bernstein_stop_constant_variance', 'running',
        'beta_density', 'paper_proposals', 'soft_linf', 'partition', 'anytime',
        'p_same_uniform_law', 'steep_locomotion_psi',
    }  # fmt: skip
    assert set(REFERENCE) - {'_about'} == covered


# Alpha and c -------------------------------------------------------------------------------------


@pytest.mark.parametrize('row', rows('alpha_paper'))
def test_papers_alpha(row):
    alpha = paper_alpha(row['gamma'], row['c'], row['beta'])
    assert alpha == close(row['alpha'])
    assert row['gamma'] + alpha / 2 == close(row['total'])


@pytest.mark.parametrize('row', rows('alpha_distinct'))
def test_alpha_for_any_two_algorithms(row):
    assert distinct_alpha(row['gamma'], row['c'], row['beta']) == close(row['alpha'])


@pytest.mark.parametrize('row', rows('alpha_iid'))
def test_alpha_for_two_runs_of_one_law(row):
    assert iid_alpha(row['gamma'], row['c'], row['beta']) == close(row['alpha'])


@pytest.mark.parametrize('row', rows('anchored_c'))
def test_c_of_an_anchored_partition(row):
    c = anchored_c(row['beta'])
    assert c == close(row['c'])
    assert agreement_exists(c, row['beta']), 'the c that was computed for it is refused'


def test_what_the_papers_law_of_the_distance_gives_at_the_papers_alpha():
    """E[(alpha - D)+ / alpha] for D = |u1 - u2| of two uniform values within gamma of r*."""
    row = REFERENCE['p_same_uniform_law']
    ratio, p = row['alpha_over_gamma'], row['p']
    assert paper_alpha(0.1, 0.05, 0.1) / 0.1 == close(ratio)
    # By the partition itself: its cells under a random offset, and two uniform values.
    generator = np.random.default_rng(1)
    first, second = generator.uniform(-1.0, 1.0, (2, 4000)) + 50.0
    same = 0
    for offset, one, other in zip(generator.random(4000) * ratio, first, second, strict=True):
        cells = Partition.almost_uniform(40.0, 60.0, ratio, ratio - offset)
        same += cells.quantize(one).cell == cells.quantize(other).cell
    error = math.sqrt(p * (1 - p) / 4000)
    assert same / 4000 == pytest.approx(p, abs=3.3 * error)


# Stopping rules ----------------------------------------------------------------------------------


@pytest.mark.parametrize('row', rows('hoeffding_n'))
def test_hoeffding_counts(row):
    assert smallest_n(Hoeffding(), row['gamma'], 0.0, row['R'], row['c']) == row['n']


@pytest.mark.parametrize('row', rows('empirical_bernstein_radius'))
def test_empirical_bernstein_radius(row):
    two_sided = row['form'].endswith('ln(3/c)')
    rule = EmpiricalBernstein(2 if 'range_power 2' in row['form'] else 1, two_sided)
    n, variance = row['n'], row['variance']
    if two_sided:  # the rule takes the mean square, and turns it into the variance of the file
        variance *= (n - 1) / n
    assert rule.half_width(n, variance, row['R'], row['c']) == close(row['radius'])


@pytest.mark.parametrize('row', REFERENCE['empirical_bernstein_stop_constant_variance']['rows'])
def test_where_empirical_bernstein_stops_at_a_constant_variance(row):
    for power in (1, 2):
        rule = EmpiricalBernstein(power)
        n = smallest_n(rule, row['gamma'], row['sd'] ** 2, row['R'], row['c'])
        assert n == row[f'n{power}'], power


def test_running_mean_and_variance():
    row, total = REFERENCE['running'], Accumulator()
    means, variances = [], []
    for z in row['z']:
        total.add(z)
        means.append(total.mean)
        variances.append(total.variance)
    assert means == close(row['means'])
    assert variances == close(row['mean_square_variance'])
    assert total.unbiased_variance == close(row['unbiased_variance_last'])


# The betting confidence sequence -----------------------------------------------------------------


def follow(row):
    """Return (intervals by n, n, mean) of `anytime` on the sequence that the file describes."""
    bounds = Bounds(row['lo'], row['hi'])
    progress = Anytime().begin(Question(row['gamma'], row['c'], bounds))
    total, intervals = Accumulator(), {}
    while not progress.reached:
        place = (total.n + 1) * 0.6180339887498949 % 1.0
        z = row['z'] if 'z' in row else row['lo'] + row['offset'] + row['s'] * place
        total.add(z)
        progress.add(total, z, bounds)
        intervals[str(total.n)] = [progress.lower, progress.upper]
    return intervals, total.n, total.mean


@pytest.mark.parametrize('key', ['uniform', 'narrow'])
def test_anytime_on_a_given_sequence(key):
    row = REFERENCE['anytime'][key]
    intervals, n, mean = follow(row)
    for place, interval in row.get('intervals', {}).items():
        assert intervals[place] == pytest.approx(interval, abs=1e-4), place
    assert n == pytest.approx(row['stop'][0], abs=1)
    if n == row['stop'][0]:  # one test more or less moves the mean by more than the tolerance
        assert mean == pytest.approx(row['stop'][1], abs=1e-3 * row['gamma'])


def test_anytime_on_a_constant():
    row = REFERENCE['anytime']['constant']
    assert follow(row)[1] == pytest.approx(row['stop_n'], abs=1)


# Densities and weights ---------------------------------------------------------------------------


@pytest.mark.parametrize('row', rows('beta_density'))
def test_beta_densities(row):
    beta = Beta(row['a'], row['b'])
    found = [math.exp(log_density(beta, u)) for u in (0.1, 0.5, 0.9)]
    assert found == close(row['at_0.1_0.5_0.9'])
    assert -beta.log_constant == close(row['ln_B'])
    antimode, minimum = row['antimode_and_minimum']
    assert math.exp(log_density(beta, antimode)) == close(minimum)
    assert math.exp(-log_largest_ratio(Uniform(), beta)) == close(minimum)


def test_the_weights_of_the_papers_proposals():
    row = REFERENCE['paper_proposals']
    box = Box(tuple(Dimension(name, 'm/s', -0.3, 0.3) for name in 'abc'))
    target = uniform(box)
    betas = Product(box, tuple(map(Beta, row['a'], row['b'])))
    mixture = Mixture((target, betas), (0.1, 0.9))
    centre = (0.0, 0.0, 0.0)

    def weight_at_centre(q):
        return math.exp(target.logpdf(centre) - q.logpdf(centre))

    assert largest_ratio(target, betas) == close(row['w_max'])
    assert weight_at_centre(betas) == close(row['w_at_centre'])
    of_mixture = row['mixture_0.1p_0.9q']
    assert largest_ratio(target, mixture) == close(of_mixture['w_max'])
    assert weight_at_centre(mixture) == close(of_mixture['w_at_centre'])
    first = Product(Box(box.dimensions[:1]), (Beta(row['a'][0], row['b'][0]),))
    assert math.exp(first.logpdf((0.0,))) == close(row['density_of_first_on_[-0.3,0.3]_at_0'])


# Measure and partition ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ('row', 'error'),
    zip(REFERENCE['soft_linf'], [(0.02, 0.02, 0.02), (0.3, 0.0, 0.0)], strict=True),
)
def test_tracking_loss(row, error):
    errors = np.tile(error, (150, 1))
    for reduction in ('sum', 'mean'):
        assert soft_linf(errors, 6.0, reduction) == close(row[reduction])


@pytest.mark.parametrize('row', rows('partition'))
def test_partitions(row):
    studies = {'manipulator': (0.1, 0.05, 0.1), 'locomotion': (0.04, 0.05, 0.1)}
    alpha = row.get('alpha')
    if alpha is None:
        study = next(each for each in studies if each in row['_about'])
        alpha = paper_alpha(*studies[study])
    partition = Partition.almost_uniform(row['lower'], row['upper'], alpha, row.get('first'))
    if 'edges' in row:
        assert partition.edges == close(row['edges'])
    if 'cells' in row:
        assert len(partition.edges) - 1 == row['cells']
        assert partition.edges[-1] - partition.edges[-2] == close(row['last_width'])
    for estimate, cell, value, *flag in row.get('quantize', []):
        quantized = partition.quantize(estimate)
        assert (quantized.cell, quantized.outside) == (cell, flag == ['outside'])
        assert quantized.value == close(value)


@pytest.mark.parametrize('key', ['p4', 'p5'])
def test_the_synthetic_loss_of_the_adaptive_figures(key):
    """psi = 1 - exp(-s (p+1)/3 sum |u_j|^p xi): its mean and spread, by Monte Carlo."""
    row, power = REFERENCE['steep_locomotion_psi'][key], int(key[1:])
    generator = np.random.default_rng(4)
    u = generator.uniform(-1.0, 1.0, (200_000, 3))
    xi = np.exp(generator.normal(-0.03125, 0.25, len(u)))
    psi = -np.expm1(-row['s'] * (power + 1) / 3 * np.sum(np.abs(u) ** power, axis=1) * xi)
    assert psi.mean() == pytest.approx(row['mean'], abs=4e-3)
    assert psi.std() == pytest.approx(row['sd'], abs=4e-3)
