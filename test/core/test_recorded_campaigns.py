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

"""Campaigns in recordings: followed as they were, told apart, evaluated under other choices."""

import csv
import json
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml

from repsq_ros.cli import main
from repsq_ros.errors import BagError, ParameterError
from repsq_ros.recordings.recording import Recording
from repsq_ros.replay.bag_folders import bags_in
from repsq_ros.replay.bag_topics import require_replayable
from repsq_ros.replay.foreign import Marks
from repsq_ros.replay.recorded_campaign import campaigns_in, choose
from repsq_ros.replay.task import Task, reevaluate
from repsq_ros.replay.what_if import variants
from repsq_ros.specification.load import load

pytest.importorskip('rosbags')

from support.bags import write_bag
from support.recorded_bags import LENGTH, STORE, Script, streams

PSI = 1 - np.exp(-6 * 0.05)


@pytest.fixture
def specification(short, write):
    short['tester'].update(stopping={'rule': 'fixed', 'tests': 4}, max_tests=4)
    return write(short)


@pytest.fixture
def script(specification):
    digest = load(specification).digest
    return lambda name='lab', begin=1.0: Script(digest, name, begin)


@pytest.fixture
def saved(tmp_path):
    def save(*scripts, name='bag', **options):
        return write_bag(tmp_path / name, streams(*scripts, **options), STORE)

    return save


def keys(evaluated):
    """Return index, attempt, and what became of each attempt."""

    def word(segment, outcome):
        if segment.ended is not None:
            return 'skipped' if segment.ended.skipped else 'broken off'
        return 'valid' if outcome.valid else outcome.code.key

    return [(s.index, s.attempt, word(s, o)) for s, o in evaluated]


# Following ---------------------------------------------------------------------------------------


def disturbed(script):
    """A pause, a skip in the command, an INVALID test, a skip before the command."""
    told = script()
    told.attempt(0)
    told.attempt(1, 0, ends='paused')
    told.attempt(1, 1)
    told.attempt(2, ends='skipped')
    told.attempt(3, 0)  # INVALID: silent
    told.attempt(3, 1)
    told.attempt(4, ends='before')
    told.attempt(5)
    told.end()
    return told, (1.0 + 4 * LENGTH, 1.0 + 4.9 * LENGTH)


AS_IT_WAS = [
    (0, 0, 'valid'), (1, 0, 'broken off'), (1, 1, 'valid'), (2, 0, 'skipped'), (3, 0, 'silent'),
    (3, 1, 'valid'), (4, 0, 'skipped'), (5, 0, 'valid'),
]  # fmt: skip


def test_pauses_skips_and_repeats_count_as_they_did(script, saved, specification):
    told, silent = disturbed(script)
    done = reevaluate(Task(saved(told, silent=[silent]), specification))
    [row] = done.rows
    assert keys(row.evaluated) == AS_IT_WAS
    result = row.folded.result
    assert (result.n, result.skipped, result.invalid, result.broken_off) == (4, 2, 1, 2)
    assert result.estimate == pytest.approx(PSI, rel=0.01)
    assert result.campaign_id == 'lab'
    assert 're-evaluation' not in ' '.join(result.events)


