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

"""Nodes that stand still for a while: a suspicion costs an attempt, and never a campaign."""

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import pytest
import yaml
from support.campaigns import AS_FAST_AS_POSSIBLE, in_process, journalled, outcomes
from support.graph import PATIENCE, at_rest, busy_core

from repsq_ros import topics
from repsq_ros.messages import campaign_messages
from repsq_ros.msg import TestPhase

CONFIG = Path(__file__).parents[2] / 'config'
STALLS = int(os.environ.get('REPSQ_STALLS', '4'))
OURS = ('measurement', 'estimator', 'guard', 'scheduler')
REAL_TIME = {'speed': 1.0, 'seed': 7}
# As on a robot: its time waits for nobody.
ATTENDED = {'attended': True, 'start_lead': 0.3, 'seed': 7, 'guard': True, 'lockstep': False}
SOON = 1.5  # [s]: 0.5, and what a busy machine and the listener itself may add


@pytest.fixture
def long(short, write):
    """One command that outlasts its test: if zero is heard, somebody has sent it."""
    short['protocol'].update(dwell=0.3, command=60.0, window=1.0)
    return write(short)


@pytest.fixture
def moving(nodes, long):
    nodes.start_campaign(long, REAL_TIME, **ATTENDED)
    nodes.listener.phase(TestPhase.COMMAND)
    nodes.listener.until_moving()
    return nodes


def assert_stopped_soon(listener, since):
    """Zero is heard soon, and nothing but zero after it."""
    commands = listener.commands()
    listener.until(lambda: commands and at_rest(commands[-1]), SOON)
    print(f'zero {time.monotonic() - since:.2f} s after the stall began')
    return len(commands)


def assert_made_again(nodes, count, attempt=0):
    """Nothing but zero was sent until the attempt after this one began, by itself."""
    listener = nodes.listener
    again = listener.latest(
        topics.TEST_PHASE, lambda p: p.phase == TestPhase.COMMAND and p.test.attempt > attempt
    )
    assert again.test.index == 0
    heard = [at_rest(command) for command in listener.commands()[count:]]
    # The command may be heard before its phase.
    still = heard.index(False) if False in heard else len(heard)
    assert still >= 20
    assert nodes.group.ended() == {}


def test_a_node_that_stands_still_for_five_seconds(moving):
    for node in OURS:
        listener, since = moving.listener, time.monotonic()
        attempt = listener.phase(TestPhase.COMMAND).test.attempt
        listener.until_moving()
        moving.signal(node, signal.SIGSTOP)
        count = assert_stopped_soon(listener, since)
        listener.until(lambda since=since: time.monotonic() - since > 5.0)
        assert all(map(at_rest, listener.commands()[count:]))
        moving.signal(node, signal.SIGCONT)
        assert_made_again(moving, count, attempt)


HANGS = """
import sys
import time
from pathlib import Path

from repsq_ros.nodes.runtime import run_node
from repsq_ros.nodes.scheduler import Scheduler


class Hanging(Scheduler):
    def _tick(self):
        super()._tick()
        flag = Path(__file__).with_name('now')
        if flag.exists():
            flag.unlink()
            time.sleep(4.0)


sys.exit(run_node('scheduler', Hanging))
"""
SLOW_DISK = """
import os
import sys
import time
from pathlib import Path

real = os.fsync


def slow(descriptor):
    if Path(__file__).with_name('now').exists():
        time.sleep(3.0)
    real(descriptor)


os.fsync = slow
from repsq_ros.nodes.scheduler import main

sys.exit(main())
"""


@pytest.fixture
def special(nodes, long, tmp_path):
    """Start a campaign whose scheduler is a program of the test; it lives until the test ends."""
    with ExitStack() as stack:

        def start(program):
            file = tmp_path / 'special.py'
            file.write_text(program)
            common = {'specification': str(long), 'use_sim_time': True}
            nodes.start('simulated_robot', REAL_TIME)
            for name in ('measurement', 'estimator'):
                nodes.start(name, common)
            nodes.start('guard', {'use_sim_time': True})
            command = [sys.executable, str(file), '--ros-args', '-p', 'use_sim_time:=true']
            for name, value in {
                'specification': long,
                'campaign_id': 'lab',
                'look_around': 0.0,
                'start_lead': 0.3,
                'output': tmp_path / 'campaign',
            }.items():
                command += ['-p', f'{name}:={value}']
            process = subprocess.Popen(command, stderr=(tmp_path / 'special.log').open('w'))
            stack.callback(process.wait)
            stack.callback(process.kill)
            nodes.listener.phase(TestPhase.COMMAND)
            nodes.listener.until_moving()
            return tmp_path / 'now'

        yield start


def test_an_executor_that_hangs_is_noticed_by_the_guard(special, nodes):
    """Its middleware lives on: what counts is the loop that works."""
    flag = special(HANGS)
    since = time.monotonic()
    flag.touch()
    count = assert_stopped_soon(nodes.listener, since)
    assert_made_again(nodes, count)
    reasons = [phase.reason for phase in nodes.listener.phases()]
    assert any('the scheduler did not run for 4' in reason for reason in reasons)


