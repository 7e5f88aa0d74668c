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

"""The number of robot tests by a twin's number of simulated tests, computed beforehand."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from repsq_ros.estimation.anytime import Anytime, thresholds_of
from repsq_ros.estimation.stopping import Bounds, Outcome
from repsq_ros.seeds import RandomStream, generator
from repsq_ros.specification.model import Specification
from repsq_ros.studies.counts import LONGEST, NEVER, Count, summary_of
from repsq_ros.studies.executor import in_order
from repsq_ros.studies.expected_promise import altered
from repsq_ros.studies.laws import Law
from repsq_ros.studies.repeated_campaigns import campaign_of_law
from repsq_ros.studies.spread import Spread

CAMPAIGNS = 16  # simulated campaigns for each size of the twin
SIZES = (1_000, 3_000, 10_000, 30_000, 100_000)  # numbers of simulated tests
WORTH = 0.05  # share of the robot's tests that the next size has to save


@dataclass(frozen=True)
class TwinOffer:
    """The remaining robot tests with a twin of one size."""

    simulated: int  # number of simulated tests
    count: Count  # number of robot tests


@dataclass(frozen=True)
class SupposedCampaigns:
    """Campaigns with psi of an expected spread, and a twin's correlated answers.

    :param rho: correlation of psi with its prediction from case and simulator
    """

    specification: Specification  # with the planned rule, gamma and c
    spread: Spread
    bounds: Bounds
    rho: float

    def tests(self, simulated: int, seed: int) -> int:
        """Return the tests of one campaign; 0: it does not end."""
        pilots = self.spread.pilots(generator(seed, RandomStream.STUDY), 1)

        def many(random: np.random.Generator, n: int) -> NDArray[np.float64]:
            return self.spread.draw(random, (n, 1), self.bounds, pilots)[:, 0]

        law = Law('', lambda u, random: float(many(random, 1)[0]), None, many)
        result = campaign_of_law(self.specification, law, seed, self.rho, simulated)
        return result.n if result.outcome == Outcome.REACHED else 0


def supposed_campaigns(
    specification: Specification,
    rule: Anytime,
    aim: tuple[float, float],
    known: tuple[Spread, Bounds],
    rho: float,
) -> SupposedCampaigns:
    """Return the campaigns of a rule, at a gamma and c."""
    planned = altered(specification, replace(rule, reachable=0.0), *aim)
    tester = replace(planned.tester, max_tests=LONGEST, until_verdict=False)
    return SupposedCampaigns(replace(planned, tester=tester), *known, rho)


def twin_offers(
    campaigns: SupposedCampaigns,
    executor: Executor | None,
    progress: Callable[[int], None],
) -> Iterator[TwinOffer]:
    """Yield twins of increasing size, up to the first that saves too little more.

    :param progress: called with the number of campaigns just simulated
    """
    before = math.inf
    for simulated in SIZES:
        work, ended = partial(campaigns.tests, simulated), []
        for n in in_order(executor, work, range(1, CAMPAIGNS + 1)):
            ended.append(n)
            progress(1)
        count = summary_of(ended) if all(ended) else NEVER
        yield TwinOffer(simulated, count)
        tests = count.mean or math.inf
        if tests > (1.0 - WORTH) * before and math.isfinite(before):
            return
        before = tests


def worth_it(offers: list[TwinOffer], without: int) -> TwinOffer | None:
    """Return the smallest twin that is nearly as good as larger ones; None: none is worth it.

    :param without: tests that the rule takes alone; 0: it does not end
    """
    ended = [offer for offer in offers if offer.count.mean]
    least = min((offer.count.mean for offer in ended), default=0)
    if not ended or (without and least > (1.0 - WORTH) * without):
        return None
    return next(offer for offer in ended if offer.count.mean * (1.0 - WORTH) <= least)


def floor_of(rule: Anytime, gamma: float, c: float, mean: float, bounds: Bounds) -> int:
    """Return the number of tests before which the rule cannot end, with any knowledge of psi.

    A bet cannot lose more than its capital, so each test multiplies the capital against m by
    (r* - lower) / (m - lower) at most, even if psi is always r*.
    """
    below, above = mean - bounds.lower, bounds.upper - mean

    def enough(n: int) -> bool:
        left, right = (side * -math.expm1(-math.log(wanted) / n)
                       for side, wanted in zip((below, above), thresholds_of(c, rule.c_below),
                                               strict=True))  # fmt: skip
        return left + right <= 2.0 * gamma if rule.middle else max(left, right) <= gamma

    return 1 + bisect_left(range(1, 10**7), True, key=enough)
