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

"""What the nodes say to each other comes late, twice, out of order or from a new process."""

import signal
import time
from itertools import pairwise

import pytest
from support.campaigns import AS_FAST_AS_POSSIBLE, in_process, journalled, outcomes, undisturbed
from support.graph import at_rest
from support.relay import Relay, doubled_and_late, swapped

from repsq_ros import topics
from repsq_ros.messages import campaign_messages
from repsq_ros.msg import TestCommand, TestPhase
from repsq_ros.nodes import qos
from repsq_ros.sampling.marginals import Beta
from repsq_ros.sampling.proposals import Importance
from repsq_ros.specification.load import load

LATE = 3  # the test whose measurement is late
LAST = 9  # of ten
SECOND = 20  # commands in a second
LONG = 10.0  # [s] beside a timeout of 2 s


@pytest.fixture
def ten_tests(short, write):
    short['tester'].update(stopping={'rule': 'fixed', 'tests': LAST + 1}, max_tests=LAST + 1)
    return write(short)


def start(nodes, file, folder, remappings, **scheduler):
    nodes.start_campaign(
        file, AS_FAST_AS_POSSIBLE, estimator={'output': str(folder)}, remappings=remappings,
        output=str(folder), seed=7, **scheduler,
    )  # fmt: skip


def assert_as_undisturbed(nodes, file, folder):
    """Nothing is lost and nothing doubled: result, journal and table are those of one process."""
    expected, tests = in_process(file)
    assert undisturbed(campaign_messages.result_of(nodes.result())) == undisturbed(expected)
    assert nodes.wait('scheduler') == 0
    kept = journalled(folder)
    assert outcomes(kept) == outcomes(record for record, _ in tests)
    assert len((folder / 'tests.csv').read_text().splitlines()) == 1 + len(kept)


# A late measurement ------------------------------------------------------------------------------


class HeldMeasurement:
    """A way from the measurement node to its listeners that holds one measurement back.

    What is asked for again is held back as well, until `release`, where it is to be late.
    """

    def __init__(self, listener):
        self.late = True
        self.message = None
        self.relay = Relay(listener, topics.TEST_MEASUREMENT, self._wanted)
        self.remappings = {'measurement': (self.relay.rule,)}

    def _wanted(self, message):
        if message.index != LATE or (self.message is not None and not self.late):
            return [message]
        if self.message is None:
            self.message, self.since = message, time.monotonic()
        return []

    def release(self):
        self.late = False
        self.relay.pass_on(self.message)


@pytest.fixture
def held(nodes):
    return HeldMeasurement(nodes.listener)


def issued(nodes):
    """How often the case of the late test was issued."""
    return sum(case.index == LATE for case in nodes.listener.heard[topics.TEST_COMMAND])


def test_a_measurement_late_by_far_holds_the_campaign(nodes, held, ten_tests, tmp_path):
    """The robot stands meanwhile; then the campaign goes on, and nothing is tested again."""
    folder, listener = tmp_path / 'campaign', nodes.listener
    start(
        nodes, ten_tests, folder, held.remappings, attended=True, measurement_timeout=8.0,
        lockstep=False,
    )  # fmt: skip
    listener.phase(TestPhase.PAUSED, f'test {LATE}: no measurement with its estimate came')
    listener.assert_at_rest()
    count = len(listener.commands())
    listener.until(lambda: time.monotonic() - held.since >= LONG)
    assert all(map(at_rest, listener.commands()[count:]))
    assert listener.is_in(TestPhase.PAUSED), 'nobody has resumed it'
    held.release()
    listener.latest(topics.ESTIMATE, lambda estimate: estimate.index == LATE)
    assert nodes.call('resume').success
    assert_as_undisturbed(nodes, ten_tests, folder)
    assert issued(nodes) == 1


def test_a_measurement_within_its_timeout_is_waited_for(nodes, held, ten_tests, tmp_path):
    folder, listener = tmp_path / 'campaign', nodes.listener
    start(nodes, ten_tests, folder, held.remappings, measurement_timeout=600.0)
    listener.until(lambda: held.message is not None)
    listener.until(lambda: all(map(at_rest, listener.commands()[-SECOND:])))
    count = len(listener.commands())
    listener.until(lambda: len(listener.commands()) > count + 3 * SECOND)
    assert all(map(at_rest, listener.commands()[count:]))
    held.release()
    assert_as_undisturbed(nodes, ten_tests, folder)
    assert issued(nodes) == 1
    assert not any('no measurement' in phase.reason for phase in listener.phases())


def test_a_measurement_that_got_lost_is_asked_for_again(nodes, held, ten_tests, tmp_path):
    """The scheduler says once more that the test is over, and the measurement node its answer."""
    folder = tmp_path / 'campaign'
    held.late = False
    start(nodes, ten_tests, folder, held.remappings)
    assert_as_undisturbed(nodes, ten_tests, folder)
    assert issued(nodes) == 1


# A new estimator ---------------------------------------------------------------------------------


def start_estimator_anew(nodes, file, folder):
    nodes.start('estimator', {
        'specification': str(file), 'use_sim_time': True, 'output': str(folder),
    })  # fmt: skip


