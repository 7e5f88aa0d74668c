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

"""Protocols of poses: approach, dwell, return, settle, record; phases that end by what is seen."""

import math
from dataclasses import replace

import pytest
import yaml
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st

from repsq_ros.campaign.conductor import Conductor, CountedAttempt
from repsq_ros.campaign.records import Case, EstimateRecord, TestRecord
from repsq_ros.campaign.windows import window_of
from repsq_ros.errors import CampaignError
from repsq_ros.measurement.samples import body_sample
from repsq_ros.protocols.phases import Phase, Span
from repsq_ros.simulation.arm import Arm
from repsq_ros.simulation.in_process import run_in_process
from repsq_ros.specification.load import load

SECOND = 1_000_000_000
MILLISECOND = 1_000_000
UPRIGHT = (0.0, 0.0, 0.0, 1.0)


@pytest.fixture
def content():
    return yaml.safe_load((ROOT / 'config' / 'ur10e_positioning.yaml').read_text())


@pytest.fixture
def specification(content, write):
    return load(write(content))


class Bench:
    """A conductor, and a tool that is wherever it has been sent, a while later."""

    def __init__(self, specification, attended=False, delay_ns=300 * MILLISECOND):
        self.conductor = Conductor(specification, specification.make_proposal(), 1, attended)
        self.now_ns, self.delay_ns = 0, delay_ns
        self.spans, self.there, self.sent = [], None, []

    def take(self, actions):
        self.spans += [action for action in actions if isinstance(action, Span)]
        return actions

    def start(self):
        self.take(self.conductor.start(SECOND))

    def live(self, seconds, sensor=True):
        until_ns = self.now_ns + round(seconds * SECOND)
        while self.now_ns < until_ns:
            self.now_ns += 10 * MILLISECOND
            command = self.conductor.command(self.now_ns)
            if command and (not self.sent or self.sent[-1][1] != command):
                self.sent.append((self.now_ns, command))
            arrived = [pose for at, pose in self.sent if self.now_ns >= at + self.delay_ns]
            if sensor and arrived:
                self.conductor.on_body(
                    body_sample(self.now_ns, arrived[-1][:3], UPRIGHT, frame='base')
                )
            self.take(self.conductor.advance(self.now_ns))

    def new_phases(self):
        """Return the phases as they began, without their prolongations."""
        begun = []
        for span in self.spans:
            if not begun or (span.phase, span.step) != (begun[-1].phase, begun[-1].step):
                begun.append(span)
        return begun


def names(spans):
    return [span.phase.name for span in spans]


WAY = ['DWELL', 'MOVE', 'MOVE', 'DWELL', 'RETURN', 'RETURN', 'SETTLE', 'DWELL', 'RECORD', 'IDLE']


def test_a_test_leads_home_first_then_there_and_back(specification):
    bench = Bench(specification)
    bench.start()
    bench.live(60)
    begun = bench.new_phases()
    assert names(begun) == ['RETURN', 'RETURN', *WAY]
    assert [span.step for span in begun[:-1]] == [-2, -1, *range(9)]
    assert [span.begins_test(None) for span in begun] == [False, False, True, *([False] * 9)]


def test_target_and_reference_are_approached_from_the_stated_direction(specification):
    bench = Bench(specification)
    bench.start()
    bench.live(60)
    *_, approach, target, there = [s.command for s in bench.new_phases()][:6]
    case = bench.conductor.case.draw.x
    assert target[:3] == case
    assert target[3:] == (math.pi, 0.0, 0.0)
    assert approach == pytest.approx((case[0], case[1], case[2] + 0.05, math.pi, 0.0, 0.0))
    assert there == target, 'at the target it stays'
    back = [s.command for s in bench.new_phases()][6:8]
    assert back[1][:3] == (-0.55, -0.20, 0.25)
    assert back[0][:3] == pytest.approx((-0.55, -0.20, 0.30))


def test_the_gauge_is_recorded_after_the_dwell_against_a_tare_from_before_the_move(specification):
    bench = Bench(specification)
    bench.start()
    bench.live(60)
    begun = bench.new_phases()
    (recorded,) = [span for span in begun if span.window is not None]
    first_move = next(span for span in begun if span.phase is Phase.MOVE)
    window = window_of(recorded)
    assert recorded.phase is Phase.RECORD
    assert (window.start_ns, window.end_ns) == (recorded.start_ns, recorded.end_ns)
    assert window.command_ns == first_move.start_ns
    dwells = [span for span in begun if span.phase is Phase.DWELL]
    assert [span.end_ns - span.start_ns for span in dwells] == [SECOND, 3 * SECOND, 3 * SECOND]


