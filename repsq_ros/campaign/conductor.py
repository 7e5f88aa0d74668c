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

"""The state machine of a campaign: what happens next, given times and answers.

It knows no clock and no ROS. The scheduler node and the in-process run share it, so they behave
the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from repsq_ros.campaign.answers import Answers
from repsq_ros.campaign.cases import CaseSource
from repsq_ros.campaign.losses import CUT_SHORT
from repsq_ros.campaign.obedience import did_not_move
from repsq_ros.campaign.protocol_run import OverdueError, ProtocolRun
from repsq_ros.campaign.records import Case, CountedAttempt, EstimateRecord, TestRecord
from repsq_ros.measurement.limits import Unanswered
from repsq_ros.measurement.reasons import Code
from repsq_ros.measurement.recorder import Key
from repsq_ros.measurement.samples import Samples
from repsq_ros.measurement.settling import Settling
from repsq_ros.measurement.unanswered import is_clear
from repsq_ros.protocols.command_space import Command
from repsq_ros.protocols.phases import Cause, Phase, Span
from repsq_ros.sampling.proposals import Proposal
from repsq_ros.specification.model import Specification

Action = Case | Span | CountedAttempt


class Conductor:
    """Draws cases, runs the phases of each test, and waits for its two answers.

    A test is over when its phases have ended and both answers have come: its measurement, from
    which the proposal learns, and the estimate after it, which decides whether to stop.

    :param attended: a person is present: a test that stays INVALID pauses the campaign instead of
        ending it
    """

    def __init__(
        self, specification: Specification, proposal: Proposal, seed: int, attended: bool = False
    ) -> None:
        self._specification = specification
        self._protocol = specification.protocol
        feedback = specification.feedback
        self._walk = ProtocolRun(self._protocol, None if feedback is None else Settling(feedback))
        self._at_home = False  # the robot is known to be at the test's starting pose
        self._cases = CaseSource(specification, proposal, seed)
        self._attended = attended
        self.case: Case | None = None  # the case under test
        self._answers = Answers()
        # Why the current attempt was broken off, and who caused it.
        self._broken_off: tuple[str, Cause] = ('', Cause.OPERATOR)
        self._next = (0, 0)  # (index, attempt) of the first test to run
        self._cut_short = False  # the journal ends within that attempt
        self._over = False  # the journal's tests have already met the stopping rule
        self._limit = specification.tester.max_attempts  # largest number of attempts at one test
        self._unanswered = 0  # attempts in a row in which the robot ignored the command
        self._interrupted: Span | None = None  # phase that a pause interrupted
        self._not_before_ns = 0  # earliest start of the next attempt
        self.span: Span | None = None  # the current phase

    def restore(
        self, tests: Sequence[TestRecord], stopped: bool, cut_short: Key | None = None
    ) -> None:
        """Load the tests of a journal, in their order, before the start.

        :param stopped: these tests have met the stopping rule
        :param cut_short: (index, attempt) that was under way when the journal ends: its command
            may have begun, so it counts as broken off
        """
        for test in tests:
            self._cases.learn(test)
            self._next = test.follower
        self._over = stopped
        self._cut_short = cut_short == self._next
        self._limit = self._next[1] + self._specification.tester.max_attempts

    @property
    def finished(self) -> bool:
        """True once the campaign is done or aborted."""
        return self.span is not None and self.span.phase in (Phase.DONE, Phase.ABORTED)

    @property
    def paused(self) -> bool:
        """True while the campaign is paused."""
        return self.span is not None and self.span.phase is Phase.PAUSED

    @property
    def waiting(self) -> bool:
        """True between two attempts while an answer or a case is missing."""
        return self._answers.due and not self.paused and not self.finished

    @property
    def awaits_case(self) -> bool:
        """True while an external program has not delivered the next case."""
        return self.waiting and self._answers.told

    @property
    def outcome_awaited(self) -> bool:
        """True after an attempt until it is counted, even if the campaign is paused or aborted."""
        return self._answers.due and not self._answers.told

    @property
    def walking(self) -> bool:
        """True while the phases of an attempt are under way."""
        return self.span is not None and self.span is self._walk.span and not self._answers.due

    @property
    def commanded(self) -> bool:
        """True from when the case takes effect until its phases are over."""
        return self.walking and self._walk.commanded

    @property
    def can_start(self) -> bool:
        """True once the first case can be drawn."""
        return self._over or self._cases.ready(self._next[0])

    def command(self, now_ns: int) -> Command:
        """Return the command at an instant: rest before a phase begins and after it ends."""
        rest = self._protocol.rest
        return rest if self.span is None else self.span.command_at(now_ns, rest)

    # Requests ------------------------------------------------------------------------------------

    def start(self, start_ns: int) -> list[Action]:
        """Begin with test 0, or where the journal ended.

        :param start_ns: when the first phase starts
        """
        if self.span is not None:
            raise RuntimeError('the campaign has begun already')
        if self._over:
            return [self._at_rest(Phase.DONE, start_ns)]
        actions = self._issue(*self._next, start_ns)
        if not (self._cut_short or self._answers.measured):
            return actions
        # The scheduler was killed during it. The peers know its outcome; else it is broken off.
        self._answers.due, self._not_before_ns = True, start_ns
        self._broken_off = CUT_SHORT, Cause.OPERATOR  # somebody may have ended it on purpose
        self.span = self._idle(start_ns)
        return [actions[0], self.span, *self._decide(start_ns)]

    def advance(self, now_ns: int) -> list[Action]:
        """Return all actions that are due by now, in order."""
        actions: list[Action] = []
        while self.span is not None and self.span is self._walk.span:
            try:
                follows = self._walk.follow(now_ns)
            except OverdueError as error:
                return actions + self.ask(now_ns, str(error), Cause.INSTRUMENT)
            if follows is None and not self._walk.over:
                break
            if follows is None:
                self._at_home = self._answers.due = True
                follows = self._idle(now_ns, self.span.command)
            self.span = follows
            actions.append(follows)
        return actions + self._decide(now_ns)

    def pause(
        self,
        now_ns: int,
        reason: str,
        goes_on: bool = False,
        cause: Cause = Cause.OPERATOR,
    ) -> list[Action]:
        """Pause the campaign: a span with the command at rest, until `resume`.

        An attempt whose command had begun is broken off and gets its own record.

        :param goes_on: the campaign will resume by itself
        :param cause: who caused the loss
        """
        span = self.span
        if span is None or span.phase is Phase.ABORTED:
            return []
        if not self.paused:
            self._interrupted, self._at_home = span, False
        self.span = replace(self._break_off(Phase.PAUSED, now_ns, reason, cause), goes_on=goes_on)
        return [self.span]

    def resume(self, now_ns: int, start_ns: int) -> list[Action]:
        """Resume: the case that a pause broke off is repeated, at the given time."""
        case, interrupted = self.case, self._interrupted
        if not self.paused or case is None or interrupted is None:
            return []
        self._interrupted = None
        if interrupted.phase is Phase.DONE:
            self.span = interrupted
            return [interrupted]
        if not self._answers.due:
            return self._issue(case.index, case.attempt, start_ns)
        # Repeat what is known of the attempt, for peers that have missed it.
        self._not_before_ns = start_ns
        self.span = self._idle(start_ns)
        return [self.span, *self._decide(now_ns)]

    def skip(self, now_ns: int, reason: str) -> list[Action]:
        """Skip the case under test, unless it has been measured; it is not repeated."""
        case, answers, held = self.case, self._answers, self.span
        if case is None or held is None or self.finished:
            return []
        actions: list[Action] = []
        record = answers.measured
        if record is None and answers.due and (held.phase is not Phase.IDLE or held.broken_off):
            return []  # already skipped, or its record is on the way
        if record is not None:
            if not (answers.told and self.paused) or record.valid or record.skipped:
                return []
            # This attempt is over: the next one is skipped before it begins.
            actions.append(self._begin(Case(case.index, case.attempt + 1, case.draw)))
        actions.append(self._break_off(Phase.SKIPPED, now_ns, reason))
        self._at_home, answers.due = False, True
        if held.phase is Phase.PAUSED:
            actions.append(self._at_rest(Phase.PAUSED, now_ns, held.reason))
        return actions

    def abort(self, now_ns: int, reason: str, cause: Cause = Cause.OPERATOR) -> list[Action]:
        """Abort the campaign: a span with the command at rest."""
        if self.finished:
            return []
        return [self._break_off(Phase.ABORTED, now_ns, reason, cause)]

    def ask(self, now_ns: int, reason: str, cause: Cause = Cause.OPERATOR) -> list[Action]:
        """Pause the campaign if somebody can resume it, else abort it."""
        if self._attended:
            return self.pause(now_ns, reason, cause=cause)
        return self.abort(now_ns, reason, cause)

    def confirm(self) -> bool:
        """End a phase that waits for a confirmation; false if no phase waits."""
        return self.span is not None and self.span is self._walk.span and self._walk.confirm()

    def on_body(self, sample: Samples) -> None:
        """Add a sample of the body, for phases that end once it has settled."""
        self._walk.on_body(sample)

    def on_measurement(self, record: TestRecord) -> None:
        """Accept the measurement of the current attempt; others are ignored."""
        self._answers.on_measurement(record)

    def on_estimate(self, estimate: EstimateRecord) -> None:
        """Accept the estimate that counts the current attempt; others are ignored."""
        self._answers.on_estimate(estimate)

    # Internal steps ------------------------------------------------------------------------------

    @property
    def _key(self) -> tuple[int, int]:
        return (self.case.index, self.case.attempt) if self.case else (0, 0)

    def _break_off(
        self, phase: Phase, now_ns: int, reason: str, cause: Cause = Cause.OPERATOR
    ) -> Span:
        """Return the span that ends the current phase, and note whether an attempt was lost."""
        begun = self.commanded
        span = self._at_rest(phase, now_ns, reason)
        if begun:
            self._answers.due, self._broken_off = True, (reason, cause)
            self.span = span = replace(span, broken_off=True, cause=cause.value)
        return span

    def _at_rest(self, phase: Phase, now_ns: int, reason: str = '') -> Span:
        self.span = Span(phase, *self._key, now_ns, None, self._protocol.rest, reason=reason)
        return self.span

    def _idle(self, now_ns: int, last: Command = ()) -> Span:
        """Return the span between tests; a robot that takes poses keeps its last goal."""
        command = self._protocol.rest or last
        reason, cause = self._broken_off
        idle = Span(Phase.IDLE, *self._key, now_ns, now_ns, command, reason=reason)
        return replace(idle, broken_off=True, cause=cause.value) if reason else idle

    def _issue(self, index: int, attempt: int, start_ns: int) -> list[Action]:
        if self.case is not None and self.case.index == index:
            draw = self.case.draw
        else:
            draw = self._cases.draw(index)
        case = self._begin(Case(index, attempt, draw))
        target = self._protocol.target(self._specification.box.names, draw.x)
        self.span = self._walk.begin(index, attempt, target, start_ns, not self._at_home)
        return [case, self.span]

    def _begin(self, case: Case) -> Case:
        self.case, self._not_before_ns = case, 0
        self._broken_off = '', Cause.OPERATOR
        self._answers.await_answers(self._key)
        return case

    def _decide(self, now_ns: int) -> list[Action]:
        case, answers = self.case, self._answers
        measured, estimated = answers.measured, answers.estimated
        if not (answers.due and case and measured and estimated) or self.finished:
            return []
        actions: list[Action] = []
        if not answers.told:
            answers.told = True
            actions.append(CountedAttempt(measured, estimated))
            self._cases.learn(measured)
            self._notice_answer(case, measured)
            if estimated.question and self._attended and not (self.paused or estimated.stopped):
                reason = f'{estimated.question}; resume if the robot does just that, else abort'
                return actions + self.pause(now_ns, reason, cause=Cause.INSTRUMENT)
        if self.paused:
            return actions
        if estimated.stopped:
            return [*actions, self._at_rest(Phase.DONE, now_ns)]
        limits = self._specification.measure.limits
        if limits.unanswered == Unanswered.ASK and 0 < limits.obeys <= self._unanswered:
            self._unanswered = 0
            return actions + self.ask(now_ns, did_not_move(limits.obeys), Cause.INSTRUMENT)
        start_ns = max(now_ns, self._not_before_ns)
        if measured.valid or measured.skipped:
            self._limit = self._specification.tester.max_attempts
            if not self._cases.ready(case.index + 1):
                return actions
            return actions + self._issue(case.index + 1, 0, start_ns)
        # A broken-off attempt does not count towards max_attempts.
        self._limit += measured.broken_off
        if case.attempt + 1 < self._limit:
            return actions + self._issue(case.index, case.attempt + 1, start_ns)
        reason = (
            f'test {case.index} stayed INVALID in {case.attempt + 1} attempts, the last one: '
            f'{measured.reason}'
        )
        self._limit = case.attempt + 1 + self._specification.tester.max_attempts
        return actions + self.ask(now_ns, reason, Cause.INSTRUMENT)

    def _notice_answer(self, case: Case, measured: TestRecord) -> None:
        """Count attempts in a row without an answer; a slow command is no evidence."""
        if measured.code == Code.UNANSWERED.key:
            self._unanswered += 1
        elif measured.valid and is_clear(
            self._protocol.target(self._specification.box.names, case.draw.x),
            self._specification.measure.limits.least_speed,
        ):
            self._unanswered = 0
