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

"""How fast recordings are read, re-evaluated and inspected.

    .venv/bin/python benchmarks/replay.py [--tests 449] [--quick] [--keep FOLDER]

Writes a campaign of so many tests of 8 s, seen by PoseStamped at 125 Hz, as mcap plain and packed
by zstd and as sqlite3, and a bag of three topics (PoseStamped, Odometry, Float64), zstd. Each is
read into arrays, re-evaluated by `repsq reevaluate`, as a campaign and by a table of its tests,
and inspected by `repsq inspect`. References, measured in the same run on the same files: `rosbags`
AnyReader, every message deserialised, and a plain numpy walk, which takes all messages to be
alike and checks nothing. Times are of the processor, the least of three; those of commands, and of
AnyReader beside them, with the start of the process. Largest memory is that of a process.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import math
import os
import resource
import sqlite3
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from rosbags.highlevel import AnyReader
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from repsq_ros import topics
from repsq_ros.cli import main as repsq
from repsq_ros.recordings.mcap_records import unpacked
from repsq_ros.recordings.recording import Recording
from repsq_ros.specification.load import load

ROOT = Path(__file__).resolve().parent.parent
RATE, TEST, DWELL = 125, 8, 3  # [Hz], [s] of a test and of its beginning at rest
START = 1_795_819_319  # [s]
TIMES = 3  # that each is run; the best counts
POSE, ODOMETRY, NUMBER = (
    'geometry_msgs/msg/PoseStamped', 'nav_msgs/msg/Odometry', 'std_msgs/msg/Float64'
)  # fmt: skip
READ = {
    POSE: [f'pose.position.{a}' for a in 'xyz'] + [f'pose.orientation.{a}' for a in 'xyzw'],
    ODOMETRY: [
        f'{part}.{a}' for part in ('pose.pose.position', 'twist.twist.linear') for a in 'xyz'
    ],
    NUMBER: ['data'],
}
READER = """
import sys
from pathlib import Path
from rosbags.highlevel import AnyReader
with AnyReader([Path(sys.argv[1])]) as reader:
    for connection, _, raw in reader.messages():
        reader.deserialize(raw, connection.msgtype)
"""


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


# The recordings ----------------------------------------------------------------------------------


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


# What is measured --------------------------------------------------------------------------------


def spent() -> float:
    """Return the processor time [s] of this process and of those that it ran."""
    both = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(each.ru_utime + each.ru_stime for each in map(resource.getrusage, both))


def timed(function: Callable[[], object]) -> float:
    """Return the least processor time [s] of several runs."""
    found = []
    for _ in range(TIMES):
        began = spent()
        function()
        found.append(spent() - began)
    return min(found)


def python(*arguments: str) -> float:
    """Return the least processor time [s] of Python as a process of its own."""
    command = [sys.executable, *arguments]
    return timed(lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL))


def by_reader(path: Path) -> int:
    """Read and deserialise every message."""
    with AnyReader([path], default_typestore=STORE) as reader:
        return sum(
            reader.deserialize(raw, connection.msgtype) is not None
            for connection, _, raw in reader.messages()
        )


def by_arrays(path: Path) -> int:
    """Read stamps, log times and all numbers that are measured into arrays."""
    count = 0
    with Recording(path) as recording:
        for table in recording.arrays(*recording.topics()):
            table.stamps()
            for name in READ.get(table.type, []):
                table.column(name)
            count += len(table)
        assert not recording.losses, recording.losses
    return count


def by_walk(path: Path) -> int:
    """Walk a file whose messages are taken to be all alike, and view the seven numbers."""
    count = 0
    for file in path.iterdir():
        if file.suffix == '.db3':
            with contextlib.closing(sqlite3.connect(f'file:{file}?mode=ro', uri=True)) as base:
                rows = base.execute('SELECT timestamp, data FROM messages')
                while some := rows.fetchmany(4096):
                    raw = [data for _, data in some if len(data) == len(some[0][1])]
                    count += len(seven(np.frombuffer(b''.join(raw), np.uint8), len(raw[0])))
        if file.suffix == '.mcap':
            count += walk_mcap(file.read_bytes())
    return count


def walk_mcap(data: bytes) -> int:
    """Walk the chunks of a file."""
    from repsq_ros.recordings.mcap_records import chunk_head

    at, count = 8, 0
    while at + 9 <= len(data):
        opcode, length = struct.unpack_from('<BQ', data, at)
        if opcode == 6:
            head = chunk_head(data[at + 9 : at + 109])
            inside = unpacked(head._replace(crc=0), data[at + 9 + head.length : at + 9 + length])
            begin = 0
            while inside[begin] != 5:
                begin += 9 + struct.unpack_from('<Q', inside, begin + 1)[0]
            size = 9 + struct.unpack_from('<Q', inside, begin + 1)[0]
            whole = (len(inside) - begin) // size
            count += len(seven(np.frombuffer(inside, np.uint8, whole * size, begin), size))
        at += 9 + length
    return count


def seven(data: Any, size: int) -> Any:
    """Return the last seven numbers of messages of one size."""
    rows = data[: len(data) // size * size].reshape(-1, size)
    return np.ascontiguousarray(rows[:, -56:]).view('<f8')


def quietly(*arguments: str) -> str:
    """Run a word of repsq in this process; return what it prints."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        code = repsq(list(arguments))
    assert code == 0, said.getvalue()
    return said.getvalue()


