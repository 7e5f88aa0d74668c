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

"""Every benchmark runs, in its shortest form; what it measures is judged by who reads it."""

import os
import re
import subprocess
import sys

import pytest
from conftest import ROOT
from support.graph import PATIENCE, domain_of_its_own

NUMBER = r'\s+(\d+\.\d+)'
BENCHMARKS = {
    'graph_speed.py': (
        ['--tests', '3'],
        [rf'in one process \(reference\){NUMBER} x real time', rf'over DDS{NUMBER} x real time',
         rf'graph / reference{NUMBER} x the time', rf'at most{NUMBER} ms, scheduler'],
    ),
    'measurement_node.py': (
        ['--seconds', '4', '--rate', '50'],
        [r'200 messages on each of 3 topics', r'missed by the node, measured\s+0 in 1 windows of',
         r'tests without an answer\s+0\n', rf'node / bare subscriber{NUMBER}'],
    ),
    'segments.py': (
        ['--commands', '20'],
        [rf'20 commands found in arrays:{NUMBER} ms,{NUMBER} x the time',
         rf'each of 200:{NUMBER} x as long as each of 20', rf'evaluated:{NUMBER} s,{NUMBER} x'],
    ),
    'monitor_messages.py': (
        ['--tests', '200'],
        [rf'200 tests in three panels:{NUMBER} ms of processor',
         rf'in each message:{NUMBER} ms; ratio{NUMBER}'],
    ),
    'simulated_campaigns.py': (
        ['--pairs', '4', '--reference-pairs', '2'],
        [rf'one by one{NUMBER} ms:{NUMBER} x as fast',
         'their numbers are those of campaigns one by one'],
    ),
    'statistics_speed.py': (
        ['--repetitions', '1'],
        [rf'Bernstein update{NUMBER} x as fast', rf'anytime update.*{NUMBER} x as fast',
         rf'tests of a campaign{NUMBER} ms',
         r'their n are those of the plain loop\n', r'from math.fsum, relative \(1e-10\)\n'],
    ),
}  # fmt: skip


# test/core runs these; replay.py has its recordings made by the last.
WITHOUT_ROS = {'replay.py', 'twin.py', 'fewer_tests.py', 'replay_recordings.py', 'drift_power.py'}
NAMES = {file.name for file in (ROOT / 'benchmarks').glob('*.py')} - WITHOUT_ROS


@pytest.mark.parametrize('name', sorted(NAMES))
def test_a_benchmark_runs_and_prints_what_it_measured(name):
    arguments, wanted = BENCHMARKS[name]
    if name == 'statistics_speed.py':
        pytest.importorskip('ville')
    with domain_of_its_own() as domain:
        done = subprocess.run(
            [sys.executable, str(ROOT / 'benchmarks' / name), *arguments],
            env={**os.environ, 'ROS_DOMAIN_ID': str(domain)}, cwd=ROOT, capture_output=True,
            text=True, check=False, timeout=2 * PATIENCE,
        )  # fmt: skip
    # Some end with 1 where they are slower than wanted, which a busy machine may make them.
    judges = name in ('segments.py', 'statistics_speed.py', 'simulated_campaigns.py')
    assert done.returncode in ((0, 1) if judges else (0,)), done.stderr
    for line in wanted:
        assert re.search(line, done.stdout), done.stdout
    assert 'Traceback' not in done.stderr
