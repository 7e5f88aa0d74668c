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

"""Reading what an input is: type, body, unit, sign, axes, stamps, extrinsics, velocity."""

from __future__ import annotations

import math
import re
from dataclasses import replace

from repsq_ros.measurement.catalogue import CATALOGUE, MessageKind, full_name, kind_of
from repsq_ros.measurement.inputs import (
    LENGTHS,
    STAMPS,
    UNITS,
    UP_AXES,
    VELOCITIES,
    VELOCITY_FRAMES,
    Extrinsics,
    Input,
)
from repsq_ros.measurement.samples import Quaternion, Vector
from repsq_ros.measurement.velocity import FITS
from repsq_ros.protocols.rotation import quaternion_of_rpy
from repsq_ros.specification.reader import Section

TYPE_NAME = re.compile(r'^[a-z][a-z0-9_]*/msg/[A-Z][A-Za-z0-9]*$')
FIELD = re.compile(r'^[a-z][a-z0-9_]*(\[\d+\])*(\.[a-z][a-z0-9_]*(\[\d+\])*)*$')

SOURCES = {'odometry': 'nav_msgs/msg/Odometry', 'mocap': 'geometry_msgs/msg/PoseStamped'}


def input_of_source(source: str) -> Input:
    """Return the input that one of the two short words stands for."""
    name = SOURCES[source]
    velocity = 'twist' if source == 'odometry' else 'slope'
    return Input(name, CATALOGUE[name].topic, velocity=velocity)


def read_input(section: Section, condition: str = '') -> Input:
    """Return the input of a section.

    :param condition: name of the condition whose input it is; its section holds other keys too
    :raises SpecificationError: with file, key, what was found and what was expected
    """
    name = full_name(section.text('type'))
    field = section.text('field') if section.has('field') else ''
    kind = kind_of(name, field)
    if not TYPE_NAME.match(name) or kind is None:
        raise section.fail(
            'type', f'text {name!r}', f'one of {", ".join(CATALOGUE)}; or any type with a field'
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
    found = _input(section, name, field, body, kind)
    if found.retime and not found.rate > 0:
        raise section.fail('rate', 'nothing', 'the nominal rate in Hz, which retime needs')
    if not condition:
        section.finish()
    return found


def _input(section: Section, name: str, field: str, body: str, kind: MessageKind) -> Input:
    reading = 'reading' in kind.gives
    stamp = section.choice('stamp', STAMPS, 'header' if kind.stamped else 'receive')
    if stamp == 'header' and not kind.stamped and not field:
        raise section.fail('stamp', "text 'header'", f'receive: {name} has no header')
    unit = section.choice('unit', tuple(UNITS if reading else LENGTHS), kind.unit or None)
    velocity = 'slope'
    if not reading:
        can_twist = 'twist' in kind.gives
        can_pose = 'orientation' in kind.gives
        choices = tuple(
            each for each in VELOCITIES if (can_twist if each == 'twist' else can_pose)
        )
        if choices:
            velocity = section.choice('velocity', choices, choices[0])
    frame = section.text('frame') if section.has('frame') else ''
    if frame and not kind.stamped and not field:
        raise section.fail('frame', f'text {frame!r}', f'none: {name} has no frame_id')
    common = Input(
        name, kind.topic, body, field, stamp, unit,
        frame=frame, velocity=velocity, velocity_frame=kind.velocity_frame,
    )  # fmt: skip
    if reading:
        codes = section.numbers('error_codes') if section.has('error_codes') else None
        return replace(
            common,
            sign=_sign(section),
            calibration=section.number('scale', 1.0, above=0.0),
            error_codes=codes,
        )
    by_fit = velocity in FITS and 'orientation' in kind.gives
    return replace(
        common,
        up_axis=section.choice('up_axis', UP_AXES, 'z'),
        extrinsics=_extrinsics(section, kind, name),
        rate=section.number('rate', 0.0, at_least=0.0),
        retime=section.flag('retime') if velocity != 'twist' else False,
        velocity_span=section.number('velocity_span', 0.1, above=0.0) if by_fit else 0.1,
        velocity_frame=(
            section.choice('velocity_frame', VELOCITY_FRAMES, kind.velocity_frame)
            if velocity == 'twist'
            else 'body'
        ),
    )


def _sign(section: Section) -> float:
    sign = section.number('sign', 1.0)
    if sign not in (1.0, -1.0):
        raise section.fail('sign', f'{sign!r}', '1 or -1')
    return sign


def _extrinsics(section: Section, kind: MessageKind, name: str) -> Extrinsics:
    if not section.has('extrinsics'):
        return Extrinsics()
    if 'position' in kind.gives and 'orientation' not in kind.gives:
        raise section.fail(
            'extrinsics', 'a place on the body', f'none: {name} tells no orientation to turn it by'
        )
    inner = section.section('extrinsics')
    translation = read_vector(inner, 'translation') if inner.has('translation') else (0.0,) * 3
    rotation = read_rotation(inner) or (0.0, 0.0, 0.0, 1.0)
    inner.finish()
    x, y, z = translation
    return Extrinsics((x, y, z), rotation)


def read_vector(section: Section, key: str) -> Vector:
    """Return three numbers."""
    x, y, z = section.numbers(key, 3)
    return (x, y, z)


def settle(computed: float) -> float:
    """Return a computed sine, cosine or angle without the digits that libraries differ in."""
    return round(computed, 12) + 0.0  # no -0


def read_rotation(section: Section) -> Quaternion | None:
    """Return the rotation of a section: `rotation` (x, y, z, w) or `rpy`; None: neither."""
    if section.has('rpy'):
        roll, pitch, yaw = section.numbers('rpy', 3)
        x, y, z, w = map(settle, quaternion_of_rpy(roll, pitch, yaw))
        return (x, y, z, w)
    if not section.has('rotation'):
        return None
    x, y, z, w = section.numbers('rotation', 4)
    size = math.sqrt(x * x + y * y + z * z + w * w)
    if abs(size - 1.0) > 1e-3:
        raise section.fail('rotation', f'a quaternion of norm {size:g}', 'x, y, z, w of norm 1')
    return (x / size, y / size, z / size, w / size)
