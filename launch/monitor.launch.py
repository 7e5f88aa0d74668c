"""The monitor node, and RViz with its view."""

from launch.actions import DeclareLaunchArgument
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

from launch import LaunchDescription


def generate_launch_description() -> LaunchDescription:
    """Return the monitor and, unless rviz:=false, RViz."""
    share = FindPackageShare('repsq_ros')
    sim_time = ParameterValue(LaunchConfiguration('use_sim_time'), value_type=bool)
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                'specification',
                default_value=PathJoinSubstitution([share, 'config', 'g1_locomotion.yaml']),
                description='Test specification (YAML) of the campaign to be shown',
            ),
            DeclareLaunchArgument(
                'use_sim_time',
                default_value='false',
                choices=['true', 'false'],
                description='Take the time from /clock (simulation, replay)',
            ),
            DeclareLaunchArgument(
                'durability',
                default_value='transient_local',
                choices=['transient_local', 'volatile'],
                description='Asked of the campaign topics; volatile in a replay',
            ),
            DeclareLaunchArgument(
                'rviz',
                default_value='true',
                choices=['true', 'false'],
                description='Start RViz as well',
            ),
            Node(
                package='repsq_ros',
                executable='monitor',
                output='screen',
                parameters=[
                    {
                        'specification': ParameterValue(
                            LaunchConfiguration('specification'), value_type=str
                        ),
                        'use_sim_time': sim_time,
                        **{
                            f'qos_overrides./repsq/{topic}.subscription.durability': (
                                ParameterValue(LaunchConfiguration('durability'), value_type=str)
                            )
                            for topic in ('test_command', 'test_phase')
                        },
                    }
                ],
            ),
            Node(
                package='rviz2',
                executable='rviz2',
                arguments=['-d', PathJoinSubstitution([share, 'config', 'repsq.rviz'])],
                parameters=[{'use_sim_time': sim_time}],
                condition=IfCondition(LaunchConfiguration('rviz')),
            ),
        ]
    )
