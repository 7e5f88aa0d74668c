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

"""repsq run of a campaign that somebody scores: one key for each test, on a terminal."""

import csv
import os
import pty
import select
import subprocess
import sys
import time

import pytest
import yaml
from support.graph import PATIENCE, domain_of_its_own

KEYS = {'success': 's', 'slipped': 'l', 'dropped': 'd'}
SEEN = ['dropped', 'success', 'slipped']


@pytest.fixture
def grasps(content, write, tmp_path):
    """Give the specification of three tests, each ended by a key, and the nodes' parameters."""
    content['protocol'] = {
        'type': 'free',
        'commands': 'velocity',
        'phases': [
            {'phase': 'dwell', 'ends': 'time', 'seconds': 0.2},
            {'phase': 'command', 'ends': 'confirm'},
            {'phase': 'record', 'ends': 'time', 'seconds': 0.5, 'window': 0.5},
        ],
    }
    content['measure'] = {
        'type': 'manual_outcome', 'outcomes': list(KEYS), 'psi': [0.0, 0.5, 1.0],
        'input': {'type': 'std_msgs/msg/Float64', 'unit': '1'},
    }  # fmt: skip
    content['tester'].update(stopping={'rule': 'fixed', 'tests': len(SEEN)}, max_tests=9)
    scheduler, guard = {'command_type': 'manual', 'look_around': 0.0}, {'command_type': 'manual'}
    parameters = tmp_path / 'manual.yaml'
    nodes = (('scheduler', scheduler), ('guard', guard))
    of_nodes = {f'/**/{name}': {'ros__parameters': given} for name, given in nodes}
    parameters.write_text(yaml.safe_dump(of_nodes))
    return write(content), parameters


def test_one_key_for_each_test(grasps, tmp_path):
    specification, parameters = grasps
    folder, seen, answers = tmp_path / 'campaign', '', iter(SEEN)
    ours, theirs = pty.openpty()
    with domain_of_its_own() as domain:
        process = subprocess.Popen(
            [sys.executable, '-m', 'repsq_ros.cli', 'run', str(specification), '--parameters',
             str(parameters), '--output', str(folder), '--seed', '1'],
            stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
            env={**os.environ, 'ROS_DOMAIN_ID': str(domain)},
        )  # fmt: skip
        os.close(theirs)
        asked, end = 0, time.monotonic() + 2 * PATIENCE
        while process.poll() is None and time.monotonic() < end:
            if select.select([ours], [], [], 0.2)[0]:
                try:
                    seen += os.read(ours, 4096).decode()
                except OSError:  # the terminal was left
                    break
            if seen.count('how did it end? s success, l slipped, d dropped') > asked:
                asked += 1
                os.write(ours, KEYS[next(answers)].encode())
        if process.poll() is None:
            process.wait(PATIENCE)
    os.close(ours)
    assert process.returncode == 0, seen
    with (folder / 'log_sheet.csv').open(newline='') as opened:
        assert [row['outcome'] for row in csv.DictReader(opened)] == SEEN
    with (folder / 'tests.csv').open(newline='') as opened:
        assert [float(row['psi']) for row in csv.DictReader(opened)] == [1.0, 0.0, 0.5]
