"""A recorded campaign gives its result again: from the bag alone, and played over DDS."""

import pytest
from support.graph import KEPT, graph

from repsq_ros import messages, topics
from repsq_ros.cli import main
from repsq_ros.console.processes import LOSSLESS
from repsq_ros.replay.bag import Bag
from repsq_ros.replay.reevaluate import evaluate, fold, read_samples
from repsq_ros.replay.segments import own_segments
from repsq_ros.specification.inputs import input_of_source
from repsq_ros.specification.load import load

pytest.importorskip('rosbags')

from support.recording import SENSORS, play


@pytest.mark.parametrize('source', ['odometry', 'mocap'])
def test_the_bag_alone_gives_the_recorded_result_to_the_last_bit(recorded, source):
    bag_path, file, result = recorded
    specification = load(file)
    with Bag(bag_path) as bag:
        segments = own_segments(bag, '', specification.digest)
        read = input_of_source(source)
        samples = read_samples(bag, f'/{read.topic}', read)
    assert len(segments) == result.n
    if source == 'odometry':
        again = fold(specification, evaluate(specification, samples, segments), 'lab')
        assert again == result
    else:
        from dataclasses import replace

        by_pose = replace(specification, measure=replace(specification.measure, input=read))
        assert all(e.outcome.valid for e in evaluate(by_pose, samples, segments))


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
        again = messages.result_of(nodes.result())
        player.destroy_node()
        nodes.listener.until((tmp_path / 'again' / 'result.yaml').exists)
    assert again == result
