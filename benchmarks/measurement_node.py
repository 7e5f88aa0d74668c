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

"""What the measurement node costs, how fast it answers, and whether it loses anything.

    .venv/bin/with_repsq python3 benchmarks/measurement_node.py [--seconds 40] [--rate 360]

Three topics (poses that are measured, a second body and a number as conditions) at the same rate
into the node and, as the reference, into a bare rclpy subscriber of the same three topics, both in
processes of their own and at the same time. Prints the messages that each missed, the CPU time of
each and their ratio, and the time from the sample that completes a window to TestMeasurement, in
hops: the time of one message from publisher to the bare subscriber, measured in the same run.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import rclpy
import yaml
from builtin_interfaces.msg import Time
from geometry_msgs.msg import PoseStamped
from rclpy.executors import SingleThreadedExecutor
from std_msgs.msg import Float64

from repsq_ros import topics
from repsq_ros.msg import TestCommand, TestMeasurement, TestPhase
from repsq_ros.nodes import qos
from repsq_ros.specification.load import load

SPECIFICATION = Path(__file__).resolve().parent.parent / 'config' / 'g1_locomotion.yaml'
WINDOW, EVERY = 3.0, 4.0  # [s] measured, and between two tests
BARE = """
import sys, time, rclpy
from geometry_msgs.msg import PoseStamped
from std_msgs.msg import Float64
from rclpy.executors import SingleThreadedExecutor
from repsq_ros.nodes import qos
rclpy.init()
node = rclpy.create_node('bare')
counts, hops = [0, 0, 0], []
def pose(message):
    counts[0] += 1
def body(message):
    counts[1] += 1
    if counts[1] % 20 == 0:
        hops.append(time.monotonic() - message.pose.position.y)
def number(message):
    counts[2] += 1
node.create_subscription(PoseStamped, 'mocap/pose', pose, qos.SENSOR)
node.create_subscription(PoseStamped, 'condition/body', body, qos.SENSOR)
node.create_subscription(Float64, 'condition/number', number, qos.SENSOR)
executor = SingleThreadedExecutor()
executor.add_node(node)
while not counts[2] or number_last > time.monotonic() - 3.0:
    before = counts[2]
    executor.spin_once(timeout_sec=0.1)
    if counts[2] > before or not before:
        number_last = time.monotonic()
