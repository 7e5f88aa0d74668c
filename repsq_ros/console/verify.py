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

"""repsq verify: whether a campaign and its certificate are what they were, to the last byte."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from repsq_ros.campaign.journal import JOURNAL
from repsq_ros.campaign.recount import recount
from repsq_ros.certificate.signature import read_public
from repsq_ros.certificate.verification import SIGNATURE, Checked, verify
from repsq_ros.console.recorded_psi import recorded_psi

CHANGED = 9  # exit code: as of CertificateError
NOT_SIGNED_SO = 10  # exit code: only the signature does not fit


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    parser.add_argument(
        'target',
        type=Path,
        metavar='CAMPAIGN|CERTIFICATE',
        help='folder of a campaign, or one that repsq publish made, or a certificate',
    )
    parser.add_argument(
        '--bag',
        type=Path,
        action='append',
        default=[],
        metavar='BAG',
        help='a recording that the certificate names: its bytes, and psi of every test in it',
    )
    parser.add_argument(
        '--key', type=Path, help="the lab's public key: the signature has to be made with it"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print every check; 0: all hold, 9: something changed, 10: the signature alone."""
    key = None if arguments.key is None else read_public(arguments.key)
    checks = verify(arguments.target, arguments.bag, key)
    show_checks(checks)
    folder: Path = arguments.target if arguments.target.is_dir() else arguments.target.parent
    if arguments.bag and (folder / JOURNAL).exists() and not any(c.problem for c in checks):
        # Where something has changed already, that is told, and no further work is done.
        recounted = recount(folder)
        of_bags = [recorded_psi(recounted, arguments.bag)]
        show_checks(of_bags)
        checks += of_bags
    failed = [check for check in checks if check.problem]
    if not failed:
        print(f'whole     {arguments.target}: {len(checks)} checks hold')
        return 0
    names = ', '.join(check.what for check in failed)
    print(f'CHANGED   {arguments.target}: {len(failed)} of {len(checks)} checks fail: {names}')
    return NOT_SIGNED_SO if all(check.what == SIGNATURE for check in failed) else CHANGED


def show_checks(checks: Sequence[Checked]) -> None:
    """Print a line for each check."""
    for check in checks:
        found = f'FAILS: {check.problem}' if check.problem else check.note
        print(f'{"-" if check.problem else "ok":2s} {check.what:34s} {found}'.rstrip())
