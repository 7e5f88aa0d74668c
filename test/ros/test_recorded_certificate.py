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

"""A lab that cheats with its own key and a true recording; and honest labs beside it.

Each cheat rewrites the journal of a campaign over DDS, chains it again, makes table, result and
certificate again, and names the recording: only what can be computed from seed, specification and
recording tells.
"""

import copy
import json
import re
import shutil

import pytest
import yaml
from support.bag_copies import read_raw, write_raw
from support.forged import forge, lines_of, outcomes_in

from repsq_ros.campaign.journal import JOURNAL, read_journal
from repsq_ros.campaign.journal_contents import CASE, DONE, PAUSE, SESSION, SKIP, TEST
from repsq_ros.cli import main

pytest.importorskip('rosbags')
HEADS = '/repsq/journal_head'
pytest.importorskip('jsonschema')


@pytest.fixture(scope='module')
def honest(recorded):
    """The journal's lines, the specification, and the recording."""
    bag, file, *_ = recorded
    return lines_of(bag.parent / 'campaign'), file, bag


def left_by(folder, honest, cheat=None, tester=None):
    """Return the words with which a folder is verified that was left after a cheat."""
    lines, file, bag = honest
    lines = copy.deepcopy(lines)
    if cheat is not None:
        lines = cheat(lines) or lines
    if tester is not None:
        content = yaml.safe_load(file.read_text())
        content['tester'].update(tester)
        file = folder.with_suffix('.yaml')
        file.write_text(yaml.safe_dump(content))
    forge(folder, file, lines)
    return ['verify', str(folder), '--bag', str(bag)]


def certified(folder, honest, cheat=None, tester=None):
    command = left_by(folder, honest, cheat, tester)
    # Who cheats uses a `certify` that asks nothing.
    from repsq_ros.campaign.recomputed_campaign import recompute
    from repsq_ros.certificate.document import bag_entry, make_document
    from repsq_ros.certificate.issuing import issue

    issue(make_document(recompute(folder), [bag_entry(honest[2])], 'A lab'), folder)
    return command


def test_an_honest_campaign_is_valid_and_every_attempt_is_found(honest, tmp_path, capsys):
    command = certified(tmp_path / 'lab', honest)
    assert main(command) == 0
    printed = capsys.readouterr().out
    attempts = len(outcomes_in(honest[0]))  # 18, and one more for each stall of this machine
    for found in (r'lines announced in the recording +\d+ lines',
                  f'cases in the recording +{attempts} cases',
                  f'attempts in the recording +{attempts} attempts',
                  'psi from the recording +15 tests'):  # fmt: skip
        assert re.search(rf'^ok {found}$', printed, re.MULTILINE), printed
    assert main([*command, '--strict']) == 11  # nobody has signed it
    assert 'not checked: signature' in capsys.readouterr().out


def test_without_the_recording_it_says_what_is_not_checked(honest, tmp_path, capsys):
    command = certified(tmp_path / 'lab', honest)
    assert main([*command[:2], '--strict']) == 11
    assert re.search(r'recordings +not checked: none given', capsys.readouterr().out)


# Cheats ------------------------------------------------------------------------------------------


def worst(lines):
    return max(outcomes_in(lines), key=lambda test: test['psi'])


def lighter(lines):
    """weight .3 for the worse tests of plain Monte Carlo, whose weights are 1."""
    for test in outcomes_in(lines):
        if test['psi'] > 0.5:
            test['weight'] = 0.3


def lighter_with_its_cases(lines):
    lighter(lines)
    for _, content in lines:
        if content.get('index') == worst(lines)['index'] and 'weight' in content:
            content['weight'] = 0.3


def skipped(lines):
    """The worst VALID test was "skipped by the operator"."""
    test = worst(lines)
    test.update(valid=False, skipped=True, reason='by the operator', psi=0.0, samples=0)


def skipped_with_its_line(lines):
    test = worst(lines)
    skipped(lines)
    key = {'index': test['index'], 'attempt': test['attempt']}
    place = lines.index((TEST, test))
    lines.insert(place, (SKIP, {**key, 'reason': 'by the operator', 'broken_off': True}))


def last_left_out(lines):
    """With `fixed: 13` in its own tester section: no digest speaks of that."""
    last = max(test['index'] for test in outcomes_in(lines))
    return [line for line in lines if line[1].get('index') != last]


