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

"""What a report needs of one campaign, finished or not, as arrays and short lists."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from repsq_ros.campaign.drift import (
    DriftFinding,
    MeanInterval,
    drift_of_sessions,
    intervals_of_sessions,
)
from repsq_ros.campaign.journal import LEDGER
from repsq_ros.campaign.journal_contents import ABORT, PAUSE, RESUME, SKIP, TEST
from repsq_ros.campaign.recomputed_campaign import RecomputedCampaign, SessionRecord, recompute
from repsq_ros.campaign.records import EstimateRecord, TestRecord
from repsq_ros.campaign.result import Result
from repsq_ros.certificate.differences import CheckResult
from repsq_ros.certificate.registration import check_registration
from repsq_ros.specification.model import Specification

Array = NDArray[np.float64]
STOPS = {PAUSE: 'paused', RESUME: 'resumed', SKIP: 'skipped', ABORT: 'aborted'}


@dataclass(frozen=True)
class AuditedTopic:
    """A sensor's topic in a recording, and what its audit says."""

    title: str
    lines: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class CampaignData:
    """One campaign."""

    name: str  # short name: that of the folder
    recomputed: RecomputedCampaign
    audits: tuple[AuditedTopic, ...] = ()  # of recordings, if given
    poses: tuple[tuple[str, str], ...] = ()  # quantities of ISO 9283, if poses were given
    page_error: float = math.nan  # largest error on the page, which sets the number of digits

    @property
    def specification(self) -> Specification:
        """Return the specification of the campaign."""
        return self.recomputed.specification

    @property
    def result(self) -> Result | None:
        """Return the result; None before the end."""
        return self.recomputed.result

    @cached_property
    def registration(self) -> CheckResult:
        """The registration before the first test, by the ledger in the folder."""
        ledger = self.recomputed.folder / LEDGER
        return check_registration(None, self.recomputed, ledger if ledger.exists() else None)

    @cached_property
    def counted(self) -> tuple[TestRecord, ...]:
        """The tests that entered the estimate."""
        return tuple(
            each.record
            for each in self.recomputed.counted
            if each.record.valid and math.isfinite(each.record.psi * each.record.weight)
        )

    @cached_property
    def lost(self) -> tuple[TestRecord, ...]:
        """The attempts that were INVALID, broken off or skipped."""
        kept = {(test.index, test.attempt) for test in self.counted}
        return tuple(
            each.record
            for each in self.recomputed.counted
            if (each.record.index, each.record.attempt) not in kept
        )

    @cached_property
    def estimates(self) -> tuple[EstimateRecord, ...]:
        """The estimate after each attempt."""
        return tuple(each.estimate for each in self.recomputed.counted)

    @property
    def latest(self) -> EstimateRecord | None:
        """Return the last estimate; None before the first attempt."""
        return self.estimates[-1] if self.estimates else None

    @property
    def error(self) -> float:
        """Return the largest error of the value [unit of psi]; NaN: not known."""
        result, latest = self.result, self.latest
        if result is not None:
            return max(result.upper - result.value, result.value - result.lower)
        return math.nan if latest is None or not latest.n else latest.half_width

    @cached_property
    def psi(self) -> Array:
        """(n,) of the counted tests [unit of psi]."""
        return np.array([test.psi for test in self.counted])

    @cached_property
    def weight(self) -> Array:
        """(n,) of the counted tests."""
        return np.array([test.weight for test in self.counted])

    @cached_property
    def x(self) -> Array:
        """(n, d) cases of the counted tests, in the units of their dimensions."""
        return _cases(self.counted, len(self.specification.box.names))

    @cached_property
    def x_lost(self) -> Array:
        """(m, d) cases of the attempts that were lost."""
        return _cases(self.lost, len(self.specification.box.names))

    @cached_property
    def sessions(self) -> tuple[SessionRecord, ...]:
        """The sessions with at least one test."""
        return tuple(each for each in self.recomputed.sessions if each.tests)

    @cached_property
    def of_sessions(self) -> list[MeanInterval]:
        """The interval of each session's mean; jointly valid with 1 - c."""
        return intervals_of_sessions(self.specification, [s.tests for s in self.sessions])

    @property
    def drift(self) -> DriftFinding:
        """Tell whether sessions differ."""
        return drift_of_sessions(self.specification, [each.tests for each in self.sessions])

    def reasons(self) -> list[tuple[str, str, int]]:
        """Return the causes of losses, most frequent first: (kind, reason, attempts)."""
        counts = Counter((kind_of(test), _plain(test)) for test in self.lost)
        return [(kind, reason, n) for (kind, reason), n in counts.most_common()]

    def stops(self) -> list[tuple[str, str]]:
        """Return what paused the campaign: (when, what and why)."""
        found, before = [], 0
        for entry in self.recomputed.entries:
            before += entry.event == TEST
            if entry.event in STOPS:
                reason = str(entry.content.get('reason', ''))
                text = f'{STOPS[entry.event]}: {reason}' if reason else STOPS[entry.event]
                found.append((f'after {before} attempts', text))
        return found

    def samples(self) -> str:
        """Return the number of samples in the windows."""
        counts = [test.samples for test in self.counted]
        if not counts or not any(counts):
            return 'not recorded'
        return f'{min(counts)} to {max(counts)}, median {float(np.median(counts)):g}'


def kind_of(test: TestRecord) -> str:
    """Return the word for an attempt that was lost."""
    if test.skipped:
        return 'skipped'
    if test.broken_off:
        return 'broken off'
    return 'not counted' if test.valid else 'INVALID'


def _plain(test: TestRecord) -> str:
    """Return a reason without its numbers, to group equal kinds of failure."""
    return test.code or test.reason or 'no reason given'


def _cases(tests: tuple[TestRecord, ...], dimensions: int) -> Array:
    # A record of another program may lack its case; its row is then NaN.
    rows = [test.x if len(test.x) == dimensions else (math.nan,) * dimensions for test in tests]
    return np.array(rows, dtype=np.float64).reshape(len(rows), dimensions)


def gather(folder: Path) -> CampaignData:
    """Return what a report needs of a campaign's folder.

    :raises SpecificationError: its specification cannot be read
    :raises JournalError: no journal, a damaged one, or one of another contract
    """
    return CampaignData(folder.resolve().name, recompute(folder))
