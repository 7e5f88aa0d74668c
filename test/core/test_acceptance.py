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

"""Acceptance: pass, fail or undecided at any number of tests, each wrong with c at most."""

import csv
import json

import numpy as np
import pytest
import yaml
from conftest import ROOT
from scipy import stats

from repsq_ros import cli
from repsq_ros.campaign.campaign import Campaign
from repsq_ros.campaign.promise import facts_of, sentences
from repsq_ros.campaign.records import TestRecord
from repsq_ros.campaign.result_text import result_text
from repsq_ros.errors import SpecificationError
from repsq_ros.estimation.acceptance import Acceptance, AcceptanceTest, AcceptanceVerdict
from repsq_ros.estimation.stopping import Bounds
from repsq_ros.specification.load import load

C = 0.05
UNIT = Bounds(0.0, 1.0)
CONFIGURED = yaml.safe_load((ROOT / 'config' / 'g1_locomotion.yaml').read_text())


def written(folder, **changes):
    """Return a specification with `accept`, as a file; a section is updated, None drops it."""
    content = {**CONFIGURED, 'accept': {'limit': 0.6, 'side': 'below', 'margin': 0.05}}
    for name, change in changes.items():
        content[name] = change if change is None else {**content[name], **change}
    file = folder / 'accept.yaml'
    file.write_text(yaml.safe_dump({k: v for k, v in content.items() if v is not None}))
    return file


def counted(file, values, **more):
    campaign = Campaign(load(file), forecasts=False)
    for index, psi in enumerate(values):
        campaign.add(TestRecord(index, 0, psi, 1.0, True, x=(0.0, 0.0, 0.0), **more))
        if campaign.stopped:
            break
    return campaign.result('c')


LAWS = {
    'beta': lambda rng, shape: rng.beta(1.05, 1.18, shape),  # mean .471
    'rare': lambda rng, shape: (rng.random(shape) < 0.05).astype(float),
    'far': lambda rng, shape: np.where(rng.random(shape) < 0.25, 1.0, 0.2),
}
MEANS = {'beta': 1.05 / 2.23, 'rare': 0.05, 'far': 0.4}


@pytest.mark.parametrize('law', LAWS)
@pytest.mark.parametrize('side', ['above', 'below'])
def test_at_the_limit_a_verdict_of_either_side_falls_in_c_of_the_campaigns_at_most(law, side):
    rng, runs = np.random.default_rng(5), 1000
    test = AcceptanceTest(MEANS[law], 0.05, C, runs=runs)
    for z in LAWS[law](rng, (400, runs)):
        test.add(z, UNIT)
    decided = test.decided_at > 0
    wrong = int(np.sum(decided & (test.above == (side == 'above'))))
    assert stats.binomtest(wrong, runs, C, alternative='greater').pvalue > 0.01
    assert wrong > 0.2 * C * runs  # not bought by never deciding


@pytest.mark.parametrize('limit', [0.55, 0.39])
def test_the_verdict_falls_where_the_plain_formula_says(limit):
    rng, gap = np.random.default_rng(9), 0.05
    for _ in range(20):
        z, test = LAWS['beta'](rng, 400), AcceptanceTest(limit, gap, C)
        logs, total, square, expected = np.zeros((2, 2)), 0.5, 0.25, None
        for n, value in enumerate(z, start=1):
            far = max(abs(total / n - limit), gap)
            stake = far / (square / n + far**2)
            for side, (sign, room) in enumerate(((1.0, limit), (-1.0, 1.0 - limit))):
                for place, cap in enumerate((0.5, 0.99)):
                    logs[side, place] += np.log1p(min(stake, cap / room) * sign * (value - limit))
            total += value
            square += (value - total / (n + 1)) ** 2
            capital = np.exp(logs).mean(axis=1)
            if capital.max() >= 1.0 / C and expected is None:
                expected = (n, bool(capital[0] >= 1.0 / C))
            test.add(value, UNIT)
            if expected:
                break
        assert expected is not None
        assert (test.decided_at[0], test.above[0]) == expected


