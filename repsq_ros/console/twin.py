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

"""repsq twin: a simulator's answers to the cases of a campaign, and to many more."""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from pathlib import Path

from repsq_ros.campaign.cases import CaseSource
from repsq_ros.console.command_line import add_executor_arguments, offer
from repsq_ros.console.outputs import add_force, refuse_others_file, write_text
from repsq_ros.errors import CampaignError, JournalError, MissingError, ParameterError
from repsq_ros.json_answer import add_json, print_json, text_beside
from repsq_ros.seeds import RandomStream, generator
from repsq_ros.simulation.build import SUBJECTS, WORD, make_subject
from repsq_ros.simulation.in_process import require_fit
from repsq_ros.specification.control_section import KNOWN_BEFORE
from repsq_ros.specification.load import load
from repsq_ros.specification.model import Specification
from repsq_ros.specification.twin_section import ANSWERS, LEAST, OF_ROBOT
from repsq_ros.studies.executor import in_order, open_executor
from repsq_ros.studies.simulated_twins import Case, answers_of

MOST_CASES = 1000  # largest number of robot cases, unless the specification has fewer tests
TOGETHER = 20  # cases in one task


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    parser.add_argument('specification', type=Path, help='test specification (YAML)')
    parser.add_argument('--tests', type=int, default=10_000, help='simulated (default 10000)')
    parser.add_argument(
        '--cases', type=int, help=f'of the robot (default: max_tests, {MOST_CASES} at most)'
    )
    parser.add_argument('--seed', type=int, help="of the campaign (default: the specification's)")
    subject = parser.add_argument(
        '--subject',
        action='append',
        default=[],
        metavar='ROBOT',
        help=f'who answers; again for each of several: {WORD}',
    )
    offer(subject, SUBJECTS)
    parser.add_argument(
        '--topic',
        action='append',
        default=[],
        metavar='NAME',
        help='another simulator answers: TestCommand on NAME/case, TestMeasurement on NAME/answer',
    )
    parser.add_argument(
        '--within', type=float, default=60.0, help='s for an answer on a topic (default 60)'
    )
    parser.add_argument(
        '--empty',
        action='store_true',
        help=f'cases alone: another simulator fills in the column {ANSWERS[0]}',
    )
    parser.add_argument('--model', default='', help="folder of the subject's model (g1)")
    parser.add_argument('--output', type=Path, default=Path('twin.csv'), help='default twin.csv')
    parser.add_argument(
        '--check', action='store_true', help='simulate again, and compare with the file'
    )
    add_executor_arguments(parser)
    add_json(parser)
    add_force(parser)


def run(arguments: argparse.Namespace) -> int:
    """Write the file, or compare it with a new simulation."""
    specification = load(arguments.specification)
    file: Path = arguments.output
    seed = specification.tester.seed if arguments.seed is None else arguments.seed
    count = min(specification.tester.max_tests, MOST_CASES)
    count = count if arguments.cases is None else arguments.cases
    if seed is None or seed < 0:
        raise ParameterError('seed', f'{seed}', "the campaign's seed: its cases are answered")
    if arguments.tests < LEAST or count < 1:
        found = f'{arguments.tests} simulated tests, {count} cases'
        raise ParameterError('tests', found, f'at least {LEAST}, and a case of the robot')
    asked = len(arguments.subject) + len(arguments.topic)
    if arguments.empty == bool(asked) or asked > len(ANSWERS):
        expected = f'--empty, or up to {len(ANSWERS)} of --subject and --topic'
        raise ParameterError('subject', f'{asked} simulators', expected)
    if not arguments.within > 0.0:
        raise ParameterError('within', f'{arguments.within:g}', 'a time above 0 s')
    columns = (OF_ROBOT, *specification.box.names, *ANSWERS[: max(asked, 1)])
    header = ','.join(columns)
    if not arguments.check:
        refuse_others_file(file, header, arguments.force)
    robot = _cases_of_robot(specification, seed, count)
    simulated = [
        specification.target.sample(generator(seed, RandomStream.TWIN, place))
        for place in range(arguments.tests)
    ]
    cases = [*robot, *simulated]
    answers = [[''] * len(cases)]
    if asked:
        answers = [_ask(arguments, specification, each, cases) for each in arguments.subject]
        answers += [_ask_topic(arguments, specification, each, cases) for each in arguments.topic]
    lines = [
        ','.join((str(int(place < count)), *map(repr, x), *of_case))
        for place, (x, *of_case) in enumerate(zip(cases, *answers, strict=True))
    ]
    text = '\n'.join([header, *lines, ''])
    if arguments.check:
        _compare(file, text)
    else:
        write_text(file, text)
    digest = hashlib.sha256(text.encode()).hexdigest()
    if arguments.json:
        print_json({'file': str(file), 'digest': digest, 'cases': count, 'seed': seed,
                    'tests': len(simulated)})  # fmt: skip
        return 0
    print(
        f'{file}: {count} cases of seed {seed}, {len(simulated)} simulated tests, digest '
        f'{digest[:12]}{", as simulated again" if arguments.check else ""}'
    )
    if not (arguments.check or specification.twin):
        print(f'add to the tester:  control: {{type: twin, file: {file.name}}}')
    return 0


