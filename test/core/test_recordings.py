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

"""Recordings read whole: every message, the same by columns as one by one, whatever the file."""

import sqlite3
import struct
from dataclasses import replace
from itertools import pairwise
from operator import attrgetter
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from repsq_ros.errors import BagError
from repsq_ros.measurement import tail as tail_module
from repsq_ros.measurement.recorder import Recorder, Window
from repsq_ros.measurement.samples import joined
from repsq_ros.measurement.tail import Tail
from repsq_ros.recordings import mcap_storage
from repsq_ros.recordings.mcap_records import find_records
from repsq_ros.recordings.recording import Recording
from repsq_ros.recordings.sensor_columns import sample_columns
from repsq_ros.replay.evaluation import EvaluatedSegment
from repsq_ros.replay.recorded_windows import RecordedMeasure, outcomes_of
from repsq_ros.replay.segments import Segment
from repsq_ros.sampling.proposals import Draw
from repsq_ros.specification.input_section import input_of_source
from repsq_ros.specification.load import load

pytest.importorskip('rosbags')

from rosbags.highlevel import AnyReader
from support.bags import read_samples
from support.made_bags import (
    CHANNELS,
    FORMS,
    NUMBER,
    POSE,
    SECOND,
    START,
    STORE,
    TWIST,
    TYPES,
    mcap_of,
    pose,
    raw_poses,
    record,
    storage_of,
    twist,
    walk,
    write_bag,
)
from support.rows import BodyRow, table_of

COUNTS = {
    'optitrack_static_mcap': 10993, 'optitrack_static_sqlite3': 10993, 'reemc_walks_mcap': 20234,
    'jackal_odometry_sqlite3': 3060, 'rosbag2_split_sqlite3': 6074,
    'rosbag2_no_metadata/multiple_files_0.mcap': 1324,
    'rosbag2_no_metadata/multiple_files_1.mcap': 1324,
    'rosbag2_no_metadata/multiple_files_2.mcap': 529,
}  # fmt: skip
NUMBERS = {
    POSE: ['pose.position.x', 'pose.position.z', 'pose.orientation.w'],
    'nav_msgs/msg/Odometry': [
        'pose.pose.position.y', 'pose.covariance[7]', 'twist.twist.angular.z',
        'twist.covariance[35]', 'header.stamp.nanosec',
    ],
    TWIST: ['linear.x', 'angular.z'],
}  # fmt: skip
TEXTS = {'nav_msgs/msg/Odometry': 'child_frame_id', 'std_msgs/msg/String': 'data'}


def by_reader(path):
    with AnyReader([path], default_typestore=STORE) as reader:
        return [
            (c.topic, t, bytes(raw), reader.deserialize(raw, c.msgtype))
            for c, t, raw in reader.messages()
        ]


@pytest.mark.parametrize('name', COUNTS)
def test_all_recordings_at_hand_are_read_whole_and_alike_by_both_readers(recordings, name):
    path = recordings / name
    expected = by_reader(path)
    with Recording(path) as recording:
        topics = recording.topics()
        raw = list(recording.messages(*topics, raw=True))
        assert [tuple(item) for item in raw] == [each[:3] for each in expected]
        assert len(raw) == COUNTS[name] == sum(each.messages for each in recording.streams)
        assert recording.losses == []
        for topic, kind in topics.items():
            of_topic = [message for where, _, _, message in expected if where == topic]
            tables = list(recording.arrays(topic))
            assert sum(map(len, tables)) == len(of_topic)
            for field in NUMBERS.get(kind, []):
                found = np.concatenate([table.column(field) for table in tables])
                plain, _, place = field.partition('[')
                values = [attrgetter(plain)(message) for message in of_topic]
                values = [v[int(place[:-1])] for v in values] if place else values
                np.testing.assert_array_equal(found, values)
            if kind in TEXTS:
                found = [text for table in tables for text in table.column(TEXTS[kind])]
                assert found == [attrgetter(TEXTS[kind])(message) for message in of_topic]


