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

"""The scheduler's view of a simulated time that may be ahead of what was heard of it."""

import time

import pytest
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from rosgraph_msgs.msg import Clock
from support.graph import SOON, domain_of_its_own

from repsq_ros.nodes.campaign_clock import CampaignClock
from repsq_ros.nodes.translate import to_time
from repsq_ros.timebase import NANOSECONDS


@pytest.fixture
def hearing():
    """Make a clock of a simulation's speed, and a way to tell it the time."""
    with domain_of_its_own() as domain:
        context = rclpy.Context()
        rclpy.init(context=context, domain_id=domain)
        simulated = [Parameter('use_sim_time', value=True)]
        node = rclpy.create_node('clocked', context=context, parameter_overrides=simulated)
        executor = SingleThreadedExecutor(context=context)
        executor.add_node(node)
        publisher = node.create_publisher(Clock, '/clock', 10)

        def make(speed):
            ticks = []
            clock = CampaignClock(node, lambda now_ns: ticks.append(now_ns / NANOSECONDS), speed)

            def hears(seconds, taken_for):
                """Say a time until it is taken for what is expected; false if never."""
                ticks.clear()
                for _ in range(round(SOON / 0.05)):
                    publisher.publish(Clock(clock=to_time(round(seconds * NANOSECONDS))))
                    executor.spin_once(timeout_sec=0.05)
                    if ticks and ticks[-1] == taken_for == clock.now_ns() / NANOSECONDS:
                        return True
                return False

            return clock, hears

        yield make
        rclpy.shutdown(context=context)


@pytest.mark.parametrize('speed', [0.0, 1.5])
def test_faster_than_real_time_it_is_as_late_as_a_broken_off_phase_may_have_become(hearing, speed):
    clock, hears = hearing(speed)
    assert hears(100.0, 100.0)
    clock.wake_at(105 * NANOSECONDS)
    assert hears(104.0, 104.0)
    clock.wake_at(None)
    assert clock.now_ns() == 105 * NANOSECONDS
    assert hears(104.5, 105.0)
    assert hears(106.0, 106.0)
    assert hears(1.0, 1.0), 'a time that runs back has to be seen'


def test_in_real_time_a_robot_cannot_be_ahead_whatever_was_heard_late(hearing):
    clock, hears = hearing(1.0)
    for late in (100.0, 104.0):  # the second one after a pause in which nothing was heard
        assert hears(late, late)
        clock.wake_at(105 * NANOSECONDS)
        time.sleep(0.6)
        clock.wake_at(None)
        assert clock.now_ns() == late * NANOSECONDS


def test_it_notices_for_how_long_time_has_stood_still(hearing):
    clock, hears = hearing(0.0)
    assert hears(100.0, 100.0)
    began = time.monotonic()
    while time.monotonic() - began < 0.3:
        assert hears(100.0, 100.0)
    assert clock.stands_still > 0.2
    assert hears(101.0, 101.0)
    assert clock.stands_still < 0.2
