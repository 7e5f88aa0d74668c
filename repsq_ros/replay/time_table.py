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

"""The tests of a recording from a CSV table, written by hand or by a program."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from pathlib import Path

from repsq_ros.errors import BagError
from repsq_ros.replay.held_commands import HeldCommand
from repsq_ros.timebase import NANOSECONDS

# Suffixes of column names: s from the start of the recording, or ns in its stamps.
FORMS = ('', '_ns')


def read_time_table(
    file: Path, names: tuple[str, ...], zero_ns: int, until_ns: int
) -> list[HeldCommand]:
    """Return the intervals of a table with a header line.

    Columns: `start` and `end` [s from the beginning of the recording], or `start_ns` and `end_ns`
    [ns, as the sensor's stamps]; optional `command_start` (or `command_start_ns`), `label`, and
    the components of the command, all or none.

    :param names: of the components of a command
    :param zero_ns: start of the recording
    :param until_ns: end of the recording
    :raises BagError: no such file, or an unreadable row
    """
    expected = f'a table with columns start, end (or start_ns, end_ns), {", ".join(names)}, label'
    try:
        with file.open(encoding='utf-8-sig', newline='') as opened:
            reader = csv.DictReader(opened)
            rows, columns = list(reader), reader.fieldnames or []
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BagError(f'{file}: {error}, expected {expected}') from None
    known = {f'{name}{form}' for name in ('start', 'end', 'command_start') for form in FORMS}
    for column in columns:
        if column not in known | {'label', *names}:
            raise BagError(f'{file}: found column {column!r}, expected {expected}')
    given = [name for name in names if name in columns]
    if given and len(given) < len(names):
        lacking = next(name for name in names if name not in columns)
        raise BagError(f'{file}: found no column {lacking}, expected all of {", ".join(names)}')
    found = []
    for line, row in enumerate(rows, start=2):
        try:
            start, end = (_instant(row, name, zero_ns) for name in ('start', 'end'))
            if start is None or end is None:
                raise ValueError('no start or no end')
            if end <= start:
                raise ValueError(f'an end that is not after its start {row}')
            command = tuple(float(row[name]) for name in given)
            began = _instant(row, 'command_start', zero_ns)
        except (InvalidOperation, TypeError, ValueError) as error:
            why = 'a field that is no number' if isinstance(error, InvalidOperation) else error
            raise BagError(f'{file}, line {line}: found {why}, expected {expected}') from None
        label = (row.get('label') or '').strip()
        found.append(
            HeldCommand(start, min(end, until_ns), command, label, began, cut=end > until_ns)
        )
    if not found:
        raise BagError(f'{file}: found no row, expected {expected}')
    return found


def _instant(row: Mapping[str, str | None], name: str, zero_ns: int) -> int | None:
    """Return an instant [ns]; None if the table has none."""
    seconds, nanoseconds = (row.get(f'{name}{form}') for form in FORMS)
    if nanoseconds:
        return int(nanoseconds)
    if not seconds:
        return None
    # Decimal: stamps in s have more digits than a float.
    return zero_ns + int((Decimal(seconds) * NANOSECONDS).to_integral_value())
