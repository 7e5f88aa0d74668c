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

"""Reading the protocol: what a test consists of, and how each phase of it ends."""

from __future__ import annotations

import math
from dataclasses import asdict

from repsq_ros.measurement.catalogue import TOOL_POSE
from repsq_ros.measurement.inputs import Input
from repsq_ros.protocols.command_space import Command
from repsq_ros.protocols.endings import LATE_NS, Confirmed, Ending, Settled, Timed
from repsq_ros.protocols.locomotion import locomotion
from repsq_ros.protocols.phases import Phase
from repsq_ros.protocols.positioning import homing_to_reference, positioning
from repsq_ros.protocols.protocol import Goal, Positions, Protocol, Step
from repsq_ros.protocols.rotation import rpy_of_quaternion
from repsq_ros.specification.input_section import read_input, read_rotation, read_vector, settle
from repsq_ros.specification.reader import Section
from repsq_ros.timebase import to_nanoseconds, to_seconds

TYPES = ('locomotion', 'positioning', 'free')
ENDS = ('time', 'settle', 'confirm')

# Phases that a free protocol may have, and what may be commanded in each.
STILL = ('dwell', 'settle', 'record')
GOALS: dict[str, dict[str, tuple[Goal, ...]]] = {
    'velocity': {**dict.fromkeys(STILL, (Goal.REST,)), 'command': (Goal.TARGET,)},
    'pose': {
        **dict.fromkeys(STILL, (Goal.STAY,)),
        'move': (Goal.TARGET, Goal.APPROACH),
        'return': (Goal.REFERENCE, Goal.REFERENCE_APPROACH),
    },
}


def read_protocol(section: Section) -> tuple[Protocol, Input | None]:
    """Return the protocol, and the input that tells whether the body has settled, if one does.

    :raises SpecificationError: with file, key, what was found and what was expected
    """
    kind = section.choice('type', TYPES)
    if kind == 'locomotion':
        protocol = _locomotion(section)
    elif kind == 'positioning':
        protocol = _positioning(section)
    else:
        protocol = _free(section)
    feedback = _feedback(section, protocol) if protocol.settles else None
    section.finish()
    return protocol, feedback


def _seconds(
    section: Section,
    key: str,
    default: float | None = None,
    above: float = -math.inf,
    at_least: float = -math.inf,
) -> int:
    return to_nanoseconds(section.number(key, default, above=above, at_least=at_least))


def _locomotion(section: Section) -> Protocol:
    dwell = _seconds(section, 'dwell', at_least=0.1)
    command = _seconds(section, 'command', above=0)
    window = _window(section, command, 'command')
    return locomotion(dwell, command, window)


def _window(section: Section, length_ns: int, of: str) -> int:
    window = section.number('window', above=0)
    if to_nanoseconds(window) > length_ns:
        raise section.fail(
            'window',
            f'{window!r}',
            f'at most the {to_seconds(length_ns)!r} s for which the {of} is held',
        )
    return to_nanoseconds(window)


def _positioning(section: Section) -> Protocol:
    usual = Settled(to_nanoseconds(30.0), to_nanoseconds(0.5), 0.002, 0.01)
    return positioning(
        _positions(section),
        _seconds(section, 'before', 1.0, above=0),
        _seconds(section, 'dwell', 3.0, above=0),
        _seconds(section, 'record', 1.0, above=0),
        _ending_of(section, 'move', usual),
        _ending_of(section, 'settle', usual),
    )


def _positions(section: Section) -> Positions:
    inner = section.section('approach')
    direction = read_vector(inner, 'direction')
    if not math.hypot(*direction) > 0:
        raise inner.fail('direction', 'a vector of length 0', 'a direction in the frame')
    distance = inner.number('distance', at_least=0)
    inner.finish()
    return Positions(
        section.text('frame'),
        _reference(section.section('reference')),
        direction,
        distance,
        section.number('speed', above=0),
        section.number('acceleration', above=0),
    )


