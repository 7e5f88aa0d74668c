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

"""The messages that are understood as they are, and what is true of each."""

from __future__ import annotations

from typing import NamedTuple


class MessageKind(NamedTuple):
    """What a type of message can give."""

    gives: tuple[str, ...]  # of: position, orientation, twist, reading
    topic: str  # where it is looked for, relative; to be remapped
    stamped: bool = True  # it has a header with the sensor's stamp
    bodies: bool = False  # it holds several bodies, one of which is named
    unit: str = 'm'  # of its lengths or of its number; empty: the specification must say
    velocity_frame: str = 'body'  # in which its velocity is told


TF = 'tf2_msgs/msg/TFMessage'
TOOL_POSE = 'tool_pose'  # topic of an arm's own pose, told as PoseStamped
POSE = ('position', 'orientation')
POSE_TWIST = (*POSE, 'twist')

CATALOGUE = {
    'nav_msgs/msg/Odometry': MessageKind(POSE_TWIST, 'odom'),
    'geometry_msgs/msg/PoseStamped': MessageKind(POSE, 'mocap/pose'),
    'geometry_msgs/msg/PoseWithCovarianceStamped': MessageKind(POSE, 'mocap/pose'),
    'geometry_msgs/msg/TransformStamped': MessageKind(POSE, 'mocap/pose'),
    TF: MessageKind(POSE, 'tf', bodies=True),
    'geometry_msgs/msg/PointStamped': MessageKind(('position',), 'mocap/point'),
    'geometry_msgs/msg/Vector3Stamped': MessageKind(('position',), 'mocap/point'),
    'geometry_msgs/msg/Twist': MessageKind(('twist',), 'applied_velocity', stamped=False),
    'geometry_msgs/msg/TwistStamped': MessageKind(('twist',), 'applied_velocity'),
    'std_msgs/msg/Float64': MessageKind(('reading',), 'gauge', stamped=False, unit=''),
    'std_msgs/msg/Float32': MessageKind(('reading',), 'gauge', stamped=False, unit=''),
    'sensor_msgs/msg/Range': MessageKind(('reading',), 'gauge'),
    'sensor_msgs/msg/BatteryState': MessageKind(('reading',), 'battery', unit='1'),
    'mocap4r2_msgs/msg/RigidBodies': MessageKind(POSE, 'rigid_bodies', bodies=True),
    'motion_capture_tracking_interfaces/msg/NamedPoseArray': MessageKind(
        POSE, 'poses', bodies=True
    ),
    'dial_gauge_msgs/msg/DialGauge': MessageKind(('reading',), 'gauge', unit='mm'),
    'unitree_go/msg/SportModeState': MessageKind(
        POSE_TWIST, 'odommodestate', stamped=False, velocity_frame='world'
    ),
    'unitree_hg/msg/BmsState': MessageKind(('reading',), 'battery', stamped=False, unit='percent'),
}

ANY_FIELD = MessageKind(('reading',), 'gauge', stamped=False, unit='')


def full_name(name: str) -> str:
    """Return pkg/msg/Type for pkg/Type as well."""
    package, _, kind = name.partition('/')
    return f'{package}/msg/{kind}' if kind and '/' not in kind else name


def kind_of(name: str, field: str) -> MessageKind | None:
    """Return what a type gives: a field of any type is one number; None: not understood."""
    return ANY_FIELD if field else CATALOGUE.get(name)
