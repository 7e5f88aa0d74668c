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


"""Write docs/verbs.md and docs/parameters.md from the sources.

    .venv/bin/python3 tools/reference_pages.py

Options of verbs are those of the parser; parameters are the calls in repsq_ros/nodes that declare
them, read without ROS. A test holds the pages against the sources.
"""

from __future__ import annotations

import argparse
import ast
import re
from collections.abc import Iterator
from pathlib import Path

from repsq_ros.console.command_line import make_parser
from repsq_ros.console.verbs import VERBS, Group
from repsq_ros.errors import EXIT_CODES

ROOT = Path(__file__).resolve().parent.parent
VERB_PAGE = ROOT / 'docs' / 'verbs.md'
PARAMETER_PAGE = ROOT / 'docs' / 'parameters.md'
NODES = ROOT / 'repsq_ros' / 'nodes'
# Methods of Parameters that declare one, and what its value is.
KINDS = {
    'text': 'text',
    'texts': 'texts',
    'flag': 'bool',
    'number': 'number',
    'numbers': 'numbers',
    'whole': 'whole number',
    'choice': 'one word',
    'folder': 'folder',
}
NODE_FILES = ('scheduler', 'guard', 'measurement', 'estimator', 'monitor', 'simulated_robot')


def verb_page() -> str:
    """Return the reference of all verbs: options, examples, exit codes."""
    (action,) = (
        each for each in make_parser()._actions if isinstance(each, argparse._SubParsersAction)
    )
    lines = [
        '# Verbs and options',
        '',
        'Made of the parser by `tools/reference_pages.py`. `repsq VERB --help` shows the same.',
    ]
    for group in Group:
        lines += ['', f'## {group.value[0].upper()}{group.value[1:]}']
        for name, verb in VERBS.items():
            if verb.group is group:
                sentence = f'{verb.summary[0].upper()}{verb.summary[1:]}.'
                lines += ['', f'### repsq {name}', '', sentence]
                lines += [
                    '',
                    '```sh',
                    *verb.examples,
                    '```',
                    '',
                    '| option | meaning |',
                    '|---|---|',
                ]
                lines += _option_rows(action.choices[name])
                codes = sorted({0, 2, *verb.exit_codes})
                told = '; '.join(f'{code}: {EXIT_CODES[code]}' for code in codes)
                lines += ['', f'Exit codes: {told}.']
    return '\n'.join([*lines, ''])


def _option_rows(parser: argparse.ArgumentParser) -> Iterator[str]:
    formatter = parser._get_formatter()
    for action in parser._actions:
        if action.dest == 'help':
            continue
        values = formatter._format_args(
            action, formatter._get_default_metavar_for_optional(action)
        )
        if action.option_strings:
            name = f'{action.option_strings[-1]} {"" if action.nargs == 0 else values}'.strip()
        else:
            name = formatter._format_args(
                action, formatter._get_default_metavar_for_positional(action)
            )
        yield _row(f'`{name}`', action.help or '')


# Of a default that is no constant.
EXPRESSIONS = {'usual': 'twist, urscript for poses'}


def parameter_page() -> str:
    """Return the reference of all parameters, by the file that declares them."""
    lines = [
        '# Parameters of the nodes',
        '',
        'Made of the declarations in `repsq_ros/nodes` by `tools/reference_pages.py`.',
        'What they are for: [Nodes, topics, parameters](nodes.md#parameters). A table that is not',
        'named after a node is used by the nodes that import it.',
        '`ros2 param describe NODE NAME` shows the same text.',
    ]
    files = sorted(NODES.rglob('*.py'), key=lambda file: (file.stem not in NODE_FILES, file.stem))
    for file in files:
        rows = [_row(*row) for row in declared(file)]
        if rows:
            title = file.stem if file.stem in NODE_FILES else file.stem.replace('_', ' ')
            lines += ['', f'## {title}', '', '| parameter | type | default | meaning |']
            lines += ['|---|---|---|---|', *rows]
    return '\n'.join([*lines, ''])


def declared(file: Path) -> Iterator[tuple[str, str, str, str]]:
    """Return name, type, default and meaning of each parameter that a file declares."""
    for node in ast.walk(ast.parse(file.read_text(encoding='utf-8'))):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        owner = ast.unparse(node.func.value)
        if node.func.attr not in KINDS or not owner.endswith('parameters') or not node.args:
            continue
        name, *others = map(_said, node.args)
        if node.func.attr == 'choice':
            others = others[1:]
        no_default = node.func.attr in ('numbers', 'folder')
        default = '-' if no_default else EXPRESSIONS.get(others[0]) or _constant(others[0])
        yield (
            f'`{name}`',
            KINDS[node.func.attr],
            f'`{default}`' if default else 'empty',
            others[-1],
        )


def _constant(name: str) -> str:
    """Return the number that a constant of the package stands for, or the name itself."""
    if not name.isupper():
        return name
    found: set[str] = set()
    for file in NODES.parent.rglob('*.py'):
        source = file.read_text(encoding='utf-8')
        found.update(re.findall(rf'^{name} = ([\d.]+)', source, re.MULTILINE))
    return found.pop() if len(found) == 1 else name


def _said(node: ast.expr) -> str:
    """Return the text of a constant, or the expression."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return ''.join(
            str(part.value) if isinstance(part, ast.Constant) else ast.unparse(part)[2:-1]
            for part in node.values
        )
    return ast.unparse(node)


def _row(*cells: str) -> str:
    return '| ' + ' | '.join(' '.join(cell.split()).replace('|', '\\|') for cell in cells) + ' |'


if __name__ == '__main__':
    VERB_PAGE.write_text(verb_page())
    PARAMETER_PAGE.write_text(parameter_page())
