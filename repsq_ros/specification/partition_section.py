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

"""Reading the partition: how the range of psi is cut into cells."""

from __future__ import annotations

import itertools
from dataclasses import asdict, dataclass, replace

from repsq_ros.estimation.alpha import ALPHA_RULES, agreement_exists
from repsq_ros.estimation.partition import Partition
from repsq_ros.seeds import RandomStream, generator
from repsq_ros.specification.accuracy_section import RequiredAccuracy
from repsq_ros.specification.reader import Section, show

TYPES = ('uniform', 'edges', 'anchored')
OUTCOMES = ('reached', 'budget', 'unresolved', 'void')  # of an initiator's campaign
MOST_CELLS = 1_000_000


@dataclass(frozen=True)
class Initiator:
    """What an initiator's campaign was worth: its replicators' promise follows from it, too."""

    outcome: str  # 'reached', 'budget', 'unresolved' or 'void'
    rule: str
    gamma: float  # [unit of psi]
    c: float
    violations: int  # tests with a value outside its bounds
    digest: str  # of the specification that it ran
    objection: str = ''  # why it promises no accuracy
    provisos: tuple[str, ...] = ()  # what its promise assumes

    def describe(self) -> dict[str, object]:
        """Return the mapping that a specification says this with."""
        said = {**asdict(self), 'provisos': list(self.provisos)}
        return {key: value for key, value in said.items() if value not in ('', [])}


@dataclass(frozen=True)
class PartitionChoice:
    """The partition of a specification.

    `partition` is None for the initiator of an anchored one: it is laid around the estimate.
    """

    kind: str  # one of TYPES
    lower: float  # range M of psi
    upper: float
    alpha: float  # width of a cell; of the widest one where edges are given
    alpha_rule: str  # 'paper', 'iid', 'distinct', 'query'; 'given' else
    random_offset: bool  # the first cell's width was drawn from a published seed
    partition: Partition | None
    said: dict[str, object]  # what the file says of the cells: the digest is made of that
    initiator: Initiator | None = None  # whose estimate the anchor is

    @property
    def half_width(self) -> float:
        """Half a cell: what quantizing may add to the distance from r*."""
        return self.alpha / 2.0

    def around(self, estimate: float, initiator: Initiator | None = None) -> PartitionChoice:
        """Return the choice with an anchored partition laid around an initiator's estimate."""
        if self.partition is not None:
            return self
        laid = Partition.anchored(self.lower, self.upper, estimate, self.half_width)
        return replace(self, partition=laid, initiator=initiator)

    def describe(self) -> dict[str, object]:
        """Say what all testers share, as the file says it: not what follows from it."""
        shared = {'type': self.kind, **self.said}
        if self.partition is not None and self.partition.anchor is not None:
            shared['anchor'] = self.partition.anchor
        if self.initiator is not None:
            shared['initiator'] = self.initiator.describe()
        return shared


def read_partition(
    section: Section, accuracy: RequiredAccuracy, lower: float, upper: float
) -> PartitionChoice:
    """Return the partition of a range of psi.

    :raises SpecificationError: with file, key, what was found and what was expected
    """
    kind = section.choice('type', TYPES, 'uniform')
    readers = {'uniform': _uniform, 'edges': _edges, 'anchored': _anchored}
    found = readers[kind](section, accuracy, lower, upper)
    section.finish()
    return found


def _uniform(
    section: Section, accuracy: RequiredAccuracy, lower: float, upper: float
) -> PartitionChoice:
    alpha, rule = _alpha(section, accuracy)
    drawn = section.has('offset_seed')
    said: dict[str, object] = {'alpha': alpha if rule == 'given' else rule}
    if drawn:
        if section.has('first'):
            raise section.fail('first', 'a number beside offset_seed', 'one of the two')
        seed = section.whole('offset_seed')
        said['offset_seed'] = seed
        first = alpha * (1.0 - generator(seed, RandomStream.PARTITION).random())  # in (0, alpha]
    else:
        first = section.number('first', alpha, above=0)
        if first > alpha:
            raise section.fail('first', f'{first!r}', f'at most alpha = {alpha:.6g}')
        if first != alpha:
            said['first'] = first
    if (upper - lower) / alpha > MOST_CELLS:
        raise section.fail(
            'alpha', f'{alpha:.4g}', f'at most {MOST_CELLS} cells in the range of psi'
        )
    partition = Partition.almost_uniform(lower, upper, alpha, first)
    return PartitionChoice('uniform', lower, upper, alpha, rule, drawn, partition, said)


