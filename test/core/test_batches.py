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

"""Campaigns side by side: each gives to the last bit what it gives alone."""

import numpy as np
import pytest

from repsq_ros.estimation.accumulator import Accumulator
from repsq_ros.estimation.anytime import Anytime, AnytimeBatch
from repsq_ros.estimation.stopping import Bounds, Question
from repsq_ros.specification.load import load
from repsq_ros.studies import repeated_campaigns
from repsq_ros.studies.laws import read_law
from repsq_ros.studies.many import side_by_side
from repsq_ros.studies.repeated_campaigns import Plan, run_plan


def laws_of_z(kind, runs, tests, bounds):
    rng = np.random.default_rng(5)
    if kind == 'drift':
        z = rng.beta(2, 8, (runs, tests))
        z[:, tests // 2 :] = rng.beta(8, 2, (runs, tests - tests // 2))
    elif kind == 'rare':
        z = (rng.random((runs, tests)) < 0.02).astype(float)
    else:
        z = rng.beta(1.5, 1.7, (runs, tests))
    return bounds.lower + bounds.width * z


@pytest.mark.parametrize(
    ('kind', 'bounds'), [('drift', Bounds(-2.0, 4.0)), ('rare', Bounds(0.0, 1.0))]
)
def test_every_row_is_the_rule_alone(kind, bounds):
    """Ends of the interval, stops and voids, at each of 1100 tests, some rows left on the way."""
    gamma = 0.04 * bounds.width
    z = laws_of_z(kind, 8, 1100, bounds)
    question = Question(gamma, 0.05, bounds)
    together = AnytimeBatch(question, len(z))
    alone = [Anytime().begin(question) for _ in z]
    totals = [Accumulator() for _ in z]
    place, ended = np.arange(len(z)), 0
    for n in range(z.shape[1]):
        together.add(z[place, n])
        void, reached = together.void, together.reached
        for at, row in enumerate(place):
            totals[row].add(z[row, n])
            alone[row].add(totals[row], z[row, n], bounds)
            assert void[at] == alone[row].void
            assert reached[at] == alone[row].reached
            if not void[at]:
                assert together.lower[at] == alone[row].lower
                assert together.upper[at] == alone[row].upper
            ended += reached[at] or void[at]
        keep = ~(reached | void)
        together.keep(keep)
        place = place[keep]
    assert ended >= 4 or kind == 'spread'


def one_by_one(monkeypatch, plan, pairs):
    with monkeypatch.context() as patch:
        patch.setattr(repeated_campaigns, 'side_by_side', lambda specification, law: False)
        return run_plan(plan, pairs)


@pytest.mark.parametrize(
    ('law', 'changes'),
    [
        ('beta:0.47,0.28', {}),
        ('bernoulli:0.02', {}),
        ('two_point:0.2,0.6,0.25', {'partition': {'type': 'anchored'}}),
        ('constant:0.5', {}),
        ('bernoulli:0.5', {'max_tests': 150}),
    ],
)
def test_a_study_has_the_numbers_of_lone_campaigns(law, changes, content, write, monkeypatch):
    content['accuracy'].update(gamma=0.06)
    content['tester']['stopping'] = {'rule': 'anytime'}
    content['tester']['max_tests'] = changes.get('max_tests', 5000)
    content['partition'] = changes.get('partition', {'alpha': 0.12, 'first': 0.07})
    file = str(write(content))
    plan = Plan(file, file, law, seed=7)
    found = run_plan(plan, 5)
    assert found == one_by_one(monkeypatch, plan, 5)
    assert run_plan(plan, 5, chunk=2) == found
    outcome = 'budget' if 'max_tests' in changes else 'reached'
    assert all(run.outcome == outcome for pair in found for run in pair)


def test_only_where_neither_cases_nor_bounds_matter(content, write):
    beta, steep = read_law('beta:0.47,0.28', 0.0, 1.0), read_law('steep:4', 0.0, 1.0)
    content['tester']['stopping'] = {'rule': 'anytime'}
    assert side_by_side(load(write(content)), beta)
    assert not side_by_side(load(write(content)), steep)
    for proposal in ({'type': 'monte_carlo', 'sequence': 'sobol'}, {'type': 'adaptive'}):
        content['tester']['proposal'] = proposal
        assert not side_by_side(load(write(content)), beta)
    content['tester'].update(proposal='monte_carlo', stopping={'rule': 'hoeffding'})
    assert not side_by_side(load(write(content)), beta)
