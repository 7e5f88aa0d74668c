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

"""Recordings that know nothing of this package: where their tests are, and by which clock."""

import csv
import json

import numpy as np
import pytest
import yaml
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st

from repsq_ros.cli import main
from repsq_ros.replay.held_commands import (
    command_within,
    held_commands,
    held_labels,
    label_at,
)

pytest.importorskip('rosbags')

from support.bags import (
    STRING,
    TWIST,
    TWIST_STAMPED,
    TYPES,
    at,
    header,
    twist,
    walk,
    write_bag,
)

SECOND = 1_000_000_000


def held(commands, until=100.0, apart=5.0, hold=None, rest=False, splits=()):
    """Return (start, end, v_x, cut) of each stretch, in s."""
    times = np.array([round(t * SECOND) for t, _ in commands], dtype=np.int64)
    values = np.array([[v, 0.0] for _, v in commands]).reshape(-1, 2)
    found = held_commands(
        times, values, round(until * SECOND), round(apart * SECOND),
        None if hold is None else round(hold * SECOND), rest,
        np.array([round(t * SECOND) for t in splits], dtype=np.int64),
    )  # fmt: skip
    return [(h.start_ns / SECOND, h.end_ns / SECOND, h.command[0], h.cut) for h in found]


# Where tests are ---------------------------------------------------------------------------------


def test_repeated_commands_are_one_test_and_rest_is_none():
    stream = [(0.1 * k, 0.3) for k in range(30)] + [(3.0 + 0.1 * k, 0.0) for k in range(10)]
    stream += [(4.0 + 0.1 * k, -0.2) for k in range(20)]
    assert held(stream) == [(0.0, 3.0, 0.3, False), (4.0, 100.0, -0.2, True)]


def test_rest_is_a_test_where_it_is_asked_for():
    assert held([(0.0, 0.3), (2.0, 0.0), (5.0, 0.1)], rest=True)[1] == (2.0, 5.0, 0.0, False)
    assert held([(0.0, 0.0), (2.0, -0.0)], rest=True) == [(0.0, 100.0, 0.0, True)]


def test_equal_commands_far_apart_are_two_tests():
    assert held([(0.0, 0.3), (5.0, 0.3)]) == [(0.0, 100.0, 0.3, True)]
    assert held([(0.0, 0.3), (5.1, 0.3)]) == [(0.0, 5.1, 0.3, False), (5.1, 100.0, 0.3, True)]


def test_a_command_holds_for_so_long_as_it_is_said_to():
    stream = [(0.0, 0.3), (0.5, 0.3), (4.0, 0.1)]
    assert held(stream, hold=1.0) == [(0.0, 1.5, 0.3, False), (4.0, 5.0, 0.1, False)]
    assert held(stream, until=4.5, hold=1.0)[1] == (4.0, 4.5, 0.1, True)


def test_a_new_label_is_a_new_test_of_the_same_command():
    stream = [(0.5 * k, 0.3) for k in range(20)]
    assert held(stream, splits=[0.0, 5.0]) == [(0.0, 5.0, 0.3, False), (5.0, 100.0, 0.3, True)]


def test_a_command_of_nan_is_one_test_that_nobody_can_follow():
    assert len(held([(0.1 * k, float('nan')) for k in range(10)])) == 1


commands = st.lists(
    st.tuples(st.integers(1, 40), st.sampled_from([0.0, 0.1, -0.3])), max_size=30
)  # (tenths of a second since the one before, v_x)


@given(commands, st.booleans(), st.sampled_from([None, 0.5, 2.0]))
def test_stretches_are_those_of_a_walk_through_the_commands(steps, rest, hold):
    stream, t = [], 0
    for step, v in steps:
        t += step
        stream.append((t / 10, v))
    expected, last = [], None
    for t, v in stream:
        if last is not None and last[2] == v and t - last[1] <= (hold or 3.0) + 1e-9:
            last[1] = t
            continue
        if last is not None:
            expected.append((last[0], last[1], last[2], t))
        last = [t, t, v]
    if last is not None:
        expected.append((last[0], last[1], last[2], 50.0 if t < 50.0 else t))
    wanted = []
    for place, (start, sent, v, end) in enumerate(expected):
        if v == 0.0 and not rest:
            continue
        until = end if hold is None else min(end, sent + hold)
        at_the_end = place == len(expected) - 1
        wanted.append((start, until, v, at_the_end and (hold is None or sent + hold > end)))
    found = held(stream, until=50.0, apart=3.0, hold=hold, rest=rest)
    assert [(s, e, v, c) for s, e, v, c in found] == pytest.approx(wanted, abs=1e-9)


