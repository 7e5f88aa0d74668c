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


"""A self-test on a robot, over DDS: green, red by what was done to a sensor, ended in order."""

import json
import math
import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest
import yaml
from geometry_msgs.msg import PoseStamped
from support.graph import PATIENCE, domain_of_its_own

from repsq_ros.msg import TestPhase
from repsq_ros.nodes import qos

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


LONG = 2 * PATIENCE  # [s] for two moves in real time, beside other work
# What a self-test says of a busy machine: twice of this test's relay, and of a node.
LATE = ('behind the clock of this computer', ' s without a sample', ' did not run for ')
WALK = 'linear_x,linear_y,angular_z,weight\n0.225,0.0,0.0,1.0\n0.0,0.225,0.0,1.0\n'
PLACE = 'x,y,z,weight\n-0.5,0.0,0.4,1.0\n-0.6,-0.1,0.4,1.0\n'


def selftest(nodes, folder, content, moves, *words, meanwhile=None, **options):
    """Test the station by two moves; return exit code, faults and what was said meanwhile."""
    specification, cases, errors = (folder / name for name in ('s.yaml', 'm.csv', 'errors'))
    specification.write_text(yaml.safe_dump(content))
    cases.write_text(moves)
    with errors.open('w') as error, (folder / 'answer').open('w') as out:
        process = nodes.popen(
            [sys.executable, '-m', 'repsq_ros.cli', 'selftest', specification, '--json',
             '--moves', cases, '--output', folder / 'station', *words],
            stdout=out, stderr=error, **options,
        )  # fmt: skip
        if meanwhile is not None:
            meanwhile(process)
        nodes.listener.until(lambda: process.poll() is not None, LONG)
    said, answer = errors.read_text(), (folder / 'answer').read_text()
    assert answer, said
    told, kept = json.loads(answer), yaml.safe_load((folder / 'station/selftest.yaml').read_text())
    assert (told['verdict'], told['findings']) == (kept['verdict'], kept['findings'])
    return process.returncode, {each['name']: each['fault'] for each in told['findings']}, said


def selftest_in_time(nodes, folder, *words):
    """Test the station again where this machine was late itself, beside other work."""
    began = time.monotonic()
    for attempt in range(3):
        made = folder / f'{attempt}'
        made.mkdir()
        code, found, said = selftest(nodes, made, *words)
        late = any(word in fault for fault in found.values() for word in LATE)
        if not late or time.monotonic() - began > PATIENCE:
            break
    return code, found, said


def test_an_arm_that_is_in_order_is_green(nodes, tmp_path):
    content = yaml.safe_load((ROOT / 'config/ur10e_positioning.yaml').read_text())
    robot = {'subject': 'arm', 'clock': 'system', 'gauge_position': '-0.55 -0.2 0.25'}
    nodes.start('simulated_robot', robot)
    lab = ROOT / 'config/ur10e_parameters.yaml'
    code, found, said = selftest_in_time(nodes, tmp_path, content, PLACE, '--parameters', lab)
    assert (code, [each for each in found.values() if each]) == (0, []), said
    assert {'gauge range', 'tool_pose places', 'tool_pose clock'} <= set(found)


def test_a_self_test_that_is_aborted_is_red(nodes, tmp_path):
    """What was not moved is not green."""
    content = yaml.safe_load((ROOT / 'config/g1_locomotion.yaml').read_text())
    nodes.start('simulated_robot', {'clock': 'system', 'seed': 3})

    def abort(process):
        nodes.listener.phase(TestPhase.DWELL, timeout=LONG)
        nodes.call('abort')

    code, found, said = selftest(nodes, tmp_path, content, WALK, meanwhile=abort)
    assert (code, 'ended before its last move' in found['test']) == (3, True), said


def test_a_move_that_a_stall_broke_off_is_made_again_and_no_fault(nodes, tmp_path):
    content = yaml.safe_load((ROOT / 'config/g1_locomotion.yaml').read_text())
    nodes.start('simulated_robot', {'clock': 'system', 'seed': 3})
    mark = uuid.uuid4().hex

    def stall(_):
        nodes.listener.phase(TestPhase.COMMAND, timeout=LONG)
        [estimator] = [
            each for each in alive(mark)
            if b'repsq_ros.nodes.estimator' in Path(f'/proc/{each}/cmdline').read_bytes()
        ]  # fmt: skip
        os.kill(estimator, signal.SIGSTOP)
        time.sleep(1.0)
        os.kill(estimator, signal.SIGCONT)

    code, found, said = selftest(
        nodes, tmp_path, content, WALK, meanwhile=stall, env={**os.environ, 'MARK': mark}
    )
    assert (code, [each for each in found.values() if each]) == (0, []), said
    kept = yaml.safe_load((tmp_path / 'station/selftest.yaml').read_text())
    assert 'made again, test 0: ' in str([each['value'] for each in kept['findings']]), said


def in_order(message):
    return message


def turned_by_90_degrees(message):
    """Say it of a body whose x axis points where the robot's y axis does."""
    q, h = message.pose.orientation, math.sqrt(0.5)
    q.x, q.y, q.z, q.w = h * (q.x + q.y), h * (q.y - q.x), h * (q.z + q.w), h * (q.w - q.z)
    return message


def lying(message):
    """Say it of a body that is rolled by 90 degrees."""
    q, h = message.pose.orientation, math.sqrt(0.5)
    q.x, q.y, q.z, q.w = h * (q.x + q.w), h * (q.y + q.z), h * (q.z - q.y), h * (q.w - q.x)
    return message


class Late:
    """Says what was 160 ms ago, under a fresh stamp."""

    def __init__(self):
        self.told = []

    def __call__(self, message):
        self.told.append(message.pose)
        return PoseStamped(header=message.header, pose=self.told[-9:][0])


@pytest.mark.parametrize(
    ('damage', 'name', 'words'),
    [
        (in_order, '', ''),
        (turned_by_90_degrees, 'measured of what is commanded', 'turned by'),
        (Late(), 'latency', 'begins late'),
        (lying, 'test', 'tilt'),
    ],
)
def test_a_sensor_of_a_walker_is_judged_by_its_recording(nodes, tmp_path, damage, name, words):
    """INVALID tests end it: nobody is asked to resume."""
    content = yaml.safe_load((ROOT / 'config/g1_locomotion.yaml').read_text())
    content['measure']['source'] = 'mocap'
    # Half of its usual rate: each pose passes through this process, in time.
    nodes.start('simulated_robot', {'clock': 'system', 'seed': 3, 'mocap_rate': 50.0})
    cameras = nodes.listener.speaker('cameras')
    told = cameras.create_publisher(PoseStamped, 'seen', qos.SENSOR)
    cameras.create_subscription(
        PoseStamped, 'mocap/pose', lambda each: told.publish(damage(each)), qos.SENSOR
    )
    remap = ('--remap', 'mocap/pose:=seen')
    code, found, said = selftest_in_time(nodes, tmp_path, content, WALK, *remap)
    faults = {each: fault for each, fault in found.items() if fault}
    assert (code, set(faults) - {'mocap/pose'}) == (3 * bool(name), {name} - {''}), (faults, said)
    assert all(words in fault for fault in faults.values()), faults
