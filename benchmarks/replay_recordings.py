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

"""Recordings of a made-up campaign, which `replay.py` reads."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from repsq_ros import topics
from repsq_ros.specification.load import load

ROOT = Path(__file__).resolve().parent.parent
RATE, TEST, DWELL = 125, 8, 3  # [Hz], [s] of a test and of its beginning at rest
START = 1_795_819_319  # [s]
POSE, ODOMETRY, NUMBER = (
    'geometry_msgs/msg/PoseStamped', 'nav_msgs/msg/Odometry', 'std_msgs/msg/Float64'
)  # fmt: skip


def typestore() -> Any:
    """Return the types of Jazzy and those of this package."""
    store = get_typestore(Stores.ROS2_JAZZY)
    types = {}
    for path in sorted((ROOT / 'msg').glob('*.msg')):
        types.update(get_types_from_msg(path.read_text(), f'repsq_ros/msg/{path.stem}'))
    store.register(types)
    return store


STORE = typestore()
TYPES = STORE.types


def specification_of(folder: Path, tests: int) -> Path:
    """Write a specification of so many tests, measured by poses."""
    content = yaml.safe_load((ROOT / 'config' / 'g1_locomotion.yaml').read_text())
    content['measure']['source'] = 'mocap'
    content['tester'].update(stopping={'rule': 'fixed', 'tests': tests}, max_tests=tests)
    file = folder / 'specification.yaml'
    file.write_text(yaml.safe_dump(content))
    return file


def motion(tests: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """Return the commands (tests, 3) and the poses (n, 7) of a robot that follows them."""
    commands = rng.uniform(-0.3, 0.3, (tests, 3))
    moving = np.tile(np.arange(TEST * RATE) >= DWELL * RATE, tests)
    velocity = np.repeat(commands, TEST * RATE, axis=0) * moving[:, None] * 0.9
    yaw = np.cumsum(velocity[:, 2]) / RATE
    c, s = np.cos(yaw), np.sin(yaw)
    x = np.cumsum(c * velocity[:, 0] - s * velocity[:, 1]) / RATE
    y = np.cumsum(s * velocity[:, 0] + c * velocity[:, 1]) / RATE
    place = np.column_stack([x, y, np.full(len(x), 0.7)]) + rng.normal(0, 7e-5, (len(x), 3))
    half = (yaw + rng.normal(0, 7e-5, len(x))) / 2
    turn = np.column_stack([0 * half, 0 * half, np.sin(half), np.cos(half)])
    return commands, np.hstack([place, turn])


def header(ns: int, frame: str = '') -> Any:
    """Make a header."""
    stamp = TYPES['builtin_interfaces/msg/Time'](*divmod(ns, 10**9))
    return TYPES['std_msgs/msg/Header'](stamp, frame)


def stamped(example: Any, name: str, stamps: Any, numbers: dict[int, Any]) -> Any:
    """Return raw messages (n, size) like an example, with other stamps and numbers.

    :param numbers: columns (n, k) of float64 by their offset from the end of the message
    """
    raw = np.tile(
        np.frombuffer(bytes(STORE.serialize_cdr(example, name)), np.uint8), (len(stamps), 1)
    )
    if name != NUMBER:
        for at, part in ((4, stamps // 10**9), (8, stamps % 10**9)):
            raw[:, at : at + 4] = part.astype('<u4')[:, None].view(np.uint8)
    for back, values in numbers.items():
        laid = np.ascontiguousarray(values, dtype='<f8').view(np.uint8)
        at = raw.shape[1] - back
        raw[:, at : at + laid.shape[1]] = laid
    return raw


def pose_at_zero() -> Any:
    """Make a pose."""
    return TYPES['geometry_msgs/msg/Pose'](
        TYPES['geometry_msgs/msg/Point'](0.0, 0.0, 0.0),
        TYPES['geometry_msgs/msg/Quaternion'](0.0, 0.0, 0.0, 1.0),
    )


def poses_of(numbers: Any, stamps: Any) -> Any:
    """Return PoseStamped messages as bytes, (n, size)."""
    return stamped(TYPES[POSE](header(0, 'world'), pose_at_zero()), POSE, stamps, {56: numbers})


def odometry_of(numbers: Any, stamps: Any) -> Any:
    """Return Odometry messages as bytes, (n, size)."""
    zero = TYPES['geometry_msgs/msg/Vector3'](0.0, 0.0, 0.0)
    twist = TYPES['geometry_msgs/msg/Twist'](zero, zero)
    whole = TYPES[ODOMETRY](
        header(0, 'odom'), 'base_link',
        TYPES['geometry_msgs/msg/PoseWithCovariance'](pose_at_zero(), np.zeros(36)),
        TYPES['geometry_msgs/msg/TwistWithCovariance'](twist, np.zeros(36)),
    )  # fmt: skip
    return stamped(whole, ODOMETRY, stamps, {56 + 36 * 8 + 48 + 36 * 8: numbers})


def told(tests: int, commands: Any, digest: str) -> list[tuple[int, str, str, bytes]]:
    """Return what a scheduler tells of its tests: log time, topic, type, bytes."""
    found = []
    time_of = lambda ns: TYPES['builtin_interfaces/msg/Time'](*divmod(ns, 10**9))  # noqa: E731
    for k in range(tests):
        begin = (START + TEST * k) * 10**9
        case = TYPES['repsq_ros/msg/TestCommand'](
            header(begin), 'benchmark', digest, k, 0, ['linear_x', 'linear_y', 'angular_z'],
            ['m/s', 'm/s', 'rad/s'], commands[k], -3 * math.log(0.6), -3 * math.log(0.6), 1.0, 1.0,
        )  # fmt: skip
        found.append((begin, f'/{topics.TEST_COMMAND}', 'repsq_ros/msg/TestCommand', case))
        window = begin + (TEST - 3) * 10**9, begin + TEST * 10**9
        for phase, start, end, measured in (
            (1, begin, begin + DWELL * 10**9, (0, 0)),
            (2, begin + DWELL * 10**9, begin + TEST * 10**9, window),
            (0, begin + TEST * 10**9, begin + TEST * 10**9, (0, 0)),
        ):
            message = TYPES['repsq_ros/msg/TestPhase'](
                header(start), case, phase, time_of(start), time_of(end), [],
                commands[k] if phase == 2 else np.zeros(3), min(phase, 1), time_of(measured[0]),
                time_of(measured[1]), time_of(0), False, False, False, '', '',
            )  # fmt: skip
            found.append((start, f'/{topics.TEST_PHASE}', 'repsq_ros/msg/TestPhase', message))
    return [(t, topic, kind, bytes(STORE.serialize_cdr(m, kind))) for t, topic, kind, m in found]


def write(path: Path, messages: list[tuple[int, str, str, bytes]], form: str) -> Path:
    """Write messages as a recording, in the order of their log times."""
    plugin = StoragePlugin.SQLITE3 if form == 'sqlite3' else StoragePlugin.MCAP
    writer = Writer(path, version=9, storage_plugin=plugin)
    if form == 'zstd':
        writer.set_compression(CompressionMode.STORAGE, CompressionFormat.ZSTD)
    with writer:
        connections: dict[str, Any] = {}
        for log_ns, topic, kind, raw in sorted(messages, key=lambda each: each[0]):
            if topic not in connections:
                connections[topic] = writer.add_connection(topic, kind, typestore=STORE)
            writer.write(connections[topic], log_ns, raw)
    return path


def write_all(folder: Path, tests: int) -> tuple[Path, dict[str, Path]]:
    """Write the specification and all recordings."""
    file = specification_of(folder, tests)
    rng = np.random.default_rng(1)
    commands, numbers = motion(tests, rng)
    stamps = START * 10**9 + np.arange(len(numbers)) * (10**9 // RATE)
    rows = poses_of(numbers, stamps)
    begins = TEST * np.arange(tests)
    table = np.column_stack([begins + DWELL, begins + TEST, commands])
    names = 'start,end,linear_x,linear_y,angular_z'
    np.savetxt(folder / 'tests.csv', table, delimiter=',', header=names, comments='')
    arrivals = (stamps + rng.integers(200_000, 400_000, len(stamps))).tolist()
    poses = [
        (t, '/mocap/pose', POSE, row.tobytes()) for t, row in zip(arrivals, rows, strict=True)
    ]
    campaign = poses + told(tests, commands, load(file).digest)
    bags = {form: write(folder / form, campaign, form) for form in ('plain', 'zstd', 'sqlite3')}
    third = len(stamps) // 3
    odometry, gauge = odometry_of(numbers[:third], stamps[:third]), stamped(
        TYPES[NUMBER](0.0), NUMBER, stamps[:third], {8: numbers[:third, :1]}
    )  # fmt: skip
    three = poses[:third]
    three += [
        (t, '/odom', ODOMETRY, r.tobytes()) for t, r in zip(arrivals, odometry, strict=False)
    ]
    three += [(t, '/gauge', NUMBER, r.tobytes()) for t, r in zip(arrivals, gauge, strict=False)]
    bags['three topics'] = write(folder / 'three', three, 'zstd')
    return file, bags