def test_labels_hold_until_the_next_and_an_empty_one_ends_a_test():
    times = np.array([1, 2, 5, 7, 9], dtype=np.int64)
    labels = ['a', 'a', '', 'b', 'c']
    found = [(h.start_ns, h.end_ns, h.label, h.cut) for h in held_labels(times, labels, 20)]
    assert found == [(1, 5, 'a', False), (7, 9, 'b', False), (9, 20, 'c', True)]
    assert [h.label for h in held_labels(times, labels, 20, ('c', 'a'))] == ['a', 'c']
    instants = np.array([0, 1, 6, 8], dtype=np.int64)
    assert label_at(times, labels, instants) == ['', 'a', '', 'b']


def test_one_command_within_a_window_or_the_reason_why_not():
    times = np.array([10, 20, 30, 40], dtype=np.int64)
    values = np.array([[1.0], [2.0], [2.0], [3.0]])
    assert command_within(times, values, 20, 40) == ((2.0,), '')
    assert command_within(times, values, 19, 40)[1] == 'it changes within the measured window'
    assert command_within(times, values, 20, 41)[1] == 'it changes within the measured window'
    assert command_within(times, values, 9, 15)[1].startswith('none was sent')


# Whole recordings --------------------------------------------------------------------------------


@pytest.fixture
def specification(short, write):
    """0.5 s of 1.5 s are not measured, 1 s is."""
    return write(short)


COMMANDS = [(1.0, 0.2), (3.0, 0.0), (4.0, -0.1), (6.0, 0.0)]


def stream(commands=COMMANDS, until=8.0, rate=20, late=0.0):
    """Return a Twist topic on which each command is repeated until the next."""
    ends = [t for t, _ in commands[1:]] + [until]
    found = []
    for (begin, v), end in zip(commands, ends, strict=True):
        count = round((end - begin) * rate)
        found += [(begin + k / rate + late, twist(v)) for k in range(count)]
    return ('/cmd_vel', TWIST, found)


@pytest.fixture
def reevaluated(specification, tmp_path, capsys):
    """Write a bag, evaluate it anew, and give the exit code, the tests, and what was said."""

    def run(streams, *options, by=('--command-topic', '/cmd_vel')):
        bag, file = tmp_path / 'bag', tmp_path / 'all.json'
        if not bag.exists():
            write_bag(bag, streams)
        code = main(
            ['reevaluate', str(bag), '--specification', str(specification), '--json', str(file),
             *by, *options]
        )  # fmt: skip
        said = capsys.readouterr()
        if code:
            assert said.err.count('\n') == 1, said.err
            return code, [], said.err
        [done] = json.loads(file.read_text())['reevaluations']
        return code, done['measures'][0]['tests'], said.out

    return run


PSI = 1 - np.exp(-6 * 0.05)  # the body is 0.05 m/s too fast


def test_a_real_stream_of_commands_gives_its_tests(reevaluated, tmp_path):
    code, tests, _ = reevaluated([walk(COMMANDS, 8.0), stream()])
    assert code == 0
    assert [(t['command'][0], t['valid']) for t in tests] == [(0.2, True), (-0.1, True)]
    assert [t['psi'] for t in tests] == pytest.approx([PSI, PSI], rel=0.02)
    table = tmp_path / 'results.csv'
    assert reevaluated(None, '--csv', str(table))[0] == 0
    [row] = csv.DictReader(table.open())
    assert (row['attempts'], row['valid']) == ('2', '2')
    assert float(row['mean_psi']) == np.mean([t['psi'] for t in tests])
    assert row['mean'] == ''  # of an estimate: it is unknown how the cases were drawn
    windows = [(t['start_ns'], t['end_ns']) for t in tests]
    assert windows == [(at(1.5), at(2.5)), (at(4.5), at(5.5))]


def test_the_protocol_is_held_against_each_test(reevaluated):
    """A command that was too short, one in which the sensor was silent, one that was cut."""
    commands = [(1.0, 0.2), (2.2, 0.1), (4.0, 0.3), (6.0, -0.2)]
    topic, name, messages = walk(commands, 7.2)
    messages = [(t, m) for t, m in messages if not 4.8 < t < 5.1]
    code, tests, _ = reevaluated([(topic, name, messages), stream(commands, 7.2)])
    assert code == 0
    assert [(t['valid'], t['code']) for t in tests] == [
        (False, 'short'), (True, ''), (False, 'gap'), (False, 'cut'),
    ]  # fmt: skip
    assert tests[0]['reason'] == (
        'too short: it lasted 1.200 s; the measured window is 0.5 to 1.5 s after its beginning'
    )
    assert tests[3]['reason'].startswith('recording ends 1.200 s after it began')


