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

"""Poses from the CSV file of a measuring device, whatever a spreadsheet did to it."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from transforms3d.euler import euler2quat

from repsq_ros.errors import BagError

Array = NDArray[np.float64]

DELIMITERS = ';\t,'
DAMAGED = re.compile(r'^[-+]?\d[.,]?\d*[eE][-+]?\d+$')  # a long number that a spreadsheet cut


@dataclass(frozen=True)
class Columns:
    """Which columns hold what, and in which units."""

    position: tuple[str, str, str]
    angles: tuple[str, str, str] | None
    length: float  # factor to m
    angle: float = 1.0  # factor to rad


@dataclass
class PoseTable:
    """What a file gave, and what was dropped of it."""

    rows: list[int] = field(
        default_factory=list
    )  # their numbers in the file; 1 is the first row below the header
    attained: list[tuple[float, ...]] = field(default_factory=list)  # x, y, z [m], x, y, z, w
    goals: list[tuple[float, ...]] = field(default_factory=list)  # the same; empty: not in it
    dropped: list[str] = field(default_factory=list)  # one line each
    notes: list[str] = field(default_factory=list)


def read_pose_table(
    file: Path, attained: Columns, goal: Columns | None, order: str, time: str
) -> PoseTable:
    """Read a table of attained poses, and of commanded ones where it has them.

    :param order: of the angles, as transforms3d names it, e.g. sxyz: about fixed x, then y, then z
    :param time: column of the time stamps; looked at for damage only
    :raises BagError: no such file, not a table, a column that is missing, no row that is whole
    """
    header, lines = _read(file)
    for columns in (attained, goal):
        for name in _names(columns):
            if name not in header:
                raise BagError(
                    f'{file}: found no column {name!r}, expected it among: {", ".join(header)}'
                )
    table = PoseTable()
    for number, line in enumerate(lines, start=1):
        if not any(cell.strip() for cell in line):
            continue
        if len(line) != len(header):
            table.dropped.append(f'row {number}: found {len(line)} fields, expected {len(header)}')
            continue
        cells = dict(zip(header, line, strict=True))
        try:
            here = _pose(cells, attained, order)
            wanted = _pose(cells, goal, order) if goal else ()
        except ValueError as error:
            table.dropped.append(f'row {number}: {error}')
            continue
        table.rows.append(number)
        table.attained.append(here)
        if goal:
            table.goals.append(wanted)
    if not table.rows:
        raise BagError(f'{file}: found no whole row of {len(lines)}, expected at least one')
    if time in header:
        table.notes += _look_at_time([line[header.index(time)] for line in lines if line], time)
    return table


def number_of(text: str) -> float:
    """Return a number with a decimal point or a decimal comma.

    Where both occur, the last one is the decimal mark: 1.234,5 and 1,234.5 are the same.

    :raises ValueError: neither
    """
    plain = text.strip().replace('\u2212', '-')
    if ',' in plain and '.' in plain:
        thousands = '.' if plain.rindex(',') > plain.rindex('.') else ','
        plain = plain.replace(thousands, '')
    value = float(plain.replace(',', '.'))
    if not math.isfinite(value):
        raise ValueError(f'{text!r} is not finite')
    return value


def rigid_fit(source: Array, target: Array) -> tuple[Array, Array, Array]:
    """Return the rotation R and translation t that take source nearest to target.

    Least squares over all points by the singular value decomposition of their covariance (Kabsch);
    a reflection is excluded.

    :param source: (n, 3), n >= 3, not on one line
    :param target: (n, 3)
    :returns: R (3, 3), t (3,), and the distances (n,) that are left
    """
    from_centre, to_centre = source.mean(axis=0), target.mean(axis=0)
    u, _, vt = np.linalg.svd((source - from_centre).T @ (target - to_centre))
    flip = np.diag([1.0, 1.0, np.sign(np.linalg.det(vt.T @ u.T))])
    rotation: Array = vt.T @ flip @ u.T
    shift: Array = to_centre - rotation @ from_centre
    left: Array = np.linalg.norm(source @ rotation.T + shift - target, axis=1)
    return rotation, shift, left


def _read(file: Path) -> tuple[list[str], list[list[str]]]:
    try:
        text = file.read_text(encoding='utf-8-sig')
    except (OSError, UnicodeDecodeError) as error:
        raise BagError(f'{file}: cannot be read ({error}), expected a CSV text file') from None
    first = text.partition('\n')[0]
    delimiter = max(DELIMITERS, key=first.count)
    rows = list(csv.reader(text.splitlines(), delimiter=delimiter))
    if not rows or len(rows[0]) < 3:
        raise BagError(f'{file}: found no header of columns, expected a CSV file')
    return [name.strip() for name in rows[0]], rows[1:]


def _names(columns: Columns | None) -> tuple[str, ...]:
    return () if columns is None else (*columns.position, *(columns.angles or ()))


def _pose(cells: dict[str, str], columns: Columns, order: str) -> tuple[float, ...]:
    values = []
    for name in _names(columns):
        try:
            values.append(number_of(cells[name]))
        except ValueError:
            raise ValueError(f'{name}: found {cells[name]!r}, expected a number') from None
    position = tuple(value * columns.length for value in values[:3])
    if columns.angles is None:
        return (*position, 0.0, 0.0, 0.0, 1.0)
    w, x, y, z = euler2quat(*(value * columns.angle for value in values[3:]), order)
    return (*position, float(x), float(y), float(z), float(w))


def _look_at_time(cells: Sequence[str], name: str) -> list[str]:
    """Return what is wrong with the time stamps; they are not used otherwise."""
    damaged = sum(bool(DAMAGED.match(cell.strip())) for cell in cells)
    if damaged:
        return [
            f'{name}: {damaged} of {len(cells)} time stamps are cut to a few digits '
            f'(e.g. {cells[0]!r}, {len(set(cells))} different): dropped, the order of rows is kept'
        ]
    return [f'{name}: not used; the order of rows is kept']
