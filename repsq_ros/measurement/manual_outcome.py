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

"""A person's judgement of a test, from a list of outcomes: success, slipped, dropped, ..."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from repsq_ros.keys import KeyedDataclass, key
from repsq_ros.measurement.cut import Cut
from repsq_ros.measurement.inputs import Need
from repsq_ros.measurement.psi_error import PsiError
from repsq_ros.measurement.reasons import Code
from repsq_ros.measurement.window import UnmeasurableError


@dataclass(frozen=True)
class ManualOutcome(KeyedDataclass, type='manual_outcome'):
    """Psi of the outcome whose index, from 0, was received in the window."""

    outcomes: tuple[str, ...] = field(metadata=key('how a test can end, e.g. a failure mode each'))
    worth: tuple[float, ...] = field(
        metadata=key('psi of each outcome, in their order', name='psi')
    )

    needs = Need.READING
    unit = '1'

    @property
    def lower(self) -> float:
        """Lower end of psi."""
        return min(self.worth)

    @property
    def upper(self) -> float:
        """Upper end of psi: the worst outcome."""
        return max(self.worth)

    def psi(self, cut: Cut) -> float:
        """Return psi of the outcome.

        :raises UnmeasurableError: two outcomes, or an invalid one
        """
        told = np.unique(cut.values)
        if len(told) > 1 or told[0] not in range(len(self.outcomes)):
            raise UnmeasurableError(
                f'reading: {", ".join(f"{each:g}" for each in told)} told, expected one outcome '
                f'from 0 to {len(self.outcomes) - 1}',
                Code.READING,
            )
        return self.worth[int(told[0])]

    def error_of_psi(self, cut: Cut) -> PsiError:
        """Return no error: a person is not an instrument."""
        return PsiError()

    @property
    def keys(self) -> dict[str, int]:
        """Return each outcome's key: a letter of its name, or its number."""
        found: dict[str, int] = {}
        for place, name in enumerate(self.outcomes):
            letters = [each for each in name.lower() if each.isalpha()]
            free = [each for each in (*letters, *map(str, range(1, 10))) if each not in found]
            found[free[0] if free else chr(ord('A') + place)] = place
        return found
