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

"""Recordings that look odd and are honest: nobody is accused, and every attempt is found."""

import pytest
from support.bag_copies import read_raw, write_raw
from support.forged import forge, lines_of, outcomes_in

from repsq_ros.campaign.journal_contents import (
    BEGIN,
    CASE,
    DONE,
    TEST,
    beginning,
    line_of_test,
    stop_line,
)
from repsq_ros.campaign.journal_queue import STOPS
from repsq_ros.campaign.recomputed_campaign import recompute
from repsq_ros.campaign.records import record_of
from repsq_ros.console.recorded_journal import (
    RecordedTopics,
    _Announced,
    _compare_lines,
    compare_with_recordings,
)
from repsq_ros.messages import campaign_messages
from repsq_ros.replay.task import Task, reevaluate
from repsq_ros.specification.load import load

pytest.importorskip('rosbags')

from support.bags import SECOND, at, walk, write_bag
from support.recorded_bags import LENGTH, STORE, Script, streams


@pytest.fixture
def specification(short, write):
    short['tester'].update(stopping={'rule': 'fixed', 'tests': 4}, max_tests=6)
    return write(short)


@pytest.fixture
def lab(specification, tmp_path):
    """A campaign with a pause, a skip and an INVALID test: its folder and its recording."""
    script = Script(load(specification).digest)
    script.attempt(0)
    script.attempt(1, 0, ends='paused')
    script.attempt(1, 1)
    script.attempt(2, ends='skipped')
    silent = (script.now, script.now + 0.9 * LENGTH)
    script.attempt(3, 0)
    for index, attempt in ((3, 1), (4, 0)):
        script.attempt(index, attempt)
    script.end()
    bag = write_bag(tmp_path / 'bag', streams(script, silent=[silent]), STORE)
    return journal_of(tmp_path / 'lab', specification, script, bag), bag


def journal_of(folder, file, script, bag):
    """Leave the folder that this campaign would have left."""
    [row] = reevaluate(Task(bag, file)).rows
    lines = [(BEGIN, beginning(load(file), script.campaign_id, 1))]
    for evaluated in row.evaluated:
        segment, outcome = evaluated
        key, draw = segment.key, segment.draw
        lines.append((CASE, {
            'index': key[0], 'attempt': key[1], 'x': list(draw.x), 'log_p': 0.0, 'log_q': 0.0,
            'weight': draw.weight, 'weight_bound': draw.weight_bound,
        }))  # fmt: skip
        for _, message in script.phases:
            span = campaign_messages.span_of(message)
            if (span.index, span.attempt) == key and span.phase in STOPS:
                lines.append((STOPS[span.phase], stop_line(span)))
        record = segment.ended or record_of(key, draw, segment.window, outcome)
        lines.append((TEST, line_of_test(record)))
    lines.append((DONE, {}))
    return forge(folder, file, lines)


def problems(lab, *bags, **options):
    checks = compare_with_recordings(recompute(lab), bags, RecordedTopics(), **options)
    found = {check.what: check.note for check in checks}
    return [f'{check.what}: {text}' for check in checks for text in check.problems], found


def moved(messages, seconds):
    return [(topic, log + round(seconds * SECOND), raw) for topic, log, raw in messages]


def of_another(messages):
    """The same messages of a campaign of another name (of as many letters)."""
    return [(topic, log, raw.replace(b'lab\0', b'two\0')) for topic, log, raw in messages]


