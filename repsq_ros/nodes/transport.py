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

"""How Fast DDS connects the nodes of this package: over UDP, not over shared memory.

Over shared memory, a process that stands still for a second counts as dead, and others remove its
port (`healthy_check_timeout_ms` of Fast DDS). It receives nothing more, from anybody, until it is
started again. Settings that a user gave stay in force. Fast DDS of Humble does not read
`FASTDDS_BUILTIN_TRANSPORTS`, and the discovery range LOCALHOST always adds shared memory.
"""

from __future__ import annotations

import os
import socket
from pathlib import Path

from rclpy.utilities import get_rmw_implementation_identifier

from repsq_ros.errors import CampaignError

# Variables with the file of settings, for Fast DDS before version 3 and from then on.
PROFILES = ('FASTRTPS_DEFAULT_PROFILES_FILE', 'FASTDDS_DEFAULT_PROFILES_FILE')
TRANSPORTS = 'FASTDDS_BUILTIN_TRANSPORTS'
DISCOVERY_RANGE = 'ROS_AUTOMATIC_DISCOVERY_RANGE'
DOMAIN = 'ROS_DOMAIN_ID'
# Linux gives the ports of these domains to no other program. Robots seldom use the high ones.
DOMAINS = ('0', *map(str, range(101, 0, -1)))
_taken: dict[str, socket.socket] = {}  # domains of this process, by number


def use_udp() -> None:
    """Let the nodes that this process makes communicate over UDP alone."""
    if not any(name in os.environ for name in PROFILES):
        os.environ.setdefault(TRANSPORTS, 'UDPv4')


def use_this_computer_alone(settings: Path) -> None:
    """Keep this process and its children to this computer, and let them find each other sooner.

    Others on this computer, such as RViz, can listen.

    :param settings: file of settings for Fast DDS
    """
    given = any(name in os.environ for name in (*PROFILES, TRANSPORTS, DISCOVERY_RANGE))
    if given or 'fastrtps' not in get_rmw_implementation_identifier():
        os.environ.setdefault(DISCOVERY_RANGE, 'LOCALHOST')
        return
    os.environ.update(dict.fromkeys(PROFILES, str(settings)), **{DISCOVERY_RANGE: 'SUBNET'})


def take_domain() -> str:
    """Take the domain of `ROS_DOMAIN_ID`, or the first free one, for one simulated robot.

    Two in one domain would both publish `/clock`. The kernel gives the domain's name to a single
    process among those that reach each other over loopback, until that process ends.

    :returns: the domain
    :raises CampaignError: another simulated campaign has it
    """
    given = os.environ.get(DOMAIN, '')
    for domain in [given] if given else DOMAINS:
        if domain not in _taken:
            name = socket.socket(socket.AF_UNIX)
            try:
                name.bind(f'\0repsq-simulation-{domain}')
            except OSError:
                name.close()
                continue
            _taken[domain] = name
        os.environ[DOMAIN] = domain
        return domain
    raise CampaignError(
        f'{DOMAIN} {given or "not set"}: found another simulated campaign on this computer, '
        'expected a domain without one'
    )
