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

"""Running a registered campaign: its seed, and its start and end in the ledger."""

from __future__ import annotations

from pathlib import Path

from repsq_ros.campaign.folder import RESULT
from repsq_ros.campaign.journal import JOURNAL, LEDGER
from repsq_ros.campaign.journal_contents import read_contents
from repsq_ros.certificate.ledger import begin, ledger_file, read_ledger, release
from repsq_ros.certificate.registration import (
    declare,
    end_registered,
    keep_ledger,
    read_registration,
    require_registered,
)
from repsq_ros.errors import OutputError, ParameterError


def registered_seed(
    registration: Path, file: Path, tester_file: Path | None, asked: int | None, seed_value: str
) -> int:
    """Return the seed of a campaign that will run by a registration.

    :param registration: a file of `repsq register`, with the ledger beside it
    :param file: the specification
    :param asked: requested seed; None: the registered one
    :param seed_value: the public value that gives a registered seed; '': none
    :raises ParameterError: it is not the registered campaign, or that began before
    :raises CertificateError: the registration or the ledger was changed
    """
    statement, ledger = read_registration(registration)
    seed = require_registered(statement, declare(file, tester_file), seed_value, asked)
    ledger.numbered(int(statement['number'])).require_new(seed_value)
    return seed


def begin_registered(registration: Path, folder: Path, campaign_id: str, seed_value: str) -> None:
    """Write the start of a campaign to the ledger, and copy the ledger to its folder."""
    statement, ledger = read_registration(registration)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError.unwritable(folder, error) from None
    begin(ledger.file, int(statement['number']), campaign_id, seed_value)
    keep_ledger(ledger.file, folder)


def require_same_registration(registration: Path | None, folder: Path) -> None:
    """Refuse to continue a campaign with another registration than at its start.

    :param registration: None: none was given
    :param folder: of the campaign
    :raises ParameterError: it began with another one, or ended before its first test
    """
    if registration is None:
        if (folder / LEDGER).exists():
            raise ParameterError('registration', 'none', 'the one that the campaign began with')
        return
    statement, ledger = read_registration(registration)
    contents = read_contents(folder / JOURNAL)
    campaign = None if contents is None else ledger.begun_by(contents.ledger)
    if campaign is None or campaign.number != statement['number']:
        raise ParameterError(
            'registration', f'{registration}', f'the one that {folder} began with and still has'
        )


def close_registered(registration: Path, folder: Path) -> str:
    """Write the end of a campaign to the ledger, and copy the ledger to its folder.

    :returns: a message if it ended before its first test; else ''
    """
    if (folder / RESULT).exists():
        end_registered(registration.parent, folder)
        return ''
    contents = read_contents(folder / JOURNAL) if (folder / JOURNAL).exists() else None
    if contents is not None and contents.cases:  # each case is written before its command
        return ''
    file = ledger_file(registration.parent)
    line = str(read_ledger(folder).heads[-1]) if contents is None else contents.ledger
    release(file, line)
    keep_ledger(file, folder)
    return f'no test was commanded: {registration} may be used again, in a new folder'
