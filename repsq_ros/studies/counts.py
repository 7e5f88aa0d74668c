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

"""How many tests a rule takes, by simulated campaigns: mean and range."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from repsq_ros.estimation.acceptance import AcceptanceTest
from repsq_ros.estimation.anytime import Anytime, AnytimeBatch
from repsq_ros.estimation.forecast import expected_tests
from repsq_ros.estimation.moments import EmpiricalBernstein, first_stops
from repsq_ros.estimation.stopping import Bounds, Question, StoppingRule
from repsq_ros.seeds import RandomStream, generator
from repsq_ros.studies.spread import Spread

CAMPAIGNS = 200  # simulated campaigns; fewer if they are long
WORK = 5e7  # approximate number of values of z times tests to process
LONGEST = 4_000  # number of tests above which a formula is used instead
LONGEST_VERDICT = 16_000  # largest number of tests for a verdict
AT_ONCE = 64  # tests drawn at once


@dataclass(frozen=True)
class Count:
    """Number of tests of a campaign; 0: too many to be computed."""

    mean: int
    median: int
    most: int  # 95 % of campaigns take at most this many
    simulated: tuple[int, ...] = ()  # tests of each simulated campaign; empty: not simulated

    def share_beyond(self, tests: int) -> float:
        """Return the probability that a campaign takes more tests; nan: not known."""
        if not self.simulated:
            return math.nan
        return sum(n > tests for n in self.simulated) / len(self.simulated)


NEVER = Count(0, 0, 0)


def count_tests(rule: StoppingRule, question: Question, spread: Spread) -> Count:
    """Return how many tests a rule takes for values with a given spread."""
    if question.gamma <= 0.0:
        return NEVER
    guess = expected_tests(rule, question, spread.mean, spread.sd**2)
    if not guess or guess > LONGEST:
        spreads = isinstance(rule, Anytime | EmpiricalBernstein)
        return Count(guess, 0, 0) if spreads else Count(guess, guess, guess)
    if isinstance(rule, Anytime):
        return _anytime(rule, question, spread, guess)
    if isinstance(rule, EmpiricalBernstein):
        return _bernstein(rule, question, spread, guess)
    return Count(guess, guess, guess)


def summary_of(n: list[int]) -> Count:
    """Return mean, median and 95 % quantile of simulated campaigns."""
    return Count(
        math.ceil(float(np.mean(n))),
        math.ceil(float(np.median(n))),
        math.ceil(float(np.quantile(n, 0.95))),
        tuple(n),
    )


def _anytime(rule: Anytime, question: Question, spread: Spread, guess: int) -> Count:
    runs = max(20, min(CAMPAIGNS, round(WORK / guess**2)))
    random, ended = generator(1, RandomStream.STUDY, guess), []
    campaigns = AnytimeBatch(question, runs, rule)
    pilots = spread.pilots(random, runs)
    place: NDArray[np.intp] = np.arange(runs)
    while place.size:
        drawn = place.size if pilots is None else runs
        for z in spread.draw(random, (AT_ONCE, drawn), question.bounds, pilots):
            campaigns.add(z[: place.size] if pilots is None else z[place])
            stop = campaigns.reached | campaigns.void
            if stop.any():
                ended += [campaigns.n] * int(stop.sum())
                campaigns.keep(~stop)
                place = place[~stop]
            if not place.size:
                break
        if campaigns.n > 20 * guess + 1000:
            return Count(guess, 0, 0)
    return summary_of(ended)


def _bernstein(rule: EmpiricalBernstein, question: Question, spread: Spread, guess: int) -> Count:
    random, size = generator(1, RandomStream.STUDY, guess), 2 * guess + 64
    runs = max(20, min(CAMPAIGNS, round(5e5 / size)))
    pilots = spread.pilots(random, runs)
    if pilots is None:
        z = spread.draw(random, (runs, size), question.bounds)
    else:
        z = spread.draw(random, (size, runs), question.bounds, pilots).T
    n, _ = first_stops(z, rule, question.gamma, question.bounds.width, question.c)
    return summary_of(n.tolist()) if np.all(n > 0) else Count(guess, 0, 0)


def count_verdict(
    limit: float, margin: float, c: float, bias: float, bounds: Bounds, spread: Spread
) -> Count:
    """Return how many tests the verdict of `accept` takes for values with a given spread.

    :param bounds: of every z
    """
    random, runs = generator(1, RandomStream.STUDY, round(1e6 * spread.mean)), CAMPAIGNS
    test, pilots = AcceptanceTest(limit, margin, c, bias, runs), spread.pilots(random, runs)
    for _ in range(LONGEST_VERDICT // AT_ONCE):
        for z in spread.draw(random, (AT_ONCE, runs), bounds, pilots):
            test.add(z, bounds)
        if test.decided:
            return summary_of(test.decided_at.tolist())
    return NEVER
