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

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from rosgraph_msgs.msg import Clock
from support.graph import SOON, domain_of_its_own

from repsq_ros.nodes.campaign_clock import CampaignClock
from repsq_ros.nodes.translate import to_time
from repsq_ros.timebase import NANOSECONDS


def test_after_a_break_off_it_is_as_late_as_the_phase_might_have_become():
    with domain_of_its_own() as domain:
        context = rclpy.Context()
        rclpy.init(context=context, domain_id=domain)
        simulated = [Parameter('use_sim_time', value=True)]
        node = rclpy.create_node('clocked', context=context, parameter_overrides=simulated)
        executor = SingleThreadedExecutor(context=context)
        executor.add_node(node)
        ticks = []
        clock = CampaignClock(node, lambda now_ns: ticks.append(now_ns / NANOSECONDS))
        publisher = node.create_publisher(Clock, '/clock', 10)

        def hears(seconds, taken_for):
            """Say a time until the scheduler takes it for what is expected; false if never."""
            ticks.clear()
            for _ in range(round(SOON / 0.05)):
                publisher.publish(Clock(clock=to_time(round(seconds * NANOSECONDS))))
                executor.spin_once(timeout_sec=0.05)
                if ticks and ticks[-1] == taken_for == clock.now_ns() / NANOSECONDS:
                    return True
            return False

        assert hears(100.0, 100.0)
        clock.wake_at(105 * NANOSECONDS)
        assert hears(100.05, 100.05)
        clock.wake_at(None)
        assert clock.now_ns() == round(100.05 * NANOSECONDS), 'in real time it cannot be ahead'
        assert hears(101.0, 101.0), 'a message that was late is no pace'
        clock.wake_at(None)
        assert clock.now_ns() == 101 * NANOSECONDS
        time.sleep(0.6)
        assert hears(104.0, 104.0)
        clock.wake_at(None)
        assert clock.now_ns() == 105 * NANOSECONDS
        assert hears(104.5, 105.0)
        assert hears(106.0, 106.0)
        assert hears(1.0, 1.0), 'a time that runs back has to be seen'
        rclpy.shutdown(context=context)
