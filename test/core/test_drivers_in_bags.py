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

"""Messages of drivers that are not installed here, in bags that hold their definitions."""

import math

import numpy as np
import pytest
from support.bags import read_samples

from repsq_ros.cli import main
from repsq_ros.measurement.recorder import Recorder, Window
from repsq_ros.recordings.recording import Recording
from repsq_ros.specification.load import load

pytest.importorskip('rosbags')

from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

# What of each definition is read; the bag's own decides about the layout.
DEFINITIONS = {
    'mocap4r2_msgs/msg/RigidBody': 'string rigid_body_name\ngeometry_msgs/Pose pose',
    'mocap4r2_msgs/msg/RigidBodies': (
        'std_msgs/Header header\nuint32 frame_number\nmocap4r2_msgs/RigidBody[] rigidbodies'
    ),
    'motion_capture_tracking_interfaces/msg/NamedPose': 'string name\ngeometry_msgs/Pose pose',
    'motion_capture_tracking_interfaces/msg/NamedPoseArray': (
        'std_msgs/Header header\nmotion_capture_tracking_interfaces/NamedPose[] poses'
    ),
    'dial_gauge_msgs/msg/DialGauge': 'std_msgs/Header header\nfloat64 value',
    'unitree_go/msg/IMUState': 'float32[4] quaternion\nfloat32[3] gyroscope',
    'unitree_go/msg/SportModeState': (
        'unitree_go/IMUState imu_state\nfloat32[3] position\nfloat32[3] velocity\n'
        'float32 yaw_speed'
    ),
    'unitree_hg/msg/BmsState': 'uint8 soc',
}
YAW = math.pi / 2
RATE = 100


@pytest.fixture(scope='module')
def store():
    made = get_typestore(Stores.ROS2_JAZZY)
    types = {}
    for name, definition in DEFINITIONS.items():
        types.update(get_types_from_msg(definition, name))
    made.register(types)
    return made


@pytest.fixture
def bag(store, tmp_path):
    """Write a bag: for each topic a type and a function from time [s] to a message."""

    def write(streams, count=400):
        path = tmp_path / 'bag'
        with Writer(path, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
            for topic, (name, make) in streams.items():
                connection = writer.add_connection(topic, name, typestore=store)
                for k in range(count):
                    t = k / RATE
                    raw = store.serialize_cdr(make(store.types, t), name)
                    writer.write(connection, round((t + 100.0) * 1e9), raw)
        return path

    return write


def header(types, t):
    return types['std_msgs/msg/Header'](
        types['builtin_interfaces/msg/Time'](100 + int(t), round(t % 1 * 1e9)), 'world'
    )


def pose(types, t):
    """Forward along world y at 0.3 m/s."""
    return types['geometry_msgs/msg/Pose'](
        types['geometry_msgs/msg/Point'](1.0, 0.3 * t, 0.7),
        types['geometry_msgs/msg/Quaternion'](0.0, 0.0, math.sin(YAW / 2), math.cos(YAW / 2)),
    )


def rigid_bodies(types, t):
    body = types['mocap4r2_msgs/msg/RigidBody']
    still = pose(types, 0.0)
    bodies = [body('3', still), body('7', pose(types, t))]
    return types['mocap4r2_msgs/msg/RigidBodies'](header(types, t), round(t * RATE), bodies)


def named_poses(types, t):
    named = types['motion_capture_tracking_interfaces/msg/NamedPose']
    return types['motion_capture_tracking_interfaces/msg/NamedPoseArray'](
        header(types, t), [named('g1', pose(types, t))]
    )


def sport_mode(types, t):
    single = np.float32
    imu = types['unitree_go/msg/IMUState'](
        np.array([math.cos(YAW / 2), 0, 0, math.sin(YAW / 2)], single), np.zeros(3, single)
    )
    return types['unitree_go/msg/SportModeState'](
        imu, np.array([1.0, 0.3 * t, 0.7], single), np.array([0.0, 0.3, 0.0], single), 0.0
    )


BODIES = [
    ({'type': 'mocap4r2_msgs/RigidBodies', 'body': '7'}, rigid_bodies),
    ({'type': 'motion_capture_tracking_interfaces/NamedPoseArray', 'body': 'g1'}, named_poses),
    ({'type': 'unitree_go/SportModeState'}, sport_mode),
]


@pytest.mark.parametrize(('given', 'make'), BODIES, ids=[b[0]['type'] for b in BODIES])
def test_a_body_of_a_driver_that_is_not_installed(bag, content, write, given, make, capsys):
    content['measure'] = {'type': 'soft_linf', 'gain': 6.0, 'reduction': 'rms', 'input': given}
    content['measure']['conditions'] = {
        'battery': {'type': 'unitree_hg/BmsState', 'at_least': 0.2}
    }
    measure = load(write(content)).measure

    def soc(types, t):
        return types['unitree_hg/msg/BmsState'](80 if t < 3.0 else 19)

    path = bag({'/it': (measure.input.type, make), '/bms': ('unitree_hg/msg/BmsState', soc)})
    recorder = Recorder(measure)
    with Recording(path) as opened:
        for sample in read_samples(opened, '/it', measure.input):
            recorder.add(sample)
        for reading in read_samples(opened, '/bms', measure.condition_inputs[0]):
            recorder.add(reading, 'battery')
    outcome = recorder.measure(Window(round(100.5e9), round(102.5e9), (0.3, 0.0, 0.0)))
    assert outcome.valid, outcome.reason
    assert outcome.psi < 1e-5
    late = recorder.measure(Window(round(101.5e9), round(103.5e9), (0.3, 0.0, 0.0)))
    assert late.reason == (
        'battery not nominal: 0.19 at 1.500 s of the window, expected at least 0.2'
    )
    assert main(['inspect', str(path)]) == 0
    printed = capsys.readouterr().out
    assert 'rate                                100.00 Hz' in printed
    if 'body' in given:
        assert f'{given["body"]}: broken poses' in printed


def test_a_dial_gauge_of_a_driver_that_is_not_installed(bag, content, write):
    content['measure'] = {
        'type': 'displacement',
        'upper': 10.0,
        'input': {'type': 'dial_gauge_msgs/DialGauge'},
    }
    content['partition'], content['accuracy']['gamma'] = {'alpha': 1.0}, 0.4
    measure = load(write(content)).measure

    def gauge(types, t):
        return types['dial_gauge_msgs/msg/DialGauge'](header(types, t), 1.25 if t < 1 else 3.5)

    path = bag({'/dial': (measure.input.type, gauge)})
    recorder = Recorder(measure)
    with Recording(path) as opened:
        for sample in read_samples(opened, '/dial', measure.input):
            recorder.add(sample)
    window = Window(round(102e9), round(103e9), (0.0, 0.0, 0.0), round(100.5e9))
    assert recorder.measure(window).psi == pytest.approx(2.25, abs=1e-12)
