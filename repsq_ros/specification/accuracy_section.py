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

"""Reading the requested accuracy."""

from __future__ import annotations

from dataclasses import dataclass, field

from repsq_ros.keys import Key, TextEnum, key
from repsq_ros.protocols.phases import Cause
from repsq_ros.specification.reader import Section, read_keys


class SelectionBias(TextEnum):
    """How lost tests are accounted for in the interval."""

    WIDEN = 'widen'
    ASSUME_INDEPENDENT = 'assume_independent'


def _the_same(lost: str, default: str = '') -> dict[str, Key]:
    """Return the metadata of `selection` for losses by one cause."""
    meaning = f'the same for {lost}'
    return key(meaning, later=True, default_text=default)


@dataclass(frozen=True)
class RequiredAccuracy:
    """Requested accuracy: |r - r*| <= gamma with probability 1 - c, agreement with 1 - beta."""

    gamma: float = field(metadata=key('required accuracy of the mean', 'the unit of psi', above=0))
    c: float = field(metadata=key('largest probability of a larger error', above=0, below=1))
    beta: float = field(
        metadata=key('largest probability that labs return different values', above=0, below=1)
    )
    # k: number of campaigns that shall agree, the initiator's included
    runs: int = field(
        default=2,
        metadata=key('number of runs that shall agree, the initiator included', at_least=2),
    )
    selection: SelectionBias = field(
        default=SelectionBias.WIDEN,
        metadata=key(
            'widen the interval by the largest effect of lost tests, or assume that losses do '
            'not depend on psi',
        ),
    )
    selection_bench: SelectionBias = field(
        default=SelectionBias.ASSUME_INDEPENDENT,
        metadata=_the_same('attempts that the bench broke off (stall, lost node, disk, clock)'),
    )
    selection_instrument: SelectionBias | None = field(
        default=None, metadata=_the_same('attempts that instruments lost', 'selection')
    )
    selection_operator: SelectionBias | None = field(
        default=None, metadata=_the_same('attempts and cases that an operator ended', 'selection')
    )

    def widens(self, cause: Cause) -> bool:
        """Tell whether a loss by this cause widens the interval."""
        chosen = {
            Cause.BENCH: self.selection_bench,
            Cause.INSTRUMENT: self.selection_instrument,
            Cause.OPERATOR: self.selection_operator,
        }[cause]
        return (chosen or self.selection) == SelectionBias.WIDEN


def read_accuracy(section: Section, psi_range: float) -> RequiredAccuracy:
    """Return the accuracy of a specification.

    :raises SpecificationError: with file, key, what was found and what was expected
    """
    accuracy = read_keys(section, RequiredAccuracy)
    if accuracy.gamma >= psi_range:
        raise section.fail(
            'gamma', f'{accuracy.gamma!r}', f'less than the range of psi, {psi_range:g}'
        )
    section.finish()
    return accuracy
