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

"""A simulator beside the robot: fewer tests, and an interval that its answers cannot spoil."""

import importlib.util
import json
import math
import os
import sys
from dataclasses import replace

import numpy as np
import pytest
import yaml
from conftest import ROOT
from scipy import stats

from repsq_ros.campaign.campaign import Campaign
from repsq_ros.campaign.folder import read_tests
from repsq_ros.campaign.recomputed_campaign import recompute
from repsq_ros.cli import main
from repsq_ros.errors import CampaignError, JournalError, ParameterError, SpecificationError
from repsq_ros.estimation.anytime import Anytime
from repsq_ros.estimation.betting import CAPS, Bet, LowerSequence
from repsq_ros.simulation.build import make_subject
from repsq_ros.simulation.in_process import run_in_process, run_into_folder
from repsq_ros.specification.load import load
from repsq_ros.studies.repeated_campaigns import Plan, run_plan

found = importlib.util.spec_from_file_location('twin_bench', ROOT / 'benchmarks' / 'twin.py')
bench = importlib.util.module_from_spec(found)
sys.modules['twin_bench'] = bench
found.loader.exec_module(bench)

RUNS = 1500 if os.environ.get('REPSQ_FAR') else 8

# The bets ----------------------------------------------------------------------------------------


def capital(m, entries):
    """K by its formula: (z, stake, lower, number beside) of each test, the mean over the caps."""
    tracks = []
    for cap in CAPS:
        factors = []
        for z, stake, lower, beside in entries:
            bet = min(stake, cap / (m - lower))
            factors.append((1 + bet * (z - m)) * (1 + bet * beside))
        tracks.append(math.prod(factors))
    return sum(tracks) / len(tracks)


@pytest.mark.parametrize('seed', range(4))
def test_numbers_beside_the_tests_multiply_the_capital(seed):
    """Each candidate below L had the capital that refutes it at some test, and no one beyond."""
    random = np.random.default_rng(seed)
    z, beside = random.uniform(0.3, 1.0, 40), random.uniform(-0.1, 0.1, 40)
    entries = [(float(a), 3.0, -0.4, float(b)) for a, b in zip(z, beside, strict=True)]
    sequence = LowerSequence(0.04, 20.0, 0.0)
    for value, stake, lower, number in entries:
        sequence.add_each([(value, stake, lower)], 1.0, [number])
    assert 0.2 < sequence.bound < 0.7

    def largest(m):
        return max(capital(m, entries[:n]) for n in range(1, 41))

    for m in np.linspace(0.0, sequence.bound, 25):
        assert largest(m) >= 20.0 * (1 - 1e-9)
    assert largest(sequence.bound + 0.01) < 20.0


def test_between_the_bound_and_a_candidate_nothing_has_less_capital():
    """Negative numbers beside the tests let K rise with m where a cap binds."""
    sequence = LowerSequence(0.04, math.inf, 0.0)
    entries = [(0.31, 8.0, 0.0, -0.1), (0.32, 8.0, 0.0, -0.12), (0.9, 8.0, 0.0, -0.02)]
    for z, stake, lower, beside in entries:
        sequence.add_each([(z, stake, lower)], 1.0, [beside])
    one, low = np.zeros(1, dtype=np.intp), np.array([0.1])
    for m in (0.15, 0.2, 0.3):
        logs = sequence._capital(one, np.array([m]), low)
        least = min(capital(each, entries) for each in np.linspace(0.1, m, 50))
        assert np.exp(logs).mean() <= least * (1 + 1e-12)


def test_a_tenth_of_the_capital_bets_on_z_and_the_rest_on_what_the_twin_leaves():
    campaign = bench.TwinCampaign(2, np.full(80, 0.9), 4000, 0.04, Anytime())
    bet, entries = Bet(0.04, 0.0, 1.0, 0.0), {1.0: ([], []), -1.0: ([], [])}
    for n in range(80):
        psi, stake = campaign.psi[n], bet.stake
        bet.learn(psi)
        value = campaign.control.count(bench.CountedCase(campaign.x[n], psi, 1.0, 1.0))
        campaign.total.add(value.value)
        campaign.progress.add_beside(campaign.total, psi, bench.UNIT, value)
        for (sign, (of_z, of_u)), side in zip(entries.items(), value.sides, strict=True):
            of_z.append((sign * psi, stake, min(0.0, sign), 0.0))
            of_u.append((sign * psi + side.offset, side.stake or stake, side.bound, side.beside))

    def largest(m, of_z, of_u):
        return max(0.1 * capital(m, of_z[:n]) + 0.9 * capital(m, of_u[:n]) for n in range(1, 81))

    ends = campaign.progress.lower, -campaign.progress.upper
    for end, tracks in zip(ends, entries.values(), strict=True):
        assert largest(end, *tracks) >= 40.0 * (1 - 1e-9)
        assert largest(end + 0.002, *tracks) < 40.0


