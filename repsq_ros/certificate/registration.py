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

"""A registration: a campaign's specification, choices and seed, signed before its first test."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from repsq_ros import __version__
from repsq_ros.campaign.folder import SPECIFICATION, keep_file
from repsq_ros.campaign.journal import LEDGER
from repsq_ros.campaign.recomputed_campaign import RecomputedCampaign, recompute
from repsq_ros.certificate.canonical import content_digest, plain_object, sha256_of, written_form
from repsq_ros.certificate.differences import CheckResult, differences
from repsq_ros.certificate.ledger import (
    Ledger,
    LedgerEvent,
    RegisteredCampaign,
    appending,
    derived_seed,
    finish,
    ledger_file,
    read_ledger,
)
from repsq_ros.certificate.signature import sign, signature_problem
from repsq_ros.certificate.strict_json import parse, schema_problem
from repsq_ros.certificate.timestamp import REPLY, TIMESTAMP
from repsq_ros.errors import CertificateError, OutputError, ParameterError
from repsq_ros.specification.copies import companions, copy_specification
from repsq_ros.specification.load import load
from repsq_ros.specification.yaml_file import read
from repsq_ros.timebase import date_now

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (
        Ed25519PrivateKey,
        Ed25519PublicKey,
    )

TYPE = 'repsq_ros registration'
FORMAT = 1
REGISTRATION = 'registration'  # name of the check
# parts of a statement that the campaign has to follow
DECLARED = ('specification', 'tester', 'files')
UNREGISTERED = (
    'not registered: nobody can tell whether it is the best of several campaigns (repsq register)'
)


def declare(file: Path, tester_file: Path | None = None) -> dict[str, object]:
    """Return what a campaign with this specification will run, in the form of a statement.

    :raises SpecificationError: the specification cannot be used
    """
    with TemporaryDirectory() as temporary:
        copy = Path(temporary) / SPECIFICATION
        try:
            copy_specification(file, copy, tester_file)
        except OSError as error:
            raise ParameterError('specification', f'{file}: {error.strerror}', 'a file') from None
        return declared_by(copy)


def declared_by(file: Path) -> dict[str, object]:
    """Return the same for the specification in a campaign's folder."""
    specification = load(file)
    tester = read(file).content()['tester']
    assert isinstance(tester, dict)
    return plain_object(
        {
            'specification': {'name': specification.name, 'digest': specification.digest},
            'tester': {key: value for key, value in tester.items() if key != 'seed'},
            'files': {str(name): sha256_of(file.parent / name) for name in companions(file)},
        }
    )


def register(
    folder: Path, declared: dict[str, object], lab: str, seed: int | str, key: Ed25519PrivateKey
) -> Path:
    """Append a signed statement to a lab's ledger, and write it to a file beside the ledger.

    :param folder: of the ledger; created if missing
    :param declared: result of `declare`
    :param seed: of the cases; as text: the source of the public value that will give it
    :raises CertificateError: the ledger was changed
    :raises OutputError: it cannot be written
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError.unwritable(folder, error) from None
    with appending(folder / LEDGER, new=True) as (journal, ledger):
        statement = plain_object(
            {
                'type': TYPE,
                'format': FORMAT,
                'lab': lab,
                'number': len(ledger.campaigns) + 1,
                'registered': date_now(),
                **declared,
                'seed': {'from' if isinstance(seed, str) else 'value': seed},
                'ledger': ledger.state,
                'software': f'repsq_ros {__version__}',
            }
        )
        statement['digest'] = content_digest(statement)
        statement['signature'] = sign(statement, key)
        file = folder / registration_name(statement['number'])
        if file.exists():
            raise OutputError(
                f'output {file}: found it there, expected none: is the ledger complete?'
            )
        journal.append(LedgerEvent.REGISTERED.value, statement=statement)
        try:
            file.write_bytes(written_form(statement))
        except OSError as error:
            raise OutputError.unwritable(folder, error) from None
    return file


def registration_name(number: int) -> str:
    """Return the name of a registration's file beside the ledger."""
    return f'registration-{number}.json'


