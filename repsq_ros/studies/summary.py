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

"""What pairs of simulated campaigns show, with the intervals that so many of them allow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from repsq_ros.estimation.proportions import clopper_pearson
from repsq_ros.estimation.stopping import Outcome
from repsq_ros.studies.repeated_campaigns import Run

MISS = 0.05  # an interval misses its share with this probability at most


@dataclass(frozen=True)
class Share:
    """How many of how many, with an exact interval (Clopper & Pearson) of 95 %."""

    count: int
    of: int

    @property
    def value(self) -> float:
        """Return the share; nan of none."""
        return self.count / self.of if self.of else float('nan')

    @property
    def interval(self) -> tuple[float, float]:
        """Return the interval."""
        return clopper_pearson(self.count, self.of, MISS / 2, MISS / 2)

    def __str__(self) -> str:
        """Say it in a line."""
        if not self.of:
            return 'none to tell of'
        low, high = self.interval
        return f'{self.value:.4f} ({self.count} of {self.of}; 95 %: {low:.4f} to {high:.4f})'


@dataclass(frozen=True)
class Summary:
    """What the pairs show."""

    pairs: int
    agreement: Share  # pairs with the same value, of those that both met their rule
    coverage: Share  # campaigns that hold r* as their rule has it, of those that met it
    truth: float  # r*
    truth_error: float  # its standard error; 0 where r* is known
    tests: tuple[float, float, float]  # mean, median, 95 % point
    tests_error: float  # standard error of the mean
    outcomes: dict[str, int]


def summarize(
    runs: Sequence[tuple[Run, Run]],
    gammas: tuple[float, float],
    truth: float | None,
    by_cell: bool = False,
) -> Summary:
    """Return what the pairs show.

    :param gammas: of initiator and replicator
    :param truth: r*; None: the mean of all estimates is taken for it
    :param by_cell: a campaign holds r* where its cell does; else where |r_n - r*| <= gamma
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
