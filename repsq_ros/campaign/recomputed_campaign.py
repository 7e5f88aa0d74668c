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

"""A campaign's folder, recomputed from its journal, for all later analyses."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from repsq_ros.campaign.campaign import Campaign
from repsq_ros.campaign.contract import check_contract
from repsq_ros.campaign.folder import SPECIFICATION
from repsq_ros.campaign.journal import JOURNAL, Entry, read_journal
from repsq_ros.campaign.journal_contents import SESSION, TEST, JournalContents, fold
from repsq_ros.campaign.records import CountedAttempt, TestRecord
from repsq_ros.campaign.result import Result
from repsq_ros.errors import JournalError
from repsq_ros.specification.load import load
from repsq_ros.specification.model import Specification


@dataclass(frozen=True)
class SessionRecord:
    """One start of the scheduler, and the attempts until the next start."""

    content: dict[str, Any]  # of its line in the journal; empty: tests before any session line
    tests: tuple[TestRecord, ...]


@dataclass(frozen=True)
class RecomputedCampaign:
    """The journal of a folder, counted under the specification beside it."""

    folder: Path
    specification: Specification
    contents: JournalContents
    entries: tuple[Entry, ...]
    head: str  # digest of the journal's last complete line
    torn: int  # bytes after that line
    counted: tuple[CountedAttempt, ...]  # attempts that were due, each with the estimate after it
    result: Result | None  # None: the campaign has not ended

    @property
    def sessions(self) -> tuple[SessionRecord, ...]:
        """Return the sessions, including those without a test."""
        starts = [i for i, entry in enumerate(self.entries) if entry.event == SESSION]
        bounds = [0, *starts, len(self.entries)]
        tests = iter(self.contents.tests)
        found = []
        for place, (begin, end) in enumerate(itertools.pairwise(bounds)):
            count = sum(entry.event == TEST for entry in self.entries[begin:end])
            content = self.entries[begin].content if place else {}
            if place or count:
                found.append(SessionRecord(content, tuple(next(tests) for _ in range(count))))
        return tuple(found)

    def finished(self) -> Result:
        """Return the result.

        :raises JournalError: the campaign has none
        """
        if self.result is None:
            raise JournalError(
                f'{self.folder / JOURNAL}: found {len(self.contents.tests)} tests without a '
                'result, expected a campaign that has ended'
            )
        return self.result


def recompute(folder: Path) -> RecomputedCampaign:
    """Recompute a campaign.

    :raises SpecificationError: its specification cannot be read
    :raises JournalError: no journal, a damaged one, or one of another contract
    """
    specification, file = load(folder / SPECIFICATION), folder / JOURNAL
    entries, head, whole = read_journal(file)
    contents = fold(str(file), entries)
    if contents is None:
        raise JournalError(f'{file}: found no line, expected the journal of a campaign')
    check_contract(contents, file, specification)
    campaign = Campaign(specification, forecasts=False)
    counted = []
    for test in contents.tests:
        estimate = campaign.add(test)
        if estimate is not None:
            counted.append(CountedAttempt(test, estimate))
    return RecomputedCampaign(
        folder,
        specification,
        contents,
        tuple(entries),
        head,
        file.stat().st_size - whole,
        tuple(counted),
        campaign.result(contents.campaign_id) if campaign.stopped else None,
    )
