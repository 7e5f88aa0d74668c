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

"""Nobody else's word: who else speaks on our topics holds the campaign, and is not counted."""

import math
import re
import signal
import time

import pytest
import rclpy
from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter
from support.campaigns import journalled
from support.graph import at_rest

from repsq_ros import topics
from repsq_ros.launching.campaign_nodes import SIMULATION
from repsq_ros.msg import (
    CountedTest,
    Estimate,
    Heartbeat,
    QuantizedResult,
    TestCommand,
    TestMeasurement,
    TestPhase,
)
from repsq_ros.nodes import qos
from repsq_ros.nodes.deferred_messages import DeferredMessages
from repsq_ros.nodes.runtime import own_node
from repsq_ros.nodes.watches import publishers as publishers_module
from repsq_ros.nodes.watches.publishers import PublisherCheck
from repsq_ros.specification.load import load

REAL_TIME = {'speed': 1.0, 'seed': 7}
# As on a robot: its time waits for nobody.
ATTENDED = {'attended': True, 'start_lead': 0.3, 'seed': 7, 'guard': True, 'lockstep': False}


@pytest.fixture
def long(short, write):
    short['protocol'].update(dwell=0.3, command=60.0, window=1.0)
    return write(short)


@pytest.fixture
def moving(nodes, long, tmp_path):
    """A campaign in the middle of its first command, in real time, with a guard."""
    nodes.start_campaign(long, REAL_TIME, **ATTENDED, output=str(tmp_path / 'campaign'))
    nodes.listener.phase(TestPhase.COMMAND)
    nodes.listener.until_moving()
    return nodes


class Rival:
    """Another node that publishes on a topic of ours."""

    def __init__(self, listener, name, kind, topic, profile):
        self._node = rclpy.create_node(name, context=listener.node.context)
        self._publisher = self._node.create_publisher(kind, topic, profile)

    def say(self, message):
        self._publisher.publish(message)

    @property
    def audience(self):
        return self._publisher.get_subscription_count()

    def go(self):
        self._node.destroy_node()


def forged(digest, psi):
    return TestMeasurement(
        campaign_id='lab', specification_digest=digest, psi=psi, weight=1.0, valid=True,
        x=[0.1, 0.1, 0.1], weight_bound=1.0,
    )  # fmt: skip


RIVALS = [
    ('teleop', Twist, topics.COMMAND_VELOCITY, qos.COMMAND,
     '/teleop on /cmd_vel beside /scheduler and /guard'),
    ('forger', TestMeasurement, topics.TEST_MEASUREMENT, qos.RECORD,
     '/forger on /repsq/test_measurement beside /measurement'),
    ('driver', Odometry, 'odom', qos.COMMAND,
     'publishers: 2 on /odom (/driver, /simulated_robot)'),
    ('player', TestPhase, topics.TEST_PHASE, qos.RECORD,
     '/player on /repsq/test_phase beside /scheduler'),
]  # fmt: skip


def test_another_publisher_holds_the_campaign_until_it_is_gone(moving):
    for name, kind, topic, profile, told in RIVALS:
        moving.listener.phases().clear()
        rival = Rival(moving.listener, name, kind, topic, profile)
        # On a busy machine, something else may have held it first.
        moving.listener.until(lambda told=told: told in moving.output('scheduler'))
        moving.listener.phase(TestPhase.PAUSED)
        assert any(phase.broken_off for phase in moving.listener.phases())
        moving.listener.assert_at_rest()
        assert told in moving.call('resume').message
        rival.go()
        again = moving.listener.phase(TestPhase.COMMAND)
        assert again.test.index == 0
        assert again.test.attempt >= 1
        moving.listener.until_moving()


def test_nothing_begins_beside_another_publisher(nodes, long):
    rival = Rival(nodes.listener, 'teleop', Twist, topics.COMMAND_VELOCITY, qos.COMMAND)
    nodes.start_campaign(long, REAL_TIME, **ATTENDED, look_around=6.0)  # as long as it may take
    told = 'not yet: /teleop on /cmd_vel beside /scheduler and /guard'
    nodes.listener.until(lambda: told in nodes.output('scheduler'))
    nodes.listener.listen(2.0)
    assert all(map(at_rest, nodes.listener.commands()))
    rival.go()
    nodes.listener.phase(TestPhase.COMMAND)


