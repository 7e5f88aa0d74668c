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

"""A locomotion campaign on a real robot that takes cmd_vel, such as a Unitree G1 behind a bridge.

Nothing moves before robot, sensor and all nodes are there. Ends when the scheduler has ended.
"""

from launch_ros.actions import Node, PushRosNamespace

from launch import LaunchDescription
from repsq_ros.launching import actions, arguments
from repsq_ros.launching.arguments import LaunchArgument, PackageFile
from repsq_ros.launching.campaign_nodes import campaign_node, new_launch_id

SPECIFICATION = arguments.specification('g1_locomotion.yaml')
PARAMETERS = LaunchArgument(
    'parameters',
    'Parameters of the nodes: command type, ramps, limits, battery (YAML)',
    PackageFile('config/g1_parameters.yaml'),
)
# What the nodes call them, and the launch argument that tells their real names.
RECORDED = {
    'cmd_vel': LaunchArgument('command_topic', 'Where the robot listens', 'cmd_vel'),
    'odom': LaunchArgument('odometry_topic', 'measure.source: odometry', 'odom'),
    'mocap/pose': LaunchArgument('mocap_topic', 'measure.source: mocap', 'mocap/pose'),
}
TOPICS = {
    **RECORDED,
    'battery_state': LaunchArgument('battery_topic', 'BatteryState', 'battery_state'),
    'emergency_stop': arguments.EMERGENCY_STOP,
}


def generate_launch_description() -> LaunchDescription:
    """Return the nodes of a campaign, with their arguments."""
    settings = {
        'specification': SPECIFICATION,
        'campaign_id': arguments.CAMPAIGN_ID,
        'seed': arguments.SEED,
        'output': arguments.OUTPUT,
        'resume': arguments.RESUME,
        'session_note': arguments.SESSION_NOTE,
        'autostart': arguments.AUTOSTART,
        'registration': arguments.REGISTRATION,
        'seed_value': arguments.SEED_VALUE,
        'selftest': arguments.SELF_TEST,
    }
    campaign = {
        **settings,
        'launch_id': new_launch_id(),
        'recorder': actions.recorder(arguments.RECORD),
    }

    def node(name: str) -> Node:
        return actions.node(
            campaign_node(name, campaign), output=arguments.OUTPUT, file=PARAMETERS
        )

    return LaunchDescription(
        [
            *actions.declare(
                *settings.values(),
                PARAMETERS,
                arguments.NAMESPACE,
                *TOPICS.values(),
                arguments.RECORD,
                arguments.MONITOR,
                arguments.RVIZ,
            ),
            PushRosNamespace(actions.given(arguments.NAMESPACE)),
            *actions.remap(TOPICS),
            actions.look_before(
                *settings.values(), arguments.RECORD, arguments.MONITOR, arguments.RVIZ
            ),
            node('measurement'),
            node('estimator'),
            node('guard'),
            node('scheduler'),
            actions.record(arguments.RECORD, arguments.OUTPUT, RECORDED.values()),
            actions.include_monitor(
                arguments.MONITOR, specification=SPECIFICATION, rviz=arguments.RVIZ
            ),
        ]
    )
