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

"""A user's own quantity, with its part of the contract."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Protocol

from repsq_ros.measurement.cut import Cut
from repsq_ros.measurement.inputs import Need
from repsq_ros.measurement.psi_error import PsiError
from repsq_ros.measurement.velocity_error import twist_error
from repsq_ros.measurement.window import UnmeasurableError

ATTRIBUTES = ('lower', 'upper', 'unit', 'needs')


class Quantity(Protocol):
    """What a measure of one's own has to offer. It may have `psi_error(cut)` as well."""

    @property
    def lower(self) -> float:
        """Lower end of its range M."""

    @property
    def upper(self) -> float:
        """Upper end of its range M, the worst psi."""

    @property
    def unit(self) -> str:
        """Unit of psi."""

    @property
    def needs(self) -> str:
        """The columns that it uses: velocity, position, pose, or reading."""

    def psi(self, cut: Cut) -> float:
        """Return psi.

        :raises UnmeasurableError: it cannot be computed; the test is INVALID
        """


class OwnQuantity:
    """Wraps an object of a user's class."""

    def __init__(self, inner: Any, description: dict[str, object]) -> None:
        self._inner, self._description = inner, description
        self.lower, self.upper = float(inner.lower), float(inner.upper)
        self.unit, self.needs = str(inner.unit), Need(inner.needs)

    def describe(self) -> dict[str, object]:
        """Return everything that two labs have to share: its name, options, unit."""
        return {**self._description, 'unit': self.unit, 'needs': self.needs.value}

    def psi(self, cut: Cut) -> float:
        """Return psi.

        An error in foreign code makes one test INVALID, with a message; the campaign continues.
        """
        return self._asked('psi', cut)

    def error_of_psi(self, cut: Cut) -> PsiError:
        """Return the result of its method `psi_error`, if any, and the errors of the poses."""
        told = abs(self._asked('psi_error', cut)) if hasattr(self._inner, 'psi_error') else 0.0
        return replace(twist_error(cut, self.psi), noise=told)

    def _asked(self, name: str, cut: Cut) -> float:
        try:
            return float(getattr(self._inner, name)(cut))
        except UnmeasurableError:
            raise
        except Exception as error:
            own = self._description['type']
            raise UnmeasurableError(f'{own}: {type(error).__name__}: {error}') from None
