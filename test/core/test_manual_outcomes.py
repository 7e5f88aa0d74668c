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

"""Campaigns that somebody scores by eye: outcomes, keys, the log sheet, the terminal."""

import os
import pty

import numpy as np
import pytest

from repsq_ros.campaign.log_sheet import LOG_SHEET, LogSheet
from repsq_ros.console import keyboard
from repsq_ros.errors import SpecificationError
from repsq_ros.measurement.manual_outcome import ManualOutcome
from repsq_ros.measurement.measure import Measure
from repsq_ros.measurement.reasons import Code
from repsq_ros.measurement.recorder import Recorder, Window
from repsq_ros.measurement.samples import number_sample
from repsq_ros.protocols.phases import Phase, Span
from repsq_ros.specification.load import load

GRASPS = {
    'type': 'manual_outcome',
    'outcomes': ['success', 'slipped', 'dropped'],
    'psi': [0.0, 0.5, 0.75],
    'input': {'type': 'std_msgs/msg/Float64', 'unit': '1'},
}
SECOND = 1_000_000_000


@pytest.fixture
def measure(content, write):
    content['measure'] = GRASPS
    return load(write(content)).measure


@pytest.mark.parametrize(
    ('told', 'psi', 'code'),
    [
        ([0.0, 0.0], 0.0, None),
        ([1.0], 0.5, None),
        ([2.0, 2.0], 0.75, None),
        ([1.0, 2.0], 0.0, Code.READING),
        ([3.0], 0.0, Code.READING),
        ([0.5], 0.0, Code.READING),
        ([-1.0], 0.0, Code.READING),
        ([], 0.0, Code.STALE),
    ],
)
def test_psi_is_that_of_the_one_outcome_in_the_window(measure, told, psi, code):
    recorder = Recorder(measure)
    for k, value in enumerate([2.0, *told]):  # the first one is of the test before
        recorder.add(number_sample((k - 1) * SECOND // 10 + SECOND // 20, value))
    recorder.open((0, 0), Window(0, SECOND, (0.3, 0.0, 0.0), -2 * SECOND))
    found = recorder.close((0, 0))[1]
    assert (found.psi, found.valid, found.code) == (psi, code is None, code)
    assert (measure.lower, measure.upper, measure.unit) == (0.0, 0.75, '1')


@pytest.mark.parametrize(
    ('change', 'expected'),
    [
        ({'outcomes': ['success']}, 'outcomes: found .*, expected two or more different names'),
        ({'outcomes': ['a', 'a', 'b']}, 'expected two or more different names'),
        ({'psi': [0.0, 1.0]}, 'psi: found .*, expected 3 numbers, one for each outcome'),
        ({'psi': [1.0, 1.0, 1.0]}, 'psi: found'),
        ({'input': {'type': 'nav_msgs/msg/Odometry'}}, 'a measure that needs reading'),
    ],
)
def test_outcomes_that_cannot_be_are_refused(content, write, change, expected):
    content['measure'] = {**GRASPS, **change}
    with pytest.raises(SpecificationError, match=expected):
        load(write(content))


def test_each_outcome_has_a_key_of_its_own():
    many = ManualOutcome(('ok', 'off', 'o', 'OK!', '1'), (0.0, 1.0, 1.0, 1.0, 1.0))
    assert many.keys == {'o': 0, 'f': 1, '1': 2, 'k': 3, '2': 4}
    names = tuple('abcdefghijklm'[k] * (k + 1) for k in range(13))
    assert len(ManualOutcome(names, tuple(np.linspace(0, 1, 13))).keys) == 13


def span(phase, index=0, attempt=0):
    return Span(phase, index, attempt, 0, SECOND, ())


def test_a_key_counts_for_the_case_that_was_commanded(measure, tmp_path):
    assert isinstance(measure, Measure)
    sheet = LogSheet(measure.quantity, tmp_path)
    assert sheet.press('s') == ''
    assert sheet.on_phase(span(Phase.DWELL)) == ''
    assert sheet.press('s') == ''  # nothing has happened yet
    asked = 'test 0: how did it end? s success, l slipped, d dropped'
    assert sheet.on_phase(span(Phase.COMMAND)) == asked
    assert sheet.on_phase(span(Phase.COMMAND)) == ''
    assert sheet.press('x') == ''
    assert sheet.told is None
    assert sheet.press('L') == 'test 0: slipped'
    assert sheet.press('d') == 'test 0: dropped'  # thought better of
    assert sheet.on_phase(span(Phase.RECORD)) == ''
    assert sheet.told == 2
    sheet.on_phase(span(Phase.PAUSED))
    assert sheet.press('s') == ''
    assert sheet.on_phase(span(Phase.DWELL, 0, 1)) == ''
    assert sheet.told is None
    assert sheet.press('s') == ''
    sheet.on_phase(span(Phase.MOVE, 0, 1))
    sheet.press('d')
    sheet.on_phase(span(Phase.MOVE, 1, 0))
    assert sheet.told is None
    # Another program goes on with the same campaign: nothing is written over.
    again = LogSheet(measure.quantity, tmp_path)
    again.on_phase(span(Phase.MOVE, 0, 1))
    again.press('s')
    assert (tmp_path / LOG_SHEET).read_text().splitlines() == [
        'index,attempt,outcome,psi', '0,0,slipped,0.5', '0,0,dropped,0.75', '0,1,dropped,0.75',
        '0,1,success,0.0',
    ]  # fmt: skip


@pytest.mark.parametrize(('single', 'typed'), [(True, 'd'), (False, '')])
def test_a_key_counts_at_once_and_the_terminal_is_left_as_it_was(monkeypatch, single, typed):
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, 'r') as terminal:
        monkeypatch.setattr(keyboard.sys, 'stdin', terminal)
        before = keyboard.termios.tcgetattr(terminal)
        keys = keyboard.Keyboard(single)
        assert keys.typed() == ''
        os.write(ours, b'd')
        assert keys.typed() == typed
        os.write(ours, b'\n')
        assert keys.typed() == ('\n' if single else 'd\n')
        keys.close()
        assert keyboard.termios.tcgetattr(terminal) == before
    os.close(ours)
