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

"""Twins before there is one: campaigns that suppose it, and what a plan says of it."""

import json
import math

import numpy as np
import pytest
from conftest import paper_settings

from repsq_ros.cli import main
from repsq_ros.errors import ParameterError
from repsq_ros.estimation.anytime import Anytime
from repsq_ros.estimation.betting import LowerSequence
from repsq_ros.estimation.stopping import Bounds
from repsq_ros.simulation.build import make_subject
from repsq_ros.specification.load import load
from repsq_ros.studies import twin_costs
from repsq_ros.studies.counts import Count
from repsq_ros.studies.laws import read_law
from repsq_ros.studies.repeated_campaigns import Plan, campaign_of_law, run_plan
from repsq_ros.studies.simulated_twins import LawTwin, answers_of
from repsq_ros.studies.twin_costs import TwinOffer, floor_of, twin_offers, worth_it

UNIT = Bounds(0.0, 1.0)


@pytest.fixture
def file(write):
    content = paper_settings()
    content['partition'] = {'type': 'anchored'}
    content['accuracy']['gamma'] = 0.08
    content['tester'] = {'proposal': 'monte_carlo', 'seed': 3, 'stopping': {'rule': 'anytime'}}
    content['tester']['max_tests'] = 400
    return write(content)


def mean_tests(file, rho, campaigns=6, count=1500):
    specification, law = load(file), read_law('beta:.47,.28', 0.0, 1.0)
    found = [campaign_of_law(specification, law, seed, rho, count) for seed in range(campaigns)]
    assert all(result.accurate for result in found)
    return np.mean([result.n for result in found])


def test_a_twin_of_a_law_has_its_law_and_the_correlation(file):
    law = read_law('beta:.3,.2', 0.0, 1.0)
    twin = LawTwin(load(file), law, 0.7, 4000, 5)
    table, random = twin.specification.twin, np.random.default_rng(1)
    psi = law.many(random, 4000)
    for k, each in enumerate(psi.tolist()):
        twin.answer((float(k), 0.0, 0.0), each)
    s = np.array([table.answer((float(k), 0.0, 0.0))[0] for k in range(4000)])
    assert np.corrcoef(psi, s)[0, 1] == pytest.approx(0.7, abs=0.05)
    for values in (s, np.array([answers[0] for _, answers in table.simulated])):
        assert np.mean(values) == pytest.approx(0.3, abs=0.015)
        assert np.std(values) == pytest.approx(0.2, abs=0.015)
    assert len({x for x, _ in table.simulated}) == 4000


def test_a_supposed_twin_saves_tests_by_its_correlation(file):
    without, good, useless = (mean_tests(file, rho) for rho in (None, 0.97, 0.0))
    assert good < 0.65 * without
    assert useless == pytest.approx(without, rel=0.08)


@pytest.mark.parametrize('rule', [Anytime(), Anytime(middle=True), Anytime(c_below=0.1)])
def test_no_psi_ends_a_campaign_below_the_floor(rule):
    """Each test bets all that it may on psi that is r* each time; two caps cost ln 2."""
    mean, gamma, c = 0.3, 0.06, 0.05
    floor, ended, n = floor_of(rule, gamma, c, mean, UNIT), 0, 0
    above = LowerSequence(gamma, 1.0 / (c * rule.c_below), 0.0)
    below = LowerSequence(gamma, 1.0 / (c * (1.0 - rule.c_below)), -1.0)
    while not ended:
        n += 1
        above.add(mean, 1e6, 0.0, 1.0)
        below.add(-mean, 1e6, -1.0, 0.0)
        left, right = mean - above.bound, -below.bound - mean
        wide = (left + right) / 2.0 if rule.middle else max(left, right)
        ended = n if wide <= gamma else 0
    assert floor <= ended <= 1.25 * floor


def test_the_smallest_twin_is_taken_that_larger_ones_do_not_better_by_much():
    offers = [TwinOffer(m, Count(n, n, n)) for m, n in ((1, 0), (2, 200), (3, 104), (4, 100))]
    assert worth_it(offers, 0) == offers[2]
    assert worth_it(offers[:1], 0) is None


def test_a_twin_that_saves_a_few_tests_saves_nothing():
    offers = [TwinOffer(m, Count(n, n, n)) for m, n in ((1, 0), (2, 98), (3, 96))]
    assert worth_it(offers, 100) is None
    assert worth_it(offers, 105) == offers[1]


def test_larger_twins_are_tried_until_one_saves_too_little():
    left = {1_000: 200, 3_000: 150, 10_000: 146, 30_000: 20}

    class Supposed:
        def tests(self, simulated, seed):
            return left[simulated]

    tried = [offer.simulated for offer in twin_offers(Supposed(), None, lambda done: None)]
    assert tried == [1_000, 3_000, 10_000]


