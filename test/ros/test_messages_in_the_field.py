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

"""What reaches measurement and estimator may be late, doubled, foreign or broken."""

import math
import time

import pytest
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry

from repsq_ros import topics
from repsq_ros.msg import Heartbeat, TestCommand, TestMeasurement, TestPhase
from repsq_ros.nodes import qos
from repsq_ros.specification.load import load


def stamp(seconds):
    nanoseconds = round(seconds * 1e9)
    return Time(sec=nanoseconds // 1_000_000_000, nanosec=nanoseconds % 1_000_000_000)


class Bench:
    """Speaks as scheduler and sensor to a measurement node."""

    def __init__(self, nodes, file):
        self.nodes, self.digest = nodes, load(file).digest
        node = nodes.listener.node
        self.phase = node.create_publisher(TestPhase, topics.TEST_PHASE, qos.RECORD)
        # Reliable on both sides: what is lost on the way is not the matter here.
        self.odometry = node.create_publisher(Odometry, 'odom', qos.QoSProfile(depth=1000))
        self.beats = []
        node.create_subscription(
            Heartbeat, f'{topics.HEARTBEAT}/measurement', self.beats.append, qos.HEARTBEAT
        )
        reliable = {'qos_overrides./odom.subscription.reliability': 'reliable'}
        nodes.start('measurement', {'specification': str(file), **reliable})
        nodes.listener.until(
            lambda: all(
                p.get_subscription_count() > count
                for p, count in ((self.phase, 1), (self.odometry, 0))
            )
        )

    def wake(self):
        """Speak as the sensor until the node shows that it hears it."""

        def heard():
            self.say_odometry(1.0, 1.02)
            return self.beats and self.beats[-1].ready

        self.nodes.listener.until(heard)
        return self

    def say_phase(
        self, index=0, phase=TestPhase.COMMAND, window=(10.0, 11.0), digest=None, attempt=0,
        reason='', broken_off=False,
    ):  # fmt: skip
        test = TestCommand(
            campaign_id='lab', specification_digest=digest or self.digest, index=index,
            attempt=attempt, weight=0.75, names=['linear_x'], x=[0.1],
        )  # fmt: skip
        message = TestPhase(
            test=test, phase=phase, start=stamp(9.0), reason=reason, broken_off=broken_off
        )
        message.command = [0.1, 0.0, 0.0]
        message.end = stamp(11.0)
        if window:
            message.window_start, message.window_end = map(stamp, window)
        self.phase.publish(message)

    def say_odometry(self, begin=9.5, end=11.1, velocity=0.1, broken_at=None, w=1.0):
        for k in range(round((end - begin) * 50)):
            message = Odometry()
            message.header.stamp = stamp(begin + k / 50)
            message.header.frame_id = 'odom'
            message.pose.pose.orientation.w = w
            message.twist.twist.linear.x = math.nan if k == broken_at else velocity
            self.odometry.publish(message)
            time.sleep(0.001)

    def measured(self, index=0):
        """Say that the phases of a test are over, and listen for what was measured."""
        self.say_phase(index, TestPhase.IDLE, window=None)
        return self.nodes.listener.latest(topics.TEST_MEASUREMENT)


@pytest.fixture
def bench(nodes, content, write):
    return Bench(nodes, write(content)).wake()


@pytest.mark.parametrize('first', ['samples', 'phase'])
def test_a_window_is_measured_whatever_comes_first(bench, first):
    if first == 'samples':
        bench.say_odometry()
    bench.say_phase()
    if first == 'phase':
        bench.say_odometry()
    message = bench.measured()
    assert (message.valid, message.psi, message.samples, message.weight) == (True, 0.0, 50, 0.75)
    assert message.header.frame_id == 'odom'
    assert message.window_start == stamp(10.0)
    assert message.header.stamp == message.window_end == stamp(11.0)


@pytest.mark.parametrize(
    ('odometry', 'reason'),
    [
        ({'broken_at': 50}, 'not finite: NaN or infinity in a sample at 0.500 s of the window'),
        ({'w': 0.0}, 'no orientation: a quaternion of norm zero'),
        ({'begin': 10.4}, 'gap: 0.400 s without a sample from 0.000 s'),
    ],
)
def test_a_spoiled_window_is_invalid_with_its_reason(bench, odometry, reason):
    bench.say_phase()
    bench.say_odometry(**odometry)
    message = bench.measured()
    assert not message.valid
    assert message.psi == 0.0
    assert message.reason.startswith(reason)


def test_a_sensor_that_falls_silent_is_told_soon_after_the_test(bench):
    bench.say_phase()
    bench.say_odometry(end=10.2)
    bench.say_phase(phase=TestPhase.IDLE, window=None)
    message = bench.measured()
    assert message.reason.startswith('gap: 0.820 s without a sample from 0.180 s')


def test_a_sensor_that_was_never_heard_is_told(nodes, content, write):
    bench = Bench(nodes, write(content))
    bench.say_phase()
    bench.say_phase(phase=TestPhase.IDLE, window=None)
    assert bench.measured().reason == 'silent: no sample in a window of 1 s'


def test_a_sensor_that_lives_at_another_time_is_told(bench):
    """Stamps of zero, or of a machine whose clock is off, never reach the window."""
    bench.say_phase()
    bench.say_phase(phase=TestPhase.IDLE, window=None)

    def heard():
        bench.say_odometry(2.0, 2.1)
        return bench.nodes.listener.heard[topics.TEST_MEASUREMENT]

    bench.nodes.listener.until(heard)
    assert bench.measured().reason.startswith(
        'silent: no sample in a window of 1 s; the newest stamp is 8.920 s before its end: do'
    )


def test_another_specification_of_the_scheduler_is_told(bench):
    bench.say_phase(digest='0' * 64)
    bench.say_odometry()
    bench.say_phase(phase=TestPhase.IDLE, window=None, digest='0' * 64)
    message = bench.nodes.listener.latest(topics.TEST_MEASUREMENT)
    assert not message.valid
    assert 'of the measurement node differ: digests 000000000000 and' in message.reason


def test_a_pause_that_is_heard_after_the_last_sample_spoils_no_number(bench):
    """A test counts once its phases are over, not when its window is full."""
    bench.say_phase()
    bench.say_odometry()
    bench.nodes.listener.listen(1.0)
    assert bench.nodes.listener.heard[topics.TEST_MEASUREMENT] == []
    bench.say_phase(phase=TestPhase.PAUSED, window=None)
    bench.say_phase(window=(12.0, 13.0))
    bench.say_odometry(11.5, 13.1)
    message = bench.measured()
    assert message.window_start == stamp(12.0)
    assert len(bench.nodes.listener.heard[topics.TEST_MEASUREMENT]) == 1


def test_an_aborted_test_is_not_measured(bench):
    bench.say_phase()
    bench.say_phase(phase=TestPhase.ABORTED, window=None)
    bench.phase.wait_for_all_acked()  # it is there before the first sample
    bench.say_odometry()
    bench.say_phase(index=1)
    assert bench.measured(1).index == 1
    assert len(bench.nodes.listener.heard[topics.TEST_MEASUREMENT]) == 1


@pytest.mark.parametrize(
    ('phase', 'broken_off', 'skipped'),
    [(TestPhase.PAUSED, True, False), (TestPhase.SKIPPED, True, True),
     (TestPhase.SKIPPED, False, True), (TestPhase.IDLE, True, False)],
)  # fmt: skip
def test_what_is_broken_off_or_skipped_gets_its_record_and_once(bench, phase, broken_off, skipped):
    bench.say_phase()
    bench.say_odometry()
    for _ in range(2):
        bench.say_phase(phase=phase, window=None, reason='a cable', broken_off=broken_off)
    heard = bench.nodes.listener.heard[topics.TEST_MEASUREMENT]
    bench.nodes.listener.until(lambda: len(heard) == 2)
    first, again = heard
    assert (first.valid, first.broken_off, first.skipped) == (False, broken_off, skipped)
    assert (first.reason, first.weight, list(first.x)) == ('a cable', 0.75, [0.1])
    assert again == first, 'who asks again hears the same'
    bench.say_phase(attempt=1)
    bench.say_phase(phase=TestPhase.IDLE, window=None, attempt=1)
    bench.nodes.listener.until(lambda: len(heard) == 3)
    assert (heard[2].attempt, heard[2].valid) == (1, True)


def test_a_skip_that_crosses_a_measurement_changes_nothing(bench):
    bench.say_phase()
    bench.say_odometry()
    first = bench.measured()
    bench.say_phase(phase=TestPhase.SKIPPED, window=None)
    heard = bench.nodes.listener.heard[topics.TEST_MEASUREMENT]
    bench.nodes.listener.until(lambda: len(heard) == 2)
    assert first.valid
    assert heard[1] == first


def test_a_phase_that_is_none_is_told_and_ends_nothing(bench):
    bench.say_phase(phase=200)
    output = bench.nodes.output
    bench.nodes.listener.until(lambda: 'phase 200, expected one of' in output('measurement'))
    bench.say_phase()
    bench.say_odometry()
    assert bench.measured().valid


def test_the_estimator_counts_each_test_of_its_campaign_once(nodes, content, write):
    file = write(content)
    digest = load(file).digest
    publisher = nodes.listener.speaker('measurement').create_publisher(
        TestMeasurement, topics.TEST_MEASUREMENT, qos.RECORD
    )
    nodes.start('estimator', {'specification': str(file)})
    nodes.listener.until(lambda: publisher.get_subscription_count() > 1)
    nodes.listener.listen(2.0)  # until its name is known: before, nothing that it says is counted

    def say(index, psi, campaign='lab', of=digest, valid=True, attempt=0):
        publisher.publish(
            TestMeasurement(
                campaign_id=campaign, specification_digest=of, index=index, attempt=attempt,
                psi=psi, weight=1.0, valid=valid, reason='' if valid else 'gap',
            )
        )  # fmt: skip

    say(0, 0.4)
    say(0, 0.4)  # doubled
    say(2, 0.9)  # not due yet
    say(1, 0.9, campaign='another')
    say(1, 0.9, of='0' * 64)
    say(1, 0.0, valid=False)
    say(1, math.nan, attempt=1)
    say(1, 0.6, attempt=2)
    heard = nodes.listener.heard[topics.ESTIMATE]
    last = nodes.listener.latest(topics.ESTIMATE, lambda estimate: estimate.n == 2)
    assert (last.n, last.invalid, last.mean, last.campaign_id) == (2, 2, 0.5, 'lab')
    # The one that was counted last is answered again: who asks may not have heard the answer.
    assert [(e.index, e.attempt, e.n) for e in heard] == [
        (0, 0, 1), (0, 0, 1), (1, 0, 1), (1, 1, 1), (1, 2, 2),
    ]  # fmt: skip
    output = nodes.output('estimator')
    assert "it belongs to campaign 'another', not to 'lab'" in output
    assert 'its specification digest is 000000000000' in output


def test_the_simulated_robot_ignores_a_command_that_is_not_finite(nodes):
    heard = []
    node = nodes.listener.node
    node.create_subscription(Odometry, '/odom', heard.append, qos.COMMAND)
    publisher = node.create_publisher(Twist, 'cmd_vel', qos.COMMAND)
    nodes.start('simulated_robot', {'speed': 1.0})
    broken = Twist()
    broken.linear.x = math.nan
    nodes.listener.saying(
        publisher, broken, lambda: 'is not finite: ignored' in nodes.output('simulated_robot')
    )
    count = len(heard)
    nodes.listener.until(lambda: len(heard) > count + 10)
    assert all(math.isfinite(m.twist.twist.linear.x) for m in heard)
