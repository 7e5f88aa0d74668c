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

"""repsq verify: recomputes a campaign or certificate, and compares."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from repsq_ros.campaign.journal import JOURNAL
from repsq_ros.campaign.recomputed_campaign import recompute
from repsq_ros.certificate.differences import CheckResult
from repsq_ros.certificate.document import CERTIFICATE
from repsq_ros.certificate.issuing import read_certificate
from repsq_ros.certificate.signature import read_public
from repsq_ros.certificate.timestamp import read_authorities
from repsq_ros.certificate.verification import SIGNATURE, verify
from repsq_ros.console.recorded_inputs import add_recover
from repsq_ros.console.recorded_journal import (
    RecordedTopics,
    add_topics,
    compare_with_recordings,
    topics_of,
)
from repsq_ros.console.registered_run import add_ledger
from repsq_ros.json_answer import add_json, print_json

CHANGED = 9  # exit code, as of CertificateError
NOT_SIGNED_SO = 10  # exit code: only the signature is wrong
NOT_ALL_CHECKED = 11  # exit code with --strict: no check failed, but some could not be made


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    parser.add_argument(
        'target',
        type=Path,
        metavar='CAMPAIGN|CERTIFICATE',
        help='folder of a campaign, or a published one, or a certificate',
    )
    parser.add_argument(
        '--bag',
        type=Path,
        action='append',
        default=[],
        metavar='BAG',
        help='a recording of the campaign; several are read as one',
    )
    parser.add_argument(
        '--key', type=Path, help="the lab's public key: the signature has to be made with it"
    )
    parser.add_argument(
        '--strict',
        action='store_true',
        help=f'exit code {NOT_ALL_CHECKED} where something could not be checked',
    )
    add_ledger(parser)
    parser.add_argument(
        '--tsa',
        type=Path,
        metavar='PEM',
        help='certificates of time stamping authorities: the registration has to be stamped',
    )
    add_topics(parser)
    add_recover(parser)
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print every check; the exit codes are listed above."""
    key = None if arguments.key is None else read_public(arguments.key)
    authorities = [] if arguments.tsa is None else read_authorities(arguments.tsa)
    checks = verify(arguments.target, arguments.bag, key, arguments.ledger, authorities)
    show = _print_nothing if arguments.json else show_checks
    show(checks)
    folder: Path = arguments.target if arguments.target.is_dir() else arguments.target.parent
    if (folder / JOURNAL).exists() and not any(check.problems for check in checks):
        # If the journal was changed, the recordings are not read.
        of_bags = _check_recordings(folder, arguments)
        show(of_bags)
        checks += of_bags
    failed = dict.fromkeys(check.what for check in checks if check.problems)
    unknown = dict.fromkeys(check.what for check in checks if check.not_checked)
    if arguments.json:
        print_json({'target': arguments.target, 'valid': not failed, 'checks': checks})
    elif failed:
        print(f'CHANGED   {arguments.target}: {len(failed)} of {len(checks)} checks fail: '
              f'{", ".join(failed)}')  # fmt: skip
    if failed:
        return NOT_SIGNED_SO if set(failed) == {SIGNATURE} else CHANGED
    passed = f'{len(checks) - len(unknown)} checks passed'
    if not arguments.json:
        not_checked = f'; not checked: {", ".join(unknown)}' if unknown else ''
        print(f'valid     {arguments.target}: {passed}{not_checked}')
    return NOT_ALL_CHECKED if unknown and arguments.strict else 0


def _print_nothing(checks: Sequence[CheckResult]) -> None:
    """Print nothing, since the output is JSON."""


def _check_recordings(folder: Path, arguments: argparse.Namespace) -> list[CheckResult]:
    """Compare the journal with the recordings, and list missing ones."""
    bags: list[Path] = arguments.bag
    if not bags:
        return [
            CheckResult(
                'recordings',
                not_checked='none given (--bag): psi, times, skips, pauses and lost attempts are '
                "the journal's word",
            )
        ]
    where, named = RecordedTopics(), []
    if (folder / CERTIFICATE).exists():
        certificate, _ = read_certificate(folder / CERTIFICATE)
        named = [each['name'] for each in certificate['bags']]
        if 'topics' in certificate:
            where = RecordedTopics.of(certificate['topics'])
    given = topics_of(arguments)
    incomplete = ''
    if len(named) > len(bags):
        incomplete = f'the certificate names {len(named)} recordings, {len(bags)} were given'
    return compare_with_recordings(
        recompute(folder),
        bags,
        where if given == RecordedTopics() else given,
        incomplete,
        arguments.recover,
    )


def show_checks(checks: Sequence[CheckResult]) -> None:
    """Print a line for each check, and for each difference of a failed one."""
    for check in checks:
        for problem in check.problems:
            print(f'-  {check.what:34s} FAILS: {problem}')
        if not check.problems:
            mark = '??' if check.not_checked else 'ok'
            found = f'not checked: {check.not_checked}' if check.not_checked else check.note
            print(f'{mark:2s} {check.what:34s} {found}'.rstrip())