def elsewhere(lines):
    for event, content in lines:
        if event in (CASE, TEST):
            content['x'] = [-value for value in content['x']]


def outside_the_target(lines):
    for event, content in lines:
        if event in (CASE, TEST):
            content['x'] = [99.0, 0.0, 0.0]


def one_test_elsewhere(lines):
    outcomes_in(lines, 4)[0]['x'][0] += 0.01


def other_seed(lines):
    lines[0][1]['seed'] += 1


def larger_density(lines):
    for event, content in lines:
        if event == CASE and content['index'] == 4:
            content['log_q'] += 0.5


def wider_bound(lines):
    for event, content in lines:
        if event in (CASE, TEST):
            content['weight_bound'] = 0.5


def better_psi(lines):
    outcomes_in(lines, 7)[0]['psi'] *= 0.99


def psi_exchanged(lines):
    one, other = outcomes_in(lines, 1)[0], outcomes_in(lines, 4)[0]
    one['psi'], other['psi'] = other['psi'], one['psi']


def called_invalid(lines):
    """A VALID test is called INVALID, and repeated by copying another one."""
    test = outcomes_in(lines, 4)[0]
    place = lines.index((TEST, test))
    again = {**test, 'attempt': 1, 'psi': 0.1}
    case = copy.deepcopy(next(c for e, c in lines if e == CASE and c['index'] == 4))
    test.update(valid=False, psi=0.0, reason='gap of 0.4 s', code='gap')
    lines[place + 1 : place + 1] = [(CASE, {**case, 'attempt': 1}), (TEST, again)]


def invalid_left_out(lines):
    """The attempt that was INVALID never was."""
    kept = [line for line in lines if (line[1].get('index'), line[1].get('attempt')) != (3, 0)]
    for _, content in kept:
        if content.get('index') == 3:
            content['attempt'] = 0
    return kept


def invalid_called_valid(lines):
    kept = [line for line in lines if (line[1].get('index'), line[1].get('attempt')) != (3, 1)]
    outcomes_in(kept, 3)[0].update(valid=True, psi=0.2, reason='', code='')
    return kept


def break_left_out(lines):
    """A pause in the command, which may follow on what was seen, never was."""
    kept = [line for line in lines if (line[1].get('index'), line[1].get('attempt')) != (2, 0)]
    for _, content in kept:
        if content.get('index') == 2:
            content['attempt'] = 0
    return kept


def pause_left_out(lines):
    return [line for line in lines if not (line[0] == PAUSE and line[1]['index'] == 8)]


def pause_added(lines):
    lines.insert(5, (PAUSE, {'index': 1, 'attempt': 0, 'reason': 'rain', 'broken_off': False}))


def other_reason(lines):
    outcomes_in(lines, 2)[0]['reason'] = 'the battery was changed'


def skip_of_other_reason(lines):
    outcomes_in(lines, 5)[0]['reason'] = 'a person stood in the way'


def other_window(lines):
    for name in ('window_start_ns', 'window_end_ns'):
        outcomes_in(lines, 9)[0][name] += 100_000_000


def break_at_another_time(lines):
    for name in ('window_start_ns', 'window_end_ns'):
        outcomes_in(lines, 2)[0][name] += 100_000_000


def counted_twice(lines):
    place = max(k for k, (event, _) in enumerate(lines) if event == TEST)
    lines.insert(place, copy.deepcopy(lines[place]))


def written_before_its_case(lines):
    place = lines.index((TEST, outcomes_in(lines, 4)[0]))
    lines[place - 1], lines[place] = lines[place], lines[place - 1]


def case_left_out(lines):
    lines[:] = [line for line in lines if not (line[0] == CASE and line[1]['index'] == 4)]


def another_calibration(lines):
    """What nothing else speaks of: the note of the session."""
    next(content for event, content in lines if event == SESSION)['note'] = 'calibrated today'


def goes_on_after_the_end(lines):
    place = max(k for k, (event, _) in enumerate(lines) if event == TEST)
    test = {**lines[place][1], 'index': lines[place][1]['index'] + 1, 'psi': 0.0}
    lines.insert(place + 1, (TEST, test))


