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

"""Conditions that are watched while the campaign runs, over real DDS."""

import os
import time

import pytest
import rclpy
from rclpy.qos import QoSProfile
from sensor_msgs.msg import BatteryState
from std_msgs.msg import Float64, Int32

from repsq_ros import topics
from repsq_ros.measurement.inputs import Input
from repsq_ros.measurement.limits import Condition
from repsq_ros.msg import Heartbeat
from repsq_ros.nodes import qos
from repsq_ros.nodes.heartbeat import HeartbeatPublisher
from repsq_ros.nodes.input_subscription import InputSubscription
from repsq_ros.nodes.polling import polled_subscription, take_waiting
from repsq_ros.nodes.watches.conditions import ConditionWatch
from repsq_ros.specification.load import load

SCALING = Input('std_msgs/msg/Float64', 'scaling', field='data', stamp='receive', unit='1')
PERCENT = Input('std_msgs/msg/Float64', 'scaling', field='data', stamp='receive', unit='percent')
MODE = Input('std_msgs/msg/Int32', 'mode', field='data', stamp='receive', unit='1')
FULL = Condition('speed_scaling', at_least=100.0)
NORMAL = Condition('safety_mode', one_of=(1.0,))


class Watching:
    def __init__(self, nodes, conditions, inputs):
        self.until = nodes.listener.until
        self.node = nodes.listener.node
        # What the listener's process publishes and what it watches: two ends of one network.
        self.now = lambda: time.monotonic_ns()
        self.running = time.monotonic
        self.watch = ConditionWatch(
            self.node, conditions, inputs, lambda: self.now(), lambda: self.running()
        )

    def blockers(self):
        return '; '.join(self.watch.blockers())

    def publisher(self, kind, topic, profile=None):
        return self.node.create_publisher(kind, topic, profile or QoSProfile(depth=10))

    def look_until(self, condition):
        def looked():
            self.watch.look()
            return condition()

        self.until(looked)

    def tell(self, publisher, message, condition):
        """Publish again and again until it was heard."""

        def told():
            publisher.publish(message)
            self.watch.look()
            return condition()

        self.until(told)


def test_a_condition_that_is_bad_stands_against_going_on(nodes):
    made = Watching(nodes, [FULL], [SCALING])
    scaling = made.publisher(Float64, 'scaling')
    unheard = 'condition speed_scaling: nothing heard on /scaling'
    assert made.blockers() == unheard
    bad = 'condition speed_scaling: 35, expected at least 100'
    made.tell(scaling, Float64(data=35.0), lambda: made.blockers() != unheard)
    assert made.blockers() == bad
    made.tell(scaling, Float64(data=100.0), lambda: not made.blockers())
    made.tell(scaling, Float64(data=35.0), lambda: made.blockers() == bad)
    made.tell(scaling, Float64(data=36.0), lambda: '36' in made.blockers())
    made.tell(scaling, Float64(data=100.0), lambda: not made.blockers())
    made.tell(scaling, Float64(data=float('nan')), lambda: made.blockers())
    assert made.blockers() == 'condition speed_scaling: nan, expected at least 100'


def test_units_are_those_of_the_measurement(nodes):
    made = Watching(nodes, [Condition('speed_scaling', at_least=0.99)], [PERCENT])
    scaling = made.publisher(Float64, 'scaling')
    made.tell(scaling, Float64(data=100.0), lambda: not made.blockers())
    made.tell(scaling, Float64(data=50.0), lambda: made.blockers())
    assert made.blockers() == 'condition speed_scaling: 0.5, expected at least 0.99'


def test_a_bad_value_between_two_looks_is_told(nodes):
    """A protective stop may be over before anybody looks."""
    made = Watching(nodes, [NORMAL], [MODE])
    mode = made.publisher(Int32, 'mode')
    made.tell(mode, Int32(data=1), lambda: not made.blockers())
    heard = []
    made.node.create_subscription(Int32, 'mode', lambda m: heard.append(m.data), 10)
    for data in (1, 3, 1, 1):
        mode.publish(Int32(data=data))
    made.until(lambda: heard[-4:] == [1, 3, 1, 1])
    made.watch.look()
    assert made.blockers() == 'condition safety_mode: 3, expected one of 1'
    made.watch.look()
    assert made.blockers() == ''


def test_a_mode_that_was_told_once_before_is_heard(nodes):
    """Drivers keep it for late joiners (transient local), and never say it again."""
    mode = nodes.listener.node.create_publisher(Int32, 'mode', qos.LATCHED)
    mode.publish(Int32(data=1))
    made = Watching(nodes, [NORMAL], [MODE])
    made.look_until(lambda: not made.blockers())
    mode.publish(Int32(data=5))
    made.look_until(lambda: made.blockers() == 'condition safety_mode: 5, expected one of 1')


