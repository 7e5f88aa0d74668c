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

"""Instruments as the specification describes them, over real DDS."""

import math
import os
import time
from dataclasses import replace

import pytest
from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import Odometry
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from std_msgs.msg import Float32, Float64
from support.bags import read_samples
from support.rows import rows_of
from support.steady_faults import CASES, COMMAND, START_NS, WINDOW, damaged, outcome_of

from repsq_ros import topics
from repsq_ros.measurement.recorder import Recorder, Window
from repsq_ros.msg import Heartbeat, TestCommand, TestPhase
from repsq_ros.nodes import qos
from repsq_ros.recordings.recording import Recording
from repsq_ros.specification.load import load

BEST_EFFORT = QoSProfile(depth=2000, reliability=ReliabilityPolicy.BEST_EFFORT)
LATCHED = QoSProfile(
    depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
)
POSE = {'type': 'geometry_msgs/PoseStamped', 'frame': 'world'}
LOSS = {'type': 'soft_linf', 'gain': 6.0, 'reduction': 'rms', 'input': POSE}
DIAL = {
    'type': 'displacement', 'upper': 10.0, 'tare': 0.0,
    'input': {'type': 'std_msgs/Float32', 'unit': 'mm'},
}  # fmt: skip


def stamp(seconds):
    return stamp_ns(round(seconds * 1e9))


