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

"""What a campaign will cost, by each rule and partition, before the robot moves."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from repsq_ros.campaign.campaign import Campaign
from repsq_ros.estimation.alpha import agreement_exists, anchored_c, distinct_alpha, iid_alpha
from repsq_ros.estimation.anytime import Anytime
from repsq_ros.estimation.certified_cell import CertifiedCell
from repsq_ros.estimation.forecast import expected_tests
from repsq_ros.estimation.moments import EmpiricalBernstein, Hoeffding
from repsq_ros.estimation.stopping import Bounds, Question, StoppingRule, Validity
from repsq_ros.sampling.proposals import Dependence
from repsq_ros.specification.model import Specification
from repsq_ros.timebase import to_seconds

OFFSETS = 40  # places of r* within its cell that a certified cell is averaged over
SHARE_OF_BETA = 0.1  # c = this share of beta where alpha leaves c free


@dataclass(frozen=True)
class Spread:
    """What is known of z = psi w beforehand."""

    mean: float  # [unit of psi]
    sd: float  # [unit of psi]


@dataclass(frozen=True)
class Budget:
    """How tests turn into hours."""

    test_seconds: float
    battery_minutes: float | None = None
    change_minutes: float = 0.0

    def battery_changes(self, tests: int) -> int:
        """Return how often the battery has to be changed; 0 where it is not limited."""
        if self.battery_minutes is None or tests == 0:
            return 0
        each = math.floor(self.battery_minutes * 60.0 / self.test_seconds)
        return math.ceil(tests / max(each, 1)) - 1

    def hours(self, tests: int) -> float:
        """Return robot hours, changes of the battery included."""
        seconds = tests * self.test_seconds
        return (seconds + self.battery_changes(tests) * self.change_minutes * 60.0) / 3600.0


@dataclass(frozen=True)
class Offer:
    """One way to run the campaign."""

    partition: str
    rule: str
    gamma: float  # the rule's; nan where it has none
    c: float
    alpha: float
    tests: int  # expected; 0: more than can be told
    accurate: bool  # the published value is proven within the accuracy that was asked for
    agreed: bool  # two labs are proven to agree with 1 - beta
    p_same: float  # plug-in for two runs of this size, over all places of r* in its cell

    @property
    def guarantees(self) -> bool:
        """Tell whether it proves all that was asked for."""
        return self.accurate and self.agreed


def asked_for(specification: Specification) -> float:
    """Return how far a published value may be from r*: gamma + alpha/2, or gamma if anchored."""
    gamma = specification.accuracy.gamma
    anchored = specification.cells.kind == 'anchored'
    return gamma if anchored else gamma + specification.cells.half_width


def offers(specification: Specification, spread: Spread) -> list[Offer]:
    """Return all ways with what they cost, the cheapest first; those without an end last."""
    found = list(_offers(specification, spread))
    return sorted(found, key=lambda offer: (offer.tests == 0, offer.tests))


def cheapest(found: list[Offer]) -> Offer | None:
    """Return the cheapest way that proves all that was asked for."""
    return next((offer for offer in found if offer.guarantees and offer.tests), None)


def _offers(specification: Specification, spread: Spread) -> Iterator[Offer]:
    accuracy, total = specification.accuracy, asked_for(specification)
    bounds = Campaign(specification).question.bounds
    gamma, c, beta, runs = accuracy.gamma, accuracy.c, accuracy.beta, accuracy.runs
    joint = min(c, anchored_c(beta, runs))
    rules = (EmpiricalBernstein(), EmpiricalBernstein(two_sided=True), Hoeffding(), Anytime())
    dependence = specification.make_proposal().dependence

    def offer(
        partition: str, rule: StoppingRule, aim: float, miss: float, alpha: float, agreed: bool
    ) -> Offer:
        tests = expected_tests(rule, Question(aim, miss, bounds), spread.mean, spread.sd**2)
        holds = _holds(rule, dependence)
        p_same = _p_same(spread.sd, tests, alpha, partition.startswith('anchored'))
        form = ' (two-sided)' if rule == EmpiricalBernstein(two_sided=True) else ''
        return Offer(
            partition, rule.name + form, aim, miss, alpha, tests, holds, holds and agreed, p_same
        )

    for rule in rules:
        own = specification.cells
        if own.kind != 'anchored':
            agreed = own.random_offset and own.alpha_rule in ('iid', 'distinct')
            yield offer('as specified', rule, gamma, c, own.alpha, agreed)
        yield offer('anchored', rule, total, joint, 4.0 * total, True)
        yield offer('anchored, each lab within', rule, total / 3, joint, 4.0 * total / 3, True)
        for name, alpha_of in (('iid', iid_alpha), ('distinct', distinct_alpha)):
            miss = SHARE_OF_BETA * beta
            if not agreement_exists(miss, beta, runs):
                continue
            aim = total / (1.0 + alpha_of(1.0, miss, beta, runs) / 2.0)
            alpha = alpha_of(aim, miss, beta, runs)
            yield offer(f'random offset, {name}', rule, aim, miss, alpha, True)
    yield _certified(bounds, spread, total, joint, _holds(CertifiedCell(), dependence))


def _p_same(sd: float, tests: int, alpha: float, anchored: bool) -> float:
    """Return P(two runs of this size return the same value), for Gaussian means."""
    if tests == 0 or sd == 0.0:
        return 1.0
    gap = math.sqrt(2.0) * sd / math.sqrt(tests)  # sd of r_1 - r_2
    if anchored:
        return math.erf(alpha / 2.0 / gap / math.sqrt(2.0))
    return max(0.0, 1.0 - math.sqrt(2.0 / math.pi) * gap / alpha)


def _holds(rule: StoppingRule, dependence: Dependence) -> bool:
    """Tell whether a rule that may stop after any test proves its interval."""
    if dependence is Dependence.LOW_DISCREPANCY:
        return False
    return rule.validity in (Validity.ANY_N, Validity.FIXED_N)


def _certified(bounds: Bounds, spread: Spread, total: float, c: float, holds: bool) -> Offer:
    """Return the median over the places of r* in its cell: at an edge there is no end."""
    alpha = 2.0 * total
    counts = []
    for place in (np.arange(OFFSETS) + 0.5) / OFFSETS:
        lower = spread.mean - place * alpha
        edges = (min(bounds.lower, lower - alpha), lower, lower + alpha,
                 max(bounds.upper, lower + 2 * alpha))  # fmt: skip
        question = Question(total, c, bounds, edges)
        count = expected_tests(CertifiedCell(), question, spread.mean, spread.sd**2)
        counts.append(count or math.inf)
    median = float(np.median(counts))
    tests = math.ceil(median) if math.isfinite(median) else 0
    return Offer('any fixed', 'certified_cell', math.nan, c, alpha, tests, holds, holds, math.nan)


def budget_of(
    specification: Specification, battery_minutes: float | None, change_minutes: float
) -> Budget:
    """Return the budget for the tests of a specification."""
    seconds = to_seconds(specification.protocol.duration_ns(specification.box))
    return Budget(seconds, battery_minutes, change_minutes)
