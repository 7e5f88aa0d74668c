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

"""Do a busy machine and nodes that stand still change a simulated campaign? They must not.

    .venv/bin/with_repsq python3 test/ros/bench_beside_load.py demo [--times 10] [--loops 6]
    .venv/bin/with_repsq python3 test/ros/bench_beside_load.py soak [--minutes 30] [--loops 2]

`demo`: both labs of `make demo`, again and again, beside busy loops, while a node drawn at random
is stopped for 0.5 to 3 s. n, estimate and value have to be those of one process.
`soak`: a campaign in real time beside busy loops; psi of each test has to be that of one process,
and no attempt may be lost. Exit code 1 where something differs.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import yaml

from repsq_ros.campaign.journal import JOURNAL
from repsq_ros.campaign.journal_contents import read_contents
from repsq_ros.campaign.records import EstimateRecord, TestRecord
from repsq_ros.simulation.build import make_subject
from repsq_ros.simulation.in_process import run_in_process
from repsq_ros.specification.load import load

ROOT = Path(__file__).resolve().parent.parent.parent
RUN = [sys.executable, '-m', 'repsq_ros.cli', 'run']
TOLD = ('n', 'estimate', 'value')
BETWEEN = (1.0, 4.0)  # [s] between two nodes that are stopped
STOPPED = (0.5, 3.0)  # [s]
LASTS = 100_000  # tests, which no soak comes to


@contextmanager
def busy(loops: int) -> Iterator[None]:
    """Keep so many processes busy."""
    processes = [
        subprocess.Popen([sys.executable, '-c', 'while True: pass']) for _ in range(loops)
    ]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


class Stopper(threading.Thread):
    """Stops a child of a process, and lets it go on, again and again.

    :ivar count: how often it has done so
    """

    def __init__(self, parent: int, chance: random.Random) -> None:
        super().__init__(daemon=True)
        self._parent, self._chance, self.count = parent, chance, 0
        self.over = threading.Event()

    def run(self) -> None:
        """Go on until `over` is set."""
        tasks = Path(f'/proc/{self._parent}/task/{self._parent}/children')
        while not self.over.wait(self._chance.uniform(*BETWEEN)):
            try:
                child = int(self._chance.choice(tasks.read_text().split()))
                os.kill(child, signal.SIGSTOP)
                time.sleep(self._chance.uniform(*STOPPED))
                os.kill(child, signal.SIGCONT)
            except (OSError, IndexError):  # not begun, or over
                continue
            self.count += 1


def run(arguments: list[str], folder: Path, chance: random.Random | None) -> dict[str, object]:
    """Run a campaign, and return what its result says."""
    command = [*RUN, *arguments, '--simulate', '--output', str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    stopper = None
    if chance is not None:
        stopper = Stopper(process.pid, chance)
        stopper.start()
    code = process.wait()
    if stopper is not None:
        stopper.over.set()
        stopper.join()
        print(f'  {stopper.count} times a node was stopped', flush=True)
    if code:
        print(f'  exit code {code}')
        return {}
    told = yaml.safe_load((folder / 'result.yaml').read_text())
    return {name: told[name] for name in TOLD}


def labs(folder: Path, chance: random.Random | None, *more: str) -> list[dict[str, object]]:
    """Run an initiator and a replicator, as `make demo` does."""
    first, tester = folder / 'initiator', str(ROOT / 'config' / 'replicator.yaml')
    specification = str(ROOT / 'config' / 'g1_locomotion.yaml')
    found = [run([specification, *more], first, chance)]
    replication = [str(first / 'replication.yaml'), '--tester', tester, *more]
    return [*found, run(replication, folder / 'replicator', chance)]


def demo(times: int, loops: int, seed: int) -> bool:
    """Tell whether all demos give what one process gives."""
    chance, equal = random.Random(seed), 0
    with tempfile.TemporaryDirectory() as made:
        expected = labs(Path(made) / 'reference', None, '--in-process')
        print(f'in one process: {expected}', flush=True)
        with busy(loops):
            for number in range(times):
                began = time.monotonic()
                found = labs(Path(made) / f'{number}', chance)
                equal += found == expected
                word = 'equal' if found == expected else f'DIFFERENT: {found}'
                print(f'demo {number}: {word}, {time.monotonic() - began:.0f} s', flush=True)
    print(f'{equal} of {times} demos equal')
    return equal == times


def soak(name: str, minutes: float, loops: int) -> bool:
    """Tell whether each psi is that of one process, and no attempt was lost."""
    with tempfile.TemporaryDirectory() as made, busy(loops):
        content = yaml.safe_load((ROOT / 'config' / f'{name}.yaml').read_text())
        content['tester'].update(stopping={'rule': 'fixed', 'tests': LASTS}, max_tests=LASTS)
        file, folder = Path(made) / 'specification.yaml', Path(made) / 'campaign'
        file.write_text(yaml.safe_dump(content))
        command = [*RUN, str(file), '--simulate', '--speed', '1', '--output', str(folder)]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        try:
            process.wait(60.0 * minutes)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
            process.wait()
        contents = read_contents(folder / JOURNAL)
        tests = [] if contents is None else list(contents.tests)
        lost = [test for test in tests if not test.valid]
        if tests and tests[-1] in lost:  # broken off by the end itself
            del lost[-1], tests[-1]
        expected = in_process(file, len(tests))
        equal = [test.psi for test in tests] == expected
        word = 'equal to those of one process' if equal else 'DIFFERENT from one process'
        print(f'{name}: {len(tests)} tests in {minutes:g} min, {len(lost)} lost, psi {word}')
        for test in lost:
            print(f'  test {test.index}, attempt {test.attempt}: {test.reason}')
        return bool(tests) and equal and not lost


def in_process(file: Path, count: int) -> list[float]:
    """Return psi of the first tests of the same campaign in one process."""

    class EnoughError(Exception):
        """So many tests are counted."""

    found: list[float] = []

    def take(record: TestRecord, _: EstimateRecord) -> None:
        found.append(record.psi)
        if len(found) == count:
            raise EnoughError

    specification = load(file)
    subject = make_subject('arm' if specification.protocol.kind == 'pose' else 'surrogate', '')
    with suppress(EnoughError):
        run_in_process(specification, subject, specification.tester.seed or 0, on_test=take)
    return found


def main() -> int:
    """Run what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('what', choices=('demo', 'soak'))
    parser.add_argument('--times', type=int, default=10)
    parser.add_argument('--minutes', type=float, default=30.0)
    parser.add_argument('--loops', type=int)
    parser.add_argument('--seed', type=int, default=1, help='of which node is stopped, and when')
    parser.add_argument('--only', help='soak: g1_locomotion or ur10e_positioning')
    given = parser.parse_args()
    if given.what == 'demo':
        return not demo(given.times, 6 if given.loops is None else given.loops, given.seed)
    names = [given.only] if given.only else ['g1_locomotion', 'ur10e_positioning']
    loops = 2 if given.loops is None else given.loops
    equal = [soak(name, given.minutes, loops) for name in names]  # all of them
    return not all(equal)


if __name__ == '__main__':
    sys.exit(main())
