"""The state machine of a campaign, over given times and answers."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repsq_ros.campaign.conductor import Conductor
from repsq_ros.campaign.records import Case, EstimateRecord, TestRecord
from repsq_ros.errors import CampaignError
from repsq_ros.protocols.phases import Phase, Span
from repsq_ros.sampling.proposals import Draw
from repsq_ros.specification.load import load

SECOND = 1_000_000_000
REST = (0.0, 0.0, 0.0)


@pytest.fixture
def specification(content, write):
    return load(write(content))


@pytest.fixture
def conductor(specification):
    return Conductor(specification, specification.make_proposal(), seed=1)


def answer(conductor, case, valid=True, stopped=False):
    record = TestRecord(case.index, case.attempt, 0.5, 1.0, valid, '' if valid else 'gap')
    conductor.hear_measurement(record)
    conductor.hear_estimate(
        EstimateRecord(
            case.index,
            case.attempt,
            1,
            0,
            0.5,
            0.0,
            0.4,
            0.6,
            0.1,
            0.04,
            'rule',
            9,
            1.0,
            1.0,
            stopped,
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
        window=(15 * SECOND, 18 * SECOND),
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
    conductor.hear_measurement(TestRecord(0, 0, 0.5, 1.0, True))
    assert conductor.advance(now + 2 * SECOND) == []
    answer(conductor, case)
    following, dwell = conductor.advance(now + 3 * SECOND)
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
    idle, following, _ = conductor.advance(8 * SECOND)
    assert idle.phase is Phase.IDLE
    assert following.index == 1


def test_an_invalid_test_is_repeated_with_the_same_case(conductor, specification):
    case, _ = conductor.start(0)
    now = 0
    for attempt in (1, 2):
        now = run_test(conductor, now)
        answer(conductor, case, valid=False)
        again, _ = conductor.advance(now)
        assert (again.index, again.attempt, again.draw) == (0, attempt, case.draw)
        case = again
    now = run_test(conductor, now)
    answer(conductor, case, valid=False)
    (aborted,) = conductor.advance(now)
    assert aborted.phase is Phase.ABORTED
    assert aborted.reason == 'test 0 stayed INVALID in 3 attempts, the last one: gap'
    assert conductor.finished


def test_an_invalid_test_does_not_shift_the_cases_that_follow(conductor, specification):
    straight = Conductor(specification, specification.make_proposal(), seed=1)
    first, _ = straight.start(0)
    now = run_test(straight, 0)
    answer(straight, first)
    second, _ = straight.advance(now)

    case, _ = conductor.start(0)
    now = run_test(conductor, 0)
    answer(conductor, case, valid=False)
    again, _ = conductor.advance(now)
    now = run_test(conductor, now)
    answer(conductor, again)
    following, _ = conductor.advance(now)
    assert following.draw == second.draw


def test_the_campaign_is_done_when_the_estimate_says_so(conductor):
    case, _ = conductor.start(0)
    now = run_test(conductor, 0)
    answer(conductor, case, stopped=True)
    (done,) = conductor.advance(now)
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


EVENTS = st.one_of(
    st.tuples(st.just('time'), st.integers(0, 6 * SECOND)),
    st.tuples(st.just('answer'), st.booleans(), st.booleans()),
    st.tuples(st.just('foreign'), st.integers(0, 5)),
    st.tuples(st.just('abort')),
)


@settings(
    max_examples=300, deadline=None,
)  # fmt: skip
@given(events=st.lists(EVENTS, max_size=40))
def test_no_sequence_of_events_moves_the_robot_outside_a_command_phase(events, tmp_path_factory):
    specification = demo_specification()
    conductor = Conductor(specification, specification.make_proposal(), seed=1)
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
        for due in (False, True):
            if due:
                conductor.advance(now)
            command, span = conductor.command(now), conductor.span
            assert specification.box.contains(command)
            if command != REST:
                assert span.phase is Phase.COMMAND
                assert span.start_ns <= now < span.end_ns


def demo_specification():
    from conftest import ROOT

    return load(ROOT / 'config' / 'g1_locomotion.yaml')
