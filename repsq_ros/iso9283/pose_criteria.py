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

"""repsq iso9283: accuracy, repeatability, drift and variation of attained poses in a table."""

from __future__ import annotations

import argparse
import csv
import math
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from transforms3d.euler import quat2euler

from repsq_ros.errors import AbsentError, BagError, OutputError, ParameterError
from repsq_ros.iso9283.performance_criteria import (
    Accuracy,
    Drift,
    Repeatability,
    drift,
    multi_directional_variation,
    pose_accuracy,
    pose_repeatability,
)
from repsq_ros.iso9283.pose_figures import draw
from repsq_ros.iso9283.pose_table import UNTURNED, Columns, PoseTable, read_pose_table
from repsq_ros.iso9283.rigid import rigid_fit
from repsq_ros.json_answer import add_json, print_json

Array = NDArray[np.float64]

NAMES = ('x', 'y', 'z', 'qx', 'qy', 'qz', 'qw')
TOGETHER = 1e-6  # [m, and quaternion components] tolerance for equal commanded poses
MM = 1000.0
ANOTHER_FRAME = 50.0  # [mm] a larger error means another frame


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    parser.add_argument(
        'table', type=Path, help='table of poses as repsq import-poses writes it, in m'
    )
    parser.add_argument(
        '--commanded', nargs=3, type=float, metavar=('X', 'Y', 'Z'),
        help='the commanded position in metres, if the table has no goal columns',
    )  # fmt: skip
    parser.add_argument(
        '--fit', action='store_true',
        help='align goals to measured positions first (the common offset is removed)',
    )  # fmt: skip
    parser.add_argument(
        '--series', type=int, default=10, help='cycles of one series, for the drift (default 10)'
    )
    parser.add_argument(
        '--directions', type=int, default=1,
        help='paths that were taken in turn to each pose, for the multi-directional variation',
    )  # fmt: skip
    parser.add_argument('--output', type=Path, help='new folder for iso9283.csv and the plots')
    add_json(parser)


@dataclass
class Cycles:
    """All cycles to one commanded pose, in the order of the table."""

    commanded: Array | None  # (3,) [m]; None: not known
    angles: Array | None = None  # (3,) [rad] about fixed axes, commanded
    rows: list[int] = field(default_factory=list)
    attained: list[tuple[float, ...]] = field(default_factory=list)

    @property
    def positions(self) -> Array:
        """Return (n, 3) [mm]."""
        return np.array(self.attained)[:, :3] * MM

    @property
    def turns(self) -> Array:
        """Return (n, 3) [rad] about fixed axes."""
        return np.array([angles_of(pose) for pose in self.attained])


@dataclass(frozen=True)
class Quantities:
    """The quantities of the standard for one pose, in mm and rad; None: not known."""

    cycles: int
    accuracy: Accuracy | None
    repeatability: Repeatability | None
    drift: Drift | None
    variation: float | None


def run(arguments: argparse.Namespace) -> int:
    """Compute, print, and write where asked to."""
    if arguments.series < 2 or arguments.directions < 1:
        raise ParameterError(
            'series, directions', f'{arguments.series}, {arguments.directions}', '>= 2, >= 1'
        )
    if arguments.output is not None and arguments.output.exists():
        raise OutputError(f'output {arguments.output}: found it there, expected a new folder')
    table = read_imported(arguments.table)
    if arguments.commanded is not None and table.goals:
        raise ParameterError('commanded', 'a pose', 'none: the table has goals of its own')
    poses = grouped(table, arguments.commanded)
    left = _lay_over(poses, arguments) if arguments.fit else math.nan
    found = [quantities(each, arguments) for each in poses]
    if not any(each.repeatability or each.accuracy for each in found):
        raise BagError(
            f'{arguments.table}: found {len(poses)} poses of one cycle each and none commanded, '
            'expected several cycles to a pose'
        )
    written = [] if arguments.output is None else _write(poses, found, arguments.output)
    if arguments.json:
        print_json(
            {
                'units': {'length': 'mm', 'angle': 'rad'},
                'poses': [
                    {'first_row': each.rows[0], **vars(told)}
                    for each, told in zip(poses, found, strict=True)
                ],
                'cycles': len(table.rows),
                'dropped': table.dropped,
                'left_by_fit_mm': left,
                'written': written,
            }
        )
        return 0
    _show(table, found, left)
    if written:
        print(f'written   {arguments.output}: {", ".join(file.name for file in written)}')
    return 0


