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

"""What repsq inspect tells of a bag, frame pairs as an input, and what has no valid test."""

import math
import warnings

import numpy as np
import pytest
from support.bags import read_samples
from support.damage import (
    OF_POSES,
    Motion,
    exchanged,
    measure_of,
    outcome_of,
    stalled,
    stray,
    two_publishers,
    w_first,
    wild,
)
from support.rows import rows_of

from repsq_ros.cli import main
from repsq_ros.measurement.recorder import Recorder, Window
from repsq_ros.measurement.samples import joined
from repsq_ros.recordings.recording import Recording
from repsq_ros.specification.load import load

pytest.importorskip('rosbags')

from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

STORE = get_typestore(Stores.ROS2_JAZZY)
TYPES = STORE.types
SECOND = 1_000_000_000


@pytest.fixture
def bag(tmp_path):
    """Write a bag of (topic, type, [(log time [s], message)])."""

    def write(*streams):
        path = tmp_path / 'bag'
        with Writer(path, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
            for topic, name, messages in streams:
                connection = writer.add_connection(topic, name, typestore=STORE)
                for t, message in messages:
                    raw = STORE.serialize_cdr(message, name)
                    writer.write(connection, round((100.0 + t) * 1e9), raw)
        return path

    return write


def header(t, frame='map'):
    ns = round((100.0 + t) * 1e9)
    stamp = TYPES['builtin_interfaces/msg/Time'](ns // SECOND, ns % SECOND)
    return TYPES['std_msgs/msg/Header'](stamp, frame)


def turn(yaw):
    return TYPES['geometry_msgs/msg/Quaternion'](0.0, 0.0, math.sin(yaw / 2), math.cos(yaw / 2))


def pose(t, x, y=0.0, z=0.7, orientation=None, late=0.0):
    place = TYPES['geometry_msgs/msg/Point'](x, y, z)
    whole = TYPES['geometry_msgs/msg/Pose'](place, orientation or turn(math.pi / 2))
    return TYPES['geometry_msgs/msg/PoseStamped'](header(t - late), whole)


POSES = 'geometry_msgs/msg/PoseStamped'


def poses(count=400, rate=100, **options):
    return [(k / rate, pose(k / rate, 0.1 * k / rate, **options)) for k in range(count)]


def twist(x):
    vector = TYPES['geometry_msgs/msg/Vector3']
    return TYPES['geometry_msgs/msg/Twist'](vector(x, 0.0, 0.0), vector(0.0, 0.0, 0.0))


def transforms(t):
    """The robot in the map, forward at 0.3 m/s; its camera on it; another robot."""
    vector = TYPES['geometry_msgs/msg/Vector3']
    each = TYPES['geometry_msgs/msg/TransformStamped']
    move = TYPES['geometry_msgs/msg/Transform']
    return TYPES['tf2_msgs/msg/TFMessage']([
        each(header(t, 'base'), 'camera', move(vector(0.1, 0.0, 0.0), turn(0.0))),
        each(header(t, 'odom'), 'base', move(vector(0.0, 0.0, 0.0), turn(0.0))),
        each(header(t, 'map'), 'base', move(vector(0.3 * t, 1.0, 0.7), turn(0.0))),
    ])  # fmt: skip


def test_inspect_tells_extent_tilt_heading_and_rates(bag, capsys):
    path = bag(('/mocap', POSES, poses()), ('/late', POSES, poses(late=-3.0)))
    assert main(['inspect', str(path), '--rate', '120']) == 0
    said = ' '.join(capsys.readouterr().out.split())
    assert 'extent 0.399, 0.000, 0.000 m in x, y, z' in said
    assert 'tilt 0.0 degrees, at most 0.0' in said
    assert 'heading 90.0 degrees at first, +0.0 in the end' in said
    assert 'rate 100.00 Hz, not the 120 Hz declared' in said
    assert 'arrival after stamp -3000.000 ms: the clocks are far apart' in said
    assert '/late -3000.000 ms behind, far apart' in said


def test_inspect_tells_of_quaternions_of_norm_zero_and_still_of_the_noise(bag, capsys):
    nothing = TYPES['geometry_msgs/msg/Quaternion'](0.0, 0.0, 0.0, 0.0)
    rng = np.random.default_rng(1)
    said = [(k / 100, pose(k / 100, *rng.normal(0, 1e-3, 3), nothing)) for k in range(400)]
    assert main(['inspect', str(bag(('/mocap', POSES, said)))]) == 0
    printed = ' '.join(capsys.readouterr().out.split())
    assert 'quaternions of norm zero 400: tracking lost' in printed
    assert 'noise of the quietest second 0.9' in printed or 'second 1.0' in printed


def test_inspect_reads_a_topic_of_two_types_and_every_frame_pair(bag, capsys):
    told = [(k / 100, transforms(k / 100)) for k in range(200)]
    path = bag(
        ('/both', POSES, poses(50)), ('/both', 'geometry_msgs/msg/Twist', [(1.0, twist(0.1))]),
        ('/tf', 'tf2_msgs/msg/TFMessage', told),
    )  # fmt: skip
    assert main(['inspect', str(path)]) == 0
    printed = capsys.readouterr().out
    assert '/both  (geometry_msgs/msg/PoseStamped)' in printed
    assert '/both  (geometry_msgs/msg/Twist)' in printed
    assert 'camera: extent' in printed


def test_a_frame_pair_is_an_input(bag, content, write):
    content['measure'] = {
        'type': 'soft_linf', 'gain': 6.0, 'reduction': 'rms',
        'input': {'type': 'tf2_msgs/TFMessage', 'body': 'base', 'frame': 'map'},
    }  # fmt: skip
    measure = load(write(content)).measure
    path = bag(('/tf', measure.input.type, [(k / 100, transforms(k / 100)) for k in range(400)]))
    recorder = Recorder(measure)
    with Recording(path) as opened:
        for sample in read_samples(opened, '/tf', measure.input):
            recorder.add(sample)
    outcome = recorder.measure(Window(101 * SECOND, 103 * SECOND, (0.3, 0.0, 0.0)))
    assert outcome.valid, outcome.reason
    assert outcome.psi < 1e-6


def reevaluate(path, specification, *options):
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        topics = ('--sensor-topic', '/mocap', '--command-topic', '/cmd_vel')
        return main(
            ['reevaluate', str(path), '--specification', str(specification), *topics, *options]
        )


TWIST = 'geometry_msgs/msg/Twist'
WRONG = [
    ((('/mocap', POSES, poses()), ('/cmd_vel', TWIST, [])), (), 4, 'found no message on /cmd_vel'),
    (
        (('/mocap', POSES, poses()), ('/mocap', TWIST, [(1.0, twist(0.1))]),
         ('/cmd_vel', TWIST, [(0.5, twist(0.1))])),
        (), 4, 'found geometry_msgs/msg/PoseStamped and geometry_msgs/msg/Twist on /mocap',
    ),
    (
        (('/mocap', POSES, poses()), ('/cmd_vel', TWIST, [(0.5, twist(0.1))])),
        ('--settle', 'nan'), 2, 'parameter settle: found nan, expected s, 0 or more',
    ),
    (
        (('/mocap', POSES, poses()), ('/cmd_vel', TWIST, [(0.5, twist(0.1))])),
        ('--settle', '30'), 4, 'found no valid test of 1',
    ),
    (
        (('/mocap', POSES, [(k / 100, pose(k / 100, 1e300 * (-1) ** k)) for k in range(400)]),
         ('/cmd_vel', TWIST, [(0.5, twist(0.1))])),
        ('--settle', '1'), 4, 'found no valid test of 1',
    ),
]  # fmt: skip


@pytest.mark.parametrize(('streams', 'options', 'code', 'told'), WRONG)
def test_what_gives_no_number_ends_with_one_line(
    bag, content, write, capsys, streams, options, code, told
):
    content['measure']['source'] = 'mocap'
    assert reevaluate(bag(*streams), write(content), *options) == code
    said = capsys.readouterr().err
    assert told in said
    assert said.count('\n') == 1


def test_a_good_bag_ends_well(bag, content, write, capsys):
    content['measure']['source'] = 'mocap'
    rng = np.random.default_rng(1)
    noise = rng.normal(0, 1e-5, (400, 2))  # in y, too: a coordinate that never changes is frozen
    streams = [
        (k / 100, pose(k / 100, 0.1 * k / 100 + noise[k, 0], noise[k, 1], orientation=turn(0.0)))
        for k in range(400)
    ]
    path = bag(('/mocap', POSES, streams), ('/cmd_vel', TWIST, [(0.5, twist(0.1))]))
    assert reevaluate(path, write(content), '--settle', '1', '--window', '2') == 0
    assert '1 valid of 1: mean psi 0.00' in capsys.readouterr().out


@pytest.mark.parametrize(
    'damage', [None, wild, exchanged, stalled, two_publishers, w_first, stray]
)
def test_what_a_bag_holds_is_checked_alike(bag, content, write, damage):
    """The same samples in process and from a bag, as PoseStamped: the same psi, or reason."""
    samples = Motion().samples()
    if damage is not None:
        damage(samples, 300, 0.4, np.random.default_rng(1))
    said = []
    for k, sample in enumerate(samples):
        turned = TYPES['geometry_msgs/msg/Quaternion'](*sample.orientation)
        message = pose(0.0, *sample.position, turned)
        seconds, nanoseconds = divmod(sample.stamp_ns, SECOND)
        message.header.stamp.sec, message.header.stamp.nanosec = seconds, nanoseconds
        message.header.frame_id = 'world'
        said.append((k / 100, message))
    measure = measure_of()
    path = bag(('/mocap/pose', POSES, said))
    with Recording(path) as opened:
        read = rows_of(joined(read_samples(opened, '/mocap/pose', measure.input)))
    assert outcome_of(measure, read) == outcome_of(measure, samples)
    if damage in (None, stray):
        assert outcome_of(measure, read).valid
    else:
        assert outcome_of(measure, read).code in OF_POSES[damage]
