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

"""Conversion of sensor messages to samples: the stamp, body and field that an input names.

How each message type is read is defined in measurement/catalogue.py. A message may also stand for
many, with columns as numbers; then the sample has columns, too. TypeError or ValueError means that
the messages cannot be read together.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from operator import attrgetter
from typing import Any

import numpy as np

from repsq_ros.errors import RepsqError
from repsq_ros.measurement.catalogue import (
    CATALOGUE,
    TF,
    MessageKind,
    frame_of,
    pose_sample,
    transform_sample,
)
from repsq_ros.measurement.inputs import Input, Stamp
from repsq_ros.measurement.reasons import Code
from repsq_ros.measurement.samples import POSE, Samples, number_sample, real
from repsq_ros.timebase import from_time

# From a message and its time of arrival [ns] to a sample; None: no sample of the body.
Reader = Callable[[Any, int], Samples | None]


class FieldError(RepsqError):
    """A message lacks what the specification names; the text is for users."""

    exit_code = 2


def reader_of(source: Input) -> Reader:
    """Return the function that turns messages of an input into samples."""
    if source.field:
        return _with_stamp(source, _field_reader(source.field))
    if source.type == TF:
        return _frame_pair(source)
    kind = CATALOGUE[source.type]
    return _with_stamp(source, kind.read or _named(source, kind))


def _with_stamp(source: Input, read: Callable[[Any, int], Samples | None]) -> Reader:
    if source.stamp == Stamp.RECEIVE:
        return read

    def by_header(message: Any, arrival_ns: int) -> Samples | None:
        try:
            stamp = message.header.stamp
        except AttributeError:
            raise FieldError(
                f'{source.type} has no header, expected one: say stamp: receive'
            ) from None
        return read(message, from_time(stamp))

    return by_header


def _named(source: Input, kind: MessageKind) -> Callable[[Any, int], Samples | None]:
    bodies, name, wanted = kind.bodies, kind.body_name, source.body
    why = f'equal stamps: the name {wanted!r} is twice in a message, at two places'

    def read(message: Any, stamp_ns: int) -> Samples | None:
        found = [each.pose for each in getattr(message, bodies) if getattr(each, name) == wanted]
        if not found:
            return None
        frame = message.header.frame_id
        sample = pose_sample(stamp_ns, found[0].position, found[0].orientation, frame)
        if len(found) > 1 and len(sample) > 1:
            raise ValueError('several bodies of one name: each message has to be looked at')
        for other in found[1:]:
            pose = pose_sample(stamp_ns, other.position, other.orientation, frame)
            if not all(np.array_equal(sample.columns[n], pose.columns[n]) for n in POSE):
                return replace(sample, doubts={0: (Code.CONFLICT, why)})
        return sample

    return read


def _frame_pair(source: Input) -> Reader:
    """Return the reader of one transform: of the child `body`, in the parent `frame` if given."""
    child, parent, by_arrival = source.body, source.frame, source.stamp == Stamp.RECEIVE

    def read(message: Any, arrival_ns: int) -> Samples | None:
        for each in message.transforms:
            if each.child_frame_id == child and parent in ('', each.header.frame_id):
                stamp_ns = arrival_ns if by_arrival else from_time(each.header.stamp)
                return transform_sample(each, stamp_ns)
        return None

    return read


def bodies_of(name: str, message: Any) -> tuple[str, ...]:
    """Return the names of the bodies in a message; [''] for other types."""
    kind = CATALOGUE.get(name)
    if kind is None or not kind.bodies:
        return ('',)
    return tuple(getattr(each, kind.body_name) for each in getattr(message, kind.bodies))


def _field_reader(path: str) -> Callable[[Any, int], Samples]:
    """Return the reader of one number by its path, such as pose.pose.position.x or data[3]."""
    steps = re.findall(r'[A-Za-z_0-9]+', path)
    quick = attrgetter(path) if '[' not in path else None

    def read(message: Any, stamp_ns: int) -> Samples:
        if quick is not None:
            try:
                return number_sample(stamp_ns, real(quick(message)), frame_of(message))
            except (AttributeError, TypeError, ValueError):
                pass  # reported below, where the failing step is known
        value = message
        for step in steps:
            try:
                value = value[int(step)] if step.isdigit() else getattr(value, step)
            except (AttributeError, IndexError, TypeError):
                raise FieldError(
                    f'{type(message).__name__} has no {step} on the way to {path}, expected a '
                    'path to one number'
                ) from None
        try:
            return number_sample(stamp_ns, real(value), frame_of(message))
        except (TypeError, ValueError):
            raise FieldError(
                f'{path} of {type(message).__name__} is no number, expected a path to one'
            ) from None

    return read
