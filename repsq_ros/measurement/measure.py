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

"""Measures: one function from samples to psi, the same online, in replay and in simulation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from repsq_ros.keys import shared
from repsq_ros.measurement.checked_window import checked_window
from repsq_ros.measurement.condition_checks import condition_fault
from repsq_ros.measurement.cut import Cut
from repsq_ros.measurement.displacement import GaugeDisplacement
from repsq_ros.measurement.inputs import Input, Need
from repsq_ros.measurement.limits import Condition, Fall, Limits, Unanswered
from repsq_ros.measurement.own import OwnQuantity, Quantity
from repsq_ros.measurement.psi_error import PsiError
from repsq_ros.measurement.reasons import Code, Fault
from repsq_ros.measurement.unanswered import TURN, unanswered
from repsq_ros.measurement.window import UnmeasurableError


@dataclass(frozen=True)
class Evaluation:
    """The outcome of a window: psi, or the reason why there is none."""

    psi: float  # 0 where not valid
    valid: bool
    reason: str
    samples: int
    note: str = ''  # what is unusual in a valid test, e.g. a fall
    code: Code | None = None  # of the reason, for programs; if valid: UNANSWERED or None
    psi_error: float = 0.0  # largest error of psi due to the instruments; 0: not known
    # The measured command: mean (v_x, v_y, yaw rate) [m/s, m/s, rad/s], or the mean position of a
    # pose [m]. Empty: the window shows neither.
    measured: tuple[float, ...] = ()

    @staticmethod
    def invalid(reason: str, samples: int = 0, code: Code = Code.OWN) -> Evaluation:
        """Make the outcome of an INVALID test."""
        return Evaluation(0.0, False, reason, samples, code=code)


class CheckedQuantity(Quantity, Protocol):
    """A number computed from samples that have passed all checks."""

    @property
    def needs(self) -> Need:
        """The columns that it uses."""

    def error_of_psi(self, cut: Cut) -> PsiError:
        """Return the largest error of psi due to the instruments, by cause.

        :param cut: the one from which psi was computed
        """

    def describe(self) -> dict[str, object]:
        """Return everything that two labs have to share."""


USUAL = Limits()
NUMBERS = {Need.VELOCITY: 3, Need.POSE: 6}  # number of components of such a command


@dataclass(frozen=True)
class Measure:
    """A quantity with its input, and the conditions that make a test INVALID."""

    quantity: CheckedQuantity
    input: Input
    limits: Limits = USUAL
    conditions: tuple[Condition, ...] = ()
    condition_inputs: tuple[Input, ...] = ()  # one for each condition
    fall: Fall | None = None
    # The requested accuracy, from elsewhere in the contract; `limits.largest_error` is a share of
    # it. None: not known, and psi_error has no limit.
    gamma: float | None = None

    @property
    def lower(self) -> float:
        """Lower end of the range M of psi."""
        return self.quantity.lower

    @property
    def upper(self) -> float:
        """Upper end of the range M of psi."""
        return self.quantity.upper

    @property
    def unit(self) -> str:
        """Unit of psi."""
        return self.quantity.unit

    @property
    def of_readings(self) -> bool:
        """Tell whether its input is a number over time."""
        return self.quantity.needs == Need.READING

    @property
    def judges_stamps(self) -> bool:
        """Tell whether psi_error judges stamps of arrival, so that they are no other reason."""
        return self.gamma is not None and getattr(self.quantity, 'judges_stamps', False)

    @property
    def own(self) -> bool:
        """Tell whether the quantity is the user's own, which may use all earlier samples."""
        return isinstance(getattr(self.quantity, 'inner', self.quantity), OwnQuantity)

    @property
    def shows(self) -> Need | None:
        """The kind of command that the window shows: velocity or pose; None: neither."""
        if self.quantity.needs == Need.VELOCITY:
            return None if self.own else Need.VELOCITY
        return Need.POSE if self.quantity.needs in (Need.POSITION, Need.POSE) else None

    def describe(self) -> dict[str, object]:
        """Return everything that two labs have to share."""
        return {
            **self.quantity.describe(),
            'range': [self.lower, self.upper],
            'input': self.input.describe(),
            'limits': self.limits.describe(),
            'fall': None if self.fall is None else shared(self.fall),
            'conditions': [
                {**shared(condition), 'input': source.describe()}
                for condition, source in zip(self.conditions, self.condition_inputs, strict=True)
            ],
        }

    def evaluate(self, cut: Cut, conditions: Sequence[Cut] = ()) -> Evaluation:
        """Return psi of a window, or the named reason why there is none.

        :param cut: the window with everything before it
        :param conditions: for each, its last reading before the command and those after it
        """
        # numbers of any size may come, and the checks handle overflow
        with np.errstate(all='ignore'):
            return self._evaluate(cut, conditions)

    def _evaluate(self, cut: Cut, conditions: Sequence[Cut]) -> Evaluation:
        objection, count = self._first_condition_fault(conditions), cut.count
        try:
            ready, note = checked_window(cut, self.fall, history=self.own)
            if note:
                return Evaluation(self.upper, True, '', count, note)
            if objection:
                return Evaluation.invalid(objection.text, count, objection.code)
            measured = self._measured(ready)
            # Most bodies move on average, and need no closer check.
            fastest = max(map(abs, measured), default=0.0)
            still = unanswered(cut) if fastest < TURN * self.limits.least_speed else ''
            if still and self.limits.unanswered != Unanswered.ASK:
                return self._outcome_at_rest(still, count)
            psi = float(self.quantity.psi(ready))
            off = self.quantity.error_of_psi(ready) if math.isfinite(psi) else PsiError()
        except UnmeasurableError as error:
            fault = objection or Fault(error.code, str(error))
            return Evaluation.invalid(fault.text, count, fault.code)
        if not math.isfinite(psi):
            reason = f'psi is {psi}: the measure gave no finite number'
            return Evaluation.invalid(reason, count, Code.RESULT)
        largest = math.inf if self.gamma is None else self.limits.largest_error * self.gamma
        spoiled = off.fault(largest, self.unit)
        if spoiled is not None:
            return Evaluation.invalid(spoiled.text, count, spoiled.code)
        total = min(off.total, self.upper - self.lower)
        return Evaluation(
            psi,
            True,
            '',
            count,
            still or self._outside(psi),
            Code.UNANSWERED if still else None,
            psi_error=total,
            measured=measured,
        )

    def _outcome_at_rest(self, text: str, count: int) -> Evaluation:
        if self.limits.unanswered == Unanswered.INVALID:
            return Evaluation.invalid(text, count, Code.UNANSWERED)
        return Evaluation(self.upper, True, '', count, text, Code.UNANSWERED)

    def _measured(self, cut: Cut) -> tuple[float, ...]:
        """Return the measured command in a window, or a gauge's reading before the command."""
        if isinstance(self.quantity, GaugeDisplacement):
            return self.quantity.reading_before(cut)
        shows = self.shows
        if shows is None or len(cut.window.command) != NUMBERS[shows]:
            return ()
        rows = cut.velocity if shows == Need.VELOCITY else cut.measured.position
        return () if rows is None else tuple(map(float, rows.mean(axis=0)))

    def _outside(self, psi: float) -> str:
        """Return a note if psi is outside of its range; '': it is not."""
        if self.lower <= psi <= self.upper:
            return ''
        return (
            f'psi {psi:g} is outside its range, {self.lower:g} to {self.upper:g} {self.unit}: '
            'a wrong range, unit or baseline?'
        )

    def _first_condition_fault(self, cuts: Sequence[Cut]) -> Fault | None:
        """Return the fault of the first condition: it is the cause of other faults."""
        for condition, cut in zip(self.conditions, cuts, strict=True):
            fault = condition_fault(condition, cut)
            if fault:
                return fault
        return None