def _cases_of_robot(specification: Specification, seed: int, count: int) -> list[Case]:
    kind = specification.tester.proposal.kind
    if kind not in KNOWN_BEFORE:
        raise ParameterError('proposal', f'{kind!r}', ' or '.join(KNOWN_BEFORE))
    alone = replace(specification, tester=replace(specification.tester, control=None))
    source = CaseSource(alone, alone.make_proposal(), seed)
    return [source.draw(index).x for index in range(count)]


def _ask(
    arguments: argparse.Namespace, specification: Specification, robot: str, cases: Sequence[Case]
) -> list[str]:
    """Return a simulated robot's psi of each case; without psi, the middle of the range."""
    require_fit(make_subject(robot, arguments.model), specification)
    work = partial(_answer, specification.file, robot, arguments.model)
    pieces = [cases[begin : begin + TOGETHER] for begin in range(0, len(cases), TOGETHER)]
    found: list[str] = []
    with open_executor(arguments.processes, arguments.scheduler, len(cases), 'test') as (
        executor, progress,
    ):  # fmt: skip
        for piece in in_order(executor, work, pieces):
            found += piece
            progress(len(piece))
    return found


def _ask_topic(
    arguments: argparse.Namespace, specification: Specification, topic: str, cases: Sequence[Case]
) -> list[str]:
    """Return another simulator's answer to each case; without one, the middle of the range."""
    try:
        from repsq_ros.nodes.twin_questions import ask_on_topic
    except ImportError as error:
        raise MissingError.of_ros('repsq twin --topic', error, 'repsq twin --empty') from None
    with open_executor(1, '', len(cases), 'test') as (_, progress):
        found = ask_on_topic(topic, specification, cases, arguments.within, progress)
    without, measure = found.count(None), specification.measure
    if without == len(cases):
        raise CampaignError(f'{topic}: found valid false in each answer, expected answers')
    if without:
        told = f'{topic}: {without} of {len(cases)} cases without an answer count as the middle'
        print(told, file=text_beside(arguments.json))
    middle = (measure.lower + measure.upper) / 2.0
    return [repr(middle if s is None else s) for s in found]


def _answer(file: str, subject: str, model: str, cases: Sequence[Case]) -> list[str]:
    ask = answers_of(load(Path(file)), make_subject(subject, model))
    return [repr(ask(x)) for x in cases]


def _compare(file: Path, text: str) -> None:
    try:
        found = file.read_text(encoding='utf-8')
    except OSError as error:
        raise ParameterError('output', f'{file}: {error.strerror}', 'answers to compare') from None
    pairs = zip_longest(found.splitlines(), text.splitlines())
    for number, (before, now) in enumerate(pairs, start=1):
        if before != now:
            raise JournalError(f'{file}, line {number}: found {before!r}, simulated is {now!r}')
