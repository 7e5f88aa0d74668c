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

"""The station's self-test before a campaign: rest and three moves, as `repsq selftest` makes them.

The safety rules are those of a campaign; the specification and the parameters are the campaign's.
"""

import sys

from launch.actions import EmitEvent, ExecuteProcess, RegisterEventHandler
from launch.event_handlers import OnProcessExit
from launch.events import Shutdown

from launch import LaunchDescription
from repsq_ros.launching import actions, arguments
from repsq_ros.launching.arguments import LaunchArgument, PackageFile

SPECIFICATION = arguments.specification('g1_locomotion.yaml')
PARAMETERS = LaunchArgument(
    'parameters',
    'Parameters of the nodes: command type, ramps, limits, battery (YAML)',
    PackageFile('config/g1_parameters.yaml'),
)
OUTPUT = LaunchArgument('output', 'New folder: selftest.yaml, recording, journal')
TOPICS = {
    'cmd_vel': LaunchArgument('command_topic', 'Where the robot listens', 'cmd_vel'),
    'odom': LaunchArgument('odometry_topic', 'measure.source: odometry', 'odom'),
    'mocap/pose': LaunchArgument('mocap_topic', 'measure.source: mocap', 'mocap/pose'),
    'urscript_interface/script_command': LaunchArgument(
        'script_topic',
        'command_type urscript: where the UR driver takes URScript',
        'urscript_interface/script_command',
    ),
    'target_frame': LaunchArgument(
        'target_topic',
        'command_type pose_target: where a Cartesian controller takes poses',
        'target_frame',
    ),
    'tool_pose': LaunchArgument(
        'tool_pose_topic', 'Pose of the tool by the controller of an arm', 'tool_pose'
    ),
    'gauge': LaunchArgument('gauge_topic', 'The dial gauge: measure.input', 'gauge'),
    **{
        f'condition/{name}': LaunchArgument(
            f'{name}_topic', f'The condition {name}', f'condition/{name}'
        )
        for name in ('speed_scaling', 'safety_mode', 'robot_mode')
    },
}


def generate_launch_description() -> LaunchDescription:
    """Return the self-test, with its arguments."""
    selftest = ExecuteProcess(
        cmd=[
            sys.executable,
            '-m',
            'repsq_ros.cli',
            'selftest',
            actions.given(SPECIFICATION),
            '--parameters',
            actions.given(PARAMETERS),
            '--output',
            actions.given(OUTPUT),
            *(
                each
                for topic, argument in TOPICS.items()
                for each in ('--remap', [f'{topic}:=', actions.given(argument)])
            ),
        ],
        output='screen',
    )
    ended = OnProcessExit(
        target_action=selftest,
        on_exit=[EmitEvent(event=Shutdown(reason='the self-test has ended'))],
    )
    return LaunchDescription(
        [
            *actions.declare(SPECIFICATION, PARAMETERS, OUTPUT, *TOPICS.values()),
            selftest,
            RegisterEventHandler(ended),
        ]
    )
