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

"""Studies without a robot: what a campaign costs, and how often two labs would agree."""

import json
import math
import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest
import yaml

from repsq_ros.cli import main
from repsq_ros.errors import ParameterError
from repsq_ros.estimation.accumulator import Accumulator
from repsq_ros.estimation.moments import (
    EmpiricalBernstein,
    Hoeffding,
    RelativeHalfWidth,
    first_stops,
)
from repsq_ros.simulation.in_process import run_in_process
from repsq_ros.simulation.surrogate import Surrogate
from repsq_ros.specification.load import load
from repsq_ros.studies.case_rules import study_cases, study_pairs
from repsq_ros.studies.case_twins import SteepTwin, study_twins
from repsq_ros.studies.costs import budget_of, cheapest, offers
from repsq_ros.studies.laws import read_law
from repsq_ros.studies.repeated_campaigns import Plan, run_plan
from repsq_ros.studies.rules import study_scenario
from repsq_ros.studies.spread import Spread
from repsq_ros.studies.summary import summarize

# Laws --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ('text', 'mean', 'sd'),
    [
        ('beta:0.47,0.28', 0.47, 0.28),
        ('bernoulli:0.02', 0.02, math.sqrt(0.02 * 0.98)),
        ('two_point:0.2,0.6,0.25', 0.3, 0.4 * math.sqrt(0.25 * 0.75)),
        ('constant:0.5', 0.5, 0.0),
        ('steep:4', 0.47, 0.271),
        ('steep:5', 0.47, 0.299),
    ],
)
def test_a_law_has_the_mean_and_the_spread_that_it_names(text, mean, sd):
    law = read_law(text, 0.0, 1.0)
    random = np.random.default_rng(1)
    psi = [law.draw(random.random(3).tolist(), random) for _ in range(20_000)]
    assert np.mean(psi) == pytest.approx(mean, abs=4 * max(sd, 1e-12) / math.sqrt(20_000))
    assert np.std(psi) == pytest.approx(sd, rel=0.03, abs=1e-12)
    assert law.mean in (None, pytest.approx(mean))


@pytest.mark.parametrize(
    'text',
    ['gauss:0.5,0.1', 'beta:0.5', 'beta:0.5,0.6', 'beta:1.5,0.1', 'beta:nan,0.1', 'bernoulli:2',
     'two_point:-1,1,0.5', 'steep:3', 'constant:x', ''],
)  # fmt: skip
def test_a_law_that_cannot_be_is_told(text):
    with pytest.raises(ParameterError, match='parameter law: found'):
        read_law(text, 0.0, 1.0)


# Many campaigns at once --------------------------------------------------------------------------


@pytest.mark.parametrize(
    'rule',
    [EmpiricalBernstein(), EmpiricalBernstein(two_sided=True), EmpiricalBernstein(2), Hoeffding(),
     RelativeHalfWidth(0.1)],
)  # fmt: skip
@pytest.mark.parametrize('offset', [0.0, 1000.0])
def test_campaigns_in_one_array_stop_where_each_alone_does(rule, offset):
    z = offset + np.random.default_rng(2).random((20, 400))
    gamma = 0.1
    n, mean = first_stops(z, rule, gamma, 1.0, 0.05)
    for row, its_n, its_mean in zip(z.tolist(), n, mean, strict=True):
        total, stopped = Accumulator(), 0
        for value in row:
            total.add(value)
            half = rule.half_width(total.n, total.variance, 1.0, 0.05)
            if rule.reached(total.n, total.mean, half, gamma):
                stopped = total.n
                break
        assert its_n == stopped
        assert its_mean == pytest.approx(total.mean, rel=1e-12)


# Plan --------------------------------------------------------------------------------------------


def find(found, partition, rule):
    return next(o for o in found if (o.partition, o.rule) == (partition, rule))


def test_a_plan_says_what_simulated_campaigns_take(content, write):
    """The counts of the plan against those of the study on the same spread."""
    found = offers(load(write(content)), Spread(0.47, 0.28))
    row = study_scenario(1, 100, 3)
    paper = find(found, 'as specified', 'empirical_bernstein')
    assert paper.tests == pytest.approx(row.paper_tests[0], rel=0.02)
    any_n = find(found, 'as specified', 'anytime')
    assert any_n.tests == pytest.approx(row.anytime_tests[0], rel=0.2)
    anchored = find(found, 'anchored', 'anytime')
    assert anchored.tests == pytest.approx(row.anchored_tests[0], rel=0.2)
    certified = find(found, 'any fixed', 'certified_cell')
    assert certified.tests == pytest.approx(row.certified_median, rel=0.5)
    assert find(found, 'as specified', 'hoeffding').tests == 1153
    assert paper.p_same == pytest.approx(row.paper_same, abs=0.12)