def answer(conductor, valid=True, stopped=False, **more):
    case = conductor.case
    conductor.on_measurement(
        TestRecord(case.index, case.attempt, 0.1, 1.0, valid, '' if valid else 'gap', **more)
    )
    conductor.on_estimate(
        EstimateRecord(
            case.index, case.attempt, 1, 0, 0, 0, 0.1, 0.0, 0.0, 0.2, 0.1, 0.01, 'rule', 9, 1.0,
            1.0, stopped,
        )
    )  # fmt: skip


def test_the_next_test_begins_where_the_last_one_ended(specification):
    bench = Bench(specification)
    bench.start()
    bench.live(60)
    answer(bench.conductor)
    bench.live(60)
    assert names(bench.new_phases()) == ['RETURN', 'RETURN', *WAY, *WAY]


@pytest.fixture
def at_home(specification):
    """A bench in its second test, which began without being led home."""
    bench = Bench(specification, attended=True)
    bench.start()
    bench.live(60)
    answer(bench.conductor)
    bench.spans.clear()
    bench.live(0.5)
    assert names(bench.new_phases()) == ['DWELL']
    assert bench.conductor.case.index == 1
    return bench


@pytest.mark.parametrize('seconds', [0.2, 1.5, 4.0, 9.0])
def test_after_a_pause_it_is_led_home_again(at_home, seconds):
    bench = at_home
    bench.live(seconds)
    bench.take(bench.conductor.pause(bench.now_ns, 'a cable'))
    assert bench.conductor.command(bench.now_ns) == (), 'hold where you are'
    if bench.spans[-1].broken_off:
        answer(bench.conductor, valid=False, broken_off=True)
    bench.live(5)
    assert bench.conductor.command(bench.now_ns) == ()
    bench.spans.clear()
    bench.take(bench.conductor.resume(bench.now_ns, bench.now_ns + SECOND))
    bench.live(60)
    begun = [name for name in names(bench.new_phases()) if name != 'IDLE']
    assert begun == ['RETURN', 'RETURN', *WAY[:-1]]


def test_after_a_skipped_case_it_is_led_home_and_holds_meanwhile(at_home):
    bench = at_home
    bench.live(6)
    bench.spans.clear()
    bench.take(bench.conductor.skip(bench.now_ns, 'by the operator'))
    assert bench.spans[-1].command == ()
    answer(bench.conductor, valid=False, skipped=True)
    bench.live(60)
    assert names(bench.new_phases()) == ['SKIPPED', 'RETURN', 'RETURN', *WAY]


# Endings -----------------------------------------------------------------------------------------


@pytest.mark.parametrize('attended', [True, False])
def test_a_robot_that_does_not_arrive_is_told_of_with_its_distance(specification, attended):
    bench = Bench(specification, attended, delay_ns=100 * SECOND)
    bench.sent.append((-200 * SECOND, (-0.55, -0.2, 0.4, math.pi, 0.0, 0.0)))
    bench.start()
    bench.live(40)
    last = bench.spans[-1]
    assert last.phase is (Phase.PAUSED if attended else Phase.ABORTED)
    assert last.reason == (
        'RETURN of test 0 did not end within 30 s: it is 0.1000 m from where it was sent, at most '
        '0.005 m allowed'
    )


def test_a_silent_sensor_ends_no_phase(specification):
    bench = Bench(specification, attended=True)
    bench.start()
    bench.live(40, sensor=False)
    assert bench.spans[-1].reason == (
        'RETURN of test 0 did not end within 30 s: no sample of the body was heard'
    )


