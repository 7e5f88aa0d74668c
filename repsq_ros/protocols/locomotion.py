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

"""The locomotion protocol: the phases of a velocity tracking test and their commands."""

from __future__ import annotations

from repsq_ros.protocols.endings import TimedEnding
from repsq_ros.protocols.phases import Phase
from repsq_ros.protocols.protocol import Goal, Protocol, ProtocolType, Step


def locomotion(dwell_ns: int, command_ns: int, window_ns: int) -> Protocol:
    """Return the paper's protocol: dwell in place, then a held command, measured at its end.

    After that the command is zero, which the next dwell continues.
    """
    return Protocol(
        ProtocolType.LOCOMOTION,
        (
            Step(Phase.DWELL, Goal.REST, TimedEnding(dwell_ns)),
            Step(Phase.COMMAND, Goal.TARGET, TimedEnding(command_ns), window_ns),
        ),
        {'dwell_ns': dwell_ns, 'command_ns': command_ns, 'window_ns': window_ns},
    )
