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

"""Messages to plain values of the core.

The messages may be rclpy's or a bag reader's: only their fields count. So online and replay share
every line of this, and no ROS is needed to read a bag. Sensors: repsq_ros.sensor_messages.
"""

from __future__ import annotations

import math
from typing import Any

from repsq_ros.campaign.records import EstimateRecord, TestRecord
from repsq_ros.campaign.result import Result
from repsq_ros.protocols.phases import Phase, Span
from repsq_ros.sampling.proposals import Draw
from repsq_ros.timebase import from_time


def command_of_twist(twist: Any) -> tuple[float, float, float]:
    """Turn a Twist into (v_x, v_y, yaw rate)."""
    return (twist.linear.x, twist.linear.y, twist.angular.z)


def span_of(message: Any) -> Span:
    """Turn the record of a phase back into the phase."""
    end_ns, window_end_ns = from_time(message.end), from_time(message.window_end)
    return Span(
        Phase(message.phase),
        message.index,
        message.attempt,
        from_time(message.start),
        end_ns or None,
        tuple(message.command),
        (from_time(message.window_start), window_end_ns) if window_end_ns else None,
        message.reason,
        from_time(message.command_start) or None,
        message.step,
    )


def test_record_of(message: Any) -> TestRecord:
    """Turn the record of an outcome back into the outcome."""
    return TestRecord(
        message.index,
        message.attempt,
        message.psi,
        message.weight,
        message.valid,
        message.reason,
        message.samples,
        from_time(message.window_start),
        from_time(message.window_end),
        tuple(message.x),
        message.weight_bound or math.inf,  # 0: not given
        message.skipped,
    )


def draw_of(message: Any) -> Draw:
    """Turn the record of a case back into the case."""
    return Draw(tuple(message.x), message.log_p, message.log_q, message.weight_bound or math.inf)


def _values(kind: type[EstimateRecord] | type[Result], message: Any) -> dict[str, Any]:
    """Return the fields of a record from the fields of the same names of its message."""
    return {name: getattr(message, name) for name in kind.__dataclass_fields__}


def estimate_record_of(message: Any) -> EstimateRecord:
    """Turn the message of an estimate back into the estimate."""
    return EstimateRecord(**_values(EstimateRecord, message))


def result_of(message: Any) -> Result:
    """Turn the message of a result back into the result."""
    return Result(**{**_values(Result, message), 'events': tuple(message.events)})
