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

"""The difference of two campaigns' means, by one bet on the differences of their tests.

With one seed both have the same cases, which are paired by case; else by order.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from repsq_ros.campaign.records import TestRecord
from repsq_ros.errors import ParameterError
from repsq_ros.estimation.difference import MeanDifference, Verdict
from repsq_ros.estimation.stopping import Bounds
from repsq_ros.estimation.weights import z_bounds
from repsq_ros.protocols.phases import Cause
from repsq_ros.specification.model import Specification
from repsq_ros.specification.twin_section import mean_and_spread

# Assumed spread of a pair's difference, for the first bet. In simulations with small spreads,
# the interval was 16 % narrower than with 1.
SPREAD = 0.5
SHARED = ('target', 'protocol', 'measure')  # parts of the contract that must match


@dataclass(frozen=True)
class CaseValue:
    """One case of a campaign, and the range of psi that it may have had."""

    index: int
    x: tuple[float, ...]
    weight: float  # NaN: not known
    weight_bound: float
    z_bounds: Bounds  # bounds of weight times psi, known before the case was drawn
    psi: Bounds | None  # None: the case gave no value, and is left out


@dataclass(frozen=True)
class Pair:
    """A case of A and a case of B: the same case if both campaigns drew the same cases."""

    index: int
    least: float  # lowest possible difference of their values [unit of psi]
    most: float
    bounds: Bounds

    @property
    def whole(self) -> bool:
        """True if none of its attempts was lost."""
        return self.least == self.most


@dataclass(frozen=True)
class PairComparison:
    """The result of comparing all pairs."""

    pairs: int  # with those of which a part was lost
    lost: int
    mean: float
    lower: float
    upper: float
    verdict: Verdict
    decided_at: int  # number of pairs at the first verdict; 0: no verdict
    broken: str
    same_cases: bool = True  # False: the i-th test of A with the i-th of B, each with its own case


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


# Values ------------------------------------------------------------------------------------------


def case_values(
    specification: Specification,
    tests: Sequence[TestRecord],
    widens: Callable[[Cause], bool] | None = None,
) -> list[CaseValue]:
    """Return the finished cases of a campaign, in their order.

    In the worst case, whoever lost an attempt knew its outcome: psi of that test may then be
    anything in its range, and so may that of a skipped case.

    :param widens: whether a loss by this cause counts so; default: as `accuracy.selection` says
    """
    widens = widens or specification.accuracy.widens
    measure = specification.measure
    whole = Bounds(measure.lower, measure.upper)
    proposal = specification.make_proposal()
    largest, unweighted = proposal.largest_weight_bound, proposal.unweighted
    found = []
    for index, attempts in itertools.groupby(tests, lambda test: test.index):
        of_case = list(attempts)
        weights = [test.weight for test in of_case if math.isfinite(test.weight)]
        bound = min(largest, max(test.weight_bound for test in of_case))
        found.append(
            CaseValue(
                index,
                of_case[0].x,
                weights[0] if weights else math.nan,
                bound,
                z_bounds(whole.lower, whole.upper, bound, unweighted),
                _psi(of_case, whole, widens),
            )
        )
    return found


def _psi(
    attempts: Sequence[TestRecord], whole: Bounds, widens: Callable[[Cause], bool]
) -> Bounds | None:
    """Return the range of psi of a case; None if the case is left out."""
    valid = next((t for t in attempts if t.valid and math.isfinite(t.psi)), None)
    losses = [test.loss or Cause.INSTRUMENT for test in attempts if test is not valid]
    if valid is not None and valid.attempt > len(losses):
        losses.append(Cause.INSTRUMENT)  # lost in an earlier session: the cause is unknown
    if any(map(widens, losses)):
        return whole
    return None if valid is None else Bounds(valid.psi, valid.psi)


def tests_of_twin(specification: Specification, tests: Sequence[TestRecord]) -> list[TestRecord]:
    """Return the tests of a campaign with the answers of its twin in place of psi.

    Several simulators count by their mean.

    :raises ParameterError: the specification has no twin
    :raises CampaignError: the twin has no answer to a case
    """
    twin = specification.twin
    if twin is None:
        raise ParameterError(
            'twin',
            f'no simulator in {specification.file}',
            'tester.control: {type: twin, file: ...}',
        )
    whole = Bounds(specification.measure.lower, specification.measure.upper)
    last_attempts = {test.index: test for test in tests}
    return [
        TestRecord(
            test.index,
            0,
            whole.clip(mean_and_spread(twin.answer(test.x))[0]),
            test.weight,
            True,
            x=test.x,
            weight_bound=test.weight_bound,
        )
        for test in last_attempts.values()
    ]


# Pairs -------------------------------------------------------------------------------------------


def pair_up(
    specification: Specification, a: Sequence[CaseValue], b: Sequence[CaseValue]
) -> list[Pair]:
    """Return the cases that both campaigns have finished, in their order.

    A case that one of them skipped without a record may have any psi.

    :raises ParameterError: the cases are not the same
    """
    measure = specification.measure
    whole = Bounds(measure.lower, measure.upper)
    sides = [{value.index: value for value in side} for side in (a, b)]
    count = min(max(side, default=-1) for side in sides) + 1
    pairs = []
    for index in range(count):
        found = [side[index] for side in sides if index in side]
        if not found:
            continue
        if len({(value.x, value.weight) for value in found if _known(value)}) > 1:
            raise ParameterError(
                'campaigns',
                f'other cases from test {index} on',
                'the same ones: one tester.seed, and a proposal that does not learn from the '
                'tests',
            )
        ranges = [value.psi for value in found] + [whole] * (2 - len(found))
        if index not in sides[0]:
            ranges.reverse()
        if ranges[0] is None or ranges[1] is None:
            continue
        bound = min(value.weight_bound for value in found)
        weight = next((value.weight for value in found if _known(value)), bound)
        pairs.append(
            Pair(
                index,
                weight * (ranges[0].lower - ranges[1].upper),
                weight * (ranges[0].upper - ranges[1].lower),
                Bounds(-bound * whole.width, bound * whole.width),
            )
        )
    return pairs


def _known(value: CaseValue) -> bool:
    return math.isfinite(value.weight)


def pair_in_order(a: Sequence[CaseValue], b: Sequence[CaseValue]) -> list[Pair]:
    """Return the i-th test of A with the i-th of B, whatever their cases.

    Extra tests of the longer campaign are left out. The campaigns may run one after the other or
    at the same time; neither may learn from the other.
    """
    sides = [[_weighted(value) for value in side if value.psi] for side in (a, b)]
    return [
        Pair(
            index,
            z_a.lower - z_b.upper,
            z_a.upper - z_b.lower,
            Bounds(bounds_a.lower - bounds_b.upper, bounds_a.upper - bounds_b.lower),
        )
        for index, ((z_a, bounds_a), (z_b, bounds_b)) in enumerate(zip(*sides, strict=False))
    ]


def _weighted(value: CaseValue) -> tuple[Bounds, Bounds]:
    """Return the range of z = w psi of a case, and its bounds known before the draw."""
    bounds, psi = value.z_bounds, value.psi
    if psi is None or not _known(value):
        return bounds, bounds
    return Bounds(value.weight * psi.lower, value.weight * psi.upper), bounds


# Comparison -----------------------------------------------------------------------------------


def difference(
    specification: Specification,
    a: Sequence[TestRecord],
    b: Sequence[TestRecord],
    c: float,
    margin: float = 0.0,
    assume_independent: bool = False,
    same_cases: bool | None = None,
    other: Specification | None = None,
) -> PairComparison | None:
    """Return the difference of two campaigns' means by one bet; None if no bet is possible.

    :param specification: of A
    :param other: of B, where its proposal differs
    :param c: probability that the interval misses the difference
    :param assume_independent: lost tests are unrelated to the score: a test that took several
        attempts counts as it was measured, and skipped cases are left out
    :param same_cases: pair them by case; None: if their cases are the same
    :raises ParameterError: the cases differ, but have to be the same
    """
    widens = (lambda cause: False) if assume_independent else None
    values = [
        case_values(its, tests, widens)
        for its, tests in ((specification, a), (other or specification, b))
    ]
    paired = same_cases is not False
    try:
        pairs = pair_up(specification, *values) if paired else pair_in_order(*values)
    except ParameterError:
        if same_cases:
            raise
        pairs, paired = pair_in_order(*values), False
    if not pairs or not all(math.isfinite(pair.bounds.width) for pair in pairs):
        return None
    measure = specification.measure
    possible = Bounds(measure.lower - measure.upper, measure.upper - measure.lower)
    whole = Bounds(
        min(possible.lower, *(pair.bounds.lower for pair in pairs)),
        max(possible.upper, *(pair.bounds.upper for pair in pairs)),
    )
    aim, spread = margin or specification.accuracy.gamma, 1.0 if paired else SPREAD
    found = compare_pairs(pairs, whole, aim, c, margin, spread)
    return replace(
        found,
        lower=possible.clip(found.lower),
        upper=possible.clip(found.upper),
        same_cases=paired,
    )


def compare_pairs(
    pairs: Sequence[Pair],
    whole: Bounds,
    aim: float,
    c: float,
    margin: float,
    spread: float = 1.0,
) -> PairComparison:
    """Return interval and verdict, and at which pair the verdict fell.

    :param whole: bounds of every difference [unit of psi]
    :param spread: see MeanDifference
    """
    sequence, decided_at = MeanDifference(whole, aim, c, spread), 0
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
