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

"""Reading what each tester chooses alone: proposal, stopping rule, budget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from repsq_ros.estimation.anytime import Anytime
from repsq_ros.estimation.binomial import Binomial
from repsq_ros.estimation.certified_cell import CertifiedCell
from repsq_ros.estimation.first_of import FirstOf
from repsq_ros.estimation.moments import (
    EmpiricalBernstein,
    FixedN,
    Hoeffding,
    RelativeHalfWidth,
)
from repsq_ros.estimation.stopping import StoppingRule
from repsq_ros.sampling.distributions import Distribution
from repsq_ros.specification.control_section import ControlChoice, controlled, read_control
from repsq_ros.specification.proposal_section import ProposalChoice, read_proposal
from repsq_ros.specification.reader import Section

RULES = (
    'empirical_bernstein', 'hoeffding', 'anytime', 'certified_cell', 'first_of', 'fixed',
    'binomial', 'relative_half_width',
)  # fmt: skip


@dataclass(frozen=True)
class Tester:
    """What each tester chooses alone; the result may depend on it, its meaning may not."""

    proposal: ProposalChoice
    seed: int
    stopping: StoppingRule
    max_tests: int
    max_attempts: int
    gamma: float  # the accuracy asked for, or a finer one of this tester [unit of psi]
    control: ControlChoice | None = None


def read_tester(
    section: Section, target: Distribution, gamma: float, psi: tuple[float, float]
) -> Tester:
    """Return the tester's own part of a specification.

    :param gamma: the accuracy that is asked for
    :param psi: range M of the measure
    :raises SpecificationError: with file, key, what was found and what was expected
    """
    proposal = section.word_or_section('proposal', 'type')
    own = section.number('gamma', gamma, above=0)
    if own > gamma:
        raise section.fail('gamma', f'{own!r}', f'at most accuracy.gamma = {gamma:g}')
    stopping = section.section('stopping')
    choice, rule = read_proposal(proposal, target, own, psi), read_stopping(stopping)
    control = read_control(section, target, choice, rule)
    tester = Tester(
        proposal=choice,
        seed=section.whole('seed'),
        stopping=controlled(rule, control),
        max_tests=section.whole('max_tests', 100_000, at_least=2),
        max_attempts=section.whole('max_attempts', 3, at_least=1),
        gamma=own,
        control=control,
    )
    if isinstance(tester.stopping, FixedN | Binomial) and tester.stopping.tests > tester.max_tests:
        raise stopping.fail(
            'tests', f'{tester.stopping.tests}', f'at most max_tests = {tester.max_tests}'
        )
    section.finish()
    return tester


def read_stopping(section: Section) -> StoppingRule:
    """Return the stopping rule of a section.

    :raises SpecificationError: with file, key, what was found and what was expected
    """
    rule = section.choice('rule', RULES)
    found: StoppingRule
    if rule == 'empirical_bernstein':
        power = section.whole('range_power', 1, at_least=1)
        if power not in (1, 2):
            raise section.fail('range_power', f'{power}', '1, or 2 to reproduce the paper')
        form = section.choice('form', ('paper', 'two_sided'), 'paper')
        found = EmpiricalBernstein(power, form == 'two_sided')
    elif rule == 'first_of':
        parts = section.sections('rules')
        if len(parts) < 2:
            raise section.fail('rules', 'a list of 1', 'at least two rules')
        found = FirstOf(tuple(read_stopping(part) for part in parts))
        for part, each in zip(parts, found.rules, strict=True):
            if isinstance(each, CertifiedCell | FirstOf | Binomial):
                raise part.fail('rule', f'text {each.name!r}', 'a rule that aims at gamma')
    elif rule == 'fixed':
        found = FixedN(section.whole('tests', at_least=2))
    elif rule == 'relative_half_width':
        found = RelativeHalfWidth(
            section.number('relative', above=0), section.whole('at_least', 30, at_least=2)
        )
    elif rule == 'binomial':
        found = Binomial(section.whole('tests', at_least=1), _c_below(section))
    elif rule == 'anytime':
        found = Anytime(_c_below(section))
    else:
        plain = {'hoeffding': Hoeffding, 'certified_cell': CertifiedCell}
        found = cast(StoppingRule, plain[rule]())
    section.finish()
    return found


def _c_below(section: Section) -> float:
    """Return the share of c that the lower end may miss with."""
    return section.number('c_below', 0.5, above=0, below=1)
