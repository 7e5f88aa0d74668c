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

"""Sensor messages to samples: what each type holds, and where.

As in campaign_messages.py, the messages may be rclpy's or a bag reader's: only their fields count.
A reader is made once for an input and then called for each message, which is why it checks nothing
that the input has settled.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from operator import attrgetter
from typing import Any

from repsq_ros.errors import RepsqError
from repsq_ros.measurement.catalogue import TF
from repsq_ros.measurement.inputs import Input
from repsq_ros.measurement.reasons import Code
from repsq_ros.measurement.samples import BodySample, Quaternion, Reading, Sample, Vector
from repsq_ros.timebase import from_time

# From a message and the time of its arrival [ns] to a sample; None: it says nothing of the body.
Reader = Callable[[Any, int], Sample | None]


class FieldError(RepsqError):
    """A message does not hold what the specification says it does; the message is for users."""

    exit_code = 2


def reader_of(source: Input) -> Reader:
    """Return the function that turns messages of an input into samples."""
    if source.field:
        return _with_stamp(source, _field_reader(source.field))
    if source.type == TF:
        return _frame_pair(source)
    if source.type in _OF_SEVERAL:
        return _with_stamp(source, _named(source))
    return _with_stamp(source, _READERS[source.type])


def _with_stamp(source: Input, read: Callable[[Any, int], Sample | None]) -> Reader:
    if source.stamp == 'receive':
        return read

    def by_header(message: Any, arrival_ns: int) -> Sample | None:
        try:
            stamp = message.header.stamp
        except AttributeError:
            raise FieldError(
                f'{source.type} has no header, expected one: say stamp: receive'
            ) from None
        return read(message, from_time(stamp))

    return by_header


def frame_of(message: Any) -> str:
    """Return the frame_id of a message, '' where it has none."""
    header = getattr(message, 'header', None)
    return '' if header is None else str(header.frame_id)


# Types -------------------------------------------------------------------------------------------


def _vector(part: Any) -> Vector:
    return (part.x, part.y, part.z)


def _quaternion(part: Any) -> Quaternion:
    return (part.x, part.y, part.z, part.w)


def _odometry(message: Any, stamp_ns: int) -> Sample:
    pose, twist = message.pose.pose, message.twist.twist
    return BodySample(
        stamp_ns,
        _vector(pose.position),
        _quaternion(pose.orientation),
        _vector(twist.linear),
        _vector(twist.angular),
        message.header.frame_id,
    )


def _body(stamp_ns: int, position: Any, turn: Any, frame: str) -> Sample:
    return BodySample(
        stamp_ns,
        (position.x, position.y, position.z),
        (turn.x, turn.y, turn.z, turn.w),
        None,
        None,
        frame,
    )


def _pose(message: Any, stamp_ns: int) -> Sample:
    pose = message.pose
    return _body(stamp_ns, pose.position, pose.orientation, message.header.frame_id)


def _pose_with_covariance(message: Any, stamp_ns: int) -> Sample:
    pose = message.pose.pose
    return _body(stamp_ns, pose.position, pose.orientation, message.header.frame_id)


def _transform(message: Any, stamp_ns: int) -> Sample:
    moved = message.transform
    return _body(stamp_ns, moved.translation, moved.rotation, message.header.frame_id)


def _point(message: Any, stamp_ns: int) -> Sample:
    return BodySample(stamp_ns, _vector(message.point), None, frame=message.header.frame_id)


def _vector_stamped(message: Any, stamp_ns: int) -> Sample:
    return BodySample(stamp_ns, _vector(message.vector), None, frame=message.header.frame_id)


def _twist(message: Any, stamp_ns: int) -> Sample:
    return BodySample(stamp_ns, None, None, _vector(message.linear), _vector(message.angular))


def _twist_stamped(message: Any, stamp_ns: int) -> Sample:
    twist, frame = message.twist, message.header.frame_id
    return BodySample(stamp_ns, None, None, _vector(twist.linear), _vector(twist.angular), frame)


def _sport_mode(message: Any, stamp_ns: int) -> Sample:
    """Read a Unitree state: quaternion w, x, y, z; velocity in the world frame; gyroscope."""
    w, x, y, z = map(float, message.imu_state.quaternion)
    turn_x, turn_y, _ = map(float, message.imu_state.gyroscope)
    p_x, p_y, p_z = map(float, message.position)
    v_x, v_y, v_z = map(float, message.velocity)
    return BodySample(
        stamp_ns, (p_x, p_y, p_z), (x, y, z, w), (v_x, v_y, v_z),
        (turn_x, turn_y, float(message.yaw_speed)),
    )  # fmt: skip


def _number(name: str) -> Callable[[Any, int], Sample]:
    def read(message: Any, stamp_ns: int) -> Sample:
        return Reading(stamp_ns, float(getattr(message, name)), frame_of(message))

    return read


def _range(message: Any, stamp_ns: int) -> Sample:
    value = float(message.range)
    lower, upper = (float(getattr(message, f'{end}_range', 0.0)) for end in ('min', 'max'))
    doubt = None
    # Both zero: the driver has not filled them in. Infinities are told as such.
    if lower < upper and math.isfinite(value) and not lower <= value <= upper:
        doubt = (
            Code.READING, f"reading {value:g} m outside the sensor's own {lower:g} to {upper:g} m"
        )  # fmt: skip
    return Reading(stamp_ns, value, message.header.frame_id, doubt)


_READERS: dict[str, Callable[[Any, int], Sample]] = {
    'nav_msgs/msg/Odometry': _odometry,
    'geometry_msgs/msg/PoseStamped': _pose,
    'geometry_msgs/msg/PoseWithCovarianceStamped': _pose_with_covariance,
    'geometry_msgs/msg/TransformStamped': _transform,
    'geometry_msgs/msg/PointStamped': _point,
    'geometry_msgs/msg/Vector3Stamped': _vector_stamped,
    'geometry_msgs/msg/Twist': _twist,
    'geometry_msgs/msg/TwistStamped': _twist_stamped,
    'std_msgs/msg/Float64': _number('data'),
    'std_msgs/msg/Float32': _number('data'),
    'sensor_msgs/msg/Range': _range,
    'sensor_msgs/msg/BatteryState': _number('percentage'),
    'dial_gauge_msgs/msg/DialGauge': _number('value'),
    'unitree_go/msg/SportModeState': _sport_mode,
    'unitree_hg/msg/BmsState': _number('soc'),
}

# Messages of several bodies: where the list is, and the name of each body.
_OF_SEVERAL = {
    'mocap4r2_msgs/msg/RigidBodies': ('rigidbodies', 'rigid_body_name'),
    'motion_capture_tracking_interfaces/msg/NamedPoseArray': ('poses', 'name'),
}


def _named(source: Input) -> Callable[[Any, int], Sample | None]:
    bodies, name = _OF_SEVERAL[source.type]
    wanted = source.body
    twice = (
        Code.CONFLICT, f'equal stamps: the name {wanted!r} is twice in a message, at two places'
    )  # fmt: skip

    def read(message: Any, stamp_ns: int) -> Sample | None:
        found = [each.pose for each in getattr(message, bodies) if getattr(each, name) == wanted]
        if not found:
            return None
        frame = message.header.frame_id
        sample = _body(stamp_ns, found[0].position, found[0].orientation, frame)
        for other in found[1:]:
            if _body(stamp_ns, other.position, other.orientation, frame) != sample:
                return sample._replace(doubt=twice)
        return sample

    return read


def _frame_pair(source: Input) -> Reader:
    """Return the reader of one transform: of the child `body` in the parent `frame`, if given."""
    child, parent, by_arrival = source.body, source.frame, source.stamp == 'receive'

    def read(message: Any, arrival_ns: int) -> Sample | None:
        for each in message.transforms:
            if each.child_frame_id == child and parent in ('', each.header.frame_id):
                return _transform(each, arrival_ns if by_arrival else from_time(each.header.stamp))
        return None

    return read


def bodies_of(name: str, message: Any) -> tuple[str, ...]:
    """Return the names of the bodies in a message; one without a name for other types."""
    if name == TF:
        return tuple(each.child_frame_id for each in message.transforms)
    if name not in _OF_SEVERAL:
        return ('',)
    bodies, of_each = _OF_SEVERAL[name]
    return tuple(getattr(each, of_each) for each in getattr(message, bodies))


def _field_reader(path: str) -> Callable[[Any, int], Sample]:
    """Return the reader of one number, by a path such as pose.pose.position.x or data[3]."""
    steps = re.findall(r'[A-Za-z_0-9]+', path)
    quick = attrgetter(path) if '[' not in path else None

    def read(message: Any, stamp_ns: int) -> Sample:
        if quick is not None:
            try:
                return Reading(stamp_ns, float(quick(message)), frame_of(message))
            except (AttributeError, TypeError, ValueError):
                pass  # told below, where the step that fails is known
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
            return Reading(stamp_ns, float(value), frame_of(message))
        except (TypeError, ValueError):
            raise FieldError(
                f'{path} of {type(message).__name__} is no number, expected a path to one'
            ) from None

    return read
