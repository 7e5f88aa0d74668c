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

"""The command line of repsq: help in groups, examples, suggestions for mistyped words."""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from repsq_ros import __version__
from repsq_ros.console.verbs import FORMER, VERBS, Group, Verb
from repsq_ros.errors import EXIT_CODES, MissingError

EVERY_VERB = (0, 2)  # exit codes
METAVARS = {Path: 'PATH', float: 'NUMBER', int: 'N', str: 'TEXT', None: 'TEXT'}


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Uses the type of an option as the name of its value, if the option has none."""

    def _get_default_metavar_for_optional(self, action: argparse.Action) -> str:
        kind: Any = action.type
        return METAVARS.get(kind, action.dest.upper())

    def _get_default_metavar_for_positional(self, action: argparse.Action) -> str:
        return action.dest.upper()


class Parser(argparse.ArgumentParser):
    """An ArgumentParser that suggests the word that was probably meant."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(formatter_class=HelpFormatter, **settings)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse; an option that this parser does not have is an error with a suggestion."""
        found, unknown = super().parse_known_args(args, namespace)
        options = [each for each in unknown if each.startswith('--')]
        if options:
            name = options[0].partition('=')[0]
            self.error(f'no option {name}{suggestion(name, self._option_string_actions)}')
        return found, unknown


def suggestion(word: str, known: Iterable[str]) -> str:
    """Return '; did you mean ...?' for a mistyped word; '' if no known word is similar."""
    near = difflib.get_close_matches(word, list(known), n=1)
    return f'; did you mean {near[0]}?' if near else ''


def make_parser(chosen: Iterable[str] = VERBS) -> Parser:
    """Make the parser of repsq; only the `chosen` verbs are imported and get their options."""
    wanted = set(chosen)
    parser = Parser(
        prog='repsq',
        description='Repeatable measures of robot performance by statistical query.',
        usage='%(prog)s [-h] [--version] COMMAND ...',
        allow_abbrev=False,  # else an option of a verb could match one of these
        epilog=_all_verbs(),
    )
    parser.add_argument('--version', action='version', version=f'repsq_ros {__version__}')
    parser.add_argument(
        '--completion',
        choices=('bash', 'zsh', 'fish'),
        help='print the completion code of a shell (see docs/console.md)',
    )
    parser.add_argument(
        '--configurations',
        action='store_true',
        help='print the folder of the example specifications that come with the package',
    )
    verbs = parser.add_subparsers(
        dest='verb', metavar='COMMAND', prog='repsq', help=argparse.SUPPRESS
    )
    for name, verb in VERBS.items():
        each = verbs.add_parser(
            name, help=verb.summary, description=_sentence(verb), epilog=_examples(verb)
        )
        if name in wanted:
            verb.load(name).add_arguments(each)
    return parser


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Parse a command line; only the module of its verb is imported."""
    if arguments and arguments[0] in FORMER:
        arguments = [*FORMER[arguments[0]], *arguments[1:]]
    word = next((each for each in arguments if not each.startswith('-')), '')
    parser = make_parser([word] if word in VERBS else [])
    if word and word == arguments[0] and word not in VERBS:
        parser.error(f'no command {word!r}{suggestion(word, VERBS)}')
    parsed = parser.parse_args(arguments)
    if parsed.verb is None and not (parsed.completion or parsed.configurations):
        parser.error('expected a COMMAND; repsq --help lists them')
    return parsed


def add_executor_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of verbs that share their work between processes or machines."""
    parser.add_argument('--processes', type=int, help='default: one for each core')
    parser.add_argument(
        '--scheduler',
        default='',
        metavar='ADDRESS',
        help='of a dask.distributed cluster that has repsq_ros and sees the same files',
    )


def offer(action: argparse.Action, words: Sequence[str]) -> None:
    """Offer these words to shell completion for an option; other values are accepted, too."""
    vars(action)['completer'] = lambda **_: list(words)


def complete(line: str) -> None:
    """Answer a shell's request to complete `line` (argcomplete); return if there is none."""
    try:
        import argcomplete
    except ImportError:
        return
    argcomplete.autocomplete(make_parser(word for word in line.split() if word in VERBS))


def completion_code(shell: str) -> str:
    """Return the code with which a shell ('bash', 'zsh' or 'fish') completes repsq.

    Raises MissingError without argcomplete.
    """
    try:
        from argcomplete.shell_integration import shellcode
    except ImportError:
        raise MissingError.of_package('completion', 'argcomplete') from None
    return str(shellcode(['repsq'], shell=shell))


def _sentence(verb: Verb) -> str:
    return f'{verb.summary[0].upper()}{verb.summary[1:]}.'


def _all_verbs() -> str:
    width = max(len(name) for name in VERBS)
    lines = []
    for group in Group:
        lines.append(f'{group.value}:')
        lines += [
            f'  {name:{width}}  {verb.summary}'
            for name, verb in VERBS.items()
            if verb.group is group
        ]
        lines.append('')
    return '\n'.join([*lines, 'repsq COMMAND --help shows options, examples and exit codes.'])


def _examples(verb: Verb) -> str:
    codes = sorted({*EVERY_VERB, *verb.exit_codes})
    return '\n'.join(
        [
            'examples:',
            *(f'  {line}' for line in verb.examples),
            '',
            'exit codes:',
            *(f'  {code:3d}  {EXIT_CODES[code]}' for code in codes),
        ]
    )
