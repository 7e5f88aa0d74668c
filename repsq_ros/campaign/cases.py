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

"""The cases of a campaign: drawn from the current proposal, which learns from valid tests."""

from __future__ import annotations

import math
from dataclasses import dataclass

from repsq_ros.campaign.records import TestRecord
from repsq_ros.errors import CampaignError
from repsq_ros.sampling.proposals import Draw, Proposal
from repsq_ros.specification.model import Specification
from repsq_ros.specification.twin_section import mean_and_spread


@dataclass(frozen=True)
class AnsweredDraw(Draw):
    """A case with the answer of the tester's simulator."""

    twin: float = math.nan  # the simulator's answer s; of several simulators, the mean
    # standard deviation of the simulators' answers; None: one simulator
    twin_spread: float | None = None


class CaseSource:
    """Draws the cases one by one.

    :param seed: case i has its own generator, seeded by (seed, i)
    """

    def __init__(self, specification: Specification, proposal: Proposal, seed: int) -> None:
        self._specification, self._proposal, self._seed = specification, proposal, seed

    def ready(self, index: int) -> bool:
        """Tell whether a case can be drawn now; an external program may still be computing it."""
        return self._proposal.ready(index)

    def draw(self, index: int) -> Draw:
        """Draw a case.

        :raises CampaignError: the case is outside the box of the specification, or the twin
            has no answer to it
        """
        draw = self._proposal.draw(index, self._seed)
        if not self._specification.box.contains(draw.x):
            raise CampaignError(
                f'test {index}: the proposal drew {draw.x}, outside the box of '
                f'{self._specification.file}: nothing was commanded'
            )
        twin = self._specification.twin
        if twin is None:
            return draw
        told = draw.log_p, draw.log_q, draw.weight_bound, draw.weight
        mean, spread = mean_and_spread(twin.answer(draw.x))
        return AnsweredDraw(draw.x, *told, mean, spread if twin.simulators > 1 else None)

    def learn(self, record: TestRecord) -> None:
        """Update the proposal with an attempt that is over."""
        if record.valid:
            self._proposal.tell(record.x, record.psi, record.weight)
