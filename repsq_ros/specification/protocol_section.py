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

"""Reading the protocol: the phases of a test and how each ends."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field, replace

from repsq_ros.keys import Key, key, keys_of
from repsq_ros.measurement.catalogue import TOOL_POSE
from repsq_ros.measurement.inputs import Input
from repsq_ros.protocols.command_space import Command, CommandKind
from repsq_ros.protocols.endings import ConfirmedEnding, Ending, SettledEnding, TimedEnding
from repsq_ros.protocols.locomotion import locomotion
from repsq_ros.protocols.phases import Phase
from repsq_ros.protocols.positioning import homing_to_reference, positioning
from repsq_ros.protocols.protocol import Goal, Positions, Protocol, ProtocolType, Step
from repsq_ros.protocols.rotation import rpy_of_quaternion
from repsq_ros.specification.input_section import read_input
from repsq_ros.specification.reader import LIMITS, RPY, Section, read_keys, rounded
from repsq_ros.timebase import to_nanoseconds, to_seconds

ENDS: dict[str, type[Ending]] = {
    'time': TimedEnding,
    'settle': SettledEnding,
    'confirm': ConfirmedEnding,
}

WINDOW = Key(
    'measured time at the end of the phase: exactly one phase has it',
    's',
    kind=float,
    default=0.0,
    default_text='none',
    name='window',
    above=0,
)

# Phases of a free protocol, and the goals allowed in each.
STILL = ('dwell', 'settle', 'record')
OF_BODY: dict[str, tuple[Goal, ...]] = {
    **dict.fromkeys(STILL, (Goal.REST,)),
    'command': (Goal.TARGET,),
}
GOALS: dict[CommandKind, dict[str, tuple[Goal, ...]]] = {
    CommandKind.VELOCITY: OF_BODY,
    CommandKind.PUSH: OF_BODY,
    CommandKind.POSE: {
        **dict.fromkeys(STILL, (Goal.STAY,)),
        'move': (Goal.TARGET, Goal.APPROACH),
        'return': (Goal.REFERENCE, Goal.REFERENCE_APPROACH),
    },
}


@dataclass(frozen=True)
class LocomotionTimes:
    """Keys of the locomotion protocol."""

    dwell_ns: int = field(metadata=key('time with zero command before each case', at_least=0.1))
    command_ns: int = field(metadata=key('time for which the case is commanded', above=0))
    window_ns: int = field(metadata=key('measured time at the end of command', above=0))


@dataclass(frozen=True)
class PositioningTimes:
    """Keys of the positioning protocol, in addition to its positions and endings."""

    before_ns: int = field(
        default=1_000_000_000,
        metadata=key(
            'time at the reference before the move, in which the tare is measured', above=0
        ),
    )
    dwell_ns: int = field(
        default=3_000_000_000,
        metadata=key('time at the target, and again at the reference', above=0),
    )
    record_ns: int = field(
        default=1_000_000_000, metadata=key('time after that dwell: the measured window', above=0)
    )


@dataclass(frozen=True)
class Reference:
    """Keys of the pose from which each test starts."""

    position: tuple[float, float, float] = field(
        metadata=key('x, y, z in the frame', 'm', at_least=-LIMITS['m'], at_most=LIMITS['m'])
    )
    rpy: tuple[float, float, float] | None = field(
        default=None, metadata={'key': replace(RPY, default=None)}
    )


PROTOCOLS: dict[ProtocolType, type] = {
    ProtocolType.LOCOMOTION: LocomotionTimes,
    ProtocolType.POSITIONING: PositioningTimes,
    ProtocolType.FREE: Positions,
}


def read_protocol(section: Section) -> tuple[Protocol, Input | None]:
    """Return the protocol, and the input for settling (None if no phase needs it).

    :raises SpecificationError: with file, key, what was found and what was expected
    """
    kind = section.choice('type', PROTOCOLS)
    if kind == ProtocolType.LOCOMOTION:
        protocol = _locomotion(section)
    elif kind == ProtocolType.POSITIONING:
        protocol = _positioning(section)
    else:
        protocol = _free(section)
    feedback = _feedback(section, protocol) if protocol.settles else None
    section.finish()
    return protocol, feedback


def _locomotion(section: Section) -> Protocol:
    times = read_keys(section, LocomotionTimes)
    _check_window(section, times.window_ns, times.command_ns, 'command')
    return locomotion(times.dwell_ns, times.command_ns, times.window_ns)


def _check_window(section: Section, window_ns: int, length_ns: int, of: str) -> None:
    if window_ns > length_ns:
        raise section.fail(
            'window',
            f'{to_seconds(window_ns)!r}',
            f'at most the {to_seconds(length_ns)!r} s for which the {of} is held',
        )


def _positioning(section: Section) -> Protocol:
    positions, times = _positions(section), read_keys(section, PositioningTimes)
    ways = (_ending_of(section, key, SettledEnding(speed=0.002)) for key in ('move', 'settle'))
    return positioning(positions, times.before_ns, times.dwell_ns, times.record_ns, *ways)


def _positions(section: Section) -> Positions:
    inner = section.section('approach')
    keys = keys_of(Positions)
    approach = {each: inner.take(keys[each]) for each in ('direction', 'distance')}
    if not math.hypot(*approach['direction']) > 0:
        raise inner.fail('direction', 'a vector of length 0', 'a direction in the frame')
    inner.finish()
    reference = _reference(section.section('reference'))
    return read_keys(section, Positions, {**approach, 'reference': reference})


def _reference(section: Section) -> Command:
    found = read_keys(section, Reference)
    turn = found.rpy
    if turn is None:
        rotation = section.rotation()
        if rotation is None:
            raise section.fail('rpy', 'nothing', 'three angles in rad, or rotation: x, y, z, w')
        roll, pitch, yaw = map(rounded, rpy_of_quaternion(rotation))
        turn = (roll, pitch, yaw)
    section.finish()
    return (*found.position, *turn)


def _ending_of(section: Section, key: str, usual: SettledEnding) -> Ending:
    if not section.has(key):
        return usual
    inner = section.section(key)
    found = _ending(inner, usual)
    inner.finish()
    return found


def _ending(section: Section, usual: SettledEnding) -> Ending:
    """Return the ending of a phase."""
    kind = ENDS[section.choice('ends', ENDS)]
    found = read_keys(section, kind, usual={'speed': usual.speed})
    if isinstance(found, SettledEnding) and found.timeout_ns < 2 * found.hold_ns:
        raise section.fail(
            'timeout', f'{to_seconds(found.timeout_ns)!r}', 'at least twice the hold'
        )
    return found


def _free(section: Section) -> Protocol:
    """Return a protocol whose phases are listed in the specification."""
    kind = section.choice('commands', tuple(GOALS))
    positions = _positions(section) if kind == CommandKind.POSE else None
    usual = SettledEnding()
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
    if kind == CommandKind.PUSH:
        description['commands'] = kind.value
    if positions is None:
        return Protocol(ProtocolType.FREE, steps, description, by_hand=kind == CommandKind.PUSH)
    description['positions'] = asdict(positions)
    return Protocol(ProtocolType.FREE, steps, description, positions, homing_to_reference(usual))


def _step(section: Section, kind: CommandKind, usual: SettledEnding) -> Step:
    phase = section.choice('phase', tuple(GOALS[kind]))
    goals = tuple(goal.value for goal in GOALS[kind][phase])
    goal = Goal(section.choice('to', goals, goals[0]) if len(goals) > 1 else goals[0])
    ending = _ending(section, usual)
    if phase == 'command' and ending.needs_body:
        raise section.fail('ends', "text 'settle'", 'time or confirm: it moves')
    window_ns = to_nanoseconds(section.take(WINDOW))
    if window_ns:
        if not isinstance(ending, TimedEnding):
            raise section.fail('window', 'a window', 'none: the phase does not end by time')
        _check_window(section, window_ns, ending.duration_ns, phase)
    section.finish()
    return Step(Phase[phase.upper()], goal, ending, window_ns)


def _feedback(section: Section, protocol: Protocol) -> Input:
    """Return the input with the body's pose."""
    frame = '' if protocol.positions is None else protocol.positions.frame
    if section.has('feedback'):
        found = read_input(section.section('feedback'))
        if found.field or found.type.startswith(('std_msgs/', 'sensor_msgs/')):
            raise section.fail('feedback.type', f'text {found.type!r}', 'a pose or Odometry')
        return found
    if protocol.positions is None:
        raise section.fail('feedback', 'nothing', 'the input of a body: a phase ends by settle')
    return Input('geometry_msgs/msg/PoseStamped', TOOL_POSE, frame=frame)
