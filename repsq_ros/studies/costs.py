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

"""The cost of a campaign, by rule and partition, before the robot moves."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from repsq_ros.estimation.alpha import (
    ALPHA_RULES,
    AlphaRule,
    agreement_exists,
    anchored_c,
)
from repsq_ros.estimation.anytime import Anytime
from repsq_ros.estimation.binomial import Binomial, tests_for
from repsq_ros.estimation.certified_cell import CertifiedCell
from repsq_ros.estimation.forecast import expected_tests
from repsq_ros.estimation.moments import EmpiricalBernstein, Hoeffding
from repsq_ros.estimation.portfolio import ControlledAnytime
from repsq_ros.estimation.stopping import Bounds, Question, StoppingRule
from repsq_ros.measurement.indicator import Indicator
from repsq_ros.specification.model import Specification
from repsq_ros.specification.partition_section import PartitionChoice, PartitionType
from repsq_ros.studies.counts import Count, count_tests
from repsq_ros.studies.expected_promise import ExpectedPromise, altered, expected_promise
from repsq_ros.studies.spread import Spread, starting_bounds
from repsq_ros.timebase import to_seconds

Known = tuple[Spread, Bounds]  # of z, or of v

OFFSETS = 40  # places of r* in its cell, for the average of a certified cell
SHARE_OF_BETA = 0.1  # largest share of beta for c, with a random offset


@dataclass(frozen=True)
class Budget:
    """Conversion of tests into hours."""

    test_seconds: float
    battery_minutes: float | None = None
    change_minutes: float = 0.0

    def battery_changes(self, tests: int) -> int:
        """Return the number of battery changes; 0: unlimited battery."""
        if self.battery_minutes is None or tests == 0:
            return 0
        each = math.floor(self.battery_minutes * 60.0 / self.test_seconds)
        return math.ceil(tests / max(each, 1)) - 1

    def hours(self, tests: int) -> float:
        """Return the robot hours, with battery changes."""
        seconds = tests * self.test_seconds
        return (seconds + self.battery_changes(tests) * self.change_minutes * 60.0) / 3600.0


@dataclass(frozen=True)
class Offer:
    """One option to run the campaign."""

    partition: str
    rule: str
    gamma: float  # the rule's gamma; nan: it has none
    c: float
    alpha: float
    count: Count
    promise: ExpectedPromise  # the expected sentences of its result
    p_same: float  # plug-in for two runs of this size, averaged over r* in its cell

    @property
    def tests(self) -> int:
        """Return the expected number of tests; 0: too many to be computed."""
        return self.count.mean

    @property
    def accurate(self) -> bool:
        """Tell whether the requested accuracy of the published value is promised."""
        return self.promise.accurate

    @property
    def agreed(self) -> bool:
        """Tell whether agreement of two labs with 1 - beta is promised."""
        return self.promise.agreed

    @property
    def guarantees(self) -> bool:
        """Tell whether everything requested is promised."""
        return self.accurate and self.agreed


def asked_for(specification: Specification) -> float:
    """Return the largest allowed distance of a published value from r*.

    gamma + alpha/2; gamma for an anchored initiator, whose value is its estimate.
    """
    gamma, cells = specification.gamma, specification.cells
    return gamma if cells.partition is None else gamma + cells.half_width


def offers(
    specification: Specification,
    spread: Spread,
    bounds: Bounds | None = None,
    controlled: Known | None = None,
) -> list[Offer]:
    """Return all options with their cost, the cheapest first; those without an end are last.

    :param spread: of z under the tester's proposal
    :param bounds: of z; default: those of the campaign's first proposal
    :param controlled: v of the tester's control variate, from a pilot
    """
    known = spread, bounds or starting_bounds(specification)
    found = list(_offers(specification, known, controlled))
    return sorted(found, key=lambda offer: (offer.tests == 0, offer.tests))


def cheapest(found: list[Offer]) -> Offer | None:
    """Return the cheapest option that promises everything requested."""
    return next((offer for offer in found if offer.guarantees and offer.tests), None)


def question_of(specification: Specification, bounds: Bounds, aim: float, c: float) -> Question:
    """Return the question to a rule, with gamma reduced by the truncation bias."""
    return Question(aim - specification.tester.proposal.truncation_bias, c, bounds)


def count_of(
    specification: Specification,
    rule: StoppingRule,
    aim: float,
    c: float,
    known: Known,
    controlled: Known | None = None,
) -> Count:
    """Return how many tests a rule takes; with a control variate, by the faster bet.

    :param aim: requested half-width [unit of psi]
    :param known: z under the tester's proposal
    :param controlled: v of the tester's control variate
    """
    if isinstance(rule, Anytime | ControlledAnytime):
        rule = rule.rule if isinstance(rule, ControlledAnytime) else rule
    else:
        controlled = None
    spread, bounds = known
    found = [count_tests(rule, question_of(specification, bounds, aim, c), spread)]
    if controlled is not None:
        spread, bounds = controlled
        # Half of the capital corresponds to half of c.
        found.append(count_tests(rule, question_of(specification, bounds, aim, c / 2.0), spread))
    return min(found, key=lambda count: count.mean or math.inf)


def rules_of(specification: Specification, spread: Spread) -> list[StoppingRule]:
    """Return the rules to compare, `anytime` last, with the tester's settings."""
    own, measure = specification.tester.stopping, specification.measure
    rules: list[StoppingRule] = [EmpiricalBernstein(), Hoeffding()]
    if isinstance(measure.quantity, Indicator) and specification.make_proposal().unweighted:
        c, share = specification.accuracy.c, min(max(spread.mean, 0.0), 1.0)
        rules.append(Binomial(tests_for(specification.gamma, share, c)))
    return [*rules, own if isinstance(own, Anytime | ControlledAnytime) else Anytime()]


