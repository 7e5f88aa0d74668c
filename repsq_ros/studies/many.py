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

"""Simulated campaigns in parallel arrays, if they share cases and bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from repsq_ros.estimation.accumulator import Accumulator
from repsq_ros.estimation.anytime import Anytime, AnytimeBatch
from repsq_ros.estimation.stopping import Bounds, Outcome, Question
from repsq_ros.sampling.proposals import MonteCarlo
from repsq_ros.seeds import RandomStream, generator
from repsq_ros.specification.model import Specification
from repsq_ros.studies.laws import Law

TOGETHER = 250  # campaigns in one array, which stays in the cache
AT_ONCE = 64  # values drawn at once from a campaign's stream


@dataclass(frozen=True)
class EndedCampaign:
    """How one campaign ended."""

    estimate: float
    n: int
    outcome: Outcome
    lower: float
    upper: float


def side_by_side(specification: Specification, law: Law) -> bool:
    """Tell whether campaigns can be simulated together: psi does not depend on the case."""
    return (
        law.many is not None
        and isinstance(specification.tester.stopping, Anytime)
        and type(specification.make_proposal()) is MonteCarlo
        and not specification.tester.until_verdict
    )


def run_many(specification: Specification, law: Law, seeds: Sequence[int]) -> list[EndedCampaign]:
    """Run campaigns with the same random numbers as one by one."""
    ended: list[EndedCampaign] = []
    for begin in range(0, len(seeds), TOGETHER):
        ended += _run(specification, law, seeds[begin : begin + TOGETHER])
    return ended


def _run(specification: Specification, law: Law, seeds: Sequence[int]) -> list[EndedCampaign]:
    measure = specification.measure
    bounds = Bounds(measure.lower, measure.upper)
    rule, limit = specification.tester.stopping, specification.tester.max_tests
    question = Question(specification.gamma, specification.accuracy.c, bounds, (), limit)
    assert isinstance(rule, Anytime)
    campaigns = AnytimeBatch(question, len(seeds), rule)
    noise = [generator(seed, RandomStream.SUBJECT) for seed in seeds]
    place: NDArray[np.intp] = np.arange(len(seeds))
    psi: NDArray[np.float64] = np.empty((len(seeds), 0))
    ended: list[EndedCampaign | None] = [None] * len(seeds)
    assert law.many is not None
    while place.size:
        if campaigns.n == psi.shape[1]:
            more = np.empty((len(seeds), AT_ONCE))
            for row in place.tolist():
                more[row] = law.many(noise[row], AT_ONCE)
            psi = np.concatenate((psi, more), axis=1)
        campaigns.add(psi[place, campaigns.n])
        n, reached, void = campaigns.n, campaigns.reached, campaigns.void
        stop = reached | void if n < limit else np.ones(place.size, dtype=bool)
        if not stop.any():
            continue
        for at in np.flatnonzero(stop).tolist():
            total = Accumulator()
            for value in psi[place[at], :n].tolist():
                total.add(value)
            outcome = (
                Outcome.REACHED if reached[at] else Outcome.VOID if void[at] else Outcome.BUDGET
            )
            low, high = bounds.lower, bounds.upper
            if not void[at]:
                low, high = float(campaigns.lower[at]), float(campaigns.upper[at])
            estimate = (low + high) / 2.0 if rule.middle else total.mean
            ended[place[at]] = EndedCampaign(estimate, n, outcome, low, high)
        campaigns.keep(~stop)
        place = place[~stop]
    return [each for each in ended if each is not None]
