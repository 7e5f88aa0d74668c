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

"""repsq publish: the folder that a replicator needs, with what it may be held to."""

from __future__ import annotations

import argparse
from pathlib import Path

from repsq_ros.campaign.recount import recount
from repsq_ros.certificate.document import CERTIFICATE, make_document
from repsq_ros.certificate.issuing import issue, read_certificate
from repsq_ros.certificate.publication import pack, publish
from repsq_ros.certificate.verification import verify
from repsq_ros.console.verify import show_checks
from repsq_ros.errors import CertificateError, OutputError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    parser.add_argument('campaign', type=Path, help='folder of a campaign with a result')
    parser.add_argument(
        '--output', type=Path, help='new folder (default: the name with -published behind)'
    )
    parser.add_argument(
        '--evidence',
        action='store_true',
        help='with the journal, so that a stranger can count everything anew',
    )
    parser.add_argument('--zip', action='store_true', help='pack the folder as well')


def run(arguments: argparse.Namespace) -> int:
    """Check the campaign, then lay the folder."""
    folder: Path = arguments.campaign
    target = arguments.output or folder.with_name(f'{folder.resolve().name}-published')
    archive = target.with_name(target.name + '.zip')
    if arguments.zip and archive.exists():
        raise OutputError(f'output {archive}: found it there, expected a new file')
    failed = [check for check in verify(folder) if check.problems]
    if failed:
        show_checks(failed)
        raise CertificateError(
            f'{folder}: {len(failed)} checks fail, expected an unchanged campaign'
        )
    if not (folder / CERTIFICATE).exists():
        issue(make_document(recount(folder)), folder)
    certificate, _ = read_certificate(folder / CERTIFICATE)
    names = publish(folder, target, certificate, arguments.evidence)
    print(f'written   {target}: {", ".join(names)}')
    if arguments.zip:
        print(f'packed    {pack(target)}')
    signed = 'signed' if 'signature' in certificate else 'not signed (repsq certify --key)'
    print(f'its certificate is {signed}; replicators run {target / "replication.yaml"}')
    return 0
