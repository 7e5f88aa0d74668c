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

"""repsq certify: the certificate of a finished campaign, with its recordings and a signature."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path

from repsq_ros.campaign.recount import recount
from repsq_ros.certificate.document import CERTIFICATE, bag_entry, make_document
from repsq_ros.certificate.issuing import issue
from repsq_ros.certificate.signature import read_private
from repsq_ros.certificate.verification import verify
from repsq_ros.console.recorded_journal import RecordedTopics, add_topics, topics_of
from repsq_ros.console.verify import show_checks
from repsq_ros.errors import CertificateError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    parser.add_argument('campaign', type=Path, help='folder of a campaign with a result')
    parser.add_argument(
        '--bag',
        type=Path,
        action='append',
        default=[],
        metavar='BAG',
        help='a recording of it, whose files the certificate shall name by their SHA-256',
    )
    parser.add_argument('--key', type=Path, help="the lab's private key, of repsq keygen")
    parser.add_argument('--lab', default='', help='who issues it')
    add_topics(parser)


def run(arguments: argparse.Namespace) -> int:
    """Check the campaign as it stands, then write its certificate."""
    folder: Path = arguments.campaign
    key = None if arguments.key is None else read_private(arguments.key)
    failed = [check for check in verify(folder) if check.problems]
    if failed:
        show_checks(failed)
        raise CertificateError(
            f'{folder}: {len(failed)} checks fail, expected an unchanged campaign. Where '
            f'{CERTIFICATE} alone is out of date, remove it'
        )
    bags = [bag_entry(bag) for bag in arguments.bag]
    where = topics_of(arguments)
    topics = None if where == RecordedTopics() else asdict(where)
    path = issue(make_document(recount(folder), bags, arguments.lab, topics), folder, key)
    signed = 'not signed' if key is None else f'signed with {arguments.key}'
    print(f'written   {path}, {signed}, {len(bags)} recordings')
    return 0
