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

"""Whether sessions, or labs, measured the same mean, by bets that are valid at any n."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from repsq_ros.campaign.campaign import LARGEST_COUNT, Campaign
from repsq_ros.campaign.mean_difference import difference
from repsq_ros.campaign.records import TestRecord
from repsq_ros.estimation.accumulator import Accumulator
from repsq_ros.estimation.anytime import Anytime
from repsq_ros.estimation.difference import Verdict
from repsq_ros.sampling.proposals import Dependence
from repsq_ros.specification.model import Specification


@dataclass(frozen=True)
class MeanInterval:
    """The tests of one session or lab: their values z = psi w, and an interval of their mean."""

    n: int
    mean: float  # [unit of psi]; NaN without tests
    standard_deviation: float  # of z, unbiased [unit of psi]; NaN with fewer than two
    lower: float  # r* lies in [lower, upper] with probability 1 - c, for any proposal
    upper: float
    c: float


@dataclass(frozen=True)
class DriftFinding:
    """Which of several means differ."""

    level: float  # probability, at most, of reporting a difference where there is none
    apart: tuple[tuple[int, int], ...]  # pairs whose means differ

    def letters(self, means: Sequence[float]) -> list[str]:
        """Return letters such that two groups share one if they were not told apart.

        Compact letter display by insertion and absorption (Piepho 2004); 'a' has the lowest mean.

        :param means: of the groups, by which the letters are ordered
        """
        columns = [frozenset(range(len(means)))]
        for pair in self.apart:
            split = [
                each - {left} if set(pair) <= each else each for each in columns for left in pair
            ]
            columns = [each for each in dict.fromkeys(split) if not any(each < o for o in split)]
        columns.sort(key=lambda each: sorted(means[place] for place in each))
        return [
            ''.join(chr(ord('a') + at) for at, each in enumerate(columns) if place in each)
            for place in range(len(means))
        ]


def mean_interval(
    specification: Specification, tests: Sequence[TestRecord], c: float
) -> MeanInterval:
    """Return an interval of the mean of some tests, by the betting sequence of `anytime`.

    It is valid for adaptive proposals and at any stopping time, and is widened by lost tests as
    `accuracy.selection` says.

    :param tests: consecutive attempts of one campaign
    :param c: probability that the interval misses r*
    """
    total = Accumulator()
    for test in tests:
        z = test.psi * test.weight
        if test.valid and math.isfinite(z):
            total.add(z)
    lower, upper = _ends(specification, tests, c)
    # One value has no spread.
    spread = math.sqrt(total.unbiased_variance) if total.n > 1 else math.nan
    return MeanInterval(total.n, total.mean, spread, lower, upper, c)


def _ends(
    specification: Specification, tests: Sequence[TestRecord], c: float
) -> tuple[float, float]:
    """Run a stopping rule of its own on the tests, from where another session ended."""
    if not _drawn(specification):
        return -math.inf, math.inf  # no interval is valid for such points
    campaign = Campaign(
        replace(
            specification,
            tester=replace(
                specification.tester,
                stopping=Anytime(),
                control=None,
                max_tests=LARGEST_COUNT,
                until_verdict=False,
            ),
            accuracy=replace(specification.accuracy, c=c),
            accept=None,
        ),
        forecasts=False,
    )
    first = tests[0].index if tests else 0
    if tests and tests[0].attempt > 0:
        # Its earlier attempts were lost in the previous session: their psi is unknown.
        lost = replace(tests[0], index=0, attempt=0, valid=False, psi=math.nan, skipped=False)
        campaign.add(lost)
    for test in tests:
        # Once within gamma, the interval does not change: later tests are not counted.
        campaign.add(replace(test, index=test.index - first))
    latest = campaign.latest
    if latest is None or not latest.lower <= latest.upper:
        return -math.inf, math.inf
    return latest.lower, latest.upper


def intervals_of_sessions(
    specification: Specification, sessions: Sequence[Sequence[TestRecord]]
) -> list[MeanInterval]:
    """Return the interval of each session; jointly valid with probability 1 - c."""
    c = specification.accuracy.c / max(len(sessions), 1)
    return [mean_interval(specification, tests, c) for tests in sessions]


def means_apart(
    groups: Sequence[tuple[Specification, Sequence[TestRecord]]],
    c: float,
    same_cases: bool | None = None,
) -> DriftFinding:
    """Return which groups of tests have different means: one bet per pair, which share c.

    :param groups: with their specifications (proposal and losses are used)
    :param c: probability of reporting any difference where there is none
    :param same_cases: see `difference`
    """
    places = list(itertools.combinations(range(len(groups)), 2))
    apart = []
    for i, j in places:
        (one, a), (other, b) = groups[i], groups[j]
        found = None
        if all(_drawn(each) for each in (one, other)):
            share = c / len(places)
            found = difference(one, a, b, share, same_cases=same_cases, other=other)
        if found is not None and found.verdict is not Verdict.OPEN:
            apart.append((i, j))
    return DriftFinding(c, tuple(apart))


def _drawn(specification: Specification) -> bool:
    """Tell whether cases are drawn at random; no bet is valid for points of a sequence."""
    return specification.make_proposal().dependence is not Dependence.LOW_DISCREPANCY


def drift_of_sessions(
    specification: Specification, sessions: Sequence[Sequence[TestRecord]]
) -> DriftFinding:
    """Return which sessions of a campaign have different means.

    With a proposal that learns, a session depends on all tests before: intervals are compared.
    """
    if specification.make_proposal().dependence is Dependence.INDEPENDENT:
        groups = [(specification, tests) for tests in sessions]
        return means_apart(groups, specification.accuracy.c, same_cases=False)
    return drift_between(intervals_of_sessions(specification, sessions))


def drift_between(intervals: Sequence[MeanInterval]) -> DriftFinding:
    """Return which intervals do not overlap, for groups without tests to bet on: means differ.

    If all means were equal, two intervals could be disjoint only if one of them misses the mean.
    """
    apart = tuple(
        (i, j)
        for i, one in enumerate(intervals)
        for j, other in enumerate(intervals[i + 1 :], start=i + 1)
        if max(one.lower, other.lower) > min(one.upper, other.upper)
    )
    return DriftFinding(min(math.fsum(each.c for each in intervals), 1.0), apart)
