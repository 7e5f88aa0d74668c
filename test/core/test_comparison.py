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

"""Two labs: a second one's own choices, and whether both returned the same value."""

import math
import re

import numpy as np
import pytest
import yaml
from conftest import ROOT
from support.folders import leave_folder, records_of, seed_of, simulate_folder

from repsq_ros.campaign.comparison import paper_count
from repsq_ros.campaign.folder import REPLICATION, RESULT, SPECIFICATION
from repsq_ros.campaign.recomputed_campaign import recompute
from repsq_ros.certificate.lab import read_lab
from repsq_ros.cli import main
from repsq_ros.errors import SpecificationError
from repsq_ros.specification.copies import copy_specification
from repsq_ros.specification.load import load

DEMO = ROOT / 'config' / 'g1_locomotion.yaml'
REPLICATOR = ROOT / 'config' / 'replicator.yaml'


def paper_half_width(z, z_range, c):
    """The bound as the paper prints it, with R for R^2."""
    n, log = len(z), math.log(2.0 / c)
    return math.sqrt(2.0 * np.var(z) * log / n) + 7.0 * z_range * log / (3.0 * (n - 1))


# The demo ----------------------------------------------------------------------------------------


def test_the_demos_two_labs_return_the_same_value(tmp_path, capsys):
    first = simulate_folder(tmp_path / 'initiator', DEMO)
    assert load(first / REPLICATION).tester.seed is None  # the replicator gives its own
    second = simulate_folder(tmp_path / 'replicator', first / REPLICATION, REPLICATOR)
    assert main(['compare', str(first), str(second)]) == 0
    printed = capsys.readouterr().out
    results = [yaml.safe_load((folder / RESULT).read_text()) for folder in (first, second)]
    assert results[0]['value'] == results[1]['value']
    assert results[0]['estimate'] != results[1]['estimate']
    assert [result['outcome'] for result in results] == ['reached', 'reached']
    assert f'same      {results[0]["value"]!r}, to the last digit' in printed
    assert 'proposal monte_carlo, rule anytime, seed 1' in printed
    assert 'proposal adaptive, rule anytime, seed 2' in printed
    assert printed.count('promise   ') == 1
    assert f'promise   {results[1]["agreement"]}' in printed
    assert 'With probability at least 0.9025' in results[1]['agreement']

    # What the paper's rule takes, worked out anew: n at which its bound falls below gamma.
    told = re.search(r'needed about (\d+) \+ (\d+) tests instead of (\d+) \+ (\d+)', printed)
    paper, taken = [int(n) for n in told.groups()[:2]], [int(n) for n in told.groups()[2:]]
    assert taken == [result['n'] for result in results]
    for count, folder, result in zip(paper, (first, second), results, strict=True):
        tests = recompute(folder).contents.tests
        z = np.array([test.psi * test.weight for test in tests])
        widths = [
            math.sqrt(2.0 * np.var(z) * math.log(40) / n)
            + 7.0 * result['weight_bound'] * math.log(40) / (3.0 * (n - 1))
            for n in (count - 1, count)
        ]
        assert widths[0] > 0.04 >= widths[1]
        assert count > 3 * result['n']


def test_the_paper_count_is_counted_where_its_rule_stops(content, write, tmp_path):
    content['tester'].update(stopping={'rule': 'fixed', 'tests': 600})
    z = np.random.default_rng(5).beta(2.0, 3.0, 600)
    folder = leave_folder(tmp_path / 'lab', write(content), records_of(z.tolist()))
    count = paper_count(read_lab(folder).campaign)
    n = next(n for n in range(2, 601) if paper_half_width(z[:n], 1.0, 0.05) <= 0.04)
    assert (count.tests, count.reached) == (n, True)
    assert 300 < n < 600


# Comparing ---------------------------------------------------------------------------------------


@pytest.fixture
def lab(content, write, tmp_path):
    """Leave the folder of a lab that measured one number again and again."""
    content['tester'].update(stopping={'rule': 'fixed', 'tests': 4})
    content['partition'] = {'alpha': 0.1}

    def leave(name, psi, tests=4, seed=None, **change):
        file = write({**content, **change}, f'{name}.yaml')
        seed = seed or seed_of(name)
        return str(leave_folder(tmp_path / name, file, records_of([psi] * tests), seed))

    return leave


def test_a_campaign_beside_itself_or_its_published_copy_is_refused(lab, tmp_path, capsys):
    first, copy = lab('first', 0.3), str(tmp_path / 'copy')
    assert main(['publish', first, '--output', copy]) == 0
    for other in (first, copy):
        capsys.readouterr()
        assert main(['compare', first, other]) == 2
        assert 'are one campaign (journal head' in capsys.readouterr().err


