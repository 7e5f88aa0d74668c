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

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from repsq_ros import topics
from repsq_ros.cli import main
from repsq_ros.launching.campaign_nodes import LOSSLESS
from repsq_ros.messages import campaign_messages
from repsq_ros.recordings.recording import Recording
from repsq_ros.replay.bag_topics import TopicNames
from repsq_ros.replay.evaluated_campaign import evaluate_campaign
from repsq_ros.replay.evaluation import fold_records, records_of
from repsq_ros.replay.recorded_campaign import campaigns_in
from repsq_ros.replay.task import Task, reevaluate
from repsq_ros.specification.input_section import input_of_source
from repsq_ros.specification.load import load

pytest.importorskip('rosbags')

from support.bag_copies import copy_shuffled, copy_split, copy_to_sqlite3
from support.graph import KEPT, graph
from support.recording import CLEARANCE, SENSORS, play

COPIES = {
    'as recorded': lambda bag, target: shutil.copytree(bag, target),
    'converted to sqlite3': copy_to_sqlite3,
    'equal stamps shuffled': copy_shuffled,
    'split in three': copy_split,
}


@pytest.mark.parametrize('copy', COPIES)
def test_the_bag_alone_gives_the_recorded_campaign_to_the_last_bit(recorded, copy, tmp_path):
    """Offline as online: every psi, every field of the result, and what nobody measured."""
    bag = tmp_path / 'bag'
    COPIES[copy](recorded.bag, bag)
    done = reevaluate(Task(bag, recorded.specification))
    [row] = done.rows
    assert row.folded.result == recorded.result
    assert done.notes == ()
    assert [
        (s.index, s.attempt, o.psi, o.valid, o.samples, s.window.start_ns, s.window.end_ns,
         bool(s.ended and s.ended.skipped), bool(s.ended and s.ended.broken_off))
        for s, o in row.evaluated
    ] == [
        (t.index, t.attempt, t.psi, t.valid, t.samples, t.window_start_ns, t.window_end_ns,
         t.skipped, t.broken_off)
        for t in recorded.tests
    ]  # fmt: skip


def test_the_recorded_campaign_holds_all_that_can_happen(recorded):
    """... so that the tests above say something."""
    result, tests = recorded.result, recorded.tests
    assert (result.n, result.skipped, result.invalid) == (14, 2, 1)
    assert result.broken_off >= 1
    [invalid] = [t for t in tests if not (t.valid or t.skipped or t.broken_off)]
    assert (invalid.index, invalid.attempt, invalid.code) == (3, 0, 'reading')
    assert {t.index for t in tests if t.skipped} == {5, 6}
    with Recording(recorded.bag) as bag:
        [campaign] = campaigns_in(bag)
    assert (campaign.campaign_id, campaign.ending) == ('lab', 'done')


def test_another_sensor_measures_the_same_tests(recorded):
    own = load(recorded.specification)
    source = input_of_source('mocap')
    by_pose = replace(own.measure, input=source, conditions=(), condition_inputs=())
    with Recording(recorded.bag) as bag:
        found = evaluate_campaign(
            bag, own, TopicNames.of('', ()), measures={Path('pose'): by_pose}
        )
    evaluated = found.evaluated[Path('pose')]
    assert not any(e.outcome.reason for e in evaluated if e.segment.ended is None)
    assert fold_records(own, records_of(evaluated), 'lab').result.n == 14


