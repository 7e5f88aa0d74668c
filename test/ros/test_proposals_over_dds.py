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

"""Proposals that learn, and cases of another program: over DDS as in one process."""

import re

import numpy as np
import pytest
from support.campaigns import AS_FAST_AS_POSSIBLE, in_process, over_dds

from repsq_ros import topics
from repsq_ros.messages import campaign_messages
from repsq_ros.msg import TestCommand, TestMeasurement
from repsq_ros.nodes import qos
from repsq_ros.sampling.marginals import Beta
from repsq_ros.sampling.proposals import Importance
from repsq_ros.specification.load import load


@pytest.fixture
def adaptive(short):
    short['tester'].update(
        proposal={'type': 'adaptive', 'batch': 10, 'fit': 'moments'},
        stopping={'rule': 'anytime'},
    )
    return short


def test_an_adaptive_proposal_learns_the_same_over_dds_and_in_one_process(
    adaptive, write, tmp_path
):
    adaptive['accuracy']['gamma'] = 0.08
    file = write(adaptive)
    expected, tests = in_process(file)
    result, heard = over_dds(tmp_path / 'graph', file)
    assert result == expected
    assert result.n > 20, 'the proposal is to have learnt twice at least'
    commands = heard[topics.TEST_COMMAND]
    assert [(tuple(c.x), c.weight, c.weight_bound) for c in commands] == [
        (r.x, r.weight, r.weight_bound) for r, _ in tests
    ]
    bounds = [c.weight_bound for c in commands]
    assert len(set(bounds[:10])) == 1
    assert bounds[10] != bounds[9], 'the bound follows the proposal in force'
    assert all(c.weight <= c.weight_bound for c in commands)
    last = campaign_messages.estimate_record_of(heard[topics.ESTIMATE][-1])
    assert 1.0 < last.effective_sample_size <= last.n
    assert last.largest_weight == max(c.weight for c in commands) == result.largest_weight


@pytest.fixture
def external(short):
    short['tester'].update(
        proposal={'type': 'external', 'weight_bound': 1.7, 'accept_unproven_bound': True},
        stopping={'rule': 'anytime'},
    )
    return short


class OtherProgram:
    """Draws from Beta densities of its own, one case after each measurement."""

    def __init__(self, nodes, specification, spoil=lambda message: None):
        target = specification.target
        box = target.box
        marginals = tuple(Beta(0.83, 0.76) for _ in box.dimensions)
        self._proposal = Importance(target, type(target)(box, marginals))
        self._spoil = spoil
        self.drawn = []
        self._publisher = nodes.listener.node.create_publisher(
            TestCommand, topics.EXTERNAL_CASE, qos.RECORD
        )
        nodes.listener.node.create_subscription(
            TestMeasurement, topics.TEST_MEASUREMENT, self._on_message, qos.RECORD
        )
        self._offer()

    def _on_message(self, message):
        if message.index == len(self.drawn) - 1 and message.valid:
            self._offer()

    def _offer(self):
        draw = self._proposal.draw(len(self.drawn), 5)
        message = TestCommand(
            index=len(self.drawn), x=list(draw.x), log_q=draw.log_q, weight=draw.weight
        )
        self._spoil(message)
        self.drawn.append(draw)
        self._publisher.publish(message)


def test_cases_of_another_program_are_tested_in_their_order(external, write, nodes):
    file = write(external)
    nodes.start('simulated_robot', AS_FAST_AS_POSSIBLE)
    other = OtherProgram(nodes, load(file))
    nodes.start_campaign(file, AS_FAST_AS_POSSIBLE, seed=7)
    result = nodes.result()
    commands = nodes.listener.heard[topics.TEST_COMMAND]
    nodes.listener.until(lambda: len(commands) == result.n)
    assert [tuple(c.x) for c in commands] == [d.x for d in other.drawn[: len(commands)]]
    assert np.allclose(
        [c.weight for c in commands], [d.weight for d in other.drawn][: len(commands)]
    )
    assert not result.bound_proven
    assert 'declared and not proven' in result.guarantee
    assert result.weight_bound == 1.7


@pytest.mark.parametrize(
    ('spoil', 'told'),
    [
        (lambda m: setattr(m, 'weight', 3 * m.weight), 'external_case: weight'),
        (lambda m: m.x.__setitem__(0, 0.5), r'external_case: x = \(0\.5'),
        (lambda m: setattr(m, 'log_q', float('nan')), 'external_case: log_q nan'),
    ],
)
def test_a_wrong_case_stops_the_robot_and_is_told(spoil, told, external, write, nodes):
    file = write(external)
    nodes.start('simulated_robot', AS_FAST_AS_POSSIBLE)
    OtherProgram(nodes, load(file), lambda m: spoil(m) if m.index == 2 else None)
    nodes.start_campaign(file, AS_FAST_AS_POSSIBLE, seed=7)
    # The other program lives in this process: it is listened to until the end.
    nodes.listener.until(lambda: nodes.process('scheduler').poll() is not None)
    assert nodes.wait('scheduler') == 3
    assert re.search('case 2 on /repsq/' + told, nodes.output('scheduler'))
    nodes.listener.assert_at_rest()


def test_nothing_moves_before_the_first_case_is_there(external, write, nodes):
    nodes.start_campaign(write(external), AS_FAST_AS_POSSIBLE, seed=7, peer_timeout=6.0)
    assert nodes.wait('scheduler') == 3
    assert 'no first case of another program on /repsq/external_case' in nodes.output('scheduler')