def test_a_simulated_campaign_finds_who_was_there_before_it(nodes, short, write, tmp_path):
    """It looks around for a second only."""
    rival = Rival(nodes.listener, 'teleop', Twist, topics.COMMAND_VELOCITY, qos.COMMAND)
    folder, look = tmp_path / 'campaign', SIMULATION['scheduler']['look_around']
    nodes.start_campaign(
        write(short), {'speed': 0.0}, **ATTENDED, output=str(folder), look_around=look,
        peer_settled=1.0,
    )  # fmt: skip
    told = '/teleop on /cmd_vel beside /scheduler and /guard'
    nodes.listener.until(lambda: told in nodes.output('scheduler'))
    nodes.listener.listen(2.0)
    assert not any(test.valid for test in journalled(folder))
    rival.go()
    nodes.listener.until(lambda: any(test.valid for test in journalled(folder)))


@pytest.mark.parametrize('psi', [0.001, math.nan])
def test_a_forged_measurement_is_not_counted(moving, long, tmp_path, psi):
    listener = moving.listener
    rival = Rival(listener, 'forger', TestMeasurement, topics.TEST_MEASUREMENT, qos.RECORD)
    for _ in range(40):
        rival.say(forged(load(long).digest, psi))
        listener.listen(0.02)
    listener.until(lambda: '/forger on /repsq/test_measurement' in moving.output('scheduler'))
    rival.go()
    listener.phase(TestPhase.COMMAND)
    tests = journalled(tmp_path / 'campaign')
    assert tests
    assert all(test.broken_off for test in tests)
    estimate = listener.latest(topics.ESTIMATE, lambda estimate: estimate.broken_off)
    assert (estimate.n, estimate.broken_off) == (0, len(tests))
    # Its name may not be known yet.
    wanted = 'not counted: (/forger|NODE_NAME_UNKNOWN|a node that .*) on /repsq/test_meas'
    listener.until(lambda: re.search(wanted, moving.output('estimator')))


def test_a_phase_that_is_none_ends_no_node(moving):
    rival = Rival(moving.listener, 'forger', TestPhase, topics.TEST_PHASE, qos.RECORD)
    for phase in (200, TestPhase.ABORTED):
        rival.say(TestPhase(test=TestCommand(campaign_id='lab'), phase=phase))
    moving.listener.until(lambda: '/forger on /repsq/test_phase' in moving.output('scheduler'))
    rival.go()
    moving.listener.until(lambda: moving.listener.phases()[-1].test.attempt == 1)
    assert moving.group.ended() == {}


def test_a_parameter_that_is_read_at_the_start_cannot_be_changed(moving):
    request = SetParameters.Request(
        parameters=[Parameter('use_sim_time', value=False).to_parameter_msg()]
    )
    for node in ('scheduler', 'measurement', 'estimator', 'guard'):
        client = moving.listener.node.create_client(SetParameters, f'/{node}/set_parameters')
        moving.listener.until(client.service_is_ready)
        future = client.call_async(request)
        moving.listener.until(future.done)
        (result,) = future.result().results
        assert not result.successful, node
        assert result.reason == 'use_sim_time is read at the start; restart the node'
    moving.listener.listen(1.0)
    moving.listener.phase(TestPhase.COMMAND)
    assert moving.group.ended() == {}


