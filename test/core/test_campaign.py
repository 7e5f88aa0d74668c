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

"""A campaign is a fold: each test once, in order, whatever else arrives."""

import json
import math
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import yaml

from repsq_ros.campaign.campaign import Campaign
from repsq_ros.campaign.folder import CampaignFolder, read_tests
from repsq_ros.campaign.journal import Entry
from repsq_ros.campaign.journal_contents import line_of_test, record_of_line
from repsq_ros.campaign.records import TestRecord
from repsq_ros.errors import OutputError
from repsq_ros.specification.load import load


@pytest.fixture
def specification(content, write):
    content['tester']['max_tests'] = 300
    return load(write(content))


@pytest.fixture
def independent(content, write):
    """Return a specification whose instruments fail whatever psi is."""
    content['tester']['max_tests'] = 300
    content['accuracy']['selection'] = 'assume_independent'
    return load(write(content))


def record(index, psi=0.5, attempt=0, weight=1.0, valid=True, reason=''):
    return TestRecord(index, attempt, psi, weight, valid, reason)


def psi_of(index):
    return 0.4 + 0.1 * math.sin(index)


def run(campaign, count=10_000):
    for index in range(count):
        if campaign.stopped:
            break
        campaign.add(record(index, psi_of(index)))
    return campaign


def test_the_campaign_stops_as_soon_as_the_bound_says_so(specification):
    campaign = Campaign(specification)
    widths = []
    while not campaign.stopped:
        widths.append(campaign.add(record(len(widths), psi_of(len(widths)))).half_width)
    assert widths[-1] <= 0.04 < widths[-2]
    result = campaign.result('lab')
    assert result.outcome == 'reached'
    assert result.n == len(widths) == campaign.latest.expected_n
    assert result.value == specification.partition.quantize(result.estimate).value
    assert result.specification_digest == specification.digest
    # It looked after each test, with c on each side: .95 is not promised.
    assert not result.accurate
    assert result.guarantee.startswith('Nothing exactly: the empirical Bernstein bound holds for')
    assert 'would hold with probability 0.95 on each side' in result.guarantee
    assert 0 < result.p_same <= 1
    assert result.events == ()


def test_doubled_late_and_early_records_change_nothing(specification):
    straight = run(Campaign(specification)).result('lab')
    campaign = Campaign(specification)
    for index in range(10_000):
        if campaign.stopped:
            break
        assert campaign.add(record(index + 1, 1.0)) is None  # not due yet
        assert campaign.add(record(index, psi_of(index))) is not None
        assert campaign.add(record(index, psi_of(index))) is None  # counted already
        assert campaign.add(record(max(index - 1, 0), 0.9)) is None
    assert campaign.add(record(straight.n, 0.5)) is None  # after the end
    assert campaign.result('lab') == straight


def test_an_invalid_record_heard_twice_counts_once(specification):
    campaign = Campaign(specification)
    first = campaign.add(record(0, valid=False, reason='gap: a test'))
    assert (first.n, first.invalid) == (0, 1)
    assert campaign.add(record(0, valid=False, reason='gap: a test')) is None
    assert campaign.latest.invalid == 1
    second = campaign.add(record(0, attempt=1, valid=False, reason='gap: a test'))
    assert second.invalid == 2
    assert campaign.add(record(0, valid=False, reason='gap: a test')) is None  # late
    assert campaign.latest.invalid == 2
    assert campaign.add(record(0, attempt=2)).n == 1


def test_invalid_tests_are_counted_listed_and_not_estimated(independent):
    straight = run(Campaign(independent)).result('lab')
    campaign = Campaign(independent)
    campaign.add(record(0, psi_of(0)))
    estimate = campaign.add(record(1, valid=False, reason='gap: 0.4 s'))
    assert (estimate.n, estimate.invalid) == (1, 1)
    for index in range(1, 10_000):
        if campaign.stopped:
            break
        campaign.add(record(index, psi_of(index), attempt=int(index == 1)))
    result = campaign.result('lab')
    assert (result.n, result.estimate, result.value) == (
        straight.n,
        straight.estimate,
        straight.value,
    )
    assert result.invalid == 1
    assert result.events == ('test 1, attempt 0: INVALID: gap: 0.4 s',)


