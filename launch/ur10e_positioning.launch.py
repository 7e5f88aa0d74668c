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

"""A positioning campaign on a robot arm, such as a UR10e, with a dial gauge at the reference.

Nothing moves before robot, sensor and all nodes are there. Ends when the scheduler has ended.
"""

from launch_ros.actions import Node, PushRosNamespace

from launch import LaunchDescription
from repsq_ros.launching import actions, arguments
from repsq_ros.launching.arguments import LaunchArgument, PackageFile
from repsq_ros.launching.campaign_nodes import campaign_node, new_launch_id

SPECIFICATION = arguments.specification('ur10e_positioning.yaml')
PARAMETERS = LaunchArgument(
    'parameters',
    'Parameters of the nodes: command type, workspace (YAML)',
    PackageFile('config/ur10e_parameters.yaml'),
)
# What the nodes call them, and the launch argument that tells their real names.
TOPICS = {
    'urscript_interface/script_command': LaunchArgument(
        'script_topic',
        'command_type urscript: where the UR driver takes URScript',
        '/urscript_interface/script_command',
    ),
    'target_frame': LaunchArgument(
        'target_topic',
        'command_type pose_target: where a Cartesian controller takes poses',
        '/cartesian_motion_controller/target_frame',
    ),
    'tool_pose': LaunchArgument(
        'tool_pose_topic',
        'Pose of the tool by the controller: tells when it has settled',
        '/tcp_pose_broadcaster/pose',
    ),
    'gauge': LaunchArgument('gauge_topic', 'The dial gauge: measure.input', '/gauge'),
    'mocap/pose': LaunchArgument('mocap_topic', 'measure.source: mocap', '/mocap/pose'),
    'condition/speed_scaling': LaunchArgument(
        'speed_scaling_topic',
        'The condition speed_scaling',
        '/speed_scaling_state_broadcaster/speed_scaling',
    ),
    'condition/safety_mode': LaunchArgument(
        'safety_mode_topic',
        'The condition safety_mode',
        '/io_and_status_controller/safety_mode',
    ),
    'condition/robot_mode': LaunchArgument(
        'robot_mode_topic',
        'The condition robot_mode',
        '/io_and_status_controller/robot_mode',
    ),
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
                arguments.EMERGENCY_STOP,
                arguments.RECORD,
                arguments.MONITOR,
                arguments.RVIZ,
            ),
            PushRosNamespace(actions.given(arguments.NAMESPACE)),
            *actions.remap({**TOPICS, 'emergency_stop': arguments.EMERGENCY_STOP}),
            actions.look_before(
                *settings.values(), arguments.RECORD, arguments.MONITOR, arguments.RVIZ
            ),
            node('measurement'),
            node('estimator'),
            node('guard'),
            node('scheduler'),
            actions.record(arguments.RECORD, arguments.OUTPUT, TOPICS.values()),
            actions.include_monitor(
                arguments.MONITOR, specification=SPECIFICATION, rviz=arguments.RVIZ
            ),
        ]
    )
