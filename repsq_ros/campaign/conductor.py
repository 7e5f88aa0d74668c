"""What happens next in a campaign: a state machine over given times and given answers.

It knows no clock and no ROS. The scheduler node and the in-process run obey the same one, so that
they cannot disagree.
"""

from __future__ import annotations

from repsq_ros.campaign.records import Case, EstimateRecord, TestRecord
from repsq_ros.errors import CampaignError
from repsq_ros.protocols.phases import Phase, Span
from repsq_ros.sampling.proposals import Proposal
from repsq_ros.specification.model import Specification

Action = Case | Span  # a case to be issued, or a phase that begins


class Conductor:
    """Draws cases, walks through the phases of each test, and waits for its two answers.

    A test is over when its phases are over and both its measurement (for the proposal to learn
    from) and the estimate that counts it (which tells whether to stop) have come.

    :param seed: of the cases; case i comes from a generator of its own, seeded by (seed, i)
    """

    def __init__(self, specification: Specification, proposal: Proposal, seed: int) -> None:
        self._specification = specification
        self._protocol = specification.protocol
        self._proposal = proposal
        self._seed = seed
        self._case: Case | None = None
        self._measured: TestRecord | None = None
        self._estimated: EstimateRecord | None = None
        self._told = False  # the proposal has heard of the test under way
        self.span: Span | None = None  # the phase in force

    @property
    def finished(self) -> bool:
        """True once the campaign is done or aborted."""
        return self.span is not None and self.span.phase in (Phase.DONE, Phase.ABORTED)

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
        return self._proposal.ready(0)

    @property
    def case(self) -> Case | None:
        """The case under test."""
        return self._case

    def command(self, now_ns: int) -> tuple[float, ...]:
        """Return the command in force at an instant: rest before a phase begins and after it."""
        span = self.span
        if span is None or now_ns < span.start_ns:
            return self._protocol.rest
        if span.end_ns is not None and now_ns >= span.end_ns:
            return self._protocol.rest
        return span.command

    def start(self, start_ns: int) -> list[Action]:
        """Begin with test 0, whose first phase starts at the given time."""
        if self.span is not None:
            raise RuntimeError('the campaign has begun already')
        return self._issue(0, 0, start_ns)

    def advance(self, now_ns: int) -> list[Action]:
        """Return what has become due by now, in order."""
        actions: list[Action] = []
        while (
            self.span is not None
            and self._case is not None
            and self.span.end_ns is not None
            and self.span.phase is not Phase.IDLE
            and now_ns >= self.span.end_ns
        ):
            # Not the planned end: if nobody looked in time, the command took effect late.
            follows = self._protocol.after(self.span, self._command_of(self._case), now_ns)
            if follows is None:
                follows = Span(
                    Phase.IDLE, self.span.index, self.span.attempt, now_ns, now_ns,
                    self._protocol.rest,
                )  # fmt: skip
            self.span = follows
            actions.append(follows)
        return actions + self._decide(now_ns)

    def hear_measurement(self, record: TestRecord) -> None:
        """Take in the measurement of the test under way; others are ignored."""
        if self._is_current(record.index, record.attempt):
            self._measured = record

    def hear_estimate(self, estimate: EstimateRecord) -> None:
        """Take in the estimate that counts the test under way; others are ignored."""
        if self._is_current(estimate.index, estimate.attempt):
            self._estimated = estimate

    def abort(self, now_ns: int, reason: str) -> list[Action]:
        """Break the campaign off: a span with the command at rest."""
        if self.finished:
            return []
        index, attempt = (self._case.index, self._case.attempt) if self._case else (0, 0)
        self.span = Span(
            Phase.ABORTED, index, attempt, now_ns, None, self._protocol.rest, reason=reason
        )
        return [self.span]

    def _is_current(self, index: int, attempt: int) -> bool:
        case = self._case
        return case is not None and (index, attempt) == (case.index, case.attempt)

    def _command_of(self, case: Case) -> tuple[float, ...]:
        return self._protocol.command(self._specification.box.names, case.draw.x)

    def _issue(self, index: int, attempt: int, start_ns: int) -> list[Action]:
        if attempt == 0 or self._case is None:
            draw = self._proposal.draw(index, self._seed)
            if not self._specification.box.contains(draw.x):
                raise CampaignError(
                    f'test {index}: the proposal drew {draw.x}, outside the box of '
                    f'{self._specification.file}: nothing was commanded'
                )
        else:
            draw = self._case.draw
        self._case = Case(index, attempt, draw)
        self._measured = self._estimated = None
        self._told = False
        self.span = self._protocol.first(index, attempt, start_ns)
        return [self._case, self.span]

    def _decide(self, now_ns: int) -> list[Action]:
        case, measured, estimated = self._case, self._measured, self._estimated
        if not (self.waiting and case and measured and estimated):
            return []
        if estimated.stopped:
            self.span = Span(
                Phase.DONE, case.index, case.attempt, now_ns, None, self._protocol.rest
            )
            return [self.span]
        if measured.valid:
            if not self._told:
                self._proposal.tell(case.draw.x, measured.psi, case.draw.weight)
                self._told = True
            # Another program may still be at work on the next case.
            ready = self._proposal.ready(case.index + 1)
            return self._issue(case.index + 1, 0, now_ns) if ready else []
        if case.attempt + 1 < self._specification.tester.max_attempts:
            return self._issue(case.index, case.attempt + 1, now_ns)
        return self.abort(
            now_ns,
            f'test {case.index} stayed INVALID in {case.attempt + 1} attempts, the last one: '
            f'{measured.reason}',
        )