def test_messages_of_one_log_stamp_may_come_in_any_order(script, saved, specification):
    """Recorded by a clock that ticks once a test, and shuffled within each tick."""
    told, silent = disturbed(script)
    expected = reevaluate(Task(saved(told, silent=[silent]), specification)).rows[0]
    drawn = random.Random(3)
    for each in (told.phases, told.commands):
        each[:] = [((t - 1.0) // LENGTH * LENGTH + 1.0, m) for t, m in each]
        drawn.shuffle(each)
    found = reevaluate(Task(saved(told, silent=[silent], name='shuffled'), specification)).rows[0]
    assert keys(found.evaluated) == keys(expected.evaluated)
    assert found.folded.result == expected.folded.result


def test_what_was_heard_twice_counts_once(script, saved, specification):
    told, silent = disturbed(script)
    expected = reevaluate(Task(saved(told, silent=[silent]), specification)).rows[0]
    told.phases += [(t + 0.001, m) for t, m in told.phases]
    told.commands += [(t + 0.001, m) for t, m in told.commands]
    found = reevaluate(Task(saved(told, silent=[silent], name='twice'), specification)).rows[0]
    assert keys(found.evaluated) == keys(expected.evaluated)
    assert found.folded.result == expected.folded.result


def test_a_campaign_that_was_aborted_has_no_result(script, saved, specification, capsys):
    told = script()
    told.attempt(0)
    told.attempt(1, ends='aborted')
    bag = saved(told)
    assert main(['reevaluate', str(bag), '--specification', str(specification)]) == 0
    said = capsys.readouterr().out
    assert 'No result: the rule is not met by the tests in the recording.' in said
    assert 'broken off: by hand' in said
    with Recording(bag) as opened:
        assert campaigns_in(opened)[0].ending == 'aborted: by hand'


def test_an_attempt_whose_end_is_not_in_the_recording_is_no_test(script, saved, specification):
    told = script()
    told.attempt(0)
    told.attempt(1)
    told.phases.pop()
    done = reevaluate(Task(saved(told), specification))
    assert keys(done.rows[0].evaluated) == [(0, 0, 'valid')]


def test_a_recording_that_begins_late_says_which_test_it_lacks(script, saved, specification):
    told = script()
    for index in range(2, 8):
        told.attempt(index)
    [row] = reevaluate(Task(saved(told), specification)).rows
    assert row.folded.result is None
    assert row.folded.unfinished == 'the recording lacks test 0'


def test_what_only_they_saw_who_were_there_is_believed(script, saved, specification):
    """Two publishers on the sensor's topic: nothing in the recording tells of the second."""
    told = script()
    told.attempt(0)
    told.measured(0, 0, 0.0, valid=False, code='publishers', reason='publishers: 2 on /odom')
    told.attempt(0, 1)
    told.measured(0, 1, PSI)
    [row] = reevaluate(Task(saved(told), specification)).rows
    assert keys(row.evaluated) == [(0, 0, 'publishers'), (0, 1, 'valid')]


@pytest.mark.parametrize(('source', 'codes'), [('odometry', 'publishers'), ('mocap', 'silent')])
def test_two_publishers_on_a_topic_are_nothing_to_a_measure_of_another(
    script, tmp_path, specification, short, write, source, codes
):
    told = script()
    told.attempt(0)
    told.measured(0, 0, 0.0, valid=False, code='publishers', reason='publishers: 2 on /odom')
    short['measure'].update(source=source, gain=5.0)
    silent = ('/mocap/pose', 'geometry_msgs/msg/PoseStamped', [])
    bag = write_bag(tmp_path / 'bag', [*streams(told), silent], STORE)
    other = write({'measure': short['measure']}, 'other.yaml')
    _, row = reevaluate(Task(bag, specification, measures=(other,))).rows
    assert keys(row.evaluated) == [(0, 0, codes)]


def test_a_skip_of_which_no_phase_tells_is_counted(script, saved, specification):
    """Version 0.1.0 had none; a recorder may have missed one."""
    told = script()
    told.attempt(0)
    told.attempt(1, ends='before')
    told.phases.pop()
    told.measured(1, 0, 0.0, valid=False, reason='by hand', skipped=True)
    for index in range(2, 5):
        told.attempt(index)
    [row] = reevaluate(Task(saved(told), specification)).rows
    assert keys(row.evaluated)[1] == (1, 0, 'skipped')
    assert (row.folded.result.n, row.folded.result.skipped) == (4, 1)


def test_an_attempt_that_is_invalid_again_keeps_the_words_of_that_day(
    script, saved, specification
):
    told, silent = disturbed(script)
    told.measured(3, 0, 0.0, valid=False, code='silent', reason='silent: as it was said')
    [row] = reevaluate(Task(saved(told, silent=[silent]), specification)).rows
    assert 'test 3, attempt 0: INVALID: silent: as it was said' in row.folded.result.events


def test_a_psi_that_is_not_as_it_was_is_told(script, saved, specification):
    told = script()
    for index in range(4):
        told.attempt(index)
    done = reevaluate(Task(saved(told), specification))
    psi = [outcome.psi for _, outcome in done.rows[0].evaluated]
    for index, value in enumerate(psi):
        # The sines of another machine may differ in the last digits.
        told.measured(index, 0, value + {1: 1e-12, 2: 1e-8}.get(index, 0.0))
    done = reevaluate(Task(saved(told, name='again'), specification))
    assert done.notes == (
        '1 of 4 attempts are not as when they were recorded, the first: test 2, attempt 0, '
        f'psi {psi[2]!r} now, psi {psi[2] + 1e-8!r} then',
    )


def test_a_namespace_is_followed(script, saved, specification):
    told = script()
    told.attempt(0)
    bag = saved(told, prefix='/lab1')
    task = Task(bag, specification, namespace='lab1', remap=('odom:=/odom',))
    assert keys(reevaluate(task).rows[0].evaluated) == [(0, 0, 'valid')]
    with pytest.raises(BagError, match='found no topic /repsq/test_command'):
        reevaluate(Task(bag, specification))


# Several campaigns -------------------------------------------------------------------------------


@pytest.fixture
def two(script, saved):
    first = script('monday')
    for index in range(5):
        first.attempt(index)
    first.end()
    second = script('tuesday', begin=first.now + 3.0)
    second.attempt(0, v=-0.1)
    second.end('aborted', 'a fall')
    return saved(first, second)


def test_two_campaigns_in_a_bag_are_listed_and_never_mixed(two, specification, capsys):
    assert main(['reevaluate', str(two), '--specification', str(specification)]) == 4
    said = capsys.readouterr().err
    assert said.count('\n') == 1
    assert (
        "found 2 campaigns, expected one, or --campaign with one of 'monday' (5 tests, 5" in said
    )
    assert "'tuesday' (1 tests, 1 attempts, aborted: a fall" in said
    done = reevaluate(Task(two, specification, campaign='monday'))
    assert done.rows[0].folded.result.campaign_id == 'monday'
    assert len(done.rows[0].evaluated) == 5
    done = reevaluate(Task(two, specification, campaign='tuesday'))
    assert [s.draw.x[0] for s, _ in done.rows[0].evaluated] == [-0.1]


def test_a_campaign_that_is_not_there_is_told(two, specification):
    with pytest.raises(BagError, match="found no campaign 'sunday', expected one of 'monday'"):
        reevaluate(Task(two, specification, campaign='sunday'))
    with pytest.raises(BagError, match='found no phase'):
        choose([], '', 'a bag')


def test_a_campaign_that_was_resumed_is_joined(script, saved, specification, capsys):
    """The scheduler was killed in test 1: who goes on says first that this attempt is over."""
    told = script()
    told.attempt(0)
    told.attempt(1)
    told.phases.pop()
    first = saved(told, name='monday')
    again = script(begin=told.now + 60.0)
    again.commands.append((again.now, told.commands[-1][1]))
    again.say(told.commands[-1][1], 'idle', again.now, again.now, broken_off=True, reason='ended')
    for index in range(1, 4):
        again.attempt(index, int(index == 1))
    second = saved(again, name='tuesday', since=told.now + 30.0)
    options = ['--specification', str(specification)]
    assert main(['reevaluate', str(first), str(second), '--join', *options]) == 0
    said = capsys.readouterr().out
    assert 'from 4 tests, 0 INVALID, 1 broken off, 0 skipped' in said
    [row] = reevaluate(Task(first, specification, more=(second,))).rows
    assert keys(row.evaluated) == [
        (0, 0, 'valid'), (1, 0, 'broken off'), (1, 1, 'valid'), (2, 0, 'valid'), (3, 0, 'valid'),
    ]  # fmt: skip


def test_a_folder_of_ros_1_bags_stands_for_each_of_them(tmp_path):
    for name in ('b.bag', 'a.bag', 'deeper/c.bag'):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    found = [each.name for each in bags_in([tmp_path, tmp_path / 'a.bag'])]
    assert found == ['a.bag', 'b.bag', 'c.bag']


# What if -----------------------------------------------------------------------------------------


@pytest.fixture
def long(short, write, saved):
    """Forty tests with the rule that the specification says, and another measure."""
    short['tester'].update(stopping={'rule': 'fixed', 'tests': 40}, max_tests=40)
    file = write(short)
    told = Script(load(file).digest)
    rng = np.random.default_rng(1)
    for index in range(40):
        told.attempt(index, v=float(rng.uniform(-0.3, 0.3)))
    other = dict(short['measure'], gain=12.0)
    return saved(told), file, write({'measure': other}, 'other.yaml')


def test_one_table_of_all_that_might_have_been(long, tmp_path, capsys):
    bag, file, other = long
    tables = {name: tmp_path / name for name in ('results.csv', 'tests.csv', 'all.json')}
    code = main(
        ['reevaluate', str(bag), '--specification', str(file), '--gamma', '0.2,0.25,0.3',
         '--rule', 'anytime,empirical_bernstein,fixed:tests=10', '--measure', str(other),
         '--csv', str(tables['results.csv']), '--tests', str(tables['tests.csv']),
         '--json', str(tables['all.json'])]
    )  # fmt: skip
    said = capsys.readouterr().out
    assert code == 0, said
    rows = list(csv.DictReader(tables['results.csv'].open()))
    assert len(rows) == 2 * 3 * 3
    assert [row['gamma'] for row in rows[:9]] == ['0.2'] * 3 + ['0.25'] * 3 + ['0.3'] * 3
    fixed = [row for row in rows if row['rule'] == 'fixed']
    assert {row['n'] for row in fixed} == {'10'}
    assert 'gamma 0.2 in place of 0.25' in rows[0]['changed']
    tests = list(csv.DictReader(tables['tests.csv'].open()))
    assert len(tests) == 2 * 40
    psi = {
        measure: [float(row['psi']) for row in tests if row['measure'] == measure]
        for measure in ('', str(other))
    }
    assert psi[''] == pytest.approx([PSI] * 40, rel=0.02)
    assert psi[str(other)] == pytest.approx([1 - np.exp(-12 * 0.05)] * 40, rel=0.02)
    [done] = json.loads(tables['all.json'].read_text())['reevaluations']
    assert len(done['results']) == 18
    for found in done['results']:
        assert found['re-evaluation'] is True
        result = found['result']
        if found['changed'] and result is not None:
            assert all(f're-evaluation: {each}' in result['events'] for each in found['changed'])
            assert any('This is a re-evaluation with' in each for each in result['provisos'])
    assert said.count('anytime') >= 6


def test_each_row_is_what_a_campaign_with_that_choice_would_have_given(long):
    """The rule of a row, folded over the tests of its measure: nothing else enters."""
    bag, file, _ = long
    content = yaml.safe_load(file.read_text())
    [row] = reevaluate(Task(bag, file, gammas=(0.2,), rules=('anytime',))).rows
    content['tester'].update(gamma=0.2, stopping={'rule': 'anytime'})
    file.write_text(yaml.safe_dump(content))
    [plain] = reevaluate(Task(bag, file)).rows
    assert not plain.variant.changed
    assert row.folded.result == row.variant.mark(plain.folded.result)
    assert row.folded.result != plain.folded.result
    assert replace(row.folded.result, events=(), provisos=()) == replace(
        plain.folded.result, events=(), provisos=()
    )


def test_a_case_that_another_measure_cannot_measure_counts_as_skipped(
    script, saved, specification, short, write
):
    """It was VALID and so not repeated: it is lost, and what it may hide is said."""
    told = script()
    for index in range(6):
        told.attempt(index)
    short['measure']['largest_gap'] = 0.05
    other = write({'measure': short['measure']}, 'other.yaml')
    second = 1.0 + LENGTH + 1.3
    bag = saved(told, silent=[(second, second + 0.1)])
    as_it_is, changed = reevaluate(Task(bag, specification, measures=(other,))).rows
    assert as_it_is.folded.result.skipped == 0
    result = changed.folded.result
    assert (result.n, result.skipped) == (4, 1)
    assert any(
        event.startswith('test 1, attempt 0: skipped: gap')
        and event.endswith('the recording has no other attempt at it')
        for event in result.events
    )
    assert result.selection_bound > 0


def test_a_gamma_coarser_than_the_contract_is_another_contract(specification):
    base, finer, coarser = variants(specification, gammas=(0.25, 0.1, 0.3))
    assert not base.changed
    assert finer.specification.digest == base.specification.digest
    assert finer.specification.gamma == 0.1
    assert coarser.specification.digest != base.specification.digest
    assert 'another contract' in coarser.changed[0]


@pytest.mark.parametrize('rule', ['soon', 'fixed:tests', 'fixed:=3'])
def test_a_rule_that_is_none_is_refused(specification, rule):
    with pytest.raises(ParameterError, match='parameter rule'):
        variants(specification, rules=(rule,))


# Many bags ---------------------------------------------------------------------------------------


@pytest.fixture
def many(script, saved, tmp_path):
    """Three good recordings, and one that is cut."""
    (tmp_path / 'days').mkdir()
    for day in range(4):
        told = script(f'day {day}')
        for index in range(4 + day):
            told.attempt(index, v=0.05 * (day + 1))
        bag = saved(told, name=f'days/{day}')
        if day == 2:
            [file] = bag.glob('*.mcap')
            file.write_bytes(file.read_bytes()[:5000])
    return tmp_path / 'days'


def evaluated(many, specification, tmp_path, capsys, *options):
    file = tmp_path / f'all{len(options)}.json'
    code = main(
        ['reevaluate', str(many), '--specification', str(specification), '--json', str(file),
         *options]
    )  # fmt: skip
    said = capsys.readouterr()
    return code, json.loads(file.read_text())['reevaluations'], said


def test_many_bags_on_all_cores_are_as_one_after_the_other(many, specification, tmp_path, capsys):
    code, alone, said = evaluated(many, specification, tmp_path, capsys, '--processes', '1')
    assert code == 4
    assert [each['campaign'] for each in alone] == ['day 0', 'day 1', '', 'day 3']
    assert alone[2]['error'].startswith(f'{many / "2"}/2.mcap: ')
    assert said.err.count('\n') == 1
    assert '1 of 4 recordings could not be evaluated' in said.out
    code, together, _ = evaluated(many, specification, tmp_path, capsys)
    assert code == 4
    assert together == alone


def test_many_bags_on_a_cluster_are_as_one_after_the_other(many, specification, tmp_path, capsys):
    distributed = pytest.importorskip('distributed')
    with distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=None) as cluster:
        code, found, _ = evaluated(
            many, specification, tmp_path, capsys, '--scheduler', cluster.scheduler_address
        )
    assert code == 4
    assert [each['campaign'] for each in found] == ['day 0', 'day 1', '', 'day 3']
    assert found == evaluated(many, specification, tmp_path, capsys, '--processes', '1')[1]


def test_a_task_for_another_machine_names_its_files_in_full(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    here = Path('x')
    marks = Marks(segment_table=here)
    task = Task(here, here, here, marks=marks, measures=(here,), more=(here,)).anywhere()
    found = (
        task.bag, task.specification, task.tester, task.marks.segment_table, *task.measures,
        *task.more,
    )  # fmt: skip
    assert found == (tmp_path / 'x',) * 6
    assert Task(here, here).anywhere().tester is None


def test_a_folder_without_recordings_is_told(specification, tmp_path, capsys):
    (tmp_path / 'empty').mkdir()
    options = ['--specification', str(specification)]
    assert main(['reevaluate', str(tmp_path / 'empty'), *options]) == 4
    assert 'found no metadata.yaml in it or below it' in capsys.readouterr().err


# Played over DDS ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ('rules', 'changed', 'told'),
    [
        ({}, {}, ''),
        ({'odom': 'odom'}, {}, ''),
        ({'odom': '/nowhere'}, {}, 'found no topic /nowhere, expected one of those there: /odom'),
        ({'odom': '/repsq/test_phase'}, {}, 'found repsq_ros/msg/TestPhase on /repsq/test_phase'),
        ({}, {'message_count': 0}, 'found no message on /repsq/test_command'),
        ({}, {'topic_metadata': {}}, "KeyError 'name', expected metadata of rosbag2"),
    ],
)
def test_a_bag_is_played_only_with_what_that_needs(
    script, saved, specification, rules, changed, told
):
    campaign = script()
    campaign.attempt(0)
    bag = saved(campaign)
    file = bag / 'metadata.yaml'
    content = yaml.safe_load(file.read_text())
    topics = content['rosbag2_bagfile_information']['topics_with_message_count']
    topics[0].update(changed)
    file.write_text(yaml.safe_dump(content))
    if not told:
        require_replayable(bag, specification, rules)
        return
    with pytest.raises(BagError) as caught:
        require_replayable(bag, specification, rules)
    assert told in str(caught.value)
    assert '\n' not in str(caught.value)


def test_one_file_of_a_bag_is_looked_at_as_well(script, saved, specification):
    campaign = script()
    campaign.attempt(0)
    [file] = saved(campaign).glob('*.mcap')
    require_replayable(file, specification, {})
    with pytest.raises(BagError, match='found no topic /nowhere'):
        require_replayable(file, specification, {'odom': '/nowhere'})


def test_a_robot_that_goes_the_other_way_is_told_and_is_a_proviso(script, saved, short, write):
    short['tester'].update(stopping={'rule': 'fixed', 'tests': 12}, max_tests=12)
    file = write(short)
    told, right = Script(load(file).digest), Script(load(file).digest)
    for each in (told, right):
        for index in range(12):
            each.attempt(index, v=0.1 + 0.01 * index)
        each.end()
    told.walked = [(at, -v) for at, v in told.walked]
    for each, name in ((told, 'mirrored'), (right, 'right')):
        done = reevaluate(Task(saved(each, name=name), file))
        said = [note for note in done.notes if 'measured against commanded' in note]
        provisos = [p for p in done.rows[0].folded.result.provisos if 'in order' in p]
        assert ['goes the other way' in s for s in said] == [True] * (each is told)
        assert len(provisos) == len(said)
