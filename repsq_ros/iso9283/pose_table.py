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

"""Poses from the CSV file of a measuring device."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from transforms3d.euler import euler2quat

from repsq_ros.errors import BagError
from repsq_ros.iso9283.table_text import DECIMALS, decimal_of, number_of, read_cells

# a long number that a spreadsheet has shortened
DAMAGED = re.compile(r'^[-+]?\d[.,]?\d*[eE][-+]?\d+$')
NORM = 0.05  # largest deviation of a quaternion's norm from 1
UNTURNED = (0.0, 0.0, 0.0, 1.0)


@dataclass(frozen=True)
class Columns:
    """Names and units of the columns."""

    position: tuple[str, ...]  # x, y, z
    angles: tuple[str, ...] = ()  # three; empty: none
    length: float = 1.0  # factor to m
    angle: float = 1.0  # factor to rad
    order: str = 'sxyz'  # of the angles, as transforms3d names it
    quaternion: tuple[str, ...] = ()  # x, y, z, w; empty: none

    @property
    def names(self) -> tuple[str, ...]:
        """All column names."""
        return (*self.position, *self.angles, *self.quaternion)


@dataclass
class PoseTable:
    """The poses of a file, and the dropped rows."""

    # row numbers in the file; the first row below the header is 1
    rows: list[int] = field(default_factory=list)
    attained: list[tuple[float, ...]] = field(default_factory=list)  # x, y, z [m], x, y, z, w
    goals: list[tuple[float, ...]] = field(default_factory=list)  # the same; empty: not in it
    angles: list[tuple[float, ...]] = field(default_factory=list)  # attained [rad]; empty: none
    # as text from the file; empty: none, or damaged
    times: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)  # one line each
    notes: list[str] = field(default_factory=list)


def read_pose_table(
    file: Path, attained: Columns, goal: Columns | None, time: str = '', decimal: str = ''
) -> PoseTable:
    """Read a table of attained poses, and of commanded ones where it has them.

    :param time: column of the time stamps, which are kept if undamaged
    :param decimal: point or comma; empty: detect it from the table
    :raises BagError: no such file, not a table, a missing or duplicate column, numbers of two
        kinds, no complete row
    """
    header, lines, _ = read_cells(file)
    wanted = attained.names + (() if goal is None else goal.names)
    for name in wanted:
        if name not in header:
            raise BagError(
                f'{file}: found no column {name!r}, expected it among: {", ".join(header)}'
            )
    whole = [(number, row) for number, row in lines if len(row) == len(header)]
    places = [header.index(name) for name in wanted]
    mark = DECIMALS.get(decimal) or decimal_of(file, (row[p] for _, row in whole for p in places))
    table = PoseTable()
    kept_times = []
    for number, line in lines:
        if not any(cell.strip() for cell in line):
            table.dropped.append(f'row {number}: blank')
            continue
        if len(line) != len(header):
            table.dropped.append(f'row {number}: found {len(line)} fields, expected {len(header)}')
            continue
        cells = dict(zip(header, line, strict=True))
        try:
            here = _pose(cells, attained, mark)
            there = _pose(cells, goal, mark) if goal is not None else ()
        except ValueError as error:
            table.dropped.append(f'row {number}: {error}')
            continue
        table.rows.append(number)
        table.attained.append(here)
        if attained.angles:
            table.angles.append(_values(cells, attained.angles, attained.angle, mark))
        if goal is not None:
            table.goals.append(there)
        if time in header:
            kept_times.append(cells[time].strip())
    if not table.rows:
        raise BagError(f'{file}: found no valid row of {len(lines)}, expected at least one')
    if time in header:
        damage = _damage_of(kept_times, time)
        if damage:
            table.notes.append(damage)
        else:
            table.times = kept_times
    return table


def _values(
    cells: dict[str, str], names: Sequence[str], factor: float, mark: str
) -> tuple[float, ...]:
    values = []
    for name in names:
        try:
            values.append(number_of(cells[name], mark) * factor)
        except ValueError:
            raise ValueError(f'{name}: found {cells[name]!r}, expected a number') from None
    return tuple(values)


def _pose(cells: dict[str, str], columns: Columns, mark: str) -> tuple[float, ...]:
    position = _values(cells, columns.position, columns.length, mark)
    if columns.quaternion:
        found = np.array(_values(cells, columns.quaternion, 1.0, mark))
        norm = float(np.linalg.norm(found))
        if abs(norm - 1.0) > NORM:
            raise ValueError(f'a quaternion of norm {norm:.3f}, expected 1')
        return (*position, *(found / norm).tolist())
    if not columns.angles:
        return (*position, *UNTURNED)
    w, x, y, z = euler2quat(*_values(cells, columns.angles, columns.angle, mark), columns.order)
    return (*position, float(x), float(y), float(z), float(w))


def _damage_of(cells: Sequence[str], name: str) -> str:
    """Return what is wrong with the time stamps, or ''."""
    damaged = sum(bool(DAMAGED.match(cell)) for cell in cells)
    if not damaged:
        return ''
    return (
        f'{name}: {damaged} of {len(cells)} time stamps are cut to a few digits '
        f'(e.g. {cells[0]!r}, {len(set(cells))} different): dropped, the order of rows is kept'
    )
