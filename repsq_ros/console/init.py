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

"""repsq init: write a commented test specification, from answers or from flags."""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from repsq_ros.console.check import answer, report
from repsq_ros.errors import OutputError, ParameterError
from repsq_ros.json_answer import add_json, print_json
from repsq_ros.measurement.inputs import LENGTHS
from repsq_ros.specification.load import load
from repsq_ros.specification.reader import SCHEMA

# What the robot does, by the sensor that measures it.
SENSORS = {
    'odometry': 'it follows velocities; its own odometry measures them',
    'mocap': 'it follows velocities; motion capture measures its poses',
    'gauge': 'it goes to poses and back; a dial gauge measures where it stops, in mm',
    'pose': 'it goes to poses and back; a tracker measures where it stops, in mm',
}
VELOCITY = ('odometry', 'mocap')

TEMPLATE = """\
# yaml-language-server: $schema={schema}
#
# Test specification: {description}
#
# Everything above `tester` is the contract: labs that use the same contract (their results carry
# the same digest) get comparable results. `tester` is each lab's own choice.
# All numbers in SI units{mm}; `repsq check FILE` after each change.

format: 1
name: {name}
description: {description}
robot: {robot}

target:                       # which cases the result speaks about: change the ranges
  distribution: uniform
  dimensions:
{dimensions}

{protocol}

{measure}

accuracy:
  gamma: {gamma:<19g} # the mean shall be known within gamma ...
  c: 0.05                     # ... missed with probability c at most
  beta: 0.1                   # labs shall differ with probability beta at most

partition:
  type: anchored              # the first lab's estimate becomes the middle of a cell 4 gamma wide

tester:
  proposal: monte_carlo
  seed: 1                     # another one in each lab
  stopping:
    rule: anytime             # may stop after any test
    aim: reachable            # a narrower interval if max_tests ends the campaign first
    estimate: middle          # of the interval, which takes fewer tests; for anchored cells
  max_tests: {max_tests:<15} # {hours:g} h at {duration:g} s a test, repeats not counted
"""

VELOCITIES = """\
    linear_x: {unit: m/s, lower: -0.3, upper: 0.3}
    linear_y: {unit: m/s, lower: -0.3, upper: 0.3}
    angular_z: {unit: rad/s, lower: -0.3, upper: 0.3}"""

POSES = """\
    x: {unit: m, lower: -0.70, upper: -0.40}
    y: {unit: m, lower: -0.30, upper: 0.30}
    z: {unit: m, lower: 0.30, upper: 0.60}"""

LOCOMOTION = """\
protocol:
  type: locomotion
  dwell: 3.0                  # s in place before each command
  command: 5.0                # s for which the command is held
  window: 3.0                 # s at the end of it that are measured"""

POSITIONING = """\
protocol:
  type: positioning
  frame: base                 # of all poses here
  reference: {position: [-0.55, -0.20, 0.25], rpy: [3.141592653589793, 0.0, 0.0]}   # m, rad
  approach: {direction: [0.0, 0.0, -1.0], distance: 0.05}   # of target and reference: from above
  speed: 0.1                  # m/s of the tool
  acceleration: 0.5           # m/s^2
  before: 1.0                 # s at the reference before the move
  dwell: 3.0                  # s at the target, and again at the reference
  record: 1.0                 # s after that: measured"""

TRACKING = """\
measure:                      # psi = 1 - exp(-gain g), g = root mean square velocity error
  name: velocity tracking loss
  direction: lower_is_better
  type: soft_linf
  gain: 6.0
  reduction: rms
  {source}"""
SOURCES = {
    'odometry': 'source: odometry',
    'mocap': 'input: {type: geometry_msgs/msg/PoseStamped, velocity: auto}',
}

GAUGE = """\
measure:                      # psi = |reading - tare| in mm
  name: displacement at the reference
  direction: lower_is_better
  type: displacement
  input: {{type: std_msgs/msg/Float64, unit: {unit}}}   # or sensor_msgs/msg/Range
  upper: {upper:g}                  # mm: the worst there is
  take: median
  settled_within: {settled:g}        # mm by which the readings of the window may differ
  travel: [0.1, 9.9]          # mm: the ends of the gauge's travel"""

BODY = """\
measure:                      # psi = distance from the pose before the move, in mm
  name: displacement at the reference
  direction: lower_is_better
  type: displacement
  input: {type: geometry_msgs/msg/PoseStamped}
  upper: {upper:g}                  # mm: the worst there is"""


