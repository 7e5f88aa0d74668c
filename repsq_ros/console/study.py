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

"""repsq study: the paper's studies and those of this package's claims, one command each."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from repsq_ros.console.command_line import add_executor_arguments
from repsq_ros.console.outputs import add_force, refuse_others_file
from repsq_ros.errors import MissingError, OutputError, ParameterError
from repsq_ros.json_answer import add_json, print_json, text_beside
from repsq_ros.paper.all_studies import LISTED, NEEDS, STUDIES, specification_of
from repsq_ros.paper.study_interface import Study, StudyRequest, run_study
from repsq_ros.paper.written import markdown, write_table
from repsq_ros.specification.yaml_file import read
from repsq_ros.studies.executor import open_executor

OUTPUT = Path('campaigns/studies')


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    lines = '; '.join(f'{name}: {each.summary}' for name, each in LISTED.items())
    parser.add_argument('name', nargs='?', choices=list(LISTED), help=lines)
    parser.add_argument('--all', action='store_true', help='one after the other')
    parser.add_argument('--quick', action='store_true', help='small, in a minute or less each')
    parser.add_argument(
        '--specification', type=Path, help='in place of config/studies/NAME.yaml (YAML)'
    )
    parser.add_argument(
        '--table',
        type=Path,
        metavar='CSV',
        help='for driving: psi and weight of another simulation, in place of the study',
    )
    parser.add_argument('--model', default='', help='folder of the G1 model, for humanoid')
    parser.add_argument('--data', default='', help='folder of published campaigns, for peers')
    parser.add_argument('--seed', type=int, help="in place of the specification's")
    parser.add_argument(
        '--output', type=Path, default=OUTPUT, help=f'folder for CSV and PNG (default {OUTPUT})'
    )
    add_force(parser)
    add_executor_arguments(parser)
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print tables (Markdown) and findings; write CSV and PNG."""
    if arguments.all == bool(arguments.name):
        raise ParameterError('name', 'both' if arguments.all else 'none', 'a NAME, or --all')
    if arguments.seed is not None and arguments.seed < 0:
        raise ParameterError('seed', f'{arguments.seed}', 'a whole number >= 0')
    if arguments.all and arguments.specification:
        raise ParameterError('specification', 'one beside --all', 'a NAME with it')
    if arguments.table:
        if arguments.name != 'driving':
            raise ParameterError('table', f'one beside {arguments.name}', 'driving')
        return _judge(arguments)
    try:
        arguments.output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError.unwritable(arguments.output, error) from None
    answers = []
    for name in STUDIES if arguments.all else [arguments.name]:
        needed = NEEDS.get(name)
        if arguments.all and needed and not vars(arguments)[needed]:
            out = text_beside(arguments.json)
            print(f'# {name}: left out, it needs --{needed} FOLDER\n', file=out)
            continue
        answers.append(_run(STUDIES[name], arguments))
    if arguments.json:
        print_json({'studies': answers})
    return 0


def _judge(arguments: argparse.Namespace) -> int:
    from repsq_ros.paper.weighted_table import judge, read_weighted

    risk = _setting(STUDIES['driving'], arguments).table
    rows = judge(read_weighted(arguments.table), risk)
    if arguments.json:
        print_json({'rows': rows})
    else:
        print(markdown(rows, list(rows[0])))
    return 0


def _setting(study: Study, arguments: argparse.Namespace) -> Any:
    top = read(arguments.specification or specification_of(study.name))
    if top.text('study') != study.name:
        raise top.fail('study', repr(top.text('study')), repr(study.name))
    asked = StudyRequest(arguments.quick, arguments.seed, arguments.model, arguments.data)
    setting = study.read(top, asked)
    top.finish()
    return setting


def _run(study: Study, arguments: argparse.Namespace) -> dict[str, object]:
    """Run one study, print and write its output; return it for programs."""
    # Imported here, with the study: `repsq study --help` needs no simulated robots.
    from repsq_ros.paper.drawing import draw_study
    from repsq_ros.studies.figures import FIGURE_BY

    setting = _setting(study, arguments)
    count = len(study.pieces(setting))
    workers = open_executor(arguments.processes, arguments.scheduler, count, ' pieces')
    with workers as (executor, progress):
        found = run_study(study, setting, executor, progress)
    out = text_beside(arguments.json)
    print(f'# {study.name}: {LISTED[study.name].summary}\n', file=out)
    tables: dict[str, object] = {}
    for end, rows in found.tables.items():
        file = arguments.output / f'{study.name}{end}.csv'
        refuse_others_file(file, ','.join(rows[0]), arguments.force)
        write_table(file, rows)
        if end in study.columns:
            print(markdown(rows, study.columns[end]), file=out)
        print(f'\nall columns: {file}\n', file=out)
        tables[file.stem] = {'file': file, 'rows': rows}
    for finding in found.findings:
        print(f'{"found" if finding.holds else "NOT FOUND"}: {finding.text}', file=out)
    figure = arguments.output / f'{study.name}.png'
    refuse_others_file(figure, FIGURE_BY, arguments.force)
    drawn = True
    try:
        draw_study(figure, study, setting, found)
        print(f'figure: {figure}\n', file=out)
    except MissingError as error:
        drawn = False
        print(f'no figure: {error}\n', file=out)
    return {
        'name': study.name,
        'tables': tables,
        'findings': found.findings,
        'figure': figure if drawn else None,
    }