@pytest.mark.parametrize('wrong', [-0.1, 0.0, 0.1])
def test_a_wrong_guess_of_the_mean_gains_nothing(wrong):
    """E (1 + b (u - r*)) (1 + b a) is 1 - (b d)^2, d off the guess: here by 4000 tests."""
    campaign = bench.TwinCampaign(1, np.full(4000, 0.9), 20_000, 0.04, Anytime())
    for n in range(60):
        campaign.count(n)
    control = campaign.control
    control._clips = tuple(replace(cut, mean=cut.mean + wrong) for cut in control._clips)
    control._batch = 100
    sides = []
    for n in range(60, 190):
        case = bench.CountedCase(campaign.x[n], campaign.psi[n], 1.0, 1.0)
        sides.append((case.psi, control.predict(case).sides))
    for place, sign in enumerate((1.0, -1.0)):
        b = sides[0][1][place].stake
        assert b is not None
        first = [1 + b * (sign * (psi - bench.MEAN) + side[place].offset) for psi, side in sides]
        second = [1 + b * side[place].beside for _, side in sides]
        mean, error = np.mean(first) * np.mean(second), np.std(first) / math.sqrt(len(first))
        assert mean <= 1.0 + 3 * error
        assert mean == pytest.approx(1.0 - (b * wrong) ** 2, abs=3.5 * error)


def test_a_twin_saves_tests():
    """By six campaigns; 200, and other twins: benchmarks/twin.py."""
    ends = [bench.tests_to_stop(0.98, 0.04, 3000, seed) for seed in range(6)]
    assert np.mean([n for n, _ in ends]) < 0.45 * bench.tests_without(0.04, 20)
    assert sum(missed for _, missed in ends) <= 1


@pytest.mark.parametrize('twin', bench.TWINS)
def test_whatever_the_twin_says_the_interval_holds(twin):
    """With REPSQ_FAR=1: 1500 runs of each twin."""
    tests = 250 if RUNS > 100 else 80
    missed = sum(bench.ever_missed(twin, tests, seed) for seed in range(RUNS))
    assert stats.binomtest(missed, RUNS, bench.C, 'greater').pvalue > 1e-3


# The campaign ------------------------------------------------------------------------------------


@pytest.fixture
def twinned(short, write, tmp_path):
    """A specification with answers of the surrogate to its cases."""
    short['tester'] = {'proposal': 'monte_carlo', 'seed': 3, 'stopping': {'rule': 'anytime'}}
    short['tester']['max_tests'] = 12
    short['accuracy']['gamma'] = 0.1
    short['partition'] = {'type': 'anchored'}
    file, table = write(short), tmp_path / 'twin.csv'
    assert main(ask(file, table)) == 0
    short['tester']['control'] = {'type': 'twin', 'file': 'twin.csv'}
    return short, write(short), table


def ask(file, table, *more):
    return ['twin', str(file), '--subject', 'surrogate', '--tests', '24', '--processes', '1',
            '--output', str(table), *more]  # fmt: skip


def test_a_campaign_with_a_twin_is_counted_again_to_the_last_bit(twinned, tmp_path, capsys):
    _, file, table = twinned
    specification, subject = load(file), make_subject('surrogate', '')
    folder = tmp_path / 'lab'
    result = run_into_folder(specification, subject, 3, folder, 'lab', {}, lambda *_: None)
    assert result.n == 12
    assert 'as it answered its own' in result.guarantee
    again = recompute(folder)
    assert again.finished() == result
    cases = again.contents.cases
    assert again.contents.twin == specification.twin.digest
    told = [(case['twin'],) for case in cases]
    assert told == list(specification.twin.of_robot.values())[:12]
    assert not any('twin_spread' in case for case in cases)
    campaign = Campaign(load(file))
    for counted in again.counted:
        campaign.add(counted.record)
    assert campaign.result('lab') == result
    assert load(folder / 'replication.yaml').tester.control is None
    assert main(['verify', str(folder)]) == 0
    assert main(ask(file, table, '--check')) == 0
    assert 'as simulated again' in capsys.readouterr().out
    text = (folder / 'twin.csv').read_text()
    (folder / 'twin.csv').write_text(text.replace('\n1,', '\n0,', 1))
    with pytest.raises(JournalError, match="a twin's answers of digest"):
        recompute(folder)
    table.write_text(text.replace(',0.', ',0.1', 1))
    assert main(ask(file, table, '--check')) == JournalError.exit_code


