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

"""Plain values of the core to ROS messages. Every number is cast, since rclpy does not check.

The other direction is repsq_ros.messages, which the bag readers share.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from builtin_interfaces.msg import Time
from geometry_msgs.msg import PoseStamped, Twist, TwistStamped

from repsq_ros.campaign.records import Case, CountedAttempt, EstimateRecord, TestRecord
from repsq_ros.campaign.result import Result
from repsq_ros.measurement.catalogue import CATALOGUE
from repsq_ros.msg import (
    CountedTest,
    Estimate,
    QuantizedResult,
    TestCommand,
    TestMeasurement,
    TestPhase,
)
from repsq_ros.protocols.phases import Span
from repsq_ros.protocols.straight_line import ToolPose
from repsq_ros.simulation.simulated_sensors import SENSORS, SensorReading, sample_of
from repsq_ros.specification.model import Specification
from repsq_ros.timebase import NANOSECONDS


def to_time(nanoseconds: int) -> Time:
    """Turn ns since the epoch into a stamp."""
    seconds, rest = divmod(int(nanoseconds), NANOSECONDS)
    return Time(sec=seconds, nanosec=rest)


# Sensors -----------------------------------------------------------------------------------------


def sensor_message_of(reading: SensorReading, kind: type) -> Any:
    """Convert the report of a simulated sensor to its message.

    :param kind: class of the sensor's message
    """
    sensor, message = SENSORS[reading.sensor], kind()
    about = CATALOGUE[sensor.type]
    assert about.fill is not None
    about.fill(message, sample_of(reading, sensor.frame))
    if about.stamped:
        message.header.stamp = to_time(reading.stamp_ns)
    return message


# Commands ----------------------------------------------------------------------------------------


def _fill_twist(twist: Twist, components: tuple[float, ...]) -> None:
    twist.linear.x, twist.linear.y, twist.linear.z = map(float, components[:3])
    twist.angular.x, twist.angular.y, twist.angular.z = map(float, components[3:])


def twist_of(command: tuple[float, ...]) -> Twist:
    """Turn a locomotion command (v_x, v_y, yaw rate) into a Twist."""
    twist = Twist()
    _fill_twist(twist, (command[0], command[1], 0.0, 0.0, 0.0, command[2]))
    return twist


def twist_stamped_of(command: tuple[float, ...], stamp_ns: int, frame: str) -> TwistStamped:
    """Turn a locomotion command into a TwistStamped."""
    message = TwistStamped(twist=twist_of(command))
    message.header.stamp = to_time(stamp_ns)
    message.header.frame_id = frame
    return message


def pose_stamped_of(pose: ToolPose, stamp_ns: int, frame: str) -> PoseStamped:
    """Turn the pose of a tool into a PoseStamped."""
    message = PoseStamped()
    message.header.stamp = to_time(stamp_ns)
    message.header.frame_id = frame
    place, turn = message.pose.position, message.pose.orientation
    place.x, place.y, place.z = map(float, pose.position)
    turn.x, turn.y, turn.z, turn.w = map(float, pose.orientation)
    return message


# Records of the campaign -------------------------------------------------------------------------


def test_command_of(
    case: Case, specification: Specification, campaign_id: str, stamp_ns: int
) -> TestCommand:
    """Turn a case into its record."""
    message = TestCommand(
        campaign_id=campaign_id,
        specification_digest=specification.digest,
        names=list(specification.box.names),
        units=list(specification.box.units),
    )
    message.header.stamp = to_time(stamp_ns)
    filled = ('campaign_id', 'specification_digest', 'names', 'units')
    return _filled(message, case, case.draw, other=filled)


def test_phase_of(span: Span, test: TestCommand, names: tuple[str, ...]) -> TestPhase:
    """Turn a phase into its record.

    :param test: the attempt of the phase
    :param names: of the dimensions of a command
    """
    made = TestPhase(test=test, names=list(names) if span.command else [])
    filled = ('test', 'names', 'window_start', 'window_end', 'command_start')
    message = _filled(made, span, other=filled)
    message.header.stamp = message.start
    if span.window is not None:
        message.window_start, message.window_end = map(to_time, span.window)
    if span.command_ns is not None:
        message.command_start = to_time(span.command_ns)
    return message


def test_measurement_of(
    record: TestRecord, campaign_id: str, digest: str, frame: str
) -> TestMeasurement:
    """Turn the outcome of a test into its record."""
    message = TestMeasurement(campaign_id=campaign_id, specification_digest=digest)
    _filled(message, record, other=('campaign_id', 'specification_digest'))
    message.header.stamp = message.window_end
    message.header.frame_id = frame
    return message


def estimate_of(estimate: EstimateRecord, campaign_id: str, stamp: Time) -> Estimate:
    """Turn an estimate into its message."""
    message = _filled(Estimate(campaign_id=campaign_id), estimate, other=('campaign_id',))
    message.header.stamp = stamp
    return message


def counted_test_of(
    counted: CountedAttempt, specification: Specification, campaign_id: str, stamp: Time
) -> CountedTest:
    """Turn an attempt that was counted, with the estimate after it, into its message."""
    return CountedTest(
        names=list(specification.box.names),
        units=list(specification.box.units),
        measurement=test_measurement_of(counted.record, campaign_id, specification.digest, ''),
        estimate=estimate_of(counted.estimate, campaign_id, stamp),
    )


def quantized_result_of(result: Result, stamp: Time) -> QuantizedResult:
    """Turn a result into its message."""
    message = _filled(QuantizedResult(), result)
    message.header.stamp = stamp
    return message


CASTS: dict[str, Callable[[Any], object]] = {
    'double': float,
    'boolean': bool,
    'string': str,
    'builtin_interfaces/Time': to_time,
    'sequence<double>': lambda values: [float(value) for value in values],
    'sequence<string>': lambda values: [str(value) for value in values],
    **dict.fromkeys(('uint8', 'int32', 'uint32', 'uint64'), int),
}


def _filled(message: Any, *records: object, other: tuple[str, ...] = ()) -> Any:
    """Fill a message's fields from the fields of records with the same names, and return it.

    A time stamp NAME comes from `NAME_ns`; None leaves the default.

    :param other: fields of the message that are filled elsewhere
    :raises AttributeError: no record has one of the message's fields
    """
    for name, kind in message.get_fields_and_field_types().items():
        if name in other or name == 'header':
            continue
        field = f'{name}_ns' if kind == 'builtin_interfaces/Time' else name
        owner = next((record for record in records if hasattr(record, field)), None)
        if owner is None:
            raise AttributeError(f'{type(message).__name__}.{name}: nothing to fill it from')
        value = getattr(owner, field)
        if value is not None:
            setattr(message, name, CASTS[kind](value))
    return message
