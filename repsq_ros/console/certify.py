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

"""repsq certify: keys of a lab, certificate of a campaign, and the folder for replicators."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from repsq_ros.campaign.recomputed_campaign import recompute
from repsq_ros.certificate.document import CERTIFICATE, bag_entry, make_document
from repsq_ros.certificate.issuing import issue, read_certificate
from repsq_ros.certificate.publication import pack, publish
from repsq_ros.certificate.registration import end_registered
from repsq_ros.certificate.signature import make_keys, read_private
from repsq_ros.certificate.verification import verify
from repsq_ros.console.recorded_journal import RecordedTopics, add_topics, topics_of
from repsq_ros.console.registered_run import add_ledger
from repsq_ros.console.verify import show_checks
from repsq_ros.errors import CertificateError, OutputError, ParameterError
from repsq_ros.json_answer import add_json, print_said


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    parser.add_argument(
        'campaign', type=Path, nargs='?', help='folder of a campaign with a result'
    )
    parser.add_argument(
        '--bag',
        type=Path,
        action='append',
        default=[],
        metavar='BAG',
        help='a recording of it, whose files the certificate shall name by their SHA-256',
    )
    parser.add_argument('--key', type=Path, help="the lab's private key, of --keygen")
    parser.add_argument('--lab', default='', help='who issues it')
    add_ledger(parser)
    add_topics(parser)
    parser.add_argument(
        '--keygen',
        type=Path,
        metavar='FILE',
        help='make the keys of a lab: private key FILE; the public key is written to FILE.pub',
    )
    folder = parser.add_argument_group('publish: the folder that a replicator needs')
    folder.add_argument(
        '--publish',
        action='store_true',
        help='write it; a certificate that is there stays, unless --bag, --key or --lab is given',
    )
    folder.add_argument(
        '--output', type=Path, help='new folder (default: that of the campaign, -published)'
    )
    folder.add_argument(
        '--evidence',
        action='store_true',
        help='with the journal, from which others recompute the result',
    )
    folder.add_argument('--zip', action='store_true', help='pack the folder as well')
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Make keys, or check the campaign and write its certificate and the folder to publish."""
    if (arguments.campaign is None) == (arguments.keygen is None):
        raise ParameterError('campaign', 'none or two', 'a CAMPAIGN, or --keygen FILE')
    said = _make_keys(arguments.keygen) if arguments.keygen else _certify(arguments)
    print_said(said, arguments.json, 9)
    return 0


def _make_keys(file: Path) -> list[tuple[str, str]]:
    public = make_keys(file)
    return [
        ('private', f'{file}: keep it to yourself, it is not encrypted'),
        ('public', f'{public}: give it to those who check your certificates'),
    ]


def _certify(arguments: argparse.Namespace) -> list[tuple[str, str]]:
    folder: Path = arguments.campaign
    key = None if arguments.key is None else read_private(arguments.key)
    target: Path = arguments.output or folder.with_name(f'{folder.resolve().name}-published')
    archive = target.with_name(target.name + '.zip')
    if arguments.publish and arguments.zip and archive.exists():
        raise OutputError(f'output {archive}: found it there, expected a new file')
    _require_unchanged(folder)
    said, bags = [], [bag_entry(bag) for bag in arguments.bag]
    if arguments.ledger is not None:
        end_registered(arguments.ledger, folder)
    where = topics_of(arguments)
    topics = None if where == RecordedTopics() else asdict(where)
    anew = bool(bags or key or arguments.lab or topics or arguments.ledger)
    if anew or not arguments.publish or not (folder / CERTIFICATE).exists():
        path = issue(make_document(recompute(folder), bags, arguments.lab, topics), folder, key)
        signed = 'not signed' if key is None else f'signed with {arguments.key}'
        said.append(('written', f'{path}, {signed}, {len(bags)} recordings'))
    return [*said, *(_publish(arguments, folder, target) if arguments.publish else [])]


def _require_unchanged(folder: Path) -> None:
    failed = [check for check in verify(folder) if check.problems]
    if failed:
        show_checks(failed)
        raise CertificateError(
            f'{folder}: {len(failed)} checks fail, expected an unchanged campaign. Where '
            f'{CERTIFICATE} alone is out of date, remove it'
        )


def _publish(
    arguments: argparse.Namespace, folder: Path, target: Path
) -> Sequence[tuple[str, str]]:
    certificate, _ = read_certificate(folder / CERTIFICATE)
    names = publish(folder, target, certificate, arguments.evidence)
    said = [('published', f'{target}: {", ".join(names)}')]
    if arguments.zip:
        said.append(('packed', str(pack(target))))
    signed = 'signed' if 'signature' in certificate else 'not signed (repsq certify --key)'
    return [
        *said,
        ('next', f'the certificate is {signed}; replicators run {target / "replication.yaml"}'),
    ]
