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

"""Health levels, with the same meaning for every node, sensor and peer."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from repsq_ros.campaign.records import EstimateRecord
from repsq_ros.protocols.phases import Phase, Span


class Level(enum.IntEnum):
    """As in diagnostic_msgs/DiagnosticStatus."""

    OK = 0  # works
    WARN = 1  # unusual, but continues by itself
    ERROR = 2  # a person has to act, or a result is in doubt
    STALE = 3  # no message


@dataclass(frozen=True)
class Health:
    """One status line."""

    name: str
    level: Level
    text: str


def scheduler_health(
    span: Span | None, blockers: Callable[[], Sequence[str]]
) -> tuple[Level, str]:
    """Return the health of a scheduler.

    :param blockers: returns what keeps it from starting; called only before the start
    """
    if span is None:
        waits = '; '.join(blockers())
        return (Level.WARN, f'not yet: {waits}') if waits else (Level.OK, 'about to begin')
    if span.phase is Phase.ABORTED:
        return Level.ERROR, f'aborted: {span.reason}'
    if span.phase is Phase.PAUSED:
        if span.goes_on:
            return Level.WARN, f'held, goes on by itself: {span.reason}'
        return Level.ERROR, f'held until ~/resume: {span.reason}'
    if span.phase is Phase.DONE:
        return Level.OK, 'done'
    return Level.OK, f'test {span.index}, attempt {span.attempt}: {span.phase.name}'


def estimator_health(latest: EstimateRecord | None, refused: int) -> tuple[Level, str]:
    """Return the health of an estimator.

    :param refused: measurements that it did not count
    """
    if refused:
        return Level.ERROR, f'{refused} measurements not counted: see its log'
    if latest is None:
        return Level.OK, 'no test counted yet'
    if latest.note:
        return Level.WARN, latest.note
    return Level.OK, f'{latest.n} tests counted'


def guard_health(watching: bool, stopping: bool, interventions: int) -> tuple[Level, str]:
    """Return the health of a guard.

    :param watching: the scheduler's heartbeat is alive
    :param stopping: stop commands are being sent
    """
    if stopping:
        return Level.ERROR, 'stops the robot: no sign of life from the scheduler'
    if not watching:
        return Level.WARN, 'no sign of life from the scheduler'
    if interventions:
        return Level.WARN, f'has stopped the robot {interventions} times'
    return Level.OK, 'watches the scheduler'
