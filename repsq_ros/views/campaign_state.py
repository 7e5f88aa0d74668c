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

"""The state of one campaign, from messages of nodes, a bag or a journal."""

from __future__ import annotations

from dataclasses import dataclass, field

from repsq_ros.campaign.records import CountedAttempt, EstimateRecord
from repsq_ros.campaign.result import Result
from repsq_ros.measurement.recorder import Key
from repsq_ros.protocols.phases import Span


@dataclass(frozen=True)
class CaseHeard:
    """The case of a phase, with names and units."""

    index: int = 0
    attempt: int = 0
    names: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    x: tuple[float, ...] = ()
    weight: float = 1.0
    digest: str = ''  # of the current specification


@dataclass
class CampaignState:
    """Collects messages, in any order between topics; a new campaign resets it."""

    campaign_id: str = ''
    names: tuple[str, ...] = ()  # of the dimensions of a case
    units: tuple[str, ...] = ()
    digest: str = ''  # of the current specification
    counted: list[CountedAttempt] = field(default_factory=list)  # in the order of the attempts
    case: CaseHeard | None = None
    span: Span | None = None
    result: Result | None = None
    campaigns_seen: int = 0  # number of campaigns heard of
    _keys: set[Key] = field(default_factory=set)

    def _enter(self, campaign_id: str) -> None:
        if campaign_id == self.campaign_id and self.campaigns_seen:
            return
        self.campaign_id = campaign_id
        self.campaigns_seen += 1
        self.names = self.units = ()
        self.digest = ''
        self.counted, self._keys = [], set()
        self.case = self.span = self.result = None

    def on_phase(self, campaign_id: str, case: CaseHeard, span: Span) -> None:
        """Add a phase and its case."""
        self._enter(campaign_id)
        self.case, self.span = case, span
        self._set_names(case.names, case.units, case.digest)

    def _set_names(self, names: tuple[str, ...], units: tuple[str, ...], digest: str) -> None:
        self.names, self.units = names or self.names, units or self.units
        self.digest = digest or self.digest

    def on_counted(
        self,
        campaign_id: str,
        counted: CountedAttempt,
        names: tuple[str, ...] = (),
        units: tuple[str, ...] = (),
        digest: str = '',
    ) -> None:
        """Add a counted attempt; repetitions are ignored.

        :param names: of the dimensions of its case
        :param digest: of the current specification
        """
        self._enter(campaign_id)
        self._set_names(names, units, digest)
        key = (counted.record.index, counted.record.attempt)
        if key in self._keys:
            return
        self._keys.add(key)
        self.counted.append(counted)

    def on_result(self, campaign_id: str, result: Result) -> None:
        """Add the result."""
        self._enter(campaign_id)
        self.result = result

    @property
    def latest(self) -> EstimateRecord | None:
        """The estimate after the last counted attempt."""
        return self.counted[-1].estimate if self.counted else None

    @property
    def questions(self) -> tuple[str, ...]:
        """The questions for a person, each once, without the one that the campaign waits for."""
        asked = dict.fromkeys(each.estimate.question for each in self.counted)
        reason = '' if self.span is None else self.span.reason
        return tuple(each for each in asked if each and each not in reason)

    @property
    def unheard(self) -> int:
        """Number of counted attempts whose messages were missed."""
        if self.latest is None:
            return 0
        e = self.latest
        return max(e.n + e.invalid + e.skipped + e.broken_off - len(self.counted), 0)

    @property
    def under_test(self) -> CaseHeard | None:
        """The case that the robot is at, or moves to; None before the first and after the last."""
        over = self.span is None or self.span.phase.name in ('DONE', 'ABORTED')
        return None if over or self.case is None or not self.case.x else self.case
