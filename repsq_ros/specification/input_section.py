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

"""Reading an input: type, body, unit, sign, axes, stamps, extrinsics, velocity."""

from __future__ import annotations

import difflib
import re

from repsq_ros.keys import REQUIRED
from repsq_ros.measurement.catalogue import CATALOGUE, MessageKind, full_name, kind_of
from repsq_ros.measurement.inputs import (
    LENGTHS,
    UNITS,
    Input,
    Stamp,
    Velocity,
)
from repsq_ros.specification.reader import Section, read_keys

TYPE_NAME = re.compile(r'^[a-z][a-z0-9_]*/msg/[A-Z][A-Za-z0-9]*$')
FIELD = re.compile(r'^[a-z][a-z0-9_]*(\[\d+\])*(\.[a-z][a-z0-9_]*(\[\d+\])*)*$')

SOURCES = {'odometry': 'nav_msgs/msg/Odometry', 'mocap': 'geometry_msgs/msg/PoseStamped'}
OF_NUMBERS = ('sign', 'calibration', 'error_codes')  # keys for numbers only
OF_BODIES = ('up_axis', 'extrinsics', 'retime')  # keys for bodies only


def input_of_source(source: str) -> Input:
    """Return the input of a short form (`odometry` or `mocap`)."""
    name = SOURCES[source]
    velocity = Velocity.TWIST if source == 'odometry' else Velocity.SLOPE
    return Input(name, CATALOGUE[name].topic, velocity=velocity)


def read_input(section: Section, condition: str = '') -> Input:
    """Return the input of a section.

    :param condition: name of the condition that reads this input; its section has other keys too
    :raises SpecificationError: with file, key, what was found and what was expected
    """
    name = full_name(section.text('type'))
    field = section.text('field', '')
    kind = kind_of(name, field)
    if not TYPE_NAME.match(name) or kind is None:
        near = difflib.get_close_matches(name, CATALOGUE, n=1)
        known = f'{near[0]!r}?' if near else 'a message such as nav_msgs/msg/Odometry'
        raise section.fail(
            'type', f'text {name!r}', f'{known}; others need a field: docs/instruments.md'
        )
    if field and not FIELD.match(field):
        raise section.fail('field', f'text {field!r}', 'a path such as pose.pose.position.x')
    body = section.text('body') if kind.bodies or section.has('body') else ''
    if body and not kind.bodies:
        raise section.fail('body', f'text {body!r}', f'no body: {name} holds only one')
    if condition:
        kind = kind._replace(topic=f'condition/{condition}', unit=kind.unit or '1')
        if 'reading' not in kind.gives:
            raise section.fail('type', f'text {name!r}', 'a message of one number, or a field')
    given = {'type': name, 'topic': kind.topic, 'field': field, 'body': body}
    if 'reading' in kind.gives:
        # The `longest_silence` of a condition replaces the rate.
        found = _number(section, given, kind, unused=('rate',) if condition else ())
    else:
        found = _body(section, given, kind)
    _check(section, found, kind)
    if not condition:
        section.finish()
    return found


def _number(
    section: Section, given: dict[str, str], kind: MessageKind, unused: tuple[str, ...]
) -> Input:
    return read_keys(
        section,
        Input,
        {**given, 'velocity_frame': kind.velocity_frame},
        usual={'stamp': _stamp(kind), 'unit': kind.unit or REQUIRED},
        choices={'unit': tuple(UNITS)},
        without=(*OF_BODIES, 'velocity', 'velocity_span', *unused),
    )


def _body(section: Section, given: dict[str, str], kind: MessageKind) -> Input:
    by_twist, by_pose = 'twist' in kind.gives, 'orientation' in kind.gives
    of_twist = Velocity.TWIST
    ways = [each for each in Velocity if (by_twist if each == of_twist else by_pose)]
    velocity = section.choice('velocity', ways, ways[0]) if ways else Velocity.SLOPE
    unused = [*OF_NUMBERS]
    if velocity == of_twist:
        unused.append('retime')
    else:
        unused.append('velocity_frame')
    if not by_pose or velocity == Velocity.DIFFERENCE:
        unused.append('velocity_span')
    if 'position' in kind.gives and not by_pose and section.has('extrinsics'):
        raise section.fail(
            'extrinsics',
            'a place on the body',
            f'none: {given["type"]} has no orientation to turn it by',
        )
    return read_keys(
        section,
        Input,
        {**given, 'velocity': velocity},
        usual={
            'stamp': _stamp(kind),
            'unit': kind.unit or REQUIRED,
            'velocity_frame': kind.velocity_frame,
        },
        choices={'unit': tuple(LENGTHS)},
        without=unused,
    )


def _stamp(kind: MessageKind) -> Stamp:
    return Stamp.HEADER if kind.stamped else Stamp.RECEIVE


def _check(section: Section, found: Input, kind: MessageKind) -> None:
    if not kind.stamped and not found.field:
        if found.stamp == Stamp.HEADER:
            raise section.fail('stamp', "text 'header'", f'receive: {found.type} has no header')
        if found.frame:
            raise section.fail(
                'frame', f'text {found.frame!r}', f'none: {found.type} has no frame_id'
            )
    if found.retime and not found.rate > 0:
        raise section.fail('rate', 'nothing', 'the nominal rate in Hz, which retime needs')
