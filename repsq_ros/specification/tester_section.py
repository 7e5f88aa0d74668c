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

"""Reading what each tester may choose: proposal, stopping rule, budget."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

from repsq_ros.estimation.anytime import Anytime
from repsq_ros.estimation.binomial import Binomial
from repsq_ros.estimation.certified_cell import CertifiedCell
from repsq_ros.estimation.divergence_sized import DivergenceSized
from repsq_ros.estimation.first_of import FirstOf
from repsq_ros.estimation.iso_cycles import IsoCycles
from repsq_ros.estimation.moments import (
    EmpiricalBernstein,
    FixedN,
    Hoeffding,
    RelativeHalfWidth,
)
from repsq_ros.estimation.reproducible_query import ReproducibleQuery
from repsq_ros.estimation.stopping import StoppingRule
from repsq_ros.keys import key, keys_of
from repsq_ros.sampling.distributions import Distribution
from repsq_ros.sampling.divergence import divergence
from repsq_ros.sampling.weight_bound import largest_ratio
from repsq_ros.specification.accuracy_section import RequiredAccuracy
from repsq_ros.specification.control_section import ControlChoice, controlled, read_control
from repsq_ros.specification.proposal_section import ProposalChoice, ProposalType, read_proposal
from repsq_ros.specification.reader import Section, read_keys
from repsq_ros.specification.twin_section import TwinChoice

KINDS: tuple[type[StoppingRule], ...] = (
    EmpiricalBernstein,
    Hoeffding,
    Anytime,
    CertifiedCell,
    FirstOf,
    FixedN,
    Binomial,
    RelativeHalfWidth,
    ReproducibleQuery,
    DivergenceSized,
    IsoCycles,
)
RULES = {str(kind.name): kind for kind in KINDS}


@dataclass(frozen=True)
class Tester:
    """What each tester may choose: it may change the result, but not its meaning."""

    proposal: ProposalChoice
    stopping: StoppingRule
    gamma: float = field(
        metadata=key(
            "this tester's finer accuracy, for a partition with cells narrower than 4 gamma",
            'the unit of psi',
            above=0,
            default_text='accuracy.gamma',
        )
    )
    # None: a replicator uses its own
    seed: int | None = field(
        default=None, metadata=key('seed of the cases, and of a simulated robot', at_least=0)
    )
    max_tests: int = field(
        default=100_000,
        metadata=key(
            'the campaign ends after this many tests, even if gamma is not reached', at_least=2
        ),
    )
    max_attempts: int = field(
        default=3,
        metadata=key(
            'the campaign pauses after this many INVALID attempts of one test', at_least=1
        ),
    )
    until_verdict: bool = field(
        default=False,
        metadata=key(
            'when the campaign ends; verdict: as soon as accept is decided or gamma is reached',
            name='until',
            choices={'accuracy': False, 'verdict': True},
        ),
    )
    selftest_age: float | None = field(
        default=None,
        metadata=key(
            'a campaign starts only with a passed self-test (repsq selftest) no older than this',
            's',
            above=0,
            default_text='none is demanded',
        ),
    )
    control: ControlChoice | TwinChoice | None = None


def read_tester(
    section: Section, target: Distribution, accuracy: RequiredAccuracy, psi: tuple[float, float]
) -> Tester:
    """Return the tester's own part of a specification.

    :param accuracy: the requested one
    :param psi: range M of the measure
    :raises SpecificationError: with file, key, what was found and what was expected
    """
    proposal = section.word_or_section('proposal')
    own = section.take(replace(keys_of(Tester)['gamma'], default=accuracy.gamma))
    if own > accuracy.gamma:
        raise section.fail('gamma', f'{own!r}', f'at most accuracy.gamma = {accuracy.gamma:g}')
    stopping = section.section('stopping')
    choice = read_proposal(proposal, target, own, psi)
    if RULES[stopping.choice('rule', RULES)] is DivergenceSized:
        rule: StoppingRule = _divergence_sized(stopping, choice, target, psi)
    else:
        rule = read_stopping(stopping, accuracy)
    control = read_control(section, target, choice, rule)
    read = {'proposal': choice, 'stopping': controlled(rule, control), 'gamma': own}
    tester = read_keys(section, Tester, {**read, 'control': control})
    _check_budget(stopping, tester)
    section.finish()
    return tester


def _check_budget(stopping: Section, tester: Tester) -> None:
    rule, most = tester.stopping, tester.max_tests
    key, tests = '', 0
    if isinstance(rule, FixedN | Binomial):
        key, tests = 'tests', rule.tests
    elif isinstance(rule, IsoCycles):
        key, tests = 'cycles', rule.cycles
    elif isinstance(rule, DivergenceSized):
        key, tests = 'margin', rule.tests
    if tests > most:
        raise stopping.fail(key, f'{tests} tests', f'at most max_tests = {most}')


def read_stopping(section: Section, accuracy: RequiredAccuracy) -> StoppingRule:
    """Return the stopping rule of a section, except rules that depend on the proposal.

    :param accuracy: the requested one
    :raises SpecificationError: with file, key, what was found and what was expected
    """
    kind = RULES[section.choice('rule', RULES)]
    given: dict[str, object] = {}
    if kind is FirstOf:
        given['rules'] = _parts(section, accuracy)
    elif kind is ReproducibleQuery:
        given = {'beta': accuracy.beta, 'runs': accuracy.runs}
    elif kind is DivergenceSized:
        raise section.fail('rule', "text 'divergence_sized'", 'a rule that looks at the tests')
    found = read_keys(section, kind, given)
    if isinstance(found, ReproducibleQuery):
        _check_query(section, found, accuracy)
    if isinstance(found, Anytime) and (found.expected_mean is None) != (found.expected_sd is None):
        missing = 'expected_mean' if found.expected_mean is None else 'expected_sd'
        raise section.fail(missing, 'nothing', 'a number: mean and sd stand together')
    section.finish()
    return found


def _parts(section: Section, accuracy: RequiredAccuracy) -> tuple[StoppingRule, ...]:
    parts = section.sections('rules')
    if len(parts) < 2:
        raise section.fail('rules', 'a list of 1', 'at least two rules')
    rules = tuple(read_stopping(part, accuracy) for part in parts)
    for part, each in zip(parts, rules, strict=True):
        if isinstance(each, CertifiedCell | FirstOf | Binomial):
            raise part.fail('rule', f'text {each.name!r}', 'a rule that aims at gamma')
        if isinstance(each, Anytime) and each.middle:
            raise part.fail('estimate', "text 'middle'", "'mean', as the other rules have it")
    return rules


def _check_query(section: Section, found: ReproducibleQuery, accuracy: RequiredAccuracy) -> None:
    try:
        found.reach(accuracy.gamma, accuracy.c)
    except ValueError as error:
        raise section.fail(
            'rule',
            f'text {found.name!r} where {error}',
            'a smaller accuracy.c or a larger accuracy.beta',
        ) from None


def _divergence_sized(
    section: Section, choice: ProposalChoice, target: Distribution, psi: tuple[float, float]
) -> DivergenceSized:
    section.choice('rule', RULES)
    margin = section.take(keys_of(DivergenceSized)['margin'])
    drawn = (
        target
        if choice.kind == ProposalType.MONTE_CARLO and not choice.sobol
        else choice.distribution
    )
    if drawn is None or choice.truncation is not None:
        raise section.fail(
            'rule',
            f"text 'divergence_sized' beside proposal {choice.kind!r}",
            'monte_carlo or importance without a truncation, whose divergence is known before',
        )
    far, largest = divergence(target, drawn), largest_ratio(target, drawn)
    level = far.upper + margin / 2.0
    tail = 0.0 if math.log(largest) <= level else far.tail(level)
    found = DivergenceSized(far.upper, margin, tail, max(map(abs, psi)))
    try:
        _ = found.tests
    except ValueError as error:
        raise section.fail('margin', f'{margin!r}: {error}', 'fewer than exp(40)') from None
    section.finish()
    return found
