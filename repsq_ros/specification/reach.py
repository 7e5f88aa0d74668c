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

"""Whether a known arm can reach the poses of a specification."""

from __future__ import annotations

import itertools
import math
import re

from repsq_ros.errors import SpecificationError
from repsq_ros.specification.model import Specification

# Model: reach of the flange and shoulder height above the base [m], from the data sheets.
ARMS = {
    'UR3e': (0.5, 0.152),
    'UR5e': (0.85, 0.163),
    'UR10e': (1.3, 0.181),
    'UR16e': (0.9, 0.181),
    'UR20': (1.75, 0.236),
    'UR30': (1.3, 0.236),
    'Franka': (0.855, 0.333),
    'Panda': (0.855, 0.333),
    'Gen3': (0.902, 0.285),
}
BASES = ('base', 'base_link', 'link0')  # endings of a frame_id with its origin in the arm's base
TOOL = re.compile(r'tool (\d*\.?\d+) ?m\b')


def require_within_reach(specification: Specification) -> None:
    """Refuse poses in the frame of the arm's base that are out of its reach, tool included.

    :raises SpecificationError: which pose, its distance from the shoulder, and the limit
    """
    positions, robot = specification.protocol.positions, specification.about.robot
    model = next((each for each in ARMS if each.casefold() in robot.casefold()), '')
    if not model or positions is None or not positions.frame.endswith(BASES):
        return
    reach, shoulder = ARMS[model]
    tool = TOOL.search(robot)
    most = reach + (float(tool[1]) if tool else 0.0)
    box = specification.box
    corners = itertools.product(*((d.lower, d.upper) for d in box.dimensions))
    poses = [('target', specification.protocol.target(box.names, x)) for x in corners]
    poses.append(('protocol.reference', positions.reference))
    for key, pose in poses:
        for x, y, z, *_ in (pose, positions.approach_to(pose)):
            distance = math.hypot(x, y, z - shoulder)
            if distance > most:
                raise SpecificationError(
                    specification.file,
                    key,
                    f'({x:g}, {y:g}, {z:g}) m, {distance:.2f} m from the shoulder',
                    f'at most {most:g} m for robot: {model} (a tool of 0.2 m: write '
                    f"'{model}, tool 0.2 m')",
                )