@pytest.mark.parametrize(
    ('name', 'topic', 'source'),
    [
        ('optitrack_static_mcap', '/vrpn_client_node/IndexFinger/pose', 'mocap'),
        ('optitrack_static_sqlite3', '/HTCposition', 'mocap'),
        ('reemc_walks_mcap', '/odom', 'odometry'),
        ('jackal_odometry_sqlite3', '/jackal_velocity_controller/odom', 'odometry'),
    ],
)
def test_samples_of_real_sensors_are_the_same_by_columns(recordings, name, topic, source):
    found = input_of_source(source)
    with Recording(recordings / name) as recording:
        singly = read_samples(recording, topic, found)
        columns = [c['x'] for c in sample_columns(recording, {'x': (topic, found)})]
    one, many = Tail(2**62), Tail(2**62)
    for sample in singly:
        one.add(sample)
    for part in columns:
        many.add(part)
    assert_same(one, many)


def assert_same(one, many):
    """Compare what two stores give and hold, to the last bit."""
    assert (len(one), one.newest_ns) == (len(many), many.newest_ns)
    assert one.times_set_back == many.times_set_back
    assert one.doubts(0, 2**62) == many.doubts(0, 2**62)
    for span_ns in (0, 2**61):
        held = [each.newest(span_ns) for each in (one, many)]
        assert_same_samples(*held)
    for begin, end in ((-(2**61), 2**62), *pairwise(one.newest(2**61).stamps[::50].tolist())):
        assert_same_samples(*[each.between(begin, end, True) for each in (one, many)])


def assert_same_samples(one, many):
    assert one.stamps.tolist() == many.stamps.tolist()
    assert one.columns.keys() == many.columns.keys()
    for name, column in one.columns.items():
        np.testing.assert_array_equal(column, many.columns[name])


# Columns into the buffer -------------------------------------------------------------------------


def damaged_streams():
    from support.damage import OF_POSES, OF_TWISTS, Motion

    for table, is_twist in ((OF_POSES, False), (OF_TWISTS, True)):
        for damage in table:
            yield pytest.param(damage, is_twist, Motion(), id=f'{damage.__name__}-{is_twist}')


@pytest.mark.parametrize(('damage', 'is_twist', 'motion'), damaged_streams())
@pytest.mark.parametrize('size', [0.1, 0.6, 0.95])
def test_a_buffer_holds_the_same_from_columns_as_one_by_one(damage, is_twist, motion, size):
    samples = motion.samples(is_twist)
    damage(samples, 250, size, np.random.default_rng(3))
    one, many = Tail(frame='world'), Tail(frame='world')
    for sample in samples:
        one.add(sample.table)
    rng = np.random.default_rng(5)
    begin = 0
    while begin < len(samples):
        end = begin + int(rng.integers(1, 200))
        many.add(table_of(samples[begin:end]))
        begin = end
    assert_same(one, many)


STEPS = st.one_of(
    st.tuples(st.just('some'), st.integers(1, 60)),
    st.tuples(st.just('one'), st.sampled_from([10**7, 10**7, 0, -(10**7) - 5, -2 * SECOND])),
    st.tuples(st.just('forget'), st.integers(0, 3 * SECOND)),
)