def test_a_robot_that_takes_no_commands_any_more_holds_the_campaign(nodes, long):
    """Nobody but the test listens to the scheduler: the robot is on a topic of its own."""
    robot = {**REAL_TIME, 'clock': 'system'}
    listener = nodes.listener
    nodes.start_campaign(
        long, robot, **ATTENDED, remappings={'simulated_robot': ('cmd_vel:=elsewhere',)}
    )
    listener.phase(TestPhase.COMMAND)
    listener.until_moving()
    (subscription,) = [s for s in listener.node.subscriptions if s.topic_name == '/cmd_vel']
    listener.node.destroy_subscription(subscription)
    listener.phase(TestPhase.PAUSED, 'missing a robot that takes commands on /cmd_vel')
    listener.node.create_subscription(Twist, '/cmd_vel', listener.commands().append, qos.COMMAND)
    assert listener.phase(TestPhase.COMMAND).test.attempt == 1


def hide_names(watching, monkeypatch):
    """Have a node see publishers without their names, as for a moment in discovery."""
    see = watching.get_publishers_info_by_topic

    def without_names(topic):
        found = see(topic)
        for each in found:
            each.node_name = each.node_namespace = '_NODE_NAME_UNKNOWN_'
        return found

    monkeypatch.setattr(watching, 'get_publishers_info_by_topic', without_names)


def records_through(nodes, name):
    """Return what is heard of measurements that a node of a name sends, and who watches it.

    Nothing is taken from the middleware yet.
    """
    watching = nodes.listener.speaker('watching')
    check, heard = PublisherCheck(watching, {topics.TEST_MEASUREMENT: ('measurement',)}), []
    deferred = DeferredMessages(watching, check, topics.TEST_MEASUREMENT, heard.append)
    taken = []
    watching.create_subscription(
        TestMeasurement, topics.TEST_MEASUREMENT,
        lambda message, info: (taken.append(message), deferred.take(message, info)), qos.RECORD,
    )  # fmt: skip
    speaker = nodes.listener.speaker(name)
    publisher = speaker.create_publisher(TestMeasurement, topics.TEST_MEASUREMENT, qos.RECORD)
    for index in range(3):
        publisher.publish(TestMeasurement(index=index))
    return watching, check, taken, heard


@pytest.mark.parametrize(('name', 'expected'), [('measurement', [0, 1, 2]), ('forger', [])])
def test_what_a_nameless_publisher_says_waits_for_its_name(nodes, monkeypatch, name, expected):
    hide_names(nodes.listener.speaker('watching'), monkeypatch)
    watching, _, taken, heard = records_through(nodes, name)
    nodes.listener.until(lambda: len(taken) == 3)
    nodes.listener.listen(0.3)
    assert heard == []
    monkeypatch.undo()
    nodes.listener.until(lambda: 'measurement' in names_on(watching) or name == 'forger')
    nodes.listener.listen(0.5)
    assert [message.index for message in heard] == expected


def test_who_goes_before_it_has_a_name_is_not_believed(nodes, monkeypatch):
    hide_names(nodes.listener.speaker('watching'), monkeypatch)
    watching, _, taken, heard = records_through(nodes, 'measurement')
    nodes.listener.until(lambda: len(taken) == 3)
    fall_silent(nodes, 'measurement', watching)
    monkeypatch.undo()
    nodes.listener.listen(0.5)
    assert heard == []


def test_what_a_stranger_left_behind_is_not_counted(nodes):
    """Its messages wait in the middleware, where nobody can tell any more whose they are."""
    watching, check, taken, heard = records_through(nodes, 'forger')
    while not check.blockers():
        check.look()
    fall_silent(nodes, 'forger', watching)
    nodes.listener.until(lambda: len(taken) == 3)
    nodes.listener.listen(0.5)
    assert heard == []


def fall_silent(nodes, name, watching):
    """Destroy the publisher that a node has, without taking a message, until this is seen."""
    speaker = nodes.listener.speaker(name)
    (publisher,) = [each for each in speaker.publishers if 'test_measurement' in each.topic_name]
    speaker.destroy_publisher(publisher)
    while watching.count_publishers(topics.TEST_MEASUREMENT):
        time.sleep(0.01)


def names_on(watching):
    found = watching.get_publishers_info_by_topic(f'/{topics.TEST_MEASUREMENT}')
    return {each.node_name for each in found}


