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

"""Arguments of launch files as plain data, which also stand for their values."""

from __future__ import annotations

from dataclasses import dataclass

SWITCH = ('true', 'false')


@dataclass(frozen=True)
class PackageFile:
    """A file that is installed with the package, relative to its share folder."""

    path: str


@dataclass(frozen=True)
class LaunchArgument:
    """An argument of a launch file.

    :ivar default: None: required
    :ivar choices: allowed values; empty: any
    :ivar kind: type of the parameter, since the text alone is ambiguous: `50` may be a double
    """

    name: str
    description: str
    default: str | PackageFile | None = None
    choices: tuple[str, ...] = ()
    kind: type = str


def switch(name: str, description: str, default: str = 'false') -> LaunchArgument:
    """Describe an argument that is true or false."""
    return LaunchArgument(name, description, default, SWITCH, bool)


def specification(file: str, description: str = 'Test specification (YAML)') -> LaunchArgument:
    """Describe the argument `specification`; its default is a file in the package's `config/`."""
    return LaunchArgument('specification', description, PackageFile(f'config/{file}'))


CAMPAIGN_ID = LaunchArgument('campaign_id', 'Name of the campaign; empty: by the time', '')
RESUME = switch('resume', 'Go on with the journal in the folder output')
REGISTRATION = LaunchArgument(
    'registration',
    'File of repsq register, its ledger beside it: the campaign has to be that one',
    '',
)
SEED_VALUE = LaunchArgument(
    'seed_value', 'The public value that a registered seed follows from; empty: none', ''
)
SELF_TEST = LaunchArgument(
    'selftest', 'selftest.yaml of repsq selftest, kept with the campaign; empty: none', ''
)
MONITOR = switch('monitor', 'Start the monitor as well')
RVIZ = switch('rviz', 'With monitor:=true, start RViz too')

# For campaigns on a real robot.
OUTPUT = LaunchArgument('output', 'Folder of the campaign: journal, tests.csv, result.yaml')
SEED = LaunchArgument(
    'seed', "Seed of the cases; -1: the registered one, or the specification's", '-1', kind=int
)
SESSION_NOTE = LaunchArgument('session_note', 'Kept with this session', '')
NAMESPACE = LaunchArgument('namespace', 'Of the nodes', '')
AUTOSTART = switch('autostart', 'Begin without a call of the service ~/start')
RECORD = switch('record', 'Record sensors and topics of the package into the folder')
# Absolute: the lab's switch does not depend on the namespace of the nodes.
EMERGENCY_STOP = LaunchArgument(
    'emergency_stop_topic', 'The switch of the lab (std_msgs/Bool)', '/emergency_stop'
)
