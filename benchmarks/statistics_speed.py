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

"""How fast the statistics are, against PyPI's `ville` and a plain loop; and how exact.

    .venv/bin/python benchmarks/statistics_speed.py [--repetitions 5]

Everything is measured in the same run, the two of a pair by turns, and the median of the ratios is
printed with what is wanted of it. Exits with 1 where something wanted is missed.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from repsq_ros.campaign.campaign import Campaign
from repsq_ros.campaign.records import TestRecord
from repsq_ros.estimation.accumulator import Accumulator
from repsq_ros.estimation.anytime import Anytime
from repsq_ros.estimation.candidates import Stakes
from repsq_ros.estimation.certified_cell import CertifiedCell
from repsq_ros.estimation.first_of import FirstOf
from repsq_ros.estimation.moments import EmpiricalBernstein, FixedN, Hoeffding, first_stops
from repsq_ros.estimation.stopping import Bounds, Question, StoppingRule
from repsq_ros.specification.control_section import ControlChoice, controlled
from repsq_ros.specification.load import load
from repsq_ros.specification.model import Specification
from repsq_ros.studies.expected_promise import altered
from repsq_ros.studies.laws import read_law
from repsq_ros.studies.simulated_twins import LawTwin

C = 0.05
UNIT = Bounds(0.0, 1.0)
RUNS, TESTS = 200, 700
FIRST, ROOT = 100, Path(__file__).resolve().parents[1]
SIMULATED = 10_000  # tests of the twin
STAKES = {Stakes.EACH: ', stakes: each', Stakes.TARGET: ', stakes: target'}
RULES = (
    *(Anytime(stakes=stakes) for stakes in Stakes),
    CertifiedCell(),
    FirstOf((Anytime(), EmpiricalBernstein())),
    FixedN(2 * FIRST, betting=True),
    EmpiricalBernstein(),
    Hoeffding(),
)
Z_RANGE, GAMMA = 1.0, 0.043  # so that uniform values take about 680 tests


def seconds(work: Callable[[], object]) -> float:
    """Return how long a piece of work takes [s]."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def median_ratio(
    ours: Callable[[], object], other: Callable[[], object], repetitions: int
) -> float:
    """Return the median of other / ours, measured by turns."""
    ratios = []
    for _ in range(repetitions):
        first = seconds(ours)
        ratios.append(seconds(other) / first)
    return float(np.median(ratios))


def follow(rule: StoppingRule, gamma: float, z: list[float]) -> None:
    """Count values one by one under a rule; none of them may be the last."""
    progress, total = rule.begin(Question(gamma, C, UNIT)), Accumulator()
    for value in z:
        total.add(value)
        progress.add(total, value, UNIT)
    if progress.reached:
        raise SystemExit(f'{rule.name} stopped before the end: nothing to be measured')


def follow_ville(sequence: Callable[..., Any], z: list[float]) -> None:
    """Count values one by one in a confidence sequence of ville."""
    confidence = sequence(bounds=(0.0, 1.0), alpha=C)
    for value in z:
        confidence.update([value])


def loop_stops(z: NDArray[np.float64], rule: EmpiricalBernstein) -> list[int]:
    """Return n of each run by a plain loop, 0 where it does not stop."""
    stops = []
    for row in z.tolist():
        total, n = Accumulator(), 0
        for value in row:
            total.add(value)
            if rule.half_width(total.n, total.variance, Z_RANGE, C) <= GAMMA:
                n = total.n
                break
        stops.append(n)
    return stops


def largest_error() -> float:
    """Return the relative error of mean and variance on 10^5 values far from zero."""
    z = (1000.0 + np.random.default_rng(3).random(100_000)).tolist()
    total = Accumulator()
    for value in z:
        total.add(value)
    mean = math.fsum(z) / len(z)
    variance = math.fsum((value - mean) ** 2 for value in z) / len(z)
    return max(abs(total.mean / mean - 1.0), abs(total.variance / variance - 1.0))