@pytest.mark.parametrize(('limit', 'most'), [(0.52, 300), (0.57, 80), (0.37, 80)])
def test_the_verdict_falls_the_sooner_the_farther_the_limit_is(limit, most):
    rng, runs = np.random.default_rng(6), 200
    test = AcceptanceTest(limit, 0.05, C, runs=runs)
    while not test.decided:
        test.add(LAWS['beta'](rng, runs), UNIT)
    assert np.mean(test.decided_at) < most
    assert np.mean(test.above != (limit < MEANS['beta'])) <= C


def test_a_truncation_moves_the_limit_for_a_mean_below_it():
    """E[z] = .45 and a bias of .1: r* may be .55, so nothing is known of a limit of .5."""
    rng = np.random.default_rng(7)
    test, unbiased = (AcceptanceTest(0.5, 0.05, C, bias) for bias in (0.1, 0.0))
    for z in LAWS['beta'](rng, 1500) * 0.45 / MEANS['beta']:
        for each in (test, unbiased):
            each.add(z, UNIT)
    assert unbiased.decided
    assert not test.decided


def test_lost_tests_count_at_their_worst():
    rng = np.random.default_rng(8)
    values = LAWS['beta'](rng, 300)
    test, whole = AcceptanceTest(0.6, 0.05, C), AcceptanceTest(0.6, 0.05, C)
    for place, z in enumerate(values):
        whole.add(z, UNIT)
        test.add(z, UNIT, UNIT if place % 3 == 0 else None)
        if place % 3 == 1:
            test.miss(UNIT, UNIT)
    assert whole.decided
    assert not test.decided


def test_a_missing_case_may_have_been_anything():
    test = AcceptanceTest(0.3, 0.05, C)
    for _ in range(8):
        test.add(0.0, UNIT)
    before = test._below._logs.copy()
    test.miss(UNIT, UNIT)
    assert (test._below._logs < before).all()
    assert (test._above._logs < 0.0).all()


@pytest.mark.parametrize(
    ('side', 'psi', 'verdict'),
    [
        ('below', 0.2, AcceptanceVerdict.PASS),
        ('below', 0.9, AcceptanceVerdict.FAIL),
        ('above', 0.2, AcceptanceVerdict.FAIL),
        ('above', 0.9, AcceptanceVerdict.PASS),
    ],
)
def test_the_verdict_is_on_the_result_and_in_words(tmp_path, side, psi, verdict):
    file = written(tmp_path, accept={'side': side})
    result = counted(file, [psi] * 1000)
    assert result.verdict == verdict.value
    assert 3 < result.decided_at < 20
    assert f'{verdict.name}: with probability 0.95' in result.guarantee
    assert f'accept    {verdict.name}, decided by the first {result.decided_at}' in result_text(
        result
    )
    assert result.document(load(file))['verdict'] == verdict.value


def test_the_words_say_which_side_of_the_limit_the_mean_is_on(tmp_path):
    said = counted(written(tmp_path), [0.2] * 1000).guarantee
    assert 'the true mean is at most 0.6' in said
    said = counted(written(tmp_path), [0.9] * 1000).guarantee
    assert 'the true mean is above 0.6' in said
    said = counted(written(tmp_path, accept={'side': 'above'}), [0.2] * 1000).guarantee
    assert 'the true mean is below 0.6' in said


def test_a_value_out_of_its_bounds_takes_the_verdict_back(tmp_path):
    result = counted(written(tmp_path), [0.2] * 30 + [1.5] + [0.2] * 1000)
    assert result.verdict == 'undecided'
    assert result.decided_at == 0
    assert 'UNDECIDED' in result.guarantee


