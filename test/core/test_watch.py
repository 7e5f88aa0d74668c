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

"""What `repsq watch` shows, at any number of tests, of folders and of whatever tells the story."""

import io
import math
import os
import subprocess
import sys

import pytest
import yaml
from conftest import ROOT
from support.campaign_states import case, estimate, story
from support.folders import leave_folder, records_of

from repsq_ros.campaign.journal import JOURNAL, Journal
from repsq_ros.campaign.journal_contents import CASE, PAUSE, SESSION, TEST, line_of_test
from repsq_ros.campaign.records import CountedAttempt, TestRecord
from repsq_ros.cli import main
from repsq_ros.console.watch import _changes
from repsq_ros.errors import JournalError
from repsq_ros.protocols.phases import Phase, Span
from repsq_ros.views.campaign_state import CampaignState
from repsq_ros.views.folder_state import FolderState
from repsq_ros.views.health import (
    Health,
    Level,
    estimator_health,
    guard_health,
    scheduler_health,
)
from repsq_ros.views.sparkline import BLOCKS, sparkline
from repsq_ros.views.watch_board import TESTS_SHOWN, watch_board

G1 = ROOT / 'config' / 'g1_locomotion.yaml'


def screen(board, width=100, height=None):
    """Return what a terminal shows of a board."""
    rich = pytest.importorskip('rich.console')
    from repsq_ros.console.watch import render

    console = rich.Console(record=True, width=width, file=io.StringIO())
    console.print(render(board, console, height))
    return console.export_text()