FEWER = {'stopping': {'rule': 'fixed', 'tests': 13}, 'max_tests': 13}
CHEATS = [
    (lighter, None, r'drawn again.*test \d+, attempt 0: weight is 0.3, .* give 1.0'),
    (lighter_with_its_cases, None, r"drawn again.*the case's weight is 0.3"),
    (skipped, FEWER, r'attempts.*test \d+, attempt 0: skipped in the journal .*no such phase'),
    (skipped_with_its_line, FEWER, r'attempts.*skipped in the journal .*no such phase'),
    (last_left_out, FEWER, r'attempts.*test 15, attempt 0: is in the recording, not in the jour'),
    (elsewhere, None, r'drawn again.*test 0, attempt 0: the case has x'),
    (outside_the_target, None, r'drawn again.*test 0, attempt 0: the case has x = \[99.0'),
    (one_test_elsewhere, None, r'drawn again.*test 4, attempt 0: the test has x'),
    (other_seed, None, r'drawn again.*test 0, attempt 0: the case has x'),
    (larger_density, None, r"drawn again.*test 4, attempt 0: the case's log_q"),
    (wider_bound, None, r"drawn again.*test 0, attempt 0: the case's weight_bound is 0.5"),
    (better_psi, None, r'psi from.*test 7, attempt 0: psi is'),
    (psi_exchanged, None, r'psi from.*test 1, attempt 0: psi is'),
    (called_invalid, None, r'psi from.*test 4, attempt 0: VALID in the recording, INVALID in'),
    (invalid_left_out, None, r'attempts.*test 3, attempt 1: is in the recording, not in the jou'),
    (invalid_called_valid, None, r'psi from.*test 3, attempt 0: INVALID in the recording'),
    (break_left_out, None, r'attempts.*test 2, attempt 1: is in the recording, not in the journ'),
    (pause_left_out, None, r'skips, pauses.*test 8, attempt 0: a pause .*is in the recording, no'),
    (pause_added, None, r'skips, pauses.*test 1, attempt 0: a pause .rain. is in the journal, no'),
    (other_reason, None, r"attempts.*test 2, attempt 0: broken off in the journal for 'the batte"),
    (skip_of_other_reason, None, r"attempts.*test 5, attempt 0: skipped in the journal for 'a p"),
    (other_window, None, r'attempts.*test 9, attempt 0: measured from'),
    (break_at_another_time, None, r'attempts.*test 2, attempt 0: broken off at another time'),
    (counted_twice, None, r'order.*test 15, attempt 0: found where test 16'),
    (written_before_its_case, None, r'order.*test 4, attempt 0: its case was not written before'),
    (case_left_out, None, r'order.*test 4, attempt 0: its case was not written before'),
    (another_calibration, None, r'lines announced.*(\d+) of \1 lines are not .*behind line 0'),
    (better_psi, None, r'lines announced.*lines are not in the journal: .*behind line \d\d'),
    (goes_on_after_the_end, None, r'order.*test 16, attempt 0: its case was not written'),
]  # fmt: skip


@pytest.mark.parametrize(
    ('cheat', 'tester', 'line'), CHEATS, ids=[cheat.__name__ for cheat, *_ in CHEATS]
)
def test_a_cheat_is_found(cheat, tester, line, honest, tmp_path, capsys):
    command = certified(tmp_path / 'lab', honest, cheat, tester)
    assert main(command) == 9
    printed = capsys.readouterr().out
    assert re.search(rf'^-  .*{line}', printed, re.MULTILINE), printed


def test_a_recording_of_something_else_is_told(honest, tmp_path, capsys):
    command = certified(tmp_path / 'lab', honest)
    file = tmp_path / 'lab' / 'certificate.json'
    named = json.loads(file.read_text())['bags'][0]
    assert named['name'] == 'bag'
    (tmp_path / 'bag').mkdir()
    (tmp_path / 'bag' / 'bag_0.mcap').write_bytes(b'nothing')
    assert main([*command[:-1], str(tmp_path / 'bag')]) == 9
    assert 'recording bag' in capsys.readouterr().out


