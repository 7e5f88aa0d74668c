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

"""Reading the partition: the cells of the range of psi."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace

from repsq_ros.estimation.alpha import ALPHA_RULES, LEAST_BETA, AlphaRule, agreement_exists
from repsq_ros.estimation.partition import Partition
from repsq_ros.estimation.stopping import Outcome
from repsq_ros.keys import KeyedDataclass, TextEnum, key, shared
from repsq_ros.seeds import RandomStream, generator
from repsq_ros.specification.accuracy_section import RequiredAccuracy
from repsq_ros.specification.reader import Section, read_keys

MOST_CELLS = 1_000_000


class PartitionType(TextEnum):
    """How a partition is declared."""

    UNIFORM = 'uniform'
    EDGES = 'edges'
    ANCHORED = 'anchored'


@dataclass(frozen=True)
class Initiator(KeyedDataclass):
    """The accuracy of an initiator's campaign, on which its replicators' promise depends."""

    outcome: Outcome = field(metadata=key('how its campaign ended'))
    rule: str = field(metadata=key('its stopping rule'))
    gamma: float = field(metadata=key('its gamma', 'the unit of psi', above=0))
    c: float = field(metadata=key('its c', above=0, below=1))
    violations: int = field(metadata=key('tests with a value outside its bounds'))
    digest: str = field(metadata=key('digest of its specification'))
    objection: str = field(default='', metadata=key('why it guarantees no accuracy', later=True))
    provisos: tuple[str, ...] = field(
        default=(), metadata=key('what its guarantee assumes', later=True)
    )


@dataclass(frozen=True)
class UniformCells:
    """Keys of a partition into cells of one width."""

    alpha: float | AlphaRule = field(
        metadata=key(
            'width of a cell: paper, iid and distinct need (1-c)^runs >= 1-beta, query needs '
            'beta > runs c',
            'the unit of psi',
            kind=float,
            words={rule.value: rule for rule in AlphaRule},
            above=0,
        )
    )
    first: float | None = field(
        default=None,
        metadata=key(
            'width of the first cell, which shifts all others; at most alpha',
            'the unit of psi',
            above=0,
            default_text='alpha',
            later=True,
        ),
    )
    offset_seed: int | None = field(
        default=None,
        metadata=key(
            'in place of first: seed from which that width is drawn; publish it beforehand',
            later=True,
        ),
    )


@dataclass(frozen=True)
class EdgesOfCells:
    """Keys of a partition whose edges are given."""

    edges: tuple[float, ...] = field(
        metadata=key('all edges in ascending order, from one end of the range of psi to the other')
    )


@dataclass(frozen=True)
class AnchoredCells:
    """Keys of a partition around an initiator's estimate."""

    half_width: float = field(
        metadata=key(
            "half a cell, the sum of both labs' gamma; at least gamma",
            'the unit of psi',
            above=0,
            default_text='2 gamma',
        )
    )
    anchor: float | None = field(
        default=None,
        metadata=key("the initiator's estimate; the initiator leaves it out", 'the unit of psi'),
    )
    initiator: Initiator | None = field(
        default=None,
        metadata=key(
            'beside anchor, as in replication.yaml; without it there is no guarantee of agreement'
        ),
    )


CELLS: dict[PartitionType, type] = {
    PartitionType.UNIFORM: UniformCells,
    PartitionType.EDGES: EdgesOfCells,
    PartitionType.ANCHORED: AnchoredCells,
}


@dataclass(frozen=True)
class PartitionChoice:
    """The partition of a specification.

    `partition` is None for the initiator of an anchored partition: it will be placed around the
    estimate.
    """

    kind: PartitionType
    lower: float  # range M of psi
    upper: float
    alpha: float  # width of a cell; with given edges, of the widest one
    alpha_rule: AlphaRule | None  # None: the width is given
    random_offset: bool  # the first cell's width is drawn from a published seed
    partition: Partition | None
    said: dict[str, object]  # the cells as written in the file, for the digest
    initiator: Initiator | None = None  # the campaign whose estimate is the anchor

    @property
    def half_width(self) -> float:
        """Half a cell: largest error that quantizing may add."""
        return self.alpha / 2.0

    def around(self, estimate: float, initiator: Initiator | None = None) -> PartitionChoice:
        """Return the choice with an anchored partition around an initiator's estimate."""
        if self.partition is not None:
            return self
        laid = Partition.anchored(self.lower, self.upper, estimate, self.half_width)
        return replace(self, partition=laid, initiator=initiator)

    def describe(self) -> dict[str, object]:
        """Return what all testers share, as written in the file, without derived values."""
        shared = {'type': self.kind.value, **self.said}
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
    kind = section.choice('type', CELLS, PartitionType.UNIFORM)
    readers = {
        PartitionType.UNIFORM: _uniform,
        PartitionType.EDGES: _edges,
        PartitionType.ANCHORED: _anchored,
    }
    found = readers[kind](section, accuracy, lower, upper)
    section.finish()
    return found


