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

"""What a simulated robot says: no more than anybody listens to."""

import time

import pytest
import rclpy
from geometry_msgs.msg import PoseStamped
from rclpy.qos import QoSProfile
from rosgraph_msgs.msg import Clock
from support.campaigns import AS_FAST_AS_POSSIBLE
from support.graph import domain_of_its_own

from repsq_ros.msg import TestPhase
from repsq_ros.nodes import qos, simulated_interfaces
from repsq_ros.simulation.simulated_sensors import SENSORS, SensorReading
from repsq_ros.simulation.surrogate import Surrogate
from repsq_ros.timebase import from_time, to_seconds

CLOCK_RATE = 50.0  # [Hz], by default


@pytest.fixture
def node():
    with domain_of_its_own() as domain:
        context = rclpy.Context()
        rclpy.init(context=context, domain_id=domain)
        yield rclpy.create_node('robot', context=context)
        rclpy.shutdown(context=context)


def test_a_message_is_made_only_where_somebody_listens_also_late(node, monkeypatch):
    made, make = [], simulated_interfaces.translate.sensor_message_of
    monkeypatch.setattr(
        simulated_interfaces.translate,
        'sensor_message_of',
        lambda reading, kind: made.append(reading.stamp_ns) or make(reading, kind),
    )
    robot = simulated_interfaces.SensorTopics(node, Surrogate().sensors)

    def say(stamp_ns):
        robot.publish(SensorReading('mocap', stamp_ns, Surrogate().state()))

    say(1)
    assert made == []
    heard = []
    node.create_subscription(PoseStamped, SENSORS['mocap'].topic, heard.append, qos.SENSOR)
    executor = rclpy.executors.SingleThreadedExecutor(context=node.context)
    executor.add_node(node)
    end, stamp_ns = time.monotonic() + 20.0, 2
    while not heard and time.monotonic() < end:
        say(stamp_ns)
        stamp_ns += 1
        executor.spin_once(timeout_sec=0.05)
    assert made
    assert [from_time(message.header.stamp) for message in heard] == made[: len(heard)]


def test_faster_than_real_time_the_clock_is_told_no_oftener_than_in_real_time(nodes, short, write):
    short['tester'].update(stopping={'rule': 'fixed', 'tests': 20})
    ticks = []  # (simulated ns, real s)
    nodes.listener.node.create_subscription(
        Clock, '/clock',
        lambda message: ticks.append((from_time(message.clock), time.monotonic())),
        QoSProfile(depth=10_000),
    )  # fmt: skip
    nodes.start('simulated_robot', AS_FAST_AS_POSSIBLE)
    nodes.listener.until(lambda: ticks)
    nodes.start_campaign(write(short), AS_FAST_AS_POSSIBLE, seed=7)
    nodes.result()
    nodes.listener.phase(TestPhase.DONE)
    phases = [phase for phase in nodes.listener.phases() if phase.phase == TestPhase.COMMAND]
    first_ns, last_ns = from_time(phases[0].start), from_time(phases[-1].end)
    amid = [tick for tick in ticks if first_ns <= tick[0] <= last_ns]
    real, simulated = amid[-1][1] - amid[0][1], to_seconds(last_ns - first_ns)
    assert simulated == pytest.approx(39.5, abs=5.0)
    assert len({tick[0] for tick in amid}) <= 1.2 * CLOCK_RATE * real + 4 * len(phases)
