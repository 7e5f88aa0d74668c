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

from repsq_ros.console.executor import open_executor
from repsq_ros.console.simulate import add_executor_arguments
from repsq_ros.errors import ParameterError
from repsq_ros.studies.rules import BETA, SCENARIOS, C, Row, study_scenario

STUDIES = ('rules',)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    parser.add_argument(
        'name', choices=STUDIES, help='rules: tests and agreement of each stopping rule'
    )
    parser.add_argument('--runs', type=int, default=1000, help='of each law (default 1000)')
    parser.add_argument('--seed', type=int, default=1, help='of the study (default 1)')
    add_executor_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the table, in Markdown."""
    if arguments.runs < 10 or arguments.runs % 2:
        raise ParameterError('runs', f'{arguments.runs}', 'an even number >= 10')
    if arguments.seed < 0:
        raise ParameterError('seed', f'{arguments.seed}', 'a whole number >= 0')
    rows: list[Row] = []
    with open_executor(arguments.processes, arguments.scheduler, len(SCENARIOS)) as (
        executor, progress,
    ):  # fmt: skip
        places = range(len(SCENARIOS))
        work = [(place, arguments.runs, arguments.seed) for place in places]
        if executor is None:
            for each in work:
                rows.append(study_scenario(*each))
                progress(1)
        else:
            for future in [executor.submit(study_scenario, *each) for each in work]:
                rows.append(future.result())
                progress(1)
    print(f'{arguments.runs} runs of each law, c = {C:g}, beta = {BETA:g}; +- standard error\n')
    print(
        '| law of z, gamma | paper: tests | missed | same | anytime: tests | missed | same '
        '| anchored: tests | same and close | certified: median | wrong | unresolved |\n'
        '|---|---|---|---|---|---|---|---|---|---|---|---|'
    )
    for row in rows:
        print(_line(row))
    return 0


def _line(row: Row) -> str:
    cells = (
        f'{row.scenario.name}, {row.scenario.gamma:g}',
        f'{row.paper_tests[0]:.0f} +- {row.paper_tests[1]:.1f}',
        f'{row.paper_missed:.3f}', f'{row.paper_same:.2f}',
        f'{row.anytime_tests[0]:.0f} +- {row.anytime_tests[1]:.1f}',
        f'{row.anytime_missed:.3f}', f'{row.anytime_same:.2f}',
        f'{row.anchored_tests[0]:.0f} +- {row.anchored_tests[1]:.1f}',
        f'{row.anchored_same_and_close:.3f}', f'{row.certified_median:.0f}',
        f'{row.certified_wrong:.3f}', f'{row.certified_unresolved:.3f}',
    )  # fmt: skip
    return f'| {" | ".join(cells)} |'
