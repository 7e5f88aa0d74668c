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

"""Small recordings, made by a test: no ROS is needed."""

import math

from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

STORE = get_typestore(Stores.ROS2_JAZZY)
TYPES = STORE.types
SECOND = 1_000_000_000
EPOCH = 1_700_000_000  # [s] at which they begin

ODOMETRY = 'nav_msgs/msg/Odometry'
TWIST = 'geometry_msgs/msg/Twist'
TWIST_STAMPED = 'geometry_msgs/msg/TwistStamped'
STRING = 'std_msgs/msg/String'


def at(t):
    """Return an instant [ns] of so many seconds after the beginning."""
    return EPOCH * SECOND + round(t * SECOND)


def write_bag(path, streams, store=STORE, plugin=StoragePlugin.MCAP):
    """Write a bag.

    :param streams: (topic, type, [(log time [s], message)]) of each topic
    """
    with Writer(path, version=9, storage_plugin=plugin) as writer:
        for topic, name, messages in streams:
            connection = writer.add_connection(topic, name, typestore=store)
            for t, message in messages:
                writer.write(connection, at(t), store.serialize_cdr(message, name))
    return path


def header(t, frame='odom', epoch=True):
    """Return a header of an instant; `epoch` false: of simulated time, None: of no time."""
    ns = 0 if epoch is None else at(t) if epoch else round((t + 1.0) * SECOND)
    stamp = TYPES['builtin_interfaces/msg/Time'](ns // SECOND, ns % SECOND)
    return TYPES['std_msgs/msg/Header'](stamp, frame)


def twist(x=0.0, y=0.0, yaw=0.0):
    vector = TYPES['geometry_msgs/msg/Vector3']
    return TYPES[TWIST](vector(x, y, 0.0), vector(0.0, 0.0, yaw))


def odometry(t, x, v, epoch=True):
    """Return where a body is that looks along x and moves so fast."""
    import numpy as np

    point, turn = TYPES['geometry_msgs/msg/Point'], TYPES['geometry_msgs/msg/Quaternion']
    pose = TYPES['geometry_msgs/msg/Pose'](point(x, 0.0, 0.7), turn(0.0, 0.0, 0.0, 1.0))
    none = np.zeros(36)
    return TYPES[ODOMETRY](
        header(t, epoch=epoch), 'base',
        TYPES['geometry_msgs/msg/PoseWithCovariance'](pose, none),
        TYPES['geometry_msgs/msg/TwistWithCovariance'](twist(v), none),
    )  # fmt: skip


def walk(commands, until, rate=50, late=0.0, stamped=0.0, epoch=True, error=0.05):
    """Return the odometry of a body that follows commands after 0.3 s, and is too fast.

    :param commands: (time [s], v_x)
    :param late: [s] between a message's instant and its recording
    :param stamped: [s] by which its stamps are ahead
    """
    found, x, v = [], 0.0, 0.0
    for k in range(round(until * rate)):
        t = k / rate
        for begin, command in commands:
            if begin + 0.3 <= t:
                v = command + error * (command != 0.0)
        wobble = 1e-4 * math.sin(7.0 * t)
        x += v / rate
        found.append(
            (t + late, odometry(t + stamped, x + wobble, v + 7e-4 * math.cos(7.0 * t), epoch))
        )
    return ('/odom', ODOMETRY, found)


def read_samples(recording, topic, source):
    """Return the samples of an input, one by one, as the measurement node makes them."""
    from repsq_ros.messages.sensor_messages import reader_of

    recording.require(topic, source.type)
    read = reader_of(source)
    found = (read(item.message, item.log_ns) for item in recording.messages(topic))
    return [sample for sample in found if sample is not None]