def test_who_never_has_a_name_is_not_believed(nodes, monkeypatch):
    monkeypatch.setattr(publishers_module, 'NAMED', 0.5)
    hide_names(nodes.listener.speaker('watching'), monkeypatch)
    *_, taken, heard = records_through(nodes, 'measurement')
    nodes.listener.until(lambda: len(taken) == 3)
    nodes.listener.listen(1.0)
    monkeypatch.undo()
    nodes.listener.listen(0.5)
    assert heard == []


# Impostors: nodes that have a name of ours ------------------------------------------------------

OURS = [
    ('scheduler', TestCommand, topics.TEST_COMMAND, qos.RECORD),
    ('scheduler', TestPhase, topics.TEST_PHASE, qos.RECORD),
    ('measurement', TestMeasurement, topics.TEST_MEASUREMENT, qos.RECORD),
    ('estimator', Estimate, topics.ESTIMATE, qos.RECORD),
    ('estimator', CountedTest, topics.COUNTED_TEST, qos.WHOLE),
    ('estimator', QuantizedResult, topics.QUANTIZED_RESULT, qos.LATCHED),
    ('guard', Twist, topics.COMMAND_VELOCITY, qos.COMMAND),
    *(
        (role, Heartbeat, f'{topics.HEARTBEAT}/{role}', qos.HEARTBEAT)
        for role in ('scheduler', 'guard', 'measurement', 'estimator')
    ),
]


@pytest.fixture
def launched(nodes, long, tmp_path):
    """A campaign in the middle of its first command whose nodes know their launch."""
    folder = str(tmp_path / 'campaign')
    nodes.start_campaign(long, REAL_TIME, **ATTENDED, output=folder, launch_id='launch-7')
    nodes.listener.phase(TestPhase.COMMAND)
    nodes.listener.until_moving()
    return nodes


def test_an_impostor_on_any_topic_pauses_the_campaign_until_it_is_gone(launched):
    impostors = [Rival(launched.listener, *each) for each in OURS]
    launched.listener.phase(TestPhase.PAUSED)
    for name, _, topic, _ in OURS:
        told = f'another process named /{name} on /{topic}'
        launched.listener.until(lambda told=told: told in launched.call('resume').message)
    launched.listener.assert_at_rest()
    for impostor in impostors:
        impostor.go()
    launched.listener.phase(TestPhase.COMMAND)


def test_what_an_impostor_measures_is_not_counted(launched, long, tmp_path):
    impostor = Rival(
        launched.listener, 'measurement', TestMeasurement, topics.TEST_MEASUREMENT, qos.RECORD
    )
    for _ in range(40):
        impostor.say(forged(load(long).digest, 0.001))
        launched.listener.listen(0.02)
    launched.listener.phase(TestPhase.PAUSED)
    impostor.go()
    launched.listener.phase(TestPhase.COMMAND)
    tests = journalled(tmp_path / 'campaign')
    assert tests
    assert all(test.broken_off for test in tests)
    assert launched.listener.latest(topics.ESTIMATE, lambda e: e.broken_off).n == 0


def test_an_impostor_cannot_end_the_campaign(launched):
    impostor = Rival(launched.listener, 'estimator', Estimate, topics.ESTIMATE, qos.RECORD)
    for _ in range(20):
        impostor.say(Estimate(campaign_id='lab', stopped=True))
        launched.listener.listen(0.02)
    impostor.go()
    launched.says('scheduler', 'not counted: ')
    launched.listener.listen(1.0)
    launched.listener.phase(TestPhase.COMMAND)
    assert launched.group.ended() == {}


def test_what_an_impostor_said_first_is_not_counted_either(nodes, long, tmp_path):
    listener = nodes.listener
    impostor = Rival(listener, 'measurement', TestMeasurement, topics.TEST_MEASUREMENT, qos.RECORD)
    for _ in range(3):
        impostor.say(forged(load(long).digest, 0.001))
    folder = str(tmp_path / 'campaign')
    nodes.start_campaign(
        long, REAL_TIME, **ATTENDED, output=folder, launch_id='launch-7', look_around=6.0
    )
    told = 'not yet: another process named /measurement on /repsq/test_measurement'
    listener.until(lambda: told in nodes.output('scheduler'))
    assert all(map(at_rest, listener.commands()))
    impostor.go()
    listener.phase(TestPhase.COMMAND)
    assert list(journalled(tmp_path / 'campaign')) == []
    assert listener.heard[topics.ESTIMATE] == []


