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

"""Recomputing everything in a certificate or a campaign's folder, and comparing it."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import yaml

from repsq_ros.campaign.folder import (
    MEASURED,
    REPLICATION,
    RESULT,
    TESTS,
    leave_replication,
    tests_header,
    tests_row,
)
from repsq_ros.campaign.journal import JOURNAL, LEDGER
from repsq_ros.campaign.recomputed_campaign import RecomputedCampaign, recompute
from repsq_ros.campaign.records import close
from repsq_ros.certificate.canonical import content_digest, sha256_of, written_form
from repsq_ros.certificate.differences import CheckResult, differences
from repsq_ros.certificate.document import (
    CERTIFICATE,
    ISSUED,
    PRICE,
    bag_files,
    certified_files,
    counted_anew,
)
from repsq_ros.certificate.issuing import read_certificate
from repsq_ros.certificate.registration import check_registration
from repsq_ros.certificate.replayed_cases import replay_cases
from repsq_ros.certificate.signature import signature_problem
from repsq_ros.certificate.timestamp import check_timestamp
from repsq_ros.errors import (
    BagError,
    CertificateError,
    ParameterError,
    RepsqError,
    SpecificationError,
)
from repsq_ros.specification.load import load
from repsq_ros.specification.yaml_file import read

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.x509 import Certificate

SIGNATURE = 'signature'  # name of the check
ABSENT = 'is not there'  # a file is missing
COUNTED = 'recomputed from the journal'
ERROR = 'psi_error'  # column of tests.csv
COMPUTED = {'mean', 'half_width'}  # columns of tests.csv that the journal does not hold


def verify(
    target: Path,
    bags: Sequence[Path] = (),
    key: Ed25519PublicKey | None = None,
    ledger: Path | None = None,
    authorities: Sequence[Certificate] = (),
) -> list[CheckResult]:
    """Check a campaign's folder, a published one, or a certificate.

    :param bags: recordings that the certificate lists
    :param key: the lab's public key, which has to match the signature; None: the signature is
        checked, but not its owner
    :param ledger: of the lab; None: the copy beside the campaign
    :param authorities: trusted for time stamps
    :raises MissingError: what is needed to read a certificate is not installed
    :raises ParameterError: there is neither a campaign nor a certificate
    """
    folder = target if target.is_dir() else target.parent
    file = target / CERTIFICATE if target.is_dir() else target
    has_journal = (folder / JOURNAL).exists()
    if not file.exists() and not has_journal:
        found = f'neither {JOURNAL} nor {CERTIFICATE}' if target.is_dir() else 'nothing'
        raise ParameterError(str(target), found, 'a campaign or its certificate')
    checks: list[CheckResult] = []
    certificate: dict[str, Any] | None = None
    if file.exists():
        try:
            certificate, data = read_certificate(file)
        except CertificateError as error:
            return [CheckResult(file.name, (str(error),))]
        checks += _check_certificate(file, certificate, data, key)
        checks += list(_check_files(folder, certificate))
    elif key is not None or bags:
        return [CheckResult(CERTIFICATE, ('is not there: no signature, and no recording named',))]
    recomputed = None
    if has_journal:
        try:
            recomputed = recompute(folder)
        except RepsqError as error:
            return [*checks, CheckResult(COUNTED, (str(error),))]
        checks += _check_campaign(recomputed, certificate)
    if certificate is not None and not (has_journal and REPLICATION in certificate['files']):
        checks += _check_replication(folder, certificate)
    if certificate is not None:
        checks += [_check_bag(bag, certificate) for bag in bags]
    if ledger is None and (folder / LEDGER).exists():
        ledger = folder / LEDGER
    return [
        *checks,
        check_registration(certificate, recomputed, ledger, key),
        *check_timestamp(folder, certificate, recomputed, ledger, authorities),
    ]


def _check_certificate(
    file: Path, certificate: dict[str, Any], data: bytes, key: Ed25519PublicKey | None
) -> list[CheckResult]:
    """Check a certificate by itself."""
    checks = []
    problems: tuple[str, ...] = ()
    if content_digest(certificate) != certificate['digest']:
        problems = ('its content is not that of its digest: it was edited',)
    elif written_form(certificate) != data:
        problems = ('the bytes of the file are not as they were written: it was edited',)
    checks.append(CheckResult(file.name, problems, f'digest {certificate["digest"][:12]}'))
    said = certificate['specification']
    shared = json.dumps(said['shared'], sort_keys=True, separators=(',', ':'))
    digest = hashlib.sha256(shared.encode()).hexdigest()
    problems = ()
    if digest != said['replication_digest']:
        problems = (f'is {digest[:12]}, the certificate says {said["replication_digest"][:12]}',)
    checks.append(CheckResult('digest of the specification in it', problems, digest[:12]))
    return [*checks, _check_signature(certificate, key)]


def _check_signature(certificate: dict[str, Any], key: Ed25519PublicKey | None) -> CheckResult:
    signature = certificate.get('signature')
    if signature is None:
        if key is not None:
            return CheckResult(SIGNATURE, ('there is none',))
        return CheckResult(SIGNATURE, not_checked='no signature: anybody may have written this')
    unsigned = {name: value for name, value in certificate.items() if name != 'signature'}
    problem = signature_problem(unsigned, signature, key)
    if problem:
        return CheckResult(SIGNATURE, (problem,))
    named = f'by the key {signature["public_key"]}'
    if key is None:
        return CheckResult(
            SIGNATURE, not_checked=f'{named}: not signed by a lab that you named with --key'
        )
    return CheckResult(SIGNATURE, note=named)


def _check_files(folder: Path, certificate: dict[str, Any]) -> Iterator[CheckResult]:
    """Check the files that a certificate lists."""
    # A published folder without evidence lacks these files.
    is_campaign = any((folder / name).exists() for name in (JOURNAL, TESTS, RESULT))
    for name, digest in certificate['files'].items():
        path = folder / name
        if not path.is_file():
            if is_campaign:
                yield CheckResult(name, ('is gone',))
            continue
        found = sha256_of(path)
        problems: tuple[str, ...] = ()
        if found != digest:
            problems = (
                f'SHA-256 is {found[:12]}, the certificate says {digest[:12]}: it changed',
            )
        yield CheckResult(name, problems, f'SHA-256 {digest[:12]}')
    try:
        there = certified_files(folder) if is_campaign else []
    except SpecificationError:
        return  # reported when the campaign is counted
    for name in there:
        if name not in certificate['files'] and name != REPLICATION:
            yield CheckResult(name, ('not in the certificate, so anybody may change it',))


def _check_campaign(
    recomputed: RecomputedCampaign, certificate: dict[str, Any] | None
) -> list[CheckResult]:
    """Check everything that follows from a journal."""
    folder = recomputed.folder
    torn: tuple[str, ...] = ()
    if recomputed.torn:
        torn = (f'{recomputed.torn} bytes after the last valid line',)
    lines = f'{len(recomputed.entries)} lines, head {recomputed.head[:12]}'
    checks = [
        CheckResult(f'{JOURNAL}, line by line', torn, lines),
        *replay_cases(recomputed),
        _check_tests_table(folder / TESTS, recomputed),
    ]
    if recomputed.result is None:
        ended = certificate is not None or (folder / RESULT).exists()
        text = f'{len(recomputed.contents.tests)} tests without a result'
        problems = (text,) if ended else ()
        return [*checks, CheckResult(COUNTED, problems, f'{text}: not at its end yet')]
    document = recomputed.result.document(recomputed.specification)
    document['sessions'] = list(recomputed.contents.sessions)
    checks.append(_check_yaml(folder / RESULT, yaml.safe_dump(document), ('software', *PRICE)))
    if recomputed.specification.partition is None:
        with TemporaryDirectory() as temporary:
            again = Path(temporary) / REPLICATION
            leave_replication(recomputed.specification, recomputed.result, again)
            checks.append(_check_yaml(folder / REPLICATION, again.read_text(encoding='utf-8')))
    if certificate is not None:
        checks.append(_check_numbers(certificate, recomputed))
    return checks


def _check_numbers(certificate: dict[str, Any], recomputed: RecomputedCampaign) -> CheckResult:
    """Compare every number and word of a certificate with the journal."""
    again = counted_anew(recomputed)
    left_out = (*ISSUED, 'files', 'digest', 'signature')
    said = {key: value for key, value in certificate.items() if key not in left_out}
    return CheckResult('certificate, recomputed', tuple(differences(said, again)))


def _check_tests_table(file: Path, recomputed: RecomputedCampaign) -> CheckResult:
    """Compare the table of the tests with the journal."""
    try:
        found = list(csv.reader(io.StringIO(file.read_text(encoding='utf-8'))))
    except FileNotFoundError:
        return CheckResult(f'{TESTS}, recomputed', note=ABSENT)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        return CheckResult(f'{TESTS}, recomputed', (f'cannot be read: {error}',))
    lines = [tests_header(recomputed.specification)]
    lines += [
        tests_row(each.record, each.estimate, recomputed.specification)
        for each in recomputed.counted
    ]
    expected = list(csv.reader(lines))
    for name in expected[0]:
        later = name == ERROR or name.startswith(MEASURED)  # version 0.2.0 did not write these
        if later and found and name not in found[0]:
            expected = _without(expected, name)
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
    return CheckResult(f'{TESTS}, recomputed', tuple(problems), f'{len(expected) - 1} rows')


def _without(rows: list[list[str]], name: str) -> list[list[str]]:
    """Return a table with its header, but without one column."""
    place = rows[0].index(name)
    return [row[:place] + row[place + 1 :] for row in rows]


def _near(one: str, two: str) -> bool:
    try:
        return close(float(one), float(two))
    except ValueError:
        return False


def _check_yaml(file: Path, again: str, left_out: tuple[str, ...] = ()) -> CheckResult:
    """Compare a file with its recomputed content.

    :param left_out: keys that depend on the software version
    """
    what = f'{file.name}, recomputed'
    try:
        text = file.read_text(encoding='utf-8')
        read(file)  # refuses duplicate keys
        found = yaml.safe_load(text)
    except FileNotFoundError:
        return CheckResult(what, note=ABSENT)
    except (OSError, UnicodeDecodeError, yaml.YAMLError, SpecificationError) as error:
        return CheckResult(what, (f'cannot be read: {" ".join(str(error).split())}',))
    expected = yaml.safe_load(again)
    if isinstance(found, dict):
        for each in (found, expected):
            for key in left_out:
                each.pop(key, None)
    return CheckResult(what, tuple(differences(found, expected)))


def _check_replication(folder: Path, certificate: dict[str, Any]) -> list[CheckResult]:
    """Check that a published specification has the certified digest."""
    file = folder / REPLICATION
    if not file.exists():
        return []
    try:
        digest = load(file).digest
    except RepsqError as error:
        return [CheckResult(REPLICATION, (str(error),))]
    named = certificate['specification']['replication_digest']
    problems: tuple[str, ...] = ()
    if digest != named:
        problems = (f'digest is {digest[:12]}, the certificate says {named[:12]}',)
    return [CheckResult(f'{REPLICATION}, its digest', problems, digest[:12])]


def _check_bag(bag: Path, certificate: dict[str, Any]) -> CheckResult:
    """Check the files of a recording."""
    what = f'recording {bag.name}'
    named = {each['name']: each for each in certificate['bags']}
    if not named:
        return CheckResult(what, ('the certificate names no recording',))
    # A single recording may be in a renamed folder.
    entry = named.get(bag.name) or (next(iter(named.values())) if len(named) == 1 else None)
    if entry is None:
        return CheckResult(what, (f'the certificate names {", ".join(named)}',))
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
        return CheckResult(what, (str(error),))
    return CheckResult(what, tuple(problems), f'{len(entry["files"])} files, SHA-256 as certified')


def _names(entry: dict[str, Any]) -> set[str]:
    return {each['name'] for each in entry['files']}
