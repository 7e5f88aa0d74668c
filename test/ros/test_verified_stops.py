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

"""A stop is over when the robot is at rest: drivers that lose, delay or refuse it."""

import math
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
import support
import yaml
from conftest import ROOT
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import Odometry
from std_msgs.msg import String
from std_srvs.srv import Trigger
from support.forked import ForkedProcess, can_fork

from repsq_ros import topics
from repsq_ros.campaign.rest import RestState
from repsq_ros.msg import Heartbeat, TestPhase
from repsq_ros.nodes import qos
from repsq_ros.nodes.body_input import BodyInput
from repsq_ros.nodes.commands.robot_command import make_stop_command
from repsq_ros.nodes.commands.verified_stop import BOUNDS, StopSettings, VerifiedStop
from repsq_ros.nodes.heartbeat import STOPPING
from repsq_ros.nodes.parameters import Parameters
from repsq_ros.specification.load import load

DRIVER = Path(support.__file__).parent / 'lossy_driver.py'
POSES = ('urscript', 'pose_target')
TYPES = ('twist', 'twist_stamped', 'unitree_sport', *POSES)


class Robot:
    """A driver as a process, what it says, and where its robot is."""

    def __init__(self, nodes, kind, output, *losses):
        self.listener, self.output = nodes.listener, output
        self.pose = kind in POSES
        self.places = []
        message, topic = (PoseStamped, 'tool_pose') if self.pose else (Odometry, 'odom')
        nodes.listener.node.create_subscription(message, topic, self.hear, qos.SENSOR)
        output.touch()
        if can_fork():
            self.process = ForkedProcess('support.lossy_driver', [kind, *losses], str(output))
            return
        with output.open('wb') as file:
            self.process = subprocess.Popen(
                [sys.executable, str(DRIVER), kind, *losses], stdout=file
            )

    def hear(self, message):
        pose = message.pose if self.pose else message.pose.pose
        self.places.append(pose.position.x)

    def is_moving(self):
        return len(self.places) > 20 and self.places[-1] - self.places[-20] > 0.02

    def is_at_rest(self):
        return len(self.places) > 50 and self.places[-1] == self.places[-50]


@pytest.fixture
def robot_of(nodes, tmp_path, request):
    made = []

    def make(kind, *losses):
        if kind == 'unitree_sport':  # built where it is needed alone
            os.environ.update(request.getfixturevalue('unitree_api'))
        made.append(Robot(nodes, kind, tmp_path / 'driver', *losses))
        nodes.listener.until(made[-1].is_moving)
        return made[-1]

    yield make
    for each in made:
        each.process.kill()
        each.process.wait()


@contextmanager
def lost_scheduler(nodes, kind, phase=TestPhase.COMMAND, status='', **parameters):
    """Give a real guard whose scheduler falls silent in the middle of a test."""
    scheduler, watched = nodes.listener.speaker('scheduler'), []
    nodes.listener.node.create_subscription(
        Heartbeat, f'{topics.HEARTBEAT}/guard', watched.append, qos.HEARTBEAT
    )
    phases = scheduler.create_publisher(TestPhase, topics.TEST_PHASE, qos.RECORD)
    phases.publish(TestPhase(phase=phase))
    beats = scheduler.create_publisher(Heartbeat, f'{topics.HEARTBEAT}/scheduler', qos.HEARTBEAT)
    heartbeat = scheduler.create_timer(0.05, lambda: beats.publish(Heartbeat(status=status)))
    name = 'ur10e_positioning' if kind in POSES else 'g1_locomotion'
    specification = str(ROOT / 'config' / f'{name}.yaml')
    nodes.start('guard', {'command_type': kind, 'specification': specification, **parameters})
    nodes.listener.until(lambda: watched and watched[-1].ready)
    heartbeat.cancel()
    yield


LOSSES = [(kind, '--drop', '2', '--delay', '0.5') for kind in TYPES]
LOSSES += [('urscript', '--drop', '10'), ('twist', '--delay', '1.5')]


@pytest.mark.parametrize(('kind', 'losses'), [(kind, losses) for kind, *losses in LOSSES])
def test_a_stop_that_is_lost_or_late_is_repeated_until_the_robot_is_at_rest(
    nodes, robot_of, kind, losses
):
    robot = robot_of(kind, *losses)
    with lost_scheduler(nodes, kind, hold=0.1, stop_timeout=20.0):
        nodes.listener.until(robot.is_at_rest)
        assert 'ALARM' not in nodes.output('guard')


