"""A locomotion campaign on a real robot that takes cmd_vel, such as a Unitree G1 behind a bridge.

Nothing moves before robot, sensor and all nodes are there. Ends when the scheduler has ended.
"""

import time

from launch.actions import (
    DeclareLaunchArgument,
    ExecuteProcess,
    IncludeLaunchDescription,
    Shutdown,
)
from launch.conditions import IfCondition
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node, PushRosNamespace, SetRemap
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

from launch import LaunchDescription

RECORDED = ('test_command', 'test_phase', 'test_measurement', 'estimate', 'quantized_result')


def _argument(name: str, kind: type) -> ParameterValue:
    """Return a launch argument as a parameter of a given type, whatever it looks like."""
    return ParameterValue(LaunchConfiguration(name), value_type=kind)


def _switch(name: str, default: str, description: str) -> DeclareLaunchArgument:
    return DeclareLaunchArgument(
        name, default_value=default, choices=['true', 'false'], description=description
    )


def generate_launch_description() -> LaunchDescription:
    """Return the nodes of a campaign, with their arguments."""
    share = FindPackageShare('repsq_ros')
    common = {'specification': _argument('specification', str)}
    arguments = [
        DeclareLaunchArgument(
            'specification',
            default_value=PathJoinSubstitution([share, 'config', 'g1_locomotion.yaml']),
            description='Test specification (YAML)',
        ),
        DeclareLaunchArgument(
            'parameters',
            default_value=PathJoinSubstitution([share, 'config', 'g1_parameters.yaml']),
            description='Parameters of the nodes: command type, ramps, limits, battery (YAML)',
        ),
        DeclareLaunchArgument(
            'output', description='Folder of the campaign: journal, tests.csv, result.yaml'
        ),
        _switch('resume', 'false', 'Go on with the journal in the folder output'),
        DeclareLaunchArgument(
            'session_note', default_value='', description='Kept with this session'
        ),
        DeclareLaunchArgument(
            'campaign_id', default_value='', description='Name of the campaign; empty: by the time'
        ),
        DeclareLaunchArgument('namespace', default_value='', description='Of the nodes'),
        DeclareLaunchArgument(
            'command_topic', default_value='cmd_vel', description='Where the robot listens'
        ),
        DeclareLaunchArgument(
            'odometry_topic', default_value='odom', description='measure.source: odometry'
        ),
        DeclareLaunchArgument(
            'mocap_topic', default_value='mocap/pose', description='measure.source: mocap'
        ),
        DeclareLaunchArgument(
            'battery_topic', default_value='battery_state', description='BatteryState'
        ),
        _switch('autostart', 'false', 'Begin without a call of the service ~/start'),
        _switch('record', 'false', 'Record sensors and topics of the package into the folder'),
        _switch('monitor', 'false', 'Start the monitor as well'),
        _switch('rviz', 'false', 'With monitor:=true, start RViz too'),
    ]
    file = LaunchConfiguration('parameters')
    surroundings = [
        PushRosNamespace(LaunchConfiguration('namespace')),
        SetRemap('cmd_vel', LaunchConfiguration('command_topic')),
        SetRemap('battery_state', LaunchConfiguration('battery_topic')),
        SetRemap('odom', LaunchConfiguration('odometry_topic')),
        SetRemap('mocap/pose', LaunchConfiguration('mocap_topic')),
    ]
    nodes = [
        Node(
            package='repsq_ros',
            executable='measurement',
            output='screen',
            parameters=[file, common],
        ),
        Node(
            package='repsq_ros',
            executable='estimator',
            output='screen',
            parameters=[file, {**common, 'output': _argument('output', str)}],
        ),
        Node(package='repsq_ros', executable='guard', output='screen', parameters=[file]),
        Node(
            package='repsq_ros',
            executable='scheduler',
            output='screen',
            parameters=[
                file,
                {
                    **common,
                    'campaign_id': _argument('campaign_id', str),
                    'output': _argument('output', str),
                    'resume': _argument('resume', bool),
                    'session_note': _argument('session_note', str),
                    'autostart': _argument('autostart', bool),
                },
            ],
            on_exit=Shutdown(reason='the campaign has ended'),
        ),
    ]
    recorded = [f'(repsq/({"|".join(RECORDED)})']
    for name in ('command_topic', 'odometry_topic', 'mocap_topic'):
        recorded += ['|', LaunchConfiguration(name)]
    recorded.append(')$')
    recorder = ExecuteProcess(
        cmd=[
            'ros2', 'bag', 'record', '-o',
            PathJoinSubstitution(
                [LaunchConfiguration('output'), time.strftime('bag-%Y%m%d-%H%M%S')]
            ),
            '-e', recorded,
        ],
        condition=IfCondition(LaunchConfiguration('record')),
        output='screen',
    )  # fmt: skip
    monitor = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(
            PathJoinSubstitution([share, 'launch', 'monitor.launch.py'])
        ),
        launch_arguments={
            'specification': LaunchConfiguration('specification'),
            'rviz': LaunchConfiguration('rviz'),
        }.items(),
        condition=IfCondition(LaunchConfiguration('monitor')),
    )
    return LaunchDescription([*arguments, *surroundings, *nodes, recorder, monitor])