@pytest.mark.parametrize(
    ('psi', 'weight'),
    [(math.nan, 1.0), (math.inf, 1.0), (0.5, math.nan), (0.5, math.inf), (0.5, 0.0), (0.5, -1.0)],
)
def test_what_is_not_a_number_never_enters_the_estimate(psi, weight, specification):
    campaign = Campaign(specification)
    campaign.add(record(0, 0.5))
    estimate = campaign.add(record(1, psi, weight=weight))
    assert (estimate.n, estimate.invalid, estimate.mean) == (1, 1, 0.5)
    # The same test may still come right, as its next attempt.
    assert campaign.add(record(1, 0.5, attempt=1)).n == 2


def test_values_beyond_their_bounds_are_events_on_the_result(specification):
    campaign = Campaign(specification)
    campaign.add(record(0, 1.5))
    campaign.add(record(1, 0.5, weight=1.2))
    for index in range(2, 10_000):
        if campaign.stopped:
            break
        campaign.add(record(index, 0.5))
    assert campaign.result('lab').events[:2] == (
        'test 0, attempt 0: psi 1.5 outside its range [0.0, 1.0]',
        'test 1, attempt 0: weight 1.2 above its bound 1.0',
    )


def test_a_budget_that_runs_out_gives_a_result_without_promise(content, write):
    content['tester'].update(max_tests=20, stopping={'rule': 'anytime'})
    campaign = run(Campaign(load(write(content))))
    result = campaign.result('lab')
    assert (result.n, result.accurate) == (20, False)
    assert result.half_width > result.gamma
    assert result.guarantee.startswith(
        f'With probability 0.95 the true mean lies in [{result.lower:.4g}, {result.upper:.4g}], '
        'provided that robot and set-up did not change during the tests. That is not '
        'what was asked for: the budget of tests ran out at a half-width of'
    )
    assert result.objection.startswith('the budget of tests ran out')
    assert 'stopped by max_tests' in result.events[-1]


def test_an_estimate_outside_the_range_is_set_to_the_nearest_cell_and_flagged(content, write):
    content['tester']['max_tests'] = 20
    content['tester']['proposal'] = {
        'type': 'importance',
        'distribution': {
            'type': 'mixture',
            'components': [{'share': 0.25, 'type': 'uniform'}, {'share': 0.75, 'type': 'beta'}],
        },
    }
    campaign = Campaign(load(write(content)))
    for index in range(20):
        campaign.add(record(index, 0.9, weight=3.0))
    result = campaign.result('lab')
    assert result.outside
    assert result.cell == 13
    assert any('outside the range' in event for event in result.events)


def test_there_is_no_result_without_a_valid_test(content, write):
    """One cell holds all of M: it is certified from the start, whatever is measured."""
    content['partition'] = {'alpha': 2.0}
    content['tester']['stopping'] = {'rule': 'certified_cell'}
    campaign = Campaign(load(write(content)))
    assert not campaign.add(record(0, valid=False, reason='gap')).stopped
    assert campaign.add(record(0, 0.3, attempt=1)).stopped
    result = campaign.result('lab')
    assert (result.n, result.invalid, result.value) == (1, 1, 0.5)


def test_there_is_no_result_before_the_stop(specification):
    campaign = Campaign(specification)
    campaign.add(record(0))
    with pytest.raises(RuntimeError, match='not stopped'):
        campaign.result('lab')


def test_the_folder_keeps_every_test_and_the_result_to_the_last_bit(specification, tmp_path):
    folder = CampaignFolder(tmp_path / 'new' / 'campaign', specification)
    campaign = Campaign(specification)
    bad = record(0, valid=False, reason='a "quoted" reason, with a comma')
    folder.add(bad, campaign.add(bad))
    while not campaign.stopped:
        each = record(campaign.latest.n, psi_of(campaign.latest.n), attempt=1)
        folder.add(each, campaign.add(each))
    path = folder.finish(campaign.result('lab'))
    folder.close()
    document = yaml.safe_load(path.read_text())
    result = campaign.result('lab')
    for name in ('value', 'estimate', 'half_width', 'p_same', 'n', 'invalid', 'guarantee'):
        assert document[name] == getattr(result, name)
    lines = (path.parent / 'tests.csv').read_text().splitlines()
    assert len(lines) == 1 + result.n + result.invalid
    assert lines[1].endswith('"a \'quoted\' reason, with a comma"')


