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
from repsq_ros.measurement import validity
from repsq_ros.measurement.inputs import Input
from repsq_ros.measurement.limits import Commanded, Condition, Fall, Limits
from repsq_ros.measurement.own import OwnQuantity
from repsq_ros.measurement.reasons import Code, Fault
from repsq_ros.measurement.seeing import Wanted, read_bodies, read_gauges
from repsq_ros.measurement.track import Series
from repsq_ros.measurement.window import Observation, Seen, UnmeasurableError, Window


@dataclass(frozen=True)
class Evaluation:
    """What a window gave: psi, or the reason why it gives none."""

    psi: float  # 0 where not valid
    valid: bool
    reason: str
    samples: int
    note: str = ''  # what is out of the ordinary in a valid one, e.g. a fall
    code: Code | None = None  # of the reason, for programs

    @staticmethod
    def invalid(reason: str, samples: int = 0, code: Code = Code.OWN) -> Evaluation:
        """Make the outcome of a test that the instruments spoiled."""
        return Evaluation(0.0, False, reason, samples, code=code)


class Quantity(Protocol):
    """What is computed from samples that have passed all checks."""

    @property
    def lower(self) -> float:
        """Lower end of its range M."""

    @property
    def upper(self) -> float:
        """Upper end of its range M: the worst there is."""

    @property
    def unit(self) -> str:
        """Unit of psi."""

    @property
    def needs(self) -> str:
        """What it is computed from: velocity, position, pose, or reading."""

    def psi(self, seen: Seen, window: Window) -> float:
        """Return psi.

        :raises UnmeasurableError: the samples do not allow it; the test is INVALID
        """

    def describe(self) -> dict[str, object]:
        """Return all that two labs have to share."""


USUAL = Limits()
SIDE_BY_SIDE = 16  # windows: more of them find no room in a cache
NOTHING = Series(np.empty(0, dtype=np.int64), np.empty(0))


@dataclass(frozen=True)
class Measure:
    """A quantity, the input it is computed from, and what makes a test INVALID."""

    quantity: Quantity
    input: Input
    limits: Limits = USUAL
    conditions: tuple[Condition, ...] = ()
    condition_inputs: tuple[Input, ...] = ()  # one for each condition
    fall: Fall | None = None
    # The fastest that is commanded; None: not known. It follows from the target, so it is no part
    # of the measure's own description.
    commanded: Commanded | None = None

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
        return self.quantity.needs == 'reading'

    def describe(self) -> dict[str, object]:
        """Return all that two labs have to share."""
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

    def evaluate(self, observation: Observation) -> Evaluation:
        """Return psi of a window, or the named reason why there is none."""
        return self.evaluate_all([observation])[0]

    def evaluate_all(self, observations: Sequence[Observation]) -> list[Evaluation]:
        """Return what each of several windows gives; each gives what it would alone."""
        read = read_gauges if self.of_readings else read_bodies
        outcomes: list[Evaluation] = []
        # Numbers of any size may come; what they make of a sum is looked at, not warned of.
        with np.errstate(all='ignore'):
            for begin in range(0, len(observations), SIDE_BY_SIDE):
                some = observations[begin : begin + SIDE_BY_SIDE]
                found = read(some, self.input, self._wanted)
                outcomes += [self._judge(*each) for each in zip(some, found, strict=True)]
        return outcomes

    def _judge(
        self, observation: Observation, found: tuple[Seen, str] | UnmeasurableError
    ) -> Evaluation:
        window = observation.window
        count = observation.count
        try:
            if isinstance(found, UnmeasurableError):
                raise found
            seen, note = found
            objection = self._objection(observation)
            if note:
                return Evaluation(self.upper, True, '', count, note)
            if objection:
                return Evaluation.invalid(objection.text, count, objection.code)
            psi = float(self.quantity.psi(seen, window))
        except UnmeasurableError as error:
            fault = self._objection(observation) or Fault(error.code, str(error))
            return Evaluation.invalid(fault.text, count, fault.code)
        if not math.isfinite(psi):
            reason = f'psi is {psi}: the measure gave no finite number'
            return Evaluation.invalid(reason, count, Code.RESULT)
        return Evaluation(psi, True, '', count)

    @property
    def _wanted(self) -> Wanted:
        quantity = self.quantity
        inner = getattr(quantity, 'inner', quantity)  # of an indicator
        own = isinstance(inner, OwnQuantity)
        return Wanted(quantity.needs, self.limits, self.fall, self.commanded, history=own)

    def _objection(self, observation: Observation) -> Fault | None:
        """Return what the first condition that objects says: it names the cause, not its trace."""
        for condition, source in zip(self.conditions, self.condition_inputs, strict=True):
            raw = observation.conditions.get(condition.name, NOTHING)
            series = Series(raw.stamps, source.to_si(raw.values))
            window = observation.window
            doubts = observation.condition_doubts.get(condition.name, ())
            fault = validity.condition_fault(condition, series, window)
            if fault is None and doubts:
                fault = validity.doubt_fault(doubts, int(series.stamps[0]), window.end_ns, window)
            if fault:
                return fault
        return None
