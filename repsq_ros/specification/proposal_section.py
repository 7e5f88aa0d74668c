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

"""Reading the proposal: who draws the cases, and what bounds the weights."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import cast

from repsq_ros.keys import Key, TextEnum, key
from repsq_ros.sampling.adaptive import Adaptation, AdaptiveImportance
from repsq_ros.sampling.distributions import Distribution, FromUniform, is_table
from repsq_ros.sampling.external import External, external_draw
from repsq_ros.sampling.proposals import (
    Draw,
    Importance,
    MonteCarlo,
    Proposal,
    SobolMonteCarlo,
)
from repsq_ros.sampling.weight_bound import truncation_bias
from repsq_ros.specification.distribution_section import beside, read_distribution, read_rows
from repsq_ros.specification.reader import Section, read_keys


class ProposalType(TextEnum):
    """Who draws the cases."""

    MONTE_CARLO = 'monte_carlo'
    IMPORTANCE = 'importance'
    ADAPTIVE = 'adaptive'
    EXTERNAL = 'external'


# The fields of ProposalChoice that each type reads.
BOUNDED = ('declared_bound', 'truncation')
TYPES: dict[ProposalType, tuple[str, ...]] = {
    ProposalType.MONTE_CARLO: ('sobol',),
    ProposalType.IMPORTANCE: BOUNDED,
    ProposalType.ADAPTIVE: BOUNDED,
    ProposalType.EXTERNAL: ('source', *BOUNDED),
}
ACCEPT = Key(
    'accept a weight_bound that is not proven; the result says so',
    kind=bool,
    default=False,
    name='accept_unproven_bound',
)
UNLIMITED = Key('no limits of fitted shapes', kind=bool, default=False, name='unlimited_shapes')


@dataclass(frozen=True)
class ProposalChoice:
    """The proposal of a specification."""

    kind: ProposalType
    sobol: bool = field(
        default=False,
        metadata=key(
            'how cases are drawn',
            name='sequence',
            choices={'independent': False, 'sobol': True},
        ),
    )
    distribution: Distribution | None = None  # of importance sampling
    adaptation: Adaptation | None = None
    source: str = field(
        default='topic',
        metadata=key(
            'a CSV file with a column for each dimension, and weight or '
            'log_q; topic: they come as TestCommand on repsq/external_case',
            name='file',
        ),
    )
    table: tuple[Draw, ...] = ()
    declared_bound: float | None = field(
        default=None,
        metadata=key(
            'the largest weight; refused if it is below the computed one',
            name='weight_bound',
            above=0,
            default_text='computed',
        ),
    )
    truncation: float | None = field(
        default=None,
        metadata=key(
            'T: weighted values are cut to it; only with importance', 'the unit of psi', above=0
        ),
    )
    truncation_bias: float = 0.0  # r* - E z' is at most this [unit of psi]

    def make(self, target: Distribution) -> Proposal:
        """Make the proposal, at the start of a campaign."""
        if self.kind == ProposalType.IMPORTANCE and self.distribution is not None:
            return Importance(target, self.distribution, self.declared_bound)
        if self.kind == ProposalType.ADAPTIVE and self.adaptation is not None:
            return AdaptiveImportance(
                cast(FromUniform, target), self.adaptation, self.declared_bound
            )
        if self.kind == ProposalType.EXTERNAL:
            return External(self.declared_bound or math.inf, self.source, self.table)
        return SobolMonteCarlo(cast(FromUniform, target)) if self.sobol else MonteCarlo(target)

    def load(self) -> None:
        """Import scipy for drawing and fitting now, since that takes half a second."""
        import_module(
            'scipy.stats' if self.sobol
            else 'scipy.optimize' if self.kind == ProposalType.ADAPTIVE
            else 'scipy.special'
        )  # fmt: skip


def read_proposal(
    section: Section, target: Distribution, gamma: float, psi: tuple[float, float]
) -> ProposalChoice:
    """Return the proposal of a section.

    :param psi: range M of the measure
    :raises SpecificationError: with file, key, what was found and what was expected
    """
    kind = section.choice('type', TYPES)
    choice = read_keys(section, ProposalChoice, {'kind': kind}, only=TYPES[kind])
    if kind == ProposalType.MONTE_CARLO:
        if choice.sobol:
            _need_uniforms(section, 'sequence', target)
        section.finish()
        return choice
    accept = bool(section.take(ACCEPT))
    if choice.truncation is not None and kind != ProposalType.IMPORTANCE:
        raise section.fail(
            'truncation',
            f'{choice.truncation!r} with {kind!r}',
            'a fixed distribution, whose bias can be computed beforehand',
        )
    if kind == ProposalType.IMPORTANCE:
        choice = _importance(section, choice, target, gamma, psi)
    elif kind == ProposalType.ADAPTIVE:
        choice = replace(choice, adaptation=_adaptation(section, target))
    elif choice.source != 'topic':
        bound = choice.declared_bound or math.inf
        choice = replace(choice, table=_table(section, choice.source, target, bound))
    _check_bound(section, choice, target, accept)
    section.finish()
    return choice


def _importance(
    section: Section,
    choice: ProposalChoice,
    target: Distribution,
    gamma: float,
    psi: tuple[float, float],
) -> ProposalChoice:
    distribution = read_distribution(section.word_or_section('distribution'), target.box)
    if is_table(distribution) != is_table(target):
        kind_of = {True: 'a table of cases', False: 'a density'}
        raise section.fail(
            'distribution',
            kind_of[is_table(distribution)],
            f'{kind_of[is_table(target)]}, as the target is one',
        )
    if choice.truncation is None:
        return replace(choice, distribution=distribution)
    bias = _bias(section, target, distribution, choice.truncation, gamma, psi)
    return replace(choice, distribution=distribution, truncation_bias=bias)


def _need_uniforms(section: Section, key: str, target: Distribution) -> None:
    if not (hasattr(target, 'from_uniform') and hasattr(target, 'uniforms')):
        raise section.fail(
            key,
            'a target that is a class of your own',
            'a target of this package, or a class with from_uniform() and uniforms',
        )


def _check_bound(
    section: Section, choice: ProposalChoice, target: Distribution, accept: bool
) -> None:
    """Refuse a bound that is not proven, unless the tester accepts it."""
    proposal = choice.make(target)
    bound = proposal.largest_weight_bound
    if proposal.proven and math.isfinite(bound):
        return
    remedy = 'accept_unproven_bound: true, which the result then states'
    if not math.isfinite(bound):
        if choice.truncation is not None:
            return
        raise section.fail(
            'weight_bound',
            'nothing, and p/q has no known bound',
            'a distribution mixed with '
            f'the target, a truncation, or a declared bound with {remedy}',
        )
    if not accept:
        if choice.kind == ProposalType.EXTERNAL:
            raise section.fail('weight_bound', f'{bound!r}, which cannot be proven', remedy)
        provable = replace(choice, declared_bound=None).make(target).largest_weight_bound
        known = f'at least {provable:.6g}' if math.isfinite(provable) else 'one that is proven'
        raise section.fail('weight_bound', f'{bound!r}', f'{known}, the largest p/q; or {remedy}')


def _adaptation(section: Section, target: Distribution) -> Adaptation:
    _need_uniforms(section, 'type', target)
    if is_table(target):
        raise section.fail(
            'type', "text 'adaptive'", 'another one: the target is a table of cases'
        )
    found = read_keys(section, Adaptation)
    assert found.shapes is not None
    low, high = found.shapes
    if not 0 < low <= high:
        raise section.fail('shapes', f'[{low:g}, {high:g}]', 'two numbers, 0 < first <= second')
    return replace(found, shapes=None) if section.take(UNLIMITED) else found


def _bias(
    section: Section,
    target: Distribution,
    distribution: Distribution,
    truncation: float,
    gamma: float,
    psi: tuple[float, float],
) -> float:
    if psi[0] < 0.0:
        raise section.fail('truncation', f'{truncation!r}', 'a measure that is never negative')
    bias = truncation_bias(target, distribution, psi[1], truncation)
    if bias >= gamma:
        raise section.fail(
            'truncation',
            f'{truncation!r}, which may cost {bias:.4g}',
            f'one that costs less than gamma = {gamma:g}',
        )
    return bias


def _table(section: Section, name: str, target: Distribution, bound: float) -> tuple[Draw, ...]:
    file = beside(section, name)
    rows = read_rows(file, target.box, {'weight': math.nan, 'log_q': math.nan})
    draws = []
    for place, (x, more) in enumerate(rows):
        weight, log_q = (
            None if math.isnan(more[column]) else more[column] for column in ('weight', 'log_q')
        )
        try:
            draws.append(external_draw(target, x, bound, weight=weight, log_q=log_q))
        except ValueError as error:
            raise section.fail(
                'file', f'{file}, row {place + 1}: {error}', 'weighted cases of the target'
            ) from None
    return tuple(draws)