def _reference(section: Section) -> Command:
    position = read_vector(section, 'position')
    if section.has('rpy'):
        turn = section.numbers('rpy', 3)
    else:
        rotation = read_rotation(section)
        if rotation is None:
            raise section.fail('rpy', 'nothing', 'three angles in rad, or rotation: x, y, z, w')
        turn = tuple(map(settle, rpy_of_quaternion(rotation)))
    section.finish()
    return (*position, *turn)


def _ending_of(section: Section, key: str, usual: Settled) -> Ending:
    if not section.has(key):
        return usual
    inner = section.section(key)
    found = _ending(inner, usual)
    inner.finish()
    return found


def _ending(section: Section, usual: Settled) -> Ending:
    """Return how a phase ends: keys ends, and seconds or timeout, speed, hold, within."""
    ends = section.choice('ends', ENDS)
    if ends == 'time':
        return Timed(_seconds(section, 'seconds', above=0))
    if ends == 'confirm':
        return Confirmed(_seconds(section, 'timeout', 3600.0, above=0))
    found = Settled(
        _seconds(section, 'timeout', to_seconds(usual.timeout_ns), above=0),
        _seconds(section, 'hold', to_seconds(usual.hold_ns), at_least=to_seconds(LATE_NS)),
        section.number('speed', usual.speed, above=0),
        section.number('within', usual.within, above=0),
    )
    if found.timeout_ns < 2 * found.hold_ns:
        raise section.fail(
            'timeout', f'{to_seconds(found.timeout_ns)!r}', 'at least twice the hold'
        )
    return found


def _free(section: Section) -> Protocol:
    """Return a protocol whose phases stand in the specification."""
    kind = section.choice('commands', tuple(GOALS))
    positions = _positions(section) if kind == 'pose' else None
    usual = Settled(to_nanoseconds(30.0), to_nanoseconds(0.5), 0.02, 0.01)
    steps = tuple(_step(inner, kind, usual) for inner in section.sections('phases'))
    measured = [step for step in steps if step.window_ns]
    if len(measured) != 1:
        raise section.fail('phases', f'{len(measured)} phases with a window', 'exactly one')
    begun = [place for place, step in enumerate(steps) if step.goal is Goal.TARGET]
    if not begun or steps.index(measured[0]) < begun[0]:
        expected = 'command' if positions is None else 'move with to: target'
        raise section.fail('phases', 'a window before the case', f'a phase {expected} before it')
    if steps[0].phase in (Phase.COMMAND, Phase.MOVE, Phase.RETURN):
        raise section.fail('phases', f'{steps[0].phase.name.lower()} first', 'dwell first')
    description: dict[str, object] = {'steps': [step.describe() for step in steps]}
    if positions is None:
        return Protocol('free', steps, description)
    description['positions'] = asdict(positions)
    return Protocol('free', steps, description, positions, homing_to_reference(usual))


def _step(section: Section, kind: str, usual: Settled) -> Step:
    phase = section.choice('phase', tuple(GOALS[kind]))
    goals = tuple(goal.value for goal in GOALS[kind][phase])
    goal = Goal(section.choice('to', goals, goals[0]) if len(goals) > 1 else goals[0])
    ending = _ending(section, usual)
    if kind == 'velocity' and phase == 'command' and ending.needs_body:
        raise section.fail('ends', "text 'settle'", 'time or confirm: it moves')
    window_ns = 0
    if section.has('window'):
        if not isinstance(ending, Timed):
            raise section.fail('window', 'a window', 'none: the phase does not end by time')
        window_ns = _window(section, ending.duration_ns, phase)
    section.finish()
    return Step(Phase[phase.upper()], goal, ending, window_ns)


def _feedback(section: Section, protocol: Protocol) -> Input:
    """Return the input that tells where the body is."""
    frame = '' if protocol.positions is None else protocol.positions.frame
    if section.has('feedback'):
        found = read_input(section.section('feedback'))
        if found.field or found.type.startswith(('std_msgs/', 'sensor_msgs/')):
            raise section.fail('feedback.type', f'text {found.type!r}', 'a pose or Odometry')
        return found
    if protocol.positions is None:
        raise section.fail('feedback', 'nothing', 'the input of a body: a phase ends by settle')
    return Input('geometry_msgs/msg/PoseStamped', TOOL_POSE, frame=frame)
