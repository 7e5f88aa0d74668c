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

"""Recordings as labs have them: of ROS 1, without metadata, with topics that nobody can read."""

import struct

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from repsq_ros.cli import main
from repsq_ros.errors import BagError
from repsq_ros.recordings.recording import Recording

pytest.importorskip('rosbags')

from support.made_bags import (
    CHANNELS,
    POSE,
    SECOND,
    START,
    mcap_of,
    raw_poses,
    storage_of,
    walk,
    write_bag,
)

TOPICS = ('--sensor-topic', '/mocap', '--command-topic', '/cmd_vel', '--settle', '1')
BETWEEN = '=' * 80
POSE_OF_ROS_1 = f"""Header header
geometry_msgs/Pose pose
{BETWEEN}
MSG: std_msgs/Header
uint32 seq
time stamp
string frame_id
{BETWEEN}
MSG: geometry_msgs/Pose
Point position
Quaternion orientation
{BETWEEN}
MSG: geometry_msgs/Point
float64 x
float64 y
float64 z
{BETWEEN}
MSG: geometry_msgs/Quaternion
float64 x
float64 y
float64 z
float64 w
"""


@pytest.fixture
def specification(content, write):
    content['measure']['source'] = 'mocap'
    return write(content)


def psi_of(path, specification, capsys, *options):
    """Return exit code and the lines of tests of a recording."""
    capsys.readouterr()
    words = ['reevaluate', str(path), '--specification', str(specification), *TOPICS, *options]
    code = main(words)
    return code, [x for x in capsys.readouterr().out.splitlines() if x[:4].strip().isdigit()]


