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
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from transforms3d.euler import euler2mat
from transforms3d.quaternions import quat2mat

from repsq_ros.errors import OutputError, ParameterError
from repsq_ros.iso9283.pose_table import Columns, PoseTable, read_pose_table
from repsq_ros.iso9283.rigid import rigid_fit, turns_left
from repsq_ros.measurement.inputs import LENGTHS, OTHER_UNITS

Array = NDArray[np.float64]

AXES = ['xyz', 'xzy', 'yxz', 'yzx', 'zxy', 'zyx', 'xyx', 'xzx', 'yxy', 'yzy', 'zxz', 'zyz']
ORDERS = tuple(frame + axes for frame in 'sr' for axes in AXES)
SHOWN = 20  # dropped rows that are listed
FITS = np.radians(5.0)  # [rad] no arm misses a rotation by more: the order is another one


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
        '--decimal', choices=('point', 'comma'), default='', help='default: told by the numbers'
    )
    parser.add_argument('--time', default='Timestamp', help='column of the time stamps')


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
            tuple(arguments.quaternion),
        ),
        Columns(
            tuple(goal[:3]),
            tuple(goal[3:]),
            LENGTHS[arguments.goal_unit],
            OTHER_UNITS[arguments.goal_angle_unit],
            arguments.goal_order,
            tuple(arguments.goal_quaternion),
        )
        if goal
        else None,
        arguments.time,
        arguments.decimal,
    )
    _report(table, arguments)
    if arguments.output is not None:
        _write(table, arguments.output)
        print(f'written   {arguments.output}')
    return 0


def _report(table: PoseTable, arguments: argparse.Namespace) -> None:
    print(f'imported  {len(table.rows)} poses')
    print(f'dropped   {len(table.dropped)} rows')
    for line in table.dropped[:SHOWN]:
        print(f'          {line}')
    if len(table.dropped) > SHOWN:
        print(f'          and {len(table.dropped) - SHOWN} more')
    for note in table.notes:
        print(f'note      {note}')
    if len(table.goals) >= 3:
        goals, attained = np.array(table.goals)[:, :3], np.array(table.attained)[:, :3]
        base, _, left = rigid_fit(goals, attained)
        worst = int(np.argmax(left))
        print(
            f'goals     after the best rigid fit the attained positions are off by '
            f'{np.sqrt(np.mean(left**2)) * 1e3:.3f} mm (root mean square), at most '
            f'{left[worst] * 1e3:.3f} mm in row {table.rows[worst]}'
        )

        turned = bool(arguments.goal_quaternion or len(arguments.goal) == 6)
        if turned and (table.angles or arguments.quaternion):
            _report_turns(table, base, arguments.order)


def _report_turns(table: PoseTable, base: Array, order: str) -> None:
    """Tell whether the attained rotations fit to the commanded ones, and which order would."""
    goals = [matrix_of(pose[3:]) for pose in table.goals]
    off = turns_left(base, goals, [matrix_of(pose[3:]) for pose in table.attained])
    print(
        f'          their rotations by {np.degrees(np.sqrt(np.mean(off**2))):.3f} degrees (root '
        f'mean square), at most {np.degrees(off.max()):.3f} in row '
        f'{table.rows[int(np.argmax(off))]}'
    )
    if off.max() < FITS or not table.angles:
        return
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
    if best != order:
        print(
            f'note      attained angles of order {order} do not fit to the commanded ones; of '
            f'order {best} they would within {np.degrees(others[best]):.3f} degrees: '
            f'--order {best}'
        )


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
