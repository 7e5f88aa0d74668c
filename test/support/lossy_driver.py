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

"""A robot of each command type whose driver loses, delays or refuses stops: a process of its own.

It moves from the start, as in the middle of a test, and goes on until a stop gets through:
`python3 lossy_driver.py TYPE [--drop N] [--delay S] [--refuse [--deaf N]] [--answers CODE TIMES]`.
One that refuses stops by its service, or by damping, but for the first N of them, which it loses.
One of Unitree's type answers so many requests to move with a code, and does not carry them out.
"""

import argparse
import json
import math
import time

import rclpy
from geometry_msgs.msg import PoseStamped, Twist, TwistStamped
from nav_msgs.msg import Odometry
from rclpy.qos import QoSProfile, ReliabilityPolicy
from std_msgs.msg import String
from std_srvs.srv import Trigger

SPEED = 0.2  # [m/s]
PERIOD = 0.01  # [s]
NEAR = 0.03  # [m] from the tool: such a target stops it
COMMANDS = QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE)


class LossyDriver:
    def __init__(self, node, arguments):
        self.node, self.arguments = node, arguments
        self.x, self.speed = 0.0, SPEED
        self.dropped = 0
        self.waiting = []  # (when [s], speed)
        self.pose = arguments.type in ('urscript', 'pose_target')
        kind, topic = {
            'twist': (Twist, 'cmd_vel'),
            'twist_stamped': (TwistStamped, 'cmd_vel'),
            'urscript': (String, 'urscript_interface/script_command'),
            'pose_target': (PoseStamped, 'target_frame'),
            'unitree_sport': (None, 'api/sport/request'),
        }[arguments.type]
        if kind is None:
            from unitree_api.msg import Request, Response

            kind, self.response = Request, Response
            self.answers = node.create_publisher(Response, 'api/sport/response', COMMANDS)
        node.create_subscription(kind, topic, self.hear, COMMANDS)
        feedback = (PoseStamped, 'tool_pose') if self.pose else (Odometry, 'odom')
        self.feedback = node.create_publisher(*feedback, 10)
        node.create_service(Trigger, '/dashboard_client/stop', self.stop_by_service)
        node.create_timer(PERIOD, self.step)

    def speed_of(self, message):
        """Return what a command asks for [m/s]."""
        kind = self.arguments.type
        if kind == 'twist':
            return message.linear.x
        if kind == 'twist_stamped':
            return message.twist.linear.x
        if kind == 'urscript':
            return 0.0 if message.data.startswith('stopl') else SPEED
        if kind == 'pose_target':
            away = message.pose.position.x - self.x
            return 0.0 if abs(away) < NEAR else math.copysign(SPEED, away)
        request = json.loads(message.parameter)
        if message.header.identity.api_id == 7101:  # FSM 1: damping, which nobody can refuse
            assert request == {'data': 1}
            return 0.0 if self.obeys('damped') else self.speed
        return request['velocity'][0]

    def answer(self, request, speed):
        """Answer a request of Unitree's service, and tell whether it is carried out."""
        code, times = self.arguments.answers
        refused = speed != 0.0 and times > 0
        self.arguments.answers = (code, times - refused)
        response = self.response()
        response.header.identity = request.header.identity
        response.header.status.code = code if refused else 0
        self.answers.publish(response)
        return not refused

    def hear(self, message):
        speed = self.speed_of(message)
        if self.arguments.type == 'unitree_sport' and not self.answer(message, speed):
            return
        if speed == 0.0:
            if self.arguments.refuse:
                return
            if self.dropped < self.arguments.drop:
                self.dropped += 1
                return
        self.waiting.append((time.monotonic() + self.arguments.delay, speed))

    def stop_by_service(self, _, response):
        response.success = self.obeys('stopped by the service')
        if response.success:
            self.speed = 0.0
        else:
            response.message = 'lost'
        return response

    def obeys(self, stopped):
        """Tell whether another way of stopping gets through, and print it."""
        self.arguments.deaf -= 1
        if self.arguments.deaf >= 0:
            print('lost', flush=True)
            return False
        print(stopped, flush=True)
        self.arguments.refuse = False
        return True

    def step(self):
        while self.waiting and self.waiting[0][0] <= time.monotonic():
            self.speed = self.waiting.pop(0)[1]
        self.x += self.speed * PERIOD
        if self.pose:
            message = PoseStamped()
            message.header.frame_id = 'base'
            message.pose.position.x = self.x
            message.pose.orientation.w = 1.0
        else:
            message = Odometry(child_frame_id='base_link')
            message.header.frame_id = 'odom'
            message.pose.pose.position.x = self.x
            message.pose.pose.orientation.w = 1.0
            message.twist.twist.linear.x = self.speed
        message.header.stamp = self.node.get_clock().now().to_msg()
        self.feedback.publish(message)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('type')
    parser.add_argument('--drop', type=int, default=0)
    parser.add_argument('--delay', type=float, default=0.0)
    parser.add_argument('--refuse', action='store_true')
    parser.add_argument('--deaf', type=int, default=0)
    parser.add_argument('--answers', type=int, nargs=2, default=(0, 0))
    arguments = parser.parse_args()
    rclpy.init()
    node = rclpy.create_node('driver')
    LossyDriver(node, arguments)
    rclpy.spin(node)


if __name__ == '__main__':
    main()
