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

"""repsq import-poses: a measuring device's CSV of poses into SI units and quaternions."""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import numpy as np

from repsq_ros.errors import OutputError, ParameterError
from repsq_ros.measurement.inputs import LENGTHS, OTHER_UNITS
from repsq_ros.replay.pose_table import Columns, PoseTable, read_pose_table, rigid_fit

AXES = ['xyz', 'xzy', 'yxz', 'yzx', 'zxy', 'zyx', 'xyx', 'xzx', 'yxy', 'yzy', 'zxz', 'zyz']
ORDERS = tuple(frame + axes for frame in 'sr' for axes in AXES)
SHOWN = 20  # dropped rows that are listed


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    parser.add_argument('csv', type=Path, help='table of poses; ; , or tab between the fields')
    parser.add_argument('--output', type=Path, help='new CSV file; default: only the report')
    parser.add_argument(
        '--position', nargs=3, metavar=('X', 'Y', 'Z'),
        default=['measurement_x', 'measurement_y', 'measurement_z'], help='attained position',
    )  # fmt: skip
    parser.add_argument(
        '--angles', nargs='*', metavar='COLUMN',
        default=['measurement_rx', 'measurement_ry', 'measurement_rz'],
        help='attained angles: three columns, or none',
    )  # fmt: skip
    parser.add_argument('--unit', choices=tuple(LENGTHS), default='mm', help='attained lengths')
    parser.add_argument('--angle-unit', choices=('deg', 'rad'), default='deg')
    parser.add_argument(
        '--goal', nargs='*', metavar='COLUMN',
        default=['Goal x', 'Goal y', 'Goal z', 'Goal roll', 'Goal pitch', 'Goal yaw'],
        help='commanded pose: six columns, or none',
    )  # fmt: skip
    parser.add_argument('--goal-unit', choices=tuple(LENGTHS), default='m')
    parser.add_argument('--goal-angle-unit', choices=('deg', 'rad'), default='rad')
    parser.add_argument(
        '--order', choices=ORDERS, default='sxyz', metavar='ORDER',
        help='of the angles: s (about fixed axes) or r (about turned ones), then the axes',
    )  # fmt: skip
    parser.add_argument('--time', default='Timestamp', help='column of the time stamps')


def run(arguments: argparse.Namespace) -> int:
    """Import, report, write."""
    if arguments.output is not None and arguments.output.exists():
        raise OutputError(f'output {arguments.output}: found a file, expected a new one')
    for name, counts in (('angles', (0, 3)), ('goal', (0, 6))):
        found = len(getattr(arguments, name))
        if found not in counts:
            raise ParameterError(name, f'{found} columns', f'{counts[1]} or none')
    position, angles, goal = arguments.position, arguments.angles, arguments.goal
    table = read_pose_table(
        arguments.csv,
        Columns(
            (position[0], position[1], position[2]),
            (angles[0], angles[1], angles[2]) if angles else None,
            LENGTHS[arguments.unit],
            OTHER_UNITS[arguments.angle_unit],
        ),
        Columns(
            (goal[0], goal[1], goal[2]),
            (goal[3], goal[4], goal[5]),
            LENGTHS[arguments.goal_unit],
            OTHER_UNITS[arguments.goal_angle_unit],
        )
        if goal
        else None,
        arguments.order,
        arguments.time,
    )
    _report(table)
    if arguments.output is not None:
        _write(table, arguments.output)
        print(f'written   {arguments.output}')
    return 0


def _report(table: PoseTable) -> None:
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
        _, _, left = rigid_fit(goals, attained)
        worst = int(np.argmax(left))
        print(
            f'goals     after the best rigid fit the attained positions are off by '
            f'{np.sqrt(np.mean(left**2)) * 1e3:.3f} mm (root mean square), at most '
            f'{left[worst] * 1e3:.3f} mm in row {table.rows[worst]}'
        )


def _write(table: PoseTable, file: Path) -> None:
    names = ('x', 'y', 'z', 'qx', 'qy', 'qz', 'qw')
    goals = [f'goal_{name}' for name in names] if table.goals else []
    try:
        with file.open('x', encoding='utf-8', newline='') as opened:
            writer = csv.writer(opened)
            writer.writerow(['row', *names, *goals])
            for place, (row, pose) in enumerate(zip(table.rows, table.attained, strict=True)):
                wanted = table.goals[place] if table.goals else ()
                writer.writerow([row, *map(repr, (*pose, *wanted))])
    except OSError as error:
        raise OutputError(f'output {file}: {error.strerror}, expected a new file') from None