def test_a_clock_that_is_behind_is_told_of(specification):
    bench = Bench(specification, attended=True)
    bench.start()
    bench.conductor.on_body(body_sample(SECOND // 2, (0.0, 0.0, 0.0), UPRIGHT, frame='base'))
    bench.live(40, sensor=False)
    assert 'the newest sample of the body is 30.5' in bench.spans[-1].reason


def test_a_confirmed_phase_waits_for_the_word_and_for_no_other(content, write):
    content['protocol']['move'] = {'ends': 'confirm', 'timeout': 600.0}
    bench = Bench(load(write(content)))
    assert not bench.conductor.confirm()
    bench.start()
    bench.live(30)
    assert names(bench.new_phases()) == ['RETURN']
    assert bench.conductor.confirm()
    bench.live(30)
    assert names(bench.new_phases()) == ['RETURN', 'RETURN']
    assert bench.conductor.confirm()
    bench.live(30)
    assert names(bench.new_phases()) == ['RETURN', 'RETURN', 'DWELL', 'MOVE']


def test_nobody_who_confirms_is_told_of(content, write):
    content['protocol']['move'] = {'ends': 'confirm', 'timeout': 5.0}
    bench = Bench(load(write(content)), attended=True)
    bench.start()
    bench.live(10)
    assert bench.spans[-1].reason == (
        'RETURN of test 0 did not end within 5 s: nobody has confirmed it'
    )


def test_a_phase_may_end_by_time_alone(content, write):
    content['protocol']['move'] = {'ends': 'time', 'seconds': 4.0}
    content['protocol']['settle'] = {'ends': 'time', 'seconds': 2.0}
    specification = load(write(content))
    assert specification.feedback is None
    bench = Bench(specification)
    bench.start()
    bench.live(40, sensor=False)
    assert names(bench.new_phases()) == ['RETURN', 'RETURN', *WAY]


# The whole ---------------------------------------------------------------------------------------


def test_a_campaign_of_an_arm_gives_a_number_of_millimetres(content, write):
    content['tester'].update(stopping={'rule': 'fixed', 'tests': 5})
    tests = []
    specification = load(write(content))
    runs = [
        run_in_process(specification, Arm(), 3, on_test=lambda record, _: tests.append(record))
        for _ in range(2)
    ]
    assert runs[0] == runs[1]
    assert len(tests) == 10
    assert all(test.valid and 0.0 < test.psi < 0.3 for test in tests)


def test_an_arm_that_is_never_slow_enough_ends_the_campaign_with_the_reason(content, write):
    content['protocol']['settle']['speed'] = 1e-9
    content['protocol']['move'] = {'ends': 'settle', 'speed': 1e-18, 'timeout': 3.0}
    content['protocol']['feedback'] = {'type': 'geometry_msgs/msg/PoseStamped'}  # it has noise
    with pytest.raises(CampaignError, match='RETURN of test 0 did not end within 3 s: it moves'):
        run_in_process(load(write(content)), Arm(), 3)


EVENTS = st.one_of(
    st.tuples(st.just('live'), st.floats(0.1, 8.0)),
    st.tuples(st.just('deaf'), st.floats(0.1, 3.0)),
    st.tuples(st.just('answer'), st.booleans()),
    st.tuples(st.sampled_from(['pause', 'resume', 'skip', 'confirm', 'abort']), st.none()),
)


@given(events=st.lists(EVENTS, max_size=12), attended=st.booleans(), ends=st.booleans())
def test_no_sequence_of_events_gives_a_new_goal_outside_a_move(events, attended, ends):
    specification = load(ROOT / 'config' / 'ur10e_positioning.yaml')
    if ends:
        specification = with_confirmed_moves(specification)
    space = specification.protocol.command_space(specification.box)
    bench = Bench(specification, attended)
    bench.start()
    conductor = bench.conductor
    goal = ()
    for kind, value in events:
        now = bench.now_ns
        if kind in ('live', 'deaf'):
            bench.live(value, sensor=kind == 'live')
        elif kind == 'answer' and conductor.case is not None:
            answer(conductor, valid=value)
        elif kind == 'confirm':
            conductor.confirm()
        elif kind == 'resume':
            bench.take(conductor.resume(now, now + SECOND))
        elif kind in ('pause', 'skip', 'abort'):
            bench.take(getattr(conductor, kind)(now, 'told to'))
            assert conductor.command(now) == () or kind == 'skip'
        command = conductor.command(bench.now_ns)
        assert space.fault(command) == ''
    for span in bench.spans:
        if span.command not in (goal, ()):
            assert span.phase in (Phase.MOVE, Phase.RETURN) or span.step == 0
        goal = span.command
    assert not any(isinstance(each, Case | CountedAttempt) for each in bench.spans)


def with_confirmed_moves(specification):
    from repsq_ros.protocols.endings import ConfirmedEnding, SettledEnding

    def confirmed(steps):
        return tuple(
            replace(s, ending=ConfirmedEnding(600 * SECOND))
            if isinstance(s.ending, SettledEnding)
            else s
            for s in steps
        )

    protocol = specification.protocol
    return replace(
        specification,
        protocol=replace(
            protocol, steps=confirmed(protocol.steps), homing=confirmed(protocol.homing)
        ),
    )
