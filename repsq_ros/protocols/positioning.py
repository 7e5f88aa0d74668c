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

"""The positioning protocol: move to a target and back, then measure at the reference."""

from __future__ import annotations

from dataclasses import asdict

from repsq_ros.protocols.endings import Ending, TimedEnding
from repsq_ros.protocols.phases import Phase
from repsq_ros.protocols.protocol import Goal, Positions, Protocol, ProtocolType, Step


def homing_to_reference(move: Ending) -> tuple[Step, ...]:
    """Return the steps to the reference from any pose, with the usual approach."""
    return (
        Step(Phase.RETURN, Goal.REFERENCE_APPROACH, move),
        Step(Phase.RETURN, Goal.REFERENCE, move),
    )


def positioning(
    positions: Positions,
    before_ns: int,
    dwell_ns: int,
    record_ns: int,
    move: Ending,
    settle: Ending,
) -> Protocol:
    """Return the paper's protocol: move to the target, dwell, return, settle, dwell, record.

    :param before_ns: rest at the reference before the move, in which the gauge is zeroed
    :param dwell_ns: rest at the target, and again at the reference
    :param record_ns: measured time after that
    :param move: how the moves end
    :param settle: how settling at the reference ends
    """
    steps = (
        Step(Phase.DWELL, Goal.REFERENCE, TimedEnding(before_ns)),
        Step(Phase.MOVE, Goal.APPROACH, move),
        Step(Phase.MOVE, Goal.TARGET, move),
        Step(Phase.DWELL, Goal.STAY, TimedEnding(dwell_ns)),
        *homing_to_reference(move),
        Step(Phase.SETTLE, Goal.STAY, settle),
        Step(Phase.DWELL, Goal.STAY, TimedEnding(dwell_ns)),
        Step(Phase.RECORD, Goal.STAY, TimedEnding(record_ns), record_ns),
    )
    description: dict[str, object] = {
        'positions': asdict(positions),
        'steps': [step.describe() for step in steps],
    }
    return Protocol(
        ProtocolType.POSITIONING, steps, description, positions, homing_to_reference(move)
    )
