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

"""repsq study: a study of this package's own claims, as one command each."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from concurrent.futures import Executor
from typing import TypeVar

from repsq_ros.console.simulate import add_executor_arguments
from repsq_ros.errors import ParameterError
from repsq_ros.studies.case_rules import CASES, GAINS, Taken, study_cases, study_pairs
from repsq_ros.studies.executor import open_executor
from repsq_ros.studies.rules import BETA, SCENARIOS, C, Row, study_scenario

STUDIES = ('rules',)
Found = TypeVar('Found')


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    parser.add_argument(
        'name', choices=STUDIES, help='rules: tests and agreement of each stopping rule'
    )
    parser.add_argument('--runs', type=int, default=1000, help='of each law (default 1000)')
    parser.add_argument('--seed', type=int, default=1, help='of the study (default 1)')
    add_executor_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the tables, in Markdown."""
    if arguments.runs < 10 or arguments.runs % 2:
        raise ParameterError('runs', f'{arguments.runs}', 'an even number >= 10')
    if arguments.seed < 0:
        raise ParameterError('seed', f'{arguments.seed}', 'a whole number >= 0')
    runs, seed = arguments.runs, arguments.seed
    total = len(SCENARIOS) + len(CASES) + len(GAINS)
    with open_executor(arguments.processes, arguments.scheduler, total) as (executor, progress):
        rows = _all(executor, progress, study_scenario, len(SCENARIOS), runs, seed)
        cases = _all(executor, progress, study_cases, len(CASES), runs, seed)
        pairs = _all(executor, progress, study_pairs, len(GAINS), runs, seed)
    print(f'{runs} runs of each law, c = {C:g}, beta = {BETA:g}; +- standard error\n')
    _print_table(
        'law of z, gamma | paper: tests | missed | same | anytime: tests | missed | same '
        '| anchored: tests | same and close | certified: median | wrong | unresolved',
        [_line(row) for row in rows],
    )
    print('\nWhere psi depends on the case (three dimensions), all by anytime:\n')
    _print_table(
        'law of psi, gamma | Monte Carlo | missed | adaptive, d 10 | missed '
        '| control: regression | missed | both | missed',
        [
            [f'{row.law}, {row.gamma:g}', *_of(row.monte_carlo), *_of(row.adaptive),
             *_of(row.control), *_of(row.both)]
            for row in cases
        ],
    )  # fmt: skip
    print('\nTwo subjects, steep:4, the gain of one larger: until one is called better:\n')
    _print_table(
        'gain, difference | pairs, same cases | wrong | tests of each, cases of their own | wrong',
        [
            [f'{row.gain:g}, {row.difference:.3f}', *_of(row.pairs), *_of(row.apart)]
            for row in pairs
        ],
    )
    return 0


def _all(
    executor: Executor | None,
    progress: Callable[[int], None],
    study: Callable[[int, int, int], Found],
    count: int,
    runs: int,
    seed: int,
) -> list[Found]:
    """Return what a study gives at each of its places."""
    found = []
    if executor is None:
        for place in range(count):
            found.append(study(place, runs, seed))
            progress(1)
        return found
    for future in [executor.submit(study, place, runs, seed) for place in range(count)]:
        found.append(future.result())
        progress(1)
    return found


def _print_table(head: str, rows: list[list[str]]) -> None:
    print(f'| {head} |\n|{"---|" * (head.count("|") + 1)}')
    for row in rows:
        print(f'| {" | ".join(row)} |')


def _of(taken: Taken) -> tuple[str, str]:
    return f'{taken.tests:.0f} +- {taken.error:.1f}', f'{taken.missed:.3f}'


def _line(row: Row) -> list[str]:
    return [
        f'{row.scenario.name}, {row.scenario.gamma:g}',
        f'{row.paper_tests[0]:.0f} +- {row.paper_tests[1]:.1f}',
        f'{row.paper_missed:.3f}', f'{row.paper_same:.2f}',
        f'{row.anytime_tests[0]:.0f} +- {row.anytime_tests[1]:.1f}',
        f'{row.anytime_missed:.3f}', f'{row.anytime_same:.2f}',
        f'{row.anchored_tests[0]:.0f} +- {row.anchored_tests[1]:.1f}',
        f'{row.anchored_same_and_close:.3f}', f'{row.certified_median:.0f}',
        f'{row.certified_wrong:.3f}', f'{row.certified_unresolved:.3f}',
    ]  # fmt: skip