def _alpha(section: Section, accuracy: RequiredAccuracy) -> tuple[float, str]:
    words = ', '.join(map(repr, ALPHA_RULES))
    expected = f'{words}, or a number above 0'
    found = section.value('alpha', expected)
    if not isinstance(found, str):
        return section.number('alpha', above=0), 'given'
    if found not in ALPHA_RULES:
        raise section.fail('alpha', show(found), expected)
    _need_agreement(section, 'alpha', found, accuracy)
    try:
        alpha = ALPHA_RULES[found](accuracy.gamma, accuracy.c, accuracy.beta, accuracy.runs)
    except ValueError as error:
        raise section.fail('alpha', f'{found!r}: {error}', 'a smaller accuracy.c') from None
    if alpha == 0:
        raise section.fail('alpha', f'{found!r}, which is 0 here', 'a larger accuracy.beta')
    return alpha, found


def _need_agreement(section: Section, key: str, found: str, accuracy: RequiredAccuracy) -> None:
    c, beta, runs = accuracy.c, accuracy.beta, accuracy.runs
    if not agreement_exists(c, beta, runs):
        raise section.fail(
            key,
            f'{found!r} with (1-c)^{runs} = {(1 - c) ** runs:.6g} < 1-beta = {1 - beta:.6g}',
            f'(1-c)^{runs} >= 1-beta: a smaller accuracy.c or a larger accuracy.beta',
        )


def _edges(
    section: Section, accuracy: RequiredAccuracy, lower: float, upper: float
) -> PartitionChoice:
    edges = section.numbers('edges')
    if len(edges) < 2 or any(a >= b for a, b in itertools.pairwise(edges)):
        raise section.fail('edges', f'{list(edges)}', 'at least two numbers, each above the last')
    if (edges[0], edges[-1]) != (lower, upper):
        raise section.fail(
            'edges',
            f'edges from {edges[0]:g} to {edges[-1]:g}',
            f'the range of psi, {lower:g} to {upper:g}',
        )
    widest = max(b - a for a, b in itertools.pairwise(edges))
    return PartitionChoice(
        'edges', lower, upper, widest, 'given', False, Partition(edges), {'edges': list(edges)}
    )


def _anchored(
    section: Section, accuracy: RequiredAccuracy, lower: float, upper: float
) -> PartitionChoice:
    half_width = section.number('half_width', 2.0 * accuracy.gamma, at_least=accuracy.gamma)
    _need_agreement(section, 'type', 'anchored', accuracy)
    partition, initiator = None, None
    if section.has('anchor'):
        anchor = section.number('anchor', at_least=lower)
        if anchor > upper:
            raise section.fail('anchor', f'{anchor!r}', f'at most {upper:g}, the end of the range')
        partition = Partition.anchored(lower, upper, anchor, half_width)
        if section.has('initiator'):
            initiator = _initiator(section.section('initiator'))
    return PartitionChoice(
        'anchored',
        lower,
        upper,
        2 * half_width,
        'given',
        False,
        partition,
        {'half_width': half_width},
        initiator,
    )


def _initiator(section: Section) -> Initiator:
    outcome = section.choice('outcome', OUTCOMES)
    violations = section.whole('violations')
    objection = section.text('objection') if section.has('objection') else ''
    if not objection and (outcome != 'reached' or violations):
        objection = f'its campaign ended with {outcome!r} and {violations} values out of bounds'
    found = Initiator(
        outcome,
        section.text('rule'),
        section.number('gamma', above=0),
        section.number('c', above=0, below=1),
        violations,
        section.text('digest'),
        objection,
        section.texts('provisos') if section.has('provisos') else (),
    )
    section.finish()
    return found
