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

"""The settings from the scheduler's parameters."""

from __future__ import annotations

import time

from repsq_ros.nodes.parameters import Parameters
from repsq_ros.nodes.watches.peers import SETTLED
from repsq_ros.specification.model import Specification
from repsq_ros.timebase import to_nanoseconds

DISCOVERY = 4.0  # [s] within which DDS finds another scheduler; its second announcement takes 3 s


class SchedulerSettings:
    """Reads and checks them; docs/nodes.md lists them.

    :raises ParameterError: one is not usable
    """

    def __init__(self, parameters: Parameters, specification: Specification) -> None:
        self.seed = parameters.seed(specification)
        self.campaign_id = parameters.text('campaign_id', '', 'name of the campaign') or (
            f'{specification.name}-{time.strftime("%Y%m%d-%H%M%S")}'
        )
        self.output = parameters.folder(
            'output', "the campaign's folder, for its journal; empty: none"
        )
        self.resume = parameters.flag('resume', False, 'go on with the journal in the folder')
        self.session_note = parameters.text(
            'session_note', '', 'kept with this session: a calibration, ...'
        )
        self.attended = parameters.flag(
            'attended', True, 'somebody can resume: trouble pauses, and does not end'
        )
        self.guard = parameters.flag('guard', True, 'nothing moves without the guard node')
        self.command_rate = parameters.number('command_rate', 20.0, 'Hz of cmd_vel', at_least=10)
        self.lead_ns = to_nanoseconds(
            parameters.number('start_lead', 2.0, 's of rest before the first test', at_least=0)
        )
        self.lockstep = parameters.flag(
            'lockstep', False, 'simulated time waits for each node: no silence breaks a test off'
        )
        self.speed = parameters.number(
            'speed', 1.0, 'of the simulation: its s in each real s; 0: as fast as possible',
            at_least=0,
        )  # fmt: skip
        self.look_around = parameters.number(
            'look_around', DISCOVERY, 's to look for another scheduler', at_least=0
        )
        self.peer_timeout = parameters.number('peer_timeout', 30.0, 's for peers', above=0)
        self.peer_settled = parameters.number(
            'peer_settled', SETTLED, 's of heartbeats from a peer before it is relied on', above=0
        )
        self.sensor_timeout = parameters.number(
            'sensor_timeout', 1.0, 's of silence of a body after which it is lost', above=0
        )
        self.measurement_timeout = parameters.number(
            'measurement_timeout', 30.0, 's to wait for a measurement and its estimate', above=0
        )
        self.recorder = parameters.text(
            'recorder', '', 'node that records: without it nothing moves; empty: none'
        )
        self.other_publishers = parameters.texts(
            'other_publishers', (), 'nodes that may publish on the command topic besides'
        )
