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

"""repsq simulate: repeated campaigns of two labs, on a distribution of psi or a subject."""

from __future__ import annotations

import argparse
import math
from pathlib import Path

from repsq_ros.console.command_line import add_executor_arguments, offer
from repsq_ros.console.outputs import add_force, refuse_others_file
from repsq_ros.errors import ParameterError
from repsq_ros.estimation.certified_cell import CertifiedCell
from repsq_ros.estimation.stopping import Outcome
from repsq_ros.json_answer import add_json, print_json
from repsq_ros.simulation.build import SUBJECTS, WORD, make_subject
from repsq_ros.specification.load import load
from repsq_ros.specification.model import Specification
from repsq_ros.studies.executor import open_executor
from repsq_ros.studies.expected_promise import expected_promise
from repsq_ros.studies.figures import FIGURE_BY, draw_runs, require_writable
from repsq_ros.studies.laws import EXPECTED, read_law
from repsq_ros.studies.repeated_campaigns import Plan, run_plan
from repsq_ros.studies.simulated_twins import MANY, require_twin, supposed_table, with_answers
from repsq_ros.studies.summary import Summary, summarize


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    parser.add_argument('specification', type=Path, help='of the initiator (YAML)')
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument('--law', default='', help=f'law of psi: {EXPECTED}')
    subject = what.add_argument('--subject', default='', metavar='ROBOT', help=WORD)
    offer(subject, SUBJECTS)
    parser.add_argument('--model', default='', help="folder of the subject's model (g1)")
    parser.add_argument(
        '--twin',
        type=float,
        metavar='RHO',
        help='with --law: a twin whose answers have this correlation with psi',
    )
    twin = parser.add_argument(
        '--twin-subject',
        action='append',
        default=[],
        metavar='ROBOT',
        help='with --subject: asked as the twin; again for each of several',
    )
    offer(twin, SUBJECTS)
    parser.add_argument(
        '--twin-tests', type=int, help=f'simulated, of --twin (default: as in its file, or {MANY})'
    )
    parser.add_argument(
        '--replicator', type=Path, help='its specification, where its proposal or rule differ'
    )
    parser.add_argument('--pairs', type=int, default=200, help='of campaigns (default 200)')
    parser.add_argument('--seed', type=int, default=1, help='of the whole study (default 1)')
    parser.add_argument('--truth', type=float, help='r*, where the law does not say it')
    add_executor_arguments(parser)
    add_json(parser)
    parser.add_argument('--figure', type=Path, help='draw estimates and tests (.svg, .png, .pdf)')
    add_force(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print agreement, coverage and tests."""
    initiator = load(arguments.specification)
    replicator = load(arguments.replicator or arguments.specification)
    _check(arguments, initiator, replicator)
    truth, rho, twin_tests = arguments.truth, arguments.twin, arguments.twin_tests or 0
    if rho is not None:
        twin_tests = twin_tests or (len(initiator.twin.simulated) if initiator.twin else MANY)
        initiator = with_answers(initiator, supposed_table(twin_tests))
    if truth is None and arguments.law:
        truth = read_law(arguments.law, initiator.measure.lower, initiator.measure.upper).mean
    plan = Plan(
        str(arguments.specification.resolve()),
        str((arguments.replicator or arguments.specification).resolve()),
        arguments.law,
        arguments.subject,
        arguments.model and str(Path(arguments.model).resolve()),
        arguments.seed,
        rho,
        twin_tests,
        tuple(arguments.twin_subject),
    )
    count: int = arguments.pairs
    with open_executor(arguments.processes, arguments.scheduler, count) as (executor, progress):
        runs = run_plan(plan, count, executor, progress)
    gammas = initiator.gamma, replicator.gamma
    by_cell = isinstance(initiator.tester.stopping, CertifiedCell)
    summary = summarize(runs, gammas, truth, by_cell)
    if arguments.json:
        print_json({'summary': summary, 'promised': expected_promise(initiator)})
    else:
        _show(summary, initiator, by_cell)
        _warn_of_budget(summary, initiator)
    if arguments.figure:
        draw_runs(arguments.figure, runs, initiator, summary)
        if not arguments.json:
            print(f'figure     {arguments.figure}')
    return 0


def _check(
    arguments: argparse.Namespace, initiator: Specification, replicator: Specification
) -> None:
    if arguments.pairs < 1:
        raise ParameterError('pairs', f'{arguments.pairs}', 'a whole number >= 1')
    if arguments.seed < 0:
        raise ParameterError('seed', f'{arguments.seed}', 'a whole number >= 0')
    if arguments.truth is not None and not math.isfinite(arguments.truth):
        raise ParameterError('truth', f'{arguments.truth}', 'a finite number')
    if arguments.figure:
        require_writable(arguments.figure)
        refuse_others_file(arguments.figure, FIGURE_BY, arguments.force)
    _check_twin(arguments, initiator, replicator)
    if arguments.law:
        read_law(arguments.law, initiator.measure.lower, initiator.measure.upper)
    else:
        for name in filter(None, (arguments.subject, *arguments.twin_subject)):
            make_subject(name, arguments.model)
    if replicator.digest != initiator.digest:
        raise ParameterError(
            'replicator',
            f'{replicator.file} with digest {replicator.digest[:12]}',
            f'the contract of {initiator.file}, digest {initiator.digest[:12]}',
        )


def _check_twin(
    arguments: argparse.Namespace, initiator: Specification, replicator: Specification
) -> None:
    """Refuse a twin without a simulator, and one that no stopping rule uses."""
    given = [each.twin.simulators for each in (initiator, replicator) if each.twin]
    if arguments.twin is not None:
        require_twin(arguments.twin, arguments.twin_tests, (initiator, replicator))
        if not arguments.law:
            raise ParameterError('twin', 'a correlation beside --subject', '--twin-subject')
    elif given and not arguments.twin_subject:
        expected = '--twin RHO' if arguments.law else '--twin-subject NAME'
        found = 'a twin, whose file answers to the cases of one seed'
        raise ParameterError('specification', found, f'{expected}, to answer those of any')
    elif arguments.twin_subject and not (given and arguments.subject):
        found = 'a twin to ask, and no control of type twin on a simulated --subject'
        raise ParameterError('twin-subject', found, 'a specification with a twin (repsq twin)')
    elif set(given) - {len(arguments.twin_subject)}:
        expected = f'as many as have answered in the file: {given[0]}'
        raise ParameterError('twin-subject', f'{len(arguments.twin_subject)} of them', expected)


def _warn_of_budget(summary: Summary, specification: Specification) -> None:
    ended = summary.outcomes.get(Outcome.BUDGET.value, 0)
    if ended:
        print(
            f'warning    {ended} of {2 * summary.pairs} campaigns ended at max_tests = '
            f'{specification.tester.max_tests}. The promise counts all campaigns: among those '
            'that met their rule, more may miss than c says.'
        )


def _show(summary: Summary, specification: Specification, by_cell: bool) -> None:
    mean, median, high = summary.tests
    gamma, source, promise = specification.gamma, '', expected_promise(specification)
    if summary.truth_error > 0:
        source = f' +- {summary.truth_error:.2g} (mean of all campaigns)'
    outcomes = ', '.join(f'{count} {name}' for name, count in summary.outcomes.items())
    held = 'whose cell holds' if by_cell else f'within gamma = {gamma:g} of'
    print(
        f'pairs      {summary.pairs}, campaigns: {outcomes}\n'
        f'promised   {promise.guarantee}\n'
        f'           {promise.agreement}\n'
        f'agreement  {summary.agreement}, pairs that both met their rule\n'
        f'coverage   {summary.coverage}, campaigns that met their rule, {held} r* = '
        f'{summary.truth:.4g}{source}\n'
        f'tests      mean {mean:.1f} +- {summary.tests_error:.1f}, median {median:.0f}, '
        f'95 % of campaigns take at most {high:.0f}'
    )
