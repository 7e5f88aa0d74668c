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

"""How a phase ends: after a time, once the robot has settled, or when somebody confirms."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple, Protocol

from repsq_ros.keys import key
from repsq_ros.measurement.settling import Settling
from repsq_ros.timebase import to_seconds

LOOK_NS = 200_000_000  # interval of the checks whether the robot has settled
# Delay of these checks: the newest samples may still be on their way.
LATE_NS = 100_000_000
CONFIRM_LOOK_NS = 1_000_000_000  # interval of the checks whether somebody has confirmed


@dataclass(frozen=True)
class PhaseObservation:
    """What is known of a phase when its end is checked."""

    began_ns: int
    end_ns: int  # announced end
    now_ns: int
    confirmed: bool = False  # somebody has confirmed
    body: Settling | None = None  # None: no phase of the protocol needs it
    goal: Sequence[float] | None = None  # commanded position [m]; None: a velocity


class EndState(enum.Enum):
    """Whether a phase has ended."""

    ENDED = enum.auto()
    GOES_ON = enum.auto()
    UNKNOWN = enum.auto()  # the deciding samples are still on their way


class EndJudgement(NamedTuple):
    """Whether a phase has ended, and if not, why."""

    state: EndState
    reason: str = ''  # why it has not ended
    look_ns: int = 0  # until the next check: it cannot end earlier


ENDED, UNKNOWN = EndJudgement(EndState.ENDED), EndJudgement(EndState.UNKNOWN)


def goes_on(reason: str, look_ns: int) -> EndJudgement:
    """Return that a phase goes on, and until when it need not be checked."""
    return EndJudgement(EndState.GOES_ON, reason, look_ns)


def whole_looks(duration_ns: int) -> int:
    """Return the smallest positive multiple of LOOK_NS that is not below a duration.

    Checks that can only find that the body has not settled yet are skipped; the others keep
    their instants.
    """
    return LOOK_NS * max(-(-duration_ns // LOOK_NS), 1)


class Ending(Protocol):
    """A way to end; its fields are what two labs have to share."""

    kind: ClassVar[str]  # its name in the digest of a specification

    @property
    def look_ns(self) -> int:
        """Return the first announced duration of a phase, after which its end is checked."""

    @property
    def least_ns(self) -> int:
        """Return the shortest duration of a phase."""

    @property
    def timeout_ns(self) -> int:
        """Return the time after which the phase is overdue."""

    @property
    def needs_body(self) -> bool:
        """Tell whether it needs samples of the robot's body."""

    @property
    def asks(self) -> bool:
        """Tell whether a person has to confirm."""

    def judge(self, observed: PhaseObservation) -> EndJudgement:
        """Tell whether the phase has ended."""


@dataclass(frozen=True)
class TimedEnding:
    """The phase ends after a fixed time."""

    kind: ClassVar[str] = 'timed'
    duration_ns: int = field(metadata=key('how long the phase takes', name='seconds', above=0))

    needs_body = asks = False
    timeout_ns = 0

    @property
    def look_ns(self) -> int:
        """The whole time, which is known beforehand."""
        return self.duration_ns

    @property
    def least_ns(self) -> int:
        """The whole time."""
        return self.duration_ns

    def judge(self, observed: PhaseObservation) -> EndJudgement:
        """Return that it has ended: the announced time is over."""
        return ENDED


@dataclass(frozen=True)
class SettledEnding:
    """The phase ends when the body has been slow, and near its goal, for a given time.

    The sensor of the body decides, never the robot's own controller.
    """

    kind: ClassVar[str] = 'settled'
    timeout_ns: int = field(
        default=30_000_000_000, metadata=key('the campaign pauses after it', above=0)
    )
    hold_ns: int = field(
        default=500_000_000,
        metadata=key('time for which both must hold', at_least=to_seconds(LATE_NS)),
    )
    speed: float = field(
        default=0.02, metadata=key('the body is slower than this', 'm/s', above=0)
    )
    # Ignored for velocities.
    within: float = field(
        default=0.01,
        metadata=key('the body is within this of the commanded position', 'm', above=0),
    )

    needs_body, asks = True, False

    @property
    def look_ns(self) -> int:
        """The shortest possible time: at rest from the beginning."""
        return whole_looks(self.hold_ns + LATE_NS)

    @property
    def least_ns(self) -> int:
        """The time for which the body has to be at rest."""
        return self.hold_ns

    def judge(self, observed: PhaseObservation) -> EndJudgement:
        """Judge by the newest samples, once they cover the time in question."""
        assert observed.body is not None
        until_ns = observed.end_ns - LATE_NS
        newest_ns = observed.body.newest_ns
        if newest_ns is None or newest_ns < until_ns:
            if observed.now_ns - observed.began_ns < self.timeout_ns:
                return UNKNOWN
            if newest_ns is None:
                return goes_on('no sample of the body was heard', LOOK_NS)
            behind = to_seconds(observed.now_ns - newest_ns)
            return goes_on(f'the newest sample of the body is {behind:.3f} s behind', LOOK_NS)
        start_ns = until_ns - self.hold_ns
        moves = observed.body.why_unsettled(
            start_ns, until_ns, self.speed, observed.goal, self.within
        )
        if moves is None:
            return ENDED
        # The time at rest restarts after the last sample away from the goal.
        away_ns = start_ns if moves.away_ns is None else moves.away_ns + 1
        return goes_on(moves.reason, whole_looks(away_ns - start_ns))


@dataclass(frozen=True)
class ConfirmedEnding:
    """The phase ends when a person confirms."""

    kind: ClassVar[str] = 'confirmed'
    timeout_ns: int = field(
        default=3_600_000_000_000, metadata=key('the campaign pauses after it', above=0)
    )

    needs_body, asks = False, True
    look_ns = least_ns = CONFIRM_LOOK_NS

    def judge(self, observed: PhaseObservation) -> EndJudgement:
        """Tell whether a person has confirmed."""
        return ENDED if observed.confirmed else goes_on('nobody has confirmed it', self.look_ns)
