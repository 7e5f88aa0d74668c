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

The messages may be rclpy's or a bag reader's, since only their fields are used. So online nodes
and replay share this code, and no ROS is needed to read a bag. For sensor messages, see
sensor_messages.py.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from repsq_ros.campaign.records import Case, CountedAttempt, EstimateRecord, TestRecord
from repsq_ros.campaign.result import Result
from repsq_ros.measurement.reasons import Code
from repsq_ros.protocols.phases import Phase, Span
from repsq_ros.sampling.proposals import Draw
from repsq_ros.timebase import from_time

PHASES = {int(phase): phase for phase in Phase}


def command_of_twist(twist: Any) -> tuple[float, float, float]:
    """Turn a Twist into (v_x, v_y, yaw rate)."""
    return (twist.linear.x, twist.linear.y, twist.angular.z)


def span_of(message: Any) -> Span:
    """Convert a TestPhase message to the phase.

    :raises ValueError: with what is wrong: another program made the message
    """
    phase = PHASES.get(message.phase)
    if phase is None:
        raise ValueError(f'phase {message.phase}, expected one of 0 to {max(PHASES)}')
    test = test_of(message)
    window_end_ns = from_time(message.window_end)
    window = (from_time(message.window_start), window_end_ns) if window_end_ns else None
    end_ns, command_ns = (from_time(each) or None for each in (message.end, message.command_start))
    if not hasattr(message, 'cause'):  # of an earlier version: missing fields get their defaults
        given = {'phase': phase, 'index': test.index, 'attempt': test.attempt, 'end_ns': end_ns}
        return Span(**_values(Span, message, **given, window=window, command_ns=command_ns))
    return Span(  # field by field for speed: there are many phases
        phase,
        test.index,
        test.attempt,
        from_time(message.start),
        end_ns,
        tuple(message.command),
        window,
        message.reason,
        command_ns,
        message.step,
        message.broken_off,
        message.cause,
        message.goes_on,
        message.alarm,
    )


def test_of(phase: Any) -> Any:
    """Return the TestCommand of a TestPhase.

    Recordings of version 0.1.0 have only its campaign_id, index and attempt, in the phase itself.
    """
    return getattr(phase, 'test', phase)


def case_of(message: Any) -> Case:
    """Convert a TestCommand to the case."""
    return Case(message.index, message.attempt, draw_of(message))


def test_record_of(message: Any) -> TestRecord:
    """Convert a TestMeasurement to the outcome.

    A psi that is not finite is never valid, whatever the message says, for all listeners alike.
    """
    values = _values(TestRecord, message)
    values['weight_bound'] = values['weight_bound'] or math.inf  # 0: not given
    record = TestRecord(**values)
    numbers = (record.psi * record.weight, record.psi_error, *record.measured)
    if record.valid and not all(map(math.isfinite, numbers)):
        reason = (
            f'psi is {record.psi}, weight {record.weight}, psi_error {record.psi_error}, measured '
            f'{list(record.measured)}; expected finite numbers'
        )
        code = Code.NOT_FINITE.key
        return replace(record, psi=0.0, psi_error=0.0, valid=False, reason=reason, code=code)
    return record


def draw_of(message: Any) -> Draw:
    """Convert a TestCommand to the draw, with the weight as it was drawn."""
    values = _values(Draw, message)
    values['weight_bound'] = values['weight_bound'] or math.inf  # 0: not given
    return Draw(**values)


def estimate_record_of(message: Any) -> EstimateRecord:
    """Convert an Estimate message to the estimate."""
    return EstimateRecord(**_values(EstimateRecord, message))


def counted_of(message: Any) -> CountedAttempt:
    """Convert the message of a counted attempt."""
    return CountedAttempt(
        test_record_of(message.measurement), estimate_record_of(message.estimate)
    )


def result_of(message: Any) -> Result:
    """Convert the message of a result; the verdict of `accept` is only in its guarantee."""
    return Result(**_values(Result, message, verdict='', decided_at=0))


def _values(kind: type[Any], message: Any, **given: Any) -> dict[str, Any]:
    """Return the fields of a record (a dataclass) from message fields with the same names.

    `NAME_ns` is the time stamp NAME. Fields that are missing in recordings of earlier versions
    keep their default.

    :param given: fields that do not come from the message
    :raises AttributeError: a message of this version lacks a field
    """
    recorded = not hasattr(message, 'get_fields_and_field_types')  # made by a bag reader
    values = given
    for name in kind.__dataclass_fields__.keys() - given.keys():
        stamp = name.removesuffix('_ns')
        if stamp != name and hasattr(message, stamp):
            values[name] = from_time(getattr(message, stamp))
        elif hasattr(message, name):
            value = getattr(message, name)
            plain = isinstance(value, str | bool | int | float)
            values[name] = value if plain else tuple(value)
        elif not recorded:
            found = type(message).__name__
            raise AttributeError(f'{found} has no field for {kind.__name__}.{name}')
    return values