def _offers(
    specification: Specification, known: Known, controlled: Known | None
) -> Iterator[Offer]:
    accuracy, total = specification.accuracy, asked_for(specification)
    gamma, c, beta, runs = specification.gamma, accuracy.c, accuracy.beta, accuracy.runs
    joint = min(c, anchored_c(beta, runs))
    cells = specification.cells
    rules = rules_of(specification, known[0])
    anytime = rules[-1]

    def offer(
        name: str, rule: StoppingRule, aim: float, miss: float, laid: PartitionChoice
    ) -> Offer:
        count = count_of(specification, rule, aim, miss, known, controlled)
        spread = ((rule is anytime and controlled) or known)[0]
        promise = expected_promise(altered(specification, rule, aim, miss, laid))
        p_same = _p_same(spread.sd, count.mean, laid.alpha, laid.kind == PartitionType.ANCHORED)
        return Offer(name, rule.name, aim, miss, laid.alpha, count, promise, p_same)

    laid = cells.partition is not None
    # Replicators have fixed cells, and so do standards.
    fixed = cells.kind == PartitionType.EDGES or (cells.kind == PartitionType.ANCHORED and laid)
    for rule in rules:
        if laid:
            yield offer('as specified', rule, gamma, c, cells)
        if fixed or isinstance(rule, Binomial):
            continue  # the number of tests of a binomial rule is for a single gamma
        yield offer('anchored', rule, total, joint, _anchored(cells, total))
        yield offer(
            'anchored, each lab within', rule, total / 3, joint, _anchored(cells, total / 3)
        )
        for name in (AlphaRule.IID, AlphaRule.DISTINCT):
            alpha_of = ALPHA_RULES[name]
            miss = min(c, SHARE_OF_BETA * beta)
            if not agreement_exists(miss, beta, runs):
                continue
            aim = total / (1.0 + alpha_of(1.0, miss, beta, runs) / 2.0)
            drawn = replace(
                cells, kind=PartitionType.UNIFORM, alpha=alpha_of(aim, miss, beta, runs),
                alpha_rule=name, random_offset=True,
            )  # fmt: skip
            yield offer(f'random offset, {name}', rule, aim, miss, drawn)
    if cells.kind != PartitionType.ANCHORED or not laid:
        yield _certified(specification, known, total, joint)


