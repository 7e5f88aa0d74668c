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

    .venv/bin/with_repsq python3 benchmarks/graph_speed.py [--tests 60] [--model FOLDER] [SPEC]

The reference is the same campaign in one process, run before and after in the same call. Prints
how many times real time each makes, the ratio of the two, and the longest time between two
heartbeats of each node after the first test.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import rclpy
import yaml

from repsq_ros import topics
from repsq_ros.campaign.journal import JOURNAL
from repsq_ros.campaign.journal_contents import read_contents
from repsq_ros.msg import Heartbeat
from repsq_ros.nodes import qos
from repsq_ros.nodes.identity import ROLES
from repsq_ros.nodes.polling import polled_subscription, take_waiting
from repsq_ros.simulation.build import make_subject
from repsq_ros.simulation.in_process import run_in_process
from repsq_ros.specification.load import load
from repsq_ros.timebase import to_seconds

SPECIFICATION = Path(__file__).resolve().parent.parent / 'config' / 'g1_locomotion.yaml'
LOOK = 0.02  # [s]


class Run(NamedTuple):
    """How long it took [s]."""

    command: float  # from its start to its end
    tests: float  # from the end of the first test to that of the last
    simulated: float  # in the same time


class Beats:
    """The longest time between two heartbeats of each node [s]."""

    def __init__(self) -> None:
        os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'  # as `repsq run --simulate`
        rclpy.init()
        node = rclpy.create_node('beats')
        self._heard = {
            role: polled_subscription(node, Heartbeat, f'{topics.HEARTBEAT}/{role}', qos.SENSOR)
            for role in ROLES
        }
        self._last: dict[str, int] = {}
        self.longest = dict.fromkeys(ROLES, 0.0)

    def look(self, counts: bool) -> None:
        """Take in those that have come; forget the times before them if they do not count."""
        for role, subscription in self._heard.items():
            for _, info in take_waiting(subscription):
                at_ns = info['source_timestamp']  # without the delays of this process
                between = to_seconds(at_ns - self._last.get(role, at_ns))
                self._last[role] = at_ns
                self.longest[role] = max(self.longest[role], between) if counts else 0.0


def reference(specification: Path, subject: str, model: str) -> float:
    """Return the s that the campaign takes in one process."""
    loaded, robot = load(specification), make_subject(subject, model)
    began = time.monotonic()
    run_in_process(loaded, robot, loaded.tester.seed)
    return time.monotonic() - began


def graph(specification: Path, subject: str, model: str, folder: Path, beats: Beats) -> Run:
    """Run the campaign over DDS."""
    command = [
        sys.executable, '-m', 'repsq_ros.cli', 'run', str(specification), '--simulate',
        '--subject', subject, '--model', model, '--output', str(folder),
    ]  # fmt: skip
    began = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    first = ended = None
    tests, result = folder / 'tests.csv', folder / 'result.yaml'
    while process.poll() is None:
        if ended is None:
            beats.look(first is not None)
        if first is None and tests.exists() and tests.read_text().count('\n') > 1:
            first = time.monotonic()
        if ended is None and result.exists():
            ended = time.monotonic()
        time.sleep(LOOK)
    contents = read_contents(folder / JOURNAL)
    if process.returncode != 0 or first is None or ended is None or contents is None:
        raise SystemExit('the campaign over DDS had no result')
    ends = [test.window_end_ns for test in contents.tests]
    return Run(time.monotonic() - began, ended - first, to_seconds(ends[-1] - ends[0]))


def main() -> None:
    """Run reference, graph, reference, and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('specification', nargs='?', type=Path, default=SPECIFICATION)
    parser.add_argument('--tests', type=int, default=60, help='tests in the campaign')
    parser.add_argument('--model', default='', help='folder of the G1; default: the surrogate')
    arguments = parser.parse_args()
    beats = Beats()
    with tempfile.TemporaryDirectory() as name:
        content = yaml.safe_load(arguments.specification.read_text())
        content['tester'].update(
            stopping={'rule': 'fixed', 'tests': arguments.tests}, max_tests=arguments.tests
        )
        specification = Path(name) / 'specification.yaml'
        specification.write_text(yaml.safe_dump(content))
        arm = load(specification).protocol.kind == 'pose'
        subject = 'arm' if arm else 'g1' if arguments.model else 'surrogate'
        before = reference(specification, subject, arguments.model)
        made = graph(specification, subject, arguments.model, Path(name) / 'campaign', beats)
        after = reference(specification, subject, arguments.model)
    in_process = (before + after) / 2
    simulated = made.simulated * arguments.tests / (arguments.tests - 1)
    print(f'{subject}, {arguments.tests} tests, {simulated:.0f} s of simulated time')
    print(f'in one process (reference)   {simulated / in_process:7.1f} x real time')
    print(f'whole graph over DDS         {made.simulated / made.tests:7.1f} x real time')
    print(f'with start and end of nodes  {simulated / made.command:7.1f} x real time')
    share = made.tests * simulated / made.simulated / in_process
    print(f'graph / reference            {share:7.1f} x the time')
    for role, between in beats.longest.items():
        print(f'between heartbeats, at most  {1e3 * between:7.1f} ms, {role}')


if __name__ == '__main__':
    main()
