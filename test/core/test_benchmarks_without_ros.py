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

"""The benchmarks that need no ROS run, in their shortest form, and so little memory is needed."""

import re
import subprocess
import sys

import pytest
from conftest import ROOT

pytest.importorskip('rosbags')

from support.made_bags import mcap_of

NUMBER = r'\s+(\d+\.\d+)'
READ = """
import sys
from pathlib import Path
from repsq_ros.recordings.recording import Recording
def highest():
    status = Path('/proc/self/status').read_text().splitlines()
    return next(int(line.split()[1]) for line in status if line.startswith('VmHWM')) / 1024
for path in sys.argv[1:]:
    with Recording(Path(path)) as recording:
        count = 0
        for table in recording.arrays('/text'):
            count += len(table.column('data'))
    print(count, highest())
"""


def test_the_benchmark_of_replay_runs_and_prints_what_it_measured():
    done = subprocess.run(
        [sys.executable, str(ROOT / 'benchmarks' / 'replay.py'), '--tests', '3', '--quick'],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    for wanted in (
        r'3 valid of 3: mean psi', r'plain: 3012 messages', r'sqlite3: 3012 messages',
        rf'AnyReader, deserialised \(reference\){NUMBER} s',
        rf'plain numpy walk \(reference\){NUMBER} s{NUMBER} x',
        rf'into arrays{NUMBER} s{NUMBER} x', rf'repsq reevaluate{NUMBER} s{NUMBER} x',
        rf'repsq inspect{NUMBER} s{NUMBER} x', r'plain, reevaluate +\d+ MB',
        r'plain, inspect +\d+ MB',
    ):  # fmt: skip
        assert re.search(wanted, done.stdout), done.stdout


def test_tests_with_a_twin_stand_beside_those_without():
    done = subprocess.run(
        [sys.executable, str(ROOT / 'benchmarks' / 'twin.py'), '--campaigns', '1',
         '--settings', '1', '--coverage', '2'],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    for wanted in (
        rf'gamma 0.04, 10000 simulated tests; without:{NUMBER}\n',
        rf'rho 0.98:{NUMBER} \+-{NUMBER} tests,{NUMBER} of those without',
        rf'biased +ever missed [0-2] of 2, binomial p{NUMBER}',
    ):
        assert re.search(wanted, done.stdout), done.stdout


def test_fewer_tests_stand_beside_what_is_wanted():
    done = subprocess.run(
        [sys.executable, str(ROOT / 'benchmarks' / 'fewer_tests.py'), '--campaigns', '1'],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stderr
    line = rf'\w+, gamma [\d.]+:{NUMBER} tests; [\w: ]+:{NUMBER},{NUMBER} \(wanted{NUMBER}\)'
    assert len(re.findall(line, done.stdout)) == 10, done.stdout + done.stderr


def test_the_power_of_the_drift_test_stands_beside_what_could_be():
    benchmark, ramps = ROOT / 'benchmarks' / 'drift_power.py', 6
    done = subprocess.run(
        [sys.executable, str(benchmark), '--campaigns', '2'],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert len(re.findall(rf'ramp +\d+ gamma: found in{NUMBER}', done.stdout)) == 2 * ramps
    # Without a ramp the best test finds one at its level.
    assert re.search(r'gamma 0.04, 328 tests, ramp +0 gamma: .*at most 0.010', done.stdout)


@pytest.mark.parametrize('crc', [True, False])
def test_a_long_recording_needs_no_more_memory_than_a_short_one(tmp_path, crc):
    """60 MB of texts, one after the other: less than a third of them is in memory at once."""
    channels = {1: ('/text', 'std_msgs/msg/String', 'cdr', '')}
    raw = b'\0\1\0\0' + (1000).to_bytes(4, 'little') + b'x' * 999 + b'\0'
    paths = []
    for name, count in (('short', 2000), ('long', 60_000)):
        messages = [(1, 10**18 + k, raw) for k in range(count)]
        paths.append(tmp_path / f'{name}.mcap')
        paths[-1].write_bytes(mcap_of(channels, messages, crc=crc, chunk=1000))
    done = subprocess.run(
        [sys.executable, '-c', READ, *map(str, paths)],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    short, long = (line.split() for line in done.stdout.splitlines())
    assert (short[0], long[0]) == ('2000', '60000')
    assert float(long[1]) - float(short[1]) < 20.0
