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

"""repsq run --simulate without nodes: the folder of a campaign, as the nodes leave it."""

import shutil
import sys

import pytest
import yaml
from support.campaigns import in_process

from repsq_ros.cli import main


@pytest.fixture
def folder(short, write, tmp_path):
    short['tester']['max_tests'] = 12
    return write(short), tmp_path / 'campaign'


def test_a_campaign_in_one_process_leaves_what_the_nodes_leave(folder, capsys, monkeypatch):
    file, output = folder
    # ROS is missing: it is simulated in this process, without being asked for.
    monkeypatch.setitem(sys.modules, 'repsq_ros.nodes.observer', None)
    assert main(['run', str(file), '--simulate', '--seed', '7', '--output', str(output)]) == 0
    printed = capsys.readouterr().out
    assert 'without ROS 2: simulated in this process' in printed
    kept = yaml.safe_load((output / 'result.yaml').read_text())
    expected, tests = in_process(file, campaign_id=kept['campaign_id'])
    assert (kept['estimate'], kept['n']) == (expected.estimate, expected.n)
    assert len(kept['sessions']) == 1
    assert f'result    {expected.value:.6g}' in printed
    assert len((output / 'tests.csv').read_text().splitlines()) == 1 + len(tests)
    assert main(['verify', str(output)]) == 0, capsys.readouterr().out
    # A number changed afterwards is found.
    copy = output.with_name('changed')
    shutil.copytree(output, copy)
    text = (copy / 'tests.csv').read_text()
    (copy / 'tests.csv').write_text(text.replace(',1,', ',0,', 1))
    assert main(['verify', str(copy)]) == 9


@pytest.mark.parametrize(
    ('words', 'told'),
    [
        (['--monitor', '--simulate'], 'monitor'),
        (['--remap', 'odom:=/state', '--simulate'], 'remap'),
        ([], '--simulate, a new campaign'),
    ],
)
def test_what_needs_nodes_is_refused(words, told, folder, capsys):
    file, output = folder
    assert main(['run', str(file), '--in-process', '--output', str(output), *words]) == 2
    assert told in capsys.readouterr().err
    assert not output.exists()
