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

"""repsq plan --twin: how many robot tests are left for a number of simulated tests."""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass

from repsq_ros.console.live import folded
from repsq_ros.errors import ParameterError
from repsq_ros.estimation.anytime import Anytime
from repsq_ros.specification.model import Specification
from repsq_ros.studies.costs import Budget, Known, Offer, count_of, rules_of
from repsq_ros.studies.counts import Count
from repsq_ros.studies.executor import open_executor
from repsq_ros.studies.simulated_twins import plain_rule, require_twin
from repsq_ros.studies.twin_costs import (
    CAMPAIGNS,
    SIZES,
    TwinOffer,
    floor_of,
    supposed_campaigns,
    twin_offers,
    worth_it,
)


@dataclass(frozen=True)
class TwinPlan:
    """The savings from a twin."""

    rho: float  # correlation of psi with its prediction from case and simulator
    gamma: float  # [unit of psi]
    c: float
    floor: int  # smallest number of robot tests with any twin
    without: Count
    offers: list[TwinOffer]
    best: TwinOffer | None  # None: a twin saves nothing


def plan_twin(
    arguments: argparse.Namespace,
    specification: Specification,
    known: Known,
    controlled: Known | None,
    best: Offer | None,
) -> TwinPlan:
    """Simulate campaigns with twins of several sizes, at the accuracy of the cheapest offer.

    :raises ParameterError: the correlation is not known, or no twin goes with the specification
    """
    rho: float = arguments.twin
    if math.isnan(rho):
        if specification.twin is None or controlled is None:
            found = 'no correlation'
            raise ParameterError('twin', found, 'one, or --pilot and a specification with a twin')
        rho = math.sqrt(max(1.0 - (controlled[0].sd / known[0].sd) ** 2, 0.0))
    require_twin(rho, None, (specification,))
    aim = specification.gamma, specification.accuracy.c
    if best is not None and best.rule == Anytime.name:
        aim = best.gamma, best.c
    rule = plain_rule(rules_of(specification, known[0])[-1])
    assert isinstance(rule, Anytime)
    without = count_of(specification, rule, *aim, known)
    campaigns = supposed_campaigns(specification, rule, aim, known, rho)
    with open_executor(
        arguments.processes, arguments.scheduler, CAMPAIGNS * len(SIZES), 'campaign'
    ) as (executor, progress):
        offers = list(twin_offers(campaigns, executor, progress))
    floor = floor_of(rule, *aim, known[0].mean, known[1])
    return TwinPlan(rho, *aim, floor, without, offers, worth_it(offers, without.mean))


def recommend_twin(plan: TwinPlan, budget: Budget) -> None:
    """Print what a twin saves."""
    without = f'about {plan.without.mean}' if plan.without.mean else 'more than 10^6'
    if plan.best is None:
        said = f'saves no tests to speak of at gamma {plan.gamma:.4g}: {without} tests without one'
    else:
        n = plan.best.count
        said = (
            f'of {plan.best.simulated} simulated tests (repsq twin --tests {plan.best.simulated}) '
            f'leaves about {n.mean} tests of the robot (95 %: {n.most}), '
            f'{budget.hours(n.mean):.2f} h, at gamma {plan.gamma:.4g}; without it {without}'
        )
    print(folded(f'twin        A twin of correlation {plan.rho:.2g} {said}.') + '\n')


def show_twin(plan: TwinPlan) -> None:
    """Print the number of robot tests for each number of simulated ones."""
    print(f'\nsimulated   tests   95 %   (gamma {plan.gamma:.4g}, c {plan.c:.4g})')
    for offer in plan.offers:
        n = offer.count
        print(f'{offer.simulated:>9} {n.mean or "-":>7}{n.most or "-":>7}')
    print(f'with any twin at least {plan.floor} tests are needed: no bet ends sooner')
