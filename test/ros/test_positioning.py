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

"""A robot arm over DDS: scripts out, tool pose and gauge in, and it is held whatever happens."""

import os
import pty
import signal
import subprocess
import sys
from itertools import pairwise

import pytest
import yaml
from conftest import ROOT
from rclpy.node import Node
from sensor_msgs.msg import Range
from std_msgs.msg import Float64, String
from support.campaigns import in_process

from repsq_ros import topics
from repsq_ros.messages import campaign_messages
from repsq_ros.msg import TestPhase
from repsq_ros.nodes import qos
from repsq_ros.protocols.urscript import parse_script
from repsq_ros.simulation.simulated_sensors import SENSORS

ARM = {'subject': 'arm', 'speed': 0.0, 'seed': 7}
MOVING = (TestPhase.MOVE, TestPhase.RETURN)


@pytest.fixture
def specification():
    """A test of about ten seconds."""
    content = yaml.safe_load((ROOT / 'config' / 'ur10e_positioning.yaml').read_text())
    content['protocol'].update(before=0.5, dwell=0.5, record=0.5)
    content['protocol']['settle']['hold'] = 0.5
    content['tester'].update(stopping={'rule': 'fixed', 'tests': 4}, max_tests=4)
    return content


class Bench:
    """The graph with an arm, and what was said to it."""

    def __init__(self, nodes):
        self.nodes, self.listener = nodes, nodes.listener
        self.scripts = []
        self.listens = self.listener.node.create_subscription(
            String,
            topics.SCRIPT_COMMAND,
            lambda message: self.scripts.append(parse_script(message.data)),
            qos.COMMAND,
        )

    def start(self, file, robot=None, **scheduler):
        self.nodes.start_campaign(file, {**ARM, **(robot or {})}, seed=7, **scheduler)

    def assert_held(self):
        self.listener.until(lambda: self.scripts and self.scripts[-1][0] == 'stopl')
        count = len(self.scripts)
        self.listener.listen(1.0)
        assert all(script[0] == 'stopl' for script in self.scripts[count:])


@pytest.fixture
def bench(nodes):
    return Bench(nodes)


def test_a_campaign_of_an_arm_equals_the_run_in_one_process(bench, specification, write):
    """Phases that end by settling included: to the last bit."""
    file = write(specification)
    bench.start(file, autostart=False)
    bench.listener.until(lambda: bench.listens.get_publisher_count() > 0)
    assert bench.nodes.call('start').success
    result = campaign_messages.result_of(bench.nodes.result())
    assert bench.nodes.wait('scheduler') == 0
    expected, tests = in_process(file, 'arm')
    assert (result.events, result) == ((), expected)
    measured = bench.listener.heard[topics.TEST_MEASUREMENT]
    bench.listener.until(lambda: len(measured) == len(tests))
    assert [(m.psi, m.samples) for m in measured] == [(t.psi, t.samples) for t, _ in tests]
    bench.listener.until(lambda: bench.scripts and bench.scripts[-1][0] == 'stopl')  # the end
    goals = [script[1] for script in bench.scripts if script[0] == 'movel']
    # To the reference once, then four ways of each test: one script for each.
    assert len(goals) == 2 + 4 * len(tests)
    targets = [goal[:3] for goal in goals[3::4]]
    assert targets == [pytest.approx(test.x, abs=1e-12) for test, _ in tests]
    assert all(one != other for one, other in pairwise(goals))
    assert all(script[2:] == (0.5, 0.25) for script in bench.scripts if script[0] == 'movel')


