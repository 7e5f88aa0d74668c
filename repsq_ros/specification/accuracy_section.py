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

"""Reading the accuracy that is asked for."""

from __future__ import annotations

from dataclasses import dataclass

from repsq_ros.specification.reader import Section

SELECTIONS = ('widen', 'assume_independent')


@dataclass(frozen=True)
class RequiredAccuracy:
    """What is asked for: |r - r*| <= gamma with probability 1 - c, agreement with 1 - beta."""

    gamma: float  # [unit of psi]
    c: float
    beta: float
    runs: int = 2  # k: campaigns that shall agree, an initiator's and its replicators'
    # One of SELECTIONS: whether the interval is widened by what lost tests can have hidden, or
    # instruments and operators are assumed to lose them whatever psi is.
    selection: str = 'widen'


def read_accuracy(section: Section, psi_range: float) -> RequiredAccuracy:
    """Return the accuracy of a specification.

    :raises SpecificationError: with file, key, what was found and what was expected
    """
    gamma = section.number('gamma', above=0)
    if gamma >= psi_range:
        raise section.fail('gamma', f'{gamma!r}', f'less than the range of psi, {psi_range:g}')
    accuracy = RequiredAccuracy(
        gamma,
        section.number('c', above=0, below=1),
        section.number('beta', above=0, below=1),
        section.whole('runs', 2, at_least=2),
        section.choice('selection', SELECTIONS, 'widen'),
    )
    section.finish()
    return accuracy
