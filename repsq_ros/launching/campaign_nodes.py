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

"""The one list of nodes of a campaign: launch files and `repsq run` build theirs from it.

Plain data, no ROS. A setting may be a value, or something that its user resolves later, such as
an argument of a launch file.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field

from repsq_ros import topics
from repsq_ros.simulation.simulated_sensors import SENSORS

Settings = Mapping[str, object]

# [s] before a node that does not end is killed: the alarm of a stop has other ways to try.
STOP_TIMEOUT = 15.0

# In the order of their start: who commands the robot comes last.
ORDER = ('simulated_robot', 'measurement', 'estimator', 'guard', 'scheduler')

# The settings that each node takes where they are given; it has further parameters of its own.
TAKES = {
    'monitor': ('specification',),
    'simulated_robot': ('subject', 'model', 'seed', 'speed'),
    'measurement': ('specification', 'launch_id'),
    'estimator': ('specification', 'campaign_id', 'output', 'launch_id'),
    'guard': ('specification', 'command_type', 'launch_id'),
    'scheduler': (
        'specification',
        'campaign_id',
        'seed',
        'output',
        'resume',
        'session_note',
        'autostart',
        'launch_id',
        'recorder',
    ),
}

# Parameters of nodes in simulation: no sample may be lost, however fast it runs.
RELIABLE: dict[str, object] = {
    f'qos_overrides./{sensor.topic}.subscription.reliability': 'reliable'
    for sensor in SENSORS.values()
}
# Of a measurement node besides: a packet that was lost is sent again, and simulated time waits.
LOSSLESS: dict[str, object] = {**RELIABLE, 'arrival_grace': 600.0}
# Of a scheduler besides: nodes may take minutes to start on a busy machine.
LOCKSTEP: dict[str, object] = {**RELIABLE, 'lockstep': True, 'peer_timeout': 300.0}

SIMULATED_TIME: dict[str, object] = {'use_sim_time': True}
# Nobody sits beside a simulated robot: what would hold the campaign ends it. Stops are not
# verified: faster than real time, seconds of a watchdog are not those of the robot.
SIMULATION: dict[str, dict[str, object]] = {
    'measurement': SIMULATED_TIME | LOSSLESS,
    'estimator': SIMULATED_TIME,
    'guard': SIMULATED_TIME | {'verify_stops': False},
    'scheduler': SIMULATED_TIME | LOCKSTEP | {'attended': False, 'verify_stops': False},
}


@dataclass(frozen=True)
class NodeDescription:
    """One node: its executable, which is also its name, and its parameters."""

    name: str
    parameters: dict[str, object] = field(default_factory=dict)


def new_launch_id() -> str:
    """Draw the ID by which nodes of one launch know each other."""
    return f'launch-{secrets.token_hex(8)}'


def enclave_of(name: str) -> list[str]:
    """Return the ROS arguments by which a node finds its keys, where SROS 2 is switched on.

    The enclaves are those of `config/security/policy.xml`.
    """
    on = os.environ.get('ROS_SECURITY_ENABLE') == 'true'
    return ['--enclave', f'/repsq/{name}'] if on else []


def campaign_node(name: str, settings: Settings, *, simulated: bool = False) -> NodeDescription:
    """Describe one node of a campaign.

    :param settings: by the names of the nodes' parameters; each node takes those it knows
    :param simulated: with a simulated robot, which sends the time
    """
    more = dict(SIMULATION.get(name, {})) if simulated else {}
    if simulated and name == 'scheduler' and 'speed' in settings:
        more['speed'] = settings['speed']
    return _node(name, settings, more)


def campaign_nodes(settings: Settings, *, simulated: bool = False) -> list[NodeDescription]:
    """List the nodes of a campaign in the order of their start; see `campaign_node`."""
    return [
        campaign_node(name, settings, simulated=simulated)
        for name in (ORDER if simulated else ORDER[1:])
    ]


def replay_node(name: str, settings: Settings) -> NodeDescription:
    """Describe a node that listens to a bag that is played, and to its time.

    It gets no `launch_id`: nobody in a bag has it.

    :param name: measurement or estimator
    """
    settings = {key: value for key, value in settings.items() if key != 'launch_id'}
    announced = durability('volatile') if name == 'measurement' else {}
    return _node(name, settings, SIMULATED_TIME | announced)


def monitor_node(
    settings: Settings, *, simulated: object = False, asked: object = None
) -> NodeDescription:
    """Describe the node that draws a campaign for RViz.

    :param simulated: whether its time comes from /clock
    :param asked: the durability it asks for; None: the usual
    """
    more = {} if asked is None else durability(asked)
    return _node('monitor', settings, {'use_sim_time': simulated, **more})


def durability(asked: object) -> dict[str, object]:
    """Return the parameters with which a node asks for a durability of what a campaign announces.

    A bag may say nothing of its topics' durability: volatile takes any.
    """
    return {
        f'qos_overrides./{topic}.subscription.durability': asked
        for topic in (topics.TEST_COMMAND, topics.TEST_PHASE)
    }


def _node(name: str, settings: Settings, more: Settings) -> NodeDescription:
    taken = {key: settings[key] for key in TAKES[name] if key in settings}
    return NodeDescription(name, {**taken, **more})
