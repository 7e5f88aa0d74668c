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

"""A recorded campaign gives its result again: from the bag alone, and played over DDS."""

import pytest
from conftest import ROOT
from support.campaigns import journalled
from support.graph import KEPT, graph

from repsq_ros import topics
from repsq_ros.cli import main
from repsq_ros.launching.campaign_nodes import LOSSLESS
from repsq_ros.messages import campaign_messages
from repsq_ros.msg import TestPhase
from repsq_ros.recordings.bag import Bag
from repsq_ros.replay.evaluation import evaluate, fold, read_samples
from repsq_ros.replay.segments import own_segments
from repsq_ros.specification.input_section import input_of_source
from repsq_ros.specification.load import load

pytest.importorskip('rosbags')

from support.recording import SENSORS, Recorder, play


@pytest.mark.parametrize('source', ['odometry', 'mocap'])
def test_the_bag_alone_gives_the_recorded_result_to_the_last_bit(recorded, source):
    bag_path, file, result = recorded
    specification = load(file)
    with Bag(bag_path) as bag:
        segments = own_segments(bag, '', specification.digest)
        read = input_of_source(source)
        samples = read_samples(bag, f'/{read.topic}', read)
    assert sum(segment.ended is None for segment in segments) == result.n
    if source == 'odometry':
        again = fold(specification, evaluate(specification, samples, segments), 'lab')
        assert again == result
    else:
        from dataclasses import replace

        by_pose = replace(specification, measure=replace(specification.measure, input=read))
        evaluated = evaluate(by_pose, samples, segments)
        reasons = [e.outcome.reason for e in evaluated if e.segment.ended is None]
        assert not any(reasons)


def test_a_campaign_with_pauses_and_skips_gives_its_result_again(nodes, short, write, tmp_path):
    """Offline as online: what was skipped or broken off is counted, and not measured."""
    short['tester'].update(stopping={'rule': 'fixed', 'tests': 12}, max_tests=12)
    file, folder, listener = write(short), tmp_path / 'campaign', nodes.listener
    recorder = Recorder(listener.node)
    robot = {'speed': 3.0, 'seed': 7}
    nodes.start('simulated_robot', robot)
    listener.until(lambda: recorder.heard >= set(SENSORS))
    nodes.start_campaign(file, robot, seed=7, look_around=4.5, attended=True, output=str(folder))
    for index, service, phase in (
        (2, 'pause', TestPhase.COMMAND), (4, 'skip', TestPhase.COMMAND),
        (6, 'skip', TestPhase.DWELL), (8, 'pause', TestPhase.DWELL),
    ):  # fmt: skip
        listener.latest(
            topics.TEST_PHASE, lambda p, i=index, w=phase: (p.test.index, p.phase) == (i, w)
        )
        nodes.call(service)
        if service == 'pause':
            listener.until(lambda: nodes.call('resume').success)
    result = campaign_messages.result_of(nodes.result())
    listener.phase(TestPhase.DONE)
    listener.listen(2.0)
    recorder.write(tmp_path / 'bag', ROOT)
    assert (result.n, result.skipped) == (12, 2)
    assert result.broken_off >= 1
    specification = load(file)
    with Bag(tmp_path / 'bag') as bag:
        segments = own_segments(bag, '', specification.digest)
        samples = read_samples(bag, '/odom', specification.measure.input)
    evaluated = evaluate(specification, samples, segments)
    assert fold(specification, evaluated, 'lab') == result
    kept = journalled(folder)
    assert [(t.index, t.attempt, t.psi, t.skipped, t.broken_off) for t in kept] == [
        (s.index, s.attempt, e.outcome.psi, bool(s.ended and s.ended.skipped),
         bool(s.ended and s.ended.broken_off))
        for s, e in ((e.segment, e) for e in evaluated)
    ]  # fmt: skip


def test_reevaluate_prints_the_recorded_result(recorded, capsys):
    bag, file, result = recorded
    assert main(['reevaluate', str(bag), '--specification', str(file)]) == 0
    printed = capsys.readouterr().out
    assert f'result    {result.value:.6g}' in printed
    assert f'from {result.n} tests' in printed


def test_another_specification_is_refused(recorded, short, write, capsys):
    short['measure']['gain'] = 5.0
    assert main(['reevaluate', str(recorded[0]), '--specification', str(write(short))]) == 4
    assert 'found a campaign with specification digest' in capsys.readouterr().err


def test_the_bag_played_over_dds_gives_the_recorded_result(recorded, tmp_path):
    bag, file, result = recorded
    played = {'/odom': SENSORS['/odom']} | {
        f'/{topic}': KEPT[topic] for topic in (topics.TEST_COMMAND, topics.TEST_PHASE)
    }
    with graph(tmp_path) as nodes:
        common = {'specification': str(file), 'use_sim_time': True}
        nodes.start('measurement', {**common, **LOSSLESS})
        nodes.start('estimator', {**common, 'output': str(tmp_path / 'again')})
        player, _ = play(bag, played, nodes.listener.node.context, speed=1.0)
        again = campaign_messages.result_of(nodes.result())
        player.destroy_node()
        nodes.listener.until((tmp_path / 'again' / 'result.yaml').exists)
    assert again == result
