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
from replay_recordings import NUMBER, ODOMETRY, POSE, STORE, write_all
from rosbags.highlevel import AnyReader

from repsq_ros.cli import main as repsq
from repsq_ros.recordings.mcap_records import unpacked
from repsq_ros.recordings.recording import Recording

TIMES = 3  # that each is run; the best counts
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


def compare(name: str, path: Path, file: Path, by_command: bool) -> None:
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
    if not by_command:
        return
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
    parser.add_argument(
        '--quick', action='store_true', help='each once, commands and memory of one recording'
    )
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
            compare(name, path, file, by_command=name == 'plain' or not arguments.quick)
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
