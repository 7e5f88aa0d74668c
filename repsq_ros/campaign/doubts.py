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

from repsq_ros.campaign.command_response import CommandResponse
from repsq_ros.campaign.gauge_steps import GaugeSteps
from repsq_ros.campaign.gauge_zero import GaugeZero
from repsq_ros.campaign.records import TestRecord
from repsq_ros.measurement.displacement import GaugeDisplacement
from repsq_ros.specification.model import Specification


class Doubts:
    """Measurements against commands, and the steps and the zero of a gauge."""

    def __init__(self, specification: Specification) -> None:
        measure = specification.measure
        self._response = CommandResponse(specification.protocol.kind, specification.measured_at)
        self._steps: GaugeSteps | None = None
        self._zero: GaugeZero | None = None
        if isinstance(measure.quantity, GaugeDisplacement):
            self._steps = GaugeSteps(measure.limits.largest_error * specification.accuracy.gamma)
            self._zero = GaugeZero(measure.quantity.settled_within)

    def take(self, record: TestRecord) -> str:
        """Add a counted test; return a question for a person, once of each kind, or ''."""
        asked = [self._response.take_case(record.x, record.measured)]
        if self._steps is not None:
            asked.append(self._steps.take(record.psi))
        if self._zero is not None and record.measured:
            asked.append(self._zero.take(record.index, record.measured[0]))
        return '; '.join(filter(None, asked))

    @property
    def findings(self) -> tuple[str, ...]:
        """Return what is wrong, one sentence each."""
        gauge = [each.findings for each in (self._steps, self._zero) if each is not None]
        return sum(gauge, self._response.findings)

    @property
    def lines(self) -> tuple[str, ...]:
        """Return the response to commands with its standard errors, see `CommandResponse`."""
        return self._response.lines
