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

"""Tests to the stop if psi depends on the case: proposals, control variate, pairs."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from repsq_ros.estimation.accumulator import Accumulator
from repsq_ros.estimation.anytime import Anytime, AnytimeBatch
from repsq_ros.estimation.control import Control, CountedCase
from repsq_ros.estimation.difference import MeanDifference, Verdict
from repsq_ros.estimation.portfolio import ControlledAnytime, ControlledProgress
from repsq_ros.estimation.regression import RegressionControl
from repsq_ros.estimation.stopping import Bounds, Question
from repsq_ros.estimation.weights import z_bounds
from repsq_ros.sampling.adaptive import Adaptation, AdaptiveImportance
from repsq_ros.sampling.basis import LegendreBasis
from repsq_ros.sampling.box import Box, Dimension
from repsq_ros.sampling.distributions import uniform
from repsq_ros.sampling.proposals import MonteCarlo, Proposal
from repsq_ros.seeds import RandomStream, generator
from repsq_ros.studies.laws import STEEP_SCALE, Law, read_law

C = 0.05
UNIT = Bounds(0.0, 1.0)
TRUTH = 0.47  # r* of the steep laws, in three dimensions
BATCH = 10
CAP = 20_000  # number of tests at which a campaign counts as never stopped
GAINS = (1.15, 1.3)
CASES = tuple((power, gamma) for gamma in (0.04, 0.02) for power in (4.0, 5.0))
TARGET = uniform(Box(tuple(Dimension(name, '1', 0.0, 1.0) for name in 'xyz')))
STREAM_OFFSET = 100  # gives other random numbers than all scenarios of studies.rules

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class TestsToStop:
    """Mean number of tests, its standard error, and the share of wrong campaigns."""

    tests: float
    error: float
    missed: float


@dataclass(frozen=True)
class CaseRow:
    """Results of a steep law with gamma and c; always by `anytime`."""

    law: str
    gamma: float
    monte_carlo: TestsToStop
    adaptive: TestsToStop
    control: TestsToStop
    both: TestsToStop  # adaptive proposal and control variate


@dataclass(frozen=True)
class PairRow:
    """Two subjects, one with a larger gain of psi."""

    gain: float
    difference: float  # of their means [unit of psi]
    pairs: TestsToStop  # missed: the worse one was called better
    apart: TestsToStop  # tests of each of two campaigns with different cases, c / 2 each


def study_cases(place: int, runs: int, seed: int) -> CaseRow:
    """Run one law and gamma.

    :param place: index in CASES
    """
    power, gamma = CASES[place]
    text = f'steep:{power:g}'
    law, random = (
        read_law(text, 0.0, 1.0),
        generator(seed, RandomStream.STUDY, STREAM_OFFSET + place),
    )
    seeds = [int(each) for each in random.integers(2**31, size=(4, runs)).ravel()]
    found = []
    for way in range(4):
        ended = [
            _campaign(law, gamma, way % 2 == 1, way >= 2, seeds[way * runs + run])
            for run in range(runs)
        ]
        found.append(tests_to_stop(ended, gamma))
    return CaseRow(text, gamma, found[0], found[1], found[2], found[3])


def tests_to_stop(ended: list[tuple[int, float]], gamma: float) -> TestsToStop:
    """Return the summary of campaigns: tests and estimate of each."""
    return _taken(ended, lambda mean: abs(mean - TRUTH) > gamma)


def _taken(ended: list[tuple[int, float]], missed: object) -> TestsToStop:
    n = np.array([count for count, _ in ended], dtype=np.float64)
    assert callable(missed)
    share = float(np.mean([bool(missed(mean)) for _, mean in ended]))
    return TestsToStop(float(np.mean(n)), float(np.std(n)) / math.sqrt(len(n)), share)


def _campaign(
    law: Law, gamma: float, adaptive: bool, controlled: bool, seed: int
) -> tuple[int, float]:
    """Return tests and estimate of one campaign."""
    proposal: Proposal = MonteCarlo(TARGET)
    if adaptive:
        proposal = AdaptiveImportance(TARGET, Adaptation(batch=BATCH))
    if not controlled:
        return campaign_of_cases(law, gamma, proposal, seed)
    basis = LegendreBasis(TARGET, 2, False)
    control = RegressionControl(basis, UNIT, gamma, proposal.unweighted)
    return campaign_of_cases(
        law, gamma, proposal, seed, (ControlledAnytime('a regression'), control)
    )


def campaign_of_cases(
    law: Law,
    gamma: float,
    proposal: Proposal,
    seed: int,
    beside: tuple[ControlledAnytime, Control] | None = None,
) -> tuple[int, float]:
    """Return tests and estimate of one campaign on TARGET.

    :param beside: the rule and its control variate; None: `anytime` alone
    """
    unweighted = proposal.unweighted
    whole = z_bounds(0.0, 1.0, proposal.largest_weight_bound, unweighted)
    question, total = Question(gamma, C, whole), Accumulator()
    rule = Anytime() if beside is None else beside[0]
    noise, progress = generator(seed, RandomStream.SUBJECT), rule.begin(question)
    while not (progress.reached or progress.void or total.n >= CAP):
        draw = proposal.draw(total.n, seed)
        psi = law.draw(draw.x, noise)
        z, bounds = psi * draw.weight, z_bounds(0.0, 1.0, draw.weight_bound, unweighted)
        if beside is None:
            total.add(z)
            progress.add(total, z, bounds)
        else:
            found = beside[1].count(CountedCase(draw.x, psi, draw.weight, draw.weight_bound))
            total.add(found.value)
            assert isinstance(progress, ControlledProgress)
            progress.add_beside(total, z, bounds, found)
        proposal.tell(draw.x, psi, draw.weight)
    return total.n, total.mean


def study_pairs(place: int, runs: int, seed: int) -> PairRow:
    """Compare two subjects on the steep law of power 4.

    :param place: index in GAINS
    """
    gain, whole = GAINS[place], Bounds(-1.0, 1.0)
    random = generator(seed, RandomStream.STUDY, STREAM_OFFSET + len(CASES) + place)
    u = random.random((200_000, 3))
    difference = float(np.mean(steep(u, gain, random) - steep(u, 1.0, random)))
    ended = []
    for _ in range(runs):
        sequence = MeanDifference(whole, 0.04, C)
        while sequence.verdict() is Verdict.OPEN and sequence.n < CAP:
            u = random.random((50, 3))
            for d in (steep(u, gain, random) - steep(u, 1.0, random)).tolist():
                sequence.add(d, d, whole)
                if sequence.verdict() is not Verdict.OPEN:
                    break
        ended.append((sequence.n, float(sequence.verdict() is Verdict.A_LOWER)))
    pairs = _taken(ended, bool)
    return PairRow(gain, difference, pairs, _apart(gain, difference, runs, random))


def _apart(gain: float, difference: float, runs: int, random: np.random.Generator) -> TestsToStop:
    """Run two campaigns with different cases until their intervals are disjoint."""
    subjects = AnytimeBatch(Question(difference / 2.0, C / 2.0, UNIT), 2 * runs)
    gains, ended = np.tile([gain, 1.0], runs), []
    while gains.size and subjects.n < CAP:
        subjects.add(steep(random.random((gains.size, 3)), gains, random))
        a_higher = subjects.lower[::2] > subjects.upper[1::2]
        b_higher = subjects.lower[1::2] > subjects.upper[::2]
        stop = a_higher | b_higher
        if stop.any():
            ended += [(subjects.n, float(wrong)) for wrong in b_higher[stop]]
            keep = np.repeat(~stop, 2)
            subjects.keep(keep)
            gains = gains[keep]
    ended += [(subjects.n, 0.0)] * (gains.size // 2)
    return _taken(ended, bool)


def steep(u: Numbers, gain: float | Numbers, random: np.random.Generator) -> Numbers:
    """Return psi of the steep law of power 4 (laws.py) with a gain and independent noise."""
    noise = np.exp(random.normal(-0.03125, 0.25, len(u)))
    reach = np.sum(np.abs(2.0 * u - 1.0) ** 4, axis=1)
    psi: Numbers = 1.0 - np.exp(-STEEP_SCALE[4.0] * 5.0 / 3.0 * gain * reach * noise)
    return psi