def test_the_cheapest_offer_proves_what_was_asked_for(content, write):
    found = offers(load(write(content)), Spread(0.47, 0.28))
    best = cheapest(found)
    assert (best.partition, best.rule) == ('anchored', 'anytime')
    assert best.accurate
    assert best.agreed
    assert all(o.tests >= best.tests for o in found if o.guarantees and o.tests)
    # Looking after every test is not what the empirical Bernstein bound allows for.
    assert not any(o.accurate for o in found if o.rule.startswith('empirical_bernstein'))


def test_no_rule_proves_anything_for_sobol_points(content, write):
    content['tester']['proposal'] = {'type': 'monte_carlo', 'sequence': 'sobol'}
    assert cheapest(offers(load(write(content)), Spread(0.47, 0.28))) is None


def test_hours_and_battery_changes(content, write):
    budget = budget_of(load(write(content)), battery_minutes=1.0, change_minutes=10.0)
    assert budget.test_seconds == 8.0
    # Seven tests of 8 s fit into a minute.
    assert [budget.battery_changes(n) for n in (1, 7, 8, 14, 15)] == [0, 0, 1, 1, 2]
    assert budget.hours(15) == pytest.approx((15 * 8 + 2 * 600) / 3600)
    assert budget_of(load(write(content)), None, 0.0).battery_changes(10_000) == 0


def test_repsq_plan_prints_the_cheapest(content, write, capsys):
    file = str(write(content))
    words = ['plan', file, '--sd', '0.28', '--mean', '0.47', '--battery-minutes', '60']
    assert main(words) == 0
    printed = capsys.readouterr().out
    assert 'a value within 0.07789 of the true mean (c 0.05)' in ' '.join(printed.split())
    assert printed.startswith('advice      anchored, anytime: about ')
    assert max(map(len, printed.splitlines())) <= 80
    main([*words, '--json'])
    told = json.loads(capsys.readouterr().out)
    assert told['cheapest']['rule'] == 'anytime'
    assert told['cheapest']['count']['mean'] == min(
        each['count']['mean'] for each in told['offers'] if each['promise']['agreed']
    )
    for word, told in (
        (['--sd', 'nan'], 'parameter sd: found nan'),
        (['--sd', '-1'], 'parameter sd: found -1.0'),
        (['--sd', '0.1', '--mean', '3'], 'parameter mean: found 3'),
        (['--sd', '0.1', '--battery-minutes', '0.1'], 'parameter battery-minutes: found 0.1'),
        (['--pilot', '/nowhere'], '/nowhere: '),
    ):
        assert main(['plan', file, *word]) in (2, 4)
        assert told in capsys.readouterr().err


# Simulate ----------------------------------------------------------------------------------------


@pytest.fixture
def quick(content, write):
    content['accuracy']['gamma'] = 0.15
    content['tester']['stopping'] = {'rule': 'anytime'}
    del content['partition']['first']
    return write(content)


def test_the_same_seed_gives_the_same_numbers_whoever_computes_them(quick):
    plan = Plan(str(quick), str(quick), 'steep:4', seed=3)
    alone = run_plan(plan, 12)
    assert run_plan(plan, 12, chunk=1) == alone
    with ProcessPoolExecutor(2, mp_context=get_context('spawn')) as executor:
        assert run_plan(plan, 12, executor, chunk=5) == alone
    assert run_plan(Plan(str(quick), str(quick), 'steep:4', seed=4), 12) != alone


def test_a_dask_cluster_computes_the_same_numbers(quick):
    distributed = pytest.importorskip('distributed')
    plan = Plan(str(quick), str(quick), 'beta:0.47,0.28', seed=3)
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        assert run_plan(plan, 6, client.get_executor()) == run_plan(plan, 6)


def test_a_subject_takes_part_as_in_a_campaign(quick):
    plan = Plan(str(quick), str(quick), '', subject='surrogate', seed=1)
    (first, second), *_ = runs = run_plan(plan, 2)
    assert first.estimate != second.estimate
    summary = summarize(runs, (0.15, 0.15), None)
    assert summary.truth == pytest.approx(0.496, abs=0.05)
    assert summary.truth_error > 0


