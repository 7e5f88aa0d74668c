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

"""A recorded campaign, played on simulated time into measurement, estimator and monitor.

What the recorded run itself concluded (measurements, estimates, result, its /clock) is left out:
it is computed again from the sensors. A bag without the topics that this needs is refused before
anything starts.
"""

from pathlib import Path

from launch.actions import ExecuteProcess, RegisterEventHandler, Shutdown, TimerAction
from launch.conditions import IfCondition
from launch.event_handlers import OnProcessExit
from launch_ros.actions import Node

from launch import LaunchDescription
from repsq_ros.launching import actions, arguments
from repsq_ros.launching.arguments import LaunchArgument
from repsq_ros.launching.campaign_nodes import replay_node
from repsq_ros.replay.bag_topics import require_replayable

DISCOVERY = '5.0'  # [s] for the listeners to find the player before it plays
LEFT_OUT = (
    '/clock',
    '/repsq/test_measurement',
    '/repsq/estimate',
    '/repsq/counted_test',
    '/repsq/quantized_result',
)

BAG = LaunchArgument('bag', 'Folder of the rosbag2 recording')
SPECIFICATION = arguments.specification(
    'g1_locomotion.yaml', 'Test specification (YAML) of the recorded campaign'
)
RATE = LaunchArgument('rate', 'How many times as fast as recorded', '1.0')
OUTPUT = LaunchArgument(
    'output', 'New folder for tests.csv and result.yaml; empty: none is written', ''
)
TOPICS = {
    'odom': LaunchArgument('odometry_topic', 'Odometry in the bag', '/odom'),
    'mocap/pose': LaunchArgument('mocap_topic', 'Mocap pose in the bag', '/mocap/pose'),
}
MONITOR = arguments.switch('monitor', 'Start the monitor as well', 'true')
RVIZ = arguments.switch('rviz', 'With monitor:=true, start RViz too', 'true')
END_WITH_BAG = arguments.switch(
    'end_with_bag', 'End a moment after the last message instead of at Ctrl-C'
)


def require_topics(bag: str, specification: str, **topics: str) -> None:
    """Refuse a bag in which a topic is missing, empty, or of another type."""
    rules = {name: topics[argument.name] for name, argument in TOPICS.items()}
    require_replayable(Path(bag), Path(specification), rules)


def generate_launch_description() -> LaunchDescription:
    """Return the bag player and the nodes that listen to it."""
    player = ExecuteProcess(
        cmd=[
            *('ros2', 'bag', 'play', actions.given(BAG)),
            *('--clock', '100'),
            *('--rate', actions.given(RATE)),
            *('--delay', DISCOVERY),
            *('--exclude-topics', *LEFT_OUT),
        ],
        output='screen',
    )
    # The last test is measured a moment after its last message.
    end = TimerAction(
        period=3.0,
        actions=[Shutdown(reason='the bag has been played')],
        condition=IfCondition(actions.given(END_WITH_BAG)),
    )
    settings = {'specification': SPECIFICATION, 'output': OUTPUT}

    def node(name: str) -> Node:
        return actions.node(replay_node(name, settings), remappings=TOPICS)

    return LaunchDescription(
        [
            *actions.declare(
                BAG, SPECIFICATION, RATE, OUTPUT, *TOPICS.values(), MONITOR, RVIZ, END_WITH_BAG
            ),
            actions.require(
                require_topics,
                bag=BAG,
                specification=SPECIFICATION,
                **{argument.name: argument for argument in TOPICS.values()},
            ),
            node('measurement'),
            node('estimator'),
            actions.include_monitor(
                MONITOR,
                specification=SPECIFICATION,
                use_sim_time='true',
                rviz=RVIZ,
                durability='volatile',
            ),
            player,
            RegisterEventHandler(OnProcessExit(target_action=player, on_exit=[end])),
        ]
    )
