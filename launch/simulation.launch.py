"""A whole simulated campaign: simulated robot, measurement, estimator, guard, scheduler.

Ends by itself when the scheduler has ended; the result is then in the folder `output`.
"""

from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription, Shutdown
from launch.conditions import IfCondition
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution, PythonExpression
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

from launch import LaunchDescription


def _argument(name: str, kind: type) -> ParameterValue:
    """Return a launch argument as a parameter of a given type, whatever it looks like."""
    return ParameterValue(LaunchConfiguration(name), value_type=kind)


def generate_launch_description() -> LaunchDescription:
    """Return the nodes of a simulated campaign, with their arguments."""
    share = FindPackageShare('repsq_ros')
    common = {'specification': _argument('specification', str), 'use_sim_time': True}
    # In simulation no sample may be lost, however fast it runs.
    reliable = {
        f'qos_overrides.{topic}.subscription.reliability': 'reliable'
        for topic in ('/odom', '/mocap/pose', '/tool_pose', '/gauge', '/condition/speed_scaling')
    }
    # A packet that was lost is sent again after up to 3 s, and simulated time waits for it.
    lossless = {**reliable, 'arrival_grace': 10.0}
    # Whatever holds the robot has to speak as it is spoken to.
    stop_type = PythonExpression(
        ["'urscript' if '", LaunchConfiguration('subject'), "' == 'arm' else 'twist'"]
    )
    arguments = [
        DeclareLaunchArgument(
            'specification',
            default_value=PathJoinSubstitution([share, 'config', 'g1_locomotion.yaml']),
            description='Test specification (YAML)',
        ),
        DeclareLaunchArgument(
            'subject',
            default_value='surrogate',
            choices=['surrogate', 'g1', 'arm'],
            description='Robot to simulate; arm: where poses are commanded',
        ),
        DeclareLaunchArgument(
            'model', default_value='', description='Folder of the G1 model and policy (subject g1)'
        ),
        DeclareLaunchArgument(
            'speed',
            default_value='0.0',
            description='Simulated s in each real s; 0: as fast as the machine allows',
        ),
        DeclareLaunchArgument('seed', default_value='1', description='Seed of cases and noise'),
        DeclareLaunchArgument(
            'campaign_id', default_value='', description='Name of the campaign; empty: by the time'
        ),
        DeclareLaunchArgument(
            'output',
            default_value='',
            description='Folder of the campaign: journal, tests.csv, result.yaml; empty: none',
        ),
        DeclareLaunchArgument(
            'resume',
            default_value='false',
            choices=['true', 'false'],
            description='Go on with the journal in the folder output',
        ),
        DeclareLaunchArgument(
            'monitor',
            default_value='false',
            choices=['true', 'false'],
            description='Start the monitor as well',
        ),
        DeclareLaunchArgument(
            'rviz',
            default_value='false',
            choices=['true', 'false'],
            description='With monitor:=true, start RViz too',
        ),
    ]
    nodes = [
        Node(
            package='repsq_ros',
            executable='simulated_robot',
            output='screen',
            parameters=[
                {
                    'subject': _argument('subject', str),
                    'model': _argument('model', str),
                    'seed': _argument('seed', int),
                    'speed': _argument('speed', float),
                }
            ],
        ),
        Node(
            package='repsq_ros',
            executable='measurement',
            output='screen',
            parameters=[{**common, **lossless}],
        ),
        Node(
            package='repsq_ros',
            executable='estimator',
            output='screen',
            parameters=[
                {
                    **common,
                    'campaign_id': _argument('campaign_id', str),
                    'output': _argument('output', str),
                }
            ],
        ),
        Node(
            package='repsq_ros',
            executable='guard',
            output='screen',
            parameters=[{'use_sim_time': True, 'command_type': stop_type}],
        ),
        Node(
            package='repsq_ros',
            executable='scheduler',
            output='screen',
            parameters=[
                {
                    **common,
                    **reliable,
                    'campaign_id': _argument('campaign_id', str),
                    'seed': _argument('seed', int),
                    'output': _argument('output', str),
                    'resume': _argument('resume', bool),
                    'attended': False,
                }
            ],
            on_exit=Shutdown(reason='the campaign has ended'),
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
        }.items(),
        condition=IfCondition(LaunchConfiguration('monitor')),
    )
    return LaunchDescription([*arguments, *nodes, monitor])
