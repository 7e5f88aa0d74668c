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

"""Every type of command over real DDS: what the robot hears, and what it never hears."""

import itertools
import math
import os

import pytest
import rclpy
from geometry_msgs.msg import PoseStamped, Twist, TwistStamped
from rclpy.parameter import Parameter
from std_msgs.msg import String

from repsq_ros import topics
from repsq_ros.errors import CampaignError, MissingError, ParameterError
from repsq_ros.measurement.catalogue import TOOL_POSE
from repsq_ros.nodes import qos, translate
from repsq_ros.nodes.commands.pose_target import LONGEST_STEP
from repsq_ros.nodes.commands.robot_command import make_robot_command
from repsq_ros.nodes.parameters import Parameters
from repsq_ros.protocols.command_space import CommandSpace
from repsq_ros.protocols.rotation import angle_between, quaternion_of_rpy
from repsq_ros.protocols.straight_line import ToolPose
from repsq_ros.protocols.urscript import movel, stopl

VELOCITIES = CommandSpace('velocity', ((-0.5, 0.5), (0.0, 0.0), (-1.0, 1.0)), longest_ramp=2.0)
BOX = ((0.2, 0.6), (-0.4, 0.4), (0.1, 0.5), (math.pi, math.pi), (0.0, 0.0), (-1.0, 1.0))
POSES = CommandSpace('pose', BOX, 'base', speed=1.0, acceleration=5.0)
THERE = (0.4, 0.1, 0.3, math.pi, 0.0, 0.5)
BEYOND = ToolPose((0.2, 0.1, 0.3), quaternion_of_rpy(math.pi, 0.0, 0.5))
HERE = ToolPose((0.42, 0.1, 0.3), quaternion_of_rpy(math.pi, 0.0, 0.5))


class Commanding:
    """A command, in a node as the scheduler is one, and the robot that it goes to."""

    def __init__(self, nodes, space, parameters):
        self.listener, self.robot = nodes.listener, nodes.listener.node
        overrides = [Parameter(name, value=value) for name, value in parameters.items()]
        self.node = rclpy.create_node(
            'scheduler', namespace='lab', context=self.robot.context,
            parameter_overrides=overrides,
        )  # fmt: skip
        self.listener.executor.add_node(self.node)
        self.heard = []
        self.command = make_robot_command(
            self.node, Parameters(self.node), space, lambda: 5_000_000_007
        )

    def until(self, condition):
        self.listener.until(condition)

    def robot_takes(self, kind, topic):
        """Have the robot there, and found."""
        self.robot.create_subscription(kind, f'/lab/{topic}', self.heard.append, 1000)
        self.until(lambda: 'a robot' not in self.command.missing())

    def tool_is_at(self, publisher, pose, frame='base'):
        publisher.publish(translate.pose_stamped_of(pose, 0, frame))
        self.listener.executor.spin_once(timeout_sec=0.01)


@pytest.fixture
def commanding(nodes):
    made = []

    def make(space, **parameters):
        made.append(Commanding(nodes, space, parameters))
        return made[-1]

    yield make
    for each in made:
        each.node.destroy_node()


# Velocities --------------------------------------------------------------------------------------


def numbers(twist):
    return (twist.linear.x, twist.linear.y, twist.angular.z)


def test_twist_is_what_velocities_are_sent_as(commanding):
    made = commanding(VELOCITIES)
    assert made.command.topic == '/lab/cmd_vel'
    assert made.command.missing() == 'a robot that takes commands on /lab/cmd_vel'
    made.robot_takes(Twist, topics.COMMAND_VELOCITY)
    assert made.command.missing() == ''
    made.command.publish((0.25, 0.0, -1.0))
    made.command.stop()
    made.command.wait_for_all_acked()
    made.until(lambda: len(made.heard) == 2)
    assert [numbers(each) for each in made.heard] == [(0.25, 0.0, -1.0), (0.0, 0.0, 0.0)]


def test_stamped_twists_have_a_frame_and_a_time(commanding):
    made = commanding(VELOCITIES, command_type='twist_stamped', command_frame='pelvis')
    made.robot_takes(TwistStamped, topics.COMMAND_VELOCITY)
    made.command.publish((0.25, 0.0, 0.0))
    made.until(lambda: made.heard)
    (heard,) = made.heard
    assert numbers(heard.twist) == (0.25, 0.0, 0.0)
    assert (heard.header.frame_id, heard.header.stamp.sec) == ('pelvis', 5)


