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

"""Warnings and hints about a valid specification that its author may regret."""

from __future__ import annotations

from collections.abc import Iterator

from repsq_ros.measurement.displacement import GaugeDisplacement
from repsq_ros.protocols.endings import ConfirmedEnding, SettledEnding, TimedEnding
from repsq_ros.protocols.protocol import Goal, Step
from repsq_ros.specification.model import Specification
from repsq_ros.timebase import to_seconds

COMMANDS = {
    Goal.REST: 'zero velocity',
    Goal.STAY: 'stays where it is',
    Goal.TARGET: 'the case',
    Goal.APPROACH: 'to where the case is approached from',
    Goal.REFERENCE: 'the reference pose',
    Goal.REFERENCE_APPROACH: 'to where the reference is approached from',
}
AS_IT_STANDS = 'nothing: it stands'  # shown in place of a velocity if the robot is pushed


def phase_lines(specification: Specification) -> list[str]:
    """Return one line per phase of a test: its command, its end, and what is measured."""
    protocol = specification.protocol
    told = {**COMMANDS, Goal.REST: AS_IT_STANDS} if protocol.by_hand else COMMANDS
    lines = (_phase_line(step, told[step.goal]) for step in protocol.steps)
    return [f'{place:2} {line}' for place, line in enumerate(lines, 1)]


def _phase_line(step: Step, command: str) -> str:
    ending = step.ending
    if isinstance(ending, TimedEnding):
        ends = f'for {to_seconds(ending.duration_ns):g} s'
    elif isinstance(ending, SettledEnding):
        ends = (
            f'until slower than {ending.speed:g} m/s within {ending.within:g} m '
            f'for {to_seconds(ending.hold_ns):g} s'
        )
    else:
        assert isinstance(ending, ConfirmedEnding)
        ends = 'until somebody confirms'
    measured = f'; the last {to_seconds(step.window_ns):g} s are measured'
    name = step.phase.name.lower()
    line = f'{name:8} {command}, {ends}'
    return line + (measured if step.window_ns else '')


def warnings(specification: Specification, fewest_tests: int) -> Iterator[str]:
    """Return why a campaign would be useless, although the file is valid.

    :param fewest_tests: number of tests that any campaign needs; 0: not known
    """
    measure, cells, tester = specification.measure, specification.cells, specification.tester
    width = measure.upper - measure.lower
    if cells.alpha >= width:
        yield (
            f'partition: a cell is {cells.alpha:g} wide, all of psi {width:g}: every campaign '
            'returns the same value; a smaller accuracy.gamma makes smaller cells'
        )
    if fewest_tests > tester.max_tests:
        yield (
            f'tester.max_tests: {tester.max_tests} tests cannot reach gamma {tester.gamma:g}: it '
            f'takes {fewest_tests} at least'
        )
    quantity = getattr(measure.quantity, 'inner', measure.quantity)
    if isinstance(quantity, GaugeDisplacement) and quantity.travel is None:
        yield (
            'measure.travel is missing: the ends [lower, upper] of the gauge in mm; without it a '
            'gauge at its stop, in inches or without contact gives numbers that look right'
        )


def hints(specification: Specification) -> list[str]:
    """Return missing keys that only help people to read a page of results."""
    about = specification.about
    examples = {
        'description': 'what is tested, in one sentence',
        'robot': "such as 'Unitree G1, walking policy 1.4'",
        'measure.name': "what psi is called, such as 'velocity tracking loss'",
        'measure.direction': 'lower_is_better or higher_is_better',
    }
    given = (about.description, about.robot, about.measure, about.direction)
    return [
        f'{key}: {example}'
        for (key, example), value in zip(examples.items(), given, strict=True)
        if not value
    ]
