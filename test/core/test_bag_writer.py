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

"""Recordings that are written here: whole, with definitions, and safe from a kill."""

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
import yaml

from repsq_ros.errors import MissingError, OutputError
from repsq_ros.recordings.recording import Recording

pytest.importorskip('rosbags')

from support.bags import STORE, TWIST, twist

from repsq_ros.recordings.bag_writer import BagWriter, InstalledDefinitions, qos_of

OFFERED = {
    'history': 'keep_last', 'depth': 7, 'reliability': 'best_effort', 'durability': 'volatile',
    'liveliness': 'automatic', 'deadline': 2**63 - 1, 'lifespan': 1_500_000_000,
    'liveliness_lease_duration': 2**63 - 1,
}  # fmt: skip


def metadata_of(folder):
    text = (folder / 'metadata.yaml').read_text(encoding='utf-8')
    return yaml.safe_load(text)['rosbag2_bagfile_information']


RAW = bytes(STORE.serialize_cdr(twist(0.2), TWIST))


def test_what_was_written_is_read_again(tmp_path):
    with closing(BagWriter(tmp_path / 'bag')) as writer:
        writer.add('/cmd_vel', TWIST, [OFFERED])
        for k in range(3):
            writer.write('/cmd_vel', TWIST, 100 + k, RAW)
    assert writer.counts == {'/cmd_vel': 3}
    with Recording(tmp_path / 'bag') as bag:
        assert bag.topics() == {'/cmd_vel': TWIST}
        found = [(item.log_ns, item.message.linear.x) for item in bag.messages('/cmd_vel')]
        assert not bag.losses
    assert found == [(100, 0.2), (101, 0.2), (102, 0.2)]
    assert 'best_effort' in (tmp_path / 'bag' / 'metadata.yaml').read_text()


def test_limits_of_a_quality_of_service_are_told_as_rosbag2_tells_them():
    """A player offers what stands here: no limit has to be its RMW_DURATION_INFINITE."""
    qos = qos_of(OFFERED)
    assert (qos.lifespan.sec, qos.lifespan.nsec) == (1, 500_000_000)
    assert (qos.deadline.sec, qos.deadline.nsec) == (9223372036, 854775807)
    assert qos.liveliness_lease_duration == qos.deadline
    assert qos.depth == 7


def test_what_each_publisher_offers_is_kept(tmp_path):
    """Of one alone, rosbag2 would offer no more to all: here best effort to who needs reliable."""
    reliable = OFFERED | {'reliability': 'reliable', 'history': 'unknown', 'depth': 0}
    with closing(BagWriter(tmp_path / 'bag')) as writer:
        writer.add('/cmd_vel', TWIST, [OFFERED, reliable])
    [told] = metadata_of(tmp_path / 'bag')['topics_with_message_count']
    profiles = told['topic_metadata']['offered_qos_profiles']
    assert [each['reliability'] for each in profiles] == ['best_effort', 'reliable']
    assert [each['history'] for each in profiles] == ['keep_last', 'unknown']


def test_its_file_is_named_as_rosbag2_names_it(tmp_path):
    """`ros2 bag reindex`, for one whose recorder was killed, takes files with a number only."""
    with closing(BagWriter(tmp_path / 'bag')) as writer:
        writer.add('/cmd_vel', TWIST)
    names = sorted(each.name for each in (tmp_path / 'bag').iterdir())
    assert names == ['bag_0.mcap', 'metadata.yaml']
    found = metadata_of(tmp_path / 'bag')
    assert found['relative_file_paths'] == ['bag_0.mcap']
    assert [each['path'] for each in found['files']] == ['bag_0.mcap']


@pytest.mark.parametrize(('sourced', 'told'), [('kilted', 'kilted'), ('', 'jazzy')])
def test_it_names_the_distribution_as_rosbag2_does(sourced, told, tmp_path, monkeypatch):
    monkeypatch.setenv('ROS_DISTRO', sourced)
    with closing(BagWriter(tmp_path / 'bag')) as writer:
        writer.add('/cmd_vel', TWIST)
    assert metadata_of(tmp_path / 'bag')['ros_distro'] == told


def test_a_recording_of_nothing_is_whole(tmp_path):
    with closing(BagWriter(tmp_path / 'bag')):
        pass
    with Recording(tmp_path / 'bag') as bag:
        assert bag.topics() == {}


KILLED = """
import os, sys
from contextlib import closing
from pathlib import Path
from repsq_ros.recordings.bag_writer import BagWriter
writer = BagWriter(Path(sys.argv[1]))
writer.add('/cmd_vel', 'geometry_msgs/msg/Twist')
raw = bytes.fromhex(sys.argv[2])
for k in range(500):
    writer.write('/cmd_vel', 'geometry_msgs/msg/Twist', 100 + k, raw)
writer.flush()
writer.write('/cmd_vel', 'geometry_msgs/msg/Twist', 1000, raw)
os._exit(9)
"""


