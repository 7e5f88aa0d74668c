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

"""repsq import-poses: convert a measuring device's CSV to metres and quaternions."""

from __future__ import annotations

import argparse
import csv
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from transforms3d.euler import euler2mat
from transforms3d.quaternions import quat2mat

from repsq_ros.errors import OutputError, ParameterError
from repsq_ros.iso9283.pose_table import Columns, PoseTable, read_pose_table
from repsq_ros.iso9283.rigid import lever_arm, rigid_fit, turns_left
from repsq_ros.json_answer import add_json, print_json
from repsq_ros.measurement.inputs import LENGTHS, OTHER_UNITS

Array = NDArray[np.float64]

AXES = ['xyz', 'xzy', 'yxz', 'yzx', 'zxy', 'zyx', 'xyx', 'xzx', 'yxy', 'yzy', 'zxz', 'zyz']
ORDERS = tuple(frame + axes for frame in 'sr' for axes in AXES)
SHOWN = 20  # largest number of dropped rows that are listed
NEAR = 0.01  # [m] a tracker is never so near to a pose
FAR = 100.0  # [m] a tracker is never so far from a pose
ARM = 0.001  # [m] smallest reported distance between reflector and tool centre point
FITS = np.radians(5.0)  # [rad] a larger misfit of rotations means a wrong order of angles


@dataclass(frozen=True)
class TurnFit:
    """Errors of attained rotations after the best rigid fit."""

    rms_deg: float
    largest_deg: float
    largest_row: int
    order: str  # of the attained angles
    better_order: str = ''  # an order with a small error, if this one has a large error
    better_deg: float = math.nan  # its largest error


