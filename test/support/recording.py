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

import time

import rclpy
from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import Odometry
from rclpy.executors import SingleThreadedExecutor
from rosbags.highlevel import AnyReader
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_types_from_msg, get_typestore
from rosgraph_msgs.msg import Clock

from repsq_ros.nodes import qos
from support.graph import KEPT

SENSORS = {
    '/odom': (Odometry, qos.QoSProfile(depth=10_000)),
    '/mocap/pose': (PoseStamped, qos.QoSProfile(depth=10_000)),
}


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


def play(folder, kinds, context, speed):
    """Play some topics of a bag over DDS, with /clock, once; the log times set the pace."""
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
