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

"""How long tests in other people's recordings take to find and to evaluate.

    .venv/bin/python benchmarks/segments.py [--commands 3600]

A recording with one command every 2 s (each sent at 10 Hz) and odometry at 20 Hz. Reference, in
the same run: rosbags' AnyReader, which only reads and deserialises the same messages. Of arrays
alone: a plain numpy search for changes of the command. Exits with 1 where the time for each
command grows with their number.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import struct
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from rosbags.highlevel import AnyReader
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

from repsq_ros.cli import main as repsq
from repsq_ros.replay.held_commands import Times, Values, held_commands
from repsq_ros.replay.held_to_protocol import Timing, hold_to_protocol

SPECIFICATION = Path(__file__).parents[1] / 'config' / 'paper' / 'g1_locomotion.yaml'
SECOND = 1_000_000_000
EPOCH = 1_700_000_000 * SECOND
EVERY, SENT, SAMPLED = 2.0, 10, 20  # [s] between two commands; [Hz] of commands and of samples
REPEATS = 5
LINEAR = 2.0  # times as long for each of ten times as many commands, at most


def seconds_of(work: Callable[[], object], repeats: int = 1) -> float:
    """Return the time of the processor that a piece of work takes [s], at best."""
    took = []
    for _ in range(repeats):
        began = time.process_time()
        work()
        took.append(time.process_time() - began)
    return min(took)


def commands(count: int) -> tuple[Times, Values]:
    """Return times and values of a stream of commands."""
    sent = round(EVERY * SENT)
    times = EPOCH + np.arange(count * sent, dtype=np.int64) * (SECOND // SENT)
    speeds = np.random.default_rng(1).uniform(-0.3, 0.3, (count, 3))
    return times, np.repeat(speeds, sent, axis=0)


def find(times: Times, values: Values) -> None:
    """Find the tests, and hold them to a protocol."""
    until_ns = int(times[-1]) + SECOND
    stretches = held_commands(times, values, until_ns, 2 * SECOND)
    hold_to_protocol(stretches, Timing(SECOND // 2, SECOND))


def look_for_changes(times: Times, values: Values) -> None:
    """Do what has to be done at least."""
    changes = np.flatnonzero((values[1:] != values[:-1]).any(axis=1)) + 1
    times[changes].tolist()


def write_bag(path: Path, count: int) -> None:
    """Write the recording; messages are laid out once, and only their numbers change."""
    store = get_typestore(Stores.ROS2_JAZZY)
    types, twist_name, body_name = store.types, 'geometry_msgs/msg/Twist', 'nav_msgs/msg/Odometry'
    vector, place = types['geometry_msgs/msg/Vector3'], types['geometry_msgs/msg/Point']
    mark = 1234.5678  # stands where the numbers go
    header = types['std_msgs/msg/Header'](types['builtin_interfaces/msg/Time'](1, 2), 'odom')
    pose = types['geometry_msgs/msg/Pose'](
        place(mark, 0.0, 0.7), types['geometry_msgs/msg/Quaternion'](0.0, 0.0, 0.0, 1.0)
    )
    speed = types[twist_name](vector(mark + 1, 0.0, 0.0), vector(0.0, 0.0, 0.0))
    none = np.zeros(36)
    body = types[body_name](
        header, 'base', types['geometry_msgs/msg/PoseWithCovariance'](pose, none),
        types['geometry_msgs/msg/TwistWithCovariance'](speed, none),
    )  # fmt: skip
    raw = bytearray(store.serialize_cdr(body, body_name))
    at_x, at_v = (raw.find(struct.pack('<d', value)) for value in (mark, mark + 1))
    times, values = commands(count)
    with Writer(path, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        twists = writer.add_connection('/cmd_vel', twist_name, typestore=store)
        for stamp, (x, y, yaw) in zip(times.tolist(), values.tolist(), strict=True):
            message = types[twist_name](vector(x, y, 0.0), vector(0.0, 0.0, yaw))
            writer.write(twists, stamp, store.serialize_cdr(message, twist_name))
        bodies = writer.add_connection('/odom', body_name, typestore=store)
        noise = np.random.default_rng(2).normal(0.0, 1e-4, round(count * EVERY * SAMPLED))
        for k, off in enumerate(noise.tolist()):
            stamp = EPOCH + k * (SECOND // SAMPLED)
            raw[4:12] = struct.pack('<iI', stamp // SECOND, stamp % SECOND)
            raw[at_x : at_x + 8] = struct.pack('<d', 0.01 * k + off)
            raw[at_v : at_v + 8] = struct.pack('<d', 0.2 + off)
            writer.write(bodies, stamp, bytes(raw))


def read_all(path: Path) -> None:
    """Read and deserialise every message."""
    with AnyReader([path]) as reader:
        for connection, _, raw in reader.messages():
            reader.deserialize(raw, connection.msgtype)


def evaluate(path: Path) -> None:
    """Evaluate the recording as a user does."""
    with contextlib.redirect_stdout(io.StringIO()):
        code = repsq(
            ['reevaluate', str(path), '--specification', str(SPECIFICATION), '--command-topic',
             '/cmd_vel', '--settle', '0.5', '--window', '1']
        )  # fmt: skip
    if code:
        raise SystemExit(f'repsq reevaluate ended with {code}')


def main() -> None:
    """Measure, print, and tell by the exit code whether it is linear."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--commands', type=int, default=3600)
    count = parser.parse_args().commands
    few, many = commands(count), commands(10 * count)
    one, ten = (seconds_of(lambda c=c: find(*c), REPEATS) for c in (few, many))
    plain = seconds_of(lambda: look_for_changes(*few), REPEATS)
    with tempfile.TemporaryDirectory() as folder:
        bag = Path(folder) / 'bag'
        write_bag(bag, count)
        read, whole = seconds_of(lambda: read_all(bag)), seconds_of(lambda: evaluate(bag))
    growth = ten / (10 * one)
    print(f'{count} commands found in arrays: {1e3 * one:.1f} ms, {one / plain:.1f} x the time of '
          f'a plain numpy search for changes')  # fmt: skip
    print(f'each of {10 * count}: {growth:.2f} x as long as each of {count} (linear: at most '
          f'{LINEAR:g})')  # fmt: skip
    print(f'the recording evaluated: {whole:.2f} s, {whole / read:.2f} x the time of AnyReader '
          f'({read:.2f} s)')  # fmt: skip
    sys.exit(0 if growth <= LINEAR else 1)


if __name__ == '__main__':
    main()
