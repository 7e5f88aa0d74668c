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

"""Statistics of pairs of simulated campaigns, with confidence intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from repsq_ros.estimation.proportions import clopper_pearson
from repsq_ros.estimation.stopping import Outcome
from repsq_ros.studies.repeated_campaigns import Run

MISS = 0.05  # probability, at most, that an interval misses its share


@dataclass(frozen=True)
class Share:
    """A count out of a total, with its exact 95 % interval (Clopper & Pearson)."""

    count: int
    of: int

    @property
    def value(self) -> float:
        """Return the share; nan if the total is 0."""
        return self.count / self.of if self.of else float('nan')

    @property
    def interval(self) -> tuple[float, float]:
        """Return the interval."""
        return clopper_pearson(self.count, self.of, MISS / 2, MISS / 2)

    def __str__(self) -> str:
        """Return it as text."""
        if not self.of:
            return 'none'
        low, high = self.interval
        return f'{self.value:.4f} ({self.count} of {self.of}; 95 %: {low:.4f} to {high:.4f})'


@dataclass(frozen=True)
class Summary:
    """Statistics of the pairs."""

    pairs: int
    agreement: Share  # pairs with the same value, of those in which both met their rule
    coverage: Share  # campaigns whose claim about r* is true, of those that met their rule
    truth: float  # r*
    truth_error: float  # its standard error; 0: r* is known
    tests: tuple[float, float, float]  # mean, median, 95 % quantile
    tests_error: float  # standard error of the mean
    outcomes: dict[str, int]


def summarize(
    runs: Sequence[tuple[Run, Run]],
    gammas: tuple[float, float],
    truth: float | None,
    by_cell: bool = False,
) -> Summary:
    """Return the statistics of the pairs.

    :param gammas: of initiator and replicator
    :param truth: r*; None: use the mean of all estimates
    :param by_cell: the claim is that the cell contains r*; else that |r_n - r*| <= gamma
    """
    flat = [run for pair in runs for run in pair]
    estimates = np.array([run.estimate for run in flat])
    tests = np.array([run.n for run in flat])
    known = float(np.mean(estimates)) if truth is None else truth
    reached = Outcome.REACHED.value
    both = [(a, b) for a, b in runs if a.outcome == b.outcome == reached]
    held = [
        run.cell_lower <= known <= run.cell_upper
        if by_cell
        else abs(run.estimate - known) <= gamma
        for pair in runs
        for run, gamma in zip(pair, gammas, strict=True)
        if run.outcome == reached
    ]
    names = [run.outcome for run in flat]
    return Summary(
        pairs=len(runs),
        agreement=Share(sum(a.value == b.value for a, b in both), len(both)),
        coverage=Share(sum(held), len(held)),
        truth=known,
        truth_error=float(np.std(estimates) / np.sqrt(len(flat))) if truth is None else 0.0,
        tests=(float(np.mean(tests)), float(np.median(tests)), float(np.quantile(tests, 0.95))),
        tests_error=float(np.std(tests) / np.sqrt(len(flat))),
        outcomes={name: names.count(name) for name in sorted(set(names))},
    )
