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

"""One attempt, step by step: when a phase that ends by settling ends, and what prolongs it."""

from dataclasses import replace

import hypothesis.strategies as st
import pytest
import yaml
from conftest import ROOT
from hypothesis import given

from repsq_ros.campaign.protocol_run import ProtocolRun
from repsq_ros.measurement.inputs import Input
from repsq_ros.measurement.samples import body_sample
from repsq_ros.measurement.settling import Settling
from repsq_ros.protocols.endings import LATE_NS, LOOK_NS, SettledEnding, TimedEnding
from repsq_ros.protocols.phases import Phase, Span
from repsq_ros.protocols.protocol import Goal, Positions, Protocol, Step
from repsq_ros.simulation.arm import Arm
from repsq_ros.simulation.in_process import run_in_process
from repsq_ros.specification.load import load

MS = 1_000_000
SECOND = 1000 * MS
UPRIGHT = (0.0, 0.0, 0.0, 1.0)
GOAL = (0.1, 0.2, 0.3)
AWAY = (0.1, 0.2, 0.4)
BESIDE = (0.1, 0.2, 0.306)  # beyond what counts as there, and no jump
START_NS = 5 * SECOND
POSITIONS = Positions('base', (*AWAY, 0.0, 0.0, 0.0), (0.0, 0.0, -1.0), 0.0, 0.1, 0.1)


def walk_to_the_goal(hold_ns, then=()):
    """Begin an attempt whose first phase ends when the body has been at the goal for a while."""
    ending = SettledEnding(10 * SECOND, hold_ns, speed=0.01, within=0.005)
    protocol = Protocol('free', (Step(Phase.MOVE, Goal.TARGET, ending), *then), {}, POSITIONS)
    source = Input('geometry_msgs/msg/PoseStamped', 'tool_pose', frame='base')
    walk = ProtocolRun(protocol, Settling(source))
    walk.begin(0, 0, (*GOAL, 0.0, 0.0, 0.0), START_NS, home=False)
    return walk


def hear(walk, from_ns, until_ns, position=GOAL):
    """Let the body be seen each 10 ms, the last time at `until_ns`."""
    for stamp_ns in range(from_ns, until_ns + 1, 10 * MS):
        walk.on_body(body_sample(stamp_ns, position, UPRIGHT, frame='base'))


def test_the_newest_samples_are_not_yet_judged():
    """They may still come: what is there until 0.1 s before the end of the look decides."""
    walk = walk_to_the_goal(hold_ns=90 * MS)
    hear(walk, START_NS, START_NS + LOOK_NS - LATE_NS)
    assert walk.follow(START_NS + LOOK_NS) is None
    assert walk.over


def test_what_the_body_does_in_the_last_tenth_of_a_second_does_not_count():
    walk = walk_to_the_goal(hold_ns=90 * MS)
    hear(walk, START_NS, START_NS + LOOK_NS - LATE_NS)
    hear(walk, START_NS + LOOK_NS - LATE_NS + 10 * MS, START_NS + LOOK_NS, AWAY)
    walk.follow(START_NS + LOOK_NS)
    assert walk.over


def test_while_those_samples_are_awaited_nothing_is_decided():
    walk = walk_to_the_goal(hold_ns=90 * MS)
    hear(walk, START_NS, START_NS + LOOK_NS - LATE_NS - 10 * MS)
    assert walk.follow(START_NS + LOOK_NS + 50 * MS) is None
    assert not walk.over
    assert walk.span.start_ns == START_NS


def test_rest_from_before_the_phase_does_not_count_as_settled():
    """The body may stand at the goal since long ago: it has to stand there for the hold."""
    walk = walk_to_the_goal(hold_ns=LOOK_NS - LATE_NS + 10 * MS)
    hear(walk, START_NS - SECOND, START_NS + 2 * LOOK_NS)
    assert walk.span.end_ns == START_NS + 2 * LOOK_NS
    assert walk.follow(START_NS + 2 * LOOK_NS) is None
    assert walk.over


def looked_at(hold, position):
    """Return a finished walk and its number of looks; times in units of 10 ms."""
    walk, looks = walk_to_the_goal(10 * MS * hold), 1
    for k in range(1000):
        hear(walk, START_NS + 10 * MS * k, START_NS + 10 * MS * k, position(k))
        looks += walk.follow(START_NS + 10 * MS * (k - 1)) is not None
        if walk.over:
            return walk, looks
    raise AssertionError('it never ended')


