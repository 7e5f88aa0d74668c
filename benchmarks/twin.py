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

"""Tests to stop with a twin over those without one, and how often r* ever leaves the interval.

    .venv/bin/python benchmarks/twin.py [--campaigns 200] [--coverage 1500]

psi follows Beta(.47, sd .28); s, what the twin answers, has the same law and the correlation rho
(of normal scores). The case x is of one dimension and tells nothing. Equal seeds; c .05; ratios
are of mean tests, over `anytime` as it is without a twin. Coverage: campaigns of 250 tests in
which r* ever left the interval, with twins that are biased, noise, or of the wrong sign, and whose
relation to psi turns along the campaign, slowly or at once, as bets on it are largest.
"""

from __future__ import annotations

import argparse
import functools
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from repsq_ros.estimation.accumulator import Accumulator
from repsq_ros.estimation.anytime import Anytime, AnytimeBatch
from repsq_ros.estimation.betting import LowerSequence
from repsq_ros.estimation.control import CountedCase
from repsq_ros.estimation.stopping import Bounds, Question
from repsq_ros.estimation.twin_control import TwinAnytime
from repsq_ros.sampling.box import Box, Dimension
from repsq_ros.sampling.distributions import uniform
from repsq_ros.specification.twin_section import TwinChoice, TwinTable

Numbers = NDArray[np.float64]

MEAN, SD, C, SHARE = 0.47, 0.28, 0.05, 0.9
UNIT, TARGET = Bounds(0.0, 1.0), uniform(Box((Dimension('x', '1', 0.0, 1.0),)))
SETTINGS = ((0.04, 10_000), (0.02, 30_000))  # gamma, simulated tests
RHO = (0.9, 0.98, 0.0)
LONGEST = 4000
TURN = 40  # test at which a twin turns at once
TWINS: dict[str, Callable[[Numbers], Numbers]] = {  # rho after so many tests
    'biased': lambda n: 0.9 + 0.0 * n,
    'noise': lambda n: 0.0 * n,
    'sign turned': lambda n: -0.95 + 0.0 * n,
    'drifting': lambda n: np.clip(0.98 - n / 100.0, -0.98, 0.98),
    'turned at once': lambda n: np.where(n < TURN, 0.98, -0.98),
}


def beta_of(scores: Numbers) -> Numbers:
    """Return values of the Beta law of given normal scores."""
    size = MEAN * (1.0 - MEAN) / SD**2 - 1.0
    found: Numbers = special.betaincinv(MEAN * size, (1.0 - MEAN) * size, special.ndtr(scores))
    return found


class TwinCampaign:
    """A campaign of given correlations, test by test.

    :param rho: of psi and s, at each test
    :param bias: added to s, of the robot's cases and of the simulated ones
    """

    def __init__(
        self,
        seed: int,
        rho: Numbers,
        simulated: int,
        gamma: float,
        rule: Anytime,
        bias: float = 0.0,
    ) -> None:
        random = np.random.default_rng(seed)
        score, other = random.standard_normal((2, rho.size))
        self.psi = beta_of(score).tolist()
        s = np.minimum(beta_of(rho * score + np.sqrt(1.0 - rho * rho) * other) + bias, 1.0)
        self.x = [(x,) for x in random.random(rho.size).tolist()]
        many_x = [(x,) for x in random.random(simulated).tolist()]
        many = np.minimum(beta_of(random.standard_normal(simulated)) + bias, 1.0).tolist()
        of_robot = dict(zip(self.x, zip(s.tolist(), strict=True), strict=True))
        simulated = tuple(zip(many_x, zip(many, strict=True), strict=True))
        table = TwinTable('', '', of_robot, simulated)
        self.control = TwinChoice(table, '').make(TARGET, (0.0, 1.0), gamma, True)
        self.progress = TwinAnytime('a twin', rule, SHARE).begin(Question(gamma, C, UNIT))
        self.total = Accumulator()

    def count(self, n: int) -> None:
        """Count test n."""
        value = self.control.count(CountedCase(self.x[n], self.psi[n], 1.0, 1.0))
        self.total.add(value.value)
        self.progress.add_beside(self.total, self.psi[n], UNIT, value)


