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

"""A robot moves on our word: every way out leads to a zero command."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from nav_msgs.msg import Odometry
from rosgraph_msgs.msg import Clock
from support.graph import PATIENCE, at_rest

from repsq_ros import topics
from repsq_ros.msg import TestPhase
from repsq_ros.nodes import qos
from repsq_ros.nodes.heartbeat import HeartbeatPublisher

REAL_TIME = {'speed': 1.0, 'seed': 7}


@pytest.fixture
def long(short):
    """One command that outlasts its test: if zero is heard, somebody has sent it."""
    short['protocol'].update(dwell=0.3, command=120.0, window=1.0)
    return short


@pytest.fixture
def moving(nodes, long, write):
    """A campaign in the middle of its first command, in real time."""
    nodes.start_campaign(write(long), REAL_TIME, seed=7, start_lead=0.3, lockstep=False)
    nodes.listener.until_moving()
    return nodes


def test_a_signal_to_the_scheduler_stops_the_robot(moving):
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        if moving.process('scheduler').poll() is not None:
            moving.listener.commands().clear()
            moving.start_again('scheduler')
            moving.listener.until_moving()
        moving.signal('scheduler', number)
        moving.listener.assert_at_rest()
        assert moving.wait('scheduler') == 0
        moving.listener.phase(TestPhase.ABORTED, number.name)


def test_the_end_of_a_peer_stops_the_robot(moving):
    """One that was told to end; one that was killed: test_operator.py."""
    moving.listener.phases().clear()
    moving.signal('measurement', signal.SIGTERM)
    moving.listener.assert_at_rest()
    moving.listener.phase(TestPhase.PAUSED, 'no sign of life from the measurement node')
    assert any(phase.broken_off for phase in moving.listener.phases())


def test_a_peer_that_stays_away_is_waited_for_though_nobody_attends(nodes, long, write):
    nodes.start_campaign(
        write(long), REAL_TIME, seed=7, start_lead=0.3, lockstep=False, peer_timeout=1.0,
        attended=False,
    )  # fmt: skip
    nodes.listener.until_moving()
    nodes.signal('measurement', signal.SIGKILL)
    nodes.listener.phase(TestPhase.PAUSED)
    paused = next(p for p in nodes.listener.phases() if p.phase == TestPhase.PAUSED)
    assert (paused.broken_off, paused.goes_on, paused.cause) == (True, True, 'bench')
    nodes.listener.listen(3.0)
    assert nodes.process('scheduler').poll() is None


def test_the_death_of_the_robot_stops_the_command(moving):
    moving.signal('simulated_robot', signal.SIGKILL)
    moving.listener.assert_at_rest()
    assert 'nothing on /clock for 2 s' in moving.listener.phase(TestPhase.PAUSED).reason


def mean(speeds):
    """Return the mean of the last second: there is noise, and sway."""
    return sum(speeds[-50:]) / 50


def test_the_simulated_robot_stops_when_the_scheduler_is_killed(nodes, long, write):
    """As a real base does by itself; whatever the scheduler last said, it says no more."""
    speeds = []
    robot = {'clock': 'system', 'seed': 7}
    nodes.start_campaign(write(long), robot, seed=7, start_lead=0.3)
    nodes.listener.until_moving()
    nodes.listener.node.create_subscription(
        Odometry, '/odom', lambda m: speeds.append(m.twist.twist.linear.y), qos.COMMAND
    )
    nodes.listener.until(lambda: abs(mean(speeds)) > 0.1)
    nodes.signal('scheduler', signal.SIGKILL)
    nodes.wait('scheduler')
    nodes.listener.listen(0.5)  # to what is still on its way
    count = len(nodes.listener.commands())
    nodes.listener.until(lambda: abs(mean(speeds)) < 0.05)
    assert len(nodes.listener.commands()) == count


def test_ctrl_c_of_repsq_run_stops_the_robot(nodes, long, write, tmp_path, at_once):
    """The whole way: repsq run gets the signal and ends its nodes, the scheduler first."""
    output = tmp_path / 'campaign'
    process = nodes.popen(
        [sys.executable, '-m', 'repsq_ros.cli', 'run', str(write(long)), '--simulate',
         '--speed', '1', '--output', str(output), *at_once],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    nodes.listener.until_moving()
    process.send_signal(signal.SIGINT)
    nodes.listener.assert_at_rest()
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert 'no result; the tests counted so far are kept in' in err
    assert f'repsq run --resume {output} --simulate --subject surrogate --speed 1' in err
    assert (output / 'tests.csv').read_text().startswith('index,attempt,valid,linear_x')


def test_the_death_of_repsq_run_stops_the_robot(nodes, long, write, tmp_path, at_once):
    process = nodes.popen(
        [sys.executable, '-m', 'repsq_ros.cli', 'run', str(write(long)), '--simulate',
         '--speed', '1', '--output', str(tmp_path / 'campaign'), *at_once],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    nodes.listener.until_moving()
    process.kill()
    nodes.listener.assert_at_rest()


BROKEN = """
import sys
from pathlib import Path

