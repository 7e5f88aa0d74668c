"""What happens next in a campaign: a state machine over given times and given answers.

It knows no clock and no ROS. The scheduler node and the in-process run obey the same one, so that
they cannot disagree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from repsq_ros.campaign.records import Case, EstimateRecord, TestRecord
from repsq_ros.campaign.walk import OverdueError, Walk
from repsq_ros.errors import CampaignError
from repsq_ros.measurement.samples import Sample
from repsq_ros.measurement.settling import Settling
from repsq_ros.protocols.command_space import Command
from repsq_ros.protocols.phases import Phase, Span
from repsq_ros.sampling.proposals import Proposal
from repsq_ros.specification.model import Specification


@dataclass(frozen=True)
class Counted:
    """A test is over, and both its answers have come: it belongs into the journal."""

    record: TestRecord


@dataclass(frozen=True)
class Skipped:
    """The operator skips a case: this stands for its measurement."""

    record: TestRecord


Action = Case | Span | Counted | Skipped


class Conductor:
    """Draws cases, walks through the phases of each test, and waits for its two answers.

    A test is over when its phases are over and both its measurement (for the proposal to learn
    from) and the estimate that counts it (which tells whether to stop) have come.

    :param seed: of the cases; case i comes from a generator of its own, seeded by (seed, i)
    :param attended: somebody is there: a test that stays INVALID pauses the campaign, and does
        not end it
    """

    def __init__(
        self,
        specification: Specification,
        proposal: Proposal,
        seed: int,
        attended: bool = False,
    ) -> None:
        self._specification = specification
        self._protocol = specification.protocol
        feedback = specification.feedback
        self._walk = Walk(self._protocol, None if feedback is None else Settling(feedback))
        self._at_home = False  # the robot is known to be where a test begins
        self._proposal = proposal
        self._seed = seed
        self._attended = attended
        self.case: Case | None = None  # under test
        self._measured: TestRecord | None = None
        self._estimated: EstimateRecord | None = None
        self._told = False  # the proposal has heard of the test under way
        self._next = (0, 0)  # (index, attempt) that the campaign begins with
        self._over = False  # the journal's tests have met the stopping rule already
        self._limit = specification.tester.max_attempts  # of attempts, before it is asked or ended
        self._interrupted: Span | None = None  # what a pause set aside
        # What peers that outlived a scheduler still say, before the start.
        self._early_measured: dict[tuple[int, int], TestRecord] = {}
        self._early_estimated: dict[tuple[int, int], EstimateRecord] = {}
        self.span: Span | None = None  # the phase in force

    def restore(self, tests: Sequence[TestRecord], stopped: bool) -> None:
        """Take in the tests of a journal, in their order, before the start.

        :param stopped: with them the stopping rule was met
        """
        for test in tests:
            if test.valid:
                self._proposal.tell(test.x, test.psi, test.weight)
            over = test.valid or test.skipped
            self._next = (test.index + 1, 0) if over else (test.index, test.attempt + 1)
        self._over = stopped
        self._limit = self._next[1] + self._specification.tester.max_attempts

    @property
    def finished(self) -> bool:
        """True once the campaign is done or aborted."""
        return self.span is not None and self.span.phase in (Phase.DONE, Phase.ABORTED)

    @property
    def paused(self) -> bool:
        """True while the campaign is held."""
        return self.span is not None and self.span.phase is Phase.PAUSED

    @property
    def waiting(self) -> bool:
        """True while the phases of a test are over and its answers have not all come."""
        return self.span is not None and self.span.phase is Phase.IDLE

    @property
    def awaits_case(self) -> bool:
        """True while a test is over and the next case has not been drawn by another program."""
        return self.waiting and self._told

    @property
    def can_start(self) -> bool:
        """True once the first case can be drawn."""
        return self._over or self._proposal.ready(self._next[0])

    def command(self, now_ns: int) -> Command:
        """Return the command in force at an instant: rest before a phase begins and after it.

        After it, a robot that takes poses keeps its goal until it is given another.
        """
        span = self.span
        if span is None or now_ns < span.start_ns:
            return self._protocol.rest
        lapsed = span.end_ns is not None and now_ns >= span.end_ns
        return self._protocol.rest if lapsed and self._protocol.rest else span.command

    # What is asked of it -------------------------------------------------------------------------

    def start(self, start_ns: int) -> list[Action]:
        """Begin with test 0, or where a journal ended.

        :param start_ns: when the first phase starts
        """
        if self.span is not None:
            raise RuntimeError('the campaign has begun already')
        if self._over:
            return [self._at_rest(Phase.DONE, start_ns)]
        actions = self._issue(*self._next, start_ns)
        if self._next not in self._early_measured or self._next not in self._early_estimated:
            return actions
        # It was measured and counted before a crash, and only the journal does not know.
        self._measured = self._early_measured[self._next]
        self._estimated = self._early_estimated[self._next]
        self.span = self._idle(start_ns)
        return [self.span, *self._decide(start_ns)]

    def advance(self, now_ns: int) -> list[Action]:
        """Return what has become due by now, in order."""
        actions: list[Action] = []
        while self.span is not None and self.span is self._walk.span:
            try:
                follows = self._walk.follow(now_ns)
            except OverdueError as error:
                return actions + self.ask(now_ns, str(error))
            if follows is None and not self._walk.over:
                break
            if follows is None:
                self._at_home = True
                follows = self._idle(now_ns, self.span.command)
            self.span = follows
            actions.append(follows)
        return actions + self._decide(now_ns)

    def pause(self, now_ns: int, reason: str) -> list[Action]:
        """Hold the campaign: a span with the command at rest, until `resume`."""
        span = self.span
        if span is None or self.paused or span.phase is Phase.ABORTED:
            return []
        self._interrupted, self._at_home = span, False
        return [self._at_rest(Phase.PAUSED, now_ns, reason)]

    def resume(self, now_ns: int, start_ns: int) -> list[Action]:
        """Go on: the attempt that a pause broke off begins anew, at the given time."""
        case, interrupted = self.case, self._interrupted
        if not self.paused or case is None or interrupted is None:
            return []
        self._interrupted = None
        if interrupted.phase is Phase.DONE:
            self.span = interrupted
            return [interrupted]
        if self._told or self._measured is not None:
            # It was measured before the pause; only the answer of the estimator is awaited. Time
            # went on meanwhile, of a simulated robot unheard: what follows begins later, too.
            self.span = self._idle(start_ns)
            return [self.span, *self._decide(start_ns)]
        return self._issue(case.index, case.attempt, start_ns)

    def skip(self, now_ns: int, reason: str) -> list[Action]:
        """Give up the case under test: it is counted as skipped, and not repeated."""
        case = self.case
        if case is None or self.finished or self._measured is not None:
            return []
        draw = case.draw
        self._measured = TestRecord(
            case.index, case.attempt, 0.0, draw.weight, False, reason, x=draw.x,
            weight_bound=draw.weight_bound, skipped=True,
        )  # fmt: skip
        actions: list[Action] = [Skipped(self._measured)]
        if not self.paused:
            self._at_home = False
            self.span = self._idle(now_ns)
            actions.append(self.span)
        return actions

    def abort(self, now_ns: int, reason: str) -> list[Action]:
        """Break the campaign off: a span with the command at rest."""
        if self.finished:
            return []
        return [self._at_rest(Phase.ABORTED, now_ns, reason)]

    def ask(self, now_ns: int, reason: str) -> list[Action]:
        """Hold the campaign where somebody can resume it, end it where nobody can."""
        return self.pause(now_ns, reason) if self._attended else self.abort(now_ns, reason)

    def confirm(self) -> bool:
        """Take somebody's word that a phase is over; false where none is awaited."""
        return self.span is not None and self.span is self._walk.span and self._walk.confirm()

    def hear_body(self, sample: Sample) -> None:
        """Take in a sample of the body, by which phases end that end by its having settled."""
        self._walk.hear_body(sample)

    def hear_measurement(self, record: TestRecord) -> None:
        """Take in the measurement of the test under way; others, and second ones, are ignored."""
        if self.span is None:
            self._early_measured[record.index, record.attempt] = record
        elif self._measured is None and self._is_current(record.index, record.attempt):
            self._measured = record

    def hear_estimate(self, estimate: EstimateRecord) -> None:
        """Take in the estimate that counts the test under way; others are ignored."""
        if self.span is None:
            self._early_estimated[estimate.index, estimate.attempt] = estimate
        elif self._is_current(estimate.index, estimate.attempt):
            self._estimated = estimate

    # How it goes about it ------------------------------------------------------------------------

    @property
    def _key(self) -> tuple[int, int]:
        return (self.case.index, self.case.attempt) if self.case else (0, 0)

    def _at_rest(self, phase: Phase, now_ns: int, reason: str = '') -> Span:
        self.span = Span(phase, *self._key, now_ns, None, self._protocol.rest, reason=reason)
        return self.span

    def _idle(self, now_ns: int, last: Command = ()) -> Span:
        """Return the time between tests; a robot that takes poses keeps its last goal."""
        return Span(Phase.IDLE, *self._key, now_ns, now_ns, self._protocol.rest or last)

    def _is_current(self, index: int, attempt: int) -> bool:
        return self.case is not None and (index, attempt) == self._key

    def _issue(self, index: int, attempt: int, start_ns: int) -> list[Action]:
        if self.case is not None and self.case.index == index:
            draw = self.case.draw
        else:
            draw = self._proposal.draw(index, self._seed)
            if not self._specification.box.contains(draw.x):
                raise CampaignError(
                    f'test {index}: the proposal drew {draw.x}, outside the box of '
                    f'{self._specification.file}: nothing was commanded'
                )
        self.case = Case(index, attempt, draw)
        self._measured = self._estimated = None
        self._told = False
        target = self._protocol.target(self._specification.box.names, draw.x)
        self.span = self._walk.begin(index, attempt, target, start_ns, not self._at_home)
        return [self.case, self.span]

    def _decide(self, now_ns: int) -> list[Action]:
        case, measured, estimated = self.case, self._measured, self._estimated
        if not (self.waiting and case and measured and estimated):
            return []
        actions: list[Action] = []
        now_ns = max(now_ns, self.span.start_ns if self.span else now_ns)
        if not self._told:
            self._told = True
            actions.append(Counted(measured))
            if measured.valid:
                self._proposal.tell(case.draw.x, measured.psi, case.draw.weight)
        if estimated.stopped:
            return [*actions, self._at_rest(Phase.DONE, now_ns)]
        if measured.valid or measured.skipped:
            self._limit = self._specification.tester.max_attempts
            # Another program may still be at work on the next case.
            if not self._proposal.ready(case.index + 1):
                return actions
            return actions + self._issue(case.index + 1, 0, now_ns)
        if case.attempt + 1 < self._limit:
            return actions + self._issue(case.index, case.attempt + 1, now_ns)
        reason = (
            f'test {case.index} stayed INVALID in {case.attempt + 1} attempts, the last one: '
            f'{measured.reason}'
        )
        self._limit = case.attempt + 1 + self._specification.tester.max_attempts
        return actions + self.ask(now_ns, reason)