def test_a_silent_sensor_makes_every_test_invalid(reevaluated):
    topic, name, messages = walk(COMMANDS, 8.0)
    code, _, said = reevaluated([(topic, name, messages[:40]), stream()])
    assert code == 4
    assert 'no valid test of 2' in said


def test_a_sensor_whose_clock_differs_is_told_and_corrected(reevaluated):
    """0.5 s would give another psi, and nothing in the samples tells."""
    bag = [walk(COMMANDS, 8.0, stamped=0.5), stream()]
    code, _, said = reevaluated(bag)
    assert code == 4
    assert 'the stamps on /odom are 0.500 s ahead of the clock of /cmd_vel' in said
    assert '--clock-offset -0.500' in said
    code, tests, said = reevaluated(bag, '--clock-offset', '-0.5')
    assert [t['psi'] for t in tests] == pytest.approx([PSI, PSI], rel=0.02)
    assert 'note      -0.5 s added to the stamps on /odom' in said
    code, tests, said = reevaluated(bag, '--clock-offset', '0')
    assert code == 0
    assert tests[0]['psi'] > 1.5 * PSI
    assert 'note      the stamps on /odom are 0.500 s ahead of the clock of /cmd_vel' in said


def test_messages_that_are_a_little_late_are_no_other_clock(reevaluated):
    code, tests, said = reevaluated([walk(COMMANDS, 8.0, late=0.03), stream()])
    assert code == 0
    assert 'note' not in said
    assert tests[0]['psi'] == pytest.approx(PSI, rel=0.02)


def test_simulated_time_beside_wall_time_is_told(reevaluated):
    code, _, said = reevaluated([walk(COMMANDS, 8.0, epoch=False), stream()])
    assert code == 4
    assert 'behind the clock of /cmd_vel (one of them is simulated, or was not set)' in said


def test_simulated_time_on_both_topics_is_one_clock(reevaluated):
    """... even where the simulation was four times as fast as the recorder's clock."""
    topic, name, messages = walk(COMMANDS, 8.0, epoch=False)
    _, _, twists = stream()
    stamped = [(t / 4, TYPES[TWIST_STAMPED](header(t, epoch=False), m)) for t, m in twists]
    bag = [
        (topic, name, [(t / 4, m) for t, m in messages]), ('/cmd_vel', TWIST_STAMPED, stamped),
    ]  # fmt: skip
    code, tests, said = reevaluated(bag)
    assert code == 0, said
    assert [t['psi'] for t in tests] == pytest.approx([PSI, PSI], rel=0.02)
    assert 'note' not in said


def test_stamps_that_nobody_set_are_told_with_the_remedy(reevaluated):
    code, _, said = reevaluated([walk(COMMANDS, 8.0, epoch=None), stream()])
    assert code == 4
    assert 'found stamp 0 in all 400 messages on /odom' in said
    assert 'stamp: receive' in said


def test_stamped_commands_that_nobody_stamped_are_told_with_the_remedy(reevaluated):
    _, _, twists = stream()
    stamped = [(t, TYPES[TWIST_STAMPED](header(t, epoch=None), m)) for t, m in twists]
    bag = [walk(COMMANDS, 8.0), ('/cmd_vel', TWIST_STAMPED, stamped)]
    code, _, said = reevaluated(bag)
    assert code == 4
    assert 'on /cmd_vel' in said
    assert '--command-stamp log' in said
    code, tests, _ = reevaluated(bag, '--command-stamp', 'log')
    assert [t['psi'] for t in tests] == pytest.approx([PSI, PSI], rel=0.02)


def test_a_stream_that_falls_silent_is_told(reevaluated):
    """A bridge may have stopped the robot meanwhile: nobody can see that in the commands."""
    topic, name, messages = stream()
    messages = [(t, m) for t, m in messages if not 4.5 < t < 5.7]
    code, tests, said = reevaluated([walk(COMMANDS, 8.0), (topic, name, messages)])
    assert code == 0
    assert '/cmd_vel comes every 0.050 s, and once falls silent for 1.2' in said
    code, tests, said = reevaluated(None, '--hold', '0.5')
    assert [(t['valid'], t['code']) for t in tests][:2] == [(True, ''), (False, 'short')]
    assert 'silent' not in said


