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

"""Plain descriptions as launch actions: the only file that imports launch."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from launch.actions import (
    DeclareLaunchArgument,
    ExecuteProcess,
    IncludeLaunchDescription,
    OpaqueFunction,
    Shutdown,
)
from launch.conditions import IfCondition
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import (
    LaunchConfiguration,
    PathJoinSubstitution,
    PythonExpression,
)
from launch_ros.actions import Node, SetRemap
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

from repsq_ros import topics
from repsq_ros.launching.arguments import REGISTRATION, LaunchArgument, PackageFile
from repsq_ros.launching.campaign_nodes import STOP_TIMEOUT, NodeDescription, enclave_of
from repsq_ros.launching.first_look import check_ending, closing_text, look_first

PACKAGE = 'repsq_ros'


def given(argument: LaunchArgument) -> Any:
    """Return the substitution for an argument, for use as text such as a path or a topic."""
    return LaunchConfiguration(argument.name)


def shared(file: PackageFile) -> Any:
    """Return the path of a file installed with the package."""
    return PathJoinSubstitution([FindPackageShare(PACKAGE), *file.path.split('/')])


def declare(*arguments: LaunchArgument) -> list[Any]:
    """Declare the arguments of a launch file."""
    return [
        DeclareLaunchArgument(
            argument.name,
            default_value=(
                shared(argument.default)
                if isinstance(argument.default, PackageFile)
                else argument.default
            ),
            choices=list(argument.choices) or None,
            description=argument.description,
        )
        for argument in arguments
    ]


def remap(names: Mapping[str, LaunchArgument]) -> list[Any]:
    """Remap topics, by the names that the nodes use, to the names given by arguments."""
    return [SetRemap(topic, given(argument)) for topic, argument in names.items()]


def require(look: Callable[..., None], **arguments: LaunchArgument) -> OpaqueFunction:
    """Check arguments before the following actions start; an error ends the launch in one line.

    :param look: called with the values, as text
    """

    def perform(context: Any) -> list[Any]:
        look(**{name: given(argument).perform(context) for name, argument in arguments.items()})
        return []

    return OpaqueFunction(function=perform)


def look_before(*arguments: LaunchArgument) -> OpaqueFunction:
    """Check all arguments of a campaign once, before its nodes start."""

    def perform(context: Any) -> list[Any]:
        values = {each.name: given(each).perform(context) for each in arguments}
        context.launch_configurations.update(look_first(arguments, values))
        return []

    return OpaqueFunction(function=perform)


def _close(output: LaunchArgument | None) -> Callable[[Any, Any], Any]:
    """Print how the campaign ended, and end the launch with the same exit code."""

    def ended(event: Any, context: Any) -> Any:
        folder = '' if output is None else given(output).perform(context)
        registration = context.launch_configurations.get(REGISTRATION.name)
        told = closing_text(
            Path(folder) if folder else None,
            event.returncode,
            Path(registration) if registration else None,
        )
        print(told, flush=True)
        if not context.is_shutdown:  # else a user has ended it
            check_ending(event.returncode)
        return Shutdown(reason='the campaign has ended')

    return ended


def node(
    description: NodeDescription,
    *,
    output: LaunchArgument | None = None,
    file: LaunchArgument | None = None,
    remappings: Mapping[str, LaunchArgument] | None = None,
) -> Node:
    """Start a node; the launch ends when the scheduler ends.

    :param output: folder of the campaign
    :param file: of parameters; the description overrides it
    :param remappings: of this node only; `remap` is for all nodes
    """
    return Node(
        package=PACKAGE,
        executable=description.name,
        output='screen',
        parameters=_parameters(description, file),
        remappings=[(topic, given(argument)) for topic, argument in (remappings or {}).items()],
        ros_arguments=enclave_of(description.name),
        sigterm_timeout=str(STOP_TIMEOUT),
        on_exit=_close(output) if description.name == 'scheduler' else None,
    )


def _parameters(description: NodeDescription, file: LaunchArgument | None) -> list[Any]:
    """List the sources of a node's parameters; later ones override earlier ones."""
    own = {name: _value(value) for name, value in description.parameters.items()}
    return [*([] if file is None else [given(file)]), *([own] if own else [])]


def _value(value: object) -> object:
    """Return the value of a parameter, converted to the argument's type."""
    if isinstance(value, LaunchArgument):
        return ParameterValue(given(value), value_type=value.kind)
    return value


def include_monitor(on: LaunchArgument, **arguments: LaunchArgument | str) -> Any:
    """Include monitor.launch.py if an argument is true."""
    return IncludeLaunchDescription(
        PythonLaunchDescriptionSource(shared(PackageFile('launch/monitor.launch.py'))),
        launch_arguments={
            name: given(value) if isinstance(value, LaunchArgument) else value
            for name, value in arguments.items()
        }.items(),
        condition=IfCondition(given(on)),
    )


def recorder(on: LaunchArgument) -> Any:
    """Return the name of the recorder node if an argument is true; else ''."""
    name = PythonExpression(["'rosbag2_recorder' if '", given(on), "' == 'true' else ''"])
    return ParameterValue(name, value_type=str)


def record(
    on: LaunchArgument, folder: LaunchArgument, sensors: Iterable[LaunchArgument]
) -> ExecuteProcess:
    """Record the package's topics and further ones to a new bag if an argument is true.

    :param sensors: arguments with the names of topics
    """
    pattern: list[Any] = [f'({"|".join(topics.RECORDED)}']
    for argument in sensors:
        pattern += ['|', given(argument)]
    bag = PathJoinSubstitution([given(folder), time.strftime('bag-%Y%m%d-%H%M%S')])
    return ExecuteProcess(
        cmd=['ros2', 'bag', 'record', '-o', bag, '-e', [*pattern, ')$']],
        condition=IfCondition(given(on)),
        output='screen',
    )