def test_the_recording_is_one_that_others_open(recorded):
    """mcap with whole definitions; metadata.yaml beside it, with the offered QoS."""
    reader = pytest.importorskip('mcap.reader')
    [file] = recorded.bag.glob('*.mcap')
    with file.open('rb') as opened:
        summary = reader.make_reader(opened).get_summary()
        counts = {}
        for _, channel, message in reader.make_reader(opened).iter_messages():
            counts[channel.topic] = counts.get(channel.topic, 0) + 1
            assert message.log_time > 0
    schemas = {schema.name: schema for schema in summary.schemas.values()}
    phase = schemas['repsq_ros/msg/TestPhase']
    assert phase.encoding == 'ros2msg'
    text = phase.data.decode()
    assert 'MSG: repsq_ros/TestCommand' in text
    assert 'MSG: std_msgs/Header' in text
    assert 'uint8 SKIPPED=10' in text.replace(' = ', '=')
    assert all(channel.message_encoding == 'cdr' for channel in summary.channels.values())
    assert summary.statistics.message_count == sum(counts.values())
    for topic in ('/odom', '/mocap/pose', '/cmd_vel', '/condition/clearance', '/repsq/test_phase'):
        assert counts[topic] > 0
        assert f'{counts[topic]:9d}  {topic}\n' in recorded.said
    assert 'recorded  ' in recorded.said


def test_the_hash_of_each_type_is_that_of_the_installed_one(recorded):
    """rosbag2 refuses a recording whose types have other hashes."""
    import os
    import sys
    from pathlib import Path

    import yaml

    known = yaml.safe_load((recorded.bag / 'metadata.yaml').read_text())
    known = known['rosbag2_bagfile_information']
    prefixes = [*os.environ.get('AMENT_PREFIX_PATH', '').split(':'), sys.prefix]
    compared = 0
    for each in known['topics_with_message_count']:
        name = each['topic_metadata']['type']
        assert each['topic_metadata']['offered_qos_profiles']
        for prefix in prefixes:
            file = Path(prefix) / 'share' / f'{name}.json'
            if prefix and file.exists():
                hashes = {
                    entry['type_name']: entry['hash_string']
                    for entry in json.loads(file.read_text())['type_hashes']
                }
                assert each['topic_metadata']['type_description_hash'] == hashes[name]
                compared += 1
                break
    assert compared >= 5


def test_reevaluate_prints_the_recorded_result(recorded, capsys):
    assert main(
        ['reevaluate', str(recorded.bag), '--specification', str(recorded.specification)]
    ) == 0  # fmt: skip
    printed = capsys.readouterr().out
    assert printed.startswith(f're-evaluation of {recorded.bag}, campaign lab\n')
    assert f'result    {recorded.result.value:.6g}' in printed
    assert f'from {recorded.result.n} tests' in printed


def test_another_specification_is_refused(recorded, short, write, capsys):
    short['measure']['gain'] = 5.0
    assert main(['reevaluate', str(recorded.bag), '--specification', str(write(short))]) == 4
    assert 'found a campaign with specification digest' in capsys.readouterr().err


def test_the_bag_played_twice_over_dds_gives_the_recorded_result_once(recorded, tmp_path):
    """As a player does that loops: time runs back, and no test counts a second time."""
    played = {'/odom': SENSORS['/odom'], '/condition/clearance': CLEARANCE} | {
        f'/{topic}': KEPT[topic] for topic in (topics.TEST_COMMAND, topics.TEST_PHASE)
    }
    with graph(tmp_path) as nodes:
        common = {'specification': str(recorded.specification), 'use_sim_time': True}
        nodes.start('measurement', {**common, **LOSSLESS})
        nodes.start('estimator', {**common, 'output': str(tmp_path / 'again')})
        player, _ = play(recorded.bag, played, nodes.listener.node.context, speed=1.0, times=2)
        again = campaign_messages.result_of(nodes.result())
        nodes.listener.listen(2.0)
        estimates = nodes.listener.heard[topics.ESTIMATE]
        player.destroy_node()
        nodes.listener.until((tmp_path / 'again' / 'result.yaml').exists)
    assert again == recorded.result
    assert len(nodes.listener.results()) == 1
    keys = [(each.index, each.attempt) for each in estimates]
    assert sorted(set(keys)) == sorted((t.index, t.attempt) for t in recorded.tests)
    rows = (tmp_path / 'again' / 'tests.csv').read_text().splitlines()[1:]
    assert len(rows) == len(recorded.tests)
