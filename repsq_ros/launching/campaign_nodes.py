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

Plain data, no ROS. A setting is a value, or a placeholder that is resolved later, such as an
argument of a launch file.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field

from repsq_ros import topics
from repsq_ros.simulation.simulated_sensors import SENSORS

Settings = Mapping[str, object]

# [s] before a hanging node is killed; a stop's alarm does not depend on it.
STOP_TIMEOUT = 15.0

# Order of starting: the node that commands the robot is last.
ORDER = ('simulated_robot', 'measurement', 'estimator', 'guard', 'scheduler')

# Settings that are passed to each node if given; nodes have further parameters.
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
        'attended',
        'launch_id',
        'recorder',
    ),
}

# Parameters of nodes in simulation: no sample may be lost at any speed.
RELIABLE: dict[str, object] = {
    f'qos_overrides./{sensor.topic}.subscription.reliability': 'reliable'
    for sensor in SENSORS.values()
}
# Also for a measurement node: wait for lost packets to be sent again, as simulated time does.
LOSSLESS: dict[str, object] = {**RELIABLE, 'arrival_grace': 600.0}
# Also for a scheduler: nodes may take minutes to start on a busy machine.
LOCKSTEP: dict[str, object] = {**RELIABLE, 'lockstep': True, 'peer_timeout': 300.0}

SIMULATED_TIME: dict[str, object] = {'use_sim_time': True}
# Nobody attends a simulated robot, so the campaign ends where it would pause. Stops are not
# verified, since a watchdog counts real seconds and the robot may run faster. Its network is this
# computer: whoever was there before the campaign's own nodes is found no later than they are, and
# these are listened to for a second before the first test. Nothing can be hit by who comes later.
SIMULATION: dict[str, dict[str, object]] = {
    'measurement': SIMULATED_TIME | LOSSLESS,
    'estimator': SIMULATED_TIME,
    'guard': SIMULATED_TIME | {'verify_stops': False},
    'scheduler': SIMULATED_TIME
    | LOCKSTEP
    | {'attended': False, 'verify_stops': False, 'look_around': 1.0},
}


@dataclass(frozen=True)
class NodeDescription:
    """One node: its executable, which is also its name, and its parameters."""

    name: str
    parameters: dict[str, object] = field(default_factory=dict)


def new_launch_id() -> str:
    """Draw the ID by which nodes of one launch recognize each other."""
    return f'launch-{secrets.token_hex(8)}'


def enclave_of(name: str) -> list[str]:
    """Return the ROS arguments for a node's keys, if SROS 2 is enabled.

    The enclaves are those of `config/security/policy.xml`.
    """
    on = os.environ.get('ROS_SECURITY_ENABLE') == 'true'
    return ['--enclave', f'/repsq/{name}'] if on else []


def campaign_node(name: str, settings: Settings, *, simulated: bool = False) -> NodeDescription:
    """Describe one node of a campaign.

    :param settings: by parameter name; each node takes those it knows
    :param simulated: with a simulated robot, which publishes the time
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
    """Describe a node that listens to a bag being played, with the bag's time.

    It gets no `launch_id`, since no node in a bag has it.

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
    :param asked: requested durability; None: the default
    """
    more = {} if asked is None else durability(asked)
    return _node('monitor', settings, {'use_sim_time': simulated, **more})


def durability(asked: object) -> dict[str, object]:
    """Return the parameters for a requested durability of the campaign's topics.

    A bag may not know its topics' durability: volatile accepts all.
    """
    return {
        f'qos_overrides./{topic}.subscription.durability': asked
        for topic in (topics.TEST_COMMAND, topics.TEST_PHASE)
    }


def _node(name: str, settings: Settings, more: Settings) -> NodeDescription:
    taken = {key: settings[key] for key in TAKES[name] if key in settings}
    return NodeDescription(name, {**taken, **more})
