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

"""What keeps the machine from running the nodes in time, in words (Linux)."""

from __future__ import annotations

import os
import re
from pathlib import Path

PRESSURE = Path('/proc/pressure')
BUSY = 1.0  # load per core above which processes wait for each other
SOME = re.compile(r'some avg10=([\d.]+)')  # [%] share of the last 10 s in which a process waited
NOTED = 10.0  # [%] a larger share is reported


def machine_text() -> str:
    """Return which resource is scarce (cores, memory, disk); '' for none."""
    found = []
    cores = os.cpu_count() or 1
    load = os.getloadavg()[0]
    if load > BUSY * cores:
        found.append(f'load {load:.1f} on {cores} cores')
    for what, lacks in (('cpu', 'processor'), ('memory', 'memory'), ('io', 'disk')):
        try:
            told = SOME.search((PRESSURE / what).read_text(encoding='ascii'))
        except OSError:  # not in this kernel, or hidden in a container
            continue
        if told is not None and float(told[1]) >= NOTED:
            found.append(f'processes waited for {lacks} {float(told[1]):.0f} % of the last 10 s')
    return f'this machine is busy: {", ".join(found)}' if found else ''
