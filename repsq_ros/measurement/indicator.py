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

"""A threshold on another quantity: its mean is a probability, such as a risk."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from repsq_ros.keys import KeyedDataclass, key
from repsq_ros.measurement.cut import Cut
from repsq_ros.measurement.inputs import Need
from repsq_ros.measurement.psi_error import OF_TWIST, PsiError


@dataclass(frozen=True)
class Indicator(KeyedDataclass, type='indicator'):
    """1 where the inner quantity is above a threshold, else 0."""

    inner: Any = field(metadata=key('the measure that is compared', name='of', digest='of'))
    above: float = field(metadata=key('psi is 1 where that measure is above, in its unit'))

    unit = '1'
    lower = 0.0
    upper = 1.0

    @property
    def needs(self) -> Need:
        """The columns that it uses."""
        needs: Need = self.inner.needs
        return needs

    def psi(self, cut: Cut) -> float:
        """Return 1 or 0."""
        return 1.0 if self.inner.psi(cut) > self.above else 0.0

    def error_of_psi(self, cut: Cut) -> PsiError:
        """Return 1 if the inner quantity is within its own error of the threshold.

        Then its side is not known, and a repetition would not help. Such a test still counts,
        unless twist and pose, or the twist with and without its spikes, are on different sides.
        """
        away, error = abs(self.inner.psi(cut) - self.above), self.inner.error_of_psi(cut)
        of_twist = {name: float(0.0 < getattr(error, name) >= away) for name in OF_TWIST}
        if any(of_twist.values()):
            return PsiError(**of_twist, told=error.told)
        return PsiError(near_threshold=float(away <= error.total))