def test_tests_from_a_topic_of_labels(reevaluated):
    labels = [(1.0, 'walk 1'), (3.0, ''), (4.0, 'walk 2'), (6.0, 'pause')]
    said = [(t, TYPES[STRING](text)) for t, text in labels]
    bag = [walk(COMMANDS, 8.0), stream(), ('/trial', STRING, said)]
    _, tests, _ = reevaluated(bag, '--segment-topic', '/trial')
    assert [(t['label'], t['valid']) for t in tests] == [
        ('walk 1', True), ('walk 2', True), ('pause', True),
    ]  # fmt: skip
    chosen = ('--segment-topic', '/trial', '--segment-labels', 'walk 1,walk 2')
    _, tests, _ = reevaluated(bag, *chosen)
    assert [t['psi'] for t in tests] == pytest.approx([PSI, PSI], rel=0.02)
    assert [t['command'][0] for t in tests] == [0.2, -0.1]


def test_labels_count_by_the_clock_of_the_commands(reevaluated):
    """Both headers are of a robot whose clock is 100 s behind that of the recorder."""
    topic, name, messages = walk(COMMANDS, 8.0)
    _, _, twists = stream()
    stamped = [(t + 100, TYPES[TWIST_STAMPED](header(t), m)) for t, m in twists]
    labels = [(101.0, 'walk 1'), (103.0, ''), (104.0, 'walk 2'), (106.0, '')]
    bag = [
        (topic, name, [(t + 100, m) for t, m in messages]),
        ('/cmd_vel', TWIST_STAMPED, stamped),
        ('/trial', STRING, [(t, TYPES[STRING](text)) for t, text in labels]),
    ]
    _, tests, _ = reevaluated(bag, '--segment-topic', '/trial')
    assert [(t['label'], t['start_ns']) for t in tests] == [
        ('walk 1', at(1.5)), ('walk 2', at(4.5)),
    ]  # fmt: skip
    assert [t['psi'] for t in tests] == pytest.approx([PSI, PSI], rel=0.02)


def test_commands_that_were_late_on_their_way_are_no_other_clock(reevaluated):
    """Most of them waited for a network; those that took the shortest tell of the clock."""
    _, _, twists = stream()
    late = [
        (t + 0.3 * (k % 10 != 0), TYPES[TWIST_STAMPED](header(t), m))
        for k, (t, m) in enumerate(twists)
    ]
    code, tests, said = reevaluated([walk(COMMANDS, 8.0), ('/cmd_vel', TWIST_STAMPED, late)])
    assert code == 0, said
    assert [t['psi'] for t in tests] == pytest.approx([PSI, PSI], rel=0.02)


def test_a_command_that_changes_within_a_labelled_window_is_a_reason(reevaluated):
    said = [(2.0, TYPES[STRING]('late'))]
    bag = [walk(COMMANDS, 8.0), stream(), ('/trial', STRING, said)]
    code, _, _ = reevaluated(bag, '--segment-topic', '/trial')
    assert code == 4
    more = ('--segment-topic', '/trial', '--settle', '0.1', '--window', '0.8')
    code, tests, said = reevaluated(bag, *more)
    assert tests[0]['valid']
    assert 'note      protocol: settle 0.1 s in place of 0.5 s' in said


def test_tests_from_a_table_of_times(reevaluated, tmp_path):
    table = tmp_path / 'tests.csv'
    table.write_text(
        'label,start,end,linear_x,linear_y,angular_z\na,1,3,0.2,0,0\nb,4,6,-0.1,0,0\n'
    )
    code, tests, _ = reevaluated([walk(COMMANDS, 8.0)], '--segment-table', str(table), by=())
    assert code == 0
    assert [(t['label'], t['start_ns']) for t in tests] == [('a', at(1.5)), ('b', at(4.5))]
    assert [t['psi'] for t in tests] == pytest.approx([PSI, PSI], rel=0.02)
    table.write_text(f'start_ns,end_ns\n{at(1)},{at(3)}\n{at(7)},{at(9)}\n')
    code, tests, _ = reevaluated(None, '--segment-table', str(table), by=())
    assert code == 2
    table.write_text(f'start_ns,end_ns,linear_x,linear_y,angular_z\n{at(1)},{at(3)},.2,0,0\n'
                     f'{at(7)},{at(9)},0,0,0\n')  # fmt: skip
    code, tests, _ = reevaluated(None, '--segment-table', str(table), by=())
    assert [t['code'] for t in tests] == ['', 'cut']