def test_a_robot_that_takes_another_message_is_named(commanding):
    made = commanding(VELOCITIES)
    # A process of its own: one process cannot have two types on a topic.
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=int(os.environ['ROS_DOMAIN_ID']))
    bridge = rclpy.create_node('bridge', context=context)
    bridge.create_subscription(TwistStamped, '/lab/cmd_vel', made.heard.append, 10)
    made.until(lambda: 'bridge' in made.command.missing())
    assert made.command.missing() == (
        'a robot that takes commands on /lab/cmd_vel (bridge takes '
        'geometry_msgs/msg/TwistStamped, not geometry_msgs/msg/Twist: see command_type)'
    )
    bridge.destroy_node()
    rclpy.shutdown(context=context)


def test_velocities_are_ramped_and_stops_are_not(commanding):
    made = commanding(VELOCITIES, acceleration_linear=0.25, acceleration_angular=1)
    made.robot_takes(Twist, topics.COMMAND_VELOCITY)
    made.command.stop()
    made.command.publish((0.5, 0.0, 1.0))
    made.command.stop()
    made.until(lambda: len(made.heard) == 3)
    assert [numbers(each) for each in made.heard][::2] == [(0.0, 0.0, 0.0)] * 2
    assert made.heard[1].linear.x < 0.5


@pytest.mark.parametrize('bad', [(0.51, 0.0, 0.0), (0.1, 0.1, 0.0), (math.nan, 0.0, 0.0), (0.1,)])
def test_what_is_beyond_the_space_stops_the_robot(commanding, bad):
    made = commanding(VELOCITIES)
    made.robot_takes(Twist, topics.COMMAND_VELOCITY)
    made.command.publish((0.5, 0.0, 0.0))
    with pytest.raises(CampaignError, match='command refused, the robot was stopped instead: '):
        made.command.publish(bad)
    made.until(lambda: len(made.heard) == 2)
    assert [numbers(each) for each in made.heard] == [(0.5, 0.0, 0.0), (0.0, 0.0, 0.0)]


