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

"""The audits of a recording: as inspect prints and a report shows them, whatever is in it."""

import re
import struct

import numpy as np
import pytest

from repsq_ros.cli import main
from repsq_ros.console.report import audited_topics
from repsq_ros.recordings import mcap_storage
from repsq_ros.recordings.audits import _AuditedStream, audits_of
from repsq_ros.recordings.recording import Recording

pytest.importorskip('rosbags')

from support.kept import kept
from support.made_bags import (
    CHANNELS,
    NUMBER,
    POSE,
    SECOND,
    START,
    STORE,
    TWIST,
    TYPES,
    mcap_of,
    pose,
    walk,
    write_bag,
)

from repsq_ros.auditing.stream_audit import StreamAuditor


def printed(path, capsys, *options):
    assert main(['inspect', str(path), *options]) == 0
    return capsys.readouterr().out.split('\n\n')


def values_of(block):
    """Return what a block of the output says, by names."""
    title, *lines = block.splitlines()
    return title, dict(re.split(r' {2,}', line.strip(), maxsplit=1) for line in lines)


def test_a_report_shows_what_inspect_prints(tmp_path, capsys):
    told = [*walk(tests=2), (START, '/gauge', NUMBER, TYPES[NUMBER](1.0))]
    path = write_bag(tmp_path / 'bag', sorted(told, key=lambda each: each[0]))
    shown = audited_topics(path)
    blocks = [values_of(block) for block in printed(path, capsys)[:3]]
    assert [(each.title, dict(each.lines)) for each in shown] == blocks
    assert [title for title, _ in blocks] == [
        f'/cmd_vel  ({TWIST})', f'/gauge  ({NUMBER})', f'/mocap  ({POSE})'
    ]  # fmt: skip


def test_audits_come_as_values(tmp_path):
    path = write_bag(tmp_path / 'bag', walk(tests=2))
    with Recording(path) as recording:
        command, poses = audits_of(recording, recording.topics())
    assert (poses.topic, poses.type, poses.frames) == ('/mocap', POSE, ('world',))
    assert (poses.stamped, command.stamped, command.bodies) == (True, False, ())
    assert poses.stream.rate == pytest.approx(50.0)
    assert poses.clock == pytest.approx((300e-6, 0.0), abs=1e-9)
    assert command.clock is None
    (body,) = poses.bodies
    assert (body.name, body.stamps) == ('', None)
    assert body.poses.noise[1:] == pytest.approx((7e-5, 7e-5), rel=0.3)
    with Recording(path) as recording:
        (only,) = audits_of(recording, ['/mocap'], rate=100.0)
    assert only.stream.declared == 100.0


@pytest.mark.parametrize(('count', 'stamp', 'told'), [(2, 1, False), (3, 1, True), (3, 0, False)])
def test_a_clock_is_told_of_three_stamps_that_are_some(tmp_path, count, stamp, told):
    said = [
        (START + k * SECOND, '/mocap', POSE, pose(stamp * (START + k * SECOND), (0, 0, 0)))
        for k in range(count)
    ]
    with Recording(write_bag(tmp_path / 'bag', said)) as recording:
        (found,) = audits_of(recording, ['/mocap'])
    assert (found.clock is not None) == told


def test_a_topic_without_a_message_is_told(tmp_path, capsys):
    poses = [m for m in walk(tests=1) if m[1] == '/mocap']
    channels = {1: ('/mocap', POSE, 'cdr', ''), 2: ('/silent', TWIST, 'cdr', '')}
    raw = [(1, ns, bytes(STORE.serialize_cdr(each, POSE))) for ns, _, _, each in poses]
    file = tmp_path / 'silent.mcap'
    file.write_bytes(mcap_of(channels, raw))
    assert printed(file, capsys)[1] == f'/silent  ({TWIST})\n  no message'


def test_a_type_that_nobody_knows_is_audited_by_arrival(tmp_path, capsys):
    channels = {1: ('/strange', 'strange_msgs/msg/Strange', 'cdr', '')}
    messages = [(1, START + k * 10_000_000, b'\0\1\0\0' + bytes(8)) for k in range(100)]
    file = tmp_path / 'strange.mcap'
    file.write_bytes(mcap_of(channels, messages))
    _, values = values_of(printed(file, capsys)[0])
    assert values['rate'] == '100.00 Hz'
    assert 'strange_msgs/msg/Strange' in values['stamps']
    assert 'arrival after stamp' not in values