@pytest.fixture
def by_gauge(write, tmp_path, capsys):
    """Return tests and output of a recording of a gauge [m] at 10 Hz, by a table."""

    def evaluate(reading, seconds, rows):
        content = yaml.safe_load((ROOT / 'config' / 'ur10e_positioning.yaml').read_text())
        del content['measure']['conditions'], content['measure']['travel']
        kind = TYPES['sensor_msgs/msg/Range']
        told = [
            (t, kind(header(t, 'gauge'), 0, 0.0, 0.0, 1.0, reading(t), 0.0))
            for t in np.arange(0.0, seconds, 0.1).tolist()
        ]
        bag = write_bag(tmp_path / 'bag', [('/gauge', 'sensor_msgs/msg/Range', told)])
        table, psi = tmp_path / 'tests.csv', tmp_path / 'psi.csv'
        table.write_text(f'label,start,end,command_start\n{rows}')
        options = ['--segment-table', str(table), '--tests', str(psi)]
        code = main(['reevaluate', str(bag), '--specification', str(write(content)), *options])
        said = capsys.readouterr()
        assert code == 0, said.err
        return list(csv.DictReader(psi.open())), said.out

    return evaluate


def test_an_arm_and_its_gauge_by_a_table(by_gauge):
    """Displaced by 50 um from 20 s on; the tare is read before the command at 10 s."""
    rows, said = by_gauge(
        lambda t: 0.01 + 5e-5 * (20 < t < 30), 60.0, 'moved,21,28,10\nas it was,40,50,33\n'
    )
    assert [row['label'] for row in rows] == ['moved', 'as it was']
    assert [float(row['psi']) for row in rows] == pytest.approx([0.05, 0.0], abs=1e-5)
    assert 'readings of the gauge' not in said


def test_a_gauge_that_was_zeroed_between_tests_of_a_table_is_told(by_gauge):
    """Each test takes 10 s; before the ninth one, 2 mm are taken away."""
    _, said = by_gauge(
        lambda t: 0.005 + 1e-6 * (t // 10 % 3) + 5e-5 * (t % 10 > 5) - 0.002 * (t > 80),
        140.0,
        ''.join(f't,{10 * k + 7},{10 * k + 9},{10 * k + 4}\n' for k in range(14)),
    )
    assert 'note      readings of the gauge: the reading before the command jumps by -1.99' in said
    assert 'from test 7 to 8: zeroed, or moved?' in said


@pytest.mark.parametrize(
    ('text', 'told'),
    [
        ('', 'no row'),
        ('start,end\n', 'no row'),
        ('start,end\n1,x\n', 'line 2: found a field that is no number'),
        ('start,end\n1\n', 'line 2: found no start or no end'),
        ('start,end\n3,1\n', 'line 2: found an end that is not after its start'),
        ('begin,end\n3,1\n', "found column 'begin'"),
        ('start,end,linear_x\n1,3,0.2\n', 'found no column linear_y'),
    ],
)
def test_a_table_that_cannot_be_read_is_told(reevaluated, tmp_path, text, told):
    table = tmp_path / 'tests.csv'
    table.write_text(text)
    code, _, said = reevaluated([walk(COMMANDS, 8.0)], '--segment-table', str(table), by=())
    assert code == 4
    assert told in said


@pytest.mark.parametrize(
    ('options', 'told'),
    [
        (('--gamma', '0.1'), 'parameter gamma: found one'),
        (('--rule', 'anytime'), 'parameter rule: found one'),
        (('--hold', '-1'), 'parameter hold'),
        (('--hold', 'nan'), 'parameter hold'),
        (('--clock-offset', 'inf'), 'parameter clock-offset'),
        (('--window', '0'), 'parameter window: found 0.0, expected s, > 0'),
        (('--settle', '-1'), 'parameter settle: found -1.0, expected s, 0 or more'),
    ],
)
def test_what_makes_no_sense_is_refused(reevaluated, options, told):
    code, _, said = reevaluated([walk(COMMANDS, 2.0), stream(until=7.0)], *options)
    assert code == 2
    assert told in said


def test_options_for_other_recordings_are_refused_without_marks(reevaluated):
    code, _, said = reevaluated([walk(COMMANDS, 2.0), stream()], '--rest', by=())
    assert code == 2
    assert 'parameter command-topic: found none' in said
