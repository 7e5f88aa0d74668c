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

"""What a campaign counts: cases issued, tests measured, the estimate after each."""

from __future__ import annotations

import math
from dataclasses import dataclass

from repsq_ros.measurement.measure import Evaluation
from repsq_ros.measurement.recorder import Key, Window
from repsq_ros.protocols.phases import Cause
from repsq_ros.sampling.proposals import Draw

CAUSES = {cause.value: cause for cause in Cause}
ROUNDING = 1e-9  # relative: another machine's sines and logarithms may differ in the last digits


def close(found: float, expected: float) -> bool:
    """Return whether two numbers are equal, up to the rounding of another machine."""
    both_nan = math.isnan(found) and math.isnan(expected)
    return both_nan or math.isclose(found, expected, rel_tol=ROUNDING, abs_tol=ROUNDING)


@dataclass(frozen=True)
class Case:
    """One attempt at one test case."""

    index: int
    attempt: int
    draw: Draw


@dataclass(frozen=True)
class TestRecord:
    """The outcome of one attempt at one test, as TestMeasurement.msg carries it."""

    __test__ = False  # not a test class, whatever its name says to pytest

    index: int
    attempt: int
    psi: float
    weight: float
    valid: bool
    reason: str = ''
    samples: int = 0
    window_start_ns: int = 0
    window_end_ns: int = 0
    x: tuple[float, ...] = ()
    weight_bound: float = math.inf  # of the proposal that drew x; +inf: use that of the campaign
    skipped: bool = False  # by the operator: the case is not repeated
    broken_off: bool = False  # ended by a pause, a skip or a lost peer after its command began
    # Machine-readable reason: measurement.reasons.Code.key; if valid: 'unanswered' or ''.
    code: str = ''
    cause: str = ''  # a Cause if it was broken off; '': not recorded (earlier version)
    psi_error: float = 0.0  # largest error of psi due to the instruments; 0: not known
    measured: tuple[float, ...] = ()  # mean velocity or position of the window; empty: not known

    @property
    def loss(self) -> Cause | None:
        """Return who caused that this attempt gave no psi; None if it gave psi."""
        if self.skipped:
            return Cause.OPERATOR
        if self.broken_off:
            return CAUSES.get(self.cause, Cause.OPERATOR)
        return None if self.valid else Cause.INSTRUMENT

    @property
    def follower(self) -> Key:
        """(index, attempt) of the next attempt."""
        over = self.valid or self.skipped
        return (self.index + 1, 0) if over else (self.index, self.attempt + 1)


def record_of(
    key: Key,
    draw: Draw,
    window: Window,
    outcome: Evaluation,
) -> TestRecord:
    """Make the record of a test from its case and the evaluation of its window.

    :param key: (index, attempt) of the test
    """
    return TestRecord(
        *key,
        outcome.psi,
        draw.weight,
        outcome.valid,
        outcome.reason,
        outcome.samples,
        window.start_ns,
        window.end_ns,
        draw.x,
        draw.weight_bound,
        code='' if outcome.code is None else outcome.code.key,
        psi_error=outcome.psi_error,
        measured=outcome.measured,
    )


@dataclass(frozen=True)
class EstimateRecord:
    """The estimate after one test, as Estimate.msg carries it."""

    index: int
    attempt: int
    n: int
    invalid: int
    skipped: int
    broken_off: int
    mean: float
    variance: float
    lower: float
    upper: float
    half_width: float
    gamma: float
    rule: str
    expected_n: int
    effective_sample_size: float
    largest_weight: float
    stopped: bool
    note: str = ''  # what keeps the campaign from the requested accuracy
    bench: int = 0  # broken-off attempts that the bench itself caused
    extra_tests: int = 0  # tests that losses cost; an estimate while the campaign runs
    lost_time: float = 0.0  # [s] that lost attempts and their pauses took
    question: str = ''  # what a person has to check before the campaign continues; '': nothing


@dataclass(frozen=True)
class CountedAttempt:
    """An attempt that is over, with both its answers: it belongs into the journal."""

    record: TestRecord
    estimate: EstimateRecord
