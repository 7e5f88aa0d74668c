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

"""The repsq command: what a test engineer reads."""

import io
import json
import subprocess
import sys
from dataclasses import replace

import pytest

from repsq_ros.campaign.progress import ProgressLines
from repsq_ros.campaign.records import CountedAttempt, EstimateRecord, TestRecord
from repsq_ros.cli import main
from repsq_ros.console.live import LiveLine
from repsq_ros.json_answer import plain
from repsq_ros.protocols.phases import Phase


def estimate(n, half_width=0.2, expected_n=245, invalid=0, stopped=False):
    return EstimateRecord(
        n, 0, n, invalid, 0, 0, 0.4571, 0.002, 0.4571 - half_width, 0.4571 + half_width,
        half_width, 0.04, 'empirical_bernstein', expected_n, n, 1.0, stopped,
    )  # fmt: skip


def test_check_says_what_a_specification_promises(content, write, capsys):
    assert main(['check', str(write(content))]) == 0
    printed = capsys.readouterr().out
    assert 'valid' in printed
    assert 'promised    Nothing exactly: the empirical Bernstein bound holds for' in printed
    assert '217 if all gave the same psi, the worst: 0.48 h, 8 s each' in printed
    content['tester']['stopping'] = {'rule': 'anytime'}
    assert main(['check', str(write(content))]) == 0
    printed = ' '.join(capsys.readouterr().out.split())  # lines are folded
    assert 'the true mean is within 0.07789 of this result' in printed


def test_check_answers_in_json(content, write, capsys):
    content['robot'] = 'walker'
    assert main(['check', str(write(content)), '--json']) == 0
    told = json.loads(capsys.readouterr().out)
    assert told['valid'] and told['gamma'] == content['accuracy']['gamma']
    assert told['about']['robot'] == 'walker'
    assert any(each.startswith('measure.name') for each in told['hints'])
    assert 'command' in told['phases'][1]


def test_json_has_no_nan_and_no_infinity():
    assert plain({'a': (float('nan'), float('inf'), 1.5), 'b': Phase.COMMAND}) == {
        'a': [None, None, 1.5], 'b': 'command'
    }  # fmt: skip
    with pytest.raises(TypeError):
        plain(object())


def test_the_live_line_tells_progress_and_time_left():
    progress = ProgressLines()
    assert progress.standing(estimate(1, float('inf'), 0), 10.0) == (
        'tests 1 | 0.4571 +- inf, to reach 0.04 | time left unknown'
    )
    lossy = replace(
        estimate(101, invalid=2), broken_off=3, bench=1, extra_tests=12, lost_time=84.0
    )
    assert progress.standing(lossy, 60.0) == (
        'tests 101 of about 245 | 0.4571 +- 0.2000, to reach 0.04 | about 1:12 min left | '
        '2 INVALID, 3 broken off (1 by the bench): cost 12 tests, 1.4 min'
    )
    for late in (estimate(250), estimate(200, stopped=True)):
        assert progress.standing(late, 60.0).endswith('about 0:00 min left')


@pytest.mark.parametrize(
    ('record', 'told'),
    [
        (TestRecord(3, 0, 0.25, 1.0, True), 'test 3: psi 0.25 | tests 4'),
        (TestRecord(3, 2, 0.25, 0.5, True), 'test 3, attempt 2: psi 0.25, weight 0.5 | tests 4'),
        (TestRecord(0, 0, 0.0, 1.0, False, 'silent: no sample'),
         'test 0: INVALID: silent: no sample'),
        (TestRecord(0, 0, 0.0, 1.0, False, 'a cable', broken_off=True),
         'test 0: broken off: a cable'),
        (TestRecord(0, 0, 0.0, 1.0, False, 'by us', skipped=True, broken_off=True),
         'test 0: skipped: by us'),
        (TestRecord(0, 0, 0.0, 1.0, False, 'gap ' * 50), 'test 0: INVALID: gap gap'),
        (TestRecord(10**9, 10**6, 0.123456789e-99, 0.123456789e-99, True), 'test 1000000000, '),
    ],
)  # fmt: skip
def test_each_attempt_has_a_line_that_fits_a_terminal(record, told):
    line = ProgressLines().line(CountedAttempt(record, estimate(4)), 0.0)
    assert line.startswith(told)
    assert len(line) < 120


def test_off_a_terminal_the_live_line_speaks_rarely_and_says_the_end():
    out = io.StringIO()
    line = LiveLine(out, interval=60.0)
    for n in range(1, 200):
        line.show(estimate(n))
    line.show(estimate(200, 0.039, stopped=True))
    line.end()
    assert [text.split(' |')[0] for text in out.getvalue().splitlines()] == [
        'tests 1 of about 245',
        'tests 200 of about 245',
    ]


@pytest.mark.parametrize(
    'arguments',
    [[], ['dance'], ['plan', 'x'], ['check', 'a', 'b'], ['run', 'x', '--speed', 'fast']],
)
def test_a_wrong_command_line_is_told_and_ends_with_2(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert 'usage: repsq' in capsys.readouterr().err


def test_without_ros_repsq_run_says_how_to_get_it(content, write):
    """In an interpreter that has the core alone, as after pip install."""
    code = (
        'import sys; sys.modules["rclpy"] = None; from repsq_ros.cli import main; '
        f'sys.exit(main(["run", {str(write(content))!r}]))'
    )
    done = subprocess.run(
        [sys.executable, '-c', code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 5
    assert done.stderr.count('\n') == 1
    assert 'repsq run needs ROS 2' in done.stderr


@pytest.mark.parametrize('option', ['--speed=-1', '--speed=nan', '--speed=inf', '--seed=-1'])
def test_an_impossible_number_is_refused_before_anything_starts(option, content, write, capsys):
    assert main(['run', str(write(content)), '--simulate', option]) == 2
    name, value = option.strip('-').split('=')
    told = capsys.readouterr().err
    assert f'parameter {name}: found' in told
    assert value.lstrip('-') in told
