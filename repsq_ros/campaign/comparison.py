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

"""Campaigns side by side: the result of each, recomputed from its journal."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from repsq_ros.campaign.campaign import LARGEST_COUNT, Campaign
from repsq_ros.campaign.records import TestRecord
from repsq_ros.campaign.result import Result
from repsq_ros.estimation.moments import EmpiricalBernstein
from repsq_ros.specification.model import Specification


@dataclass(frozen=True)
class FinishedCampaign:
    """A campaign's folder with a result."""

    folder: Path
    specification: Specification
    seed: int
    tests: tuple[TestRecord, ...]
    result: Result
    sessions: tuple[tuple[TestRecord, ...], ...] = ()  # the tests of each session


@dataclass(frozen=True)
class PaperCount:
    """The number of tests that the paper's rule takes at the same gamma and c."""

    tests: int  # 0: unknown
    # the rule stopped within the available tests; False: extrapolated from mean and spread
    reached: bool


def paper_count(campaign: FinishedCampaign) -> PaperCount:
    """Return how many tests the paper's rule needs on the same values psi w.

    Empirical Bernstein as printed, but with R for R^2: where R < 1, R^2 gives no valid bound;
    where R > 1, it needs more tests.
    """
    specification = campaign.specification
    tester = replace(
        specification.tester,
        stopping=EmpiricalBernstein(),
        max_tests=LARGEST_COUNT,
        until_verdict=False,
    )
    again = Campaign(replace(specification, tester=tester))
    for test in campaign.tests:
        again.add(test)
    latest = again.latest
    if latest is None:
        return PaperCount(0, False)
    return PaperCount(latest.n if again.stopped else latest.expected_n, again.stopped)