def test_repsq_simulate_prints_agreement_coverage_and_tests(quick, capsys, tmp_path):
    figure = tmp_path / 'figure.svg'
    words = ['simulate', str(quick), '--law', 'beta:0.47,0.28', '--pairs', '6']
    pytest.importorskip('matplotlib')
    assert main([*words, '--processes', '1', '--figure', str(figure)]) == 0
    printed = capsys.readouterr().out
    assert 'pairs      6, campaigns: 12 reached' in printed
    assert 'agreement  ' in printed
    assert 'within gamma = 0.15 of r* = 0.47\n' in printed
    for word in ('initiator', 'r* \u00b1 (gamma + alpha/2)', 'edge of a cell', 'median of both'):
        assert word in figure.read_text()


@pytest.mark.parametrize(
    ('words', 'told', 'code'),
    [
        (['--law', 'luck:1'], 'parameter law', 2),
        (['--law', 'constant:0.5', '--pairs', '0'], 'parameter pairs: found 0', 2),
        (['--law', 'constant:0.5', '--processes', '0'], 'parameter processes: found 0', 2),
        (['--law', 'constant:0.5', '--seed', '-1'], 'parameter seed: found -1', 2),
        (['--law', 'constant:0.5', '--truth', 'nan'], 'parameter truth: found nan', 2),
        (['--subject', 'g1'], 'parameter model: found nothing', 2),
        (
            ['--law', 'constant:0.5', '--figure', '/nowhere/f.png', '--pairs', '1'],
            'figure /nowhere/f.png: No such folder',
            6,
        ),
        (['--law', 'constant:0.5', '--figure', 'f.odd', '--pairs', '1'], 'parameter figure', 2),
    ],
)
def test_what_cannot_be_simulated_is_told_in_one_line(words, told, code, quick, capsys):
    pytest.importorskip('matplotlib')
    assert main(['simulate', str(quick), *words]) == code
    line = capsys.readouterr().err
    assert told in line
    assert line.count('\n') == 1


def test_a_replicator_of_another_contract_is_refused(quick, content, write, capsys):
    content['accuracy']['gamma'] = 0.2
    other = write(content, 'other.yaml')
    words = ['--law', 'constant:0.5', '--replicator', str(other)]
    assert main(['simulate', str(quick), *words]) == 2
    assert 'expected the contract of' in capsys.readouterr().err


# The study of the rules --------------------------------------------------------------------------


@pytest.mark.parametrize('place', [0, 4])
def test_the_study_shows_what_the_theory_says(place):
    """Reference counts of 4000 runs elsewhere: paper 600 and 231, anytime 209 and 54."""
    row = study_scenario(place, 60, 5)
    paper, anytime = {0: (600, 209), 4: (231, 54)}[place]
    assert row.paper_tests[0] == pytest.approx(paper, rel=0.01)
    assert row.anytime_tests[0] == pytest.approx(anytime, rel=0.1)
    assert row.anchored_same_and_close >= 0.9
    assert row.certified_wrong <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 30)


# Fit ---------------------------------------------------------------------------------------------


def test_a_fit_to_a_pilot_saves_tests(content, write, tmp_path, capsys):
    """From a pilot on steep psi to a proposal that a specification takes as it is printed."""
    content['tester'].update(
        stopping={'rule': 'fixed', 'tests': 400}, max_tests=400, proposal='monte_carlo'
    )
    specification = load(write(content))
    law, random = read_law('steep:4', 0.0, 1.0), np.random.default_rng(3)
    proposal = specification.make_proposal()
    names = ','.join(specification.box.names)
    lines = [f'index,attempt,valid,{names},psi,weight,weight_bound,samples,mean,half_width,reason']
    for index in range(400):
        draw = proposal.draw(index, 1)
        psi = law.draw(specification.box.to_unit(draw.x), random)
        x = ','.join(map(repr, draw.x))
        lines.append(f'{index},0,1,{x},{psi!r},1.0,1.0,150,0,0,""')
    pilot = tmp_path / 'tests.csv'
    pilot.write_text('\n'.join(lines) + '\n')
    assert main(['fit', str(pilot), '--specification', specification.file]) == 0
    printed = capsys.readouterr().out
    content['tester']['proposal'] = yaml.safe_load(printed)['proposal']
    content['tester']['stopping'] = {'rule': 'anytime'}
    content['tester']['max_tests'] = 5000
    fitted = load(write(content, 'fitted.yaml'))
    assert fitted.make_proposal().proven
    runs = [
        run_plan(Plan(file, file, 'steep:4'), 5)
        for file in (
            str(write({**content, 'tester': {**content['tester'], 'proposal': 'monte_carlo'}})),
            fitted.file,
        )
    ]
    before, after = (summarize(each, (0.04, 0.04), 0.47).tests[0] for each in runs)
    assert after < 0.85 * before

    pilot.write_text('\n'.join(lines[:1]) + '\n')
    assert main(['fit', str(pilot), '--specification', specification.file]) == 4
    assert 'found 0 valid tests' in capsys.readouterr().err
    pilot.write_text('\n'.join([lines[0], 'x,0,1']) + '\n')
    assert main(['fit', str(pilot), '--specification', specification.file]) == 4
    assert 'row 1: ' in capsys.readouterr().err


