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

"""What was lost in a campaign, who caused it, and what it cost."""

from __future__ import annotations

import copy
import math
from collections import deque

import numpy as np

from repsq_ros.campaign.records import TestRecord
from repsq_ros.estimation.accumulator import Accumulator
from repsq_ros.estimation.control import ControlledValue
from repsq_ros.estimation.portfolio import ControlledProgress
from repsq_ros.estimation.stopping import Bounds, Progress
from repsq_ros.protocols.phases import Cause
from repsq_ros.specification.accuracy_section import RequiredAccuracy
from repsq_ros.timebase import to_seconds

CUT_SHORT = 'the scheduler ended in this attempt'
KEPT = 101  # test durations kept, whose median is the duration of a test


class Losses:
    """Counts lost attempts and cases, and decides whether they widen the interval.

    Cost in tests: from the first loss that widens the interval on, a second copy of the stopping
    rule continues as if nothing had been lost. It stops where the campaign would have stopped.
    Cost in time: the extra time of cases with a lost attempt, compared with other cases.
    """

    def __init__(self, accuracy: RequiredAccuracy) -> None:
        self._widens = {cause: accuracy.widens(cause) for cause in Cause}
        self.invalid = self.skipped = self.broken_off = self.bench = 0
        self.independent = 0  # lost attempts and cases that are assumed to be independent of psi
        self.in_test = False  # an attempt of the current case was lost
        self.widens_test = False  # ... and widens the interval
        self._without: Progress | None = None  # the rule as if nothing had been lost
        self._enough = 0  # n at which that rule stopped; 0: not yet
        self._last_ns = 0  # end of the previous attempt
        self._held = False  # the previous case was skipped, which may have taken a while
        self._lost_ns = 0
        self._repeated = 0  # cases that gave psi after a loss
        self._usual_ns = deque[int](maxlen=KEPT)

    @property
    def total(self) -> int:
        """Return the number of lost attempts and cases."""
        return self.invalid + self.skipped + self.broken_off

    def take(self, record: TestRecord) -> None:
        """Record an attempt that is due, before it is counted."""
        self.broken_off += record.broken_off
        self.skipped += record.skipped
        cause = record.loss
        self._take_time(record, cause)
        if cause is not None:
            self.lose(cause, record.broken_off, record.skipped)

    def lose(self, cause: Cause, broken_off: bool = False, skipped: bool = False) -> None:
        """Count a loss."""
        self.invalid += not (broken_off or skipped)
        self.bench += cause is Cause.BENCH
        self.in_test = True
        if self._widens[cause]:
            self.widens_test = True
        else:
            self.independent += 1

    def _take_time(self, record: TestRecord, cause: Cause | None) -> None:
        end_ns = record.window_end_ns
        passed_ns = max(end_ns - self._last_ns, 0) if self._last_ns else 0
        self._last_ns = end_ns
        if record.reason == CUT_SHORT:
            return  # waiting for a person is not counted
        held, self._held = self._held, record.skipped
        if cause is None and not (self.in_test or held):
            self._usual_ns.append(passed_ns)
            return
        self._lost_ns += passed_ns
        self._repeated += cause is None

    @property
    def seconds(self) -> float:
        """Return the time that losses took [s]."""
        if not self._lost_ns:
            return 0.0
        usual_ns = float(np.median(self._usual_ns)) if self._usual_ns else 0.0
        return to_seconds(max(self._lost_ns - round(self._repeated * usual_ns), 0))

    def end_case(self) -> None:
        """Note that the case under test is over."""
        self.in_test = self.widens_test = False

    # The interval without losses -----------------------------------------------------------------

    def before_widening(self, progress: Progress) -> None:
        """Keep a copy of the rule before the first loss widens it."""
        if self._without is None and not self._enough:
            self._without = copy.deepcopy(progress)

    def count(
        self, total: Accumulator, z: float, bounds: Bounds, beside: ControlledValue | None
    ) -> None:
        """Count a test as if nothing had been lost before it."""
        without = self._without
        if without is None:
            return
        if isinstance(without, ControlledProgress):
            assert beside is not None
            without.add_beside(total, z, bounds, beside)
        else:
            without.add(total, z, bounds)
        if without.reached or without.void:
            self._enough, self._without = total.n, None

    def extra_tests(self, total: Accumulator, expected: int) -> int:
        """Return how many tests losses cost.

        :param expected: number of tests at the stop; 0: unknown
        """
        if self._enough:
            return max(total.n, expected) - self._enough
        if self._without is None or not expected:
            return 0
        enough = self._without.expected_n(total)
        return max(expected - enough, 0) if 0 < enough < math.inf else 0
