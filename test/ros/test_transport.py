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

"""Nodes talk over UDP: over shared memory, a process that stood still hears nothing more."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.graph import PATIENCE, domain_of_its_own

from repsq_ros.nodes.transport import DISCOVERY_RANGE, DOMAIN, PROFILES, TRANSPORTS

PORT = '/dev/shm/fastrtps_port'  # mapped by each process that uses shared memory
LISTENER = f"""
import rclpy
from rosgraph_msgs.msg import Clock

rclpy.init()
node, heard = rclpy.create_node('rviz'), []
node.create_subscription(Clock, '/clock', heard.append, 10)
while not heard:
    rclpy.spin_once(node, timeout_sec=0.1)
with open('/proc/self/maps') as maps:
    print({PORT!r} in maps.read())
"""
OWN = f"""
from repsq_ros.nodes.runtime import own_node

with own_node('alone'), open('/proc/self/maps') as maps:
    print({PORT!r} in maps.read())
"""


@pytest.fixture
def usual():
    """Give the variables of a process without the settings of the tests."""
    with domain_of_its_own():
        left_out = (*PROFILES, TRANSPORTS, DISCOVERY_RANGE)
        yield {name: value for name, value in os.environ.items() if name not in left_out}


def uses_shared_memory(process):
    return PORT in Path(f'/proc/{process}/maps').read_text()


def test_a_simulated_campaign_uses_no_shared_memory_and_others_hear_it(
    short, write, tmp_path, usual
):
    short['tester'].update(stopping={'rule': 'fixed', 'tests': 9999}, max_tests=9999)
    file, folder = write(short), tmp_path / 'campaign'
    listener = subprocess.Popen(
        [sys.executable, '-c', LISTENER], env=usual, stdout=subprocess.PIPE, text=True
    )
    command = [sys.executable, '-m', 'repsq_ros.cli', 'run', str(file), '--simulate']
    campaign = subprocess.Popen([*command, '--seed', '7', '--output', str(folder)], env=usual)
    try:
        until = time.monotonic() + PATIENCE
        while not (folder / 'tests.csv').exists() and time.monotonic() < until:
            time.sleep(0.1)
        nodes = Path(f'/proc/{campaign.pid}/task/{campaign.pid}/children').read_text().split()
        assert len(nodes) == 5
        assert not any(uses_shared_memory(each) for each in [*nodes, campaign.pid])
        assert listener.communicate(timeout=PATIENCE)[0] == 'True\n'  # its own settings are usual
        campaign.send_signal(signal.SIGINT)
        assert campaign.wait(PATIENCE) == 130
    finally:
        listener.kill()
        campaign.kill()
        campaign.wait()


@pytest.mark.parametrize(
    ('given', 'found'),
    [
        ({}, 'False\n'),
        ({TRANSPORTS: 'DEFAULT'}, 'True\n'),
        ({DISCOVERY_RANGE: 'LOCALHOST'}, 'True\n'),
    ],
)
def test_a_node_uses_no_shared_memory_unless_it_is_asked_for(usual, given, found):
    done = subprocess.run(
        [sys.executable, '-c', OWN], env={**usual, **given}, capture_output=True, text=True,
        check=True, timeout=PATIENCE,
    )  # fmt: skip
    # The discovery range LOCALHOST brings shared memory with it: said in nodes.md.
    assert done.stdout == found


@pytest.mark.parametrize(('given', 'codes'), [(False, [0, 0]), (True, [0, 3])])
def test_two_simulated_campaigns_at_a_time_have_a_domain_each(
    short, write, tmp_path, usual, given, codes
):
    """In one domain both would publish /clock: the second is refused where it is given."""
    short['tester'].update(stopping={'rule': 'fixed', 'tests': 3}, max_tests=3)
    command = [sys.executable, '-m', 'repsq_ros.cli', 'run', str(write(short)), '--simulate']
    environment = {name: value for name, value in usual.items() if given or name != DOMAIN}
    both = [
        subprocess.Popen(
            [*command, '--seed', '7', '--output', str(tmp_path / name)], env=environment,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )
        for name in ('one', 'other')
    ]  # fmt: skip
    said = [each.communicate(timeout=PATIENCE)[0] for each in both]
    assert sorted(each.returncode for each in both) == codes, said
    results = {file.read_text() for file in tmp_path.glob('*/tests.csv')}
    if given:
        refused = f'{DOMAIN} {usual[DOMAIN]}: found another simulated campaign'
        assert sum(refused in text for text in said) == 1
    else:
        assert any(f'{DOMAIN}=1' in text for text in said)
        assert len(results) == 1