def read_registration(file: Path) -> tuple[dict[str, Any], Ledger]:
    """Return a statement, and the ledger beside it.

    :raises CertificateError: it cannot be read, was changed, or is not in the ledger
    """
    try:
        statement = parse(file.read_bytes())
    except OSError as error:
        raise ParameterError(
            'registration', f'{file}: {error.strerror}', 'a file of repsq register'
        ) from None
    except (ValueError, RecursionError) as error:
        raise CertificateError(
            f'{file}: found no valid JSON ({error}), expected a file of repsq register'
        ) from None
    problem = schema_problem(statement, 'statement') or statement_problem(statement, None)
    if problem:
        raise CertificateError(f'{file}: {problem}')
    ledger = read_ledger(file.parent)
    if all(each.statement != statement for each in ledger.campaigns):
        raise CertificateError(f'{file}: found no such line in {ledger.file}, expected it there')
    return statement, ledger


def require_registered(
    statement: dict[str, Any], declared: dict[str, object], seed_value: str, seed: int | None
) -> int:
    """Return the seed of a campaign, if it matches its registration.

    :param declared: what it will run
    :param seed_value: the public value that gives its seed; '': none
    :param seed: the requested one; None: the registered one
    :raises ParameterError: what differs
    """
    registered = {name: statement[name] for name in DECLARED}
    found = differences(declared, registered, by='the registration has')
    if found:
        raise ParameterError(
            'registration',
            f'another campaign ({found[0]})',
            f'what was registered as number {statement["number"]}',
        )
    source = statement['seed'].get('from')
    if (source is None) != (not seed_value):
        raise ParameterError(
            'seed-value',
            seed_value or 'none',
            'none: the seed was registered' if source is None else f'the value of {source}',
        )
    registered_seed = (
        int(statement['seed']['value'])
        if source is None
        else derived_seed(statement['digest'], seed_value)
    )
    if seed is not None and seed != registered_seed:
        raise ParameterError('seed', f'{seed}', f'{registered_seed}, which was registered')
    return registered_seed


def keep_ledger(ledger: Path, folder: Path) -> None:
    """Copy the current ledger to a campaign's folder.

    :raises OutputError: it cannot be written
    """
    keep_file(ledger, folder, LEDGER)


def end_registered(ledger: Path, folder: Path) -> None:
    """Write a campaign's result to the ledger, and copy the ledger to its folder."""
    file = ledger_file(ledger)
    number = finish(file, recompute(folder))
    keep_ledger(file, folder)
    reply = (file.parent / registration_name(number)).with_suffix(REPLY)
    if reply.exists():
        keep_file(reply, folder, TIMESTAMP)


def certified_registration(recomputed: RecomputedCampaign) -> dict[str, object] | None:
    """Return a certificate's entry about a campaign's registration; None: not registered.

    :raises CertificateError: the ledger in the folder was changed, or is another one
    """
    line = recomputed.contents.ledger
    if not line:
        return None
    ledger = read_ledger(recomputed.folder)
    campaign = ledger.begun_by(line)
    if campaign is None or campaign.begun is None:
        raise CertificateError(
            f'{ledger.file}: found no line {line[:12]}, by which {recomputed.folder} began'
        )
    return {
        'statement': campaign.statement,
        'begun': line,
        'seed_value': campaign.begun['seed_value'],
        'ledger': ledger.state,
    }


def statement_problem(statement: dict[str, Any], key: Ed25519PublicKey | None) -> str:
    """Return what is wrong with the digest or the signature of a statement; '': nothing."""
    if content_digest(statement) != statement['digest']:
        return 'its content is not that of its digest: it was edited'
    unsigned = {name: value for name, value in statement.items() if name != 'signature'}
    problem = signature_problem(unsigned, statement['signature'], key)
    return f'its signature is {problem}' if problem else ''


