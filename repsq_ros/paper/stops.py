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

"""Where campaigns stop on given values: all rules use the same data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from repsq_ros.estimation.accumulator import Accumulator
from repsq_ros.estimation.alpha import paper_alpha
from repsq_ros.estimation.anytime import AnytimeBatch
from repsq_ros.estimation.certified_cell import CertifiedCell
from repsq_ros.estimation.moments import MomentRule, first_stops
from repsq_ros.estimation.partition import Partition
from repsq_ros.estimation.stopping import Bounds, Question
from repsq_ros.specification.accuracy_section import RequiredAccuracy

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class StoppedCampaigns:
    """The ends of campaigns, one entry for each, in order."""

    n: NDArray[np.int64]
    mean: Numbers
    reached: NDArray[np.bool_]  # the rule was met; False: no values left
    decided: Numbers  # value to quantize: the mean, or the middle of the certified cell

    @staticmethod
    def together(parts: Sequence[StoppedCampaigns]) -> StoppedCampaigns:
        """Concatenate campaigns."""
        columns = ('n', 'mean', 'reached', 'decided')
        return StoppedCampaigns(
            *(np.concatenate([getattr(part, name) for part in parts]) for name in columns)
        )

    @staticmethod
    def of_rules(parts: Sequence[Mapping[str, StoppedCampaigns]]) -> dict[str, StoppedCampaigns]:
        """Concatenate the campaigns of each rule."""
        return {
            rule: StoppedCampaigns.together([part[rule] for part in parts]) for rule in parts[0]
        }

    def values(self, partition: Partition) -> list[float]:
        """Return the quantized value of each campaign on shared cells."""
        return [partition.quantize(each).value for each in self.decided.tolist()]

    def same(self, partition: Partition) -> tuple[int, int]:
        """Return in how many pairs (first and second, third and fourth, ...) the values agree.

        Only pairs in which both met their rule count: (number that agree, number of pairs).
        """
        values = self.values(partition)
        both = [
            a == b
            for a, b, met in zip(
                values[::2], values[1::2], self.reached[::2] & self.reached[1::2], strict=True
            )
            if met
        ]
        return sum(both), len(both)

    def same_as_initiator(self, lower: float, upper: float, half_width: float) -> tuple[int, int]:
        """Return the same for cells that the first of a pair places around its estimate."""
        met = (self.reached[::2] & self.reached[1::2]).tolist()
        agree = 0
        pairs = zip(self.mean[::2].tolist(), self.mean[1::2].tolist(), met, strict=True)
        for first, second, both in pairs:
            if both:
                cells = Partition.anchored(lower, upper, first, half_width)
                agree += cells.quantize(second).value == cells.quantize(first).value
        return agree, sum(met)


@dataclass(frozen=True)
class AskedOnRange:
    """The requested accuracy for a psi between 0 and an upper end."""

    upper: float  # [unit of psi]
    accuracy: RequiredAccuracy

    @property
    def cells(self) -> Partition:
        """Return the paper's partition, which starts at 0."""
        asked = self.accuracy
        alpha = paper_alpha(asked.gamma, asked.c, asked.beta)
        return Partition.almost_uniform(0.0, self.upper, alpha)

    @property
    def question(self) -> Question:
        """Return the question for the rules."""
        asked = self.accuracy
        return Question(asked.gamma, asked.c, Bounds(0.0, self.upper), self.cells.edges)


def moment_stops(z: Numbers, rule: MomentRule, question: Question) -> StoppedCampaigns:
    """Run a rule that follows from moments; z of shape (campaigns, tests)."""
    n, mean = first_stops(z, rule, question.gamma, question.bounds.width, question.c)
    reached = n > 0
    return StoppedCampaigns(np.where(reached, n, z.shape[1]), mean, reached, mean)


def fixed_stops(z: Numbers, tests: int) -> StoppedCampaigns:
    """Stop each campaign after a fixed number of tests."""
    mean: Numbers = z[:, :tests].mean(axis=1)
    n = np.full(len(z), tests, dtype=np.int64)
    return StoppedCampaigns(n, mean, np.ones(len(z), dtype=np.bool_), mean)


def anytime_stops(z: Numbers, question: Question) -> StoppedCampaigns:
    """Run `anytime` on all campaigns; an empty interval does not meet the rule."""
    runs, tests = z.shape
    n, mean = np.full(runs, tests, dtype=np.int64), np.zeros(runs)
    met, place = np.zeros(runs, dtype=np.bool_), np.flatnonzero(np.ones(runs))
    campaigns = AnytimeBatch(question, runs)
    while place.size:
        campaigns.add(z[place, campaigns.n])
        stop = campaigns.reached | campaigns.void
        if campaigns.n == tests:
            stop = np.ones(place.size, dtype=np.bool_)
        if stop.any():
            n[place[stop]], mean[place[stop]] = campaigns.n, campaigns.mean[stop]
            met[place[stop]] = campaigns.reached[stop]
            campaigns.keep(~stop)
            place = place[~stop]
    return StoppedCampaigns(n, mean, met, mean)


def cell_stops(z: Numbers, question: Question) -> StoppedCampaigns:
    """Run `certified_cell`."""
    ended = [_certified(row, question) for row in z]
    n, mean, met, middle = zip(*ended, strict=True)
    return StoppedCampaigns(np.array(n), np.array(mean), np.array(met), np.array(middle))


def _certified(z: Numbers, question: Question) -> tuple[int, float, bool, float]:
    progress, total = CertifiedCell().begin(question), Accumulator()
    for value in z.tolist():
        total.add(value)
        progress.add(total, value, question.bounds)
        if progress.reached or progress.void:
            break
    middle = (progress.lower + progress.upper) / 2.0 if progress.reached else total.mean
    return total.n, total.mean, progress.reached, middle