def read_imported(file: Path) -> PoseTable:
    """Read a table written by repsq import-poses.

    :raises BagError: it is not such a table
    """
    attained = Columns(NAMES[:3], quaternion=NAMES[3:])
    names = tuple(f'goal_{name}' for name in NAMES)
    goal = Columns(names[:3], quaternion=names[3:])
    try:
        with file.open(encoding='utf-8', newline='') as opened:
            header = next(csv.reader(opened), [])
    except (OSError, UnicodeDecodeError) as error:
        kind = AbsentError if isinstance(error, FileNotFoundError) else BagError
        raise kind(f'{file}: cannot be read ({error}), expected a table of poses') from None
    return read_pose_table(file, attained, goal if names[0] in header else None, decimal='point')


def grouped(table: PoseTable, commanded: list[float] | None) -> list[Cycles]:
    """Return the cycles of each commanded pose; without commanded poses, of a single one."""
    if not table.goals:
        one = Cycles(None if commanded is None else np.array(commanded))
        one.rows, one.attained = list(table.rows), list(table.attained)
        return [one]
    poses: dict[tuple[int, ...], Cycles] = {}
    for row, goal, attained in zip(table.rows, table.goals, table.attained, strict=True):
        key = tuple(round(value / TOGETHER) for value in goal)
        if key not in poses:
            poses[key] = Cycles(np.array(goal[:3]), np.array(angles_of(goal)))
        poses[key].rows.append(row)
        poses[key].attained.append(attained)
    return list(poses.values())


def angles_of(pose: tuple[float, ...]) -> tuple[float, float, float]:
    """Return the angles about fixed x, y, z [rad] of a pose x, y, z, qx, qy, qz, qw."""
    x, y, z, w = pose[3:]
    a, b, c = quat2euler((w, x, y, z), 'sxyz')
    return (float(a), float(b), float(c))


def quantities(cycles: Cycles, arguments: argparse.Namespace) -> Quantities:
    """Return the known quantities of one pose."""
    positions, turns, count = cycles.positions, cycles.turns, len(cycles.attained)
    goal = None if cycles.commanded is None else cycles.commanded * MM
    measured = any(pose[3:] != UNTURNED for pose in cycles.attained)
    turned = not arguments.fit and cycles.angles is not None and measured
    series = [
        positions[k : k + arguments.series]
        for k in range(0, count - arguments.series + 1, arguments.series)
    ]
    paths = [positions[k :: arguments.directions] for k in range(arguments.directions)]
    return Quantities(
        count,
        None if goal is None else pose_accuracy(
            positions, goal, turns if turned else None, cycles.angles if turned else None
        ),
        pose_repeatability(positions, turns if measured else None) if count > 1 else None,
        drift(series, goal) if goal is not None and len(series) > 1 else None,
        multi_directional_variation(paths) if len(paths) > 1 and len(paths[-1]) else None,
    )  # fmt: skip


def _lay_over(poses: list[Cycles], arguments: argparse.Namespace) -> float:
    """Transform the goals to the frame of the attained positions; return the rms error [mm].

    :raises BagError: no three poses are commanded
    """
    goals = [each.commanded for each in poses if each.commanded is not None]
    if len(goals) < 3:
        raise BagError(
            f'{arguments.table}: found {len(goals)} commanded poses, expected 3 or more to fit'
        )
    centres = np.array([each.positions.mean(axis=0) / MM for each in poses])
    rotation, shift, left = rigid_fit(np.array(goals), centres)
    for each, goal in zip(poses, goals, strict=True):
        each.commanded = rotation @ goal + shift
    return float(np.sqrt(np.mean(left**2))) * MM


