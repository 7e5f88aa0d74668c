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

"""Everything that a certificate or a campaign's folder says, computed anew and held against it."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import yaml

from repsq_ros.campaign.folder import (
    REPLICATION,
    RESULT,
    TESTS,
    leave_replication,
    tests_header,
    tests_row,
)
from repsq_ros.campaign.journal import JOURNAL
from repsq_ros.campaign.recount import Recount, recount
from repsq_ros.certificate.canonical import sha256_of, written_form
from repsq_ros.certificate.differences import ROUNDING, differences, told
from repsq_ros.certificate.document import CERTIFICATE, ISSUED, bag_files, make_document
from repsq_ros.certificate.issuing import content_digest, read_certificate
from repsq_ros.certificate.signature import signature_problem
from repsq_ros.errors import BagError, CertificateError, RepsqError
from repsq_ros.specification.load import load

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

SIGNATURE = 'signature'  # name of that check
ABSENT = 'is not there'  # a certificate misses it, where there is one
COUNTED = 'counted anew from the journal'
COMPUTED = {'mean', 'half_width'}  # columns of tests.csv that the journal does not hold


@dataclass(frozen=True)
class Checked:
    """One thing that was looked at."""

    what: str
    problem: str = ''  # '' where it holds
    note: str = ''  # what was found


def verify(
    target: Path, bags: Sequence[Path] = (), key: Ed25519PublicKey | None = None
) -> list[Checked]:
    """Check a campaign's folder, a published one, or a certificate.

    :param bags: recordings that the certificate names
    :param key: whose signature there has to be; None: whoever's, or none
    :raises MissingError: what is needed to read a certificate is not installed
    :raises CertificateError: there is neither a campaign nor a certificate
    """
    folder = target if target.is_dir() else target.parent
    file = target / CERTIFICATE if target.is_dir() else target
    has_journal = (folder / JOURNAL).exists()
    if not file.exists() and not has_journal:
        raise CertificateError(
            f'{target}: found neither {JOURNAL} nor {CERTIFICATE}, expected a campaign or its '
            'certificate'
        )
    checks: list[Checked] = []
    certificate: dict[str, Any] | None = None
    if file.exists():
        try:
            certificate, data = read_certificate(file)
        except CertificateError as error:
            return [Checked(file.name, str(error))]
        checks += _of_certificate(file, certificate, data, key)
        checks += list(_of_files(folder, certificate))
    elif key is not None or bags:
        return [Checked(CERTIFICATE, 'is not there: nothing is signed, and no recording named')]
    if has_journal:
        checks += _of_campaign(folder, certificate)
    elif certificate is not None:
        checks += _of_replication(folder, certificate)
    if certificate is not None:
        checks += [_of_bag(bag, certificate) for bag in bags]
    return checks


def _of_certificate(
    file: Path, certificate: dict[str, Any], data: bytes, key: Ed25519PublicKey | None
) -> list[Checked]:
    """Check what a certificate says of itself."""
    checks = []
    problem = ''
    if content_digest(certificate) != certificate['digest']:
        problem = 'its content is not that of its digest: it was edited'
    elif written_form(certificate) != data:
        problem = 'the bytes of the file are not as they were written: it was edited'
    checks.append(Checked(file.name, problem, f'digest {certificate["digest"][:12]}'))
    said = certificate['specification']
    shared = json.dumps(said['shared'], sort_keys=True, separators=(',', ':'))
    digest = hashlib.sha256(shared.encode()).hexdigest()
    problem = ''
    if digest != said['replication_digest']:
        problem = f'is {digest[:12]}, the certificate says {said["replication_digest"][:12]}'
    checks.append(Checked('digest of the specification in it', problem, digest[:12]))
    signature = certificate.get('signature')
    if signature is not None:
        unsigned = {name: value for name, value in certificate.items() if name != 'signature'}
        problem = signature_problem(unsigned, signature, key)
        checks.append(Checked(SIGNATURE, problem, f'by the key {signature["public_key"]}'))
    elif key is not None:
        checks.append(Checked(SIGNATURE, 'there is none'))
    return checks


def _of_files(folder: Path, certificate: dict[str, Any]) -> Iterator[Checked]:
    """Check the files beside a certificate that it vouches for."""
    # What was published without evidence has none of these, and is not expected to.
    is_campaign = any((folder / name).exists() for name in (JOURNAL, TESTS, RESULT))
    for name, digest in certificate['files'].items():
        path = folder / name
        if not path.is_file():
            if is_campaign:
                yield Checked(name, 'is gone')
            continue
        found = sha256_of(path)
        problem = ''
        if found != digest:
            problem = f'SHA-256 is {found[:12]}, the certificate says {digest[:12]}: it changed'
        yield Checked(name, problem, f'SHA-256 {digest[:12]}')


def _of_campaign(folder: Path, certificate: dict[str, Any] | None) -> list[Checked]:
    """Check what follows from a journal."""
    try:
        recounted = recount(folder)
    except RepsqError as error:
        return [Checked(COUNTED, str(error))]
    torn = ''
    if recounted.torn:
        torn = f'{recounted.torn} bytes behind the last whole line'
    lines = f'{len(recounted.entries)} lines, head {recounted.head[:12]}'
    checks = [
        Checked(f'{JOURNAL}, line by line', torn, lines),
        _of_tests(folder / TESTS, recounted),
    ]
    if recounted.result is None:
        ended = certificate is not None or (folder / RESULT).exists()
        text = f'{len(recounted.history.tests)} tests without a result'
        return [*checks, Checked(COUNTED, text if ended else '', f'{text}: not at its end yet')]
    document = recounted.result.document(recounted.specification)
    document['sessions'] = list(recounted.history.sessions)
    checks.append(_of_yaml(folder / RESULT, yaml.safe_dump(document), ('software',)))
    if recounted.specification.partition is None:
        with TemporaryDirectory() as temporary:
            again = Path(temporary) / REPLICATION
            leave_replication(recounted.specification, recounted.result, again)
            checks.append(_of_yaml(folder / REPLICATION, again.read_text(encoding='utf-8')))
    if certificate is not None:
        checks.append(_held_against(certificate, recounted))
    return checks


def _held_against(certificate: dict[str, Any], recounted: Recount) -> Checked:
    """Hold every number and word of a certificate against what the journal gives."""
    again = make_document(recounted)
    left_out = (*ISSUED, 'files', 'digest', 'signature')
    said = {key: value for key, value in certificate.items() if key not in left_out}
    expected = {key: value for key, value in again.items() if key not in left_out}
    return Checked('certificate, counted anew', told(differences(said, expected)))


def _of_tests(file: Path, recounted: Recount) -> Checked:
    """Hold the table of the tests against the journal."""
    try:
        found = list(csv.reader(io.StringIO(file.read_text(encoding='utf-8'))))
    except FileNotFoundError:
        return Checked(f'{TESTS}, counted anew', note=ABSENT)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        return Checked(f'{TESTS}, counted anew', f'cannot be read: {error}')
    lines = [tests_header(recounted.specification)]
    lines += [tests_row(each.record, each.estimate) for each in recounted.counted]
    expected = list(csv.reader(lines))
    problems = []
    if len(found) != len(expected):
        problems.append(f'{len(found) - 1} rows, the journal gives {len(expected) - 1}')
    header = expected[0]
    for number, (row, other) in enumerate(zip(found, expected, strict=False)):
        if len(row) != len(other):
            problems.append(f'row {number}: {len(row)} columns, expected {len(other)}')
            continue
        problems += [
            f'row {number}, {name}: found {one}, the journal gives {two}'
            for name, one, two in zip(header, row, other, strict=True)
            if not (one == two or (name in COMPUTED and _near(one, two)))
        ]
    return Checked(f'{TESTS}, counted anew', told(problems), f'{len(expected) - 1} rows')


def _near(one: str, two: str) -> bool:
    try:
        return math.isclose(float(one), float(two), rel_tol=ROUNDING, abs_tol=ROUNDING)
    except ValueError:
        return False


def _of_yaml(file: Path, again: str, left_out: tuple[str, ...] = ()) -> Checked:
    """Hold a file against its content as it is computed anew.

    :param left_out: keys that the version of the software is in
    """
    what = f'{file.name}, computed anew'
    try:
        found = yaml.safe_load(file.read_text(encoding='utf-8'))
    except FileNotFoundError:
        return Checked(what, note=ABSENT)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        return Checked(what, f'cannot be read: {" ".join(str(error).split())}')
    expected = yaml.safe_load(again)
    if isinstance(found, dict):
        for each in (found, expected):
            for key in left_out:
                each.pop(key, None)
    return Checked(what, told(differences(found, expected)))


def _of_replication(folder: Path, certificate: dict[str, Any]) -> list[Checked]:
    """Check that a published specification is the one whose digest the certificate names."""
    file = folder / REPLICATION
    if not file.exists():
        return []
    try:
        digest = load(file).digest
    except RepsqError as error:
        return [Checked(REPLICATION, str(error))]
    named = certificate['specification']['replication_digest']
    problem = ''
    if digest != named:
        problem = f'digest is {digest[:12]}, the certificate says {named[:12]}'
    return [Checked(f'{REPLICATION}, its digest', problem, digest[:12])]


def _of_bag(bag: Path, certificate: dict[str, Any]) -> Checked:
    """Check the files of a recording."""
    what = f'recording {bag.name}'
    named = {each['name']: each for each in certificate['bags']}
    if not named:
        return Checked(what, 'the certificate names no recording')
    # A recording may lie in a folder of another name by now, where there is only one.
    entry = named.get(bag.name) or (next(iter(named.values())) if len(named) == 1 else None)
    if entry is None:
        return Checked(what, f'the certificate names {", ".join(named)}')
    try:
        files = bag_files(bag)
        problems = [f'{each} is not in the certificate' for each in files.keys() - _names(entry)]
        for each in entry['files']:
            name = each['name']
            if name not in files:
                problems.append(f'{name} is gone')
            elif sha256_of(files[name]) != each['sha256']:
                problems.append(f'{name}: its SHA-256 is another one, it changed')
    except BagError as error:
        return Checked(what, str(error))
    return Checked(what, told(problems), f'{len(entry["files"])} files, SHA-256 as certified')


def _names(entry: dict[str, Any]) -> set[str]:
    return {each['name'] for each in entry['files']}
