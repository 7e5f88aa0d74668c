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

"""A lab's ledger: what it registered before the first test, and how each campaign ended.

It has the format of a journal: changing, removing or inserting a line changes the digest of the
last line.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

from repsq_ros.campaign.journal import LEDGER, START, Entry, Journal, read_journal
from repsq_ros.campaign.recomputed_campaign import RecomputedCampaign
from repsq_ros.certificate.canonical import plain_object
from repsq_ros.certificate.strict_json import parse, schema_problem
from repsq_ros.errors import CertificateError, JournalError, OutputError, ParameterError
from repsq_ros.timebase import date_now

SEED_DIGITS = 12  # hexadecimal digits of a derived seed: 48 bits, exact in every JSON


class LedgerEvent(Enum):
    """The kinds of lines in a ledger."""

    REGISTERED = 'registered'
    BEGUN = 'begun'
    RESULT = 'result'
    ABANDONED = 'abandoned'
    RELEASED = 'released'  # no test was commanded: the registration can be used again


@dataclass
class RegisteredCampaign:
    """The history of one registration."""

    statement: dict[str, Any]
    begun: dict[str, Any] | None = None  # content of its line, with the line's digest as `line`
    result: dict[str, Any] | None = None  # content of its line
    abandoned: str | None = None  # the reason
    # like `begun`, but without a test
    released: list[dict[str, Any]] = field(default_factory=list)

    @property
    def number(self) -> int:
        """Running number in the ledger, from 1."""
        return int(self.statement['number'])

    @property
    def seed(self) -> int | None:
        """Seed of its cases; None: it follows from a public value that is not known yet."""
        seed = self.statement['seed']
        if 'value' in seed:
            return int(seed['value'])
        if self.begun is None:
            return None
        return derived_seed(self.statement['digest'], str(self.begun['seed_value']))

    @property
    def fate(self) -> str:
        """How it ended, in words."""
        if self.result is not None:
            return f'value {self.result["value"]!r} from {self.result["tests"]} tests'
        if self.abandoned is not None:
            return f'abandoned: {self.abandoned}'
        return 'begun, no result' if self.begun is not None else 'not begun'

    @property
    def tries(self) -> str:
        """Return how often it was started without a test, in the lab's words; '': never."""
        return f', begun {len(self.released)} times before without a test' * bool(self.released)

    def require_new(self, seed_value: str) -> None:
        """Refuse a registration that was already used.

        :param seed_value: the public value for the seed of its campaign
        :raises ParameterError: its campaign began, or was abandoned, or has another value
        """
        if self.released and self.released[0]['seed_value'] != seed_value:
            raise ParameterError(
                'seed-value', seed_value, f'{self.released[0]["seed_value"]}, with which it began'
            )
        if self.begun is not None or self.abandoned is not None:
            begun = f'begun as {self.begun["campaign_id"]}' if self.begun is not None else ''
            raise ParameterError(
                'registration',
                f'number {self.number}, which has {begun or "been abandoned"}',
                'a new one (repsq register), or --resume FOLDER',
            )


@dataclass
class Ledger:
    """The contents of a ledger."""

    file: Path
    heads: list[str] = field(default_factory=list)  # digest of each line
    campaigns: list[RegisteredCampaign] = field(default_factory=list)

    @property
    def state(self) -> dict[str, object]:
        """Number of lines and digest of the last one, as in certificates and statements."""
        return self._state_after(len(self.heads))

    def begun_by(self, line: str) -> RegisteredCampaign | None:
        """Return the campaign whose start has the line with this digest."""
        for each in self.campaigns:
            if each.begun is not None and each.begun['line'] == line:
                return each
        return None

    def was_released(self, line: str) -> bool:
        """Tell whether the campaign of this line ended before its first test."""
        return any(line == each['line'] for one in self.campaigns for each in one.released)

    def numbered(self, number: int) -> RegisteredCampaign:
        """Return a campaign by its running number.

        :raises ParameterError: there is none
        """
        if not 1 <= number <= len(self.campaigns):
            raise ParameterError(
                'registration',
                f'number {number}, which {self.file} does not hold',
                f'one of its {len(self.campaigns)} registrations',
            )
        return self.campaigns[number - 1]

    def add(self, entry: Entry) -> None:
        """Process the next line.

        :raises ValueError: with what is wrong
        """
        content, event = entry.content, LedgerEvent(entry.event)
        problem = schema_problem(content, event.value)
        if problem:
            raise ValueError(problem)
        before = self.state
        self.heads.append(entry.digest)
        if event is LedgerEvent.REGISTERED:
            statement = content['statement']
            if statement['number'] != len(self.campaigns) + 1:
                raise ValueError(f'registration {statement["number"]} out of turn')
            if statement['ledger'] != before:
                raise ValueError('a registration that was signed for another place')
            self.campaigns.append(RegisteredCampaign(statement))
            return
        number = int(content['number'])
        if not 1 <= number <= len(self.campaigns):
            raise ValueError(f'no registration {number} before it')
        campaign = self.campaigns[number - 1]
        if event is LedgerEvent.ABANDONED:
            campaign.abandoned = content['reason']
        elif event is LedgerEvent.RELEASED:
            if campaign.begun is None or campaign.result or campaign.abandoned is not None:
                raise ValueError('the release of a campaign that is not under way')
            campaign.released.append(campaign.begun)
            campaign.begun = None
        elif event is LedgerEvent.RESULT:
            _require_none(campaign.result, 'a second result')
            campaign.result = content
        else:
            _require_none(campaign.begun, 'a second beginning')
            if any(each['seed_value'] != content['seed_value'] for each in campaign.released):
                raise ValueError('another seed value than it began with before')
            campaign.begun = {**content, 'line': entry.digest}

    def _state_after(self, lines: int) -> dict[str, object]:
        return {'lines': lines, 'head': self.heads[lines - 1] if lines else START}


