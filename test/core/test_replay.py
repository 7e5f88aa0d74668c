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

"""Recordings go through the same measure; what is wrong with them is told in one line."""

import shutil

import numpy as np
import pytest
from support.bags import read_samples

from repsq_ros.cli import main
from repsq_ros.errors import BagError
from repsq_ros.recordings.recording import Recording
from repsq_ros.specification.input_section import input_of_source

pytest.importorskip('rosbags')


@pytest.fixture
def walks(recordings):
    return recordings / 'reemc_walks_mcap'


def reevaluate(bag, specification, *options):
    return main(['reevaluate', str(bag), '--specification', str(specification), *options])


COMMANDS = ('--command-topic', '/cmd_vel', '--label-topic', '/trial')


# This odometry leaves the yaw rate at zero while its heading sways: psi is off by up to 0.023.
NO_YAW_RATE = {'largest_error': 1.0}


def test_walks_whose_odometry_has_no_yaw_rate_are_told(walks, content, write, capsys):
    assert reevaluate(walks, write(content), *COMMANDS, '--settle', '2', '--window', '14') == 0
    assert 'the twist has no yaw rate: velocity: slope?' in capsys.readouterr().out


def test_nineteen_real_walks_through_the_measure(walks, content, write, capsys):
    content['measure']['validity'] = NO_YAW_RATE
    assert reevaluate(walks, write(content), *COMMANDS, '--settle', '2', '--window', '14') == 0
    lines = capsys.readouterr().out.splitlines()
    rows = [line.split() for line in lines[2:21]]
    assert [row[-1] for row in rows][:2] == [
        '2021_02_19_12_no_fall_1_base.csv', '2021_02_19_12_no_fall_2_base.csv',
    ]  # fmt: skip
    psi = np.array([float(row[4]) for row in rows])
    assert lines[21].startswith('19 valid of 19: mean psi 0.67')
    # Read straight from the bag, without the package: the first walk, 2 to 16 s after its command.
    assert psi[0] == pytest.approx(straight_from_the_bag(walks), abs=1e-6)
    assert lines[22] == 'note      protocol: window 14 s in place of 3 s'
    assert lines[23] == 'No estimate of r*: the recording does not say how its cases were drawn.'


def straight_from_the_bag(walks):
    from pathlib import Path

    from rosbags.highlevel import AnyReader

    with AnyReader([Path(walks)]) as reader:
        raw = [
            (c.topic, t, reader.deserialize(data, c.msgtype)) for c, t, data in reader.messages()
        ]
    commands = [(t, m) for topic, t, m in raw if topic == '/cmd_vel']
    begin, twist = commands[0]
    command = np.array([twist.linear.x, twist.linear.y, twist.angular.z])
    errors = [
        np.array([m.twist.twist.linear.x, m.twist.twist.linear.y, m.twist.twist.angular.z])
        - command
        for topic, _, m in raw
        if topic == '/odom'
        and begin + 2_000_000_000
        <= m.header.stamp.sec * 1_000_000_000 + m.header.stamp.nanosec
        < begin + 16_000_000_000
    ]
    return 1 - np.exp(-6 * np.sqrt(np.mean(np.sum(np.square(errors), axis=1))))


def test_the_papers_sum_saturates_on_real_walks(walks, content, write, capsys):
    content['measure'].update(reduction='sum', state_rate=50.0)
    assert reevaluate(walks, write(content), *COMMANDS) == 0
    assert '19 valid of 19: mean psi 1.000000' in capsys.readouterr().out


def test_real_poses_at_rest_go_through_the_mocap_route(recordings):
    for folder in ('optitrack_static_mcap', 'optitrack_static_sqlite3'):
        with Recording(recordings / folder) as bag:
            samples = read_samples(
                bag, '/vrpn_client_node/IndexFinger/pose', input_of_source('mocap')
            )
        assert len(samples) > 1000
        assert all(not s.broken.any() for s in samples)


def test_a_bag_in_several_files_is_read_whole(recordings):
    with Recording(recordings / 'rosbag2_split_sqlite3') as bag:
        topics = bag.topics()
        count = sum(1 for _ in bag.messages(*topics))
    import yaml

    metadata = yaml.safe_load(
        (recordings / 'rosbag2_split_sqlite3' / 'metadata.yaml').read_text()
    )['rosbag2_bagfile_information']
    assert count == metadata['message_count']


def damaged_copy(walks, tmp_path, damage):
    copy = tmp_path / 'copy'
    shutil.copytree(walks, copy)
    copy.chmod(0o755)
    for file in copy.iterdir():
        file.chmod(0o644)
    damage(copy / 'reemc_odom_mcap.mcap', copy / 'metadata.yaml')
    return copy


@pytest.mark.parametrize(
    ('damage', 'told'),
    [
        (lambda mcap, meta: meta.unlink(), 'found no metadata.yaml, expected a recorded bag: ros2 '
         'bag reindex'),
        (lambda mcap, meta: mcap.unlink(), 'cannot be read'),
        (lambda mcap, meta: mcap.write_bytes(mcap.read_bytes()[:1_000_000]), 'cannot be read'),
        (lambda mcap, meta: mcap.write_bytes(b''), 'cannot be read'),
        (lambda mcap, meta: mcap.write_bytes(b'\x89MCAP0\r\n'), 'cannot be read'),
        (lambda mcap, meta: meta.write_text('nothing: here'), 'cannot be read'),
        (lambda mcap, meta: meta.write_text('- ['), 'cannot be read'),
    ],
)  # fmt: skip
def test_a_damaged_bag_is_told_in_one_line(damage, told, walks, content, write, tmp_path, capsys):
    copy = damaged_copy(walks, tmp_path, damage)
    assert reevaluate(copy, write(content), *COMMANDS) == 4
    line = capsys.readouterr().err
    assert line.count('\n') == 1
    assert line.startswith(f'repsq: {copy}')
    assert told in line


@pytest.mark.parametrize(
    ('options', 'told'),
    [
        ((), 'found no topic /repsq/test_command, expected one of those there: /cmd_vel'),
        (('--command-topic', '/nowhere'), 'found no topic /nowhere'),
        (('--command-topic', '/odom'), 'found nav_msgs/msg/Odometry on /odom, expected geometry'),
        (('--sensor-topic', '/cmd_vel', *COMMANDS), 'expected nav_msgs/msg/Odometry'),
        (
            ('--command-topic', '/cmd_vel', '--label-topic', '/odom'),
            'expected std_msgs/msg/String',
        ),
    ],
)
def test_a_topic_that_is_not_there_is_told(options, told, walks, content, write, capsys):
    assert reevaluate(walks, write(content), *options) == 4
    line = capsys.readouterr().err
    assert line.count('\n') == 1
    assert told in line


def test_a_path_that_is_no_bag_is_told(tmp_path):
    with pytest.raises(BagError, match=r'does not exist|missing'):
        Recording(tmp_path / 'nowhere')
    with pytest.raises(BagError, match='no metadata'):
        Recording(tmp_path)
    text = tmp_path / 'notes.txt'
    text.write_text('no bag')
    with pytest.raises(BagError, match='cannot be read'):
        Recording(text)


def test_one_file_of_a_bag_can_be_read_without_metadata(recordings):
    with Recording(recordings / 'rosbag2_no_metadata' / 'multiple_files_0.mcap') as bag:
        assert bag.topics()
