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


"""What many tests show of the instruments, and no single one does."""

from __future__ import annotations

from collections.abc import Sequence

from repsq_ros.campaign.command_response import CommandResponse
from repsq_ros.campaign.gauge_steps import GaugeSteps
from repsq_ros.campaign.gauge_zero import GaugeZero
from repsq_ros.campaign.records import TestRecord
from repsq_ros.measurement.displacement import GaugeDisplacement
from repsq_ros.specification.model import Specification


class GaugeDoubts:
    """The steps and the zero of a gauge.

    :param largest: half a step that may remain [mm]
    :param least: a smaller change of the reading before the command is no jump [mm]
    """

    def __init__(self, largest: float, least: float) -> None:
        self._steps, self._zero = GaugeSteps(largest), GaugeZero(least)

    def take(self, index: int, psi: float, measured: Sequence[float]) -> str:
        """Add a counted test; return a question for a person, once of each kind, or ''."""
        asked = [self._steps.take(psi)]
        if measured:
            asked.append(self._zero.take(index, measured[0]))
        return '; '.join(filter(None, asked))

    @property
    def findings(self) -> tuple[str, ...]:
        """Return what is wrong, one sentence each."""
        return self._steps.findings + self._zero.findings


def gauge_doubts(specification: Specification) -> GaugeDoubts | None:
    """Return what collects doubts about the gauge; None: no displacement by a gauge."""
    measure = specification.measure
    if not isinstance(measure.quantity, GaugeDisplacement):
        return None
    largest = measure.limits.largest_error * specification.accuracy.gamma
    return GaugeDoubts(largest, measure.quantity.settled_within)


class Doubts:
    """Measurements against commands, and the steps and the zero of a gauge."""

    def __init__(self, specification: Specification) -> None:
        self._response = CommandResponse(specification.protocol.kind, specification.measured_at)
        self._gauge = gauge_doubts(specification)

    def take(self, record: TestRecord) -> str:
        """Add a counted test; return a question for a person, once of each kind, or ''."""
        asked = [self._response.take_case(record.x, record.measured)]
        if self._gauge is not None:
            asked.append(self._gauge.take(record.index, record.psi, record.measured))
        return '; '.join(filter(None, asked))

    @property
    def findings(self) -> tuple[str, ...]:
        """Return what is wrong, one sentence each."""
        return self._response.findings + (self._gauge.findings if self._gauge else ())

    @property
    def lines(self) -> tuple[str, ...]:
        """Return the response to commands with its standard errors, see `CommandResponse`."""
        return self._response.lines