def test_mcap_of_ros_1_is_read(tmp_path, capsys):
    def message(k):
        head = struct.pack('<III', k, START // SECOND + k, 5) + struct.pack('<I', 5) + b'world'
        return head + struct.pack('<7d', k, 0, 0, 0, 0, 0, 1)

    channels = {1: ('/mocap', 'geometry_msgs/PoseStamped', 'ros1', POSE_OF_ROS_1)}
    file = tmp_path / 'x.mcap'
    file.write_bytes(mcap_of(channels, [(1, START + k * SECOND, message(k)) for k in range(20)]))
    with Recording(file) as recording:
        assert recording.topics() == {'/mocap': POSE}
        (table,) = recording.arrays('/mocap')
    assert table.column('pose.position.x').tolist() == list(range(20))
    assert table.stamps().tolist() == [START + k * SECOND + 5 for k in range(20)]
    assert main(['inspect', str(file)]) == 0
    assert "frame_id                            'world'" in capsys.readouterr().out


@pytest.mark.parametrize('form', ['plain', 'zstd', 'sqlite3', 'file'])
def test_folders_without_metadata_are_read_by_every_verb(tmp_path, specification, capsys, form):
    folder = write_bag(tmp_path / 'bag', walk(3, tail=0.5), 'plain' if form == 'file' else form)
    _, expected = psi_of(folder, specification, capsys)
    (folder / 'metadata.yaml').unlink()
    if form == 'file':
        from repsq_ros.recordings.mcap_records import zstd_module

        file = storage_of(folder)
        (folder / 'x.mcap.zstd').write_bytes(zstd_module().compress(file.read_bytes()))
        file.unlink()
    assert psi_of(folder, specification, capsys)[0] == 4
    assert psi_of(folder, specification, capsys, '--recover') == (0, expected)
    assert main(['inspect', str(folder)]) == 4
    assert main(['inspect', str(folder), '--recover']) == 0
    assert psi_of(next(folder.iterdir()), specification, capsys) == (0, expected)


@pytest.mark.parametrize('definition', ['', 'int32 x\nstring[4] names\n', 'Loop next\n'])
def test_one_topic_that_cannot_be_decoded_hides_no_other(tmp_path, capsys, definition):
    """As /rosout of another distribution: another definition than that of its messages."""
    kind = 'a_msgs/msg/Loop' if definition else 'rcl_interfaces/msg/Log'
    channels = {**CHANNELS, 2: ('/rosout', kind, 'cdr', definition)}
    strange = [(2, START + 100, b'\0\1\0\0' + b'\xff' * 12)]
    file = tmp_path / 'x.mcap'
    file.write_bytes(mcap_of(channels, raw_poses(20) + strange))
    code = main(['inspect', str(file)])
    out, err = capsys.readouterr()
    assert (
        '/mocap  (geometry_msgs/msg/PoseStamped)\n  messages                            20' in out
    )
    assert '/rosout  (' in out
    if 'Loop' in definition:
        assert (code, err) == (0, '')
        assert 'a part of itself' in out
    else:
        assert code == 4
        assert 'a message on /rosout' in err
    assert main(['inspect', str(file), '--topic', '/mocap']) == 0
    assert main(['inspect', str(file), '--recover']) == 0


def test_many_damaged_messages_of_a_topic_are_a_few_lines(tmp_path, capsys):
    channels = {**CHANNELS, 2: ('/rosout', 'rcl_interfaces/msg/Log', 'cdr', '')}
    strange = [(2, START + k, b'\0\1\0\0' + b'\xff' * 12) for k in range(100)]
    file = tmp_path / 'x.mcap'
    file.write_bytes(mcap_of(channels, raw_poses(20) + strange))
    assert main(['inspect', str(file), '--recover']) == 0
    lines = [each for each in capsys.readouterr().err.splitlines() if '/rosout' in each]
    assert len(lines) == 4
    assert lines[-1].endswith('97 more messages on /rosout are damaged')


def test_a_file_that_is_listed_twice_is_read_once(tmp_path, specification, capsys):
    folder = write_bag(tmp_path / 'bag', walk(3, tail=0.5))
    expected = psi_of(folder, specification, capsys)
    metadata = folder / 'metadata.yaml'
    told = yaml.safe_load(metadata.read_text())
    told['rosbag2_bagfile_information']['relative_file_paths'] *= 2
    metadata.write_text(yaml.safe_dump(told))
    with Recording(folder) as recording:
        assert len(recording.digests) == 1
    assert psi_of(folder, specification, capsys) == expected
    with Recording([folder, storage_of(folder)]) as recording:
        assert len(list(recording.messages('/cmd_vel'))) == 3


@pytest.mark.parametrize('paths', ['x.mcap', [], [3], ['.'], None, [''], {'a': 1}])
def test_metadata_that_lists_no_files_are_told_in_one_line(tmp_path, capsys, paths):
    folder = write_bag(tmp_path / 'bag', walk(1))
    metadata = folder / 'metadata.yaml'
    told = yaml.safe_load(metadata.read_text())
    told['rosbag2_bagfile_information']['relative_file_paths'] = paths
    metadata.write_text(yaml.safe_dump(told))
    assert main(['inspect', str(folder)]) == 4
    err = capsys.readouterr().err
    assert err.count('\n') == 1
    assert 'metadata.yaml' in err
    assert main(['inspect', str(folder), '--recover']) == 0


def test_many_channels_take_a_time_that_is_linear(tmp_path):
    """If it were not, this would take minutes."""
    raw, count = raw_poses(1)[0][2], 20_000
    file = tmp_path / 'x.mcap'
    channels = {k: (f'/t{k}', POSE, 'cdr', '') for k in range(count)}
    messages = [(k, START + k, raw) for k in range(0, count, 5)]
    file.write_bytes(mcap_of(channels, messages, chunk=5000))
    with Recording(file) as recording:
        tables = list(recording.arrays(*recording.topics()))
    assert [table.topic for table in tables] == [f'/t{k}' for k in range(0, count, 5)]


def test_what_is_damaged_is_named_where_nothing_was_found(tmp_path, specification, capsys):
    folder = write_bag(tmp_path / 'bag', walk(3))
    file = storage_of(folder)
    file.write_bytes(file.read_bytes()[:60])
    assert psi_of(folder, specification, capsys, '--recover')[0] == 4
    main(['reevaluate', str(folder), '--specification', str(specification), *TOPICS, '--recover'])
    err = capsys.readouterr().err
    assert 'found no topic /mocap' in err
    assert f'{file}: ' in err.partition('found no topic')[2]
    assert 'passed over' in err


# Whatever is in it -------------------------------------------------------------------------------

NAMES = st.sampled_from(['int32', 'string', 'float64[9]', 'Loop', 'a/b', 'time', 'x[]', 'wstring'])
DEFINITIONS = st.one_of(
    st.text(max_size=80),
    st.lists(st.tuples(NAMES, st.text('abx_= 0\n', max_size=8)), max_size=6).map(
        lambda lines: '\n'.join(f'{kind} {name}' for kind, name in lines)
    ),
)
MANY = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


def read_all(path, recover):
    """Read everything in every way; BagError is the one that may come."""
    try:
        with Recording(path, recover) as recording:
            assert isinstance(recording.streams, list)
            for topic in recording.topics():
                try:
                    for _ in recording.messages(topic, plain=True):
                        pass
                    for table in recording.arrays(topic):
                        if table.unknown is None:
                            table.stamps()
                except BagError as error:
                    assert '\n' not in str(error)
    except BagError as error:
        assert '\n' not in str(error)


@MANY
@given(DEFINITIONS, st.sampled_from(['cdr', 'ros1', 'json', '']), st.binary(max_size=60))
def test_no_definition_stops_a_reader(tmp_path_factory, definition, encoding, data):
    file = tmp_path_factory.mktemp('fuzz') / 'x.mcap'
    channels = {**CHANNELS, 2: ('/strange', 'a/msg/Loop', encoding, definition)}
    file.write_bytes(mcap_of(channels, [*raw_poses(2), (2, START + 9, b'\0\1\0\0' + data)]))
    read_all(file, recover=False)
    with Recording(file) as recording:
        assert len(list(recording.messages('/mocap'))) == 2


@MANY
@given(st.data(), st.booleans(), st.sampled_from(['', 'zstd', 'lz4']), st.sampled_from([0, 2, 9]))
def test_no_container_stops_a_reader(tmp_path_factory, data, recover, packing, chunk):
    pack = None
    if packing:
        module = pytest.importorskip({'zstd': 'backports.zstd', 'lz4': 'lz4.frame'}[packing])
        pack = (packing, module.compress)
    content = bytearray(mcap_of(CHANNELS, raw_poses(12), crc=False, chunk=chunk, pack=pack))
    for _ in range(data.draw(st.integers(1, 5))):
        at = data.draw(st.integers(0, len(content) - 9))
        content[at : at + 8] = data.draw(
            st.one_of(
                st.binary(min_size=1, max_size=8),
                st.integers(0, 2**64 - 1).map(lambda n: struct.pack('<Q', n)),
            )
        )
    file = tmp_path_factory.mktemp('fuzz') / 'x.mcap'
    file.write_bytes(content[: data.draw(st.integers(len(content) // 2, len(content)))])
    read_all(file, recover)


VALUES = st.recursive(
    st.one_of(st.none(), st.integers(), st.text(max_size=5), st.just('x.mcap'), st.floats()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)
KEYS = st.sampled_from(
    ['relative_file_paths', 'topics_with_message_count', 'compression_mode', 'version', 'files']
)


@pytest.fixture(scope='module')
def recorded(tmp_path_factory):
    return write_bag(tmp_path_factory.mktemp('recorded') / 'bag', walk(1, seconds=0.2))


@MANY
@given(st.dictionaries(KEYS, VALUES, min_size=1), st.booleans(), st.booleans())
def test_no_metadata_stop_a_reader(recorded, changes, recover, whole):
    metadata = recorded / 'metadata.yaml'
    before = metadata.read_text()
    told = yaml.safe_load(before)
    told['rosbag2_bagfile_information'].update(changes)
    metadata.write_text(yaml.safe_dump(changes if whole else told))
    try:
        read_all(recorded, recover)
    finally:
        metadata.write_text(before)
