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

"""The journal is the truth: every line on the disk, each tied to the one before it."""

import json
import math
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st
from support.folders import patient_queue

from repsq_ros.campaign.campaign import Campaign
from repsq_ros.campaign.conductor import Conductor
from repsq_ros.campaign.contract import check_contract
from repsq_ros.campaign.journal import JOURNAL, Entry, Journal, read_journal
from repsq_ros.campaign.journal_contents import (
    FORMAT,
    beginning,
    fold,
    line_of_test,
    record_of_line,
)
from repsq_ros.campaign.journal_queue import JournalQueue
from repsq_ros.campaign.records import CountedAttempt, TestRecord
from repsq_ros.errors import JournalError, OutputError, OutputLateError
from repsq_ros.protocols.phases import Phase, Span
from repsq_ros.specification.load import load


def record(index, psi=0.5, **more):
    return TestRecord(index, 0, psi, 1.0, True, x=(0.1, 0.1, 0.1), weight_bound=1.0, **more)


@pytest.fixture
def specification(content, write):
    return load(write(content))


@pytest.fixture
def file(tmp_path):
    """A journal of five lines."""
    journal = Journal(tmp_path / JOURNAL)
    for number in range(5):
        journal.append('test', number=number, psi=0.1 * number)
    journal.close()
    return tmp_path / JOURNAL


def test_what_was_written_is_read_again_to_the_last_bit(file):
    entries, _, whole = read_journal(file)
    assert [entry.content['psi'] for entry in entries] == [0.1 * n for n in range(5)]
    assert whole == file.stat().st_size
    journal = Journal(file)
    journal.append('test', number=5)
    journal.close()
    assert [entry.content['number'] for entry in read_journal(file)[0]] == [0, 1, 2, 3, 4, 5]


def test_a_flipped_bit_that_makes_a_carriage_return_cuts_nothing_off(tmp_path):
    file = tmp_path / JOURNAL
    journal = Journal(file)
    for index in range(20):
        journal.append('test', index=index, reason='fine')
    journal.close()
    lines = file.read_bytes().split(b'\n')
    lines[4] = lines[4].replace(b'fine', b'fi\re')
    file.write_bytes(damaged := b'\n'.join(lines))
    with pytest.raises(JournalError, match='line 5: found'):
        Journal(file)
    assert file.read_bytes() == damaged
    assert not file.with_name('journal.jsonl.torn').exists()


@given(cut=st.integers(1, 200))
def test_a_torn_last_line_is_cut_off_kept_and_told(cut, tmp_path_factory):
    file = tmp_path_factory.mktemp('torn') / JOURNAL
    journal = Journal(file)
    for number in range(3):
        journal.append('test', number=number, text='x' * 20)
    journal.close()
    whole = file.read_bytes()
    last = len(whole.splitlines(keepends=True)[-1])
    cut = min(cut, last - 1)  # something of the last line is left
    file.write_bytes(whole[:-cut])
    journal = Journal(file)
    assert [entry.content['number'] for entry in journal.entries] == [0, 1]
    assert f'the last line was torn ({last - cut} bytes' in journal.recovered
    assert (
        file.with_name('journal.jsonl.torn').read_bytes() == whole[:-cut][-(last - cut) :] + b'\n'
    )
    journal.append('test', number=2)
    journal.close()
    assert [entry.content['number'] for entry in read_journal(file)[0]] == [0, 1, 2]


def change_line(file, place, change):
    lines = file.read_bytes().splitlines(keepends=True)
    lines[place] = change(lines[place])
    file.write_bytes(b''.join(lines))


@pytest.mark.parametrize(
    ('place', 'change', 'told'),
    [
        (2, lambda line: line.replace(b'0.2', b'0.3'), 'line 3: found a digest that does not fit'),
        (4, lambda line: line.replace(b'0.4', b'0.5'), 'line 5: found a digest that does not fit'),
        (1, lambda line: b'', 'line 2: found a line that does not follow'),
        (1, lambda line: line + line, 'line 3: found a line that does not follow'),
        (0, lambda line: b'\n', 'line 1: found no line of JSON'),
        (3, lambda line: b'\x00' * 20 + b'\n', 'line 4: found no line of JSON'),
        (3, lambda line: b'[1]\n', 'line 4: found no event'),
        (0, lambda line: b'{"event":"test"}\n', 'line 1: found a digest that does not fit'),
    ],
)
def test_any_other_damage_is_refused_with_the_lines_number(place, change, told, file):
    change_line(file, place, change)
    before = file.read_bytes()
    with pytest.raises(JournalError, match=told):
        Journal(file)
    assert file.read_bytes() == before


