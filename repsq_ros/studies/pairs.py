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

"""Two campaigns with one seed made the same cases: their tests in pairs, case by case."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from repsq_ros.campaign.records import TestRecord
from repsq_ros.errors import ParameterError
from repsq_ros.estimation.difference import PairedDifference, Verdict
from repsq_ros.estimation.stopping import Bounds
from repsq_ros.specification.model import Specification

SHARED = ('target', 'protocol', 'measure')  # of the contract: what a difference speaks about


@dataclass(frozen=True)
class Pair:
    """One case, as both campaigns have it."""

    index: int
    least: float  # the lowest that w (psi^A - psi^B) can have been [unit of psi]
    most: float
    bounds: Bounds

    @property
    def whole(self) -> bool:
        """Tell whether nothing of it was lost."""
        return self.least == self.most


@dataclass(frozen=True)
class PairComparison:
    """What the pairs say."""

    pairs: int  # those included of which a part was lost
    lost: int
    mean: float
    lower: float
    upper: float
    verdict: Verdict
    decided_at: int  # pairs at which a verdict first stood; 0: none has
    broken: str


def check_comparable(a: Specification, b: Specification) -> None:
    """Refuse two campaigns that measured different things.

    :raises ParameterError: what differs
    """
    one, other = a.shared(), b.shared()
    for part in SHARED:
        if one[part] != other[part]:
            raise ParameterError(
                'campaigns',
                f'another {part} in {b.file} than in {a.file}',
                'the same target, protocol and measure',
            )


def pair_up(
    specification: Specification,
    a: Sequence[TestRecord],
    b: Sequence[TestRecord],
    assume_independent: bool = False,
) -> list[Pair]:
    """Return the cases that both campaigns are over with, in their order.

    Where an attempt was lost (INVALID, broken off), whoever lost it may, at worst, have known what
    it would give: then psi of that test counts as anything in its range, and so does a case that
    was skipped.

    :param assume_independent: lost tests are unrelated to the score: a test that took
        several counts as it was measured, and skipped cases are left out
    :raises ParameterError: the cases are not the same
    """
    psi = Bounds(specification.measure.lower, specification.measure.upper)
    sides = [_by_index(tests) for tests in (a, b)]
    count = min(max(side, default=-1) for side in sides) + 1
    largest = specification.make_proposal().largest_weight_bound
    pairs = []
    for index in range(count):
        found = [side.get(index, []) for side in sides]
        _check_cases(index, found)
        attempts = [test for tests in found for test in tests]
        if not attempts:
            continue
        weights = [test.weight for test in attempts if math.isfinite(test.weight)]
        bound = min(largest, max((test.weight_bound for test in attempts), default=largest))
        weight = weights[0] if weights else bound
        ranges = [_range(tests, psi, assume_independent) for tests in found]
        if any(each is None for each in ranges):
            if assume_independent:
                continue
            ranges = [each or psi for each in ranges]
        (low_a, high_a), (low_b, high_b) = [(r.lower, r.upper) for r in ranges if r is not None]
        pairs.append(
            Pair(
                index,
                weight * (low_a - high_b),
                weight * (high_a - low_b),
                Bounds(-bound * psi.width, bound * psi.width),
            )
        )
    return pairs


def _by_index(tests: Sequence[TestRecord]) -> dict[int, list[TestRecord]]:
    found: dict[int, list[TestRecord]] = {}
    for test in tests:
        found.setdefault(test.index, []).append(test)
    return found


def _check_cases(index: int, found: list[list[TestRecord]]) -> None:
    cases = [{(test.x, test.weight) for test in tests} for tests in found]
    if all(cases) and cases[0] != cases[1]:
        raise ParameterError(
            'campaigns',
            f'other cases from test {index} on',
            'the same ones: one tester.seed, and a proposal that does not learn from the tests',
        )


def _range(tests: Sequence[TestRecord], psi: Bounds, assume_independent: bool) -> Bounds | None:
    """Return the psi that a test can have had; None where it has none."""
    valid = [test for test in tests if test.valid and math.isfinite(test.psi)]
    if not valid:
        return None
    counted = valid[0]
    if not assume_independent and (counted.attempt > 0 or len(tests) > 1):
        return psi
    return Bounds(counted.psi, counted.psi)


def paired_difference(
    specification: Specification,
    a: Sequence[TestRecord],
    b: Sequence[TestRecord],
    c: float,
    margin: float = 0.0,
    assume_independent: bool = False,
) -> PairComparison | None:
    """Return the difference of two campaigns' means, case by case; None where they share none.

    :param specification: of A
    :param c: probability that the interval misses the difference
    :raises ParameterError: the cases are not the same
    """
    pairs = pair_up(specification, a, b, assume_independent)
    if not pairs:
        return None
    measure = specification.measure
    width = measure.upper - measure.lower
    width *= specification.make_proposal().largest_weight_bound
    aim = margin or specification.accuracy.gamma
    found = compare_pairs(pairs, Bounds(-width, width), aim, c, margin)
    possible = Bounds(measure.lower - measure.upper, measure.upper - measure.lower)
    return replace(found, lower=possible.clip(found.lower), upper=possible.clip(found.upper))


def compare_pairs(
    pairs: Sequence[Pair], whole: Bounds, aim: float, c: float, margin: float
) -> PairComparison:
    """Return interval and verdict, and when the verdict fell.

    :param whole: bounds of every difference [unit of psi]
    """
    sequence, decided_at = PairedDifference(whole, aim, c), 0
    for pair in pairs:
        sequence.add(pair.least, pair.most, pair.bounds)
        if not decided_at and sequence.verdict(margin) is not Verdict.OPEN:
            decided_at = sequence.n
    return PairComparison(
        len(pairs),
        sum(not pair.whole for pair in pairs),
        sequence.mean,
        sequence.lower,
        sequence.upper,
        sequence.verdict(margin),
        0 if sequence.broken else decided_at,
        sequence.broken,
    )
