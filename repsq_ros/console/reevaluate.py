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

"""repsq reevaluate: the measure of every test in a recorded bag, by the same code as online."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from repsq_ros.campaign.result_text import result_text
from repsq_ros.errors import BagError, ParameterError
from repsq_ros.estimation.accumulator import Accumulator
from repsq_ros.recordings.bag import Bag
from repsq_ros.replay.evaluation import Evaluated, evaluate, fold, read_samples
from repsq_ros.replay.segments import command_segments, own_segments
from repsq_ros.specification.load import load
from repsq_ros.timebase import to_nanoseconds, to_seconds


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    parser.add_argument(
        'bag', type=Path, help='folder of a rosbag2 recording, or one of its files'
    )
    parser.add_argument(
        '--specification', type=Path, required=True, help='says what is measured, and how'
    )
    parser.add_argument('--sensor-topic', help='default: that of the input')
    parser.add_argument(
        '--remap', action='append', default=[], metavar='FROM:=TO',
        help="where the bag has an input or a condition, e.g. condition/battery:=/lf/bmsstate",
    )  # fmt: skip
    parser.add_argument(
        '--namespace', default='', help="namespace of the package's own topics in the bag"
    )
    parser.add_argument(
        '--command-topic',
        help="a bag without the package's topics: each message on this Twist topic is one test",
    )
    parser.add_argument('--label-topic', default='', help='a String topic that names these tests')
    parser.add_argument(
        '--settle', type=float,
        help='with --command-topic: s after a command that are not measured '
        '(default: protocol.command - protocol.window)',
    )  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Print psi of each test, and the result where the bag holds a whole campaign."""
    specification = load(arguments.specification)
    measure = specification.measure
    topic_of = _Topics(arguments.namespace, arguments.remap)
    sensor_topic = arguments.sensor_topic or topic_of(measure.input.topic)
    with Bag(arguments.bag) as bag:
        samples = read_samples(bag, sensor_topic, measure.input)
        conditions = {
            condition.name: read_samples(bag, topic_of(source.topic), source)
            for condition, source in zip(measure.conditions, measure.condition_inputs, strict=True)
        }
        if arguments.command_topic:
            settle_ns = specification.protocol.before_window_ns
            if arguments.settle is not None:
                if not 0.0 <= arguments.settle < 1e9:
                    raise ParameterError('settle', f'{arguments.settle}', 's, 0 or more')
                settle_ns = to_nanoseconds(arguments.settle)
            segments = command_segments(
                bag, arguments.command_topic, arguments.label_topic, samples, settle_ns
            )
        else:
            segments = own_segments(bag, arguments.namespace, specification.digest)
    if not segments:
        raise BagError(f'{arguments.bag}: found no test, expected at least one command')
    evaluated = evaluate(specification, samples, segments, conditions)
    valid = _show_tests(evaluated)
    if not valid:
        raise BagError(f'{arguments.bag}: found no valid test of {len(evaluated)}, expected one')
    if arguments.command_topic:
        print('No estimate of r*: the recording does not say how its cases were drawn.')
        return 0
    result = fold(specification, evaluated, str(arguments.bag))
    if result is None:
        print('No result: the recorded campaign had not reached its end.')
    else:
        print(result_text(result))
    return 0


class _Topics:
    """Names of the inputs' topics in a bag."""

    def __init__(self, prefix: str, rules: Sequence[str]) -> None:
        self._prefix, self._rules = prefix, {}
        for rule in rules:
            name, arrow, target = rule.partition(':=')
            if not (name and arrow and target):
                raise ParameterError('remap', f'{rule!r}', 'FROM:=TO')
            self._rules[name.lstrip('/')] = target

    def __call__(self, name: str) -> str:
        return self._rules.get(name, f'{self._prefix}/{name}')


def _show_tests(evaluated: Sequence[Evaluated]) -> int:
    """Print a line for each test; returns how many are valid."""
    total = Accumulator()
    print('test  attempt  window [s]  samples  psi       label')
    for each in evaluated:
        segment, outcome = each.segment, each.outcome
        length = to_seconds(segment.window.end_ns - segment.window.start_ns)
        psi = f'{outcome.psi:.6f}' if outcome.valid else 'INVALID '
        note = segment.label if outcome.valid else f'{segment.label} {outcome.reason}'.strip()
        print(
            f'{segment.index:4d}  {segment.attempt:7d}  {length:10.3f}  {outcome.samples:7d}  '
            f'{psi}  {note}'
        )
        if outcome.valid:
            total.add(outcome.psi)
    if total.n:
        print(
            f'{total.n} valid of {len(evaluated)}: mean psi {total.mean:.6f}, '
            f'standard deviation {total.variance**0.5:.6f}'
        )
    return total.n