@pytest.mark.parametrize('dimensions', [1, 6])
@pytest.mark.parametrize('tests', [0, 1, 3, 5000])
@pytest.mark.parametrize('kind', ['usual', 'invalid', 'constant'])
def test_any_number_of_tests_can_be_shown(tests, dimensions, kind):
    told = story(
        tests, dimensions, psi=0.4 if kind == 'constant' else None, valid=kind != 'invalid'
    )
    board = watch_board(told, battery_changes=lambda tests, seconds: tests // 30, width=50)
    assert len(board.tests) == min(tests, TESTS_SHOWN)
    shown = screen(board)
    assert 'test 0' in shown if not tests else f'{tests - 1}' in shown
    valid = tests if kind != 'invalid' else 0
    if tests:
        assert dict(board.numbers)['tests'].startswith(f'{valid} of about 100')
        assert len(board.half_width_line) == min(tests, 50)
    if kind == 'invalid' and tests:
        assert f'{tests} INVALID' in dict(board.numbers)['gave nothing']
        assert 'estimate' not in dict(board.numbers)
        assert not board.estimate_line.strip()
        assert all('0.41 s without a sample' in line.outcome for line in board.tests)
    if tests > 1 and valid:
        left = max(100 - tests, 0)
        assert dict(board.left)['tests left'] == f'about {left}'
    for line in shown.splitlines():
        assert len(line) <= 100


def test_a_small_terminal_shows_phase_nodes_and_sensors_before_tests():
    told = story(40, 3)
    peers = [Health(name, Level.OK, 'ready') for name in ('scheduler', 'measurement', 'guard')]
    sensors = [Health('measurement: /odom', Level.WARN, 'frozen for 0.3 s')]
    board = watch_board(told, peers=peers, sensors=sensors, width=30)
    shown = screen(board, 80, 24).splitlines()
    assert len(shown) <= 24
    text = '\n'.join(shown)
    for words in ('COMMAND', 'scheduler', 'guard', 'frozen for 0.3 s', 'estimate', 'half-widths'):
        assert words in text
    tests = [line for line in shown if 'psi 0.' in line]
    assert 1 <= len(tests) < TESTS_SHOWN
    assert shown.index(tests[0]) > next(k for k, line in enumerate(shown) if 'guard' in line)


def test_blocks_have_a_scale():
    board = watch_board(story(40, 3))
    assert board.estimate_scale == '0.4 to 0.4'
    assert board.half_width_scale == '0.1 to 0.1'
    assert watch_board(story(0, 3)).estimate_scale == ''


def test_the_newest_test_is_the_first_line_with_its_reason():
    told = story(2, 3)
    told.on_phase('lab-1', case(3, 2), told.span)
    for record in (
        TestRecord(2, 0, 0.0, 1.0, False, 'gap: 0.4 s', x=(0.1, 0.2, 0.3), code='gap'),
        TestRecord(2, 1, 0.0, 1.0, False, 'battery', x=(0.1, 0.2, 0.3), broken_off=True),
        TestRecord(2, 2, 0.0, 1.0, False, 'by the operator', x=(0.1, 0.2, 0.3), skipped=True),
        TestRecord(3, 0, 0.25, 1.5, True, x=(0.1, 0.2, 0.3)),
    ):
        told.on_counted('lab-1', CountedAttempt(record, estimate(3, invalid=1)))
    lines = watch_board(told).tests
    assert [line.number for line in lines[:4]] == ['3', '2.2', '2.1', '2']
    assert [line.outcome for line in lines[:4]] == [
        'psi 0.25, weight 1.5', 'skipped: by the operator', 'broken off: battery',
        'INVALID: gap: 0.4 s',
    ]  # fmt: skip
    assert [line.level for line in lines[:4]] == [Level.OK, Level.WARN, Level.WARN, Level.ERROR]
    assert lines[0].case == 'linear_x 0.1, linear_y 0.2, angular_z 0.3'


def test_time_and_battery_changes_left():
    # 80 tests of 8 s: 30 on one battery, so two changes.
    changes = _changes(4.0)
    board = watch_board(story(20, 3), battery_changes=changes)
    assert dict(board.left) == {
        'tests left': 'about 80',
        'time left': 'about 10 min 40 s of robot time, 8.0 s a test',
        'battery changes': 'about 2',
    }
    assert dict(watch_board(story(1, 3), battery_changes=changes).left) == {
        'tests left': 'about 99', 'time left': 'unknown', 'battery changes': 'unknown',
    }  # fmt: skip


def test_sparklines():
    assert sparkline([], 10) == ''
    assert sparkline([1.0], 10) == BLOCKS[3]
    assert sparkline([0.0, 0.5, 1.0], 10) == '▁▅█'
    assert sparkline([math.inf, math.nan, 0.0, 1.0], 10) == '  ▁█'
    assert sparkline([math.nan] * 3, 10) == '   '
    assert sparkline([2.0] * 4, 10) == BLOCKS[3] * 4
    assert len(sparkline(list(range(5000)), 40)) == 40
    assert sparkline(list(range(5000)), 40)[-1] == '█'
    assert sparkline([0.0, 1.0, 9.0], 2) == '▁█'
    assert sparkline([-5.0, 5.0, 50.0], 3, (0.0, 10.0)) == '▁▅█'


# Levels ------------------------------------------------------------------------------------------


def span(phase, **more):
    return Span(phase, 4, 1, 0, None, (), **more)


@pytest.mark.parametrize(
    ('given', 'against', 'level', 'said'),
    [
        (None, [], Level.OK, 'about to begin'),
        (None, ['no sensor', 'no guard'], Level.WARN, 'not yet: no sensor; no guard'),
        (span(Phase.COMMAND), [], Level.OK, 'test 4, attempt 1: COMMAND'),
        (span(Phase.PAUSED, reason='no guard', goes_on=True), [], Level.WARN, 'by itself'),
        (span(Phase.PAUSED, reason='by the operator'), [], Level.ERROR, '~/resume: by the'),
        (span(Phase.ABORTED, reason='lost'), [], Level.ERROR, 'aborted: lost'),
        (span(Phase.DONE), [], Level.OK, 'done'),
    ],
)
def test_levels_of_a_scheduler(given, against, level, said):
    found, text = scheduler_health(given, lambda: against)
    assert found is level
    assert said in text


def test_levels_of_an_estimator_and_a_guard():
    assert estimator_health(None, 0)[0] is Level.OK
    assert estimator_health(estimate(3), 0) == (Level.OK, '3 tests counted')
    assert estimator_health(estimate(3, note='out of reach'), 0) == (Level.WARN, 'out of reach')
    assert estimator_health(estimate(3), 2)[0] is Level.ERROR
    assert guard_health(True, False, 0)[0] is Level.OK
    assert guard_health(True, False, 1)[0] is Level.WARN
    assert guard_health(False, False, 0)[0] is Level.WARN
    assert guard_health(True, True, 1)[0] is Level.ERROR


def test_a_question_stays_until_the_campaign_waits_for_its_answer():
    told, asked = story(3), 'measured against commanded: angular_z: a wrong sign'
    record = told.counted[1].record
    told.counted[1] = CountedAttempt(record, estimate(2, question=asked))
    assert watch_board(told).remarks == (asked,)
    paused = Span(Phase.PAUSED, 3, 0, 24, None, (), reason=f'{asked}; resume it?')
    told.on_phase(told.campaign_id, case(3, 3), paused)
    assert watch_board(told).remarks == ()


def test_nothing_heard_is_told_as_such_and_levels_have_their_words():
    board = watch_board(
        CampaignState(),
        peers=[Health('guard', Level.STALE, 'never heard')],
        sensors=[Health('measurement: /odom', Level.WARN, 'frozen for 0.3 s')],
    )
    shown = screen(board)
    assert 'no campaign heard of yet' in shown
    assert 'nothing is heard of the scheduler' in shown
    for word in ('guard', 'STALE', 'never heard', '/odom', 'WARN', 'frozen for 0.3 s'):
        assert word in shown


# A folder ----------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path, write, content):
    return leave_folder(tmp_path / 'first', write(content), records_of([0.4, 0.5, 0.6]))


def append(folder, *lines):
    journal = Journal(folder / JOURNAL)
    for event, values in lines:
        journal.append(event, **values)
    journal.close()


def test_a_folder_tells_the_same_as_the_nodes(folder):
    told = FolderState(folder)
    assert [c.record.psi for c in told.state.counted] == [0.4, 0.5, 0.6]
    assert told.state.latest.mean == pytest.approx(0.5)
    assert told.state.names == ('linear_x', 'linear_y', 'angular_z')
    assert told.state.campaign_id == 'first'
    assert not told.look()


def test_a_folder_that_grows_is_followed(folder):
    told = FolderState(folder)
    record = TestRecord(3, 0, 0.9, 1.0, True, x=(0.1, 0.1, 0.1), weight_bound=1.0)
    append(folder, (CASE, {'index': 3, 'attempt': 0}), (TEST, line_of_test(record)))
    assert told.look()
    assert [c.record.psi for c in told.state.counted] == [0.4, 0.5, 0.6, 0.9]
    assert 'test 3, attempt 0 is over' in told.standing.text


def test_a_folder_says_whether_somebody_is_at_it(folder):
    told = FolderState(folder)
    assert told.standing.level is Level.STALE
    assert 'repsq run --resume' in told.standing.text
    journal = Journal(folder / JOURNAL)
    journal.append(PAUSE, index=3, attempt=0, reason='battery', broken_off=False)
    told.look()
    assert told.standing == Health('campaign', Level.WARN, 'pause: battery')
    journal.append(SESSION, note='', date='2026-01-01', parameters={})
    told.look()
    assert told.standing.level is Level.OK
    journal.close()


def test_a_finished_folder_has_its_result(tmp_path, write, content):
    content['accuracy']['gamma'] = 0.25
    del content['partition']['first']
    folder = leave_folder(tmp_path / 'done', write(content), records_of([0.4, 0.5] * 40))
    told = FolderState(folder)
    kept = yaml.safe_load((folder / 'result.yaml').read_text())
    assert told.state.result.value == kept['value']
    board = watch_board(told.state, standing=told.standing)
    assert repr(kept['value']) in board.result[0]
    assert board.left == ()
    assert kept['guarantee'][:60] in screen(board, 300)


def test_a_damaged_or_missing_journal_is_told_in_one_line(folder, tmp_path, capsys):
    with pytest.raises(JournalError, match='expected the folder of a campaign'):
        FolderState(tmp_path)
    assert main(['watch', str(tmp_path)]) == JournalError.exit_code
    lines = (folder / JOURNAL).read_text().replace('0.5', '0.6', 1)
    (folder / JOURNAL).write_text(lines)
    assert main(['watch', str(folder), '--once']) == JournalError.exit_code
    assert 'unchanged journal' in capsys.readouterr().err


def test_once_prints_and_keeps_a_picture(folder, capsys, monkeypatch):
    pytest.importorskip('rich')
    monkeypatch.setenv('COLUMNS', '110')
    picture = folder / 'watch.svg'
    assert main(['watch', str(folder), '--once', '--svg', str(picture)]) == 0
    out = capsys.readouterr().out
    assert '3 of about' in out or 'tests' in out
    assert 'psi 0.6' in out
    assert picture.read_text().startswith('<svg')
    assert 'https://cdn' not in picture.read_text()
    assert main(['watch', str(folder), '--once', '--battery-minutes', '0']) == 2
    assert main(['watch', str(folder), '--once', '--svg', str(folder / 'no' / 'x.svg')]) == 6


def test_a_locale_without_utf_8_shows_the_board_all_the_same(folder):
    done = subprocess.run(
        [sys.executable, '-m', 'repsq_ros.cli', 'watch', str(folder), '--once'],
        env={**os.environ, 'LC_ALL': 'C', 'PYTHONUTF8': '0', 'PYTHONCOERCECLOCALE': '0'},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert b'estimate' in done.stdout


def test_hundreds_of_tests_of_a_folder_are_all_there(tmp_path, write):
    content = yaml.safe_load(G1.read_text())
    content['tester']['max_tests'] = 6000
    content['tester']['stopping'] = {'rule': 'hoeffding'}
    content['accuracy']['gamma'] = 0.005
    file = write(content)
    journal_of = tmp_path / 'long'
    leave_folder(journal_of, file, records_of([0.2, 0.8] * 150))
    told = FolderState(journal_of)
    assert len(told.state.counted) == 300
    assert not told.look()
    board = watch_board(told.state, standing=told.standing, width=60)
    assert len(board.estimate_line) == 60


def test_what_is_heard_twice_counts_once_and_another_campaign_begins_a_new_story():
    told = story(3, 3)
    told.on_counted('lab-1', told.counted[1])
    assert len(told.counted) == 3
    told.on_counted('lab-2', CountedAttempt(records_of([0.4])[0], estimate(1)), ('a', 'b', 'c'))
    assert (told.campaign_id, len(told.counted), told.names) == ('lab-2', 1, ('a', 'b', 'c'))
    assert told.span is None