def test_zero_waits_for_no_disk(special, nodes, tmp_path):
    special(SLOW_DISK).touch()
    since = time.monotonic()
    assert nodes.call('pause').success
    assert_stopped_soon(nodes.listener, since)
    assert time.monotonic() - since < 3.0
    nodes.listener.phase(TestPhase.PAUSED, 'by the operator')
    nodes.listener.listen(3.5)
    assert nodes.listener.is_in(TestPhase.PAUSED, 'by the operator'), 'a slow disk resumes nothing'
    # The record of what was broken off is awaited before anything goes on.
    (tmp_path / 'now').unlink()
    nodes.listener.until(lambda: nodes.call('resume').success)
    nodes.listener.phase(TestPhase.COMMAND)
    assert [test.reason for test in journalled(tmp_path / 'campaign')] == ['by the operator']


@pytest.mark.parametrize('time_between', [0.0, 0.05])
def test_ctrl_c_to_all_nodes_at_once_sends_nothing_after_zero(moving, time_between):
    for name in ('guard', 'measurement', 'estimator', 'scheduler', 'simulated_robot'):
        moving.signal(name, signal.SIGINT)
        time.sleep(time_between)
    moving.listener.until(lambda: len(moving.group.ended()) == 5)
    moving.listener.listen(0.5)
    heard = [at_rest(command) for command in moving.listener.commands()]
    moved = heard.index(False)
    assert all(heard[moved + heard[moved:].index(True) :])
    assert set(moving.group.ended().values()) == {0}


WAITS = """
import ctypes
import sys

from repsq_ros.nodes.process_end import exits_within

library = ctypes.PyDLL(None)  # keeps the interpreter's lock, as rclpy does in destroy_node
with exits_within(0.5, int(sys.argv[1])):
    library.usleep(int(float(sys.argv[2]) * 1e6))
library.usleep(800_000)
sys.exit(9)
"""


@pytest.mark.parametrize(
    ('code', 'seconds', 'found'), [(0, 60.0, 0), (130, 60.0, 130), (3, 0.0, 9)]
)
def test_a_middleware_that_does_not_end_keeps_no_process(code, seconds, found):
    command = [sys.executable, '-c', WAITS, str(code), str(seconds)]
    assert subprocess.run(command, timeout=PATIENCE, check=False).returncode == found


DOES_NOT_END = """
import ctypes
import sys

from rclpy.node import Node

from repsq_ros.cli import main

# Keeps the interpreter's lock, as the middleware does where it hangs.
Node.destroy_node = lambda node: ctypes.PyDLL(None).sleep(600)
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    ('arguments', 'code', 'told'),
    [
        (['watch', '--once'], 0, 'never heard'),
        (['doctor', str(CONFIG / 'g1_locomotion.yaml'), '--seconds', '0.5'], 3, 'NOT ready'),
    ],
)
def test_what_was_heard_is_told_though_the_middleware_does_not_end(nodes, arguments, code, told):
    command = [sys.executable, '-c', DOES_NOT_END, *arguments]
    done = subprocess.run(command, timeout=PATIENCE, check=False, capture_output=True, text=True)
    assert told in done.stdout
    assert done.returncode == code, done.stderr


@pytest.fixture
def lossy(tmp_path):
    """Let all nodes that are started from now on lose one datagram in fifty."""
    library = tmp_path / 'lossy.so'
    source = Path(__file__).parents[1] / 'support' / 'lossy.c'
    subprocess.run(['cc', '-shared', '-fPIC', '-o', library, source, '-ldl'], check=True)
    os.environ['LD_PRELOAD'] = str(library)
    yield
    os.environ.pop('LD_PRELOAD', None)


@pytest.mark.parametrize('robot', ['surrogate', 'arm'])
def test_no_stall_changes_a_simulated_campaign(robot, nodes, short, write, tmp_path, lossy):
    """Busy loops, lost datagrams, each node stopped at random: simulated time waits for all."""
    chance, folder = random.Random(5), tmp_path / 'campaign'
    if robot == 'arm':
        short = yaml.safe_load((CONFIG / 'ur10e_positioning.yaml').read_text())
    tests = 8 * STALLS if robot == 'surrogate' else STALLS  # each lost datagram takes a while
    short['tester'].update(stopping={'rule': 'fixed', 'tests': tests}, max_tests=tests)
    file = write(short)
    with ExitStack() as stack:
        # Within make test, the other tests are the load.
        for _ in range(0 if STALLS <= 4 else 4):
            stack.enter_context(busy_core())
        nodes.start_campaign(
            file, {**AS_FAST_AS_POSSIBLE, 'subject': robot}, seed=7, guard=True, output=str(folder)
        )
        nodes.listener.until(lambda: nodes.listener.phases())
        for number in range(STALLS):
            node = (*OURS, 'simulated_robot')[(number + STALLS) % 5]
            nodes.listener.listen(chance.uniform(0.5, 2.0))
            nodes.signal(node, signal.SIGSTOP)
            time.sleep(chance.uniform(0.5, 3.0))
            nodes.signal(node, signal.SIGCONT)
        result = nodes.result(2 * PATIENCE + 5 * STALLS)
        assert nodes.wait('scheduler') == 0
    expected, told = in_process(file, robot)
    assert campaign_messages.result_of(result) == expected
    assert outcomes(journalled(folder)) == outcomes(record for record, _ in told)
    assert 'PAUSED' not in nodes.output('scheduler')