@pytest.mark.parametrize('kind', ['twist', 'urscript'])
def test_a_robot_that_does_not_stop_raises_an_alarm_and_is_stopped_by_its_service(
    nodes, robot_of, kind
):
    diagnoses = []
    nodes.listener.node.create_subscription(
        DiagnosticArray, '/diagnostics', lambda m: diagnoses.extend(m.status), 10
    )
    robot = robot_of(kind, '--refuse')
    services = ['/nobody/stop', '/dashboard_client/stop']
    with lost_scheduler(nodes, kind, hold=0.1, stop_timeout=1.0, stop_services=services):
        nodes.says('guard', 'ALARM: the robot was not seen at rest 1.')
        nodes.says('guard', 'another way to stop the robot: /nobody/stop is not there')
        nodes.says('guard', 'another way to stop the robot: called /dashboard_client/stop')
        nodes.listener.until(robot.is_at_rest)
        nodes.says('guard', 'the robot came to rest after')
    assert '[FATAL]' in nodes.output('guard')
    assert any(
        d.name == 'guard: node' and d.level == b'\x02' and d.message.startswith('ALARM')
        for d in diagnoses
    )


@pytest.mark.parametrize('kind', ['unitree_sport', 'urscript'])
def test_another_way_of_stopping_that_is_lost_is_tried_again(nodes, robot_of, kind):
    robot = robot_of(kind, '--refuse', '--deaf', '2')
    damped = {'damp_allowed': True} if kind == 'unitree_sport' else {}
    with lost_scheduler(nodes, kind, hold=0.1, stop_timeout=1.0, **damped):
        nodes.listener.until(robot.is_at_rest)
        if not damped:
            nodes.says('guard', '/dashboard_client/stop did not stop the robot: lost')
    stop = 'damped' if damped else 'stopped by the service'
    assert robot.output.read_text().splitlines()[:3] == ['lost', 'lost', stop]


@pytest.mark.parametrize('allowed', [False, True])
def test_a_humanoid_is_damped_only_where_that_is_allowed(nodes, robot_of, allowed):
    robot = robot_of('unitree_sport', '--refuse')
    with lost_scheduler(nodes, 'unitree_sport', hold=0.1, stop_timeout=1.0, damp_allowed=allowed):
        nodes.says('guard', 'ALARM')
        if allowed:
            nodes.listener.until(robot.is_at_rest)
            assert robot.output.read_text() == 'damped\n'
        else:
            nodes.listener.listen(3.0)
            assert robot.is_moving()
            assert robot.output.read_text() == ''


@pytest.mark.parametrize('phase', [TestPhase.ABORTED, TestPhase.PAUSED, TestPhase.DONE])
def test_the_guard_stops_a_robot_whose_scheduler_dies_before_it_has_seen_it_at_rest(
    nodes, robot_of, phase
):
    robot = robot_of('twist', '--drop', '2')
    with lost_scheduler(nodes, 'twist', phase, STOPPING, hold=0.1, stop_timeout=20.0):
        nodes.listener.until(robot.is_at_rest)


def test_without_feedback_the_start_says_that_stops_cannot_be_verified(nodes):
    nodes.start('guard', {'command_type': 'twist'})
    nodes.says('guard', 'stops cannot be verified: no input shows the motion of the robot')


def test_a_node_that_seldom_gets_to_look_sees_a_robot_at_rest(nodes, robot_of):
    """Beside much load: all samples of a stall count, not the newest one alone."""
    robot_of('twist')
    node = nodes.listener.speaker('seldom')
    command = make_stop_command(node, Parameters(node), lambda: 0)
    body = BodyInput(node, load(ROOT / 'config' / 'g1_locomotion.yaml').body_input)
    settings = StopSettings(BOUNDS[command.kind], wanted=True, timeout=20.0, services=())
    stops = VerifiedStop(node, command, settings, body)
    nodes.listener.until(lambda: stops.verifiable and not command.missing())
    stops.look()
    stops.stop()
    assert stops.pending
    while stops.pending:
        time.sleep(0.7)
        stops.look()
        assert not stops.alarm
    assert stops.state is RestState.AT_REST


# The scheduler -----------------------------------------------------------------------------------


class LossyNetwork:
    """Between the scheduler and the simulated arm: scripts that stop may get lost."""

    def __init__(self, listener):
        self.lose, self.lost = 0, 0
        node = listener.speaker('network')
        self._robot = node.create_publisher(String, topics.SCRIPT_COMMAND, qos.COMMAND)
        node.create_subscription(String, 'astray', self._pass_on, qos.COMMAND)
        node.create_service(Trigger, '/dashboard_client/stop', self._stop_by_service)

    def _pass_on(self, message):
        if message.data.startswith('stopl') and self.lost < self.lose:
            self.lost += 1
            return
        self._robot.publish(message)

    def _stop_by_service(self, _, response):
        self._robot.publish(String(data='stopl(2.0)'))
        return response