def test_a_journal_is_held_by_one_process(file):
    journal = Journal(file)
    code = (
        'import sys\nfrom pathlib import Path\nfrom repsq_ros.campaign.journal import Journal\n'
        'from repsq_ros.errors import RepsqError\n'
        'try:\n    Journal(Path(sys.argv[1]))\nexcept RepsqError as error:\n'
        '    print(error)\n    sys.exit(error.exit_code)\n'
    )
    command = [sys.executable, '-c', code, str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 7
    assert 'another process runs this campaign' in done.stdout
    journal.close()
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0


FULL = """
import json, resource, sys
from pathlib import Path
from repsq_ros.campaign.journal import Journal, read_journal
from repsq_ros.errors import OutputError

file = Path(sys.argv[1])
journal = Journal(file)
resource.setrlimit(resource.RLIMIT_FSIZE, (600, resource.RLIM_INFINITY))  # as a disk that is full
written = 0
try:
    for written in range(100):
        journal.append('test', number=written)
except OutputError as error:
    print(error)
assert [e.content['number'] for e in read_journal(file)[0]] == list(range(written))
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
journal.append('test', number=written)
assert [e.content['number'] for e in read_journal(file)[0]] == list(range(written + 1))
assert 0 < written < 10
"""


def test_a_full_disk_leaves_a_whole_journal_that_goes_on_later(tmp_path):
    done = subprocess.run(
        [sys.executable, '-c', FULL, str(tmp_path / JOURNAL)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert 'nothing is lost' in done.stdout


@pytest.mark.parametrize('value', [math.inf, -math.inf, math.nan])
def test_numbers_that_are_not_finite_survive(value, tmp_path):
    journal = Journal(tmp_path / JOURNAL)
    journal.append('test', **{**line_of_test(record(0, samples=3)), 'weight_bound': value})
    journal.close()
    (entry,) = read_journal(tmp_path / JOURNAL)[0]
    assert repr(record_of_line(entry).weight_bound) == repr(value)
    assert all(json.loads(line) for line in (tmp_path / JOURNAL).read_text().splitlines())


# The journal of a campaign -----------------------------------------------------------------------


def test_a_campaign_goes_on_from_its_journal(specification, tmp_path):
    journal = patient_queue(tmp_path, specification, 'lab', 1)
    journal.begin_session('new gauge', {'rate': 20.0})
    for index in range(3):
        journal.write_action(CountedAttempt(record(index), None))
    journal.close()
    again = patient_queue(tmp_path, specification, 'ignored', 1, resume=True)
    assert again.campaign_id == 'lab'
    assert again.contents.tests == tuple(record(index) for index in range(3))
    (session,) = again.contents.sessions
    assert session.startswith('session 1, ')
    assert session.endswith('after 0 tests: new gauge')
    proposal = specification.make_proposal()
    conductor = Conductor(specification, proposal, 1)
    again.restore(conductor, proposal)
    case, _ = conductor.start(0)
    assert (case.index, case.attempt) == (3, 0)
    again.close()


@pytest.mark.parametrize(
    ('seed', 'resume', 'gamma', 'told'),
    [
        (1, False, 0.04, 'found an earlier campaign, expected none'),
        (2, True, 0.04, 'found seed 1, expected 2'),
        (1, True, 0.05, 'found specification digest'),
    ],
)
def test_another_campaign_is_not_gone_on_with(
    seed, resume, gamma, told, specification, content, write, tmp_path
):
    patient_queue(tmp_path, specification, 'lab', 1).close()
    content['accuracy']['gamma'] = gamma
    other = load(write(content, 'other.yaml'))
    before = (tmp_path / JOURNAL).read_bytes()
    with pytest.raises(JournalError, match=told):
        patient_queue(tmp_path, other, 'lab', seed, resume)
    assert (tmp_path / JOURNAL).read_bytes() == before


def test_there_has_to_be_a_journal_to_go_on_with(specification, tmp_path):
    with pytest.raises(JournalError, match='found nothing, expected the journal'):
        patient_queue(tmp_path, specification, 'lab', 1, resume=True)
    assert not (tmp_path / JOURNAL).exists()


def test_lines_that_could_not_be_written_come_first_later(specification, tmp_path, monkeypatch):
    queue = patient_queue(tmp_path, specification, 'lab', 1)
    journal = queue._journal
    real, full = journal.append, True

    def append(event, **content):
        if full:
            raise OutputError('no room')
        real(event, **content)

    monkeypatch.setattr(journal, 'append', append)
    for index in range(2):
        with pytest.raises(OutputError, match='no room'):
            queue.write_action(CountedAttempt(record(index), None))
    full = False
    queue.write_action(CountedAttempt(record(2), None))
    queue.close()
    tests = fold('', read_journal(tmp_path / JOURNAL)[0]).tests
    assert [test.index for test in tests] == [0, 1, 2]


def test_folding_a_journal_gives_the_result_of_the_campaign(specification, tmp_path):
    straight = Campaign(specification)
    journal = patient_queue(tmp_path, specification, 'lab', 1)
    index = 0
    while not straight.stopped:
        each = record(index, psi=0.4 + 0.1 * math.sin(index))
        straight.add(each)
        journal.write_action(CountedAttempt(each, None))
        index += 1
    journal.close()
    again = Campaign(specification)
    for each in fold('', read_journal(tmp_path / JOURNAL)[0]).tests:
        again.add(each)
    assert again.result('lab') == straight.result('lab')


OLD = ROOT / 'test' / 'data' / 'journal_0.1.0'
# The mean after each attempt of that journal; those without a value repeat the one before.
OLD_MEANS = [
    '0x1.9bd5fdde947dep-2',
    '0x1.8171d6dbfcf38p-2',
    *['0x1.8e5aadc4728bap-2'] * 2,
    '0x1.860b44eec522fp-2',
    '0x1.7540cbec522fep-2',
    *['0x1.6c9943370cc4ep-2'] * 2,
    '0x1.6e4e21dc8f44dp-2',
]


def test_a_journal_of_version_0_1_0_is_gone_on_with(tmp_path):
    """Eight tests of a proposal that learns, one INVALID, one skipped, a pause, and a crash."""
    shutil.copytree(OLD, tmp_path / 'campaign')
    specification = load(tmp_path / 'campaign' / 'specification.yaml')
    journal = patient_queue(tmp_path / 'campaign', specification, '', 7, resume=True)
    tests = journal.contents.tests
    assert [(t.index, t.attempt) for t in tests if not t.valid] == [(3, 0), (6, 0)]
    assert [t.broken_off for t in tests] == [False] * 9
    assert journal.contents.cut_short == (8, 0)
    campaign = Campaign(specification)
    means = [campaign.add(test).mean for test in tests]
    assert [mean.hex() for mean in means] == OLD_MEANS, 'to the last bit'
    assert campaign.latest.variance.hex() == '0x1.910ed16fe4730p-10'
    # Version 0.1.0 gave an upper end of 1.668: since then no interval leaves the range of psi.
    assert (campaign.latest.lower, campaign.latest.upper) == (0.0, 1.0)
    proposal = specification.make_proposal()
    conductor = Conductor(specification, proposal, 7)
    journal.restore(conductor, proposal)
    case, idle = conductor.start(0)
    (issued,) = [e for e in journal.contents.cases if e['index'] == 8]
    assert (case.index, case.attempt, list(case.draw.x)) == (8, 0, issued['x'])
    assert idle.broken_off
    journal.begin_session('with a new version', {})
    journal.close()
    entries = read_journal(tmp_path / 'campaign' / JOURNAL)[0]
    assert [entry.event for entry in entries].count('session') == 2


@pytest.mark.parametrize(
    'change',
    [
        lambda content: content['measure'].update(gain=6.5),
        lambda content: content['accuracy'].update(c=0.04),
        lambda content: content['partition'].update(first=0.06),
        lambda content: content['target']['dimensions']['linear_x'].update(upper=0.31),
    ],
)
def test_a_journal_of_version_0_1_0_of_another_contract_is_refused(change, tmp_path):
    shutil.copytree(OLD, tmp_path / 'campaign')
    file = tmp_path / 'campaign' / 'specification.yaml'
    content = yaml.safe_load(file.read_text())
    change(content)
    file.write_text(yaml.safe_dump(content))
    with pytest.raises(JournalError, match='found specification digest 606a987bab1f, expected'):
        patient_queue(tmp_path / 'campaign', load(file), '', 7, resume=True)


def test_a_journal_of_this_version_is_held_to_its_digest(specification):
    shared = {**specification.shared(), 'partition': {'edges': [*specification.partition.edges]}}
    begin = {
        **beginning(specification, 'lab', 1),
        'specification_digest': 'd' * 64,
        'specification': shared,
    }
    check_contract(fold('', [Entry('begin', {**begin, 'format': 1})]), Path(), specification)
    with pytest.raises(JournalError, match='found specification digest dddddddddddd, expected'):
        check_contract(fold('', [Entry('begin', begin)]), Path(), specification)


def test_a_journal_of_a_later_version_is_refused(specification):
    begin = Entry('begin', {**beginning(specification, 'lab', 1), 'format': FORMAT + 1})
    with pytest.raises(JournalError, match=f'found format {FORMAT + 1}, expected at most'):
        fold('file', [begin])


def test_fields_that_a_later_version_adds_are_left_alone():
    line = {**line_of_test(record(0)), 'colour': 'blue'}
    assert record_of_line(Entry('test', line)) == record(0)


@pytest.mark.parametrize(
    ('events', 'cut_short'),
    [
        ([], None),
        ([('case', 0, 0)], (0, 0)),
        ([('case', 0, 0), ('test', 0, 0)], None),
        ([('case', 0, 0), ('pause', 0, 0)], (0, 0)),
        ([('case', 0, 0), ('pause', 0, 0, False)], None),
        ([('case', 0, 0), ('pause', 0, 0, True)], (0, 0)),
        ([('case', 0, 0), ('abort', 0, 0, True)], (0, 0)),
        ([('case', 0, 0), ('skip', 0, 0, False)], None),
        ([('case', 0, 0), ('abort', 0, 0, False, True)], (0, 0)),  # over, and not counted
        ([('case', 0, 0), ('pause', 0, 0, False, True), ('test', 0, 0)], None),
        ([('case', 0, 0), ('pause', 0, 0, False), ('case', 0, 0)], (0, 0)),
        ([('case', 0, 0), ('test', 0, 0), ('case', 1, 0)], (1, 0)),
    ],
)
def test_an_attempt_that_may_have_been_commanded_and_has_no_outcome_is_known(
    events, cut_short, specification
):
    entries = [Entry('begin', beginning(specification, 'lab', 1))]
    for event, index, attempt, *how in events:
        content = {'index': index, 'attempt': attempt}
        if event == 'test':
            content = line_of_test(record(index))
        else:
            content.update(zip(('broken_off', 'awaited'), how, strict=False))
        entries.append(Entry(event, content))
    assert fold('file', entries).cut_short == cut_short


class SlowJournal:
    """A disk that takes its time, or is full."""

    def __init__(self, journal, seconds=0.0):
        self._journal, self.seconds, self.full = journal, seconds, False
        self.file = journal.file

    def append(self, event, **content):
        time.sleep(self.seconds)
        if self.full:
            raise OutputError('no room')
        self._journal.append(event, **content)

    def close(self):
        self._journal.close()


def test_a_slow_disk_is_told_and_what_stops_the_robot_does_not_wait_for_it(
    specification, tmp_path
):
    journal = JournalQueue(tmp_path, specification, 'lab', 1)
    journal._journal = SlowJournal(journal._journal, 0.4)
    began = time.monotonic()
    journal.write_action(Span(Phase.PAUSED, 0, 0, 0, None, (), reason='a cable'))
    assert time.monotonic() - began < 0.1
    with pytest.raises(OutputLateError, match=r'is being written for more than 0\.1 s'):
        journal.write_action(CountedAttempt(record(0), None))
    journal.flush(5.0)
    assert [e.event for e in read_journal(tmp_path / JOURNAL)[0]] == ['begin', 'pause', 'test']
    journal.close()


def test_lines_of_something_else_are_told():
    with pytest.raises(JournalError, match=r"line 1: found 'test', expected 'begin'"):
        fold('file', [Entry('test')])
    begin = Entry('begin', {'campaign_id': 'lab', 'seed': 1, 'specification_digest': 'd'})
    with pytest.raises(JournalError, match='line 2: KeyError'):
        fold('file', [begin, Entry('test', {'index': 0})])