@dataclass(frozen=True)
class TestRequest:
    """The answers about the wanted test."""

    robot: str
    sensor: str  # one of SENSORS
    unit: str  # of the sensor's lengths
    gamma: float  # [unit of psi]
    hours: float


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    parser.add_argument('file', type=Path, help='specification to write (YAML); must not exist')
    parser.add_argument('--robot', metavar='TEXT', help="such as 'UR10e, gripper 2F-85'")
    parser.add_argument('--sensor', choices=tuple(SENSORS), help='what measures')
    parser.add_argument('--unit', choices=tuple(LENGTHS), help='of the lengths of a gauge')
    parser.add_argument(
        '--accuracy', type=float, metavar='GAMMA',
        help='the mean shall be known within this: a share of 1, or mm of a displacement',
    )  # fmt: skip
    add_json(parser)
    parser.add_argument('--budget', type=float, metavar='HOURS', help='time for one campaign')


def run(arguments: argparse.Namespace) -> int:
    """Ask for missing answers, write the specification, check it and print the test."""
    file: Path = arguments.file
    if file.exists():
        raise ParameterError('file', f'{file}, which exists', 'a new file')
    answers = _answers(arguments)
    try:
        file.write_text(specification_text(answers, _name(file)), encoding='utf-8')
    except OSError as error:
        raise OutputError.unwritable(file.parent, error) from None
    if arguments.json:
        print_json(answer(load(file)))
    else:
        print(report(load(file)))
    return 0


def _name(file: Path) -> str:
    """Return a name for results, derived from the file's name."""
    return re.sub(r'\W+', '_', file.stem).strip('_') or 'test'


def _answers(arguments: argparse.Namespace) -> TestRequest:
    robot = arguments.robot or _ask('--robot', 'Robot (name, software)', 'my robot')
    if arguments.sensor is None and sys.stdin.isatty():
        for sensor, meaning in SENSORS.items():
            print(f'  {sensor:9} {meaning}')
    sensor = arguments.sensor or _ask('--sensor', 'Sensor', 'odometry', tuple(SENSORS))
    unit = arguments.unit or (
        _ask('--unit', 'Unit of the gauge', 'mm', tuple(LENGTHS)) if sensor == 'gauge' else 'm'
    )
    usual, of = ('0.04', 'of 1') if sensor in VELOCITY else ('0.01', 'mm')
    gamma = arguments.accuracy
    if gamma is None:
        gamma = _number('--accuracy', _ask('--accuracy', f'Mean within ({of})', usual))
    hours = arguments.budget
    if hours is None:
        hours = _number('--budget', _ask('--budget', 'Hours for one campaign', '8'))
    for flag, value in (('--accuracy', gamma), ('--budget', hours)):
        if not 0 < value < float('inf'):
            raise ParameterError(flag, f'{value!r}', 'a number above 0')
    return TestRequest(robot, sensor, unit, gamma, hours)


def _ask(flag: str, question: str, usual: str, choices: tuple[str, ...] = ()) -> str:
    """Return an answer; an empty one means the default.

    :raises ParameterError: no terminal, or the answer is none of the choices
    """
    if not sys.stdin.isatty():
        raise ParameterError(flag, 'nothing', f'{question.lower()}: no terminal to ask on')
    answer = input(f'{question} [{usual}]: ').strip() or usual
    if choices and answer not in choices:
        raise ParameterError(flag, f'{answer!r}', f'one of {", ".join(choices)}')
    return answer


def _number(flag: str, answer: str) -> float:
    try:
        return float(answer.replace(',', '.'))
    except ValueError:
        raise ParameterError(flag, f'{answer!r}', 'a number') from None


def specification_text(answers: TestRequest, name: str) -> str:
    """Return the text of a specification."""
    velocities = answers.sensor in VELOCITY
    duration = 8.0 if velocities else 20.0
    upper = max(50 * answers.gamma, 0.5)
    if velocities:
        measure = TRACKING.format(source=SOURCES[answers.sensor])
    elif answers.sensor == 'gauge':
        measure = GAUGE.format(unit=answers.unit, upper=upper, settled=answers.gamma)
    else:
        measure = BODY.replace('{upper:g}', f'{upper:g}')
    goal = 'follows velocity commands' if velocities else 'comes back to a pose'
    return TEMPLATE.format(
        schema=SCHEMA,
        name=name,
        description=_quoted(f'How well {answers.robot} {goal}'),
        robot=_quoted(answers.robot),
        mm='' if velocities else ', psi in mm',
        dimensions=VELOCITIES if velocities else POSES,
        protocol=LOCOMOTION if velocities else POSITIONING,
        measure=measure,
        gamma=answers.gamma,
        max_tests=max(2, int(answers.hours * 3600 / duration)),
        hours=answers.hours,
        duration=duration,
    )


def _quoted(text: str) -> str:
    """Return text quoted for YAML, on one line."""
    return "'" + ' '.join(text.split()).replace("'", "''") + "'"