def test_until_verdict_ends_the_campaign_where_it_falls(tmp_path):
    file = written(tmp_path, tester={'until': 'verdict'})
    result = counted(file, [0.2] * 1000)
    assert result.n == result.decided_at
    assert (result.outcome, result.accurate) == ('reached', False)
    assert 'wider than gamma' in result.guarantee
    whole = counted(written(tmp_path), [0.2] * 1000)
    assert whole.n > whole.decided_at == result.n
    assert whole.accurate


def test_a_campaign_that_ends_first_leaves_it_open(tmp_path):
    file = written(tmp_path, tester={'until': 'verdict', 'max_tests': 4})
    result = counted(file, [0.59, 0.61] * 2)
    assert (result.verdict, result.outcome) == ('undecided', 'budget')
    assert 'UNDECIDED: the tests do not tell' in result.guarantee


def test_before_the_campaign_it_is_said_what_is_accepted(tmp_path):
    specification = load(written(tmp_path))
    said = sentences(facts_of(specification, specification.make_proposal()))
    assert 'Accepted is a true mean of at most 0.6' in said.acceptance


def test_only_what_is_declared_is_part_of_the_digest(tmp_path):
    without = load(written(tmp_path, accept=None))
    assert without.digest == load(ROOT / 'config' / 'g1_locomotion.yaml').digest
    digests = {without.digest}
    for accept in ({}, {'limit': 0.5}, {'side': 'above'}, {'margin': 0.1}):
        digests.add(load(written(tmp_path, accept=accept)).digest)
    assert len(digests) == 5
    assert 'margin' not in Acceptance(0.6, 'below').describe()
    result = counted(written(tmp_path, accept=None), [0.2] * 1000)
    assert result.verdict == ''
    assert 'verdict' not in result.document(without)


@pytest.mark.parametrize(
    ('changes', 'key'),
    [
        ({'accept': {'limit': 1.0}}, 'accept.limit'),
        ({'accept': {'side': 'left'}}, 'accept.side'),
        ({'accept': {'margin': 0.0}}, 'accept.margin'),
        ({'accept': {'alpha': 0.0}}, 'accept.alpha'),
        ({'accept': None, 'tester': {'until': 'verdict'}}, 'tester.until'),
        (
            {'tester': {'until': 'verdict', 'stopping': {'rule': 'fixed', 'tests': 50}}},
            'tester.until',
        ),
    ],
)
def test_what_cannot_be_accepted_is_refused(tmp_path, changes, key):
    with pytest.raises(SpecificationError) as error:
        load(written(tmp_path, **changes))
    assert error.value.key == key


def test_run_tells_the_verdict_by_its_exit_code_and_plan_the_tests(tmp_path, capsys):
    def run(name, **changes):
        folder = tmp_path / name
        file = written(tmp_path, tester={'until': 'verdict'}, **changes)
        return cli.main(
            ['run', str(file), '--simulate', '--in-process', '--output', str(folder)]
        ), folder

    code, folder = run('passed', accept={'side': 'above', 'limit': 0.1})
    assert code == 0
    promise = json.loads((folder / 'certificate.json').read_text())['promise']
    with (folder / 'tests.csv').open() as rows:
        assert promise['decided_at'] == len(list(csv.reader(rows))) - 1
    assert promise['verdict'] == 'pass'
    assert cli.main(['verify', str(folder)]) == 0
    assert run('failed', accept={'limit': 0.1})[0] == 13
    file = written(tmp_path, tester={'until': 'verdict', 'max_tests': 3})
    assert cli.main(['run', str(file), '--simulate', '--in-process', '--output',
                     str(tmp_path / 'open')]) == 14  # fmt: skip
    capsys.readouterr()
    assert cli.main(['plan', str(file), '--sd', '0.1', '--mean', '0.4', '--json']) == 0
    plan = json.loads(capsys.readouterr().out)['accept']
    assert [each['verdict'] for each in plan] == ['pass', 'pass', 'fail']
    assert plan[0]['tests'] < plan[1]['tests'] <= plan[1]['most']
