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

"""The supported message types: what each measures, its topic, and how it is read.

Messages may be rclpy's or a bag reader's, since only their fields are used. A reader is made once
per input and called for each message, so it does not check again what the input has fixed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from repsq_ros.measurement.inputs import VelocityFrame
from repsq_ros.measurement.reasons import Code
from repsq_ros.measurement.samples import (
    Array,
    Quaternion,
    Samples,
    Vector,
    body_sample,
    number_sample,
    real,
)


class MessageKind(NamedTuple):
    """The properties of a message type."""

    gives: tuple[str, ...]  # among: position, orientation, twist, reading
    topic: str  # relative default, to be remapped
    # From a message and its stamp [ns]. None: it has several bodies, or is read by a field path.
    read: Callable[[Any, int], Samples] | None = None
    # For simulated sensors: from a sample to a message, without the header's stamp.
    fill: Callable[[Any, Any], None] | None = None
    stamped: bool = True  # it has a header with the sensor's stamp
    bodies: str = ''  # field with the list of bodies, if it has several; the input names one
    body_name: str = ''  # field with each body's name
    unit: str = 'm'  # unit of its lengths or its number; empty: the specification has to give it
    velocity_frame: VelocityFrame = VelocityFrame.BODY  # frame of its velocity


# Parts of messages -------------------------------------------------------------------------------


def frame_of(message: Any) -> str:
    """Return the frame_id of a message; '' if it has none."""
    header = getattr(message, 'header', None)
    return '' if header is None else str(header.frame_id)


def _vector(part: Any) -> Vector:
    return (part.x, part.y, part.z)


def _quaternion(part: Any) -> Quaternion:
    return (part.x, part.y, part.z, part.w)


def pose_sample(stamp_ns: int, position: Any, turn: Any, frame: str) -> Samples:
    """Make a sample of a point (or vector) and a quaternion with fields x, y, z (and w)."""
    return body_sample(stamp_ns, _vector(position), _quaternion(turn), frame=frame)


def _set_vector(part: Any, column: Array | None) -> None:
    part.x, part.y, part.z = (0.0, 0.0, 0.0) if column is None else column[-1].tolist()


def _set_pose(pose: Any, sample: Samples) -> None:
    _set_vector(pose.position, sample.position)
    turn = (0.0, 0.0, 0.0, 1.0) if sample.orientation is None else sample.orientation[-1].tolist()
    part = pose.orientation
    part.x, part.y, part.z, part.w = turn


# Bodies ------------------------------------------------------------------------------------------


def _odometry(message: Any, stamp_ns: int) -> Samples:
    pose, twist = message.pose.pose, message.twist.twist
    return body_sample(
        stamp_ns,
        _vector(pose.position),
        _quaternion(pose.orientation),
        _vector(twist.linear),
        _vector(twist.angular),
        message.header.frame_id,
    )


def _fill_odometry(message: Any, sample: Samples) -> None:
    message.header.frame_id, message.child_frame_id = sample.frame(), 'base_link'
    _set_pose(message.pose.pose, sample)
    _set_vector(message.twist.twist.linear, sample.linear)
    _set_vector(message.twist.twist.angular, sample.angular)


def _pose(message: Any, stamp_ns: int) -> Samples:
    pose = message.pose
    return pose_sample(stamp_ns, pose.position, pose.orientation, message.header.frame_id)


def _fill_pose(message: Any, sample: Samples) -> None:
    message.header.frame_id = sample.frame()
    _set_pose(message.pose, sample)


def _pose_with_covariance(message: Any, stamp_ns: int) -> Samples:
    pose = message.pose.pose
    return pose_sample(stamp_ns, pose.position, pose.orientation, message.header.frame_id)


def transform_sample(message: Any, stamp_ns: int) -> Samples:
    """Read a TransformStamped."""
    moved = message.transform
    return pose_sample(stamp_ns, moved.translation, moved.rotation, message.header.frame_id)


def _point(message: Any, stamp_ns: int) -> Samples:
    return body_sample(stamp_ns, _vector(message.point), None, frame=message.header.frame_id)


def _vector_stamped(message: Any, stamp_ns: int) -> Samples:
    return body_sample(stamp_ns, _vector(message.vector), None, frame=message.header.frame_id)


def _twist(message: Any, stamp_ns: int) -> Samples:
    return body_sample(stamp_ns, None, None, _vector(message.linear), _vector(message.angular))


def _twist_stamped(message: Any, stamp_ns: int) -> Samples:
    twist, frame = message.twist, message.header.frame_id
    return body_sample(stamp_ns, None, None, _vector(twist.linear), _vector(twist.angular), frame)


def _sport_mode(message: Any, stamp_ns: int) -> Samples:
    """Read a Unitree state: quaternion w, x, y, z; velocity in the world frame; gyroscope."""
    w, x, y, z = map(real, message.imu_state.quaternion)
    turn_x, turn_y, _ = map(real, message.imu_state.gyroscope)
    p_x, p_y, p_z = map(real, message.position)
    v_x, v_y, v_z = map(real, message.velocity)
    turn_z = real(message.yaw_speed)
    return body_sample(
        stamp_ns, (p_x, p_y, p_z), (x, y, z, w), (v_x, v_y, v_z), (turn_x, turn_y, turn_z)
    )


# Numbers -----------------------------------------------------------------------------------------


def _number(name: str) -> Callable[[Any, int], Samples]:
    def read(message: Any, stamp_ns: int) -> Samples:
        return number_sample(stamp_ns, real(getattr(message, name)), frame_of(message))

    return read


def _number_of(sample: Samples) -> float:
    assert sample.value is not None
    return float(sample.value[-1])


def _fill_data(message: Any, sample: Samples) -> None:
    message.data = _number_of(sample)


def _range(message: Any, stamp_ns: int) -> Samples:
    value = real(message.range)
    lower, upper = (real(getattr(message, f'{end}_range', 0.0)) for end in ('min', 'max'))
    doubt = None
    # Both zero: the driver has not set them. Infinities are reported as such.
    beyond = (lower < upper) & np.isfinite(value) & ((value < lower) | (value > upper))
    if np.any(beyond):
        outside = f"reading {value:g} m outside the sensor's own {lower:g} to {upper:g} m"
        doubt = (Code.READING, outside)
    return number_sample(stamp_ns, value, message.header.frame_id, doubt)


def _fill_range(message: Any, sample: Samples) -> None:
    """Fill a Range with the limits that REP-117 needs."""
    message.header.frame_id = sample.frame()
    message.range, message.min_range, message.max_range = _number_of(sample), 0.0, math.inf


# The table ---------------------------------------------------------------------------------------

TF = 'tf2_msgs/msg/TFMessage'
TOOL_POSE = 'tool_pose'  # topic of an arm's own pose (PoseStamped)
POSE = ('position', 'orientation')
POSE_TWIST = (*POSE, 'twist')
READING = ('reading',)

CATALOGUE = {
    'nav_msgs/msg/Odometry': MessageKind(POSE_TWIST, 'odom', _odometry, _fill_odometry),
    'geometry_msgs/msg/PoseStamped': MessageKind(POSE, 'mocap/pose', _pose, _fill_pose),
    'geometry_msgs/msg/PoseWithCovarianceStamped': MessageKind(
        POSE, 'mocap/pose', _pose_with_covariance
    ),
    'geometry_msgs/msg/TransformStamped': MessageKind(POSE, 'mocap/pose', transform_sample),
    TF: MessageKind(POSE, 'tf', bodies='transforms', body_name='child_frame_id'),
    'geometry_msgs/msg/PointStamped': MessageKind(('position',), 'mocap/point', _point),
    'geometry_msgs/msg/Vector3Stamped': MessageKind(('position',), 'mocap/point', _vector_stamped),
    'geometry_msgs/msg/Twist': MessageKind(('twist',), 'applied_velocity', _twist, stamped=False),
    'geometry_msgs/msg/TwistStamped': MessageKind(('twist',), 'applied_velocity', _twist_stamped),
    'std_msgs/msg/Float64': MessageKind(
        READING, 'gauge', _number('data'), _fill_data, stamped=False, unit=''
    ),
    'std_msgs/msg/Float32': MessageKind(READING, 'gauge', _number('data'), stamped=False, unit=''),
    'sensor_msgs/msg/Range': MessageKind(READING, 'gauge', _range, _fill_range),
    'sensor_msgs/msg/BatteryState': MessageKind(
        READING, 'battery', _number('percentage'), unit='1'
    ),
    'mocap4r2_msgs/msg/RigidBodies': MessageKind(
        POSE, 'rigid_bodies', bodies='rigidbodies', body_name='rigid_body_name'
    ),
    'motion_capture_tracking_interfaces/msg/NamedPoseArray': MessageKind(
        POSE, 'poses', bodies='poses', body_name='name'
    ),
    'dial_gauge_msgs/msg/DialGauge': MessageKind(READING, 'gauge', _number('value'), unit='mm'),
    'unitree_go/msg/SportModeState': MessageKind(
        POSE_TWIST, 'odommodestate', _sport_mode, stamped=False, velocity_frame=VelocityFrame.WORLD
    ),
    'unitree_hg/msg/BmsState': MessageKind(
        READING, 'battery', _number('soc'), stamped=False, unit='percent'
    ),
}

ANY_FIELD = MessageKind(READING, 'gauge', stamped=False, unit='')


def full_name(name: str) -> str:
    """Return pkg/msg/Type for pkg/Type as well."""
    package, _, kind = name.partition('/')
    return f'{package}/msg/{kind}' if kind and '/' not in kind else name


def kind_of(name: str, field: str) -> MessageKind | None:
    """Return the properties of a type; with a field, those of one number; None: not supported."""
    return ANY_FIELD if field else CATALOGUE.get(name)