def test_silence_counts_where_a_longest_one_is_given(nodes):
    patient = Condition('patient', one_of=(1.0,))
    strict = Condition('strict', one_of=(1.0,), longest_silence=0.3)
    made = Watching(nodes, [patient, strict], [MODE, MODE])  # two of one topic
    mode = made.publisher(Int32, 'mode')
    made.tell(mode, Int32(data=1), lambda: not made.blockers())
    made.look_until(made.blockers)
    told = made.blockers()
    assert told.startswith('condition strict: last heard on /mode 0.')
    assert told.endswith('s ago, at most 0.3 s allowed')
    made.tell(mode, Int32(data=1), lambda: not made.blockers())
    mode.publish(Int32(data=2))
    made.look_until(lambda: 'patient' in made.blockers())


@pytest.mark.parametrize('clock', ['now', 'running'])
def test_silence_does_not_count_while_time_or_this_node_stands_still(nodes, clock):
    made = Watching(nodes, [Condition('strict', one_of=(1.0,), longest_silence=0.2)], [MODE])
    mode = made.publisher(Int32, 'mode')
    made.tell(mode, Int32(data=1), lambda: not made.blockers())
    going_on, stopped = getattr(made, clock), getattr(made, clock)()
    setattr(made, clock, lambda: stopped)
    made.tell(mode, Int32(data=1), lambda: not made.blockers())
    nodes.listener.listen(0.5)
    made.watch.look()
    assert made.blockers() == ''
    setattr(made, clock, going_on)
    made.look_until(made.blockers)


def test_a_publisher_that_cannot_be_heard_is_named(nodes):
    made = Watching(nodes, [FULL], [SCALING])
    # A participant of its own: DDS refuses a second type within one.
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=int(os.environ['ROS_DOMAIN_ID']))
    try:
        other = rclpy.create_node('other', context=context)
        other.create_publisher(Int32, 'scaling', 10)
        made.look_until(lambda: 'publishes std_msgs/msg/Int32' in made.blockers())
    finally:
        rclpy.shutdown(context=context)
    assert made.blockers().startswith('condition speed_scaling: nothing heard on /scaling (')


def test_the_conditions_of_a_specification(nodes, content, write):
    content['measure']['conditions'] = {
        'battery': {
            'type': 'sensor_msgs/msg/BatteryState',
            'at_least': 0.2,
        },
    }
    measure = load(write(content)).measure
    made = Watching(nodes, measure.conditions, measure.condition_inputs)
    battery = made.publisher(BatteryState, 'condition/battery')
    made.tell(battery, BatteryState(percentage=0.9), lambda: not made.blockers())
    made.tell(battery, BatteryState(percentage=0.1), lambda: made.blockers())
    assert made.blockers() == 'condition battery: 0.1, expected at least 0.2'


def test_without_conditions_nothing_stands_against_a_start(nodes):
    made = Watching(nodes, [], [])
    made.watch.look()
    assert made.blockers() == ''


def test_between_many_messages_the_heart_beats(nodes):
    """A fast simulation sends hundreds between two looks: read at once, they take too long."""
    node, heard, beats = nodes.listener.node, [], []
    source = Input('std_msgs/msg/Float64', 'scaling', field='data', stamp='receive', unit='1')
    read = InputSubscription(node, source, lambda sample, _: heard.append(sample), condition=True)
    publisher = node.create_publisher(Float64, 'scaling', QoSProfile(depth=200))
    nodes.listener.until(lambda: read.matched)
    for k in range(100):
        publisher.publish(Float64(data=float(k)))
    time.sleep(0.5)  # they wait

    def all_read():
        read.look(lambda: beats.append(len(heard)))
        return len(heard) == 100

    nodes.listener.until(all_read)
    assert beats == [25, 50, 75, 100]


def test_a_heart_that_has_just_beaten_need_not_beat_again(nodes):
    node, topic = nodes.listener.node, f'{topics.HEARTBEAT}/guard'
    heart = HeartbeatPublisher(node, 'guard')
    beats = polled_subscription(node, Heartbeat, topic, qos.SENSOR)
    nodes.listener.until(lambda: node.count_publishers(topic) == 1)
    time.sleep(0.5)
    for _ in range(2):
        time.sleep(0.05)
        for _ in range(20):
            heart.beat()
    time.sleep(0.3)
    heard = len(list(take_waiting(beats)))
    assert 1 <= heard <= 10, 'forty were asked for'