@pytest.mark.parametrize('damage', [slice(0, -20), slice(0, 30)])
def test_a_damaged_message_has_no_stamp(tmp_path, capsys, damage):
    """Without --recover the topic is not read; with it, the stamps of the others are reported."""
    raw = [
        (1, START + k * 10_000_000,
         bytes(STORE.serialize_cdr(pose(START + k * 10_000_000, (k, 0, 0)), POSE)))
        for k in range(100)
    ]  # fmt: skip
    raw[50] = (*raw[50][:2], raw[50][2][damage])
    file = tmp_path / 'damaged.mcap'
    file.write_bytes(mcap_of(CHANNELS, raw))
    assert main(['inspect', str(file)]) == 4
    out, err = capsys.readouterr()
    assert 'not read' in out and 'messages' not in out
    assert 'a message on /mocap' in err
    _, values = values_of(printed(file, capsys, '--recover')[0])
    assert values['messages'] == '99 in 0.990 s'
    assert values['backward stamps'] == '0'
    assert values['largest gap'] == '0.0200 s'
    assert values['extent'] == '99.000, 0.000, 0.000 m in x, y, z'


def test_poses_in_several_layouts_are_one_body(tmp_path, capsys):
    """Frames of other lengths and the other byte order: some read together, some one by one."""
    told = []
    for k in range(300):
        frame = 'world' if k < 200 else f'map_{"x" * (k % 40)}'
        ns = START + k * 10_000_000
        log_ns = ns + (k * 7919) % 10_000_000  # late, and unevenly so
        told.append((log_ns, '/mocap', POSE, pose(ns, (0.01 * k, 0, 0), frame)))
    path = write_bag(tmp_path / 'bag', told)
    with Recording(path) as recording:
        (found,) = audits_of(recording, ['/mocap'])
    assert len(found.frames) == 41
    assert found.stream.count == 300
    assert found.bodies[0].poses.extent == pytest.approx((2.99, 0.0, 0.0))
    assert found.bodies[0].poses.largest_step == pytest.approx(0.01)
    assert found.bodies[0].poses.speed == pytest.approx(1.0)


def test_of_a_frame_pair_its_own_stamps_are_told(tmp_path, capsys):
    """At half the rate of the messages, and an hour before these came."""
    kind, each = 'tf2_msgs/msg/TFMessage', TYPES['geometry_msgs/msg/TransformStamped']
    move = TYPES['geometry_msgs/msg/Transform']
    vector, turn = TYPES['geometry_msgs/msg/Vector3'], TYPES['geometry_msgs/msg/Quaternion']
    told = []
    for k in range(200):
        log_ns = START + k * 10_000_000
        head = pose(log_ns - 3600 * SECOND, (0, 0, 0), 'map').header
        place = move(vector(0.01 * k, 0.0, 0.0), turn(0.0, 0.0, 0.0, 1.0))
        names = ['base', 'camera'] if k % 2 else ['camera']
        told.append(
            (log_ns, '/tf', kind, TYPES[kind]([each(head, name, place) for name in names]))
        )
    path = write_bag(tmp_path / 'bag', told)
    _, values = values_of(printed(path, capsys)[0])
    assert values['base: messages'] == '100 in 1.980 s'
    assert values['base: rate'] == '50.00 Hz'
    assert values['camera: messages'] == '200 in 1.990 s'
    assert 'base: period' not in values
    assert values['base: speed, 99th percentile by slope'] == '1.0000 m/s'


@pytest.mark.parametrize('frames', [1, 40])
def test_points_are_audited(tmp_path, frames):
    kind = 'geometry_msgs/msg/PointStamped'
    told = [
        (START + k * SECOND // 100, '/point', kind,
         TYPES[kind](pose(START + k * SECOND // 100, (0, 0, 0), 'x' * (k % frames)).header,
                     TYPES['geometry_msgs/msg/Point'](0.0, 0.001 * k, 0.0)))
        for k in range(50)
    ]  # fmt: skip
    with Recording(write_bag(tmp_path / 'bag', told)) as recording:
        (found,) = audits_of(recording, ['/point'])
    assert found.bodies[0].poses.extent == pytest.approx((0.0, 0.049, 0.0))
    assert np.isnan(found.bodies[0].poses.speed)
    assert found.bodies[0].poses.broken == 0


def test_nothing_is_kept_of_what_was_read(tmp_path, monkeypatch):
    monkeypatch.setattr(mcap_storage, 'TOGETHER', 0)
    rng = np.random.default_rng(1)
    example = bytes(STORE.serialize_cdr(pose(START, (0, 0, 0)), POSE))
    raw = []
    for k, place in enumerate(rng.normal(0, 1, 60_000).tolist()):
        ns = START + k * 10_000_000
        stamp = struct.pack('<II', *divmod(ns, SECOND))
        message = b''.join([example[:4], stamp, example[12:-56], struct.pack('<d', place)])
        raw.append((1, ns + k % 7, message + example[-48:]))
    file = tmp_path / 'long.mcap'
    file.write_bytes(mcap_of(CHANNELS, raw, chunk=1000))
    stream, held = _AuditedStream(POSE, StreamAuditor()), []
    with Recording(file) as recording:
        for table in recording.arrays('/mocap'):
            stream.take(table, 0.0)
            held.append(kept(stream))
    assert len(held) == 60
    # From 20 stretches on values lie in bins, and a page of these comes in now and then.
    assert max(held[40:]) - max(held[20:40]) < 3 * 3 * 4096
    assert max(held) < 300_000  # 2.4 MB
