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

"""A whole simulated campaign: simulated robot, measurement, estimator, guard, scheduler.

Ends by itself when the scheduler has ended; the result is then in the folder `output`.
"""

from launch.substitutions import PythonExpression
from launch_ros.actions import Node

from launch import LaunchDescription
from repsq_ros.launching import actions, arguments
from repsq_ros.launching.arguments import LaunchArgument
from repsq_ros.launching.campaign_nodes import campaign_node, new_launch_id

SPECIFICATION = arguments.specification('g1_locomotion.yaml')
SUBJECT = LaunchArgument(
    'subject',
    'Robot to simulate; arm: where poses are commanded',
    'surrogate',
    ('surrogate', 'g1', 'arm'),
)
MODEL = LaunchArgument('model', 'Folder of the G1 model and policy (subject g1)', '')
SPEED = LaunchArgument(
    'speed', 'Simulated s in each real s; 0: as fast as the machine allows', '0.0', kind=float
)
SEED = LaunchArgument(
    'seed',
    'Seed of cases and noise; by default the registered one, if there is one',
    '1',
    kind=int,
)
OUTPUT = LaunchArgument(
    'output', 'Folder of the campaign: journal, tests.csv, result.yaml; empty: none', ''
)


def generate_launch_description() -> LaunchDescription:
    """Return the nodes of a simulated campaign, with their arguments."""
    settings = {
        'specification': SPECIFICATION,
        'subject': SUBJECT,
        'model': MODEL,
        'speed': SPEED,
        'seed': SEED,
        'campaign_id': arguments.CAMPAIGN_ID,
        'output': OUTPUT,
        'resume': arguments.RESUME,
        'registration': arguments.REGISTRATION,
        'seed_value': arguments.SEED_VALUE,
    }
    # The guard has to speak to the robot as the scheduler does.
    stop_type = PythonExpression(
        ["'urscript' if '", actions.given(SUBJECT), "' == 'arm' else 'twist'"]
    )
    campaign = {**settings, 'command_type': stop_type, 'launch_id': new_launch_id()}

    def node(name: str) -> Node:
        return actions.node(campaign_node(name, campaign, simulated=True), output=OUTPUT)

    return LaunchDescription(
        [
            *actions.declare(
                *settings.values(), arguments.EMERGENCY_STOP, arguments.MONITOR, arguments.RVIZ
            ),
            *actions.remap({'emergency_stop': arguments.EMERGENCY_STOP}),
            actions.look_before(*settings.values(), arguments.MONITOR, arguments.RVIZ),
            node('simulated_robot'),
            node('measurement'),
            node('estimator'),
            node('guard'),
            node('scheduler'),
            actions.include_monitor(
                arguments.MONITOR,
                specification=SPECIFICATION,
                use_sim_time='true',
                rviz=arguments.RVIZ,
            ),
        ]
    )
