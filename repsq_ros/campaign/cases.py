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

"""The cases of a campaign: drawn from the proposal in force, which learns from valid tests."""

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
    """A case to which the tester's simulator has answered."""

    twin: float = math.nan  # its answer s; the mean of several
    twin_spread: float | None = None  # standard deviation of several simulators' answers


class CaseSource:
    """Draws case by case.

    :param seed: case i comes from a generator of its own, seeded by (seed, i)
    """

    def __init__(self, specification: Specification, proposal: Proposal, seed: int) -> None:
        self._specification, self._proposal, self._seed = specification, proposal, seed

    def ready(self, index: int) -> bool:
        """Tell whether a case can be drawn now: another program may still be at work on it."""
        return self._proposal.ready(index)

    def draw(self, index: int) -> Draw:
        """Draw a case.

        :raises CampaignError: it lies outside the box of the specification, or the tester's twin
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
        """Let the proposal hear of an attempt that is over."""
        if record.valid:
            self._proposal.tell(record.x, record.psi, record.weight)
