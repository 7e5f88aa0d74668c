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

"""The guard, a process of its own, stops robots of every type when the scheduler is gone."""

import json
import os
import subprocess
import sys

import pytest
from geometry_msgs.msg import PoseStamped, TwistStamped
from std_msgs.msg import String

from repsq_ros import topics
from repsq_ros.measurement.catalogue import TOOL_POSE
from repsq_ros.msg import Heartbeat, TestPhase
from repsq_ros.nodes import qos, translate
from repsq_ros.protocols.rotation import quaternion_of_rpy
from repsq_ros.protocols.straight_line import ToolPose

HERE = ToolPose((0.4, 0.1, 0.3), quaternion_of_rpy(3.0, 0.0, 0.5))


class Guarded:
    """A guard that watches a scheduler; the scheduler is lost with `lose`."""

    def __init__(self, nodes, kind, topic, parameters, remappings=()):
        self.nodes, self.node, self.until = nodes, nodes.listener.node, nodes.listener.until
        self.heard, self.watched = [], []
        scheduler = nodes.listener.speaker('scheduler')
        if kind is not None:
            self.node.create_subscription(kind, topic, self.heard.append, qos.COMMAND)
        self.node.create_subscription(
            Heartbeat, f'{topics.HEARTBEAT}/guard', self.watched.append, qos.HEARTBEAT
        )
        phases = scheduler.create_publisher(TestPhase, topics.TEST_PHASE, qos.RECORD)
        phases.publish(TestPhase(phase=TestPhase.COMMAND))
        self._beats = scheduler.create_publisher(
            Heartbeat, f'{topics.HEARTBEAT}/scheduler', qos.HEARTBEAT
        )
        self._heartbeat = scheduler.create_timer(0.05, lambda: self._beats.publish(Heartbeat()))
        # Long enough for a robot that is found late.
        nodes.start('guard', {'hold': 60.0, **parameters}, remappings)
        self.until(lambda: self.watched and self.watched[-1].ready)
        assert self.watched[-1].status == parameters['command_type']
        # Where this process is kept waiting, its scheduler falls silent before it is to.
        self.before = self.watched[-1].interventions
        self.heard.clear()

    def lose(self):
        self._heartbeat.cancel()

    def find(self):
        self._heartbeat.reset()


def test_stamped_twists(nodes):
    made = Guarded(
        nodes,
        TwistStamped,
        'held',
        {'command_type': 'twist_stamped', 'command_frame': 'pelvis'},
        ('cmd_vel:=held',),
    )
    made.lose()
    made.until(lambda: len(made.heard) > 2)
    assert all(each.twist.linear.x == 0.0 for each in made.heard)
    assert made.watched[-1].interventions == made.before + 1
    made.find()
    made.until(lambda: made.watched[-1].ready)
    made.nodes.listener.listen(0.2)
    count = len(made.heard)
    made.nodes.listener.listen(0.5)
    assert len(made.heard) == count, 'the scheduler speaks again'
    assert made.heard[0].header.frame_id == 'pelvis'


def test_scripts(nodes):
    made = Guarded(
        nodes,
        String,
        topics.SCRIPT_COMMAND,
        {'command_type': 'urscript', 'stop_acceleration': 3},
    )
    made.lose()
    # More than one: it never hears whether the arm has stopped, and what another one has sent.
    made.until(lambda: len(made.heard) > 1)
    assert {each.data for each in made.heard} == {'stopl(3.0)'}


def test_walking_targets(nodes):
    made = Guarded(nodes, PoseStamped, topics.TARGET_FRAME, {'command_type': 'pose_target'})
    tool = made.node.create_publisher(PoseStamped, TOOL_POSE, 10)
    made.lose()

    def held():
        tool.publish(translate.pose_stamped_of(HERE, 0, 'base'))
        return made.heard

    made.until(held)
    place = made.heard[0].pose.position
    assert ((place.x, place.y, place.z), made.heard[0].header.frame_id) == (HERE.position, 'base')


def test_people(nodes):
    made = Guarded(nodes, String, topics.INSTRUCTION, {'command_type': 'manual'})
    made.lose()
    made.until(lambda: made.heard)
    assert [each.data for each in made.heard] == ['stop: hold the robot']


ROBOT = """
import json

import rclpy
from unitree_api.msg import Request

rclpy.init()
node = rclpy.create_node('robot')


def hear(message):
    identity = message.header.identity
    print(json.dumps([identity.id, identity.api_id, json.loads(message.parameter)]), flush=True)


node.create_subscription(Request, 'api/sport/request', hear, 10)
rclpy.spin(node)
"""


def test_sport_requests(nodes, tmp_path, unitree_api):
    os.environ.update(unitree_api)
    output = tmp_path / 'heard'
    with output.open('wb') as file:
        robot = subprocess.Popen([sys.executable, '-c', ROBOT], stdout=file)
    try:
        parameters = {'command_type': 'unitree_sport', 'sport_duration': 0.25}
        made = Guarded(nodes, None, '', parameters)
        made.lose()
        made.until(lambda: output.read_text().count('\n') > 2)
    finally:
        robot.kill()
        robot.wait()
    heard = [json.loads(line) for line in output.read_text().splitlines()[:3]]
    (first, *_), (second, *_), (third, *_) = heard
    assert (second, third) == (first + 1, first + 2)
    stop = {'velocity': [0.0, 0.0, 0.0], 'duration': 0.25}
    assert all(rest == [7105, stop] for _, *rest in heard)


@pytest.mark.parametrize(
    ('parameters', 'code', 'told'),
    [
        ({'command_type': 'wheel'}, 2,
         "parameter command_type: found text 'wheel', expected one of twist, twist_stamped, "
         'unitree_sport, manual, urscript, pose_target'),
        ({'command_type': 'urscript', 'stop_acceleration': 0}, 2,
         'parameter stop_acceleration: found 0, expected a finite number > 0'),
        ({'command_type': 'unitree_sport'}, 5,
         'command_type unitree_sport sends unitree_api/msg/Request, but unitree_api is not '
         "installed here: build it from Unitree's unitree_ros2 and source its workspace"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_told_in_one_line(nodes, parameters, code, told):
    if code == 5 and subprocess.run(
        [sys.executable, '-c', 'import unitree_api.msg'], check=False, capture_output=True
    ).returncode == 0:  # fmt: skip
        pytest.skip('unitree_api is installed')
    nodes.start('guard', parameters)
    assert nodes.wait('guard') == code
    assert nodes.output('guard').strip() == f'guard: {told}'