def _show(table: PoseTable, found: list[Quantities], left: float) -> None:
    print(f'poses     {len(found)}, {len(table.rows)} cycles, {len(table.dropped)} rows dropped')
    if not math.isnan(left):
        print(
            'note      the goals are aligned with the attained positions (left: '
            f'{left:.3f} mm root mean square); accuracy is relative, and orientation accuracy '
            'is unknown'
        )
    off = [each.accuracy.position for each in found if each.accuracy]
    if off and math.isnan(left) and min(off) > ANOTHER_FRAME:
        print('note      all poses are far from their goals: goals of another frame? --fit')
    for name, text in lines_of(found):
        print(f'{name:27s}  {text}')


def lines_of(found: list[Quantities]) -> list[tuple[str, str]]:
    """Return each quantity of the standard over all poses."""
    lines = []
    for name, values, unit in (
        ('AP  accuracy', [q.accuracy.position for q in found if q.accuracy], 'mm'),
        ('RP  repeatability', [q.repeatability.position for q in found if q.repeatability], 'mm'),
        ('dAP drift of accuracy', [q.drift.accuracy for q in found if q.drift], 'mm'),
        ('dRP drift of repeatability', [q.drift.repeatability for q in found if q.drift], 'mm'),
        ('vAP variation by direction', [q.variation for q in found if q.variation is not None],
         'mm'),
    ):  # fmt: skip
        text = f'not told: {_LACKING[name[:3].strip()]}'
        if values:
            text = (
                f'{np.mean(values):.4f} {unit} on average, {max(values):.4f} at most, of '
                f'{len(values)} poses'
            )
        lines.append((name, text))
    repeated = [q.repeatability.orientation for q in found if q.repeatability]
    turns = [each for each in repeated if each is not None]
    if turns:
        a, b, c = (math.degrees(max(t[k] for t in turns)) for k in range(3))
        lines.append(('RP of a, b, c', f'+-{a:.4f}, {b:.4f}, {c:.4f} degrees at most'))
    elif repeated:
        lines.append(('RP of a, b, c', 'not measured: positions alone'))
    return lines


def lines_of_table(file: Path, series: int = 10) -> list[tuple[str, str]]:
    """Return the quantities of a table of poses, as `repsq iso9283` prints them.

    :param series: cycles per series, for the drift
    :raises BagError: it is not a table of poses
    """
    table = read_imported(file)
    asked = argparse.Namespace(series=series, directions=1, fit=False)
    found = [quantities(each, asked) for each in grouped(table, None)]
    poses = f'{len(found)}, {len(table.rows)} cycles, {len(table.dropped)} rows dropped'
    return [('poses', poses), *lines_of(found)]


_LACKING = {
    'AP': 'no pose is commanded',
    'RP': 'one cycle to each pose',
    'dAP': 'fewer than two complete series of cycles to a commanded pose',
    'dRP': 'fewer than two complete series of cycles to a commanded pose',
    'vAP': 'say how many --directions were taken in turn',
}


def _write(poses: list[Cycles], found: list[Quantities], folder: Path) -> list[Path]:
    """Write table and plots into a new folder; returns the files."""
    try:
        folder.mkdir(parents=True)
        with (folder / 'iso9283.csv').open('x', encoding='utf-8', newline='') as opened:
            writer = csv.writer(opened)
            writer.writerow(
                ['first_row', 'cycles', 'AP_mm', 'AP_x_mm', 'AP_y_mm', 'AP_z_mm', 'RP_mm',
                 'dAP_mm', 'dRP_mm', 'vAP_mm']
            )  # fmt: skip
            for each, told in zip(poses, found, strict=True):
                accuracy = told.accuracy
                writer.writerow([
                    each.rows[0], told.cycles,
                    *((accuracy.position, *accuracy.axes) if accuracy else ('',) * 4),
                    told.repeatability.position if told.repeatability else '',
                    *((told.drift.accuracy, told.drift.repeatability) if told.drift else ('', '')),
                    '' if told.variation is None else told.variation,
                ])  # fmt: skip
    except OSError as error:
        raise OutputError.unwritable(folder, error) from None
    largest = max(poses, key=lambda each: len(each.attained))
    goal = None if largest.commanded is None else largest.commanded * MM
    names = draw(
        folder,
        largest.positions,
        goal,
        [told.accuracy.position if told.accuracy else math.nan for told in found],
        [told.repeatability.position if told.repeatability else math.nan for told in found],
    )
    return [folder / name for name in ('iso9283.csv', *names)]