def milliseconds_of_an_update(
    specification: Specification, rho: float | None, repetitions: int
) -> float:
    """Return the processor time of counting one of the first tests of a campaign [ms].

    :param rho: correlation of psi with the answers of a twin; None: no twin
    """
    taken = []
    for seed in range(repetitions + 1):
        random, its = np.random.default_rng(seed), specification
        psi = random.beta(1.02, 1.15, FIRST).tolist()
        cases = [its.target.sample(random) for _ in psi]
        if rho is not None:
            twin = LawTwin(its, read_law('beta:.47,.28', 0.0, 1.0), rho, SIMULATED, seed)
            its = twin.specification
            for x, each in zip(cases, psi, strict=True):
                twin.answer(x, each)
        campaign = Campaign(its)
        began = time.process_time()
        for index, (x, each) in enumerate(zip(cases, psi, strict=True)):
            campaign.add(TestRecord(index, 0, each, 1.0, True, x=x))
        taken.append(1000.0 * (time.process_time() - began) / FIRST)
    return float(np.median(taken[1:]))  # the first one imports


def updates(repetitions: int) -> dict[str, float]:
    """Return the time of an update by stopping rule and control variate [ms]."""
    specification, found = load(ROOT / 'config' / 'paper' / 'g1_locomotion.yaml'), {}
    for rule in RULES:
        found[rule.name + STAKES.get(getattr(rule, 'stakes', None), '')] = (
            milliseconds_of_an_update(altered(specification, rule), None, repetitions)
        )
    specification = altered(specification, Anytime())
    tester, choice = specification.tester, ControlChoice()
    controlled_tester = replace(tester, control=choice, stopping=controlled(Anytime(), choice))
    beside = replace(specification, tester=controlled_tester)
    found['anytime, control: regression'] = milliseconds_of_an_update(beside, None, repetitions)
    found['anytime, control: twin'] = milliseconds_of_an_update(specification, 0.9, repetitions)
    return found


def main() -> None:
    """Measure, print, and tell by the exit code whether everything wanted is there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--repetitions', type=int, default=5, help='of each measurement')
    repetitions = parser.parse_args().repetitions
    try:
        import ville
    except ImportError:
        sys.stderr.write('ville is not installed, expected: pip install ville --no-deps\n')
        sys.exit(5)
    generator = np.random.default_rng(1)
    z = generator.random(1000).tolist()
    printed = EmpiricalBernstein()
    runs = generator.random((RUNS, TESTS))
    bernstein = median_ratio(
        lambda: follow(printed, 0.02, z),
        lambda: follow_ville(ville.EmpiricalBernsteinCS, z),
        repetitions,
    )
    betting = median_ratio(
        lambda: follow(Anytime(), 0.02, z),
        lambda: follow_ville(ville.BettingCS, z),
        repetitions,
    )
    batch = median_ratio(
        lambda: first_stops(runs, printed, GAMMA, Z_RANGE, C),
        lambda: loop_stops(runs, printed),
        repetitions,
    )
    same = first_stops(runs, printed, GAMMA, Z_RANGE, C)[0].tolist() == loop_stops(runs, printed)
    error = largest_error()
    results = [
        (f'empirical Bernstein update   {bernstein:7.1f} x as fast as that of ville (20)',
         bernstein >= 20),
        (f'anytime update, n <= 1000    {betting:7.1f} x as fast as the betting of ville (2)',
         betting >= 2),
        (f'{RUNS} campaigns of {TESTS} tests {batch:8.1f} x as fast as a plain loop (50)',
         batch >= 50),
        (f'their n {"are" if same else "are NOT"} those of the plain loop', same),
        *(
            (f'tests of a campaign {update:6.2f} ms of processor time each (2): {name}',
             update <= 2.0)
            for name, update in updates(repetitions).items()
        ),
        (f'mean and variance            {error:7.1e} from math.fsum, relative (1e-10)',
         error <= 1e-10),
    ]  # fmt: skip
    for text, reached in results:
        print(text if reached else f'{text}  MISSED')
    sys.exit(0 if all(reached for _, reached in results) else 1)


if __name__ == '__main__':
    main()