@pytest.fixture
def moving_arm(nodes, write, request):
    """A campaign whose arm is on its way, on the system's time."""
    content = yaml.safe_load((ROOT / 'config' / 'ur10e_positioning.yaml').read_text())
    content['protocol'].update(before=0.5, dwell=0.5, record=0.5)
    content['protocol']['approach']['distance'] = 0.25  # a second on its way, and more
    network, robot = LossyNetwork(nodes.listener), {'subject': 'arm', 'clock': 'system'}
    speeds = []

    def hear(message):
        speeds.append(message.pose.position)

    nodes.listener.node.create_subscription(PoseStamped, 'tool_pose', hear, qos.SENSOR)
    rules = {'scheduler': (f'{topics.SCRIPT_COMMAND}:=astray',)}
    nodes.start_campaign(
        write(content), robot, attended=True, start_lead=0.3, seed=7, remappings=rules,
        stop_timeout=getattr(request, 'param', 20.0), stop_services=['/dashboard_client/stop'],
    )  # fmt: skip
    nodes.listener.phase(TestPhase.MOVE)

    def travelled(count):
        return len(speeds) > count and math.dist(*(
            (p.x, p.y, p.z) for p in (speeds[-count], speeds[-1])
        ))  # fmt: skip

    nodes.listener.until(lambda: travelled(50) > 0.003)
    return nodes, network, lambda: travelled(50) == 0.0


def test_a_pause_whose_first_stops_are_lost_stops_the_arm_all_the_same(moving_arm):
    nodes, network, at_rest = moving_arm
    network.lose = 3
    assert nodes.call('pause').success
    nodes.listener.until(at_rest)
    assert network.lost == 3
    assert not nodes.listener.phase(TestPhase.PAUSED, 'by the operator').alarm
    nodes.listener.until(lambda: nodes.call('resume').success)
    nodes.listener.phase(TestPhase.MOVE)


@pytest.mark.parametrize('moving_arm', [0.3], indirect=True)
def test_an_arm_that_does_not_stop_pauses_with_an_alarm_until_it_is_at_rest(moving_arm):
    nodes, network, at_rest = moving_arm
    network.lose = 10_000
    assert nodes.call('pause').success
    alarm = nodes.listener.phase(TestPhase.PAUSED, 'ALARM: the robot was not seen at rest 0.')
    assert alarm.alarm
    nodes.says('scheduler', 'another way to stop the robot: called /dashboard_client/stop')
    nodes.listener.until(at_rest)
    nodes.listener.until(lambda: nodes.call('resume').success)


def test_the_end_by_a_signal_waits_until_the_arm_is_at_rest(moving_arm):
    nodes, network, at_rest = moving_arm
    network.lose = 3
    nodes.signal('scheduler', signal.SIGINT)
    assert nodes.wait('scheduler') == 0
    nodes.listener.until(at_rest)
    assert network.lost == 3


def test_a_robot_that_does_not_move_at_all_pauses_the_campaign(nodes, short, write):
    """It is there, listens and speaks: another mode of it is active, say."""
    short['protocol'].update(dwell=0.5, command=3.0, window=1.0)
    dimensions = short['target']['dimensions']
    dimensions['linear_x'].update(lower=0.2, upper=0.3)
    nodes.start_campaign(
        write(short), {'clock': 'system'}, attended=True, start_lead=0.3, seed=7,
        remappings={'simulated_robot': ('cmd_vel:=elsewhere',)},
    )  # fmt: skip
    told = 'the robot did not move in 2 attempts in a row'
    assert nodes.listener.phase(TestPhase.PAUSED, told).test.index == 1
    assert nodes.call('start').message == 'the campaign has begun already'


def test_a_robot_that_does_not_move_at_all_may_be_the_worst_result(nodes, short, write):
    short['protocol'].update(dwell=0.5, command=2.0, window=1.0)
    short['target']['dimensions']['linear_x'].update(lower=0.2, upper=0.3)
    short['measure']['validity'] = {'unanswered': 'result'}
    nodes.start_campaign(
        write(short), {'clock': 'system'}, start_lead=0.3, seed=7,
        remappings={'simulated_robot': ('cmd_vel:=elsewhere',)},
    )  # fmt: skip
    heard = nodes.listener.heard[topics.TEST_MEASUREMENT]
    nodes.listener.until(lambda: len(heard) > 1)
    assert {(each.psi, each.valid, each.code) for each in heard} == {(1.0, True, 'unanswered')}


def test_a_refused_request_pauses_the_campaign_and_is_told_with_its_code(
    nodes, robot_of, short, write
):
    short['protocol'].update(dwell=0.5, command=3.0, window=1.0)
    robot_of('unitree_sport', '--answers', '7302', '30')
    common = {'specification': str(write(short))}
    nodes.start('measurement', common)
    nodes.start('estimator', common)
    nodes.start(
        'scheduler',
        {**common, 'command_type': 'unitree_sport', 'campaign_id': 'lab', 'seed': 7,
         'guard': False, 'look_around': 0.0},
    )  # fmt: skip
    told = 'the robot refuses request 7105 with code 7302: it is in a wrong state'
    nodes.listener.phase(TestPhase.PAUSED, told)
    nodes.listener.until(lambda: nodes.call('resume').success)
    nodes.listener.phase(TestPhase.COMMAND)