@given(st.lists(STEPS, min_size=1, max_size=40), st.sampled_from([SECOND // 2, 2**62]))
def test_columns_and_single_samples_may_come_in_any_order(steps, keep_ns):
    one, many = Tail(keep_ns, frame='world'), Tail(keep_ns, frame='world')
    now = START
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tail_module, 'TRIM', 50)
        one._trim_at = many._trim_at = 50
        for name, value in steps:
            if name == 'forget':
                one.forget(now - value)
                many.forget(now - value)
                continue
            stamps = (
                [now + 10**7 * k for k in range(1, value + 1)] if name == 'some' else [now + value]
            )
            samples = [
                BodyRow(t, (float(t % 7), 0.0, 0.0), (0.0, 0.0, 0.0, 1.0), frame='world')
                for t in stamps
            ]
            for sample in samples:
                one.add(sample.table)
            if name == 'some':
                many.add(table_of(samples))
            else:
                many.add(samples[0].table)
            now = one.newest_ns
            assert many.newest_ns == now
    if keep_ns == 2**62:
        assert_same(one, many)
    found = [each.between(now - keep_ns, now + 1) for each in (one, many)]
    assert_same_samples(*found)
    assert one.doubts(0, 2**62) == many.doubts(0, 2**62) or keep_ns < 2**62


def test_a_topic_of_two_channels_is_one_sensor(tmp_path, monkeypatch):
    """As of two publishers, or of files that were merged: none of the samples is lost."""
    monkeypatch.setattr(mcap_storage, 'TOGETHER', 0)
    definition = STORE.generate_msgdef(POSE, ros_version=2)[0]
    channels = {**CHANNELS, 2: ('/mocap', POSE, 'cdr', definition)}
    raw = [(1 + (k % 7 < 2), t, data) for k, (_, t, data) in enumerate(raw_poses(400))]
    file = tmp_path / 'x.mcap'
    file.write_bytes(mcap_of(channels, raw))
    with Recording(file) as recording:
        source = {'x': ('/mocap', input_of_source('mocap'))}
        found = [part['x'] for part in sample_columns(recording, source)]
    assert len(found) == 10
    assert joined(found).position[:, 0].tolist() == list(range(400))
    assert np.concatenate([part.logs for part in found]).tolist() == [t for _, t, _ in raw]


def test_strays_with_others_between_them_are_no_clock_that_was_set_back():
    from support.damage import Motion

    samples = Motion().samples()
    for k in range(8):
        old = samples[0].stamp_ns - (100 - k) * SECOND
        samples.insert(200 + 20 * k, samples[150]._replace(stamp_ns=old))
    one, many = Tail(2**62), Tail(2**62)
    for sample in samples:
        one.add(sample.table)
    many.add(table_of(samples))
    assert_same(one, many)
    assert many.times_set_back == 0


def test_what_no_window_needs_is_given_up_but_for_the_last_one():
    from support.damage import EPOCH, Motion

    buffer = Tail(2**62)
    buffer.add(table_of(Motion().samples()))
    buffer.forget(EPOCH + SECOND + 5)
    assert len(buffer.between(0, EPOCH + SECOND + 5)) == 1
    assert buffer.between(0, 2**62).stamps[1] == EPOCH + SECOND + 10_000_000


# What is not alike -------------------------------------------------------------------------------


def both_ways(path, topic, field):
    with Recording(path) as recording:
        tables = list(recording.arrays(topic))
        columns = np.concatenate([table.column(field) for table in tables])
        singly = [attrgetter(field)(item.message) for item in recording.messages(topic)]
    np.testing.assert_array_equal(columns, singly)
    return columns, sum(len(table.others) for table in tables)


@pytest.mark.parametrize('form', FORMS)
def test_messages_of_several_lengths_frames_and_byte_orders_are_one_topic(tmp_path, form):
    messages = []
    for k in range(600):
        message = pose(START + k, (k, -k, 0.5), frame=('map', 'a longer frame', 'odom')[k % 3])
        raw = bytes(STORE.serialize_cdr(message, POSE, little_endian=k % 5 != 0))
        messages.append((START + k, '/mocap', POSE, raw))
    path = write_bag(tmp_path / 'bag', messages, form)
    x, singly = both_ways(path, '/mocap', 'pose.position.x')
    assert x.tolist() == list(range(600))
    assert singly == 0
    frames, _ = both_ways(path, '/mocap', 'header.frame_id')
    assert frames[1] == 'a longer frame'


def test_messages_of_ever_new_lengths_are_read_one_by_one(tmp_path):
    messages = [
        (START + k, '/mocap', POSE, pose(START + k, (k, 0, 0), frame=f'{k:0{k}d}'))
        for k in range(100)
    ]
    x, singly = both_ways(write_bag(tmp_path / 'bag', messages), '/mocap', 'pose.position.x')
    assert x.tolist() == list(range(100))
    assert singly == 100


def test_an_encapsulation_that_is_not_known_is_told_and_left_out_by_recover(tmp_path):
    raw = bytearray(STORE.serialize_cdr(pose(START, (1, 2, 3)), POSE))
    messages = [(START + k, '/mocap', POSE, bytes(raw)) for k in range(9)]
    raw[1] = 7  # XCDR2, little endian
    messages.insert(4, (START + 4, '/mocap', POSE, bytes(raw)))
    path = write_bag(tmp_path / 'bag', messages)
    source = {'x': ('/mocap', input_of_source('mocap'))}
    with (
        Recording(path) as recording,
        pytest.raises(BagError, match=r'on /mocap.*encapsulation.*--recover'),
    ):
        list(sample_columns(recording, source))
    with Recording(path, recover=True) as recording:
        (part,) = sample_columns(recording, source)
        assert len(part['x']) == 9
        assert 'a message on /mocap' in recording.losses[0]


def test_two_layouts_by_turns_keep_the_order_of_the_samples(tmp_path):
    """Two publishers with frames of their own; who is first at one stamp decides."""
    messages = [
        (
            START + k,
            '/mocap',
            POSE,
            pose(START + k // 2, (k, 0, 0), frame='ab'[k % 2] * (1 + k % 2)),
        )
        for k in range(100)
    ]
    source = input_of_source('mocap')
    with Recording(write_bag(tmp_path / 'bag', messages)) as recording:
        singly = read_samples(recording, '/mocap', source)
        (part,) = sample_columns(recording, {'x': ('/mocap', source)})
    assert_same_samples(joined(singly), part['x'])
    assert part['x'].position[:, 0].tolist() == list(range(100))


# Other files -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    'options',
    [{}, {'crc': False}, {'chunk': 0}, {'chunk': 0, 'summary': False}, {'summary': False},
     {'pack': 'lz4.frame'}],
    ids=str,
)  # fmt: skip
def test_an_mcap_file_of_any_make_is_read(tmp_path, options):
    file = tmp_path / 'x.mcap'
    if 'pack' in options:
        options = {'pack': ('lz4', pytest.importorskip(options['pack']).compress)}
    file.write_bytes(mcap_of(CHANNELS, raw_poses(205), **options))
    with Recording(file) as recording:
        found = [item.message.pose.position.x for item in recording.messages('/mocap')]
        assert recording.losses == []
    assert found == list(range(205))


def test_chunks_that_overlap_in_time_are_read_in_order(tmp_path):
    poses = raw_poses(300)
    late = [poses[k] for k in (*range(0, 300, 3), *range(1, 300, 3), *range(2, 300, 3))]
    file = tmp_path / 'x.mcap'
    file.write_bytes(mcap_of(CHANNELS, late, chunk=50))
    with Recording(file) as recording:
        found = [item.log_ns - START for item in recording.messages('/mocap')]
        tables = list(recording.arrays('/mocap'))
    assert found == list(range(300))
    x = np.concatenate([table.column('pose.position.x') for table in tables])
    assert x.tolist() == list(range(300))


def test_rows_that_were_written_out_of_order_are_read_in_order(tmp_path):
    messages = [(START + k, '/mocap', POSE, pose(START + k, (k, 0, 0))) for k in (3, 1, 0, 2)]
    with Recording(write_bag(tmp_path / 'bag', messages, 'sqlite3')) as recording:
        assert [item.log_ns - START for item in recording.messages('/mocap')] == [0, 1, 2, 3]


def test_several_recordings_are_read_as_one_in_order(tmp_path):
    poses = [(START + k, '/mocap', POSE, pose(START + k, (k, 0, 0))) for k in range(90)]
    paths = [write_bag(tmp_path / f'{k}', poses[k::3], form) for k, form in enumerate(FORMS)]
    with Recording(paths) as recording:
        assert [item.log_ns - START for item in recording.messages('/mocap')] == list(range(90))
        assert recording.streams[0].messages is None or recording.streams[0].messages == 90
        assert len(recording.digests) == 3


def test_unknown_types_service_events_and_other_encodings_beside_the_wanted_topics(tmp_path):
    channels = {
        **CHANNELS,
        2: ('/strange', 'nobody_msgs/msg/Knows', 'cdr', ''),
        3: ('/add/_service_event', 'example_interfaces/srv/AddTwoInts_Event', 'cdr', ''),
        4: ('/j', 'foxglove.Log', 'json', ''),
        5: ('/broken', 'my_msgs/msg/Broken', 'cdr', 'this is } no definition'),
    }
    extra = [(k, START + 7, b'\0\1\0\0' + bytes(8)) for k in (2, 3, 4, 5)]
    file = tmp_path / 'x.mcap'
    file.write_bytes(mcap_of(channels, sorted(raw_poses(20) + extra, key=lambda m: m[1])))
    with Recording(file) as recording:
        assert len(list(recording.messages('/mocap'))) == 20
        assert {stream.topic: stream.messages for stream in recording.streams} == {
            '/mocap': 20, '/strange': 1, '/add/_service_event': 1, '/j': 1, '/broken': 1,
        }  # fmt: skip
        for topic, told in (
            ('/strange', 'nobody_msgs/msg/Knows, which neither'), ('/j', "'json'"),
            ('/broken', 'is not understood'),
        ):  # fmt: skip
            with pytest.raises(BagError, match=told):
                list(recording.messages(topic))
            assert len(list(recording.messages(topic, raw=True))) == 1


def test_publishers_of_other_qualities_of_service_are_one_topic(tmp_path):
    path = write_bag(tmp_path / 'bag', walk(1), 'sqlite3')
    with sqlite3.connect(storage_of(path)) as base:
        base.execute(
            'INSERT INTO topics SELECT 7, name, type, serialization_format, '
            "'- reliability: best_effort', type_description_hash FROM topics WHERE name = '/mocap'"
        )
        base.execute(
            'UPDATE messages SET topic_id = 7 WHERE id % 2 AND topic_id = '
            "(SELECT min(id) FROM topics WHERE name = '/mocap')"
        )
    base.close()
    with Recording(path) as recording:
        assert len(list(recording.messages('/mocap'))) == 200
        assert sum(map(len, recording.arrays('/mocap'))) == 200
        assert recording.losses == []


def test_what_a_database_left_in_its_log_is_read_and_the_files_stay_as_they_are(tmp_path):
    path = write_bag(tmp_path / 'bag', walk(2), 'sqlite3')
    file = storage_of(path)
    base = sqlite3.connect(file)
    base.execute('PRAGMA journal_mode=WAL')
    base.execute('PRAGMA wal_autocheckpoint=0')
    first = base.execute('SELECT min(id), topic_id, timestamp, data FROM messages').fetchone()
    base.execute('DELETE FROM messages WHERE id = ?', first[:1])
    base.commit()
    held = {each.name: each.read_bytes() for each in path.iterdir() if each.suffix != '.db3-shm'}
    copy = tmp_path / 'copy'
    copy.mkdir()
    for name, content in held.items():
        (copy / name).write_bytes(content)
    base.close()
    assert any(name.endswith('-wal') and held[name] for name in held)
    with Recording(copy) as recording:
        count = len(list(recording.messages('/mocap', '/cmd_vel')))
        assert count == 401
        assert 'metadata.yaml says' in ''.join(recording.losses)
        assert len(recording.digests) == 2
    assert {each.name: each.read_bytes() for each in copy.iterdir()} == held


def test_a_file_that_the_metadata_does_not_list_is_told_and_read_by_recover(tmp_path):
    messages = walk(2)
    path = write_bag(tmp_path / 'bag', messages[:300])
    more = storage_of(write_bag(tmp_path / 'more', messages[300:]))
    (path / 'bag_1.mcap').write_bytes(more.read_bytes())
    with Recording(path) as recording:
        assert len(list(recording.messages('/mocap', '/cmd_vel'))) == 300
        (told,) = recording.losses
        assert 'bag_1.mcap: not listed in metadata.yaml, not read: ros2 bag reindex' in told
    with Recording(path, recover=True) as recording:
        assert len(list(recording.messages('/mocap', '/cmd_vel'))) == len(messages)


def test_counts_of_the_metadata_are_held_against_what_is_read(tmp_path):
    path = write_bag(tmp_path / 'bag', walk(1))
    metadata = path / 'metadata.yaml'
    told = yaml.safe_load(metadata.read_text())
    for each in told['rosbag2_bagfile_information']['topics_with_message_count']:
        each['message_count'] += 1
    metadata.write_text(yaml.safe_dump(told))
    with Recording(path) as recording:
        list(recording.messages('/mocap'))
        (line,) = recording.losses
    assert 'read 200 messages on /mocap, metadata.yaml says 201: ros2 bag reindex' in line


@pytest.mark.parametrize(
    ('content', 'told'),
    [(b'', 'empty'), (b'version https://git-lfs.github.com/spec/v1\noid x\n', 'git lfs pull'),
     (b'something else altogether, long enough', 'does not begin as')],
)  # fmt: skip
@pytest.mark.parametrize('suffix', ['.mcap', '.db3'])
def test_a_file_that_is_no_recording_is_told_with_the_remedy(tmp_path, content, told, suffix):
    file = tmp_path / f'x{suffix}'
    file.write_bytes(content)
    for recover in (False, True):
        with pytest.raises(BagError, match=told) as raised:
            Recording(file, recover)
        assert '\n' not in str(raised.value)


def test_digests_are_those_of_the_files(tmp_path):
    import hashlib

    path = write_bag(tmp_path / 'bag', walk(1))
    with Recording(path) as recording:
        assert recording.digests == {
            str(storage_of(path)): hashlib.sha256(storage_of(path).read_bytes()).hexdigest()
        }


def test_a_recording_that_is_packed_by_rosbag2_itself_is_read(tmp_path):
    from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer

    for mode in (CompressionMode.FILE, CompressionMode.MESSAGE):
        path = tmp_path / mode.name
        writer = Writer(path, version=9, storage_plugin=StoragePlugin.SQLITE3)
        writer.set_compression(mode, CompressionFormat.ZSTD)
        with writer:
            connection = writer.add_connection('/mocap', POSE, typestore=STORE)
            for _, log_ns, raw in raw_poses(50):
                writer.write(connection, log_ns, raw)
        with Recording(path) as recording:
            x = np.concatenate([t.column('pose.position.x') for t in recording.arrays('/mocap')])
            assert x.tolist() == list(range(50))
            assert recording.losses == []


def test_columns_have_the_types_that_numbers_have(tmp_path):
    state = 'geometry_msgs/msg/Vector3 v\nuint64 big\nbool on\nfloat32 f\nint8 i\nfloat64[] many\n'
    definition = (
        state + '=' * 80 + '\nMSG: geometry_msgs/Vector3\nfloat64 x\nfloat64 y\nfloat64 z\n'
    )
    raw = b'\0\1\0\0' + struct.pack('<dddQ?xxxfbxxxI', 1, 2, 3, 2**63 + 1, True, 0.1, -3, 2)
    raw += bytes(-(len(raw) - 4) % 8) + struct.pack('<dd', 7, 8)
    file = tmp_path / 'x.mcap'
    channels = {1: ('/s', 'my_msgs/msg/State', 'cdr', definition)}
    file.write_bytes(mcap_of(channels, [(1, START + k, raw) for k in range(5)]))
    with Recording(file) as recording:
        (table,) = recording.arrays('/s')
        (singly,) = {repr(item.message) for item in recording.messages('/s')}
    assert not len(table.others)
    assert table.stamps() is None
    for field, kind, value in (
        ('big', np.uint64, 2**63 + 1), ('on', np.bool_, True), ('f', np.float64, np.float32(0.1)),
        ('i', np.int64, -3), ('many[1]', np.float64, 8.0), ('v.z', np.float64, 3.0),
    ):  # fmt: skip
        found = table.column(field)
        assert found.dtype == kind
        assert found.tolist() == [value] * 5
    assert 'big=9223372036854775809' in singly
    with pytest.raises(AttributeError):
        table.column('nothing')


def test_a_topic_of_two_types_is_two_streams(tmp_path):
    numbers = [(START + k, '/both', NUMBER, TYPES[NUMBER](float(k))) for k in range(5)]
    twists = [(START + k, '/both', TWIST, twist(0.1)) for k in range(3)]
    with Recording(write_bag(tmp_path / 'bag', numbers + twists)) as recording:
        assert [(s.type, s.messages) for s in recording.streams] == [(TWIST, 3), (NUMBER, 5)]
        assert {t.type for t in recording.arrays('/both')} == {TWIST, NUMBER}
        with pytest.raises(BagError, match='expected one type'):
            recording.require('/both', TWIST)


def test_a_path_that_is_not_there_is_told(tmp_path):
    with pytest.raises(BagError, match='does not exist'):
        Recording(Path(tmp_path / 'nowhere'))


def test_a_bag_of_ros_1_is_read(tmp_path):
    from rosbags.rosbag1 import Writer as Writer1
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS1_NOETIC)
    types = store.types
    path = tmp_path / 'x.bag'
    with Writer1(path) as writer:
        connection = writer.add_connection('/mocap', POSE, typestore=store)
        for k in range(1500):
            stamp = types['builtin_interfaces/msg/Time'](*divmod(START + k, SECOND))
            message = types[POSE](
                types['std_msgs/msg/Header'](k, stamp, 'map'),
                types['geometry_msgs/msg/Pose'](
                    types['geometry_msgs/msg/Point'](float(k), 0.0, 0.0),
                    types['geometry_msgs/msg/Quaternion'](0.0, 0.0, 0.0, 1.0),
                ),
            )
            writer.write(connection, START + k, store.serialize_ros1(message, POSE))
    with Recording(path) as recording:
        assert recording.topics() == {'/mocap': POSE}
        source = {'x': ('/mocap', input_of_source('mocap'))}
        samples = joined([part['x'] for part in sample_columns(recording, source)])
    assert (samples.stamps - START).tolist() == list(range(1500))
    assert samples.position[7].tolist() == [7.0, 0.0, 0.0]
    assert samples.frame(7) == 'map'


@pytest.fixture
def long_walk(tmp_path, content, write):
    """Return a recording of 160 s in short chunks, its specification and its tests."""
    content['measure']['source'] = 'mocap'
    content['measure']['conditions'] = {'battery': {'type': 'std_msgs/Float64', 'at_least': 0.2}}
    content['measure']['conditions']['battery'].update(unit='1')
    specification = load(write(content))
    told = walk(40, tail=0.5)
    # The battery speaks seldom, and its last word holds: empty, in the 30th test's last instant.
    told += [
        (START + k * 20 * SECOND - 1, '/battery', NUMBER, TYPES[NUMBER](0.9 if k < 6 else 0.1))
        for k in range(8)
    ]
    kinds = {'/mocap': 1, '/battery': 2}
    raw = sorted(
        (log_ns, kinds[topic], bytes(STORE.serialize_cdr(message, kind)))
        for log_ns, topic, kind, message in told
        if topic in kinds
    )
    file = tmp_path / 'x.mcap'
    channels = {**CHANNELS, 2: ('/battery', NUMBER, 'cdr', '')}
    file.write_bytes(mcap_of(channels, [(c, t, data) for t, c, data in raw], chunk=150))
    segments = []
    for k, (log_ns, _, _, message) in enumerate(t for t in told if t[1] == '/cmd_vel'):
        window = Window(log_ns + SECOND, log_ns + 4 * SECOND, (message.linear.x, 0.0, 0.0), log_ns)
        segments.append(Segment(k, 0, '', Draw((), 0.0, 0.0), window))
    return file, specification, segments


def streamed(file, specification, segments):
    measure = specification.measure
    inputs = {'': ('/mocap', measure.input), 'battery': ('/battery', measure.condition_inputs[0])}
    with Recording(file) as recording:
        return outcomes_of(recording, RecordedMeasure(measure, inputs), segments, {})


def at_once(file, specification, segments):
    """Return the same with all samples in memory."""
    measure = specification.measure
    recorder = Recorder(measure, keep_ns=2**62)
    with Recording(file) as recording:
        for sample in read_samples(recording, '/mocap', measure.input):
            recorder.add(sample)
        for sample in read_samples(recording, '/battery', measure.condition_inputs[0]):
            recorder.add(sample, 'battery')
    outcomes = recorder.measure_all([each.window for each in segments])
    return [EvaluatedSegment(*each) for each in zip(segments, outcomes, strict=True)]


def test_stretch_by_stretch_gives_the_same_as_all_at_once(long_walk):
    file, specification, segments = long_walk
    every = at_once(file, specification, segments)
    found = streamed(file, specification, segments)
    assert found == every
    assert sum(each.outcome.valid for each in found) == 29
    # Whatever the order in which they are asked for, and where windows overlap.
    mixed = [*segments[::-3], segments[0], replace(segments[30], window=segments[2].window)]
    assert [each.outcome for each in streamed(file, specification, mixed)] == [
        *(each.outcome for each in every[::-3]), every[0].outcome, every[2].outcome,
    ]  # fmt: skip


def test_no_more_samples_are_kept_than_the_windows_need(long_walk, monkeypatch):
    file, specification, segments = long_walk
    kept = []
    forget = Tail.forget

    def watched(buffer, before_ns):
        forget(buffer, before_ns)
        kept.append(len(buffer) if buffer.newest(0).value is None else 0)

    monkeypatch.setattr(Tail, 'forget', watched)
    streamed(file, specification, segments)
    assert 1000 < max(kept) < 4000  # of 8000: the last 60 s and what a window reaches


def test_indexes_that_lie_are_not_believed():
    """One points into a message, at what looks like a message; one leaves messages out."""
    fake = record(5, struct.pack('<HIQQ', 1, 0, 7, 7) + b'no message')
    real = [
        record(5, struct.pack('<HIQQ', 1, 0, k, k) + b'x' * (5000 + k) + fake) for k in range(4)
    ]
    data = b''.join(real)
    starts = np.cumsum([0, *map(len, real)])[:4]
    inside = starts[1] + 31 + 5001
    for hints in (starts, starts[[0, 2]], np.append(starts, inside), starts[:0], starts + 1):
        found = find_records(data, hints)
        assert found.messages.log_ns.tolist() == [0, 1, 2, 3]
        assert found.end == len(data)
