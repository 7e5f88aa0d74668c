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


"""Thirty usual mistakes, each answered with one short line that names the remedy."""

import pytest
from conftest import ROOT

from repsq_ros.cli import main

G1 = ROOT / 'config' / 'g1_locomotion.yaml'
ARM = ROOT / 'config' / 'ur10e_positioning.yaml'
LONGEST = 300  # characters

# What somebody types into a specification, and what the answer has to name.
IN_A_FILE = [
    (G1, 'gamma: 0.04', 'gamma: 0,04', 'write 0.04, with a decimal point'),
    (G1, 'gamma: 0.04', 'gamma: 4%', 'write 0.04 for 4%'),
    (G1, 'gamma: 0.04', 'gamma: 0.04 m', 'write 0.04 without a unit'),
    (G1, 'gamma: 0.04', 'gama: 0.04', "'gama'"),
    (G1, 'gamma: 0.04', 'gamma: 1.0', 'less than the range of psi'),
    (G1, 'gamma: 0.04', 'gamma 0.04', 'line '),
    (G1, '  gamma: 0.04', '\tgamma: 0.04', 'a tab'),
    (G1, '  gamma: 0.04', '   gamma: 0.04', 'line '),
    (G1, '  gamma: 0.04', '  gamma: 0.04\n  gamma: 0.05', 'appears twice'),
    (G1, 'c: 0.05 ', 'c: 5', '> 0 and < 1'),
    (G1, 'linear_x: {unit: m/s, lower: -0.3', 'linear_x: {unit: mm/s, lower: -0.3', 'one of m/s'),
    (G1, 'linear_x: {unit: m/s, lower: -0.3', 'linear_x: {unit: m/s, lower: 0.5', 'above lower'),
    (G1, 'linear_x:', 'linear_w:', 'one of linear_x'),
    (G1, 'window: 3.0', 'window: 6.0', 'at most the 5.0 s'),
    (G1, 'type: locomotion', 'type: walking', 'one of locomotion'),
    (G1, 'source: odometry', 'source: camera', 'one of odometry'),
    (G1, 'rule: anytime', 'rule: luck', 'one of '),
    (G1, 'seed: 1', 'seed: 1.5', 'a whole number'),
    (G1, 'max_tests: 1000', 'max_tests: 1', '>= 2'),
    (G1, 'format: 1', 'format: 2', 'the number 1'),
    (G1, 'direction: lower_is_better', 'direction: down', 'one of lower_is_better'),
    (ARM, 'rpy: [3.141592653589793, 0.0, 0.0]', 'rpy: [180, 0, 0]', 'is it in degrees?'),
    (ARM, 'lower: -0.70', 'lower: -700', 'is it in millimetres?'),
    (ARM, 'position: [-0.55', 'position: [-550', 'is it in millimetres?'),
    (ARM, 'lower: -0.70', 'lower: -1.90', 'at most 1.3 m for robot: UR10e'),
    (ARM, 'distance: 0.05}', 'distance: 1.5}', 'm from the shoulder'),
    (ARM, 'position: [-0.55', 'position: [-1.55', 'protocol.reference'),
]

# What somebody types at the prompt; FILE is a specification, GONE a path that is not there.
AT_THE_PROMPT = [
    ('comapre a b', 'did you mean compare?'),
    ('run FILE --sped 3', 'did you mean --speed?'),
    ('run', 'FOLDER'),
    ('run FILE --simulate --speed -1', 'a finite number >= 0'),
    ('check GONE', 'no readable file'),
    ('init FILE', 'a new file'),
    ('init GONE --robot x --sensor mocap --accuracy -1 --budget 8', 'a number above 0'),
    ('plan FILE --sd 3', 'at most'),
    ('compare GONE', 'two folders at least'),
    ('certify', '--keygen FILE'),
    ('certify GONE', 'GONE'),
    ('report GONE', 'GONE'),
    ('watch GONE --json', '--once'),
    ('inspect GONE', 'GONE'),
]


def answer_to(arguments, capsys):
    """Return the one line that a mistake is answered with."""
    try:
        code = main(arguments)
    except SystemExit as ended:
        code = ended.code
    assert code not in (0, None)
    told = capsys.readouterr().err.splitlines()
    last = told[-1]
    assert all(line.startswith(('usage:', ' ')) for line in told[:-1])  # argparse's usage alone
    assert len(last) <= LONGEST
    return last


@pytest.mark.parametrize(('file', 'right', 'wrong', 'told'), IN_A_FILE)
def test_a_mistake_in_a_specification(file, right, wrong, told, tmp_path, capsys):
    text = file.read_text()
    assert right in text
    copy = tmp_path / 'my_test.yaml'
    copy.write_text(text.replace(right, wrong, 1))
    line = answer_to(['check', str(copy)], capsys)
    assert told in line
    assert 'my_test.yaml' in line


@pytest.mark.parametrize(('line', 'told'), AT_THE_PROMPT)
def test_a_mistake_at_the_prompt(line, told, capsys, monkeypatch):
    words = [str(G1) if word == 'FILE' else word for word in line.split()]
    assert told in answer_to(words, capsys)


def test_an_arm_reaches_farther_with_its_tool_and_other_frames_are_not_judged(tmp_path, capsys):
    copy = tmp_path / 'my_test.yaml'
    far = ARM.read_text().replace('lower: -0.70', 'lower: -1.40')
    copy.write_text(far)
    assert 'target: found (-1.4, ' in answer_to(['check', str(copy)], capsys)
    for known, other in (('robot: UR10e', "robot: 'UR10e, tool 0.5 m'"), ('base ', 'world ')):
        copy.write_text(far.replace(known, other, 1))
        assert main(['check', str(copy)]) == 0


def test_they_are_thirty_at_least():
    assert len(IN_A_FILE) + len(AT_THE_PROMPT) >= 30


@pytest.mark.parametrize(
    ('file', 'right', 'wrong', 'told'),
    [
        (G1, 'gamma: 0.04 ', 'gamma: 0.3 ', 'every campaign returns the same value'),
        (G1, 'max_tests: 1000', 'max_tests: 20', '20 tests cannot reach gamma 0.04'),
    ],
)
def test_a_useless_campaign_is_warned_of(file, right, wrong, told, tmp_path, capsys):
    copy = tmp_path / 'my_test.yaml'
    text = file.read_text()
    assert right in text
    copy.write_text(text.replace(right, wrong, 1))
    assert main(['check', str(copy)]) == 0
    assert told in ' '.join(capsys.readouterr().out.split())
    assert main(['check', str(file)]) == 0
    assert told not in ' '.join(capsys.readouterr().out.split())
