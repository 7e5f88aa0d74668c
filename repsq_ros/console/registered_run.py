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

"""What verbs do with a registered campaign: its seed, its beginning and its end in the ledger."""

from __future__ import annotations

import argparse
import secrets
from pathlib import Path

from repsq_ros.campaign.recomputed_campaign import recompute
from repsq_ros.certificate.ledger import begin, finish, ledger_file
from repsq_ros.certificate.registration import (
    declare,
    keep_ledger,
    read_registration,
    require_registered,
)
from repsq_ros.errors import ParameterError
from repsq_ros.specification.model import Specification

LARGEST_SEED = 2**31  # of those that are drawn


def chosen_seed(asked: int | None, specification: Specification) -> int:
    """Return the seed that was asked for, that of the specification, or a new one."""
    if asked is not None and asked < 0:
        raise ParameterError('seed', f'{asked}', 'a whole number >= 0')
    seed = specification.tester.seed if asked is None else asked
    return secrets.randbelow(LARGEST_SEED) if seed is None else seed


def add_ledger(parser: argparse.ArgumentParser) -> None:
    """Describe the option that names a ledger."""
    parser.add_argument(
        '--ledger',
        type=Path,
        help="the lab's ledger, or its folder (default: the copy beside the campaign)",
    )


def registered_seed(arguments: argparse.Namespace, specification: Specification) -> int:
    """Return the seed of a campaign that is run by a registration.

    :raises ParameterError: it is not the registered campaign, or that began before
    :raises CertificateError: the registration or the ledger was changed
    """
    statement, ledger = read_registration(arguments.registration)
    declared = declare(arguments.specification, arguments.tester)
    asked = specification.tester.seed if arguments.seed is None else arguments.seed
    seed = require_registered(statement, declared, arguments.seed_value, asked)
    ledger.numbered(int(statement['number'])).require_new()
    return seed


def begin_registered(arguments: argparse.Namespace, folder: Path, campaign_id: str) -> None:
    """Say in the ledger that a campaign begins, and keep the ledger in its folder."""
    statement, ledger = read_registration(arguments.registration)
    begin(ledger.file, int(statement['number']), campaign_id, arguments.seed_value)
    keep_ledger(ledger.file, folder)


def end_registered(ledger: Path, folder: Path) -> None:
    """Say in the ledger what a campaign returned, and keep the ledger in its folder."""
    file = ledger_file(ledger)
    finish(file, recompute(folder))
    keep_ledger(file, folder)