def check_registration(
    certificate: dict[str, Any] | None,
    recomputed: RecomputedCampaign | None,
    ledger_path: Path | None,
    key: Ed25519PublicKey | None = None,
) -> CheckResult:
    """Check that a campaign is the registered one, and count similar ones in the ledger.

    :param certificate: None: only a journal
    :param recomputed: None: only a certificate
    :param ledger_path: the ledger, current or as of then; None: not available
    :param key: the lab's public key
    """
    certified = (certificate or {}).get('registration')
    line = certified['begun'] if certified else ''
    problems = []
    if recomputed is not None:
        if certificate is not None and line != recomputed.contents.ledger:
            problems.append('the certificate names another line of the ledger than the journal')
        line = recomputed.contents.ledger
    if not line:
        return CheckResult(REGISTRATION, tuple(problems), not_checked=UNREGISTERED)
    ledger = campaign = None
    if ledger_path is not None:
        try:
            ledger = read_ledger(ledger_path)
        except CertificateError as error:
            return CheckResult(REGISTRATION, (*problems, str(error)))
        campaign = ledger.begun_by(line)
        if campaign is None:
            text = f'{ledger.file} has no line {line[:12]}, by which this campaign began'
            if ledger.was_released(line):
                text = f'{ledger.file} says that this campaign ended before its first test'
            return CheckResult(REGISTRATION, (*problems, text))
        if certified:
            problems += _ledger_problems(ledger, certified, campaign)
    elif certified:
        begun = {'seed_value': certified['seed_value'], 'line': line}
        campaign = RegisteredCampaign(certified['statement'], begun)
    if campaign is None:
        return CheckResult(
            REGISTRATION, tuple(problems), not_checked='the ledger is not at hand (--ledger)'
        )
    problems += _campaign_problems(campaign, certificate, recomputed)
    problem = statement_problem(campaign.statement, key)
    problems += [problem] if problem else []
    told = _registered_text(campaign)
    if ledger is None:
        return CheckResult(
            REGISTRATION,
            tuple(problems),
            not_checked=f'{told}; the ledger, which lists the other campaigns, is missing '
            '(--ledger)',
        )
    return CheckResult(REGISTRATION, tuple(problems), f'{told}; {_others(ledger, campaign)}')


def _ledger_problems(
    ledger: Ledger, certified: dict[str, Any], campaign: RegisteredCampaign
) -> list[str]:
    """Return how a ledger differs from the certified one; later lines are allowed."""
    problems = []
    lines = int(certified['ledger']['lines'])
    if ledger.heads[lines - 1 : lines] != [certified['ledger']['head']]:
        problems.append(
            f'{ledger.file}: line {lines} is not the one that the certificate names: another '
            'ledger, or one that was rewritten'
        )
    if campaign.statement != certified['statement']:
        problems.append('the certificate names another registration than the ledger')
    return problems


def _campaign_problems(
    campaign: RegisteredCampaign,
    certificate: dict[str, Any] | None,
    recomputed: RecomputedCampaign | None,
) -> list[str]:
    """Return how a campaign differs from the registered one."""
    if recomputed is not None:
        seed, campaign_id = recomputed.contents.seed, recomputed.contents.campaign_id
        declared = declared_by(recomputed.folder / SPECIFICATION)
        head = recomputed.head
    else:
        assert certificate is not None
        seed, campaign_id = int(certificate['campaign']['seed']), certificate['campaign']['id']
        declared = {
            'specification': {
                name: certificate['specification'][name] for name in ('name', 'digest')
            }
        }
        head = certificate['journal']['head']
    registered = {name: campaign.statement[name] for name in declared}
    problems = differences(declared, registered, by='the registration has')
    if seed != campaign.seed:
        problems.append(f'seed {seed}, the registration gives {campaign.seed}')
    begun = campaign.begun or {}
    if begun.get('campaign_id', campaign_id) != campaign_id:
        problems.append(f'the ledger says that {begun["campaign_id"]} began, not {campaign_id}')
    if campaign.result is not None and campaign.result['journal_head'] != head:
        problems.append('the ledger names another journal for its result')
    if campaign.abandoned is not None:
        problems.append(f'the ledger says that it was abandoned: {campaign.abandoned}')
    return problems


def _registered_text(campaign: RegisteredCampaign) -> str:
    statement = campaign.statement
    seed = (
        f'seed {campaign.seed} chosen by the lab'
        if 'value' in statement['seed']
        else f'seed {campaign.seed} from {statement["seed"]["from"]} = '
        f'{(campaign.begun or {}).get("seed_value", "")}'
    )
    of_lab = f'number {statement["number"]} of {statement["lab"]}, {statement["registered"]}'
    return f'{of_lab}, {seed}{campaign.tries}'


def _others(ledger: Ledger, campaign: RegisteredCampaign) -> str:
    """Return the number of campaigns with its specification in the ledger, and their ends."""
    digest = campaign.statement['specification']['digest']
    alike = [
        each for each in ledger.campaigns if each.statement['specification']['digest'] == digest
    ]
    others = [each for each in alike if each is not campaign]
    of_all = f'of {len(ledger.campaigns)} registrations in the ledger, {len(alike)} of this '
    if not others:
        return f'{of_all}specification'
    without = sum(each.result is None for each in others)
    told = '; '.join(f'number {each.number}: {each.fate}{each.tries}' for each in others)
    return f'{of_all}specification, {without} without a result ({told})'
