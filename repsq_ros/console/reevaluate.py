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

"""repsq reevaluate: the measure of every test in recorded bags, by the same code as online."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence
from pathlib import Path

from repsq_ros.console.command_line import add_executor_arguments
from repsq_ros.console.outputs import add_force, refuse_others_file
from repsq_ros.console.recorded_inputs import add_recover
from repsq_ros.console.reevaluation_files import (
    REEVALUATIONS,
    RESULTS_HEADER,
    TESTS_HEADER,
    write_json,
    write_results,
    write_tests,
)
from repsq_ros.console.reevaluation_text import show, show_all
from repsq_ros.errors import ParameterError
from repsq_ros.replay.bag_folders import bags_in
from repsq_ros.replay.foreign import STAMPS_OF_COMMANDS, Marks
from repsq_ros.replay.task import Reevaluation, Task, reevaluate, reevaluate_or_tell
from repsq_ros.replay.what_if import variants
from repsq_ros.studies.executor import in_order, open_executor


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    parser.add_argument(
        'bag',
        type=Path,
        nargs='+',
        help='folder of a recording, one of its files, or a folder with many recordings',
    )
    parser.add_argument(
        '--specification', type=Path, required=True, help='says what is measured, and how'
    )
    parser.add_argument(
        '--tester',
        type=Path,
        metavar='FILE',
        help="a file with a section `tester`, in place of the specification's own",
    )
    parser.add_argument('--sensor-topic', default='', help='default: that of the input')
    parser.add_argument(
        '--remap',
        action='append',
        default=[],
        metavar='FROM:=TO',
        help='where the bag has an input or a condition, e.g. condition/battery:=/lf/bmsstate',
    )
    parser.add_argument(
        '--namespace', default='', help="namespace of the package's own topics in the bag"
    )
    add_recover(parser)
    parser.add_argument(
        '--join',
        action='store_true',
        help='the recordings are parts of one campaign, for example of one that was resumed',
    )
    parser.add_argument('--campaign', default='', help='which one, where a bag holds several')
    parser.add_argument(
        '--clock-offset',
        type=float,
        metavar='S',
        help="s that are added to the sensor's stamps, to bring them to the clock of the commands",
    )
    _add_marks(parser.add_argument_group("recordings without the package's own topics"))
    _add_what_if(parser.add_argument_group('what if'))
    add_executor_arguments(parser)


def _add_marks(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        '--command-topic',
        default='',
        help='a Twist topic; as long as the same is commanded, it is one test',
    )
    group.add_argument(
        '--command-stamp',
        choices=STAMPS_OF_COMMANDS,
        default='header',
        help='whether a TwistStamped counts by its header or by when it was recorded',
    )
    group.add_argument('--rest', action='store_true', help='commands of zero are tests, too')
    group.add_argument(
        '--hold',
        type=float,
        metavar='S',
        help='for how long a command counts after it was last sent (default: until the next one)',
    )
    group.add_argument(
        '--label-topic',
        default='',
        help='a topic of texts or numbers that names the tests; a new name is a new test',
    )
    group.add_argument(
        '--segment-topic',
        default='',
        help='a topic of texts or numbers: as long as its value stays the same, it is one test',
    )
    group.add_argument(
        '--segment-labels',
        type=_texts,
        default=(),
        metavar='A,B',
        help='which of these are tests (default: all but the empty one)',
    )
    group.add_argument(
        '--segment-table',
        type=Path,
        metavar='CSV',
        help='a table of tests: start, end [s from the first sample] or start_ns, end_ns; label, '
        'command',
    )
    group.add_argument(
        '--settle',
        type=float,
        metavar='S',
        help="s of a test that are not measured (default: as in the specification's protocol)",
    )
    group.add_argument(
        '--window',
        type=float,
        metavar='S',
        help="s that are measured after that (default: as in the specification's protocol)",
    )


def _add_what_if(group: argparse._ArgumentGroup) -> None:
    group.add_argument('--gamma', type=_numbers, default=(), metavar='G,G', help='accuracies')
    group.add_argument(
        '--rule',
        type=_texts,
        default=(),
        metavar='R,R',
        help='stopping rules, each with its keys, if any: anytime,fixed:tests=200',
    )
    group.add_argument(
        '--measure',
        type=Path,
        action='append',
        default=[],
        metavar='FILE',
        help='a file with a section `measure`; may be given several times',
    )
    group.add_argument('--csv', type=Path, metavar='FILE', help='write the table of results')
    group.add_argument('--tests', type=Path, metavar='FILE', help='write psi of all tests (CSV)')
    group.add_argument('--json', type=Path, metavar='FILE', help='write everything')
    add_force(group)


def _texts(text: str) -> tuple[str, ...]:
    return tuple(each for each in text.split(',') if each)


def _numbers(text: str) -> tuple[float, ...]:
    return tuple(float(each) for each in _texts(text))


def run(arguments: argparse.Namespace) -> int:
    """Print psi of each test, and the result of each recorded campaign."""
    tasks = _tasks(arguments)
    first = tasks[0]
    for file, mark in (
        (arguments.csv, ','.join(RESULTS_HEADER)),
        (arguments.tests, ','.join(TESTS_HEADER)),
        (arguments.json, f'"{REEVALUATIONS}"'),
    ):
        refuse_others_file(file, mark, arguments.force)
    if len(tasks) == 1:
        done = [reevaluate(first)]
        show(done[0])
    else:
        # Check the options once, so that an error is not repeated for each recording.
        variants(first.specification, first.tester, first.gammas, first.rules, first.measures)
        done = list(_do_all(arguments, tasks))
        show_all(done)
    for file, write in (
        (arguments.csv, write_results),
        (arguments.tests, write_tests),
        (arguments.json, write_json),
    ):
        if file is not None:
            _write(file, write, done)
    return max(each.exit_code for each in done)


def _tasks(arguments: argparse.Namespace) -> list[Task]:
    gammas, rules = arguments.gamma, arguments.rule
    for name in ('hold', 'clock_offset'):
        value = getattr(arguments, name)
        if value is not None and not (
            math.isfinite(value) and (value > 0 or name == 'clock_offset')
        ):
            raise ParameterError(name.replace('_', '-'), f'{value}', 'a finite number of s')
    marks = Marks(
        arguments.command_topic,
        arguments.command_stamp,
        arguments.label_topic,
        arguments.segment_topic,
        arguments.segment_labels,
        arguments.segment_table,
        arguments.rest,
        arguments.hold,
        arguments.settle,
        arguments.window,
    )
    foreign = bool(marks.command_topic or marks.segment_topic or marks.segment_table)
    if not foreign and marks != Marks():
        raise ParameterError(
            'command-topic',
            'none',
            'one, or --segment-topic or --segment-table: the other '
            "options are for recordings without the package's topics",
        )
    if foreign and (gammas or rules):
        raise ParameterError(
            'gamma' if gammas else 'rule',
            'one',
            'none: it is unknown how the cases of this '
            'recording were drawn, so there is no estimate',
        )
    bags = bags_in(arguments.bag)
    more = tuple(bags[1:]) if arguments.join else ()
    return [
        Task(
            bag,
            arguments.specification,
            arguments.tester,
            arguments.namespace,
            tuple(arguments.remap),
            arguments.sensor_topic,
            arguments.campaign,
            marks if foreign else None,
            arguments.clock_offset,
            gammas,
            rules,
            tuple(arguments.measure),
            arguments.recover,
            more,
        )
        for bag in (bags[:1] if arguments.join else bags)
    ]


def _do_all(arguments: argparse.Namespace, tasks: Sequence[Task]) -> Sequence[Reevaluation]:
    """Do many tasks in parallel; order and numbers are as in sequence."""
    done = []
    if arguments.scheduler:
        tasks = [task.anywhere() for task in tasks]
    with open_executor(arguments.processes, arguments.scheduler, len(tasks), 'bag') as (
        executor,
        progress,
    ):
        for each in in_order(executor, reevaluate_or_tell, tasks):
            done.append(each)
            progress(1)
    return done


def _write(
    file: Path, write: Callable[[Path, Sequence[Reevaluation]], None], done: Sequence[Reevaluation]
) -> None:
    write(file, done)
    print(f'written   {file}')