@pytest.mark.parametrize(
    ('space', 'parameters', 'told'),
    [
        (VELOCITIES, {'command_type': 'urscript'},
         "command_type: found text 'urscript', expected one of twist, twist_stamped, "
         'unitree_sport, manual'),
        (POSES, {'command_type': 'twist'},
         "command_type: found text 'twist', expected one of urscript, pose_target, manual"),
        (VELOCITIES, {'acceleration_linear': 0.2}, 'found a ramp of 2.5 s, expected one of 2 s'),
        (VELOCITIES, {'limit_linear': 0.4},
         'limit_linear: found 0.4 m/s, and a specification whose linear_x reaches 0.5, expected '
         'a specification within it, or a limit of 0.5 at least'),
        (VELOCITIES, {'limit_angular': 0.9, 'command_type': 'manual'},
         'limit_angular: found 0.9 rad/s, and a specification whose angular_z reaches 1'),
        (VELOCITIES, {'limit_linear': -1}, 'limit_linear: found -1'),
        (VELOCITIES, {'command_type': 'unitree_sport', 'sport_duration': 0.2},
         'sport_duration: found 0.2, expected a finite number > 0.2'),
        (VELOCITIES, {'command_type': 'unitree_sport', 'sport_duration': 3},
         'sport_duration: found 3, expected at most 2 s'),
        (POSES, {'workspace': '0.2 0.6 -0.4 0.4 0.2 0.5'},
         'workspace: found z from 0.2 to 0.5 m, and a specification that reaches from 0.1 to '
         '0.5 m, expected a specification within it'),
        (POSES, {'workspace': [1.0, 0.0, 0.0, 1.0, 0.0, 1.0]},
         'workspace: found x from 1 to 0 m, expected the smaller one first'),
        (POSES, {'workspace': '1 2 3'}, 'workspace: found'),
        (POSES, {'workspace': [True]}, 'expected 6 finite numbers, or nothing'),
        (POSES, {'workspace': '0 1 0 1 0 x'}, 'expected 6 finite numbers, or nothing'),
        (POSES, {'workspace': '0 1 0 1 0 inf'}, 'expected 6 finite numbers, or nothing'),
        (CommandSpace('pose', BOX, 'world', 1.0, 1.0), {},
         "command_type: found urscript, with poses in the frame 'world', expected poses in the "
         "robot's own frame 'base'"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_at_the_start(commanding, space, parameters, told):
    with pytest.raises(ParameterError) as caught:
        commanding(space, **parameters)
    assert told in str(caught.value)


@pytest.mark.parametrize(
    'workspace',
    ['', '0.2 0.6 -0.4 0.4 0.1 0.5', '0, 1, -1, 1, 0, 1', [0, 1, -1, 1, 0, 1],
     [0.2, 0.6, -0.4, 0.4, 0.1, 0.5], None],
)  # fmt: skip
def test_a_workspace_is_given_in_any_form(commanding, workspace):
    assert commanding(POSES, workspace=workspace).command.topic.startswith('/lab/urscript')


def test_unitree_messages_that_are_not_installed_are_told(commanding):
    try:
        import unitree_api.msg  # noqa: F401
    except ImportError:
        with pytest.raises(MissingError) as caught:
            commanding(VELOCITIES, command_type='unitree_sport')
        assert str(caught.value).startswith(
            'command_type unitree_sport sends unitree_api/msg/Request, but unitree_api is not'
        )
        assert caught.value.exit_code == 5


# URScript ----------------------------------------------------------------------------------------


def test_scripts_are_sent_once_for_each_change(commanding):
    made = commanding(POSES)
    assert made.command.topic == '/lab/urscript_interface/script_command'
    made.robot_takes(String, topics.SCRIPT_COMMAND)
    other = (0.3, *THERE[1:])
    for step in (None, None, THERE, THERE, other, THERE, None, (), THERE, (), ()):
        if step is None:
            made.command.stop()
        else:
            made.command.publish(step)
    stop, there = stopl(5.0), movel(THERE, 5.0, 1.0)
    wanted = [stop, there, movel(other, 5.0, 1.0), there, stop, there, stop]
    made.until(lambda: len(made.heard) == len(wanted))
    assert [each.data for each in made.heard] == wanted


def test_a_pose_beyond_the_space_stops_the_arm(commanding):
    made = commanding(POSES)
    made.robot_takes(String, topics.SCRIPT_COMMAND)
    made.command.publish(THERE)
    with pytest.raises(CampaignError, match=r'x = 0\.7 m, expected 0\.2 to 0\.6'):
        made.command.publish((0.7, *THERE[1:]))
    made.until(lambda: len(made.heard) == 2)
    assert made.heard[-1].data == stopl(5.0)


# A walking target --------------------------------------------------------------------------------


@pytest.fixture
def walking(commanding):
    """A Cartesian controller that takes targets, and a robot that can tell where its tool is."""
    made = commanding(POSES, command_type='pose_target')
    made.robot_takes(PoseStamped, topics.TARGET_FRAME)
    made.tool = made.robot.create_publisher(PoseStamped, f'/lab/{TOOL_POSE}', 10)
    made.until(lambda: made.tool.get_subscription_count() > 0)
    return made


def pose_of(message):
    place, turn = message.pose.position, message.pose.orientation
    return ToolPose((place.x, place.y, place.z), (turn.x, turn.y, turn.z, turn.w))


def same(one, other):
    return (
        math.dist(one.position, other.position) < 1e-9
        and angle_between(one.orientation, other.orientation) < 1e-9
    )


def know_the_tool(made, pose=HERE):
    def known():
        made.tool_is_at(made.tool, pose)
        return not made.command.missing()

    made.until(known)


def hold_at(made, pose):
    """Stop with the tool at a pose, until it is held there."""

    def held():
        made.tool_is_at(made.tool, pose)
        made.command.stop()
        return made.heard and same(pose_of(made.heard[-1]), pose)

    made.until(held)


def walk_until(made, command, condition):
    def walked():
        made.tool_is_at(made.tool, HERE)
        made.command.publish(command)
        return condition()

    made.until(walked)


def test_nothing_is_sent_while_the_tool_may_be_anywhere(walking):
    wanted = 'the tool pose on /lab/tool_pose (nothing heard)'
    assert walking.command.missing() == wanted
    walking.command.publish(THERE)
    walking.command.publish(())
    walking.command.stop()
    hold_at(walking, HERE)
    assert walking.heard[0].header.frame_id == 'base'
    # Silence: it may be anywhere again.
    walking.until(lambda: 'last heard' in walking.command.missing())
    assert 'at most 0.5 s allowed' in walking.command.missing()
    sent = len(walking.heard)
    walking.command.publish(THERE)
    walking.command.stop()  # a target that stands still holds the tool, too
    hold_at(walking, BEYOND)
    assert all(same(pose_of(each), HERE) for each in walking.heard[:sent])
    assert all(same(pose_of(each), BEYOND) for each in walking.heard[sent:])


@pytest.mark.parametrize(
    ('pose', 'frame', 'told'),
    [
        (HERE, 'world', "frame_id 'world', expected 'base'"),
        (ToolPose((math.nan, 0.0, 0.0), HERE.orientation), 'base', 'NaN or infinity in a pose'),
        (
            ToolPose(HERE.position, (0.0, 0.0, 0.0, 0.0)),
            'base',
            'a quaternion of norm 0, expected 1',
        ),
    ],
)
def test_a_tool_pose_that_says_nothing_is_told(walking, pose, frame, told):
    know_the_tool(walking)

    def heard():
        walking.tool_is_at(walking.tool, pose, frame)
        return walking.command.missing() == f'the tool pose on /lab/tool_pose ({told})'

    walking.until(heard)
    walking.command.publish(THERE)
    know_the_tool(walking, BEYOND)
    hold_at(walking, BEYOND)
    assert all(same(pose_of(each), BEYOND) for each in walking.heard)


def test_the_target_walks_from_the_tool_and_arrives(walking):
    target = ToolPose(THERE[:3], quaternion_of_rpy(*THERE[3:]))
    know_the_tool(walking)
    walk_until(walking, THERE, lambda: walking.heard and pose_of(walking.heard[-1]) == target)
    way = [pose_of(each) for each in walking.heard]
    assert same(way[0], HERE)
    for one, two in itertools.pairwise(way):
        assert math.dist(one.position, two.position) <= POSES.speed * LONGEST_STEP
        assert two.position[0] <= one.position[0]
        assert two.position[1:] == pytest.approx(HERE.position[1:])
    # Streamed on, and on to the next from there.
    count = len(walking.heard)
    walk_until(walking, THERE, lambda: len(walking.heard) > count)
    assert pose_of(walking.heard[-1]) == target


def test_a_hold_is_where_the_tool_is_and_does_not_creep(walking):
    know_the_tool(walking)
    walk_until(walking, THERE, lambda: len(walking.heard) > 2)
    hold_at(walking, HERE)
    sagged = ToolPose((*HERE.position[:2], HERE.position[2] - 0.004), HERE.orientation)
    count = len(walking.heard)

    def held_on():
        walking.tool_is_at(walking.tool, sagged)
        walking.command.stop()
        return len(walking.heard) >= count + 20

    walking.until(held_on)
    assert same(pose_of(walking.heard[-1]), HERE)
    # Somebody has moved it: it is not drawn back.
    hold_at(walking, ToolPose((*HERE.position[:2], HERE.position[2] - 0.1), HERE.orientation))


# People ------------------------------------------------------------------------------------------


def test_people_are_told_once_for_each_change(commanding):
    made = commanding(POSES, command_type='manual')
    assert (made.command.topic, made.command.missing()) == ('/lab/repsq/instruction', '')
    for step in (None, None, THERE, THERE, (), None, THERE):
        if step is None:
            made.command.stop()
        else:
            made.command.publish(step)
    late = []
    made.robot.create_subscription(String, '/lab/repsq/instruction', late.append, qos.LATCHED)
    made.until(lambda: late)
    move = (
        'move to x = 0.4 m, y = 0.1 m, z = 0.3 m, roll = 3.14159 rad, pitch = 0 rad, '
        'yaw = 0.5 rad, then confirm: ros2 service call /lab/scheduler/confirm '
        'std_srvs/srv/Trigger'
    )
    assert [each.data for each in late] == [move]
    made.command.stop()
    made.until(lambda: len(late) == 2)
    made.command.publish(THERE)
    made.until(lambda: len(late) == 3)
    assert [each.data for each in late] == [move, 'stop: hold the robot', move]


def test_people_are_told_velocities(commanding):
    made = commanding(VELOCITIES, command_type='manual')
    heard = []
    made.robot.create_subscription(String, '/lab/repsq/instruction', heard.append, qos.LATCHED)
    made.command.publish((0.0, 0.0, 0.0))
    made.until(lambda: heard)
    made.command.publish((0.2, 0.0, 0.0))
    made.until(lambda: len(heard) == 2)
    assert [each.data for each in heard] == [
        'stop: hold the robot', 'command linear_x = 0.2 m/s, linear_y = 0 m/s, angular_z = 0 rad/s'
    ]  # fmt: skip
