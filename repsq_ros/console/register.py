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

"""repsq register: signs a campaign's plan into the lab's ledger before its first test."""

from __future__ import annotations

import argparse
from pathlib import Path

from repsq_ros.campaign.journal import LEDGER
from repsq_ros.certificate.ledger import abandon, ledger_file, read_ledger
from repsq_ros.certificate.registration import declare, register
from repsq_ros.certificate.signature import read_private
from repsq_ros.certificate.timestamp import fetch_timestamp
from repsq_ros.console.registered_run import chosen_seed
from repsq_ros.errors import ParameterError
from repsq_ros.json_answer import add_json, print_said
from repsq_ros.specification.load import load


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    parser.add_argument('specification', type=Path, nargs='?', help='test specification (YAML)')
    parser.add_argument('--lab', default='', help='who registers it')
    parser.add_argument('--key', type=Path, help="the lab's private key, of certify --keygen")
    parser.add_argument(
        '--ledger',
        type=Path,
        default=Path('ledger'),
        metavar='FOLDER',
        help=f"folder of the lab's ledger, {LEDGER} (default: ledger)",
    )
    parser.add_argument(
        '--tester',
        type=Path,
        metavar='FILE',
        help="a file with a section `tester`, in place of the specification's own",
    )
    seed = parser.add_mutually_exclusive_group()
    seed.add_argument('--seed', type=int, help="default: the specification's, else a new one")
    seed.add_argument(
        '--seed-from',
        metavar='SOURCE',
        help='the seed will follow from a value that nobody knows yet: which round of which '
        "public beacon, or the other lab's nonce",
    )
    parser.add_argument(
        '--timestamp-url',
        default='',
        metavar='URL',
        help='of a time stamping authority (RFC 3161), asked to stamp the registration',
    )
    parser.add_argument(
        '--abandon', type=int, metavar='NUMBER', help='a registered campaign ends without a result'
    )
    parser.add_argument('--reason', default='', help='why it is abandoned')
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Append a registration or its withdrawal to the ledger."""
    if (arguments.specification is None) == (arguments.abandon is None):
        raise ParameterError('specification', 'none or two', 'a file, or --abandon NUMBER')
    said = _abandon(arguments) if arguments.specification is None else _register(arguments)
    print_said(said, arguments.json, 10)
    return 0


def _register(arguments: argparse.Namespace) -> list[tuple[str, str]]:
    for name in ('lab', 'key'):
        if not getattr(arguments, name):
            raise ParameterError(name, 'none', 'one: a registration is signed by a lab')
    specification = load(arguments.specification, arguments.tester)
    key = read_private(arguments.key)
    declared = declare(arguments.specification, arguments.tester)
    if arguments.seed_from is None:
        seed: int | str = chosen_seed(arguments.seed, specification)
    elif specification.tester.seed is not None:
        raise ParameterError(
            'seed-from',
            f'a specification whose seed is {specification.tester.seed}',
            'one that gives none',
        )
    else:
        seed = arguments.seed_from
    file = register(arguments.ledger, declared, arguments.lab, seed, key)
    rule = 'seed ' + (f'{seed}' if isinstance(seed, int) else f'from {seed}')
    value = '' if isinstance(seed, int) else ' --seed-value VALUE'
    url = arguments.timestamp_url
    stamped = [('stamped', str(fetch_timestamp(file, url)))] if url else []
    return [
        ('registered', f'{file}, {rule}'),
        *stamped,
        *_state(arguments.ledger),
        ('next', f'repsq run {arguments.specification} --registration {file}{value}'),
    ]


def _abandon(arguments: argparse.Namespace) -> list[tuple[str, str]]:
    if not arguments.reason:
        raise ParameterError('reason', 'none', 'why the campaign is abandoned')
    abandon(ledger_file(arguments.ledger), arguments.abandon, arguments.reason)
    return [('abandoned', f'number {arguments.abandon}'), *_state(arguments.ledger)]


def _state(folder: Path) -> list[tuple[str, str]]:
    state = read_ledger(folder).state
    return [('ledger', f'{ledger_file(folder)}, {state["lines"]} lines, head {state["head"]}')]