# Initiator and replicator ------------------------------------------------------------------------


def test_an_anchored_replicator_returns_the_initiators_value(content, write, tmp_path):
    from repsq_ros.campaign.folder import CampaignFolder

    content['protocol'].update(dwell=0.5, command=1.5, window=1.0)
    content['accuracy'].update(gamma=0.1, c=0.05)
    content['partition'] = {'type': 'anchored'}
    content['tester']['stopping'] = {'rule': 'anytime'}
    specification = load(write(content))
    first = run_in_process(specification, Surrogate(), 1)
    assert first.value == first.estimate
    assert (first.cell_upper - first.cell_lower) == pytest.approx(0.4)
    folder = CampaignFolder(tmp_path / 'initiator', specification)
    folder.finish(first)
    folder.close()
    shared = load(tmp_path / 'initiator' / 'replication.yaml')
    assert shared.digest == first.replication_digest != first.specification_digest
    second = run_in_process(shared, Surrogate(), 2)
    assert second.estimate != first.estimate
    assert second.value == first.value
    assert second.specification_digest == second.replication_digest == first.replication_digest
    assert 'With probability at least 0.9025, the first lab and one lab' in second.agreement


def test_without_the_extra_the_core_still_simulates(quick):
    """Neither matplotlib nor tqdm nor dask is needed where no figure is asked for."""
    hidden = (
        "import sys; [sys.modules.__setitem__(n, None) for n in ('matplotlib', 'tqdm', "
        "'distributed')]; from repsq_ros.cli import main; "
        f"words = ['simulate', {str(quick)!r}, '--law', 'constant:0.5', '--pairs', '1', "
        "'--processes', '1']; assert main(words) == 0; "
        "assert main([*words, '--figure', 'f.png']) == 5; "
        "assert main([*words, '--scheduler', 'tcp://localhost:1']) == 5"
    )
    done = subprocess.run(
        [sys.executable, '-c', hidden],
        capture_output=True,
        text=True,
        check=False,
        env=dict(os.environ),
    )
    assert done.returncode == 0, done.stderr
    assert '--figure needs matplotlib, not installed here: ' in done.stderr
    assert '--scheduler needs distributed, not installed here: ' in done.stderr


def test_the_study_of_cases_shows_what_each_way_saves():
    """Of the steep law: 372 tests by Monte Carlo, 248 by an adaptive proposal, 193 beside g."""
    row = study_cases(1, 6, 5)
    assert row.law == 'steep:5'
    assert row.monte_carlo.tests == pytest.approx(372, rel=0.12)
    assert row.adaptive.tests == pytest.approx(248, rel=0.12)
    assert row.control.tests == pytest.approx(193, rel=0.12)
    assert row.control.tests < row.both.tests < row.adaptive.tests


def test_a_simulator_whose_loss_is_larger_saves_tests_and_one_that_says_nothing_fewer():
    """Of the steep law, gamma .02: 1248 tests alone, 408 and 557 with 4000 simulated ones."""
    row = study_twins(2, 4, 5, SteepTwin(1.15, 4000))
    silent = study_twins(2, 4, 5, SteepTwin(1e-9, 4000))  # each answer is next to 0
    assert row.twin == SteepTwin(1.15, 4000)
    assert (row.without, row.regression) == (silent.without, silent.regression)
    assert row.without.tests == pytest.approx(1200, rel=0.1)
    assert row.beside.tests < 0.85 * silent.beside.tests < 0.5 * row.without.tests
    assert max(row.regression.missed, row.beside.missed, silent.beside.missed) <= 0.25


def test_the_study_of_pairs_counts_what_pairs_save():
    row = study_pairs(1, 8, 5)
    assert row.difference == pytest.approx(0.068, abs=0.005)
    assert row.pairs.tests == pytest.approx(80, rel=0.2)
    assert row.apart.tests > 4 * row.pairs.tests
    assert row.pairs.missed == 0.0
