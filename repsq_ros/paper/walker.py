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

"""Walks of the simulated G1, measured like a campaign, each case once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from repsq_ros.errors import CampaignError, ParameterError
from repsq_ros.measurement.measure import Measure
from repsq_ros.measurement.recorder import Recorder
from repsq_ros.measurement.tracking_loss import Reduction, TrackingLoss
from repsq_ros.measurement.window import Window
from repsq_ros.protocols.protocol import ProtocolType
from repsq_ros.simulation.g1_mujoco import G1Changes, G1Mujoco
from repsq_ros.simulation.simulated_sensors import SensorReading, sample_of, sensor_of
from repsq_ros.simulation.simulation import ticks_between_reports
from repsq_ros.specification.model import Specification
from repsq_ros.timebase import NANOSECONDS, to_seconds

KEY = (0, 0)  # key of the recorder's only window


@dataclass(frozen=True)
class Forms:
    """psi of one walk in each of its forms."""

    sum: float
    mean: float
    rms: float

    def of(self, form: str) -> float:
        """Return psi in one form."""
        return float(getattr(self, form))


class Walker:
    """One robot. A walk depends only on its command, so that each case is walked once.

    The time before the command is the same for all cases: it is simulated once, and each walk
    continues from its end.
    """

    def __init__(self, folder: str, specification: Specification, changes: G1Changes) -> None:
        if not folder:
            raise ParameterError('model', 'nothing', 'the folder of the G1 model and its policy')
        quantity, protocol = specification.measure.quantity, specification.protocol
        if not (isinstance(quantity, TrackingLoss) and protocol.type == ProtocolType.LOCOMOTION):
            raise ParameterError(
                'specification',
                f'{specification.file}',
                'one of protocol locomotion and measure soft_linf',
            )
        self._specification = specification
        self._subject = G1Mujoco(Path(folder).expanduser(), changes)
        sensor = sensor_of(specification.measure.input)
        self._every = ticks_between_reports(self._subject, {})[sensor]
        self._sensor = sensor
        rate = NANOSECONDS / (self._every * self._subject.tick_ns)
        self._measures: dict[str, Measure] = {}
        for form in Reduction:
            formed = replace(quantity, reduction=form, state_rate=rate if form == 'sum' else 0.0)
            self._measures[form] = replace(specification.measure, quantity=formed, gamma=None)
        self._ticks = 0
        self._subject.reset(np.random.default_rng(0), 0)
        self._before = self._simulate(protocol.steps[0].look_ns, protocol.rest)
        self._standing, self._began = self._subject.standing(), self._ticks
        self._known: dict[tuple[float, ...], Forms] = {}

    def walk(self, x: tuple[float, ...]) -> Forms:
        """Return psi of a case.

        :raises CampaignError: the walk is INVALID
        """
        if x not in self._known:
            self._known[x] = self._walk(x)
        return self._known[x]

    def _simulate(self, duration_ns: int, command: tuple[float, ...]) -> list[SensorReading]:
        subject, seen = self._subject, []
        for _ in range(duration_ns // subject.tick_ns):
            subject.step(command)
            self._ticks += 1
            if self._ticks % self._every == 0:
                stamp = self._ticks * subject.tick_ns
                seen.append(SensorReading(self._sensor, stamp, subject.seen_by(self._sensor)))
        return seen

    def _walk(self, x: tuple[float, ...]) -> Forms:
        specification, step = self._specification, self._specification.protocol.steps[1]
        self._subject.go_on_from(self._standing)
        self._ticks = self._began
        command = specification.protocol.target(specification.box.names, x)
        seen = self._before + self._simulate(step.look_ns, command)
        began = self._began * self._subject.tick_ns
        end = began + step.look_ns
        window = Window(end - step.window_ns, end, command, began)
        found = {}
        for form, measure in self._measures.items():
            recorder = Recorder(measure)
            recorder.open(KEY, window)
            for reading in seen:
                recorder.add(sample_of(reading, measure.input.frame))
            _, outcome = recorder.close(KEY)
            if not outcome.valid:
                raise CampaignError(
                    f'a walk at {x} after {to_seconds(began):g} s is INVALID: {outcome.reason}'
                )
            found[form] = outcome.psi
        return Forms(**found)