print(counts, flush=True)
print(hops, flush=True)
"""


def stamp(nanoseconds: int) -> Time:
    """Turn ns into a stamp."""
    return Time(sec=nanoseconds // 10**9, nanosec=nanoseconds % 10**9)


def cpu_seconds(pid: int) -> float:
    """Return the CPU time of a process so far."""
    fields = Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


class Driver:
    """Publishes the sensors and the tests, and hears the measurements."""

    def __init__(self, digest: str, rate: float) -> None:
        self.node = rclpy.create_node('driver')
        self.executor = SingleThreadedExecutor()
        self.executor.add_node(self.node)
        sensor = qos.SENSOR
        self.pose = self.node.create_publisher(PoseStamped, 'mocap/pose', sensor)
        self.body = self.node.create_publisher(PoseStamped, 'condition/body', sensor)
        self.number = self.node.create_publisher(Float64, 'condition/number', sensor)
        self.phase = self.node.create_publisher(TestPhase, topics.TEST_PHASE, qos.RECORD)
        self.node.create_subscription(
            TestMeasurement, topics.TEST_MEASUREMENT, self.hear, qos.RECORD
        )
        self.digest, self.rate = digest, rate
        self.heard: list[tuple[float, TestMeasurement]] = []
        self.complete: dict[int, float] = {}
        self.start_ns = 0

    def hear(self, message: TestMeasurement) -> None:
        """Note when a measurement came."""
        self.heard.append((time.monotonic(), message))

    def case(self, index: int) -> TestCommand:
        """Return the case of a test."""
        return TestCommand(
            campaign_id='lab', specification_digest=self.digest, index=index, weight=1.0,
            names=['linear_x'], x=[0.3],
        )  # fmt: skip

    def begin_test(self, index: int, start_ns: int, end_ns: int) -> None:
        """Announce a test whose window is given."""
        phase = TestPhase(test=self.case(index), phase=TestPhase.COMMAND)
        phase.start, phase.end = stamp(start_ns), stamp(end_ns)
        phase.window_start, phase.window_end = stamp(start_ns), stamp(end_ns)
        phase.command = [0.3, 0.0, 0.0]
        self.phase.publish(phase)

    def run(self, seconds: float) -> int:
        """Publish for so long; returns how often."""
        pose, body, number = PoseStamped(), PoseStamped(), Float64(data=1.0)
        for each in (pose, body):
            each.header.frame_id = 'world'
            each.pose.orientation.w = 1.0
        self.start_ns = time.time_ns()
        began, count, tests, over = time.monotonic(), 0, 0, 0
        total = round(seconds * self.rate)
        per_test = round(EVERY * self.rate)
        end_ns = 0
        while count < total:
            due = began + count / self.rate
            while time.monotonic() < due:
                self.executor.spin_once(timeout_sec=max(0.0, due - time.monotonic() - 2e-4))
            now_ns = self.start_ns + round(count * 1e9 / self.rate)
            if count % per_test == per_test // 10:
                end_ns = now_ns + round(WINDOW * 1e9)
                self.begin_test(tests, now_ns, end_ns)
            pose.header.stamp = body.header.stamp = stamp(now_ns)
            pose.pose.position.x = 0.3 * count / self.rate
            body.pose.position.y = time.monotonic()
            self.body.publish(body)
            self.number.publish(number)
            if end_ns and now_ns >= end_ns:
                self.complete[tests] = time.monotonic()
                tests, end_ns = tests + 1, 0
            self.pose.publish(pose)
            if tests > over:
                # As the scheduler does, whose phase ends with the window.
                self.phase.publish(TestPhase(test=self.case(over), phase=TestPhase.IDLE))
                over = tests
            count += 1
        deadline = time.monotonic() + 2.0
        while time.monotonic() < deadline:
            self.executor.spin_once(timeout_sec=0.1)
        return count


def specification(folder: Path) -> Path:
    """Write a specification with three inputs."""
    content = yaml.safe_load(SPECIFICATION.read_text())
    del content['measure']['source']
    content['measure']['input'] = {'type': 'geometry_msgs/PoseStamped', 'frame': 'world'}
    content['measure']['conditions'] = {
        'body': {
            'type': 'geometry_msgs/PoseStamped',
            'field': 'pose.orientation.w',
            'one_of': [1],
        },
        'number': {'type': 'std_msgs/Float64', 'at_least': 0.5, 'longest_silence': 0.2},
    }
    file = folder / 'specification.yaml'
    file.write_text(yaml.safe_dump(content))
    return file


def measure(folder: Path, seconds: float, rate: float) -> None:
    """Run node and reference side by side, and print what they took."""
    file = specification(folder)
    rclpy.init()
    driver = Driver(load(file).digest, rate)
    node = subprocess.Popen(
        [sys.executable, '-m', 'repsq_ros.nodes.measurement', '--ros-args', '-p',
         f'specification:={file}'],
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    bare = subprocess.Popen([sys.executable, '-c', BARE], stdout=subprocess.PIPE, text=True)
    try:
        while any(
            publisher.get_subscription_count() < 2
            for publisher in (driver.pose, driver.body, driver.number)
        ):
            driver.executor.spin_once(timeout_sec=0.1)
        time.sleep(2.0)
        began = cpu_seconds(node.pid), cpu_seconds(bare.pid)
        sent = driver.run(seconds)
        used = cpu_seconds(node.pid) - began[0], cpu_seconds(bare.pid) - began[1]
        counts, hops = map(eval, bare.communicate(timeout=30)[0].splitlines())
    finally:
        node.terminate()
        bare.kill()
        node.wait()
        rclpy.try_shutdown()
    report(driver, sent, counts, used, hops)


def report(
    driver: Driver, sent: int, counts: list[int], used: tuple[float, float], hops: list[float]
) -> None:
    """Print what was measured."""
    outcomes = [message for _, message in driver.heard]
    invalid = [message.reason for message in outcomes if not message.valid]
    wanted = round(WINDOW * driver.rate)
    missed = sum(wanted - message.samples for message in outcomes)
    hop = np.median(hops)
    answers = [at - driver.complete[message.index] for at, message in driver.heard]
    answer = np.median(answers)
    print(f'{sent} messages on each of 3 topics at {driver.rate:g} Hz')
    print(f'missed by the bare subscriber   {[sent - count for count in counts]}')
    print(f'missed by the node, measured    {missed} in {len(outcomes)} windows of {wanted}')
    print(f'tests without an answer         {len(driver.complete) - len(outcomes)}')
    print(f'INVALID                         {len(invalid)} {invalid[:1]}')
    print(f'CPU of the bare subscriber      {used[1]:7.2f} s')
    print(f'CPU of the node                 {used[0]:7.2f} s')
    print(f'node / bare subscriber          {used[0] / used[1]:7.2f}')
    print(f'one hop, median                 {hop * 1e3:7.3f} ms')
    print(f'sample to measurement, median   {answer * 1e3:7.3f} ms, {answer / hop:.1f} hops')


def main() -> None:
    """Run node and reference side by side, and print what they took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--seconds', type=float, default=40.0)
    parser.add_argument('--rate', type=float, default=360.0)
    arguments = parser.parse_args()
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    os.environ.setdefault('ROS_DOMAIN_ID', str(1 + os.getpid() % 100))
    with tempfile.TemporaryDirectory() as name:
        measure(Path(name), arguments.seconds, arguments.rate)


if __name__ == '__main__':
    main()
