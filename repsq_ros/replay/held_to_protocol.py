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

"""Intervals of foreign recordings as tests of the specification's protocol."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from repsq_ros.errors import ParameterError
from repsq_ros.measurement.reasons import Code, Fault
from repsq_ros.measurement.recorder import Window
from repsq_ros.replay.held_commands import HeldCommand, Times, Values, command_within
from repsq_ros.replay.segments import Segment
from repsq_ros.sampling.proposals import Draw
from repsq_ros.specification.model import Specification
from repsq_ros.timebase import to_nanoseconds, to_seconds


@dataclass(frozen=True)
class Timing:
    """The measured part of an interval: [start + settle, start + settle + window)."""

    settle_ns: int
    window_ns: int

    @property
    def whole_ns(self) -> int:
        """How long a command has to be in force."""
        return self.settle_ns + self.window_ns


def timing_of(
    specification: Specification, settle: float | None = None, window: float | None = None
) -> tuple[Timing, tuple[str, ...]]:
    """Return the protocol's timing, and which parts of it were replaced.

    :param settle: [s] after the command that are not measured; None: as in the protocol
    :param window: [s] that are measured after that; None: as in the protocol
    :raises ParameterError: an invalid time
    """
    protocol = specification.protocol
    usual = Timing(
        protocol.before_window_ns,
        next(step.window_ns for step in protocol.steps if step.window_ns),
    )
    for name, value, least in (('settle', settle, 0.0), ('window', window, 1e-9)):
        if value is not None and not (math.isfinite(value) and least <= value < 1e9):
            raise ParameterError(name, f'{value}', f's, {"0 or more" if not least else "> 0"}')
    timing = Timing(
        usual.settle_ns if settle is None else to_nanoseconds(settle),
        usual.window_ns if window is None else to_nanoseconds(window),
    )
    changes = (
        ('settle', timing.settle_ns, usual.settle_ns),
        ('window', timing.window_ns, usual.window_ns),
    )
    return timing, tuple(
        f'protocol: {name} {to_seconds(now):g} s in place of {to_seconds(before):g} s'
        for name, now, before in changes
        if now != before
    )


def hold_to_protocol(
    stretches: Sequence[HeldCommand],
    timing: Timing,
    times: Times | None = None,
    values: Values | None = None,
) -> list[Segment]:
    """Return one segment per interval, with weight 1: how the cases were drawn is not known.

    :param times: (n,) [ns] of the commands, for intervals without a command of their own
    :param values: (n, d) the commands
    """
    segments = []
    for index, held in enumerate(stretches):
        began_ns = held.start_ns if held.began_ns is None else held.began_ns
        start_ns = held.start_ns + timing.settle_ns
        end_ns = start_ns + timing.window_ns
        command, unclear = held.command, ''
        if not command and times is not None and values is not None:
            command, unclear = command_within(times, values, start_ns, end_ns)
        segments.append(
            Segment(
                index,
                0,
                held.label,
                Draw((), 0.0, 0.0),
                Window(start_ns, end_ns, command, began_ns),
                objection=_objection(held, timing, command, unclear),
            )
        )
    return segments


def _objection(
    held: HeldCommand, timing: Timing, command: tuple[float, ...], unclear: str
) -> Fault | None:
    length_ns = held.end_ns - held.start_ns
    if length_ns < timing.whole_ns:
        wanted = (
            f'the measured window is {to_seconds(timing.settle_ns):g} to '
            f'{to_seconds(timing.whole_ns):g} s after its beginning'
        )
        if held.cut:
            return Fault(
                Code.CUT, f'recording ends {to_seconds(length_ns):.3f} s after it began; {wanted}'
            )
        return Fault(Code.SHORT, f'too short: it lasted {to_seconds(length_ns):.3f} s; {wanted}')
    if unclear:
        return Fault(Code.COMMAND, f'command: {unclear}')
    if not all(map(math.isfinite, command)):
        return Fault(Code.COMMAND, f'command: {command}, expected finite numbers')
    return None
