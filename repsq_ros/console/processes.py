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

"""The nodes of a campaign as processes: started together, watched, stopped in a safe order."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import yaml

from repsq_ros.configurations import configuration_folder
from repsq_ros.console.dependent_process import end, start_dependent
from repsq_ros.launching.campaign_nodes import STOP_TIMEOUT, NodeDescription, enclave_of

COMMANDING = ('scheduler', 'guard')  # in the order of their end


@dataclass
class ProcessGroup:
    """Processes of nodes, with their parameters and output in files of the campaign's folder."""

    folder: Path
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    _ended_at: dict[str, float] = field(default_factory=dict)

    def start(
        self, node: NodeDescription, remappings: Iterable[str] = (), file: Path | None = None
    ) -> None:
        """Start one node; its parameters are stored in <folder>/nodes/<name>.yaml.

        :param remappings: rules `from:=to`
        :param file: parameters that override those of the description
        """
        nodes = self.folder / 'nodes'
        nodes.mkdir(parents=True, exist_ok=True)
        parameters = nodes / f'{node.name}.yaml'
        parameters.write_text(yaml.safe_dump({'/**': {'ros__parameters': node.parameters}}))
        remappings = [part for rule in remappings for part in ('-r', rule)]
        more = [] if file is None else ['--params-file', str(file)]
        arguments = ['--ros-args', '--params-file', str(parameters), *more, *remappings]
        arguments += enclave_of(node.name)
        with (nodes / f'{node.name}.log').open('ab') as log:  # appended to by a resumed campaign
            self.running[node.name] = self._run(f'repsq_ros.nodes.{node.name}', arguments, log)

    def _run(self, module: str, arguments: list[str], log: BinaryIO) -> subprocess.Popen[bytes]:
        """Run a module in its own process and session.

        Because of the session, Ctrl-C reaches only repsq, which stops the nodes in order.
        """
        return start_dependent(
            [sys.executable, '-m', module, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def ended(self) -> dict[str, int]:
        """Return the exit codes of the nodes that have ended."""
        codes = {name: process.poll() for name, process in self.running.items()}
        ended = {name: code for name, code in codes.items() if code is not None}
        for name in ended:
            self._ended_at.setdefault(name, time.monotonic())
        return ended

    def seconds_since_end(self, name: str) -> float:
        """Return the time since `ended` first reported a node."""
        return time.monotonic() - self._ended_at[name]

    def last_words(self, name: str) -> str:
        """Return the last line that the node itself printed."""
        lines = (self.folder / 'nodes' / f'{name}.log').read_text(errors='replace').splitlines()
        spoken = [line for line in lines if line.strip()]
        return spoken[-1].strip() if spoken else f'{name} said nothing'

    def stop(self) -> None:
        """Interrupt the nodes and wait for them: first those that command the robot, in turn."""
        for name in COMMANDING:
            if name in self.running:
                end([self.running[name]], STOP_TIMEOUT)
        end(self.running.values(), STOP_TIMEOUT)


def simulation_settings() -> Path:
    """Return the settings of Fast DDS for a simulated campaign."""
    return configuration_folder() / 'fast_dds' / 'simulation.xml'