@pytest.mark.parametrize('lockstep', [False, True])
def test_an_estimator_that_died_before_the_last_test_was_counted(
    nodes, ten_tests, tmp_path, lockstep
):
    """Its successor knows the journal, hears the last test, and gives the result."""
    folder, listener = tmp_path / 'campaign', nodes.listener
    relay = Relay(
        listener, topics.TEST_MEASUREMENT, lambda m: [m] if m.index < LAST else [], to_hearer=True
    )
    start(nodes, ten_tests, folder, {'estimator': (relay.rule,)}, attended=True, lockstep=lockstep)
    listener.until(lambda: relay.kept and relay.kept[-1].index == LAST)
    nodes.signal('estimator', signal.SIGKILL)
    if not lockstep:
        listener.phase(TestPhase.PAUSED, 'no sign of life from the estimator node')
    assert not listener.results()
    # Its estimate may end the campaign before the scheduler has seen that it is another process.
    start_estimator_anew(nodes, ten_tests, folder)
    assert_as_undisturbed(nodes, ten_tests, folder)


def test_an_estimator_that_died_before_its_result_was_heard(nodes, ten_tests, tmp_path):
    """The rule was met, and nobody heard the result: its successor tells it from the journal."""
    folder, listener = tmp_path / 'campaign', nodes.listener
    unheard = (f'{topics.QUANTIZED_RESULT}:=unheard/{topics.QUANTIZED_RESULT}',)
    start(nodes, ten_tests, folder, {'estimator': unheard})
    listener.latest(topics.ESTIMATE, lambda estimate: estimate.stopped)
    listener.phase(TestPhase.DONE)
    nodes.signal('estimator', signal.SIGKILL)
    nodes.wait('estimator')
    assert not listener.results()
    start_estimator_anew(nodes, ten_tests, folder)
    assert_as_undisturbed(nodes, ten_tests, folder)


# Doubled and out of order ------------------------------------------------------------------------


def test_messages_that_come_twice_and_out_of_order_change_nothing(nodes, ten_tests, tmp_path):
    """Cases, measurements and estimates once more when they are old; each window after its end.

    The robot hears the scheduler itself: a real one hears no phases at all.
    """
    folder, listener = tmp_path / 'campaign', nodes.listener
    windows = swapped(lambda phase: phase.phase == TestPhase.COMMAND)
    cases = Relay(listener, topics.TEST_COMMAND, doubled_and_late(), 'scheduler')
    phases = Relay(listener, topics.TEST_PHASE, windows, 'scheduler')
    measurements = Relay(listener, topics.TEST_MEASUREMENT, doubled_and_late())
    estimates = Relay(listener, topics.ESTIMATE, doubled_and_late(), 'estimator')
    remappings = {
        'scheduler': (cases.rule, phases.rule), 'simulated_robot': (phases.rule,),
        'measurement': (measurements.rule,), 'estimator': (estimates.rule,),
    }  # fmt: skip
    start(nodes, ten_tests, folder, remappings)
    assert_as_undisturbed(nodes, ten_tests, folder)
    heard = listener.heard[topics.TEST_MEASUREMENT]
    listener.until(lambda: len(heard) >= 2 * LAST + 1)
    indices = [m.index for m in heard]
    assert any(later < sooner for sooner, later in pairwise(indices))
    # A phase that is heard again is answered again, with the same words.
    assert {m.index: m for m in measurements.kept} == {m.index: m for m in heard}
    phase_of = [phase.phase for phase in listener.phases() if phase.test.index == 0]
    dwell, command, idle = TestPhase.DWELL, TestPhase.COMMAND, TestPhase.IDLE
    assert phase_of[:6] == [dwell, dwell, idle, command, idle, command]


def test_cases_of_another_program_that_come_twice_and_out_of_order(nodes, short, write):
    short['tester'].update(
        proposal={'type': 'external', 'weight_bound': 1.7, 'accept_unproven_bound': True},
        stopping={'rule': 'anytime'}, max_tests=LAST + 1,
    )  # fmt: skip
    file = write(short)
    target = load(file).target
    marginals = tuple(Beta(0.83, 0.76) for _ in target.box.dimensions)
    other = Importance(target, type(target)(target.box, marginals))
    drawn = [other.draw(index, 5) for index in range(LAST + 1)]
    publisher = nodes.listener.node.create_publisher(TestCommand, topics.EXTERNAL_CASE, qos.RECORD)
    for index in range(0, LAST + 1, 2):
        for number in (index + 1, index) * 2:
            draw = drawn[number]
            publisher.publish(
                TestCommand(index=number, x=list(draw.x), log_q=draw.log_q, weight=draw.weight)
            )
    nodes.start_campaign(file, AS_FAST_AS_POSSIBLE, seed=7)
    assert nodes.result().n == LAST + 1
    commands = nodes.listener.heard[topics.TEST_COMMAND]
    nodes.listener.until(lambda: len(commands) == LAST + 1)
    assert [tuple(case.x) for case in commands] == [draw.x for draw in drawn]
    assert [case.weight for case in commands] == pytest.approx([draw.weight for draw in drawn])