def test_who_came_spoke_and_went_while_a_node_stood_still_is_not_counted(nodes):
    topic, listener, heard = topics.TEST_MEASUREMENT, nodes.listener, []
    arrived = listener.heard[topic]
    with own_node('estimator') as (node, executor):

        def counted(count):
            executor.spin_once(timeout_sec=0.05)
            return len(heard) == count

        check = PublisherCheck(node, {topic: ('measurement',)})
        deferred = DeferredMessages(node, check, topic, heard.append)
        node.create_subscription(TestMeasurement, topic, deferred.take, qos.RECORD)
        ours = Rival(listener, 'measurement', TestMeasurement, topic, qos.RECORD)
        ours.say(TestMeasurement(index=0))
        listener.until(lambda: counted(1))
        # It stands still from here on; its middleware does not.
        impostor = Rival(listener, 'forger', TestMeasurement, topic, qos.RECORD)
        listener.until(lambda: impostor.audience == ours.audience)
        for _ in range(3):
            impostor.say(TestMeasurement(index=9))
        listener.until(lambda: len(arrived) == 4)
        ours.say(TestMeasurement(index=1))
        listener.until(lambda: len(arrived) == 5)
        impostor.go()
        listener.until(lambda: node.count_publishers(topic) == 1)
        # What waits of ours is refused, too, and asked for again.
        executor.spin_once(timeout_sec=1.0)
        assert check.blockers() == [f'a node that has gone on /{topic} beside /measurement']
        ours.say(TestMeasurement(index=1))
        listener.until(lambda: counted(2))
        # One of ours in the place of another is no stranger, and begins to number anew.
        ours.go()
        again = Rival(listener, 'measurement', TestMeasurement, topic, qos.RECORD)
        listener.until(lambda: again.audience == 2)
        again.say(TestMeasurement(index=2))
        listener.until(lambda: counted(3))
    assert [each.index for each in heard] == [0, 1, 2]


@pytest.mark.parametrize('launch', ['', 'launch-8'])
def test_a_heartbeat_of_somebody_else_is_no_sign_of_life(launched, launch):
    beats = launched.listener.speaker('scheduler').create_publisher(
        Heartbeat, f'{topics.HEARTBEAT}/scheduler', qos.HEARTBEAT
    )
    beat = Heartbeat(node='/scheduler', launch_id=launch, ready=True)
    launched.listener.speaker('scheduler').create_timer(0.05, lambda: beats.publish(beat))
    launched.listener.phase(TestPhase.PAUSED)
    launched.signal('scheduler', signal.SIGKILL)
    launched.says('guard', 'no sign of life from the scheduler')


def test_a_program_that_is_no_ros_node_can_be_allowed_by_name(nodes, monkeypatch):
    watching, bare = nodes.listener.speaker('watching'), publishers_module.BARE_DDS
    topic, see = topics.SPORT_REQUEST, watching.get_publishers_info_by_topic
    sdk = Rival(nodes.listener, 'sdk', Twist, topic, qos.COMMAND)
    nodes.listener.until(lambda: watching.count_publishers(topic) == 1)

    def by_a_bare_program(name):
        found = see(name)
        for each in found:
            each.node_name = each.node_namespace = bare
        return found

    monkeypatch.setattr(watching, 'get_publishers_info_by_topic', by_a_bare_program)
    for allowed, wanted in (((), [f'{bare} on /{topic} beside /scheduler']), ((bare,), [])):
        check = PublisherCheck(watching, {topic: ('scheduler', *allowed)})
        check.look()
        assert check.blockers() == wanted
    sdk.go()
