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


"""repsq doctor on a real graph: a robot on the system's clock, one of another type, and none."""

import subprocess
import sys

from conftest import ROOT
from geometry_msgs.msg import PoseStamped

from repsq_ros.nodes import qos

G1 = ROOT / 'config' / 'g1_locomotion.yaml'


def doctor(*more):
    """Return exit code and output."""
    done = subprocess.run(
        [sys.executable, '-m', 'repsq_ros.cli', 'doctor', str(G1), '--seconds', '5', *more],
        capture_output=True, text=True, check=False, timeout=90,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def line_of(shown, topic):
    return next(line for line in shown.splitlines() if f' {topic}: ' in line)


def test_a_robot_that_is_there_is_ready_and_one_that_is_not_is_named(nodes):
    nodes.start('simulated_robot', {'clock': 'system'})
    nodes.listener.until(lambda: nodes.listener.node.count_publishers('/odom') == 1)
    code, shown = doctor()
    assert line_of(shown, '/odom').startswith('OK')
    assert '/simulated_robot: ' in shown and ' Hz' in line_of(shown, '/odom')
    assert 'and volatile' in line_of(shown, '/odom')
    assert line_of(shown, '/cmd_vel').startswith('OK     /cmd_vel: ')
    assert '/simulated_robot takes geometry_msgs/msg/Twist' in line_of(shown, '/cmd_vel')
    assert code == 0, shown
    code, shown = doctor('--remap', 'odom:=/state')
    assert code == 3
    assert line_of(shown, '/state') == 'ERROR  /state: nobody publishes on it'
    assert '--remap FROM:=TO' in shown


def test_a_sensor_of_another_type_is_named(nodes):
    publisher = nodes.listener.node.create_publisher(PoseStamped, '/odom', qos.SENSOR)
    code, shown = doctor()
    assert code == 3
    assert 'publishes geometry_msgs/msg/PoseStamped, expected nav_msgs/msg/Odometry' in shown
    assert publisher.topic_name == '/odom'