from repsq_ros.nodes.runtime import run_node
from repsq_ros.nodes.scheduler import Scheduler


class Broken(Scheduler):
    def _tick(self):
        super()._tick()
        if Path(__file__).with_name('now').exists():
            raise ZeroDivisionError('a fault in the middle of a command')


sys.exit(run_node('scheduler', Broken))
"""


def test_an_exception_in_the_scheduler_stops_the_robot(nodes, long, write, tmp_path):
    common = {'specification': str(write(long)), 'use_sim_time': True}
    nodes.start('simulated_robot', REAL_TIME)
    nodes.start('measurement', common)
    nodes.start('estimator', common)
    broken = tmp_path / 'broken.py'
    broken.write_text(BROKEN)
    process = nodes.popen(
        [sys.executable, str(broken), '--ros-args', '-p', 'use_sim_time:=true',
         '-p', f'specification:={common["specification"]}', '-p', 'start_lead:=0.3',
         '-p', 'guard:=false'],
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    nodes.listener.until_moving()
    (tmp_path / 'now').touch()
    nodes.listener.assert_at_rest()
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert 'ZeroDivisionError: a fault in the middle of a command' in err


def test_nothing_is_commanded_before_all_peers_are_there(nodes, long, write):
    common = {'specification': str(write(long)), 'use_sim_time': True}
    nodes.start('simulated_robot', REAL_TIME)
    nodes.start('measurement', common)
    nodes.start('scheduler', {**common, 'peer_timeout': 2.0, 'guard': False})
    assert nodes.wait('scheduler') == 3
    last = nodes.output('scheduler').strip().splitlines()[-1]
    assert 'nothing was commanded: after 2 s still ' in last
    assert last.endswith('no sign of life from the estimator node')
    nodes.listener.listen(0.5)
    assert all(map(at_rest, nodes.listener.commands()))
    assert nodes.listener.heard[topics.TEST_COMMAND] == []


def test_a_second_scheduler_is_refused(moving, long, write):
    process = subprocess.run(
        [sys.executable, '-m', 'repsq_ros.nodes.scheduler', '--ros-args', '-p',
         f'specification:={write(long, "other.yaml")}', '-r', '__node:=second'],
        check=False, capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert process.returncode == 3
    assert 'another scheduler publishes on /repsq/test_phase' in process.stderr


def test_repsq_run_ends_when_its_scheduler_is_stopped(nodes, long, write, tmp_path, at_once):
    """Not by us, and before the end: there is no result to wait for."""
    process = nodes.popen(
        [sys.executable, '-m', 'repsq_ros.cli', 'run', str(write(long)), '--simulate',
         '--speed', '1', '--output', str(tmp_path / 'campaign'), *at_once],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    nodes.listener.until_moving()
    children = Path(f'/proc/{process.pid}/task/{process.pid}/children').read_text().split()
    (scheduler,) = [
        int(pid) for pid in children
        if b'nodes.scheduler' in Path(f'/proc/{pid}/cmdline').read_bytes()
    ]  # fmt: skip
    os.kill(scheduler, signal.SIGTERM)
    nodes.listener.assert_at_rest()
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 3
    assert 'scheduler ended' in err
    assert 'aborted: SIGTERM' in err


def test_a_clock_that_is_set_back_breaks_the_attempt_off_and_no_campaign(moving):
    clock = moving.listener.node.create_publisher(Clock, '/clock', 10)
    moving.listener.listen(2.0)  # well past the first second
    moving.listener.saying(clock, Clock(), lambda: moving.listener.is_in(TestPhase.PAUSED))
    assert 'the clock was set by -' in moving.listener.phases()[-1].reason
    moving.listener.assert_at_rest()
    moving.listener.node.destroy_publisher(clock)
    again = moving.listener.phase(TestPhase.COMMAND)
    assert (again.test.index, again.test.attempt) == (0, 1)


def test_a_measurement_that_never_comes_ends_the_campaign(nodes, long, write):
    """A measurement node that lives, but does not speak."""
    heartbeat = HeartbeatPublisher(nodes.listener.speaker('measurement'), 'measurement')
    heartbeat.set_status(True, '')
    common = {'specification': str(write(long)), 'use_sim_time': True}
    nodes.start('simulated_robot', {'speed': 0.0})
    nodes.start('estimator', common)
    nodes.start(
        'scheduler',
        {**common, 'look_around': 0.0, 'measurement_timeout': 1.0, 'guard': False,
         'attended': False},
    )  # fmt: skip
    assert nodes.wait('scheduler') == 3
    assert 'test 0: no measurement with its estimate came within 1 s' in nodes.output('scheduler')