def tests_to_stop(rho: float, gamma: float, simulated: int, seed: int) -> tuple[int, bool]:
    """Return the tests of one campaign, and whether its value misses r* by more than gamma."""
    campaign = TwinCampaign(seed, np.full(LONGEST, rho), simulated, gamma, Anytime(middle=True))
    progress = campaign.progress
    for n in range(LONGEST):
        campaign.count(n)
        if progress.reached:
            break
    return n + 1, abs((progress.lower + progress.upper) / 2.0 - MEAN) > gamma


def tests_without(gamma: float, campaigns: int) -> float:
    """Return the mean tests to stop of `anytime`, on the same psi."""
    ends: list[int] = []
    batch = AnytimeBatch(Question(gamma, C, UNIT), campaigns, Anytime())
    scores = [np.random.default_rng(seed).standard_normal((2, LONGEST))[0]
              for seed in range(campaigns)]  # fmt: skip
    psi = beta_of(np.array(scores))
    while len(psi):
        batch.add(psi[:, batch.n].copy())
        stop = batch.reached
        ends += [batch.n] * int(stop.sum())
        batch.keep(~stop)
        psi = psi[~stop]
    return float(np.mean(ends))


def ever_missed(twin: str, tests: int, seed: int) -> bool:
    """Tell whether r* left the interval at any of the tests, with 2000 simulated ones."""
    gamma = 0.04
    bias = 0.3 if twin == 'biased' else 0.0
    rho = TWINS[twin](np.arange(float(tests)))
    campaign = TwinCampaign(seed, rho, 2000, gamma, Anytime(), bias)
    progress = campaign.progress
    # Both ends start at r*: they move where r* itself is refuted, and what is below need not be.
    shares = (1.0 - SHARE, SHARE)
    progress._above = LowerSequence(gamma, 2.0 / C, MEAN, shares=shares)
    progress._below = LowerSequence(gamma, 2.0 / C, -MEAN, shares=shares)
    for n in range(tests):
        campaign.count(n)
        if progress.void:  # an empty interval: one of them has moved
            return True
        progress.reached = False
    return False


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--campaigns', type=int, default=200, help='of each ratio; 0: none')
    parser.add_argument('--coverage', type=int, default=1500, help='runs of each twin; 0: none')
    parser.add_argument('--twins', nargs='+', choices=TWINS, default=TWINS, help='for coverage')
    parser.add_argument('--settings', type=int, default=len(SETTINGS), help='the first so many')
    parser.add_argument('--processes', type=int, help='default: one for each core')
    arguments = parser.parse_args()
    with ProcessPoolExecutor(arguments.processes) as executor:
        for gamma, simulated in SETTINGS[: arguments.settings] if arguments.campaigns else ():
            without = tests_without(gamma, arguments.campaigns)
            print(f'gamma {gamma:g}, {simulated} simulated tests; without: {without:.1f}')
            for rho in RHO:
                work = functools.partial(tests_to_stop, rho, gamma, simulated)
                found = np.array(list(executor.map(work, range(arguments.campaigns))))
                mean, missed = found.mean(axis=0)
                error = found[:, 0].std() / len(found) ** 0.5
                print(f'  rho {rho:4.2f}: {mean:.1f} +- {error:.1f} tests, '
                      f'{mean / without:.3f} of those without; missed {missed:.3f}',
                      flush=True)  # fmt: skip
        for twin in arguments.twins if arguments.coverage else ():
            runs = executor.map(functools.partial(ever_missed, twin, 250),
                                range(arguments.coverage), chunksize=20)  # fmt: skip
            missed = sum(runs)
            p = stats.binomtest(missed, arguments.coverage, C, 'greater').pvalue
            print(f'{twin:15s} ever missed {missed} of {arguments.coverage}, binomial p {p:.2f}',
                  flush=True)  # fmt: skip


if __name__ == '__main__':
    main()