def stamp_ns(nanoseconds):
    return Time(sec=nanoseconds // 1_000_000_000, nanosec=nanoseconds % 1_000_000_000)


def pose(t, x=0.0, frame='world'):
    message = PoseStamped()
    message.header.stamp, message.header.frame_id = stamp(t), frame
    message.pose.position.x, message.pose.position.z = x, 0.7
    message.pose.orientation.w = 1.0
    return message


def walk(publisher, begin, end, rate=100, lost=math.inf, frame='world'):
    for k in range(round((end - begin) * rate)):
        t = begin + k / rate
        publisher.publish(pose(t, 0.3 * t if t < lost else 1.0, frame))


class Lab:
    """Speaks as scheduler and sensors to a measurement node, and hears its diagnostics."""

    def __init__(self, nodes, content, write, measure, parameters=None, **partition):
        content['measure'] = measure
        content['partition'] = {'alpha': 0.1}
        content['accuracy']['gamma'] = 0.04 * measure.get('upper', 1.0)
        self.nodes, self.file = nodes, write(content)
        self.digest = load(self.file).digest
        self.node, self.until = nodes.listener.node, nodes.listener.until
        self.phase = self.node.create_publisher(TestPhase, topics.TEST_PHASE, qos.RECORD)
        self.statuses = {}
        self.node.create_subscription(
            DiagnosticArray, '/diagnostics', self._on_message, QoSProfile(depth=100)
        )
        nodes.start('measurement', {'specification': str(self.file), **(parameters or {})})

    def _on_message(self, message):
        for status in message.status:
            self.statuses[status.name] = status

    def publisher(self, kind, topic, profile, first=None):
        """Make a publisher; where a first message is given, repeat it until the node hears it."""
        made = self.node.create_publisher(kind, topic, profile)
        if first is not None:
            name = f'measurement: /{topic}'

            def heard():
                return self.statuses[name].message != 'never heard' if name in self.statuses else 0

            self.nodes.listener.saying(made, first, heard)
        return made

    def mocap(self, profile=BEST_EFFORT):
        """Make a publisher of poses; the first one is long before all tests."""
        return self.publisher(PoseStamped, 'mocap/pose', profile, pose(1.0))

    def test(self, start, end, index=0):
        self.test_at(round(start * 1e9), round(end * 1e9), index)

    def test_at(self, start_ns, end_ns, index=0, before_ns=0, command=(0.3, 0.0, 0.0)):
        phase = TestPhase(test=self.case(index), phase=TestPhase.COMMAND)
        phase.start, phase.window_start = stamp_ns(start_ns - before_ns), stamp_ns(start_ns)
        phase.end = phase.window_end = stamp_ns(end_ns)
        phase.command = list(map(float, command))
        self.phase.publish(phase)

    def over(self, index=0):
        self.phase.publish(TestPhase(test=self.case(index), phase=TestPhase.IDLE))

    def case(self, index):
        return TestCommand(
            campaign_id='lab', specification_digest=self.digest, index=index, weight=1.0,
            names=['linear_x'], x=[0.1],
        )  # fmt: skip

    def measured(self, index=0):
        """Say that the phases of a test are over, and listen for what was measured."""
        self.over(index)
        return self.nodes.listener.latest(topics.TEST_MEASUREMENT, lambda m: m.index == index)

    def status(self, name, wanted=lambda status: True):
        self.until(lambda: name in self.statuses and wanted(self.statuses[name]))
        found = self.statuses[name]
        return found, {pair.key: pair.value for pair in found.values}


@pytest.fixture
def lab(nodes, content, write):
    def make(measure, **options):
        return Lab(nodes, content, write, measure, **options)

    return make


def test_a_burst_of_poses_is_taken_in_to_the_last_one(lab):
    """Two seconds at 1 kHz, 100 poses at once, best effort, as drivers send them."""
    there = lab(LOSS)
    mocap = there.mocap()
    there.test(10.0, 11.5)
    for begin in range(18):
        walk(mocap, 9.8 + 0.1 * begin, 9.9 + 0.1 * begin, rate=1000)
        there.nodes.listener.listen(0.1)  # the kernel's own buffer holds few more
    message = there.measured()
    assert (message.valid, message.samples) == (True, 1500), message.reason
    assert message.psi < 1e-6


def test_a_reason_is_told_on_diagnostics_as_well(lab):
    there = lab(LOSS)
    mocap = there.mocap()
    there.test(10.0, 11.0)
    walk(mocap, 9.8, 11.1, lost=10.4)
    message = there.measured()
    assert message.reason.startswith('frozen: bit-identical poses with fresh stamps for 0.590 s')
    status, values = there.status('measurement: test')
    assert (status.level, status.message) == (DiagnosticStatus.ERROR, f'INVALID: {message.reason}')
    assert (values['reason'], values['index']) == ('frozen', '0')
    _, values = there.status('measurement: /mocap/pose', lambda s: s.message.startswith('frozen'))
    assert values['period'] == '10.000 ms'
    assert values['stamps look like'].startswith('header')
    there.test(20.0, 21.0, index=1)
    walk(mocap, 19.8, 21.1, frame='map')
    assert there.measured(1).reason == "wrong frame: frame_id 'map', expected 'world'"


def test_a_wild_pose_just_before_the_window_and_a_second_publisher(lab):
    there = lab(LOSS)
    mocap = there.mocap()
    there.test(10.0, 11.0)
    walk(mocap, 9.8, 9.96)
    mocap.publish(pose(9.96, 0.3 * 9.96 + 0.5))
    walk(mocap, 9.97, 11.1)
    assert there.measured().reason.startswith('jump: 0.503 m within 0.0100 s at -0.040 s of the')
    another = there.node.create_publisher(PoseStamped, 'mocap/pose', BEST_EFFORT)
    there.until(lambda: there.node.count_publishers('/mocap/pose') == 2)
    there.nodes.listener.listen(1.0)  # the measurement node hears of it a little later
    there.test(20.0, 21.0, index=1)
    walk(mocap, 19.8, 21.1)
    assert there.measured(1).reason.startswith(
        'publishers: 2 on /mocap/pose (/listener, /listener), expected one'
    )
    there.node.destroy_publisher(another)
    there.nodes.listener.listen(1.0)
    there.test(30.0, 31.0, index=2)
    walk(mocap, 29.8, 31.1)
    message = there.measured(2)
    assert message.valid, message.reason
    assert message.psi < 1e-6


def test_a_publisher_that_cannot_be_heard_is_told_by_name_with_the_remedy(lab):
    reliable = {'qos_overrides./mocap/pose.subscription.reliability': 'reliable'}
    there = lab(LOSS, parameters=reliable)
    there.publisher(PoseStamped, 'mocap/pose', BEST_EFFORT)
    status, _ = there.status(
        'measurement: /mocap/pose', lambda s: s.level == DiagnosticStatus.ERROR
    )
    assert '/listener is not heard' in status.message
    assert 'qos_overrides./mocap/pose.subscription.reliability:=best_effort' in status.message
    there.nodes.says('measurement', status.message)


@pytest.mark.parametrize(('late', 'told'), [(0.3, 'behind'), (-0.2, 'ahead of')])
def test_a_sensor_whose_clock_is_off_is_waited_for(lab, late, told):
    there, beats = lab(LOSS), []
    there.node.create_subscription(
        Heartbeat, f'{topics.HEARTBEAT}/measurement', beats.append, qos.HEARTBEAT
    )
    mocap = there.publisher(PoseStamped, 'mocap/pose', BEST_EFFORT)

    def speaking(late, condition):
        def told():
            mocap.publish(pose(time.time() - late))
            return beats and condition(beats[-1])

        there.until(told)

    speaking(late, lambda beat: not beat.ready and f's {told} the clock' in beat.status)
    assert beats[-1].status.startswith('right stamps on /mocap/pose: they are 0.')
    speaking(0.0, lambda beat: beat.ready)


def test_a_publisher_of_another_type_is_told(lab):
    there = lab(LOSS)
    there.publisher(Float64, 'mocap/pose', BEST_EFFORT)
    status, _ = there.status(
        'measurement: /mocap/pose', lambda s: s.level == DiagnosticStatus.ERROR
    )
    assert 'publishes std_msgs/msg/Float64, expected geometry_msgs/msg/PoseStamped' in (
        status.message
    )


def test_a_float32_dial_without_a_stamp(lab):
    there = lab(DIAL)
    dial = there.publisher(Float32, 'gauge', BEST_EFFORT, Float32(data=9.0))
    time.sleep(0.5)  # until all that was said is heard
    start = time.time()
    dial.publish(Float32(data=0.1))
    time.sleep(0.5)  # longer than it is on its way
    there.test(start, time.time())
    there.over()  # an event-driven gauge says no more
    message = there.measured()
    assert message.valid, message.reason
    assert message.psi == pytest.approx(0.1, abs=1e-8)
    # From now on it is silent: the old reading is none of the next test.
    there.test(time.time(), time.time() + 0.3, index=1)
    there.over(index=1)
    assert there.measured(1).reason.startswith('stale gauge: its newest reading is ')


def test_the_real_recording_over_dds_gives_what_the_bag_gives(lab, recordings):
    """A body at rest that is commanded 0.3 m/s: to the last bit, whatever way it came."""
    finger = {**LOSS, 'validity': {'rest_tilt': 3.14}}  # it points anywhere
    there = lab(
        finger, parameters={'qos_overrides./mocap/pose.subscription.reliability': 'reliable'}
    )
    mocap = there.mocap(QoSProfile(depth=5000))
    specification = load(there.file)
    topic = '/vrpn_client_node/IndexFinger/pose'
    with Recording(recordings / 'optitrack_static_mcap') as bag:
        samples = read_samples(bag, topic, specification.measure.input)[:1000]
    recorder = Recorder(specification.measure)
    for sample in samples:
        recorder.add(sample)
    start_ns = samples[200].stamp_ns
    expected = recorder.measure(
        Window(start_ns, start_ns + 3_000_000_000, (0.3, 0.0, 0.0), start_ns)
    )
    there.test_at(start_ns, start_ns + 3_000_000_000)
    for sample in samples:
        message = PoseStamped()
        message.header.stamp, message.header.frame_id = stamp_ns(sample.stamp_ns), 'world'
        pose = message.pose
        pose.position.x, pose.position.y, pose.position.z = sample.position[0].tolist()
        turn = pose.orientation
        turn.x, turn.y, turn.z, turn.w = sample.orientation[0].tolist()
        mocap.publish(message)
    message = there.measured()
    assert message.valid, message.reason
    assert (message.psi, message.samples) == (expected.psi, expected.samples)
    assert message.psi == pytest.approx(-math.expm1(-6.0 * 0.3), abs=0.01)


def under_condition(**condition):
    return {**LOSS, 'conditions': {'scaling': {'type': 'std_msgs/Float64', **condition}}}


def test_a_condition_that_was_told_once_before_anybody_listened(lab):
    """A latched mode: heard although it was said before the node was there."""
    there = lab(under_condition(unit='percent_or_share', at_least=1.0))
    latched = there.publisher(Float64, 'condition/scaling', LATCHED)
    latched.publish(Float64(data=100.0))
    mocap = there.mocap()
    there.status('measurement: /condition/scaling', lambda s: s.level == DiagnosticStatus.OK)
    now = time.time() + 0.5
    there.test(now, now + 1.0)
    walk(mocap, now - 0.1, now + 1.1)
    message = there.measured()
    assert message.valid, message.reason
    latched.publish(Float64(data=45.0))
    latched.wait_for_all_acked()
    now = time.time() + 0.5
    there.test(now, now + 1.0, index=1)
    walk(mocap, now - 0.1, now + 1.1)
    assert there.measured(1).reason.startswith('scaling not nominal: 0.45 at -')


@pytest.mark.parametrize(
    ('given', 'words'),
    [
        ({'type': 'mocap4r2_msgs/RigidBodies', 'body': '7'},
         'the input is mocap4r2_msgs/msg/RigidBodies, but mocap4r2_msgs is not installed here: '
         'apt install ros-'),
        ({'type': 'unitree_go/SportModeState'}, 'but unitree_go is not installed here'),
        ({'type': 'geometry_msgs/Nothing', 'field': 'x', 'unit': 'm'},
         'geometry_msgs is installed, but has no message Nothing'),
    ],
)  # fmt: skip
def test_a_message_that_is_not_installed_is_one_line(lab, given, words):
    measure = DIAL if 'field' in given else LOSS
    there = lab({**measure, 'input': given})
    assert there.nodes.wait('measurement') == 5
    assert words in there.nodes.output('measurement')
    assert 'Traceback' not in there.nodes.output('measurement')


def test_a_field_that_is_not_there_ends_the_node_with_one_line(lab):
    given = {'type': 'std_msgs/Float32', 'field': 'datum', 'unit': 'mm'}
    there = lab({**DIAL, 'input': given})
    dial = there.publisher(Float32, 'gauge', BEST_EFFORT)
    ended = there.nodes.process('measurement').poll
    there.nodes.listener.saying(dial, Float32(data=1.0), lambda: ended() is not None)
    assert there.nodes.wait('measurement') == 2
    assert 'Float32 has no datum on the way to datum' in there.nodes.output('measurement')
    assert 'Traceback' not in there.nodes.output('measurement')


SENT = int(os.environ.get('REPSQ_FUZZ_SENT', '1'))  # cases of each kind of steady fault


def body(row):
    """Return the message of a sample: an odometry where it has a velocity, else a pose."""
    message = PoseStamped() if row.linear_velocity is None else Odometry()
    there = message.pose if row.linear_velocity is None else message.pose.pose
    message.header.stamp, message.header.frame_id = stamp_ns(row.stamp_ns), row.frame
    parts = [(there.position, row.position), (there.orientation, row.orientation)]
    if row.linear_velocity is not None:
        moves = message.twist.twist
        parts += [(moves.linear, row.linear_velocity), (moves.angular, row.angular_velocity)]
    for part, numbers in parts:
        for name, number in zip('xyzw', numbers, strict=False):
            setattr(part, name, number)
    return message


@pytest.mark.parametrize('velocity', ['slope', 'cubic', ''])
def test_steady_faults_give_over_dds_what_they_give_in_process(lab, velocity):
    """Each kind of them at 50 Hz, one test after the other, 10 s apart."""
    kinds = [kind for kind, _, estimator in CASES if estimator == velocity] * SENT
    given = {**POSE, 'velocity': velocity} if velocity else {**POSE, 'type': 'nav_msgs/Odometry'}
    topic = 'mocap/pose' if velocity else 'odom'
    # Best effort, a busy machine loses some of them: the kernel's buffer holds about 90 datagrams.
    reliable = {f'qos_overrides./{topic}.subscription.reliability': 'reliable'}
    there = lab({**LOSS, 'input': given}, parameters=reliable)
    measure = load(there.file).measure
    first = body(rows_of(damaged(kinds[0], not velocity, 0)[1])[0])
    first.header.stamp = stamp(1.0)
    sensor = there.publisher(type(first), topic, QoSProfile(depth=5000), first)
    found, expected = [], []
    for index, kind in enumerate(kinds):
        _, samples = damaged(kind, not velocity, index, rate=50.0)
        later_ns = (10 + 10 * index) * 1_000_000_000 - START_NS
        samples = replace(samples, stamps=samples.stamps + later_ns)
        window = Window(
            WINDOW.start_ns + later_ns, WINDOW.end_ns + later_ns, COMMAND,
            WINDOW.command_ns + later_ns,
        )  # fmt: skip
        expected.append(outcome_of(samples, not velocity, measure=measure, window=window))
        there.test_at(window.start_ns, window.end_ns, index, 1_000_000_000, COMMAND)
        for row in rows_of(samples):
            sensor.publish(body(row))
        assert sensor.wait_for_all_acked()
        message = there.measured(index)
        found.append((message.valid, message.psi, message.psi_error, message.reason))
    assert found == [(each.valid, each.psi, each.psi_error, each.reason) for each in expected]
    assert {each.valid for each in expected} == {True, False}
