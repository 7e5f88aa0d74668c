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


"""repsq doctor: checks of the computer and of a robot's topics before a campaign."""

from __future__ import annotations

import argparse
import math
import os
import shutil
from collections.abc import Callable
from pathlib import Path

from repsq_ros import topics
from repsq_ros.campaign.journal_contents import clock_state
from repsq_ros.console.dependent_process import INTERRUPTED
from repsq_ros.console.shared_memory import SHARED_MEMORY, clear, left_over
from repsq_ros.errors import MissingError, ParameterError
from repsq_ros.json_answer import add_json, print_json
from repsq_ros.protocols.command_space import CommandKind
from repsq_ros.replay.bag_topics import TopicNames
from repsq_ros.specification.load import load
from repsq_ros.specification.model import Specification
from repsq_ros.views.examination import (
    Diagnosis,
    Machine,
    Middleware,
    examine_command,
    examine_machine,
    examine_topic,
    verdict,
)
from repsq_ros.views.health import Level

NOT_READY = 3
# The usual command topics by kind of command; pushes have none.
COMMANDS = {
    CommandKind.VELOCITY: (topics.COMMAND_VELOCITY,),
    CommandKind.POSE: (topics.SCRIPT_COMMAND,),
    CommandKind.PUSH: (),
}
CPUS = Path('/sys/devices/system/cpu')
RECEIVE_BUFFER = Path('/proc/sys/net/core/rmem_max')


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    parser.add_argument(
        'specification', type=Path, nargs='?', metavar='SPEC',
        help='test specification: its topics are listened to; left out: this computer alone',
    )  # fmt: skip
    parser.add_argument(
        '--seconds', type=float, default=5.0, help='for which the topics are listened to'
    )
    parser.add_argument(
        '--remap', action='append', default=[], metavar='FROM:=TO',
        help='where a topic is, as for repsq run, e.g. odom:=/state',
    )  # fmt: skip
    parser.add_argument('--namespace', default='', help='of the nodes')
    parser.add_argument(
        '--output', type=Path, default=Path(), metavar='FOLDER', help='where campaigns are kept'
    )
    parser.add_argument(
        '--clear-shared-memory', action='store_true',
        help='first remove what Fast DDS left in /dev/shm where processes were killed',
    )  # fmt: skip
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print what is ready and what is not; return 3 if a campaign should not begin."""
    seconds: float = arguments.seconds
    if not (math.isfinite(seconds) and seconds > 0):
        raise ParameterError('seconds', f'{seconds:g}', 'a finite number > 0')
    if arguments.clear_shared_memory:
        clear()
    found = examine_machine(machine_state(arguments.output))
    if arguments.specification is not None:
        names = TopicNames.of(arguments.namespace, arguments.remap)
        if not arguments.json:
            print(f'listening for {seconds:g} s ...', flush=True)
        return _listen(
            load(arguments.specification),
            names,
            seconds,
            lambda heard: _answer([*found, *heard], arguments.json),
        )
    return _answer(found, arguments.json)


def _answer(found: list[Diagnosis], json: bool) -> int:
    """Print what was found; return the exit code."""
    worst = verdict(found)
    code = 0 if worst <= Level.WARN else NOT_READY
    if json:
        print_json({'ready': not code, 'found': found})
        return code
    for each in found:
        print(f'{each.level.name:6s} {each.name}: {each.text}')
        if each.remedy:
            print(f'       -> {each.remedy}')
    print({Level.OK: 'ready', Level.WARN: 'ready, but see the warnings'}.get(worst, 'NOT ready'))
    return code


def machine_state(folder: Path) -> Machine:
    """Return the state of this computer.

    :param folder: of campaigns; it need not exist
    """
    there = next(each for each in (folder.absolute(), *folder.absolute().parents) if each.exists())
    governors = (_first_line(each) for each in sorted(CPUS.glob('cpu*/cpufreq/scaling_governor')))
    buffer = _first_line(RECEIVE_BUFFER)
    synchronized = clock_state()['synchronized']
    return Machine(
        shutil.disk_usage(there).free,
        os.getloadavg()[0] if hasattr(os, 'getloadavg') else None,
        os.cpu_count() or 1,
        int(buffer) if buffer.isdigit() else None,
        tuple(each for each in governors if each),
        synchronized if isinstance(synchronized, bool) else None,
        _middleware(),
    )


def _middleware() -> Middleware:
    variable = os.environ.get
    alone = variable('ROS_LOCALHOST_ONLY') == '1' or variable(
        'ROS_AUTOMATIC_DISCOVERY_RANGE', ''
    ).upper() in ('LOCALHOST', 'OFF')
    return Middleware(
        variable('RMW_IMPLEMENTATION', ''),
        variable('FASTDDS_BUILTIN_TRANSPORTS', ''),
        alone,
        shutil.disk_usage(SHARED_MEMORY).free if SHARED_MEMORY.is_dir() else None,
        len(left_over()),
    )


def _first_line(file: Path) -> str:
    """Return the first line of a kernel file; '' if it does not exist."""
    try:
        return file.read_text().strip()
    except OSError:
        return ''


def _listen(
    specification: Specification,
    names: TopicNames,
    seconds: float,
    answer: Callable[[list[Diagnosis]], int],
) -> int:
    """Listen to the topics of a specification; return the exit code.

    :param answer: called with what was found before the node is destroyed, which may hang
    """
    try:
        from repsq_ros.nodes.graph_survey import GraphSurvey, TopicToSurvey
        from repsq_ros.nodes.runtime import run_node
    except ImportError as error:
        raise MissingError.of_ros('repsq doctor SPEC', error, 'repsq doctor') from None
    measure = specification.measure
    wanted = [TopicToSurvey(names(measure.input.topic), measure.input, not measure.of_readings)]
    wanted += [TopicToSurvey(names(each.topic), each, False) for each in measure.condition_inputs]
    feedback = specification.feedback
    if feedback is not None and names(feedback.topic) not in {each.topic for each in wanted}:
        wanted.append(TopicToSurvey(names(feedback.topic), feedback, True))
    commands = [names(each) for each in COMMANDS[specification.protocol.kind]]
    made: list[GraphSurvey] = []

    def make() -> GraphSurvey:
        made.append(GraphSurvey(wanted, commands, seconds))
        return made[0]

    def conclude(code: int) -> int:
        if code:
            return code  # the node has printed why
        if not made[0].finished:
            return INTERRUPTED
        missing = [Diagnosis('messages', Level.ERROR, each) for each in made[0].missing]
        heard = [examine_topic(each) for each in made[0].surveys]
        commands = [examine_command(each) for each in made[0].command_surveys]
        return answer([*missing, *heard, *commands])

    return run_node('repsq doctor', make, conclude)