def test_labs_of_one_seed_are_no_independent_replication(lab, capsys):
    labs = [lab('a', 0.3, seed=5), lab('b', 0.3, seed=5)]
    assert main(['compare', *labs]) == 12
    printed = capsys.readouterr().out
    assert 'seed 5: the same cases, no independent replication' in printed
    assert 'promise' not in printed


def test_different_values_are_told_and_end_with_8(lab, capsys):
    assert main(['compare', lab('a', 0.44), lab('b', 0.46), lab('c', 0.56)]) == 8
    printed = capsys.readouterr().out
    assert 'DIFFERENT 0.45' in printed
    assert 'same      ' not in printed
    assert 'promise   No agreement is promised' in printed


def test_values_of_other_contracts_are_not_compared(lab, capsys):
    accuracy = {'gamma': 0.05, 'c': 0.05, 'beta': 0.1}
    assert main(['compare', lab('a', 0.44), lab('b', 0.44, accuracy=accuracy)]) == 2
    told = capsys.readouterr().err
    assert 'found values that are not comparable (digests' in told
    assert "expected campaigns of one contract: a replicator runs the initiator's" in told


def test_two_initiators_share_no_partition(lab, capsys):
    labs = [
        lab(name, psi, partition={'type': 'anchored'}) for name, psi in (('a', 0.44), ('b', 0.5))
    ]
    assert main(['compare', *labs]) == 2
    assert 'values that are not comparable' in capsys.readouterr().err


def test_a_campaign_without_a_result_or_a_journal_is_no_campaign(lab, tmp_path, capsys):
    whole = lab('a', 0.44)
    assert main(['compare', whole, lab('b', 0.44, tests=3)]) == 7
    assert 'found 3 tests without a result' in capsys.readouterr().err
    assert main(['compare', whole, str(tmp_path / 'nowhere')]) == 2
    assert 'no readable file' in capsys.readouterr().err
    assert main(['compare', whole]) == 2
    assert 'expected two folders at least' in capsys.readouterr().err


# A tester's own file -----------------------------------------------------------------------------


def test_a_testers_file_changes_the_tester_and_nothing_that_is_shared(content, write, tmp_path):
    file = write(content)
    tester = write({'tester': {**content['tester'], 'seed': 9, 'max_tests': 7}}, 'mine.yaml')
    found = load(file, tester)
    assert (found.tester.seed, found.tester.max_tests) == (9, 7)
    assert found.digest == load(file).digest
    copy_specification(file, tmp_path / SPECIFICATION, tester)
    again = load(tmp_path / SPECIFICATION)
    assert again.digest == found.digest
    assert again.tester == found.tester


@pytest.mark.parametrize(
    ('change', 'told'),
    [
        ({'tester': {'seed': 1}}, 'tester.proposal: found nothing'),
        ({}, 'tester: found nothing'),
        ({'accuracy': {'gamma': 0.1}}, 'accuracy: found an unknown key'),
        (
            {'tester': {'proposal': 'monte_carlo', 'seed': -1, 'stopping': {'rule': 'anytime'}}},
            'tester.seed: found -1',
        ),
    ],
)
def test_a_bad_testers_file_is_told_by_its_name(change, told, content, write):
    base = {} if change == {} or 'tester' in change else {'tester': content['tester']}
    tester = write({**base, **change}, 'mine.yaml')
    with pytest.raises(SpecificationError, match=rf'mine\.yaml: {told}'):
        load(write(content), tester)


def test_a_testers_file_brings_the_files_that_it_names(content, write, tmp_path):
    content['tester']['proposal'] = {
        'type': 'external',
        'file': 'cases.csv',
        'weight_bound': 1.0,
        'accept_unproven_bound': True,
    }
    lab = tmp_path / 'lab'
    lab.mkdir()
    (lab / 'cases.csv').write_text('linear_x,linear_y,angular_z,weight\n0.1,0.1,0.1,1.0\n')
    (lab / 'mine.yaml').write_text(yaml.safe_dump({'tester': content['tester']}))
    content['tester']['proposal'] = 'monte_carlo'
    target = tmp_path / 'campaign'
    target.mkdir()
    copy_specification(write(content), target / SPECIFICATION, lab / 'mine.yaml')
    assert load(target / SPECIFICATION).tester.proposal.kind == 'external'


def test_a_tester_file_is_refused_where_a_campaign_goes_on(tmp_path, capsys):
    assert main(['run', '--resume', str(tmp_path), '--tester', str(REPLICATOR)]) == 2
    assert 'expected none where a campaign goes on' in capsys.readouterr().err
