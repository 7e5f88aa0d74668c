"""A recorded campaign, played on simulated time into measurement, estimator and monitor.

What the recorded run itself concluded (measurements, estimates, result, its /clock) is left out:
it is computed again from the sensors.
"""

from launch.actions import (
    DeclareLaunchArgument,
    ExecuteProcess,
    IncludeLaunchDescription,
    RegisterEventHandler,
    Shutdown,
    TimerAction,
)
from launch.conditions import IfCondition
from launch.event_handlers import OnProcessExit
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

from launch import LaunchDescription

DISCOVERY = '5.0'  # [s] for the listeners to find the player before it plays
LEFT_OUT = ('/clock', '/repsq/test_measurement', '/repsq/estimate', '/repsq/quantized_result')


def generate_launch_description() -> LaunchDescription:
    """Return the bag player and the nodes that listen to it."""
    share = FindPackageShare('repsq_ros')
    specification = ParameterValue(LaunchConfiguration('specification'), value_type=str)
    common = {'specification': specification, 'use_sim_time': True}
    # Whatever the bag says of its topics' durability, and many say nothing, is accepted.
    volatile = {
        f'qos_overrides./repsq/{topic}.subscription.durability': 'volatile'
        for topic in ('test_command', 'test_phase')
    }
    arguments = [
        DeclareLaunchArgument('bag', description='Folder of the rosbag2 recording'),
        DeclareLaunchArgument(
            'specification',
            default_value=PathJoinSubstitution([share, 'config', 'g1_locomotion.yaml']),
            description='Test specification (YAML) of the recorded campaign',
        ),
        DeclareLaunchArgument(
            'rate',
            default_value='1.0',
            description='How many times as fast as recorded',
        ),
        DeclareLaunchArgument(
            'output',
            default_value='',
            description='New folder for tests.csv and result.yaml; empty: none is written',
        ),
        DeclareLaunchArgument(
            'odometry_topic', default_value='/odom', description='Odometry in the bag'
        ),
        DeclareLaunchArgument(
            'mocap_topic', default_value='/mocap/pose', description='Mocap pose in the bag'
        ),
        DeclareLaunchArgument(
            'monitor',
            default_value='true',
            choices=['true', 'false'],
            description='Start the monitor as well',
        ),
        DeclareLaunchArgument(
            'rviz',
            default_value='true',
            choices=['true', 'false'],
            description='With monitor:=true, start RViz too',
        ),
        DeclareLaunchArgument(
            'end_with_bag',
            default_value='false',
            choices=['true', 'false'],
            description='End a moment after the last message instead of at Ctrl-C',
        ),
    ]
    player = ExecuteProcess(
        cmd=[
            'ros2', 'bag', 'play', LaunchConfiguration('bag'),
            '--clock', '100',
            '--rate', LaunchConfiguration('rate'),
            '--delay', DISCOVERY,
            '--exclude-topics', *LEFT_OUT,
        ],
        output='screen',
    )  # fmt: skip
    nodes = [
        Node(
            package='repsq_ros',
            executable='measurement',
            output='screen',
            parameters=[{**common, **volatile}],
            remappings=[
                ('odom', LaunchConfiguration('odometry_topic')),
                ('mocap/pose', LaunchConfiguration('mocap_topic')),
            ],
        ),
        Node(
            package='repsq_ros',
            executable='estimator',
            output='screen',
            parameters=[
                {
                    **common,
                    'output': ParameterValue(LaunchConfiguration('output'), value_type=str),
                }
            ],
        ),
    ]
    monitor = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(
            PathJoinSubstitution([share, 'launch', 'monitor.launch.py'])
        ),
        launch_arguments={
            'specification': LaunchConfiguration('specification'),
            'use_sim_time': 'true',
            'rviz': LaunchConfiguration('rviz'),
            'durability': 'volatile',
        }.items(),
        condition=IfCondition(LaunchConfiguration('monitor')),
    )
    return LaunchDescription(
        [
            *arguments,
            *nodes,
            monitor,
            player,
            RegisterEventHandler(
                OnProcessExit(
                    target_action=player,
                    # The last test is measured a moment after its last message.
                    on_exit=[
                        TimerAction(
                            period=3.0,
                            actions=[Shutdown(reason='the bag has been played')],
                            condition=IfCondition(LaunchConfiguration('end_with_bag')),
                        )
                    ],
                )
            ),
        ]
    )
