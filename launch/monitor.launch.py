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

"""The monitor node, and RViz with its view."""

from launch.conditions import IfCondition
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from launch import LaunchDescription
from repsq_ros.launching import actions, arguments
from repsq_ros.launching.arguments import LaunchArgument, PackageFile
from repsq_ros.launching.campaign_nodes import monitor_node

SPECIFICATION = arguments.specification(
    'g1_locomotion.yaml', 'Test specification (YAML) of the campaign to be shown'
)
USE_SIM_TIME = arguments.switch('use_sim_time', 'Take the time from /clock (simulation, replay)')
DURABILITY = LaunchArgument(
    'durability',
    'Asked of the campaign topics; volatile in a replay',
    'transient_local',
    ('transient_local', 'volatile'),
)
RVIZ = arguments.switch('rviz', 'Start RViz as well', 'true')


def generate_launch_description() -> LaunchDescription:
    """Return the monitor and, unless rviz:=false, RViz."""
    monitor = monitor_node(
        {'specification': SPECIFICATION}, simulated=USE_SIM_TIME, asked=DURABILITY
    )
    sim_time = ParameterValue(actions.given(USE_SIM_TIME), value_type=bool)
    return LaunchDescription(
        [
            *actions.declare(SPECIFICATION, USE_SIM_TIME, DURABILITY, RVIZ),
            actions.node(monitor),
            Node(
                package='rviz2',
                executable='rviz2',
                arguments=['-d', actions.shared(PackageFile('config/repsq.rviz'))],
                parameters=[{'use_sim_time': sim_time}],
                condition=IfCondition(actions.given(RVIZ)),
            ),
        ]
    )
