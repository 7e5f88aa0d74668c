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

"""Recording a campaign into a bag, and playing a bag over DDS, where ros2 bag is not installed."""

import signal
import subprocess
import sys
import time
from typing import NamedTuple

import rclpy
from builtin_interfaces.msg import Time
from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import Odometry
from rclpy.executors import SingleThreadedExecutor
from rosbags.highlevel import AnyReader
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_types_from_msg, get_typestore
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Range

from repsq_ros import topics
from repsq_ros.campaign.records import TestRecord
from repsq_ros.campaign.result import Result
from repsq_ros.messages import campaign_messages
from repsq_ros.msg import TestPhase
from repsq_ros.nodes import qos
from support.campaigns import journalled
from support.graph import KEPT

SENSORS = {
    '/odom': (Odometry, qos.QoSProfile(depth=10_000)),
    '/mocap/pose': (PoseStamped, qos.QoSProfile(depth=10_000)),
}

CLEARANCE = (Range, qos.COMMAND)


def typestore(root):
    """Return the types of Jazzy and those of this package, from its .msg files."""
    store = get_typestore(Stores.ROS2_JAZZY)
    types = {}
    for path in sorted((root / 'msg').glob('*.msg')):
        types.update(get_types_from_msg(path.read_text(), f'repsq_ros/msg/{path.stem}'))
    store.register(types)
    return store


class Recorder:
    """Keeps the raw messages of a campaign and of its sensors as they arrive."""

    def __init__(self, node, sensors=SENSORS):
        self.kept = []
        self.heard = set()
        topics = {f'/{name}': kind for name, kind in KEPT.items()} | sensors
        for topic, (kind, profile) in topics.items():
            self._listen(node, topic, kind, profile)

    def _listen(self, node, topic, kind, profile):
        name = f'{kind.__module__.split(".")[0]}/msg/{kind.__name__}'

        def keep(raw):
            self.kept.append((topic, name, time.time_ns(), raw))
            self.heard.add(topic)

        node.create_subscription(kind, topic, keep, profile, raw=True)

    def write(self, folder, root):
        """Write what was kept as a bag."""
        store = typestore(root)
        with Writer(folder, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
            connections = {}
            for topic, name, stamp, raw in self.kept:
                if topic not in connections:
                    connections[topic] = writer.add_connection(topic, name, typestore=store)
                writer.write(connections[topic], stamp, raw)


class RecordedRun(NamedTuple):
    """What is left of a campaign that was recorded."""

    bag: object
    specification: object
    result: Result  # as it was published
    tests: tuple[TestRecord, ...]  # as they stand in the journal
    said: str  # by the recorder


def start_recorder(nodes, specification, bag, *options, topics=()):
    """Start `repsq record`, and wait until it listens to some topics."""
    process = nodes.popen(
        [sys.executable, '-m', 'repsq_ros.cli', 'record', str(specification),
         '--output', str(bag), *options],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    look = nodes.listener.node.get_subscriptions_info_by_topic

    def listens():
        assert process.poll() is None, process.stdout.read()
        return all(
            any(each.node_name == 'repsq_recorder' for each in look(topic)) for topic in topics
        )

    nodes.listener.until(listens)
    return process


def stop_recorder(process):
    """End it as Ctrl-C does; returns its exit code and what it said."""
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=20)
    return process.returncode, said


def run_disturbed(nodes, folder, specification):
    """Run a campaign to which all happens that can, recorded by `repsq record`."""
    listener, bag = nodes.listener, folder / 'bag'
    clearance = listener.node.create_publisher(Range, '/condition/clearance', qos.COMMAND)

    def say(reading, stamp):
        message = Range(range=reading, min_range=0.0, max_range=1.0)
        message.header.stamp = stamp
        clearance.publish(message)

    def measure(phase):
        """Say before each command how much room there is: once, what the sensor cannot see."""
        before.cancel()
        if phase.phase == TestPhase.DWELL:
            once = (phase.test.index, phase.test.attempt) == (3, 0)
            say(5.0 if once else 0.5, phase.start)

    # Who needs it to begin hears it from the start.
    before = listener.node.create_timer(0.1, lambda: say(0.5, Time(sec=1)))
    listener.node.create_subscription(TestPhase, topics.TEST_PHASE, measure, qos.RECORD)
    # Not as fast as possible: who records has to keep up, on however busy a machine.
    robot = {'speed': 5.0, 'seed': 7}
    nodes.start('simulated_robot', robot)
    heard = ('/odom', '/mocap/pose', '/condition/clearance')
    recorder = start_recorder(nodes, specification, bag, '--topic', 'mocap/pose', topics=heard)
    # As by default, the scheduler is there for a while before it commands: to be found.
    nodes.start_campaign(
        specification, robot, seed=7, look_around=4.5, attended=True,
        output=str(folder / 'campaign'),
    )  # fmt: skip
    for index, service, phase in (
        (2, 'pause', TestPhase.COMMAND), (5, 'skip', TestPhase.COMMAND),
        (6, 'skip', TestPhase.DWELL), (8, 'pause', TestPhase.DWELL),
    ):  # fmt: skip
        listener.latest(
            topics.TEST_PHASE, lambda p, i=index, w=phase: (p.test.index, p.phase) == (i, w)
        )
        nodes.call(service)
        if service == 'pause':
            listener.until(lambda: nodes.call('resume').success)
    result = campaign_messages.result_of(nodes.result())
    listener.phase(TestPhase.DONE)
    listener.listen(2.0)
    code, said = stop_recorder(recorder)
    assert code == 0, said
    return RecordedRun(bag, specification, result, journalled(folder / 'campaign'), said)


def play(folder, kinds, context, speed, times=1):
    """Play some topics of a bag over DDS, with /clock; the log times set the pace."""
    node = rclpy.create_node('player', context=context)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    clock = node.create_publisher(Clock, '/clock', 10)
    publishers = {
        topic: node.create_publisher(kind, topic, profile)
        for topic, (kind, profile) in kinds.items()
    }
    began = time.monotonic()
    while any(p.get_subscription_count() == 0 for p in publishers.values()):
        executor.spin_once(timeout_sec=0.1)
        assert time.monotonic() - began < 20, 'nobody listens to the player'
    with AnyReader([folder]) as reader:
        wanted = [c for c in reader.connections if c.topic in kinds]
        for _ in range(times):
            first, began = None, time.monotonic()
            for connection, log_ns, raw in reader.messages(connections=wanted):
                first = log_ns if first is None else first
                due = began + (log_ns - first) * 1e-9 / speed
                time.sleep(max(0.0, due - time.monotonic()))
                message = Clock()
                message.clock.sec, message.clock.nanosec = divmod(log_ns, 1_000_000_000)
                clock.publish(message)
                publishers[connection.topic].publish(bytes(raw))
    return node, executor