def _uniform(
    section: Section, accuracy: RequiredAccuracy, lower: float, upper: float
) -> PartitionChoice:
    cells = read_keys(section, UniformCells)
    rule = cells.alpha if isinstance(cells.alpha, AlphaRule) else None
    alpha = _alpha(section, cells.alpha, accuracy)
    if cells.first is not None and cells.offset_seed is not None:
        raise section.fail('first', 'a number beside offset_seed', 'one of the two')
    first = alpha if cells.first is None else cells.first
    if first > alpha:
        raise section.fail('first', f'{first!r}', f'at most alpha = {alpha:.6g}')
    if first == alpha:
        cells = replace(cells, first=None)
    if cells.offset_seed is not None:
        drawn = generator(cells.offset_seed, RandomStream.PARTITION).random()
        first = alpha * (1.0 - drawn)  # in (0, alpha]
    if (upper - lower) / alpha > MOST_CELLS:
        raise section.fail(
            'alpha', f'{alpha:.4g}', f'at most {MOST_CELLS} cells in the range of psi'
        )
    partition = Partition.almost_uniform(lower, upper, alpha, first)
    return PartitionChoice(
        PartitionType.UNIFORM,
        lower,
        upper,
        alpha,
        rule,
        cells.offset_seed is not None,
        partition,
        shared(cells),
    )


def _alpha(section: Section, asked: float | AlphaRule, accuracy: RequiredAccuracy) -> float:
    if not isinstance(asked, AlphaRule):
        return asked
    _need_agreement(section, 'alpha', asked, accuracy)
    try:
        alpha = ALPHA_RULES[asked](accuracy.gamma, accuracy.c, accuracy.beta, accuracy.runs)
    except ValueError as error:
        expected = 'a smaller accuracy.c or a larger accuracy.beta'
        if asked is AlphaRule.CORRIGENDUM and accuracy.beta < LEAST_BETA:
            expected = f'accuracy.beta of at least {LEAST_BETA:g}'
        raise section.fail('alpha', f'{asked!r}: {error}', expected) from None
    if alpha == 0:
        raise section.fail('alpha', f'{asked!r}, which is 0 here', 'a larger accuracy.beta')
    return alpha


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
    cells = read_keys(section, EdgesOfCells)
    edges = cells.edges
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
        PartitionType.EDGES, lower, upper, widest, None, False, Partition(edges), shared(cells)
    )


def _anchored(
    section: Section, accuracy: RequiredAccuracy, lower: float, upper: float
) -> PartitionChoice:
    cells = read_keys(section, AnchoredCells, usual={'half_width': 2.0 * accuracy.gamma})
    half_width, anchor = cells.half_width, cells.anchor
    if half_width < accuracy.gamma:
        raise section.fail(
            'half_width', f'{half_width!r}', f'at least accuracy.gamma = {accuracy.gamma:g}'
        )
    _need_agreement(section, 'type', 'anchored', accuracy)
    partition = None
    if anchor is not None:
        if not lower <= anchor <= upper:
            raise section.fail(
                'anchor', f'{anchor!r}', f'{lower:g} to {upper:g}, the range of psi'
            )
        partition = Partition.anchored(lower, upper, anchor, half_width)
    elif cells.initiator is not None:
        raise section.fail('anchor', 'nothing', "the initiator's estimate, beside initiator")
    return PartitionChoice(
        PartitionType.ANCHORED,
        lower,
        upper,
        2 * half_width,
        None,
        False,
        partition,
        {'half_width': half_width},
        _objected(cells.initiator),
    )


def _objected(initiator: Initiator | None) -> Initiator | None:
    """Return the initiator with its objection, if its campaign promises nothing."""
    if initiator is None or initiator.objection:
        return initiator
    if initiator.outcome == Outcome.REACHED and not initiator.violations:
        return initiator
    ended = f'{initiator.outcome!r} and {initiator.violations} values out of bounds'
    return replace(initiator, objection=f'its campaign ended with {ended}')