def test_a_plan_says_what_a_twin_leaves(file, capsys, monkeypatch):
    monkeypatch.setattr(twin_costs, 'SIZES', (300, 3_000))
    monkeypatch.setattr(twin_costs, 'CAMPAIGNS', 4)
    words = ['plan', str(file), '--sd', '.28', '--mean', '.47', '--processes', '1']
    assert main([*words, '--twin', '.97', '--json']) == 0
    told = json.loads(capsys.readouterr().out)['twin']
    assert (told['gamma'], told['c'], told['floor']) == (0.08, 0.05, 23)
    assert told['floor'] < told['best']['count']['mean'] < told['without']['mean']
    assert [each['simulated'] for each in told['offers']] == [300, 3_000]
    assert main([*words, '--twin', '.97']) == 0
    printed = capsys.readouterr().out
    assert printed.startswith('twin        A twin of correlation 0.97 of 3000 simulated tests')
    assert 'with any twin at least 23 tests are needed' in printed
    assert main([*words, '--twin', '0']) == 0
    assert 'saves no tests to speak of' in ' '.join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ('more', 'told'),
    [
        (['--twin', '1.1'], 'a correlation from 0 to 1'),
        (['--twin'], '--pilot and a specification with a twin'),
        (['--twin', '.9', '--tests', '50'], 'one of the two'),
    ],
)
def test_a_twin_that_cannot_be_planned_is_refused(file, capsys, more, told):
    assert main(['plan', str(file), '--sd', '.28', *more]) == ParameterError.exit_code
    assert told in capsys.readouterr().err


def test_a_twin_beside_other_stakes_is_refused(file, capsys):
    file.write_text(file.read_text().replace('rule: anytime', 'rule: anytime\n    stakes: target'))
    expected = "expected anytime with stakes 'one'"
    for words in (['plan', str(file), '--sd', '.28', '--twin', '.9'],
                  ['simulate', str(file), '--law', 'beta:.47,.28', '--twin', '.9']):  # fmt: skip
        assert main(words) == ParameterError.exit_code
        told = capsys.readouterr().err
        assert f"found rule 'anytime' with stakes 'target', {expected}" in told


# repsq simulate ----------------------------------------------------------------------------------


def simulate(file, *words):
    return main(['simulate', str(file), *words, '--pairs', '2', '--processes', '1'])


def test_simulate_supposes_a_twin(file, capsys):
    words = ['--law', 'beta:.47,.28', '--json']
    found = []
    for more in ([], ['--twin', '.97', '--twin-tests', '2000']):
        assert simulate(file, *words, *more) == 0
        found.append(json.loads(capsys.readouterr().out))
    without, beside = found
    assert beside['summary']['tests'][0] < 0.75 * without['summary']['tests'][0]
    assert '2000 simulated tests' in beside['promised']['guarantee']


def test_a_subject_answers_the_cases_of_every_seed(file, write, tmp_path, capsys):
    twinned = load(file)
    table = tmp_path / 'twin.csv'
    words = ['--subject', 'surrogate', '--processes', '1']
    ask = ['twin', str(file), *words, '--tests', '40', '--cases', '2', '--output', str(table)]
    assert main(ask) == 0
    content = paper_settings()
    content['partition'] = {'type': 'anchored'}
    content['tester'] = {'proposal': 'monte_carlo', 'seed': 3, 'stopping': {'rule': 'anytime'}}
    content['tester'].update(max_tests=12, control={'type': 'twin', 'file': 'twin.csv'})
    twinned = write(content)
    capsys.readouterr()
    assert simulate(twinned, '--subject', 'surrogate') == ParameterError.exit_code
    assert '--twin-subject NAME' in capsys.readouterr().err
    assert simulate(twinned, '--law', 'beta:.47,.28') == ParameterError.exit_code
    assert '--twin RHO' in capsys.readouterr().err
    path = str(twinned)
    plan = Plan(path, path, '', 'surrogate', twin_subjects=('surrogate',), seed=2)
    pair = run_plan(plan, 1)[0]
    assert [run.n for run in pair] == [12, 12]
    assert pair == run_plan(plan, 1)[0]
    # The file has the answers that are given to a case whenever it is asked.
    answer = answers_of(load(twinned), make_subject('surrogate', ''))
    x, s = next(iter(load(twinned).twin.of_robot.items()))
    assert (answer(x),) == s
    assert math.isfinite(answer((0.1, 0.1, 0.1)))