@given(hold=st.integers(10, 120), away=st.lists(st.integers(0, 300), max_size=3))
def test_looks_that_cannot_end_a_phase_are_left_out_and_no_other(hold, away):
    """In units of 10 ms: it ends where looks of all multiples of LOOK_NS would have ended it."""
    walk, looks = looked_at(hold, lambda k: BESIDE if k in away else GOAL)
    look, late = LOOK_NS // (10 * MS), LATE_NS // (10 * MS)
    expected = next(
        end
        for end in range(look, 1000, look)
        if end - late >= hold and not {*range(end - late - hold, end - late)} & {*away}
    )
    assert walk.span.end_ns == START_NS + 10 * MS * expected
    assert looks <= expected // look - (hold + late - 1) // look


def test_a_body_on_its_way_is_looked_at_when_it_can_have_been_there_for_the_hold():
    """At 0.6 and 1.2 s, where it is slow enough and comes near enough after 0.45 s."""
    walk, looks = looked_at(50, lambda k: (0.1, 0.2, 0.3 + 0.00009 * max(100 - k, 0)))
    assert looks == 2
    assert walk.span.end_ns == START_NS + 1200 * MS


def test_rest_for_just_the_hold_counts():
    walk = walk_to_the_goal(hold_ns=LOOK_NS - LATE_NS)
    hear(walk, START_NS, START_NS + LOOK_NS)
    walk.follow(START_NS + LOOK_NS)
    assert walk.over


def test_a_prolonged_phase_begins_no_test():
    walk = walk_to_the_goal(hold_ns=90 * MS)
    first = walk.span
    hear(walk, START_NS, START_NS + LOOK_NS, AWAY)
    prolonged = walk.follow(START_NS + LOOK_NS)
    assert (prolonged.start_ns, prolonged.step) == (first.end_ns, first.step)
    assert first.begins_test(None)
    assert not prolonged.begins_test(first)


FIRST = Span(Phase.DWELL, 3, 1, 0, SECOND, (0.0, 0.0, 0.0))
NEXT = replace(FIRST, start_ns=SECOND, end_ns=2 * SECOND)


@pytest.mark.parametrize(
    'before, span, begins',
    [
        (None, FIRST, True),
        (FIRST, NEXT, False),
        (FIRST, replace(NEXT, attempt=2), True),
        (FIRST, replace(NEXT, index=4), True),
        (FIRST, replace(NEXT, start_ns=SECOND + 1), True),  # another attempt, after a pause
        (replace(FIRST, step=-1), NEXT, True),  # the way home is over
        (FIRST, replace(NEXT, step=1), False),
        (replace(FIRST, phase=Phase.MOVE), NEXT, True),
        (None, replace(FIRST, phase=Phase.IDLE), False),
        (None, replace(FIRST, end_ns=None), False),
    ],
)
def test_which_phase_begins_a_test(before, span, begins):
    assert span.begins_test(before) is begins


class CountedArm(Arm):
    """An arm that counts how often it is put where a test begins."""

    resets = 0

    def reset(self, generator, index):
        self.resets += 1
        super().reset(generator, index)


def test_a_simulated_test_goes_on_while_its_first_phase_is_prolonged(write):
    content = yaml.safe_load((ROOT / 'config' / 'ur10e_positioning.yaml').read_text())
    content['tester']['max_tests'] = 3
    specification = load(write(content))
    protocol = specification.protocol
    settles = next(s for s in protocol.steps if isinstance(s.ending, SettledEnding))
    # The dwell before the way is left out: a test begins with a phase that ends by settling.
    steps = protocol.steps[1:]
    assert isinstance(protocol.steps[0].ending, TimedEnding)
    assert steps[0].ending == settles.ending
    specification = replace(specification, protocol=replace(protocol, steps=steps, homing=()))
    arm = CountedArm()
    before = arm.resets
    result = run_in_process(specification, arm, seed=1)
    # Once to begin with, then for each test.
    assert arm.resets - before == 1 + result.n + result.invalid