def test_mean_and_spread_of_several_simulators_are_regressed_on(twinned, tmp_path, capsys):
    _, file, table = twinned
    assert main(ask(file, table, '--subject', 'surrogate:lag=0.4', '--force')) == 0
    specification, folder = load(file), tmp_path / 'lab'
    assert specification.twin.simulators == 2
    subject = make_subject('surrogate', '')
    result = run_into_folder(specification, subject, 3, folder, 'lab', {}, lambda *_: None)
    again = recompute(folder)
    assert again.finished() == result
    for case in again.contents.cases:
        answers = specification.twin.answer(case['x'])
        assert case['twin'] == pytest.approx(np.mean(answers), rel=1e-12)
        assert case['twin_spread'] == pytest.approx(np.std(answers), rel=1e-9)
    assert len({case['twin_spread'] for case in again.contents.cases}) == 12
    assert main(['verify', str(folder)]) == 0
    control = specification.tester.control.make(specification.target, (0.0, 1.0), 0.1, True)
    rows = [control._features((0.0, 0.0, 0.0), answers) for answers in ((0.4, 0.6), (0.5, 0.5))]
    assert rows[0][:-1] == rows[1][:-1]
    assert (rows[0][-1], rows[1][-1]) == (pytest.approx(-0.6), -1.0)
    plan = Plan(str(file), str(file), '', 'surrogate', twin_subjects=('surrogate', 'surrogate'))
    assert run_plan(plan, 1)[0][0].n == 12
    capsys.readouterr()
    words = ['simulate', str(file), '--subject', 'surrogate', '--twin-subject', 'surrogate']
    assert main(words) == ParameterError.exit_code
    assert 'as many as have answered in the file: 2' in capsys.readouterr().err


@pytest.mark.parametrize(
    ('shift', 'told'),
    [
        (0.0, 'open: no gap between robot and twin is shown'),
        (-0.5, 'the robot scores higher than its twin'),
        (0.5, 'the robot scores lower than its twin'),
    ],
)
def test_the_gap_between_robot_and_twin_has_an_interval(twinned, tmp_path, capsys, shift, told):
    short, _, table = twinned
    short['tester']['max_tests'], folder = 60, tmp_path / 'lab'
    short['tester']['stopping'] = {'rule': 'fixed', 'tests': 60}
    del short['tester']['control']
    name = str(folder)
    file = tmp_path / 'plain.yaml'
    file.write_text(yaml.safe_dump(short))
    assert main([*ask(file, table, '--force'), '--cases', '60']) == 0
    header, *rows = table.read_text().splitlines()
    moved = [
        ','.join([*row.split(',')[:-1], repr(float(row.split(',')[-1]) + shift)]) for row in rows
    ]
    table.write_text('\n'.join([header, *moved, '']))
    short['tester']['control'] = {'type': 'twin', 'file': 'twin.csv'}
    short['tester']['stopping'] = {'rule': 'anytime'}
    file.write_text(yaml.safe_dump(short))
    specification = load(file)
    run_into_folder(
        specification, make_subject('surrogate', ''), 3, folder, 'lab', {}, lambda *_: None
    )
    capsys.readouterr()
    assert main(['compare', name, '--twin', '--json']) == 0
    answer = json.loads(capsys.readouterr().out)
    found, low, high = answer['difference'], -1.0, 1.0
    psi = [
        (test.psi, specification.twin.answer(test.x)[0])
        for test in read_tests(folder, specification.box.names)
    ]
    gap = np.mean([each - min(max(s, 0.0), 1.0) for each, s in psi])
    assert found['mean'] == pytest.approx(gap, abs=1e-12)
    assert low <= found['lower'] <= gap <= found['upper'] <= high
    assert answer['verdict'] == told
    assert main(['compare', name, '--twin']) == 0
    assert f'verdict     {told}' in capsys.readouterr().out


def test_a_gap_needs_a_twin(twinned, tmp_path, capsys):
    short, _, _ = twinned
    del short['tester']['control']
    file, folder = tmp_path / 'plain.yaml', tmp_path / 'lab'
    file.write_text(yaml.safe_dump(short))
    run_into_folder(
        load(file), make_subject('surrogate', ''), 3, folder, 'lab', {}, lambda *_: None
    )
    assert main(['compare', str(folder), '--twin']) == ParameterError.exit_code
    assert 'expected tester.control: {type: twin' in capsys.readouterr().err
    assert main(['compare', str(folder), str(folder), '--twin']) == ParameterError.exit_code
    assert 'found 2, expected one, with a twin' in capsys.readouterr().err


@pytest.mark.parametrize(
    ('who', 'told'),
    [
        ([], 'found 0 simulators, expected --empty'),
        (['--empty', '--subject', 'surrogate'], 'found 1 simulators, expected --empty'),
        (['--subject', 'surrogate'] * 10, 'found 10 simulators'),
        (['--topic', 'other', '--within', '0'], 'a time above 0 s'),
    ],
)
def test_who_answers_is_told(twinned, capsys, who, told):
    assert main(['twin', str(twinned[1]), *who]) == ParameterError.exit_code
    assert told in capsys.readouterr().err


def test_a_case_without_an_answer_is_not_commanded(twinned):
    specification = load(twinned[1])
    with pytest.raises(CampaignError, match='found no answer to the case'):
        run_in_process(specification, make_subject('surrogate', ''), 4)


def test_what_a_twin_does_not_go_with_is_refused(twinned, write):
    content, _, table = twinned
    content['tester']['proposal'] = 'adaptive'
    with pytest.raises(SpecificationError, match='known before the campaign'):
        load(write(content))
    content['tester']['proposal'] = 'monte_carlo'
    table.unlink()
    with pytest.raises(SpecificationError, match='repsq twin'):
        load(write(content))