def half(messages):
    return messages[: len(messages) // 2]


def rest(messages):
    return messages[len(messages) // 2 :]


VARIANTS = {
    'as it was': lambda m: [m],
    'two simulated campaigns, the other first': lambda m: [[*of_another(m), *moved(m, 100.0)]],
    'two simulated campaigns, the other last': lambda m: [[*m, *moved(of_another(m), 100.0)]],
    'played twice into one file': lambda m: [[*m, *moved(m, 100.0)]],
    'a recorder whose clock was set back': lambda m: [[*half(m), *moved(rest(m), -7200.0)]],
    'a recorder whose clock was set forth': lambda m: [[*half(m), *moved(rest(m), 7200.0)]],
    'two recordings': lambda m: [half(m), rest(m)],
    'two recordings, the second one first': lambda m: [rest(m), half(m)],
    'two recordings that overlap': lambda m: [m[: 2 * len(m) // 3], m[len(m) // 3 :]],
    'two recorders': lambda m: [m, m],
    'two recorders, one of them set back': lambda m: [half(m), moved(rest(m), -1e6)],
}  # fmt: skip


@pytest.mark.parametrize('name', VARIANTS)
def test_an_honest_recording_accuses_nobody(name, lab, tmp_path):
    folder, bag = lab
    connections, messages = read_raw(bag)
    bags = [
        write_raw(tmp_path / f'copy_{number}', connections, told)
        for number, told in enumerate(VARIANTS[name](messages))
    ]
    accused, found = problems(folder, *bags)
    assert accused == []
    assert found['psi from the recording'] == '5 tests'


@pytest.mark.parametrize('log', ['with it', 'on another machine'])
@pytest.mark.parametrize('files', [1, 2])
def test_a_clock_that_was_set_back_between_two_tests_accuses_nobody(
    log, files, specification, tmp_path
):  # fmt: skip
    """A reboot: stamps of the robot's computer begin anew; a recorder of its own goes on."""
    script = Script(load(specification).digest, begin=100.0)
    script.attempt(0)
    script.attempt(1)
    end = script.now
    before = [*script.walked]
    script.walked.clear()
    script.now = 1.0
    script.attempt(2)
    script.attempt(3)
    script.end()
    topic, name, late = walk(before, end + 0.4)
    late = [each for each in late if each[0] > 99.0]
    *of_campaign, (_, _, early) = streams(script)
    whole = [*of_campaign, (topic, name, [*late, *early])]
    bag = write_bag(tmp_path / 'bag', whole, STORE)
    connections, messages = read_raw(bag)
    first = [each for each in messages if each[1] > at(50.0)]
    second = [each for each in messages if each[1] < at(50.0)]
    if log != 'with it':
        second = moved(second, 110.0)
    told = [[*first, *second]] if files == 1 else [first, second]
    bags = [
        write_raw(tmp_path / f'copy_{number}', connections, each)
        for number, each in enumerate(told)
    ]
    accused, found = problems(journal_of(tmp_path / 'lab', specification, script, bag), *bags)
    assert accused == []
    assert found['psi from the recording'] == '4 tests'


def test_a_simulated_campaign_that_was_resumed_accuses_nobody(specification, tmp_path):
    """Its time begins anew, so both sessions have tests of equal windows, and of other psi."""
    script, again = Script(load(specification).digest), Script(load(specification).digest)
    script.attempt(0)
    script.attempt(1)
    again.attempt(2)
    again.attempt(3)
    again.end()
    told = [*streams(again)[:-1], walk(again.walked, again.now + 1.0, error=0.02)]
    days = [write_bag(tmp_path / 'day_1', streams(script), STORE),
            write_bag(tmp_path / 'day_2', told, STORE)]  # fmt: skip
    (connections, first), (_, second) = map(read_raw, days)
    bag = write_raw(tmp_path / 'bag', connections, [*first, *moved(second, 100.0)])
    script.phases += again.phases
    lab = journal_of(tmp_path / 'lab', specification, script, bag)
    psi = [test.psi for test in recompute(lab).contents.tests]
    assert min(psi[:2]) > 1.2 * max(psi[2:]), psi
    accused, found = problems(lab, bag)
    assert accused == []
    assert found['psi from the recording'] == '4 tests'


@pytest.mark.parametrize('late', [False, True])
def test_a_case_that_is_written_again_after_its_command_accuses_nobody(late, lab, specification):
    """Its scheduler was killed in it. The first line has to come before the command."""
    folder, _ = lab
    lines = lines_of(folder)
    forge(folder, specification, [*lines[:2], *lines[1:]])
    recomputed = recompute(folder)
    heads = {entry.digest: at(10.0 * k) for k, entry in enumerate(recomputed.entries)}
    announced = _Announced(heads=heads, commanded={(0, 0): at(2.0 if late else 11.0)})
    found = _compare_lines(recomputed, announced, '').problems
    assert found == (('test 0, attempt 0: the line of its case came after its command',) * late)


def test_a_damaged_recording_accuses_nobody(lab, specification):
    """The second half is gone: what it lacks is not checked, and the rest is."""
    folder, bag = lab
    file = next(bag.glob('*.mcap'))
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    accused, found = problems(folder, bag, recover=True)
    assert accused == []
    assert found['psi from the recording'] in ('2 tests', '3 tests')
    lines = lines_of(folder)
    outcomes_in(lines, 0)[0]['psi'] *= 0.9
    forge(folder, specification, lines)
    accused, found = problems(folder, bag, recover=True)
    assert any('test 0, attempt 0: psi is' in each for each in accused)
