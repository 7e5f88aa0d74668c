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

"""Tables of a study as CSV and Markdown, with the same digits."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from pathlib import Path

from repsq_ros.errors import OutputError
from repsq_ros.paper.study_interface import Cell, Row
from repsq_ros.studies.summary import Share

DIGITS = 6  # significant digits of a cell: machines differ only beyond, if at all


def shown(cell: Cell) -> str:
    """Return the text of a cell."""
    if isinstance(cell, float):
        return '' if math.isnan(cell) else f'{cell:.{DIGITS}g}'
    return str(cell)


def write_table(file: Path, rows: Sequence[Row]) -> None:
    """Write a table as CSV, the columns in the order of the first row.

    :raises OutputError: the file cannot be written
    """
    columns = list(rows[0])
    try:
        with file.open('w', encoding='utf-8', newline='') as opened:
            writer = csv.writer(opened, lineterminator='\n')
            writer.writerow(columns)
            for row in rows:
                writer.writerow([shown(row[column]) for column in columns])
    except OSError as error:
        raise OutputError.unwritable(file.parent, error) from None


def markdown(rows: Sequence[Row], columns: Sequence[str]) -> str:
    """Return some columns of a table in Markdown."""
    lines = [columns, ['---'] * len(columns)]
    lines += [[shown(row[column]) for column in columns] for row in rows]
    return '\n'.join(f'| {" | ".join(line)} |' for line in lines)


def share(name: str, count: int, of: int) -> Row:
    """Return the columns of a share: count, total, and its exact 95 % interval."""
    found = Share(count, of)
    of_some: tuple[Cell, Cell, Cell] = (found.value, *found.interval) if of else ('', '', '')
    value, low, high = of_some
    return {
        name: value,
        f'{name}_count': count,
        f'{name}_of': of,
        f'{name}_low': low,
        f'{name}_high': high,
    }