def test_a_recording_of_an_arm_gives_the_same_numbers_again(bench, specification, write, tmp_path):
    """Tare before the move and reading after the return, both out of the bag."""
    pytest.importorskip('rosbags')
    from support.recording import Recorder

    # Without a stamp of its own it would be taken at the time of the recording.
    del specification['measure']['conditions']
    recorder = Recorder(bench.listener.node, {'/gauge': (Range, qos.QoSProfile(depth=10_000))})
    bench.nodes.start('simulated_robot', ARM)
    bench.listener.until(lambda: '/gauge' in recorder.heard)
    file = write(specification)
    bench.start(file, look_around=4.5)
    result = campaign_messages.result_of(bench.nodes.result())
    bench.listener.listen(2.0)
    recorder.write(tmp_path / 'bag', ROOT)
    told = subprocess.run(
        [sys.executable, '-m', 'repsq_ros.cli', 'reevaluate', str(tmp_path / 'bag'),
         '--specification', str(file)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert told.returncode == 0, told.stderr
    assert f'{result.estimate:.6g}' in told.stdout


def test_every_way_out_of_a_move_holds_the_arm(bench, specification, write):
    bench.start(write(specification), {'speed': 1.0}, start_lead=0.3)
    bench.listener.phase(TestPhase.MOVE)
    bench.nodes.signal('scheduler', signal.SIGINT)
    bench.nodes.wait('scheduler')
    bench.assert_held()


def test_the_guard_holds_the_arm_of_a_killed_scheduler(bench, specification, write):
    bench.start(write(specification), {'speed': 1.0}, guard=True, start_lead=0.3)
    bench.listener.phase(TestPhase.MOVE)
    bench.nodes.signal('scheduler', signal.SIGKILL)
    bench.nodes.wait('scheduler')
    bench.assert_held()


def test_a_protective_stop_holds_the_campaign_and_it_goes_on_from_the_reference(
    bench, specification, write
):
    """As a UR tells it: speed scaling falls to 0."""
    bench.start(write(specification), {'speed': 1.0}, attended=True, start_lead=0.3)
    bench.listener.phase(TestPhase.MOVE)
    scaling = bench.listener.node.create_publisher(Float64, SENSORS['speed_scaling'].topic, 10)
    reason = 'condition speed_scaling: 0, expected at least 0.999'
    bench.listener.saying(
        scaling, Float64(data=0.0), lambda: bench.listener.is_in(TestPhase.PAUSED, reason)
    )
    bench.assert_held()
    # The arm itself says 100 % again, ten times each second.
    bench.listener.until(lambda: bench.nodes.call('resume').success)
    assert bench.listener.phase(TestPhase.RETURN).step < 0


def test_a_tool_that_is_seen_no_more_holds_the_campaign(bench, specification, write):
    """The driver dies in the middle of a move; the clock, elsewhere, goes on."""
    bench.start(
        write(specification), {'speed': 1.0, 'clock': 'system'}, attended=True, start_lead=0.3
    )
    bench.listener.phase(TestPhase.MOVE)
    bench.nodes.signal('simulated_robot', signal.SIGSTOP)
    bench.listener.phase(TestPhase.PAUSED, 'nothing on /tool_pose for')
    bench.assert_held()
    bench.nodes.signal('simulated_robot', signal.SIGCONT)
    bench.listener.phase(TestPhase.MOVE)  # it goes on by itself


def test_a_robot_without_ros_is_led_by_words(nodes, specification, write, tmp_path):
    """`repsq run` in a terminal: it says where to move, and goes on by Enter."""
    confirm = {'ends': 'confirm', 'timeout': 60.0}
    specification['protocol'].update(move=confirm, settle=confirm, before=0.5, dwell=0.5)
    del specification['measure']['conditions']
    specification['measure']['settled_within'] = 1.0
    specification['tester'].update(stopping={'rule': 'fixed', 'tests': 2}, max_tests=2)
    parameters = tmp_path / 'parameters.yaml'
    manual = '  ros__parameters: {command_type: manual}\n'
    parameters.write_text(f'/**/scheduler:\n{manual}/**/guard:\n{manual}')
    bench = Bench(nodes)
    gauge = Gauge(bench.listener.node)
    output = tmp_path / 'campaign'
    terminal, theirs = pty.openpty()
    process = nodes.popen(
        [sys.executable, '-m', 'repsq_ros.cli', 'run', str(write(specification)), '--parameters',
         str(parameters), '--seed', '7', '--output', str(output)],
        stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    seen = []

    def lead():
        gauge.read()
        last = bench.listener.phases()[-1] if bench.listener.phases() else None
        waits = last is not None and last.phase in (*MOVING, TestPhase.SETTLE)
        key = (last.test.index, last.test.attempt, last.step) if waits else None
        if waits and key not in seen:
            seen.append(key)
            os.write(terminal, b'\n')
        return process.poll() is not None

    bench.listener.until(lead, 120)
    printed = process.stdout.read()
    assert process.returncode == 0, printed
    assert yaml.safe_load((output / 'result.yaml').read_text())['n'] == 2
    assert [step for index, _, step in seen if index == 1][-5:] == [1, 2, 4, 5, 6]
    assert 'move to x = -0.55' in printed
    assert printed.count('confirmed') == len(seen)


class Gauge:
    """A dial that somebody reads aloud."""

    def __init__(self, node: Node):
        self._node = node
        self._publisher = node.create_publisher(Range, SENSORS['gauge'].topic, 10)

    def read(self):
        message = Range(range=0.005)
        message.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(message)


def test_a_guard_that_stops_another_robot_is_none(bench, specification, write):
    """A guard that sends zero on cmd_vel holds no arm: nothing moves."""
    common = {'specification': str(write(specification)), 'use_sim_time': True}
    bench.nodes.start('guard', {'use_sim_time': True, 'command_type': 'twist'})
    bench.nodes.start('simulated_robot', ARM)
    bench.nodes.start('measurement', common)
    bench.nodes.start('estimator', common)
    bench.nodes.start('scheduler', {**common, 'look_around': 0.0, 'peer_timeout': 8.0})
    assert bench.nodes.wait('scheduler') == 3
    assert (
        'the guard stops the robot by command_type twist, expected urscript'
        in bench.nodes.output('scheduler')
    )
    assert not any(script[0] == 'movel' for script in bench.scripts)
