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

"""How fast a simulated campaign runs through the whole graph, over DDS.

    .venv/bin/with_repsq python3 benchmarks/graph_speed.py [--tests 60] [--model FOLDER]

The reference is the same campaign in one process, run before and after in the same call. Prints
how many times real time each makes, and the ratio of the two.
"""

from __future__ import annotations

import argparse
import csv
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

from repsq_ros.simulation.build import make_subject
from repsq_ros.simulation.in_process import run_in_process
from repsq_ros.specification.load import load
from repsq_ros.timebase import to_seconds

SPECIFICATION = Path(__file__).resolve().parent.parent / 'config' / 'g1_locomotion.yaml'


def reference(specification: Path, subject: str, model: str) -> float:
    """Return the s that the campaign takes in one process."""
    loaded, robot = load(specification), make_subject(subject, model)
    began = time.monotonic()
    run_in_process(loaded, robot, loaded.tester.seed)
    return time.monotonic() - began


def graph(specification: Path, subject: str, model: str, folder: Path) -> float:
    """Return the s that the campaign takes over DDS, from its first test's end to its last's."""
    command = [
        sys.executable, '-m', 'repsq_ros.cli', 'run', str(specification), '--simulate',
        '--subject', subject, '--model', model, '--output', str(folder),
    ]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    first = None
    tests = folder / 'tests.csv'
    while process.poll() is None:
        if first is None and tests.exists() and len(list(csv.reader(tests.open()))) > 1:
            first = time.monotonic()
        if (folder / 'result.yaml').exists():
            break
        time.sleep(0.02)
    ended = time.monotonic()
    if process.wait() != 0 or first is None:
        raise SystemExit('the campaign over DDS had no result')
    return ended - first


def main() -> None:
    """Run reference, graph, reference, and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--tests', type=int, default=60, help='tests in the campaign')
    parser.add_argument('--model', default='', help='folder of the G1; default: the surrogate')
    arguments = parser.parse_args()
    subject = 'g1' if arguments.model else 'surrogate'
    with tempfile.TemporaryDirectory() as name:
        content = yaml.safe_load(SPECIFICATION.read_text())
        content['tester'].update(
            stopping={'rule': 'fixed', 'tests': arguments.tests}, max_tests=arguments.tests
        )
        specification = Path(name) / 'specification.yaml'
        specification.write_text(yaml.safe_dump(content))
        loaded = load(specification)
        test_s = to_seconds(loaded.protocol.duration_ns(loaded.box))
        before = reference(specification, subject, arguments.model)
        over_dds = graph(specification, subject, arguments.model, Path(name) / 'campaign')
        after = reference(specification, subject, arguments.model)
    in_process = (before + after) / 2
    per_test = over_dds / (arguments.tests - 1)
    print(f'{subject}, {arguments.tests} tests of {test_s:g} s')
    print(f'in one process (reference)   {arguments.tests * test_s / in_process:7.1f} x real time')
    print(f'whole graph over DDS         {test_s / per_test:7.1f} x real time')
    print(
        f'graph / reference            {per_test * arguments.tests / in_process:7.1f} x the time'
    )


if __name__ == '__main__':
    main()