def memory(*arguments: str) -> float:
    """Return the largest memory [MB] of a process of its own that runs this file."""
    done = subprocess.run(
        [sys.executable, __file__, '--alone', *arguments],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return float(done.stdout.splitlines()[-1])


def alone(words: list[str]) -> None:
    """Run one thing, and print the largest memory [MB]."""
    if words[0] == 'arrays':
        by_arrays(Path(words[1]))
    elif words[0] != 'nothing':
        quietly(*words)
    # Not ru_maxrss: that of the process which started this one would be part of it.
    status = Path('/proc/self/status').read_text().splitlines()
    print(next(float(line.split()[1]) / 1024 for line in status if line.startswith('VmHWM')))


def compare(name: str, path: Path, file: Path) -> None:
    """Print a line for each thing that is done with one recording."""
    count = by_arrays(path)
    reference, walk, arrays = timed(lambda: by_reader(path)), None, timed(lambda: by_arrays(path))
    print(
        f'\n{name}: {count} messages, {sum(f.stat().st_size for f in path.iterdir()) / 1e6:.0f} MB'
    )
    print(f'  AnyReader, deserialised (reference)  {reference:8.3f} s')
    if name != 'three topics':
        walk = timed(lambda: by_walk(path))
        print(f'  plain numpy walk (reference)         {walk:8.3f} s  {reference / walk:6.1f} x')
    print(f'  into arrays                          {arrays:8.3f} s  {reference / arrays:6.1f} x')
    reference = python('-c', READER, str(path))
    print(f'  AnyReader, as a process (reference)  {reference:8.3f} s')
    again = ('reevaluate', str(path), '--specification', str(file))
    table = ('--sensor-topic', '/mocap/pose', '--segment-table', str(file.parent / 'tests.csv'))
    commands = {
        'repsq reevaluate': again,
        'repsq reevaluate, by a table': (*again, *table),
        'repsq inspect': ('inspect', str(path)),
    }
    for what, words in commands.items():
        if name != 'three topics' or words[0] == 'inspect':
            taken = python('-m', 'repsq_ros.cli', *words)
            print(f'  {what:36s} {taken:8.3f} s  {reference / taken:6.1f} x')


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--tests', type=int, default=449, help='of 8 s, 1000 messages each')
    parser.add_argument('--quick', action='store_true', help='each once, memory of one recording')
    parser.add_argument(
        '--keep', type=Path, help='folder for the recordings; default: thrown away'
    )
    parser.add_argument('--alone', nargs=argparse.REMAINDER, default=[], help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.alone:
        alone(arguments.alone)
        return 0
    global TIMES  # noqa: PLW0603
    TIMES = 1 if arguments.quick else TIMES
    with tempfile.TemporaryDirectory() as thrown_away:
        folder = arguments.keep or Path(thrown_away)
        folder.mkdir(parents=True, exist_ok=True)
        file, bags = write_all(folder, arguments.tests)
        said = quietly('reevaluate', str(bags['plain']), '--specification', str(file))
        print(next(line for line in said.splitlines() if ' valid of ' in line))
        for name, path in bags.items():
            compare(name, path, file)
        print(f'\nlargest memory, of which {memory("nothing"):.0f} MB before anything is read')
        for name, path in list(bags.items())[: 1 if arguments.quick else None]:
            words = [('arrays', str(path))]
            if name != 'three topics':
                words.append(('reevaluate', str(path), '--specification', str(file)))
            words.append(('inspect', str(path)))
            for each in words:
                print(f'  {name}, {each[0]:12s} {memory(*each):8.0f} MB')
    return 0


if __name__ == '__main__':
    os.environ.setdefault('OMP_NUM_THREADS', '1')
    sys.exit(main())