def test_a_line_that_was_announced_after_its_command_is_found(honest, tmp_path, capsys):
    lines, file, bag = honest
    folder, copy = str(forge(tmp_path / 'lab', file, lines)), tmp_path / 'late'
    connections, messages = read_raw(bag)
    line = next(
        each.digest.encode()
        for each in read_journal(tmp_path / 'lab' / JOURNAL)[0]
        if each.event == CASE and each.content['index'] == 4
    )
    place = next(k for k, (topic, _, raw) in enumerate(messages) if topic == HEADS and line in raw)

    def written(seconds):
        topic, log_ns, *more = messages[place]
        moved = messages[:place] + messages[place + 1 :]
        late = (topic, log_ns + int(seconds * 1e9), *more)
        told = sorted([*moved, late], key=lambda message: message[1])
        shutil.rmtree(copy, ignore_errors=True)
        write_raw(copy, connections, told)
        assert main(['certify', folder, '--bag', str(copy)]) == 0
        return main(['verify', folder, '--bag', str(copy)])

    assert written(4.0) == 0  # a recorder may hear topics in another order
    assert written(20.0) == 9
    assert 'the line of its case came after its command' in capsys.readouterr().out


def test_a_recording_without_announced_lines_is_not_held_against_anybody(
    honest, tmp_path, capsys
):  # fmt: skip
    lines, file, bag = honest
    folder, copy = str(forge(tmp_path / 'lab', file, lines)), tmp_path / 'without'
    connections, messages = read_raw(bag)
    del connections[HEADS]
    write_raw(copy, connections, [each for each in messages if each[0] != HEADS])
    assert main(['certify', folder, '--bag', str(copy)]) == 0
    assert main(['verify', folder, '--bag', str(copy)]) == 0
    assert 'not checked: the recording has no repsq/journal_head' in capsys.readouterr().out


# Honest labs -------------------------------------------------------------------------------------


def under_way(lines):
    """The scheduler was killed in the last attempt."""
    last = max(k for k, (event, _) in enumerate(lines) if event == TEST)
    return [line for k, line in enumerate(lines) if k != last and line[0] != DONE]


def test_a_campaign_under_way_is_accused_of_nothing(honest, tmp_path, capsys):
    command = left_by(tmp_path / 'lab', honest, under_way)
    del command[2:]
    assert main(command) == 0
    assert 'not at its end yet' in capsys.readouterr().out


def renamed(bag, target, names):
    """Copy a recording with other names of its topics."""
    connections, messages = read_raw(bag)
    told = {names(topic): connection for topic, connection in connections.items()}
    return write_raw(target, told, [(names(topic), *more) for topic, *more in messages])


@pytest.mark.parametrize(
    ('names', 'options'),
    [
        (lambda topic: f'/lab{topic}', ['--namespace', 'lab']),
        (lambda topic: {'/odom': '/state'}.get(topic, topic), ['--remap', 'odom:=/state']),
        (lambda topic: {'/odom': '/state'}.get(topic, topic), ['--sensor-topic', '/state']),
    ],
    ids=['namespace', 'remapped', 'sensor'],
)
def test_other_names_of_topics_stand_on_the_certificate(names, options, honest, tmp_path, capsys):
    lines, file, bag = honest
    folder, copy = str(forge(tmp_path / 'lab', file, lines)), tmp_path / 'renamed'
    renamed(bag, copy, names)
    assert main(['certify', folder, '--bag', str(copy), *options]) == 0
    assert main(['verify', folder, '--bag', str(copy)]) == 0
    assert re.search('^ok psi from the recording +15 tests', capsys.readouterr().out, re.MULTILINE)


def test_a_campaign_in_two_recordings_is_one(honest, tmp_path, capsys):
    """Cut in the middle, wherever that is: in a test."""
    lines, file, bag = honest
    folder = str(forge(tmp_path / 'lab', file, lines))
    connections, messages = read_raw(bag)
    half = len(messages) // 2
    days = [('day1', messages[:half]), ('day2', messages[half:])]
    bags = [str(write_raw(tmp_path / name, connections, told)) for name, told in days]
    both = ['--bag', bags[0], '--bag', bags[1]]
    assert main(['certify', folder, *both]) == 0
    assert main(['verify', folder, *both]) == 0
    assert re.search('^ok psi from the recording +15 tests', capsys.readouterr().out, re.MULTILINE)
    # One of them alone shows less, and accuses nobody.
    assert main(['verify', folder, *both[:2]]) == 0
    assert '2 recordings, 1 were given' in capsys.readouterr().out
