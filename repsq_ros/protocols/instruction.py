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

"""A command in words, for people who carry it out by hand."""

from __future__ import annotations

from repsq_ros.protocols.command_space import COMPONENTS, REST, UNITS, Command, CommandKind

HOLD = 'stop: hold the robot'
NO_PUSH = 'no push: let the robot stand'
VERBS = {
    CommandKind.VELOCITY: 'command',
    CommandKind.POSE: 'move to',
    CommandKind.PUSH: 'push it with',
}


def instruction(kind: CommandKind, command: Command) -> str:
    """Return what the person has to do.

    :param command: its components in SI units; the command of rest means stop
    """
    if command == REST[kind]:
        return NO_PUSH if kind == CommandKind.PUSH else HOLD
    told = ', '.join(
        f'{name} = {value + 0.0:.6g} {unit}'
        for name, value, unit in zip(COMPONENTS[kind], command, UNITS[kind], strict=True)
    )
    return f'{VERBS[kind]} {told}'
