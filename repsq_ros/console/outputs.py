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

"""Output files of commands; files of other origin are never overwritten."""

from __future__ import annotations

import argparse
from pathlib import Path

from repsq_ros.campaign.folder import REPLICATION, RESULT, SPECIFICATION, TESTS
from repsq_ros.campaign.journal import JOURNAL, LEDGER
from repsq_ros.errors import OutputError

NEVER = (JOURNAL, LEDGER, SPECIFICATION, TESTS, RESULT, REPLICATION)  # never overwritten


def add_force(parser: argparse._ActionsContainer) -> None:
    """Describe the option that goes with `refuse_others_file`."""
    parser.add_argument(
        '--force',
        action='store_true',
        help='write over a file that repsq did not write; never in the folder of a campaign',
    )


def refuse_others_file(file: Path | None, mark: str, force: bool = False) -> None:
    """Refuse to overwrite a file that this command did not write.

    :param file: None: no output
    :param mark: text in every file that the command writes
    :param force: overwrite it anyway, except in a campaign's folder
    :raises OutputError: there is such a file, or a folder
    """
    if file is None or not file.exists():
        return
    # Imported here: most verbs need it for nothing else.
    from repsq_ros.certificate.document import CERTIFICATE

    evidence = any((file.parent / name).exists() for name in (JOURNAL, CERTIFICATE, LEDGER))
    if file.is_file() and not (evidence and file.name in (CERTIFICATE, *NEVER)):
        try:
            if mark.encode() in file.read_bytes():
                return
        except OSError as error:
            raise OutputError.unwritable(file, error) from None
        if force and not evidence:
            return
    if evidence:
        raise OutputError(
            f'output {file}: found a file of a campaign, expected a new name or another folder'
        )
    raise OutputError(
        f'output {file}: found a file that this command did not write, expected a new name, '
        'or --force'
    )


def new_folder(folder: Path) -> Path:
    """Make an empty folder.

    :raises OutputError: it is not empty, or it cannot be made
    """
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise OutputError(f'output {folder}: found something there, expected a new folder')
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError.unwritable(folder, error) from None
    return folder


def write_text(file: Path, text: str) -> None:
    """Write a file.

    :raises OutputError: it cannot be written
    """
    try:
        file.write_text(text, encoding='utf-8')
    except OSError as error:
        raise OutputError.unwritable(file, error) from None
