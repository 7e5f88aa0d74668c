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

"""Whether sessions, or labs, measured one and the same mean: told by bets that hold at any n."""

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
    """The tests of one session or lab: their values z = psi w, and where their mean lies."""

    n: int
    mean: float  # [unit of psi]; NaN of none
    standard_deviation: float  # of z, unbiased [unit of psi]; NaN of less than two
    lower: float  # r* lies in [lower, upper] with probability 1 - c, whatever the proposal
    upper: float
    c: float


@dataclass(frozen=True)
class DriftFinding:
    """Which of several means differ."""

    level: float  # probability, at most, of telling a difference where there is none
    apart: tuple[tuple[int, int], ...]  # pairs whose means differ

    def letters(self, means: Sequence[float]) -> list[str]:
        """Return letters such that two groups share one where they were not told apart.

        Compact letter display by insertion and absorption (Piepho 2004); 'a' has the lowest mean.

        :param means: of the groups, which order the letters
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
    """Return where the mean of some tests lies, by the betting sequence of `anytime`.

    It holds for adaptive proposals and at whatever number of tests they were stopped, and is
    widened by tests that were lost as `accuracy.selection` says.

    :param tests: consecutive attempts of one campaign
    :param c: probability that the interval misses r*
    """
    total = Accumulator()
    for test in tests:
        z = test.psi * test.weight
        if test.valid and math.isfinite(z):
            total.add(z)
    lower, upper = _ends(specification, tests, c)
    # Of one value no spread can be told.
    spread = math.sqrt(total.unbiased_variance) if total.n > 1 else math.nan
    return MeanInterval(total.n, total.mean, spread, lower, upper, c)


def _ends(
    specification: Specification, tests: Sequence[TestRecord], c: float
) -> tuple[float, float]:
    """Fold the tests by a rule of their own: they begin where another session ended."""
    if not _drawn(specification):
        return -math.inf, math.inf  # no interval holds for such points
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
        # Its earlier attempts were lost in the session before: they could have been anything.
        lost = replace(tests[0], index=0, attempt=0, valid=False, psi=math.nan, skipped=False)
        campaign.add(lost)
    for test in tests:
        # Once the interval is within gamma it stays: later tests are not counted.
        campaign.add(replace(test, index=test.index - first))
    latest = campaign.latest
    if latest is None or not latest.lower <= latest.upper:
        return -math.inf, math.inf
    return latest.lower, latest.upper


def intervals_of_sessions(
    specification: Specification, sessions: Sequence[Sequence[TestRecord]]
) -> list[MeanInterval]:
    """Return the interval of each session; all of them hold with probability 1 - c."""
    c = specification.accuracy.c / max(len(sessions), 1)
    return [mean_interval(specification, tests, c) for tests in sessions]


def means_apart(
    groups: Sequence[tuple[Specification, Sequence[TestRecord]]],
    c: float,
    same_cases: bool | None = None,
) -> DriftFinding:
    """Tell which groups of tests have different means, each two by one bet; c is shared by all.

    :param groups: with their specifications, of which proposal and losses count
    :param c: probability of telling any difference where there is none
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
    """Tell whether cases are drawn, and no points of a sequence, for which no bet holds."""
    return specification.make_proposal().dependence is not Dependence.LOW_DISCREPANCY


def drift_of_sessions(
    specification: Specification, sessions: Sequence[Sequence[TestRecord]]
) -> DriftFinding:
    """Tell which sessions of a campaign have different means.

    A proposal that learns makes a session depend on all tests before: then by their intervals.
    """
    if specification.make_proposal().dependence is Dependence.INDEPENDENT:
        groups = [(specification, tests) for tests in sessions]
        return means_apart(groups, specification.accuracy.c, same_cases=False)
    return drift_between(intervals_of_sessions(specification, sessions))


def drift_between(intervals: Sequence[MeanInterval]) -> DriftFinding:
    """Tell which intervals do not overlap, where there are no tests to bet on: means differ.

    Were all means one, two intervals could be apart only where one of them misses it.
    """
    apart = tuple(
        (i, j)
        for i, one in enumerate(intervals)
        for j, other in enumerate(intervals[i + 1 :], start=i + 1)
        if max(one.lower, other.lower) > min(one.upper, other.upper)
    )
    return DriftFinding(min(math.fsum(each.c for each in intervals), 1.0), apart)
