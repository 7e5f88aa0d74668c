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

"""Tests to the stop and agreement of two labs, rule by rule, on laws with known means."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from repsq_ros.estimation.accumulator import Accumulator
from repsq_ros.estimation.alpha import anchored_c, paper_alpha
from repsq_ros.estimation.anytime import AnytimeBatch
from repsq_ros.estimation.certified_cell import CertifiedCell
from repsq_ros.estimation.moments import EmpiricalBernstein, first_stops
from repsq_ros.estimation.partition import Partition
from repsq_ros.estimation.stopping import Bounds, Question
from repsq_ros.seeds import RandomStream, generator
from repsq_ros.studies.laws import Law, read_law
from repsq_ros.studies.many import TOGETHER

C, BETA = 0.05, 0.1
CAP = 12_000  # number of tests at which a run counts as never stopped


@dataclass(frozen=True)
class Scenario:
    """A law of psi with the requested accuracy."""

    name: str
    law: str
    upper: float  # upper end of the range of z: [0, R]
    gamma: float


SCENARIOS = (
    Scenario('manipulator', 'beta:1.5,0.124', 6.0, 0.1),
    Scenario('locomotion, sd .28, R 1', 'beta:0.47,0.28', 1.0, 0.04),
    Scenario('locomotion, sd .28, R .7', 'beta:0.35,0.28', 0.7, 0.04),
    Scenario('locomotion, sd .204, R .7', 'beta:0.39,0.204', 0.7, 0.04),
    Scenario('locomotion, sd .077, R .7', 'beta:0.39,0.077', 0.7, 0.04),
    Scenario('Bernoulli .5', 'bernoulli:0.5', 1.0, 0.04),
    Scenario('Bernoulli .02', 'bernoulli:0.02', 1.0, 0.01),
)


@dataclass(frozen=True)
class Row:
    """Results of a scenario; a pair is a mean with its standard error."""

    scenario: Scenario
    paper_tests: tuple[float, float]
    anytime_tests: tuple[float, float]
    paper_same: float  # share of pairs with the same value, over random offsets
    anytime_same: float
    paper_missed: float  # share of runs with |r_n - r*| > gamma
    anytime_missed: float
    anchored_tests: tuple[float, float]  # with the paper's total accuracy of the published value
    # share of replicators equal to the initiator and within that total
    anchored_same_and_close: float
    certified_median: float  # number of tests; cells of the same total accuracy, random offsets
    certified_wrong: float  # share of runs whose cell does not contain r*
    certified_unresolved: float


def study_scenario(place: int, runs: int, seed: int) -> Row:
    """Run one scenario: `runs` campaigns, in pairs of two labs.

    :param place: index in SCENARIOS
    """
    scenario = SCENARIOS[place]
    law = read_law(scenario.law, 0.0, scenario.upper)
    truth = law.mean
    if truth is None:
        raise ValueError(f'{scenario.law} has no known mean')
    gamma, bounds = scenario.gamma, Bounds(0.0, scenario.upper)
    alpha = paper_alpha(gamma, C, BETA)
    total = gamma + alpha / 2.0
    random = generator(seed, RandomStream.STUDY, place)
    offsets = alpha * (1.0 - random.random(runs // 2))
    partitions = [Partition.almost_uniform(0.0, scenario.upper, alpha, o) for o in offsets]

    paper_n, paper_r = _paper(law, scenario, runs, random)
    any_n, any_r = _sequential(law, Question(gamma, C, bounds), runs, random)
    joint = Question(total, anchored_c(BETA), bounds)
    anchored_n, anchored_r = _sequential(law, joint, runs, random)
    first, second = anchored_r[::2], anchored_r[1::2]
    both = (np.abs(first - second) <= 2.0 * total) & (np.abs(first - truth) <= total)
    counts, wrong, unresolved = _certified(law, scenario, total, truth, runs // 2, random)
    return Row(
        scenario,
        _mean(paper_n),
        _mean(any_n),
        _same(partitions, paper_r),
        _same(partitions, any_r),
        float(np.mean(np.abs(paper_r - truth) > gamma)),
        float(np.mean(np.abs(any_r - truth) > gamma)),
        _mean(anchored_n),
        float(np.mean(both)),
        float(np.median(counts)),
        wrong,
        unresolved,
    )


def _mean(n: NDArray[np.float64]) -> tuple[float, float]:
    return float(np.mean(n)), float(np.std(n) / math.sqrt(len(n)))


def _same(partitions: list[Partition], estimates: NDArray[np.float64]) -> float:
    pairs = zip(partitions, estimates[::2].tolist(), estimates[1::2].tolist(), strict=True)
    return float(np.mean([p.quantize(a).cell == p.quantize(b).cell for p, a, b in pairs]))


def _values(law: Law, random: np.random.Generator, count: int) -> NDArray[np.float64]:
    if law.many is None:
        raise ValueError(f'{law.text} depends on the case')
    return law.many(random, count)


def _paper(
    law: Law, scenario: Scenario, runs: int, random: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    counts, means = [], []
    for _ in range(0, runs, 100):
        z = np.stack([_values(law, random, CAP // 2) for _ in range(100)])
        n, mean = first_stops(z, EmpiricalBernstein(), scenario.gamma, scenario.upper, C)
        counts.append(n.astype(np.float64))
        means.append(mean)
    return np.concatenate(counts)[:runs], np.concatenate(means)[:runs]


def _sequential(
    law: Law, question: Question, runs: int, random: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return tests and means of campaigns by `anytime`, simulated together."""
    counts, means = np.zeros(runs), np.zeros(runs)
    for begin in range(0, runs, TOGETHER):
        place: NDArray[np.intp] = np.arange(begin, min(begin + TOGETHER, runs))
        campaigns = AnytimeBatch(question, place.size)
        while place.size:
            campaigns.add(_values(law, random, place.size))
            stop = campaigns.reached | campaigns.void | (campaigns.n >= CAP)
            if stop.any():
                counts[place[stop]], means[place[stop]] = campaigns.n, campaigns.mean[stop]
                campaigns.keep(~stop)
                place = place[~stop]
    return counts, means


def _certified(
    law: Law,
    scenario: Scenario,
    total: float,
    truth: float,
    runs: int,
    random: np.random.Generator,
) -> tuple[NDArray[np.float64], float, float]:
    alpha, bounds = 2.0 * total, Bounds(0.0, scenario.upper)
    counts, wrong, unresolved = np.zeros(runs), 0, 0
    for run in range(runs):
        offset = alpha * (1.0 - random.random())
        edges = Partition.almost_uniform(0.0, scenario.upper, alpha, min(offset, alpha)).edges
        progress = CertifiedCell().begin(Question(total, C, bounds, edges))
        seen = Accumulator()
        while not (progress.reached or progress.void) and seen.n < CAP:
            for z in _values(law, random, 100).tolist():
                seen.add(z)
                progress.add(seen, z, bounds)
                if progress.reached or progress.void:
                    break
        counts[run] = seen.n
        if not progress.reached:
            unresolved += 1
        elif not progress.lower <= truth <= progress.upper:
            wrong += 1
    return counts, wrong / runs, unresolved / runs
