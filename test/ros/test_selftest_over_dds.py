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


"""A self-test on a robot is a campaign: it ends in order, however repsq selftest ends."""

import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest
from support.graph import PATIENCE, domain_of_its_own

ROOT = Path(__file__).resolve().parents[2]
STARTED = ('scheduler', 'guard', 'measurement', 'estimator')


def alive(mark):
    """Return the processes that were started with a mark in their environment."""
    found = []
    for file in Path('/proc').glob('[0-9]*/environ'):
        try:
            if mark.encode() in file.read_bytes():
                found.append(int(file.parent.name))
        except OSError:  # ended meanwhile, or somebody else's
            continue
    return found


def wait_until(met):
    until = time.monotonic() + PATIENCE
    while not met():
        assert time.monotonic() < until, 'it never came'
        time.sleep(0.05)


@pytest.mark.parametrize('number', [signal.SIGTERM, signal.SIGKILL])
def test_the_campaign_of_a_self_test_ends_with_it(tmp_path, number):
    """Asked to end, it waits for the campaign, which stops the robot; killed, the kernel asks."""
    folder, mark = tmp_path / 'selftest', uuid.uuid4().hex
    logs = [folder / 'campaign' / 'nodes' / f'{name}.log' for name in STARTED]
    with domain_of_its_own() as domain:
        process = subprocess.Popen(
            [sys.executable, '-m', 'repsq_ros.cli', 'selftest', ROOT / 'config/g1_locomotion.yaml',
             '--output', folder],
            env={**os.environ, 'ROS_DOMAIN_ID': str(domain), 'MARK': mark},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        try:
            wait_until(lambda: all(log.exists() for log in logs))
            wait_until(lambda: 'not yet: ' in logs[0].read_text())
            process.send_signal(number)
            said = process.communicate(timeout=PATIENCE)[0]
            assert process.returncode == (-number if number == signal.SIGKILL else 3), said
            wait_until(lambda: not alive(mark))
        finally:
            for each in alive(mark):
                os.kill(each, signal.SIGKILL)
    if number != signal.SIGKILL:
        assert 'ended before its last move' in said