def _anchored(cells: PartitionChoice, gamma: float) -> PartitionChoice:
    """Return cells 4 gamma wide, which will be placed around an initiator's estimate."""
    return replace(
        cells, kind=PartitionType.ANCHORED, alpha=4.0 * gamma, alpha_rule=None,
        random_offset=False, partition=None,
    )  # fmt: skip


def _p_same(sd: float, tests: int, alpha: float, anchored: bool) -> float:
    """Return P(two runs of this size return the same value), for Gaussian means."""
    if tests == 0 or sd == 0.0:
        return 1.0
    gap = math.sqrt(2.0) * sd / math.sqrt(tests)  # sd of r_1 - r_2
    if anchored:
        return math.erf(alpha / 2.0 / gap / math.sqrt(2.0))
    return max(0.0, 1.0 - math.sqrt(2.0 / math.pi) * gap / alpha)


def _certified(specification: Specification, known: Known, total: float, c: float) -> Offer:
    """Return quantiles over the places of r* in its cell; at an edge, it never ends."""
    spread, bounds = known
    cells = specification.cells
    name, alpha = 'any fixed', 2.0 * total
    layouts = []
    if cells.kind == PartitionType.EDGES and cells.partition is not None:
        name, alpha, layouts = 'as specified', cells.alpha, [cells.partition.edges]
    else:
        for place in (np.arange(OFFSETS) + 0.5) / OFFSETS:
            lower = spread.mean - place * alpha
            ends = min(bounds.lower, lower - alpha), max(bounds.upper, lower + 2 * alpha)
            layouts.append((ends[0], lower, lower + alpha, ends[1]))
    counts = []
    for edges in layouts:
        question = Question(total, c, bounds, edges)
        count = expected_tests(CertifiedCell(), question, spread.mean, spread.sd**2)
        counts.append(count or math.inf)
    whole: Callable[[float], int] = lambda n: math.ceil(n) if math.isfinite(n) else 0  # noqa: E731
    median = whole(float(np.median(counts)))
    # Never interpolate to a place without an end.
    most = whole(float(np.sort(counts)[math.ceil(0.95 * (len(counts) - 1))]))
    promise = expected_promise(altered(specification, CertifiedCell(), total, c))
    count_of_all = Count(median, median, most)
    return Offer(name, CertifiedCell.name, math.nan, c, alpha, count_of_all, promise, math.nan)


def budget_of(
    specification: Specification, battery_minutes: float | None, change_minutes: float
) -> Budget:
    """Return the budget for the tests of a specification."""
    seconds = to_seconds(specification.protocol.duration_ns(specification.box))
    return Budget(seconds, battery_minutes, change_minutes)


def reachable_gamma(
    specification: Specification,
    rule: StoppingRule,
    tests: int,
    known: Known,
    controlled: Known | None = None,
) -> float:
    """Return the smallest gamma that a rule reaches within this many tests in 95 % of campaigns.

    Its relative accuracy is 1 %, its maximum the range of psi; nan if even that is not reached.
    """
    c, measure = specification.accuracy.c, specification.measure
    width = min(known[1].width, measure.upper - measure.lower)

    def enough(gamma: float) -> bool:
        count = count_of(specification, rule, gamma, c, known, controlled)
        return 0 < (count.most or count.mean) <= tests

    high = width
    if not enough(high):
        return math.nan
    low = high / 2.0
    while low > 1e-9 * width and enough(low):
        low, high = low / 2.0, low
    while high > 1.01 * low:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
