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

"""A simulator that answers on a topic, and a campaign over DDS on its answers."""

import threading
from contextlib import contextmanager

import pytest
from support.campaigns import in_process, over_dds
from support.graph import domain_of_its_own

from repsq_ros.cli import main
from repsq_ros.errors import CampaignError
from repsq_ros.msg import TestCommand, TestMeasurement
from repsq_ros.nodes import qos, twin_questions
from repsq_ros.nodes.runtime import own_node
from repsq_ros.simulation.build import make_subject
from repsq_ros.specification.load import load
from repsq_ros.studies.simulated_twins import answers_of

NAME = 'other'


class OtherSimulator:
    """Answers as the surrogate does; it does not hear each third case, and has no answer to one.

    :param spoil: changes an answer
    """

    def __init__(self, node, file, spoil):
        self._ask = answers_of(load(file), make_subject('surrogate', ''))
        self._spoil, self._heard = spoil, 0
        self._out = node.create_publisher(TestMeasurement, f'{NAME}/answer', qos.COMMAND)
        node.create_subscription(TestCommand, f'{NAME}/case', self._answer, qos.COMMAND)

    def _answer(self, message):
        self._heard += 1
        if self._heard % 3 == 0:
            return
        s = self._ask(tuple(message.x))
        answer = TestMeasurement(index=message.index, x=message.x, psi=s, valid=message.index != 1)
        self._spoil(answer)
        self._out.publish(answer)


@contextmanager
def answering(file, spoil=lambda answer: None):
    """Let another simulator answer, in a thread of its own."""
    ended = threading.Event()
    with own_node('other_simulator') as (node, executor):
        OtherSimulator(node, file, spoil)

        def answer():
            while not ended.is_set():
                executor.spin_once(timeout_sec=0.05)

        thread = threading.Thread(target=answer)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()


@pytest.fixture
def plain(short):
    short['tester'] = {'proposal': 'monte_carlo', 'seed': 7, 'stopping': {'rule': 'anytime'}}
    short['tester']['max_tests'] = 6
    short['accuracy']['gamma'] = 0.1
    return short


def ask(file, table, *more):
    return main(['twin', str(file), '--tests', '12', '--output', str(table), *more])


def test_a_topic_is_asked_until_each_case_has_its_answer(
    plain, write, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(twin_questions, 'AGAIN', 0.3)
    file, table, expected = write(plain), tmp_path / 'twin.csv', tmp_path / 'by_subject.csv'
    assert ask(file, expected, '--subject', 'surrogate', '--processes', '1') == 0
    with domain_of_its_own(), answering(file):
        assert ask(file, table, '--topic', NAME, '--subject', 'surrogate') == 0
        assert ask(file, table, '--topic', NAME, '--subject', 'surrogate', '--check') == 0
    assert '1 of 18 cases without an answer' in capsys.readouterr().out
    rows = [line.split(',') for line in table.read_text().splitlines()]
    assert rows[0][-2:] == ['s', 's2']
    by_subject = [line.split(',') for line in expected.read_text().splitlines()]
    assert [row[:-1] for row in rows[1:]] == by_subject[1:]
    assert [row[-1] == row[-2] for row in rows[1:]] == [place != 1 for place in range(18)]
    assert float(rows[2][-1]) == 0.5


def test_a_campaign_over_dds_counts_with_several_simulators_as_in_one_process(
    plain, write, tmp_path
):
    subjects = ['--subject', 'surrogate', '--subject', 'surrogate:lag=0.4']
    assert ask(write(plain), tmp_path / 'twin.csv', *subjects, '--processes', '1') == 0
    plain['tester']['control'] = {'type': 'twin', 'file': 'twin.csv'}
    file = write(plain)
    result, _ = over_dds(tmp_path / 'graph', file)
    assert result == in_process(file)[0]


@pytest.mark.parametrize(
    ('spoil', 'told'),
    [
        (lambda answer: setattr(answer, 'x', [0.0] * len(answer.x)), 'expected its x'),
        (lambda answer: setattr(answer, 'psi', float('nan')), 'a finite psi'),
        (lambda answer: setattr(answer, 'valid', False), 'found valid false in each answer'),
        (lambda answer: setattr(answer, 'index', answer.index % 2), 'no answer for 2 s to case 2'),
    ],
)
def test_what_is_no_answer_is_told_and_nothing_is_written(
    plain, write, tmp_path, monkeypatch, capsys, spoil, told
):
    monkeypatch.setattr(twin_questions, 'AGAIN', 0.3)
    file, table = write(plain), tmp_path / 'twin.csv'
    with domain_of_its_own(), answering(file, spoil):
        assert ask(file, table, '--topic', NAME, '--within', '2') == CampaignError.exit_code
    assert told in capsys.readouterr().err
    assert not table.exists()