@dataclass(frozen=True)
class GoalFit:
    """Errors of attained poses after the best rigid fit."""

    rms_mm: float
    largest_mm: float
    largest_row: int
    turns: TurnFit | None  # None: no rotations on both sides
    # reflector on the tool, x, y, z; empty: at the tool centre point
    arm_mm: tuple[float, ...] = ()
    left_mm: float = math.nan  # root mean square error with it


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    parser.add_argument('csv', type=Path, help='table of poses; ; , or tab between the fields')
    parser.add_argument('--output', type=Path, help='new CSV file; default: only the report')
    parser.add_argument(
        '--position',
        nargs=3,
        metavar=('X', 'Y', 'Z'),
        default=['measurement_x', 'measurement_y', 'measurement_z'],
        help='attained position',
    )
    parser.add_argument(
        '--angles',
        nargs='*',
        metavar='COLUMN',
        default=['measurement_rx', 'measurement_ry', 'measurement_rz'],
        help='attained angles: three columns, or none',
    )
    parser.add_argument('--unit', choices=tuple(LENGTHS), default='mm', help='attained lengths')
    parser.add_argument('--angle-unit', choices=('deg', 'rad'), default='deg')
    parser.add_argument(
        '--goal',
        nargs='*',
        metavar='COLUMN',
        default=['Goal x', 'Goal y', 'Goal z', 'Goal roll', 'Goal pitch', 'Goal yaw'],
        help='commanded pose: six columns, or none',
    )
    parser.add_argument('--goal-unit', choices=tuple(LENGTHS), default='m')
    parser.add_argument('--goal-angle-unit', choices=('deg', 'rad'), default='rad')
    parser.add_argument(
        '--quaternion',
        nargs='*',
        metavar='COLUMN',
        default=[],
        help='attained quaternion in place of angles: four columns, x y z w',
    )
    parser.add_argument(
        '--goal-quaternion',
        nargs='*',
        metavar='COLUMN',
        default=[],
        help='commanded quaternion: --goal then names three columns',
    )
    for option, usual, what in (
        ('--order', 'rxyz', 'attained'),
        ('--goal-order', 'sxyz', 'commanded'),
    ):
        parser.add_argument(
            option,
            choices=ORDERS,
            default=usual,
            metavar='ORDER',
            help=f'of the {what} angles: s (about fixed axes) or r (about turned ones), then the '
            f'axes; default {usual}',
        )
    parser.add_argument(
        '--decimal',
        choices=('point', 'comma'),
        default='',
        help='default: detected from the numbers',
    )
    parser.add_argument('--time', default='Timestamp', help='column of the time stamps')
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Import, report, write."""
    if arguments.output is not None and arguments.output.exists():
        raise OutputError(f'output {arguments.output}: found a file, expected a new one')
    goal_width = 3 if arguments.goal_quaternion else 6
    for name, counts in (
        ('angles', (0, 3)),
        ('quaternion', (0, 4)),
        ('goal_quaternion', (0, 4)),
        ('goal', (0, goal_width, 3)),
    ):
        found = len(getattr(arguments, name))
        if found not in counts:
            raise ParameterError(name, f'{found} columns', f'{counts[1]} or none')
    goal = arguments.goal
    table = read_pose_table(
        arguments.csv,
        Columns(
            tuple(arguments.position),
            () if arguments.quaternion else tuple(arguments.angles),
            LENGTHS[arguments.unit],
            OTHER_UNITS[arguments.angle_unit],
            arguments.order,
            _by_name(arguments.quaternion),
        ),
        Columns(
            tuple(goal[:3]),
            tuple(goal[3:]),
            LENGTHS[arguments.goal_unit],
            OTHER_UNITS[arguments.goal_angle_unit],
            arguments.goal_order,
            _by_name(arguments.goal_quaternion),
        )
        if goal
        else None,
        arguments.time,
        arguments.decimal,
    )
    table.notes += _unit_hints(table, arguments)
    fit = _fit(table, arguments)
    if arguments.output is not None:
        _write(table, arguments.output)
    if arguments.json:
        print_json(
            {
                'imported': len(table.rows),
                'dropped': table.dropped,
                'notes': table.notes,
                'goals': fit,
                'written': arguments.output,
            }
        )
        return 0
    _report(table, fit)
    if arguments.output is not None:
        print(f'written   {arguments.output}')
    return 0


def _report(table: PoseTable, fit: GoalFit | None) -> None:
    print(f'imported  {len(table.rows)} poses')
    print(f'dropped   {len(table.dropped)} rows')
    for line in table.dropped[:SHOWN]:
        print(f'          {line}')
    if len(table.dropped) > SHOWN:
        print(f'          and {len(table.dropped) - SHOWN} more')
    for note in table.notes:
        print(f'note      {note}')
    if fit is None:
        return
    print(
        f'goals     after the best rigid fit the attained positions are off by '
        f'{fit.rms_mm:.3f} mm (root mean square), at most {fit.largest_mm:.3f} mm in row '
        f'{fit.largest_row}'
    )
    if fit.arm_mm:
        told = ', '.join(f'{each:.1f}' for each in fit.arm_mm)
        print(
            f'note      the measured point is off by {math.hypot(*fit.arm_mm):.1f} mm from the '
            f'commanded one (x, y, z of the tool: {told}); with that, {fit.left_mm:.3f} mm are '
            'left: the mounting of the reflector'
        )
    turns = fit.turns
    if turns is None:
        return
    print(
        f'          their rotations by {turns.rms_deg:.3f} degrees (root mean square), at most '
        f'{turns.largest_deg:.3f} in row {turns.largest_row}'
    )
    if turns.better_order:
        print(
            f'note      attained angles of order {turns.order} do not fit to the commanded ones; '
            f'of order {turns.better_order} they would within {turns.better_deg:.3f} degrees: '
            f'--order {turns.better_order}'
        )


def _fit(table: PoseTable, arguments: argparse.Namespace) -> GoalFit | None:
    """Compare attained poses with goals, up to a rigid motion; None with fewer than 3 goals."""
    if len(table.goals) < 3:
        return None
    goals, attained = np.array(table.goals)[:, :3], np.array(table.attained)[:, :3]
    base, _, left = rigid_fit(goals, attained)
    worst = int(np.argmax(left))
    turned = bool(arguments.goal_quaternion or len(arguments.goal) == 6)
    rms = float(np.sqrt(np.mean(left**2)))
    arm = lever_arm(goals, [matrix_of(pose[3:]) for pose in table.goals], attained)
    told: tuple[float, ...] = ()
    left_mm = math.nan
    if turned and arm is not None:
        left_mm = float(np.sqrt(np.mean(arm[1] ** 2))) * 1e3
        if np.linalg.norm(arm[0]) > ARM and left_mm < rms * 1e3 / 2.0:
            told = tuple(map(float, arm[0] * 1e3))
    turned = turned and bool(table.angles or arguments.quaternion)
    return GoalFit(
        rms * 1e3,
        float(left[worst]) * 1e3,
        table.rows[worst],
        _turns(table, base, arguments.order) if turned else None,
        told,
        left_mm if told else math.nan,
    )


def _by_name(columns: Sequence[str]) -> tuple[str, ...]:
    """Return the columns of a quaternion in the order x, y, z, w, if their names tell it."""
    last = [name.strip().lower()[-1:] for name in columns]
    return (
        tuple(columns[last.index(each)] for each in 'xyzw')
        if sorted(last) == [*'wxyz']
        else tuple(columns)
    )


def _unit_hints(table: PoseTable, arguments: argparse.Namespace) -> list[str]:
    """Return hints about units if numbers are unlikely, one line each."""
    hints = []
    for what, poses, unit, option in (
        ('attained', table.attained, arguments.unit, '--unit'),
        ('commanded', table.goals, arguments.goal_unit, '--goal-unit'),
    ):
        size = float(np.abs(np.array(poses)[:, :3]).max()) if poses else 1.0
        other = 'm' if size < NEAR and unit != 'm' else 'mm' if size > FAR else ''
        if other:
            hints.append(
                f'{what} positions reach {size:g} m from the origin, read as {unit}: '
                f'{option} {other}?'
            )
    if table.angles:
        size = float(np.abs(np.array(table.angles)).max())
        degrees = arguments.angle_unit == 'deg'
        if degrees and math.radians(1.0) < size <= math.radians(2.0 * math.pi):
            hints.append(
                f'attained angles reach {math.degrees(size):.2f} degrees: radians? '
                '--angle-unit rad'
            )
        elif not degrees and size > 4.0 * math.pi:
            hints.append(f'attained angles reach {size:.0f} radians: --angle-unit deg?')
    return hints


def _turns(table: PoseTable, base: Array, order: str) -> TurnFit:
    """Compare attained with commanded rotations; search for an order of angles that fits."""
    goals = [matrix_of(pose[3:]) for pose in table.goals]
    off = turns_left(base, goals, [matrix_of(pose[3:]) for pose in table.attained])
    found = TurnFit(
        float(np.degrees(np.sqrt(np.mean(off**2)))),
        float(np.degrees(off.max())),
        table.rows[int(np.argmax(off))],
        order,
    )
    if off.max() < FITS or not table.angles:
        return found
    some = slice(None, None, max(len(goals) // 50, 1))
    others = {
        each: float(
            turns_left(
                base, goals[some], [euler2mat(*angles, each) for angles in table.angles[some]]
            ).max()
        )
        for each in ORDERS
    }
    best = min(others, key=lambda each: others[each])
    if best == order:
        return found
    return replace(found, better_order=best, better_deg=float(np.degrees(others[best])))


def matrix_of(quaternion: Sequence[float]) -> Array:
    """Return the (3, 3) rotation of a quaternion x, y, z, w."""
    x, y, z, w = quaternion
    matrix: Array = quat2mat((w, x, y, z))
    return matrix


def _write(table: PoseTable, file: Path) -> None:
    names = ('x', 'y', 'z', 'qx', 'qy', 'qz', 'qw')
    goals = [f'goal_{name}' for name in names] if table.goals else []
    try:
        with file.open('x', encoding='utf-8', newline='') as opened:
            writer = csv.writer(opened)
            time = ['time'] if table.times else []
            writer.writerow(['row', *time, *names, *goals])
            for place, (row, pose) in enumerate(zip(table.rows, table.attained, strict=True)):
                wanted = table.goals[place] if table.goals else ()
                when = [table.times[place]] if table.times else []
                writer.writerow([row, *when, *map(repr, (*pose, *wanted))])
    except OSError as error:
        raise OutputError(f'output {file}: {error.strerror}, expected a new file') from None