def test_an_earlier_campaign_is_never_overwritten(specification, tmp_path):
    CampaignFolder(tmp_path, specification).close()
    with pytest.raises(OutputError, match=r'found the tests\.csv of an earlier campaign'):
        CampaignFolder(tmp_path, specification)


def test_an_output_that_cannot_be_written_is_told(specification, tmp_path):
    file = tmp_path / 'file'
    file.touch()
    with pytest.raises(OutputError, match='expected a folder that can be written'):
        CampaignFolder(file / 'below', specification)


FULL = """
import resource, sys
from pathlib import Path
from repsq_ros.campaign.folder import CampaignFolder, read_tests
from repsq_ros.campaign.journal import Entry
from repsq_ros.campaign.journal_contents import line_of_test, record_of_line
from repsq_ros.campaign.records import EstimateRecord, TestRecord
from repsq_ros.errors import OutputError
from repsq_ros.specification.load import load

folder = CampaignFolder(Path(sys.argv[1]), load(sys.argv[2]))
resource.setrlimit(resource.RLIMIT_FSIZE, (400, 400))  # as a disk that is full
try:
    for index in range(100):
        folder.add(
            TestRecord(index, 0, 0.5, 1.0, True, x=(0.1, 0.1, 0.1)),
            EstimateRecord(
                index, 0, 1, 0, 0, 0, 0.5, 0.0, 0.4, 0.6, 0.1, 0.04, 'rule', 9, 1.0, 1.0, False
            ),
        )
except OutputError as error:
    print(error)
    sys.exit(error.exit_code)
"""


def test_a_full_disk_is_told_and_the_tests_before_are_kept(specification, tmp_path):
    done = subprocess.run(
        [sys.executable, '-c', FULL, str(tmp_path / 'full'), specification.file],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 6, done.stderr
    assert 'File too large, expected room for the tests' in done.stdout
    lines = (tmp_path / 'full' / 'tests.csv').read_text().splitlines()
    assert lines[1].startswith('0,0,1,0.1,0.1,0.1,0.5,0.0,1.0')


def test_the_disk_is_waited_for_at_each_test_only_where_no_journal_does_so(
    tmp_path, specification, monkeypatch
):
    synced, folder = [], CampaignFolder(tmp_path / 'campaign', specification)
    monkeypatch.setattr('os.fsync', synced.append)
    campaign = Campaign(specification)
    folder.add(record(0), campaign.add(record(0)))
    assert len(synced) == 1
    (tmp_path / 'campaign' / 'journal.jsonl').touch()
    folder.add(record(1), campaign.add(record(1)))
    assert len(synced) == 1
    assert len((tmp_path / 'campaign' / 'tests.csv').read_text().splitlines()) == 3
    folder.close()


def test_a_robot_that_goes_the_wrong_way_is_asked_about_once(specification, tmp_path):
    campaign, folder = Campaign(specification), tmp_path / 'c'
    kept, rng = CampaignFolder(folder, specification), np.random.default_rng(1)
    asked, records = [], []
    for index in range(300):
        x = rng.uniform(-0.3, 0.3, 3)
        measured = tuple(map(float, 0.8 * x * [1, -1, 1] + rng.normal(0, 0.01, 3)))
        test = replace(record(index, psi_of(index)), x=tuple(map(float, x)), measured=measured)
        estimate = campaign.add(test)
        kept.add(test, estimate)
        records.append(test)
        asked += [index] * bool(estimate.question)
        if campaign.stopped:
            break
    kept.close()
    assert asked == [9]
    result = campaign.result('c')
    assert 'test 9, attempt 0: measured against commanded: linear_x and' in result.events[0]
    assert 'one of them is mirrored' in result.provisos[-1] and 'mirrored' in result.guarantee
    assert result.response[1].split(', ')[1].startswith('-0.80')
    assert result.document(specification)['response'] == list(result.response)
    assert [each.measured for each in read_tests(folder, specification.box.names)] == [
        each.measured for each in records
    ]
    line = json.loads(json.dumps(line_of_test(records[0])))
    assert record_of_line(Entry('test', line)) == records[0]
    del line['measured']  # as 0.2.0 wrote it
    assert record_of_line(Entry('test', line)).measured == ()
