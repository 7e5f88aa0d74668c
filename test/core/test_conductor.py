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

"""The state machine of a campaign, over given times and answers."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repsq_ros.campaign.conductor import Conductor
from repsq_ros.campaign.records import Case, CountedAttempt, EstimateRecord, TestRecord
from repsq_ros.errors import CampaignError
from repsq_ros.protocols.phases import Phase, Span
from repsq_ros.sampling.adaptive import Adaptation
from repsq_ros.sampling.proposals import Draw
from repsq_ros.specification.load import load
from repsq_ros.specification.proposal_section import ProposalChoice

SECOND = 1_000_000_000
REST = (0.0, 0.0, 0.0)


@pytest.fixture
def specification(content, write):
    return load(write(content))


@pytest.fixture
def conductor(specification):
    return Conductor(specification, specification.make_proposal(), seed=1)


def answer(conductor, case, valid=True, stopped=False, psi=0.5, question='', **more):
    record = TestRecord(
        case.index, case.attempt, psi, case.draw.weight, valid, '' if valid else 'gap',
        x=case.draw.x, **more,
    )  # fmt: skip
    conductor.on_measurement(record)
    conductor.on_estimate(
        EstimateRecord(
            index=case.index,
            attempt=case.attempt,
            n=1,
            invalid=0,
            skipped=0,
            broken_off=0,
            mean=0.5,
            variance=0.0,
            lower=0.4,
            upper=0.6,
            half_width=0.1,
            gamma=0.04,
            rule='rule',
            expected_n=9,
            effective_sample_size=1.0,
            largest_weight=1.0,
            stopped=stopped,
            question=question,
        )
    )


def run_test(conductor, now_ns):
    """Walk through the phases of one test; returns when its phases are over."""
    conductor.advance(now_ns + 3 * SECOND)
    conductor.advance(now_ns + 8 * SECOND)
    assert conductor.waiting
    return now_ns + 8 * SECOND


def test_a_test_is_dwell_then_command_then_idle(conductor):
    case, dwell = conductor.start(10 * SECOND)
    assert isinstance(case, Case)
    assert (case.index, case.attempt) == (0, 0)
    assert dwell == Span(Phase.DWELL, 0, 0, 10 * SECOND, 13 * SECOND, REST)
    assert conductor.advance(13 * SECOND - 1) == []
    (command,) = conductor.advance(13 * SECOND)
    assert command == Span(
        Phase.COMMAND, 0, 0, 13 * SECOND, 18 * SECOND, case.draw.x,
        window=(15 * SECOND, 18 * SECOND), step=1,
    )  # fmt: skip
    (idle,) = conductor.advance(18 * SECOND)
    assert idle == Span(Phase.IDLE, 0, 0, 18 * SECOND, 18 * SECOND, REST)


def test_a_command_that_begins_late_is_held_and_measured_as_long(conductor):
    conductor.start(0)
    (command,) = conductor.advance(3 * SECOND + 40_000_000)
    assert command.start_ns == 3 * SECOND + 40_000_000
    assert command.end_ns == command.start_ns + 5 * SECOND
    assert command.window == (command.end_ns - 3 * SECOND, command.end_ns)


def test_the_command_is_at_rest_outside_its_phase(conductor):
    case, _ = conductor.start(SECOND)
    assert conductor.command(0) == REST
    assert conductor.command(2 * SECOND) == REST
    conductor.advance(4 * SECOND)
    assert conductor.command(4 * SECOND) == case.draw.x
    assert conductor.command(9 * SECOND - 1) == case.draw.x
    # Even if nobody has looked in time.
    assert conductor.command(9 * SECOND) == REST
    assert conductor.command(4 * SECOND - 1) == REST


def test_the_next_test_needs_both_answers(conductor):
    case, _ = conductor.start(0)
    now = run_test(conductor, 0)
    assert conductor.advance(now + SECOND) == []
    conductor.on_measurement(TestRecord(0, 0, 0.5, 1.0, True))
    assert conductor.advance(now + 2 * SECOND) == []
    answer(conductor, case)
    counted, following, dwell = conductor.advance(now + 3 * SECOND)
    assert counted.record.psi == 0.5
    assert following.index == 1
    assert following.draw != case.draw
    assert dwell.start_ns == now + 3 * SECOND


def test_answers_of_other_tests_are_ignored(conductor):
    conductor.start(0)
    now = run_test(conductor, 0)
    for index, attempt in ((1, 0), (0, 1), (7, 3)):
        answer(conductor, Case(index, attempt, Draw(REST, 0.0, 0.0)))
    assert conductor.advance(now) == []


def test_answers_may_come_before_the_phases_are_over(conductor):
    case, _ = conductor.start(0)
    conductor.advance(3 * SECOND)
    answer(conductor, case)
    assert conductor.advance(4 * SECOND) == []
    idle, _, following, _ = conductor.advance(8 * SECOND)
    assert idle.phase is Phase.IDLE
    assert following.index == 1


def test_an_invalid_test_is_repeated_with_the_same_case(conductor, specification):
    case, _ = conductor.start(0)
    now = 0
    for attempt in (1, 2):
        now = run_test(conductor, now)
        answer(conductor, case, valid=False)
        _, again, _ = conductor.advance(now)
        assert (again.index, again.attempt, again.draw) == (0, attempt, case.draw)
        case = again
    now = run_test(conductor, now)
    answer(conductor, case, valid=False)
    _, aborted = conductor.advance(now)
    assert aborted.phase is Phase.ABORTED
    assert aborted.reason == 'test 0 stayed INVALID in 3 attempts, the last one: gap'
    assert conductor.finished


def test_an_invalid_test_does_not_shift_the_cases_that_follow(conductor, specification):
    straight = Conductor(specification, specification.make_proposal(), seed=1)
    first, _ = straight.start(0)
    now = run_test(straight, 0)
    answer(straight, first)
    _, second, _ = straight.advance(now)

    case, _ = conductor.start(0)
    now = run_test(conductor, 0)
    answer(conductor, case, valid=False)
    _, again, _ = conductor.advance(now)
    now = run_test(conductor, now)
    answer(conductor, again)
    _, following, _ = conductor.advance(now)
    assert following.draw == second.draw


def test_the_campaign_is_done_when_the_estimate_says_so(conductor):
    case, _ = conductor.start(0)
    now = run_test(conductor, 0)
    answer(conductor, case, stopped=True)
    counted, done = conductor.advance(now)
    assert counted.record.index == 0
    assert (done.phase, done.command, done.end_ns) == (Phase.DONE, REST, None)
    assert conductor.advance(now + SECOND) == []
    assert conductor.abort(now, 'too late') == []


@pytest.mark.parametrize('now_ns', [0, 2 * SECOND, 4 * SECOND, 8 * SECOND])
def test_abort_leaves_the_robot_at_rest_in_every_phase(conductor, now_ns):
    conductor.start(0)
    conductor.advance(now_ns)
    (aborted,) = conductor.abort(now_ns, 'SIGINT')
    assert (aborted.phase, aborted.reason) == (Phase.ABORTED, 'SIGINT')
    assert conductor.command(now_ns + SECOND) == REST
    assert conductor.advance(now_ns + 100 * SECOND) == []


def test_a_campaign_can_be_aborted_before_it_begins(conductor):
    (aborted,) = conductor.abort(0, 'no peers')
    assert aborted.phase is Phase.ABORTED


def test_a_case_outside_the_box_is_never_commanded(specification):
    class Runaway:
        def ready(self, index):
            return True

        def draw(self, index, seed):
            return Draw((0.1, 0.1, 3.0), 0.0, 0.0)

        def tell(self, x, psi, weight):
            raise AssertionError

    conductor = Conductor(specification, Runaway(), seed=1)
    with pytest.raises(CampaignError, match=r'outside the box .* nothing was commanded'):
        conductor.start(0)
    assert conductor.command(10 * SECOND) == REST


# Pause, resume, skip -----------------------------------------------------------------------------


def phases(actions):
    return [action.phase for action in actions if isinstance(action, Span)]


@pytest.mark.parametrize('now_ns', [0, 2 * SECOND])
def test_after_a_pause_before_the_command_the_same_attempt_begins_anew(conductor, now_ns):
    case, _ = conductor.start(0)
    conductor.advance(now_ns)
    (paused,) = conductor.pause(now_ns, 'a cable')
    assert (paused.phase, paused.end_ns, paused.reason) == (Phase.PAUSED, None, 'a cable')
    assert not paused.broken_off
    assert conductor.command(now_ns + SECOND) == REST
    assert conductor.advance(now_ns + 1000 * SECOND) == []
    again, dwell = conductor.resume(now_ns + 1000 * SECOND, now_ns + 1002 * SECOND)
    assert again == case
    assert (dwell.phase, dwell.start_ns) == (Phase.DWELL, now_ns + 1002 * SECOND)


@pytest.mark.parametrize('answered', ['while held', 'once resumed'])
def test_an_attempt_that_a_pause_breaks_off_is_counted_and_made_again(conductor, answered):
    case, _ = conductor.start(0)
    conductor.advance(4 * SECOND)
    (paused,) = conductor.pause(4 * SECOND, 'a cable')
    assert (paused.broken_off, paused.index, paused.attempt) == (True, 0, 0)
    (twice,) = conductor.pause(5 * SECOND, 'another reason')
    assert (twice.broken_off, twice.reason) == (False, 'another reason')
    actions = []
    if answered == 'while held':
        answer(conductor, case, valid=False, broken_off=True)
        actions += conductor.advance(6 * SECOND)
        assert phases(actions) == []
    actions += conductor.resume(7 * SECOND, 9 * SECOND)
    if answered == 'once resumed':
        (idle,) = actions
        assert (idle.phase, idle.broken_off, idle.reason) == (Phase.IDLE, True, 'a cable')
        assert conductor.waiting
        answer(conductor, case, valid=False, broken_off=True)
        actions += conductor.advance(8 * SECOND)
    (counted,) = (each for each in actions if isinstance(each, CountedAttempt))
    assert counted.record.broken_off
    assert conductor.case == replace(case, attempt=1)
    assert (conductor.span.phase, conductor.span.start_ns) == (Phase.DWELL, 9 * SECOND)


def test_a_pause_says_whether_it_goes_on_by_itself(conductor):
    conductor.start(0)
    (held,) = conductor.pause(SECOND, 'a cable', goes_on=True)
    assert held.goes_on
    assert conductor.span is held
    (asked,) = conductor.pause(2 * SECOND, 'by the operator')
    assert not asked.goes_on


def test_what_follows_a_clock_that_was_set_back_does_not_wait_for_the_old_time(conductor):
    case, _ = conductor.start(0)
    conductor.pause(90 * SECOND, 'a cable')
    conductor.resume(98 * SECOND, 100 * SECOND)
    run_test(conductor, 100 * SECOND)
    answer(conductor, case, valid=False)
    *_, dwell = conductor.advance(50 * SECOND)
    assert (dwell.phase, dwell.start_ns) == (Phase.DWELL, 50 * SECOND)


def test_a_pause_after_an_attempt_that_came_to_its_end_breaks_nothing_off(conductor):
    """Though the attempt before it was broken off."""
    case, _ = conductor.start(0)
    conductor.advance(4 * SECOND)
    conductor.pause(4 * SECOND, 'a cable')
    answer(conductor, case, valid=False, broken_off=True)
    conductor.resume(5 * SECOND, 6 * SECOND)
    now = run_test(conductor, 6 * SECOND)
    conductor.pause(now, 'another')
    (idle,) = conductor.resume(now + SECOND, now + 3 * SECOND)
    assert (idle.phase, idle.attempt, idle.broken_off, idle.reason) == (Phase.IDLE, 1, False, '')


def test_the_first_answer_counts_and_one_to_another_test_is_forgotten(conductor):
    case, _ = conductor.start(0)
    now = run_test(conductor, 0)
    conductor.on_measurement(TestRecord(1, 0, 0.9, 1.0, True))  # nobody has asked for it
    conductor.on_measurement(TestRecord(0, 0, 0.5, 1.0, True))
    answer(conductor, case, psi=0.7)
    counted, following, _ = conductor.advance(now)
    assert counted.record.psi == 0.5
    now = run_test(conductor, now)
    answer(conductor, following, psi=0.2)
    counted, *_ = conductor.advance(now)
    assert (counted.record.index, counted.record.psi) == (1, 0.2)


def test_what_was_broken_off_does_not_use_up_the_attempts_of_a_case(conductor, specification):
    case, _ = conductor.start(0)
    now = 0
    for _ in range(2 * specification.tester.max_attempts):
        conductor.advance(now + 4 * SECOND)
        conductor.pause(now + 4 * SECOND, 'a cable')
        answer(conductor, conductor.case, valid=False, broken_off=True)
        now += 10 * SECOND
        conductor.resume(now, now)
    assert conductor.case == replace(case, attempt=2 * specification.tester.max_attempts)
    for _ in range(specification.tester.max_attempts):
        assert not conductor.finished
        now = run_test(conductor, now)
        answer(conductor, conductor.case, valid=False)
        conductor.advance(now)
    assert conductor.span.phase is Phase.ABORTED


@pytest.mark.parametrize('heard', [True, False])
def test_a_test_whose_phases_are_over_before_a_pause_is_not_repeated(conductor, heard):
    case, _ = conductor.start(0)
    now = run_test(conductor, 0)
    if heard:
        conductor.on_measurement(TestRecord(0, 0, 0.5, 1.0, True))
    (paused,) = conductor.pause(now, 'a cable')
    assert not paused.broken_off
    answer(conductor, case)
    assert phases(conductor.advance(now)) == [], 'nothing goes on during a pause'
    actions = conductor.resume(now, now + SECOND)
    assert phases(actions) == [Phase.IDLE, Phase.DWELL]
    assert conductor.case.index == 1


@pytest.mark.parametrize('estimated', [True, False])
def test_after_a_pause_the_next_test_begins_no_earlier_than_it_is_given(conductor, estimated):
    """A simulated robot has lived on meanwhile, perhaps beyond what the scheduler has heard."""
    case, _ = conductor.start(0)
    now = run_test(conductor, 0)
    on_estimate = []
    if not estimated:
        conductor.on_estimate = on_estimate.append
    answer(conductor, case)
    conductor.pause(now, 'by the operator')
    actions = conductor.resume(now, now + 3 * SECOND)
    if not estimated:
        del conductor.on_estimate
        conductor.on_estimate(on_estimate[0])
        actions = conductor.advance(now + SECOND)
    dwell = actions[-1]
    assert (dwell.index, dwell.phase, dwell.start_ns) == (1, Phase.DWELL, now + 3 * SECOND)


def test_a_pause_after_the_last_test_ends_in_the_end(conductor):
    case, _ = conductor.start(0)
    now = run_test(conductor, 0)
    answer(conductor, case, stopped=True)
    conductor.advance(now)
    assert phases(conductor.pause(now, 'the disk is full')) == [Phase.PAUSED]
    assert phases(conductor.resume(now, now)) == [Phase.DONE]
    assert conductor.finished


def test_resume_and_skip_without_a_reason_do_nothing(conductor):
    assert conductor.resume(0, 0) == conductor.pause(0, 'early') == conductor.skip(0, 'x') == []
    assert conductor.span is None
    conductor.start(0)
    assert conductor.resume(0, 0) == []
    conductor.abort(0, 'told to')
    assert conductor.resume(0, 0) == conductor.pause(0, 'late') == conductor.skip(0, 'x') == []


@pytest.mark.parametrize(('at', 'begun'), [(2, False), (4, True), (8, False)])
def test_a_skipped_case_is_not_repeated(conductor, at, begun):
    case, _ = conductor.start(0)
    conductor.advance(3 * SECOND)
    conductor.advance(at * SECOND)
    if at == 2:
        conductor = restarted(conductor)
        case, _ = conductor.start(0)
    (skipped,) = conductor.skip(at * SECOND, 'by the operator')
    assert (skipped.phase, skipped.command, skipped.end_ns) == (Phase.SKIPPED, REST, None)
    assert (skipped.broken_off, skipped.reason) == (begun, 'by the operator')
    assert conductor.skip(at * SECOND, 'twice') == []
    assert conductor.advance(at * SECOND) == [], 'the measurement node makes the record'
    answer(conductor, case, valid=False, skipped=True, broken_off=begun)
    counted, following, _ = conductor.advance(at * SECOND)
    assert counted.record.skipped
    assert following.index == 1


def restarted(conductor):
    return Conductor(conductor._specification, conductor._specification.make_proposal(), 1)


def test_a_skip_that_crosses_a_measurement_is_none(conductor):
    """The measurement node was first: what it said is what everybody counts."""
    case, _ = conductor.start(0)
    now = run_test(conductor, 0)
    assert phases(conductor.skip(now, 'by the operator')) == [Phase.SKIPPED]
    answer(conductor, case)
    counted, following, _ = conductor.advance(now)
    assert counted.record.valid
    assert following.index == 1


@pytest.mark.parametrize('at', [2, 4])
def test_a_case_can_be_skipped_during_a_pause(conductor, at):
    case, _ = conductor.start(0)
    conductor.advance(at * SECOND)
    conductor.pause(at * SECOND, 'a cable')
    if at == 4:
        assert conductor.skip(at * SECOND, 'too early') == [], 'its own record comes first'
        answer(conductor, case, valid=False, broken_off=True)
        conductor.advance(at * SECOND)
        again, *actions = conductor.skip(at * SECOND, 'by the operator')
        assert again == replace(case, attempt=1)
    else:
        actions = conductor.skip(at * SECOND, 'by the operator')
    assert phases(actions) == [Phase.SKIPPED, Phase.PAUSED]
    assert actions[1].reason == 'a cable'
    assert conductor.skip(at * SECOND, 'twice') == []
    answer(conductor, conductor.case, valid=False, skipped=True)
    (counted,) = conductor.advance(at * SECOND)
    assert counted.record.skipped
    assert conductor.skip(at * SECOND, 'over') == []
    _, following, dwell = conductor.resume(9 * SECOND, 11 * SECOND)
    assert (following.index, dwell.start_ns) == (1, 11 * SECOND)


def test_somebody_who_is_there_is_asked_when_a_test_stays_invalid(specification):
    conductor = Conductor(specification, specification.make_proposal(), 1, attended=True)
    case, _ = conductor.start(0)
    now = 0
    for _ in range(2):
        now = run_test(conductor, now)
        answer(conductor, case, valid=False)
        _, case, _ = conductor.advance(now)
    now = run_test(conductor, now)
    answer(conductor, case, valid=False)
    counted, paused = conductor.advance(now)
    assert counted.record.attempt == 2
    assert paused.reason == 'test 0 stayed INVALID in 3 attempts, the last one: gap'
    _, again, _ = conductor.resume(now, now)
    assert (again.index, again.attempt, again.draw) == (0, 3, case.draw)


# Resume after a crash ----------------------------------------------------------------------------


@given(
    outcomes=st.lists(
        st.sampled_from(['valid', 'invalid', 'skipped', 'broken off', 'skipped at once']),
        max_size=30,
    )
)
def test_a_restored_conductor_goes_on_as_the_one_before_would_have(outcomes):
    """With a proposal that learns: cases, attempts and weights are equal to the last bit."""
    specification = demo_specification(batch=5)
    straight = Conductor(specification, specification.make_proposal(), 1, attended=True)
    case, _ = straight.start(0)
    now, tests = 0, []
    for outcome in outcomes:
        psi, broken_off = 0.1 + 0.8 * case.draw.x[0] ** 2, False
        if outcome == 'skipped at once':
            straight.skip(now, 'by the operator')
        elif outcome in ('skipped', 'broken off'):
            straight.advance(now + 3 * SECOND)
            broken_off = True
            end = straight.skip if outcome == 'skipped' else straight.pause
            end(now + 4 * SECOND, 'by the operator')
            now += 5 * SECOND
        else:
            now = run_test(straight, now)
        answer(
            straight, case, valid=outcome == 'valid', psi=psi, broken_off=broken_off,
            skipped=outcome.startswith('skipped'),
        )  # fmt: skip
        actions = straight.advance(now)
        if straight.paused:
            actions += straight.resume(now, now)
        tests += [a.record for a in actions if hasattr(a, 'record')]
        case = straight.case
    restored = Conductor(specification, specification.make_proposal(), 1, attended=True)
    restored.restore(tests, stopped=False)
    again, _ = restored.start(now)
    assert again == case


def test_a_journal_that_ends_with_the_last_test_needs_no_other(conductor):
    conductor.restore([TestRecord(0, 0, 0.5, 1.0, True)], stopped=True)
    assert conductor.can_start
    assert phases(conductor.start(0)) == [Phase.DONE]


@pytest.mark.parametrize('attempt', [0, 2])
def test_an_attempt_that_a_crash_cut_short_is_broken_off(specification, attempt):
    conductor = Conductor(specification, specification.make_proposal(), 1)
    conductor.restore(
        [TestRecord(0, each, 0.0, 1.0, False, 'gap') for each in range(attempt)],
        stopped=False,
        cut_short=(0, attempt),
    )
    case, idle = conductor.start(2 * SECOND)
    assert (case.attempt, idle.phase, idle.broken_off) == (attempt, Phase.IDLE, True)
    assert idle.reason == 'the scheduler ended in this attempt'
    assert conductor.command(3 * SECOND) == REST
    answer(conductor, case, valid=False, broken_off=True)
    counted, again, dwell = conductor.advance(SECOND)
    assert counted.record.broken_off
    assert again == replace(case, attempt=attempt + 1)
    assert dwell.start_ns == 2 * SECOND


def test_an_attempt_that_is_over_is_awaited_until_it_is_counted(conductor):
    """Whoever ends the campaign meanwhile has seen the robot: it must not be made again unsaid."""
    case, _ = conductor.start(0)
    assert not conductor.outcome_awaited
    now = run_test(conductor, 0)
    assert conductor.outcome_awaited
    answer(conductor, case)
    conductor.advance(now)
    assert not conductor.outcome_awaited


def test_an_abort_after_an_attempt_leaves_it_awaited(conductor):
    conductor.start(0)
    (aborted,) = conductor.abort(run_test(conductor, 0), 'SIGINT')
    assert not aborted.broken_off
    assert conductor.outcome_awaited


def test_a_journal_that_knows_the_outcome_cuts_nothing_short(specification):
    conductor = Conductor(specification, specification.make_proposal(), 1)
    conductor.restore([TestRecord(0, 0, 0.5, 1.0, True)], stopped=False, cut_short=(0, 0))
    assert phases(conductor.start(0)) == [Phase.DWELL]


def test_what_peers_that_outlived_a_scheduler_say_is_not_measured_again(specification):
    """The measurement was published and counted, and the scheduler died before it was written."""
    first = Conductor(specification, specification.make_proposal(), 1)
    case, _ = first.start(0)
    restored = Conductor(specification, specification.make_proposal(), 1)
    answer(restored, case)
    actions = restored.start(0)
    assert phases(actions) == [Phase.IDLE, Phase.DWELL]
    assert restored.case.index == 1


EVENTS = st.one_of(
    st.tuples(st.just('time'), st.integers(0, 6 * SECOND)),
    st.tuples(st.just('answer'), st.booleans(), st.booleans()),
    st.tuples(st.just('foreign'), st.integers(0, 5)),
    st.tuples(st.just('abort')),
    st.tuples(st.just('pause')),
    st.tuples(st.just('resume'), st.integers(0, 3 * SECOND)),
    st.tuples(st.just('skip')),
)


@given(events=st.lists(EVENTS, max_size=40), attended=st.booleans())
def test_no_sequence_of_events_moves_the_robot_outside_a_command_phase(events, attended):
    specification = demo_specification()
    conductor = Conductor(specification, specification.make_proposal(), 1, attended)
    conductor.start(0)
    now = 0
    for event in events:
        if event[0] == 'time':
            now += event[1]
        elif event[0] == 'answer' and conductor.case is not None:
            answer(conductor, conductor.case, valid=event[1], stopped=event[2])
        elif event[0] == 'foreign':
            answer(conductor, Case(event[1] + 1000, 0, Draw(REST, 0.0, 0.0)))
        elif event[0] == 'abort':
            conductor.abort(now, 'told to')
        elif event[0] == 'pause':
            conductor.pause(now, 'told to')
            assert conductor.command(now) == REST
        elif event[0] == 'resume':
            conductor.resume(now, now + event[1])
        elif event[0] == 'skip':
            conductor.skip(now, 'told to')
            assert conductor.command(now) == REST or conductor.span.phase is Phase.COMMAND
        for due in (False, True):
            if due:
                conductor.advance(now)
            command, span = conductor.command(now), conductor.span
            assert specification.box.contains(command)
            if command != REST:
                assert span.phase is Phase.COMMAND
                assert span.start_ns <= now < span.end_ns


def demo_specification(batch=None):
    from conftest import ROOT

    specification = load(ROOT / 'config' / 'g1_locomotion.yaml')
    if batch is None:
        return specification
    proposal = ProposalChoice('adaptive', adaptation=Adaptation(batch=batch))
    return replace(specification, tester=replace(specification.tester, proposal=proposal))


def test_a_question_pauses_where_somebody_can_answer_it(specification):
    for attended in (True, False):
        conductor = Conductor(specification, specification.make_proposal(), 1, attended)
        case, _ = conductor.start(0)
        end_ns = run_test(conductor, 0)
        answer(conductor, case, question='mirrored?')
        counted, span = conductor.advance(end_ns)[:2]
        assert isinstance(counted, CountedAttempt)
        assert conductor.paused is attended
        if attended:
            assert span.reason.startswith('mirrored?') and not span.broken_off
            conductor.resume(9 * SECOND, 10 * SECOND)
        assert conductor.case.index == 1 and conductor.span.phase is Phase.DWELL


def test_attempts_in_a_row_without_an_answer_hold_the_campaign_and_it_goes_on(specification):
    conductor = Conductor(specification, specification.make_proposal(), seed=1, attended=True)
    now_ns, held = 0, []
    conductor.start(now_ns)
    for number, moved in enumerate((False, True, False, False, False)):
        now_ns = run_test(conductor, now_ns)
        answer(conductor, conductor.case, code='' if moved else 'unanswered')
        conductor.advance(now_ns)
        if conductor.paused:
            held.append(number)
            assert 'did not move in 2 attempts in a row' in conductor.span.reason
            conductor.resume(now_ns, now_ns)
        assert conductor.case.index == number + 1
    assert held == [3]