def test_who_is_killed_has_lost_nothing_that_was_flushed(tmp_path):
    done = subprocess.run(
        [sys.executable, '-c', KILLED, str(tmp_path / 'bag'), RAW.hex()], check=False
    )
    assert done.returncode == 9
    with Recording(tmp_path / 'bag', recover=True) as bag:
        assert len(list(bag.messages('/cmd_vel'))) == 500
        assert bag.losses


def test_a_type_of_ones_own_is_found_where_it_is_installed(tmp_path, monkeypatch):
    share = tmp_path / 'share'
    (share / 'lab_msgs' / 'msg').mkdir(parents=True)
    (share / 'lab_msgs' / 'msg' / 'Inner.msg').write_text('float64 x  # [m] a place\n')
    (share / 'lab_msgs' / 'msg' / 'Outer.msg').write_text(
        'std_msgs/Header header\nlab_msgs/Inner[] inner\nuint8 MODE=3\nuint8[3] modes\n'
    )
    monkeypatch.setenv('AMENT_PREFIX_PATH', os.pathsep.join(['/nowhere', str(tmp_path)]))
    with closing(BagWriter(tmp_path / 'bag')) as writer:
        writer.add('/it', 'lab_msgs/msg/Outer')
    data = (tmp_path / 'bag' / 'bag_0.mcap').read_bytes()
    for part in (b'MSG: lab_msgs/Inner', b'MSG: std_msgs/Header', b'uint8 MODE=3', b'uint8[3]'):
        assert part in data
    if (Path(sys.prefix) / 'share' / 'std_msgs').exists():  # all of it is installed: as it stands
        assert b'float64 x  # [m] a place\n' in data


@pytest.mark.parametrize('kind', ['nav_msgs/msg/Odometry', 'std_msgs/msg/Empty', 'lab_msgs/msg/A'])
def test_a_definition_is_the_one_that_is_installed(kind, tmp_path, monkeypatch):
    """With its comments, and before what Jazzy has: who changed it has recorded what is said."""
    share = tmp_path / 'share'
    texts = {
        'nav_msgs/msg/Odometry': 'lab_msgs/A a\nlab_msgs/A[] more  # [m]\n',
        'lab_msgs/msg/A': '# Of the lab\nB b\n',
        'lab_msgs/msg/B': 'float64 x  # [m]',
        'std_msgs/msg/Empty': '',
    }
    for name, text in texts.items():
        (share / name).parent.mkdir(parents=True, exist_ok=True)
        (share / f'{name}.msg').write_text(text)
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(tmp_path))
    definitions = InstalledDefinitions()
    definitions.store_with(kind)
    line = '\n' + 80 * '=' + '\nMSG: '
    inner = f'{texts["lab_msgs/msg/A"]}{line}lab_msgs/B\nfloat64 x  # [m]'
    expected = {
        'nav_msgs/msg/Odometry': f'{texts["nav_msgs/msg/Odometry"]}{line}lab_msgs/A\n{inner}',
        'lab_msgs/msg/A': inner,
        'std_msgs/msg/Empty': '',
    }
    assert definitions.text_of(kind) == expected[kind]


def test_a_definition_that_is_not_installed_is_that_of_jazzy(tmp_path, monkeypatch):
    monkeypatch.setenv('AMENT_PREFIX_PATH', '')
    monkeypatch.setattr(sys, 'prefix', str(tmp_path))
    with closing(BagWriter(tmp_path / 'bag')) as writer:
        writer.add('/cmd_vel', TWIST)
    assert b'MSG: geometry_msgs/Vector3' in (tmp_path / 'bag' / 'bag_0.mcap').read_bytes()
    [told] = metadata_of(tmp_path / 'bag')['topics_with_message_count']
    # share/geometry_msgs/msg/Twist.json of Jazzy
    assert told['topic_metadata']['type_description_hash'] == (
        'RIHS01_9c45bf16fe0983d80e3cfe750d6835843d265a9a6c46bd2e609fcddde6fb8d2a'
    )


def test_a_type_that_nobody_knows_is_told(tmp_path):
    with (
        closing(BagWriter(tmp_path / 'bag')) as writer,
        pytest.raises(MissingError, match='found no definition of lab_msgs/msg/Nothing'),
    ):
        writer.add('/it', 'lab_msgs/msg/Nothing')


def test_a_recording_is_never_overwritten(tmp_path):
    (tmp_path / 'bag').mkdir()
    with pytest.raises(OutputError, match='found it there already, expected a new folder'):
        BagWriter(tmp_path / 'bag')
    (tmp_path / 'file').touch()
    with pytest.raises(OutputError, match='expected a folder that can be written'):
        BagWriter(tmp_path / 'file' / 'bag')


@pytest.mark.skipif(not Path('/dev/full').exists(), reason='no /dev/full')
def test_a_full_disk_is_told_in_one_line(tmp_path):
    writer = BagWriter(tmp_path / 'bag')
    writer.add('/cmd_vel', TWIST)
    writer._writer.storage.bio = Path('/dev/full').open('wb')  # noqa: SIM115
    writer.write('/cmd_vel', TWIST, 1, RAW)
    with pytest.raises(OutputError, match='No space left on device, expected room'):
        writer.flush()