def _require_none(found: object, what: str) -> None:
    if found is not None:
        raise ValueError(f'{what} of one registration')


def ledger_file(path: Path) -> Path:
    """Return the file of a ledger, given the file or its folder."""
    return path / LEDGER if path.is_dir() else path


def read_ledger(path: Path) -> Ledger:
    """Read a ledger.

    :param path: its file, or the folder that it is in
    :raises CertificateError: it cannot be read, or was changed
    :raises ParameterError: it is not there
    :raises MissingError: jsonschema is not installed
    """
    file = ledger_file(path)
    _require_there(file)
    try:
        entries, *_ = read_journal(file)
        lines = file.read_bytes().split(b'\n')
    except JournalError as error:
        text = str(error).replace('journal of a campaign', 'ledger of a lab')
        raise CertificateError(text) from None
    ledger = Ledger(file)
    for number, (entry, line) in enumerate(zip(entries, lines, strict=False), start=1):
        try:
            parse(line)
            ledger.add(entry)
        except (ValueError, RecursionError) as error:
            raise CertificateError(
                f'{file}, line {number}: found {error}, expected an unchanged ledger'
            ) from None
    return ledger


def _require_there(file: Path) -> None:
    if not file.exists():
        raise ParameterError('ledger', f'{file}, which is not there', 'the ledger of a lab')


@contextmanager
def appending(file: Path, new: bool = False) -> Iterator[tuple[Journal, Ledger]]:
    """Lock a ledger for appending, and return its contents.

    :param new: create it if there is none
    :raises ParameterError: there is none
    :raises CertificateError: it was changed
    :raises OutputError: it cannot be written, or another process writes it
    """
    if not new:
        _require_there(file)
    try:
        journal = Journal(file)
    except JournalError:
        read_ledger(file)  # raises an error that says what is wrong
        raise OutputError(f'{file}: another process writes it, expected it to be free') from None
    try:
        yield journal, read_ledger(file)
    finally:
        journal.close()


def begin(file: Path, number: int, campaign_id: str, seed_value: str) -> None:
    """Write that a registered campaign begins.

    :raises ParameterError: it began before, or was abandoned
    """
    with appending(file) as (journal, ledger):
        campaign = ledger.numbered(number)
        campaign.require_new(seed_value)
        _append(
            journal, LedgerEvent.BEGUN, number=number, campaign_id=campaign_id,
            seed_value=seed_value,
        )  # fmt: skip


def abandon(file: Path, number: int, reason: str) -> None:
    """Write that a registered campaign will have no result.

    :raises ParameterError: it has one
    """
    with appending(file) as (journal, ledger):
        campaign = ledger.numbered(number)
        if campaign.result is not None or campaign.abandoned is not None:
            raise ParameterError(
                'abandon', f'number {number}: {campaign.fate}', 'a campaign without a result'
            )
        _append(journal, LedgerEvent.ABANDONED, number=number, reason=reason)


def release(file: Path, line: str) -> None:
    """Write that a campaign ended before its first test, so its registration can be used again.

    :param line: digest of the line of its start
    :raises CertificateError: the ledger has no such line
    """
    with appending(file) as (journal, ledger):
        campaign = ledger.begun_by(line)
        if campaign is None:
            raise CertificateError(f'{file}: found no line {line[:12]}, by which a campaign began')
        _append(journal, LedgerEvent.RELEASED, number=campaign.number)


def finish(file: Path, recomputed: RecomputedCampaign) -> int:
    """Write the result of a registered campaign, which is then final; return its number.

    :raises CertificateError: the ledger holds no such campaign, or another result of it
    :raises JournalError: the campaign has no result
    """
    result = recomputed.finished()
    with appending(file) as (journal, ledger):
        campaign = ledger.begun_by(recomputed.contents.ledger)
        if campaign is None:
            raise CertificateError(
                f'{file}: found no line that {recomputed.folder} began by, expected the ledger '
                'that it was registered in'
            )
        if campaign.result is None:
            _append(
                journal, LedgerEvent.RESULT, number=campaign.number, value=result.value,
                tests=result.n, journal_head=recomputed.head,
            )  # fmt: skip
        elif campaign.result['journal_head'] != recomputed.head:
            raise CertificateError(
                f'{file}: found another journal for the result of registration '
                f'{campaign.number}, expected that of {recomputed.folder}'
            )
        return campaign.number


def _append(journal: Journal, event: LedgerEvent, **content: object) -> None:
    journal.append(event.value, date=date_now(), **plain_object(content))


def derived_seed(digest: str, value: str) -> int:
    """Return the seed from a public value: the first digits of SHA-256("digest:value").

    :param digest: of the registration, so that each gets another seed
    :param value: of a public beacon, or another lab's nonce
    """
    text = f'{digest}:{value.strip()}'
    return int(hashlib.sha256(text.encode()).hexdigest()[:SEED_DIGITS], 16)
