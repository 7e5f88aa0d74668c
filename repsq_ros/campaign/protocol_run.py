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

"""The phases of one attempt at a test: when each ends, and which one follows."""

from __future__ import annotations

from repsq_ros.measurement.samples import Samples
from repsq_ros.measurement.settling import Settling
from repsq_ros.protocols.command_space import Command, CommandKind
from repsq_ros.protocols.endings import EndJudgement, EndState, PhaseObservation
from repsq_ros.protocols.phases import BEGUN, Span
from repsq_ros.protocols.protocol import Protocol, Step
from repsq_ros.timebase import to_seconds


class OverdueError(Exception):
    """A phase did not end in time; the message says what it waited for."""


class ProtocolRun:
    """Runs the steps of a protocol, at times given by the caller.

    :param settling: detects when the body has settled; None: no step needs it
    """

    def __init__(self, protocol: Protocol, settling: Settling | None) -> None:
        self._protocol, self._settling = protocol, settling
        self._steps: tuple[Step, ...] = ()
        self._first = 0  # number of the first step; negative if the robot is led home first
        self._place = 0
        self._target: Command = protocol.rest
        self._began_ns = 0  # start of the current step
        self._command_ns: int | None = None  # when the command of the case took effect
        self._confirmed = False
        self.span: Span | None = None  # the current phase, or the last one

    def begin(self, index: int, attempt: int, target: Command, start_ns: int, home: bool) -> Span:
        """Begin an attempt.

        :param target: the command of the case
        :param home: the robot may be anywhere: lead it to the start of a test first
        """
        homing = self._protocol.homing if home else ()
        self._steps = (*homing, *self._protocol.steps)
        self._first, self._place = -len(homing), 0
        self._target, self._command_ns = target, None
        before = self.span.command if self.span is not None else self._protocol.rest
        return self._enter(index, attempt, start_ns, before)

    def confirm(self) -> bool:
        """End a phase that waits for a confirmation; false if no phase waits."""
        awaited = not self.over and self._step.ending.asks
        self._confirmed = self._confirmed or awaited
        return awaited

    def on_body(self, sample: Samples) -> None:
        """Add a sample of the body."""
        if self._settling is not None:
            self._settling.add(sample)

    @property
    def over(self) -> bool:
        """True before the first step begins and after the last one has ended."""
        return self._place >= len(self._steps)

    @property
    def commanded(self) -> bool:
        """True once the command of the case has taken effect."""
        return self._command_ns is not None

    @property
    def _step(self) -> Step:
        return self._steps[self._place]

    def _enter(self, index: int, attempt: int, now_ns: int, before: Command) -> Span:
        step = self._step
        self._began_ns, self._confirmed = now_ns, False
        if self._command_ns is None and step.phase in BEGUN:
            self._command_ns = now_ns
        command = self._protocol.command(step.goal, self._target, before)
        self.span = self._announce(index, attempt, now_ns, command, step.look_ns)
        return self.span

    def _announce(
        self, index: int, attempt: int, now_ns: int, command: Command, look_ns: int
    ) -> Span:
        step, end_ns = self._step, now_ns + look_ns
        window = (end_ns - step.window_ns, end_ns) if step.window_ns else None
        earlier = window is not None and self._command_ns != now_ns
        return Span(
            step.phase,
            index,
            attempt,
            now_ns,
            end_ns,
            command,
            window,
            command_ns=self._command_ns if earlier else None,
            step=self._first + self._place,
        )

    def follow(self, now_ns: int) -> Span | None:
        """Return the phase that begins now or is prolonged; None if nothing is due or all is over.

        A phase begins when this is called, not at the planned end of the previous one: a command
        that was sent late gets its full duration.

        :raises OverdueError: the current phase has exceeded its timeout
        """
        span = self.span
        if self.over or span is None or span.end_ns is None or now_ns < span.end_ns:
            return None
        judgement = self._judge(span, now_ns)
        if judgement.state is EndState.UNKNOWN:
            return None
        if judgement.state is EndState.GOES_ON:
            timeout_ns = self._step.ending.timeout_ns
            if now_ns - self._began_ns >= timeout_ns:
                raise OverdueError(
                    f'{span.phase.name} of test {span.index} did not end within '
                    f'{to_seconds(timeout_ns):g} s: {judgement.reason}'
                )
            self.span = self._announce(
                span.index, span.attempt, now_ns, span.command, judgement.look_ns
            )
            return self.span
        self._place += 1
        if self.over:
            return None
        return self._enter(span.index, span.attempt, now_ns, span.command)

    def _judge(self, span: Span, now_ns: int) -> EndJudgement:
        assert span.end_ns is not None
        goal = (
            span.command[:3] if self._protocol.kind == CommandKind.POSE and span.command else None
        )
        observed = PhaseObservation(
            self._began_ns, span.end_ns, now_ns, self._confirmed, self._settling, goal
        )
        return self._step.ending.judge(observed)
