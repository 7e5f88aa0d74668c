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

"""Small recordings as rosbags writes them, of poses that a specification measures."""

import struct
from collections import Counter

import numpy as np
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

STORE = get_typestore(Stores.ROS2_JAZZY)
TYPES = STORE.types
POSE, TWIST, NUMBER = (
    'geometry_msgs/msg/PoseStamped', 'geometry_msgs/msg/Twist', 'std_msgs/msg/Float64'
)  # fmt: skip
ODOMETRY = 'nav_msgs/msg/Odometry'
SECOND = 1_000_000_000
START = 1_700_000_000 * SECOND
FORMS = ('plain', 'zstd', 'sqlite3')


def pose(ns, place, frame='world'):
    """Make a pose without a turn."""
    stamp = TYPES['builtin_interfaces/msg/Time'](*divmod(ns, SECOND))
    return TYPES[POSE](
        TYPES['std_msgs/msg/Header'](stamp, frame),
        TYPES['geometry_msgs/msg/Pose'](
            TYPES['geometry_msgs/msg/Point'](*map(float, place)),
            TYPES['geometry_msgs/msg/Quaternion'](0.0, 0.0, 0.0, 1.0),
        ),
    )


def body(row):
    """Return type and message of a sample: an odometry where it has a velocity, else a pose."""
    stamp = TYPES['builtin_interfaces/msg/Time'](*divmod(row.stamp_ns, SECOND))
    header = TYPES['std_msgs/msg/Header'](stamp, row.frame)
    there = TYPES['geometry_msgs/msg/Pose'](
        TYPES['geometry_msgs/msg/Point'](*row.position),
        TYPES['geometry_msgs/msg/Quaternion'](*row.orientation),
    )
    if row.linear_velocity is None:
        return POSE, TYPES[POSE](header, there)
    vector, none = TYPES['geometry_msgs/msg/Vector3'], np.zeros(36)
    moves = TYPES[TWIST](vector(*row.linear_velocity), vector(*row.angular_velocity))
    return ODOMETRY, TYPES[ODOMETRY](
        header, 'base',
        TYPES['geometry_msgs/msg/PoseWithCovariance'](there, none),
        TYPES['geometry_msgs/msg/TwistWithCovariance'](moves, none),
    )  # fmt: skip


def twist(x):
    """Make a command."""
    vector = TYPES['geometry_msgs/msg/Vector3']
    return TYPES[TWIST](vector(x, 0.0, 0.0), vector(0.0, 0.0, 0.0))


def walk(tests=6, seconds=4.0, rate=50, seed=1, tail=0.0):
    """Return what is recorded of a body that follows commands: log time, topic, type, message."""
    rng = np.random.default_rng(seed)
    told, x, step = [], 0.0, round(SECOND / rate)
    for k in range(tests):
        begin = START + round(k * seconds * SECOND)
        speed = round(float(rng.uniform(0.05, 0.3)), 3)
        told.append((begin, '/cmd_vel', TWIST, twist(speed)))
        more = tail if k == tests - 1 else 0.0  # s in which it goes on
        for n in range(round((seconds + more) * rate)):
            ns = begin + n * step
            x += 0.9 * speed / rate
            place = np.array([x, 0.0, 0.7]) + rng.normal(0, 7e-5, 3)
            told.append((ns + 300_000, '/mocap', POSE, pose(ns, place)))
    return told


def write_bag(path, messages, form='plain'):
    """Write messages as a recording; messages may be raw already."""
    plugin = StoragePlugin.SQLITE3 if form == 'sqlite3' else StoragePlugin.MCAP
    writer = Writer(path, version=9, storage_plugin=plugin)
    if form == 'zstd':
        writer.set_compression(CompressionMode.STORAGE, CompressionFormat.ZSTD)
    with writer:
        connections = {}
        for log_ns, topic, kind, message in messages:
            if (topic, kind) not in connections:
                connections[topic, kind] = writer.add_connection(topic, kind, typestore=STORE)
            raw = message
            if not isinstance(message, bytes):
                raw = STORE.serialize_cdr(message, kind)
            writer.write(connections[topic, kind], log_ns, raw)
    return path


def storage_of(path):
    """Return the one file of a recording."""
    (file,) = [each for each in path.iterdir() if each.suffix in ('.mcap', '.db3')]
    return file


# Mcap by hand: what rosbags does not write -------------------------------------------------------


def raw_poses(count):
    return [
        (1, START + k, bytes(STORE.serialize_cdr(pose(START + k, (k, 0, 0)), POSE)))
        for k in range(count)
    ]


SYNTAX = {'ros1': 'ros1msg'}  # of definitions, by the encoding of the messages
CHANNELS = {1: ('/mocap', POSE, 'cdr', '')}


def record(opcode, content):
    return struct.pack('<BQ', opcode, len(content)) + content


def text(value):
    raw = value if isinstance(value, bytes) else value.encode()
    return struct.pack('<I', len(raw)) + raw


def mcap_of(channels, messages, crc=True, chunk=40, summary=True, pack=None):
    """Return a whole mcap file without message indexes.

    :param channels: (topic, type, encoding, definition) by number
    :param messages: (channel, log time [ns], bytes)
    :param chunk: messages in each; 0: messages in no chunk
    :param pack: name of the packing of chunks, and the function that packs
    """
    import zlib

    defined = b''.join(
        record(
            3,
            struct.pack('<H', k)
            + text(kind)
            + text(SYNTAX.get(encoding, 'ros2msg'))
            + text(definition),
        )
        + record(4, struct.pack('<HH', k, k) + text(topic) + text(encoding) + text(b''))
        for k, (topic, kind, encoding, definition) in channels.items()
    )
    made = [
        record(5, struct.pack('<HIQQ', number, 0, log_ns, log_ns) + raw)
        for number, log_ns, raw in messages
    ]
    out = [b'\x89MCAP0\r\n', record(1, text('ros2') + text('by hand'))]
    if chunk:
        for begin in range(0, len(made), chunk):
            inside = (b'' if begin else defined) + b''.join(made[begin : begin + chunk])
            times = [log_ns for _, log_ns, _ in messages[begin : begin + chunk]]
            name, packed = (pack[0], pack[1](inside)) if pack else ('', inside)
            head = struct.pack(
                '<QQQI', min(times), max(times), len(inside), zlib.crc32(inside) if crc else 0
            )
            out.append(record(6, head + text(name) + struct.pack('<Q', len(packed)) + packed))
    else:
        out += [defined, *made]
    out.append(record(0x0F, struct.pack('<I', 0)))
    end = b''
    if summary:
        counts = dict.fromkeys(channels, 0) | Counter(number for number, _, _ in messages)
        pairs = b''.join(struct.pack('<HQ', k, count) for k, count in counts.items())
        end = defined + record(
            0x0B, struct.pack('<QHIIIIQQ', len(messages), 1, 1, 0, 0, 0, 0, 0) + text(pairs)
        )
    start = sum(map(len, out)) if summary else 0
    return b''.join(out) + end + record(2, struct.pack('<QQI', start, 0, 0)) + b'\x89MCAP0\r\n'
