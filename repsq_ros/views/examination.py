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


"""Checks before a campaign: the machine, and the robot's topics."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from repsq_ros.views.health import Level

LEAST_FREE = 2e9  # [bytes] on the disk of the campaigns; a recording of an hour takes about 1 GB
LEAST_BUFFER = 2_097_152  # [bytes] net.core.rmem_max; less loses bursts of large messages
LATE = 0.05  # [s] from stamp to arrival; a larger delay means different clocks
BUSY = 0.7  # share of the cores, by the load of the last minute
SLOW = 0.5  # share of the declared rate
LEAST_SHARED = 64e6  # [bytes] of shared memory, which DDS uses within a computer
MOST_LEFT_OVER = 500  # segments and ports of dead processes


@dataclass(frozen=True)
class Diagnosis:
    """The result of one check."""

    name: str
    level: Level
    text: str
    remedy: str = ''  # what to do about it


@dataclass(frozen=True)
class Middleware:
    """How DDS communicates, by environment variables; '': the default."""

    implementation: str  # RMW_IMPLEMENTATION
    transports: str  # FASTDDS_BUILTIN_TRANSPORTS
    this_computer_alone: bool  # discovery is limited to this computer
    shared_memory: int | None  # [bytes] free in /dev/shm
    left_over: int = 0  # segments and ports of dead processes there


@dataclass(frozen=True)
class Machine:
    """The state of this computer; None: not known."""

    free_bytes: int | None  # on the disk of the campaigns
    load: float | None  # mean number of running processes in the last minute
    cores: int
    receive_buffer: int | None  # [bytes] largest size that a socket may request
    governors: tuple[str, ...]  # of the cores; empty: not known
    synchronized: bool | None  # whether the kernel calls its clock synchronized
    middleware: Middleware | None = None


@dataclass(frozen=True)
class TopicSurvey:
    """Observations of a topic that a campaign subscribes to."""

    topic: str
    type: str  # the expected type
    publishers: tuple[tuple[str, str], ...]  # full name of the node, and its message type
    messages: int
    seconds: float  # duration of the observation
    delays: tuple[float, ...] = ()  # arrival less header stamp [s]; none without a header
    rate: float = 0.0  # [Hz] declared in the specification; 0: none
    must_speak: bool = True  # False: long silence is normal, as for an event-driven gauge
    offered: tuple[str, ...] = ()  # quality of service of each publisher, in words


@dataclass(frozen=True)
class CommandSurvey:
    """The nodes at a command topic before a campaign."""

    topic: str
    publishers: tuple[str, ...]  # full names of nodes
    takers: tuple[tuple[str, str], ...]  # full name of the node, and its message type


def examine_machine(machine: Machine) -> list[Diagnosis]:
    """Return the checks of a computer."""
    found = []
    if machine.free_bytes is not None:
        text = f'{machine.free_bytes / 1e9:.1f} GB free'
        if machine.free_bytes < LEAST_FREE:
            found.append(Diagnosis('disk', Level.ERROR, text, 'free some space, or use --output'))
        else:
            found.append(Diagnosis('disk', Level.OK, text))
    if machine.load is not None:
        text = f'load {machine.load:.1f} on {machine.cores} cores'
        busy = machine.load > BUSY * machine.cores
        remedy = 'end other programs: a busy computer breaks tests off' if busy else ''
        found.append(Diagnosis('load', Level.WARN if busy else Level.OK, text, remedy))
    if machine.receive_buffer is not None:
        text = f'net.core.rmem_max is {machine.receive_buffer}'
        small = machine.receive_buffer < LEAST_BUFFER
        remedy = f'sudo sysctl -w net.core.rmem_max={LEAST_BUFFER}' if small else ''
        found.append(Diagnosis('receive buffer', Level.WARN if small else Level.OK, text, remedy))
    if machine.governors:
        saving = sorted(set(machine.governors) & {'powersave', 'conservative'})
        text = f'CPU governor {", ".join(sorted(set(machine.governors)))}'
        remedy = 'sudo cpupower frequency-set -g performance' if saving else ''
        found.append(Diagnosis('processor', Level.WARN if saving else Level.OK, text, remedy))
    if machine.synchronized is not None:
        if machine.synchronized:
            found.append(Diagnosis('clock', Level.OK, 'synchronized'))
        else:
            remedy = 'start chrony or systemd-timesyncd, on the robot too'
            found.append(Diagnosis('clock', Level.WARN, 'NOT synchronized', remedy))
    return (
        found if machine.middleware is None else [*found, _examine_middleware(machine.middleware)]
    )


def _examine_middleware(middleware: Middleware) -> Diagnosis:
    text = (
        f'{middleware.implementation or "the default of ROS 2"}, transports '
        f'{middleware.transports or "by default"}'
    )
    free = middleware.shared_memory
    if middleware.this_computer_alone:
        text += '; other computers are not discovered'
        remedy = 'unset ROS_LOCALHOST_ONLY and ROS_AUTOMATIC_DISCOVERY_RANGE, if the robot is one'
        return Diagnosis('DDS', Level.WARN, text, remedy)
    if free is not None and free < LEAST_SHARED and middleware.transports != 'UDPv4':
        text += f'; {free / 1e6:.0f} MB of shared memory free'
        remedy = 'fastdds shm clean, a larger /dev/shm, or FASTDDS_BUILTIN_TRANSPORTS=UDPv4'
        return Diagnosis('DDS', Level.WARN, text, remedy)
    if middleware.left_over > MOST_LEFT_OVER and middleware.transports != 'UDPv4':
        text += f'; {middleware.left_over} segments of dead processes in shared memory'
        remedy = 'repsq doctor --clear-shared-memory: beside thousands, not all is heard'
        return Diagnosis('DDS', Level.WARN, text, remedy)
    return Diagnosis('DDS', Level.OK, text)


def examine_command(survey: CommandSurvey) -> Diagnosis:
    """Return the check of a command topic: only one program may command."""
    name = survey.topic
    if survey.publishers:
        text = f'{", ".join(survey.publishers)} publishes commands, too'
        return Diagnosis(name, Level.ERROR, text, 'end it, or take its commands off this topic')
    if not survey.takers:
        remedy = 'start the bridge or driver, --remap FROM:=TO, or see command_type'
        return Diagnosis(name, Level.WARN, 'no node subscribes to it for commands', remedy)
    takers = ', '.join(f'{node} takes {kind}' for node, kind in survey.takers)
    return Diagnosis(name, Level.OK, takers)


def examine_topic(survey: TopicSurvey) -> Diagnosis:
    """Return the check of a topic: the first thing that is wrong."""
    name = survey.topic
    if not survey.publishers:
        remedy = 'start the driver, or give the name that it uses: --remap FROM:=TO'
        return Diagnosis(name, Level.ERROR, 'nobody publishes on it', remedy)
    nodes = ', '.join(node for node, _ in survey.publishers)
    others = sorted({kind for _, kind in survey.publishers} - {survey.type})
    if others:
        text = f'{nodes} publishes {", ".join(others)}, expected {survey.type}'
        return Diagnosis(name, Level.ERROR, text, 'set measure.input.type to what is published')
    if survey.messages == 0:
        if not survey.must_speak:
            return Diagnosis(name, Level.OK, f'{nodes}: no message yet, as may be')
        text = f'{nodes}: no message in {survey.seconds:.0f} s'
        return Diagnosis(name, Level.ERROR, text, 'look whether the sensor is switched on')
    rate = survey.messages / survey.seconds
    quality = f', {"; ".join(sorted(set(survey.offered)))}' if survey.offered else ''
    text = f'{nodes}: {rate:.0f} Hz{quality}'
    if len(survey.publishers) > 1:
        return Diagnosis(name, Level.ERROR, f'{text}, of {len(survey.publishers)} publishers',
                       'let one program alone publish on it')  # fmt: skip
    if survey.rate and rate < SLOW * survey.rate:
        return Diagnosis(name, Level.ERROR, f'{text}, {survey.rate:g} Hz are declared',
                       'raise the rate of the driver, or correct `rate`')  # fmt: skip
    delay = _median(survey.delays)
    if abs(delay) > LATE:
        where = 'behind' if delay > 0 else 'ahead of'
        text = f'{text}, stamps {abs(delay):.3f} s {where} the clock of this computer'
        return Diagnosis(name, Level.ERROR, text, 'synchronize both computers with chrony')
    return Diagnosis(name, Level.OK, text)


def _median(values: Sequence[float]) -> float:
    ordered = sorted(value for value in values if math.isfinite(value))
    return ordered[len(ordered) // 2] if ordered else 0.0


def verdict(findings: Sequence[Diagnosis]) -> Level:
    """Return the worst level of all."""
    return max((each.level for each in findings), default=Level.OK)
