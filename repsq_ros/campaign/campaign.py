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

"""A campaign as a fold over its tests: the records so far determine its state."""

from __future__ import annotations

import math

from repsq_ros.campaign.conclusion import centre_of, conclude
from repsq_ros.campaign.doubts import Doubts
from repsq_ros.campaign.losses import Losses
from repsq_ros.campaign.promise import lost_text
from repsq_ros.campaign.records import EstimateRecord, TestRecord
from repsq_ros.campaign.result import Result
from repsq_ros.estimation.acceptance import AcceptanceTest
from repsq_ros.estimation.accumulator import Accumulator
from repsq_ros.estimation.control import CountedCase
from repsq_ros.estimation.portfolio import ControlledProgress
from repsq_ros.estimation.selection import Selection, could_be
from repsq_ros.estimation.stationarity import LEVEL, RunningMean, StationarityTest
from repsq_ros.estimation.stopping import Bounds, Question, Validity
from repsq_ros.estimation.weights import Weights, z_bounds
from repsq_ros.protocols.phases import Cause
from repsq_ros.sampling.proposals import Dependence
from repsq_ros.specification.model import Specification

LARGEST_COUNT = 2**32 - 1  # of a uint32 field
FIRST_CASES = 20  # no forecast before this many cases
LISTED = 20  # values outside their bounds that are listed one by one


class Campaign:
    """Counts tests, in their order and each once, until the stopping rule is met.

    :ivar forecasts: whether each estimate says how many tests to expect, which takes time
    """

    def __init__(self, specification: Specification, forecasts: bool = True) -> None:
        self._specification = specification
        self._proposal = proposal = specification.make_proposal()  # only used for its bounds
        choice, tester = specification.tester.proposal, specification.tester
        self._truncation = math.inf if choice.truncation is None else choice.truncation
        self._bias = choice.truncation_bias
        self.forecasts = forecasts
        accuracy, partition = specification.accuracy, specification.partition
        measure = specification.measure
        self._range = Bounds(measure.lower, measure.upper)
        # the weight bound last seen, and its bounds of z
        self._step: tuple[float, Bounds] = (math.nan, self._range)
        self.question = Question(
            specification.gamma - self._bias,
            accuracy.c,
            self._bounds(proposal.largest_weight_bound),
            partition.edges if partition is not None else (),
            tester.max_tests,
        )
        self._progress = tester.stopping.begin(self.question)
        self._control = specification.make_control()
        self._acceptance = self._make_acceptance()
        self._total = Accumulator()
        self._errors = Accumulator()  # error bounds of psi due to the instruments
        self._doubts = Doubts(specification)
        self._weights = Weights()
        self._losses = Losses(accuracy)
        self._selection = Selection()  # all lost tests
        self._widening = Selection()  # lost tests that widen the interval
        drawn = proposal.dependence is not Dependence.LOW_DISCREPANCY
        self._stationarity = StationarityTest(self._range) if drawn else None
        self._running = RunningMean(self.question.bounds, accuracy.c)
        self._changed = False
        self._truncated = self._violations = 0
        self._last: tuple[int, int] = (0, -1)  # (index, attempt) counted last
        self._next_index = 0
        self._progress_told = 0  # number of events already reported
        self._events: list[str] = []
        self._to_ask = ''  # question to a person about the last test; '': none
        self.latest: EstimateRecord | None = None

    @property
    def stopped(self) -> bool:
        """True once `result` can be called."""
        return self.latest is not None and self.latest.stopped

    def _make_acceptance(self) -> AcceptanceTest | None:
        specification, accept = self._specification, self._specification.accept
        if accept is None:
            return None
        margin, c = specification.accept_margin, specification.accuracy.c
        return AcceptanceTest(accept.limit, margin, c, self._bias)

    def _bounds(self, weight_bound: float) -> Bounds:
        if weight_bound != self._step[0]:  # the weight bound changes at most once per batch
            psi = self._range
            bounds = z_bounds(
                psi.lower, psi.upper, weight_bound, self._proposal.unweighted, self._truncation
            )
            self._step = (weight_bound, bounds)
        return self._step[1]

    def is_due(self, record: TestRecord) -> bool:
        """Tell whether a record continues the campaign: not counted before, and in turn."""
        return (
            not self.stopped
            and record.index == self._next_index
            and (record.index, record.attempt) > self._last
        )

    def add(self, record: TestRecord) -> EstimateRecord | None:
        """Count one record.

        :returns: the estimate after it; None if the record is not due (see `is_due`)
        """
        if not self.is_due(record):
            return None
        self._last, self._to_ask = (record.index, record.attempt), ''
        z = record.psi * record.weight
        self._losses.take(record)
        if record.skipped:
            self._events.append(self._event(record, f'skipped: {record.reason}'))
            self._miss(record)
        elif record.broken_off:
            self._events.append(self._event(record, f'broken off: {record.reason}'))
        elif not record.valid:
            self._events.append(self._event(record, f'INVALID: {record.reason}'))
        elif not (math.isfinite(z) and self._is_possible_weight(record.weight)):
            self._losses.lose(Cause.INSTRUMENT)
            event = f'not counted: psi {record.psi}, weight {record.weight}'
            self._events.append(self._event(record, event))
        else:
            self._count(record, z)
        self.latest = self._estimate(record)
        return self.latest

    def _miss(self, record: TestRecord) -> None:
        """Count a case without a value; it is not repeated."""
        self._next_index += 1
        widens = self._losses.widens_test
        self._losses.end_case()
        if widens:
            self._losses.before_widening(self._progress)
        weight_bound = self._weight_bound(record)
        if math.isfinite(record.weight):
            self._note_violation(record, self._overweight(record, weight_bound))
        could = self._could_be(record, self._bounds(weight_bound))
        if widens:
            self._running.add(None, could)
        if self._control is None:
            self._miss_in(could, self.question.bounds.width, widens)
            if widens:
                self._progress.miss(self._total, could)
                self._bet_on_limit(None, self.question.bounds, could)
        else:
            beside = self._control.predict(self._counted(record))
            self._miss_in(beside.shifted(could), beside.bounds.width, widens)
            if widens:
                assert isinstance(self._progress, ControlledProgress)
                self._progress.miss_beside(self._total, could, beside)
                self._bet_on_limit(*beside.on_limit(None, self.question.bounds, could))
        if widens:
            self._report_progress(record)

    def _miss_in(self, could: Bounds, widest: float, widens: bool) -> None:
        for selection in (self._selection, self._widening)[: 1 + widens]:
            selection.miss(could, widest)

    def _weight_bound(self, record: TestRecord) -> float:
        return min(record.weight_bound, self._proposal.largest_weight_bound)

    def _could_be(self, record: TestRecord, step: Bounds) -> Bounds:
        psi = self._range
        return could_be(psi.lower, psi.upper, record.weight, self._truncation, step)

    def _is_possible_weight(self, weight: float) -> bool:
        """Tell whether a weight is possible: 0 occurs where q draws a case that p never draws."""
        return weight > 0.0 or (weight == 0.0 and not self._proposal.unweighted)

    def _count(self, record: TestRecord, z: float) -> None:
        self._next_index += 1
        weight_bound = self._weight_bound(record)
        bounds = self._bounds(weight_bound)
        if z > self._truncation:
            z = self._truncation
            self._truncated += 1
        self._check(record, z, bounds, weight_bound)
        self._weights.add(record.weight)
        self._errors.add(record.weight * record.psi_error)
        could = widened = None
        if self._losses.in_test:
            could = self._could_be(record, bounds)
            self._selection.add(z, could)
        if could is not None and self._losses.widens_test:
            widened = could
            self._widening.add(z, could)
            self._losses.before_widening(self._progress)
        self._losses.end_case()
        self._running.add(z, widened)
        beside = None
        if self._control is None:
            self._total.add(z)
            self._progress.add(self._total, z, bounds, widened)
            self._bet_on_limit(z, bounds, widened)
        else:
            beside = self._control.count(self._counted(record))
            self._total.add(beside.value)
            assert isinstance(self._progress, ControlledProgress)
            self._progress.add_beside(self._total, z, bounds, beside, widened)
            self._bet_on_limit(*beside.on_limit(z, bounds, widened))
        self._losses.count(self._total, z, bounds, beside)
        self._report_progress(record)
        self._look_for_drift(record, z, bounds)
        self._to_ask = self._doubts.take(record)
        self._events += [self._event(record, self._to_ask)] * bool(self._to_ask)

    def _bet_on_limit(self, z: float | None, bounds: Bounds, could: Bounds | None) -> None:
        """Use a test, or a case without a value, as evidence about the limit of `accept`."""
        test = self._acceptance
        if test is None or test.decided:
            return
        if z is None:
            assert could is not None
            test.miss(bounds, could)
        elif bounds.hold(z):  # a value outside its bounds voids the promise
            test.add(z, bounds, could)

    def _look_for_drift(self, record: TestRecord, z: float, bounds: Bounds) -> None:
        """Note once that the mean changes: every promise assumes that it does not."""
        test = self._stationarity
        if test is None or not bounds.hold(z):
            return
        test.add(z, bounds)
        if test.changed[0]:
            self._stationarity, self._changed = None, True
            self._events.append(
                self._event(
                    record,
                    f'drift: the mean changed while the campaign ran (tested at level {LEVEL:g}, '
                    'valid at any number of tests); the result does not describe the robot as it '
                    'is now',
                )
            )

    def _counted(self, record: TestRecord) -> CountedCase:
        return CountedCase(record.x, record.psi, record.weight, self._weight_bound(record))

    def _check(self, record: TestRecord, z: float, bounds: Bounds, weight_bound: float) -> None:
        """Note values outside their bounds, on which the promise relies."""
        faults = []
        if not self._range.hold(record.psi):
            faults.append(
                f'psi {record.psi} outside its range [{self._range.lower}, {self._range.upper}]'
            )
        faults += self._overweight(record, weight_bound)
        if not (faults or bounds.hold(z)):
            faults.append(f'z {z} outside its bounds [{bounds.lower}, {bounds.upper}]')
        self._note_violation(record, faults)

    @staticmethod
    def _overweight(record: TestRecord, weight_bound: float) -> list[str]:
        if Bounds(0.0, weight_bound).hold(record.weight):
            return []
        return [f'weight {record.weight} above its bound {weight_bound}']

    def _note_violation(self, record: TestRecord, faults: list[str]) -> None:
        if faults:
            self._violations += 1
            if self._violations <= LISTED:
                self._events += [self._event(record, fault) for fault in faults]

    def _report_progress(self, record: TestRecord) -> None:
        """Note what the stopping rule has reported since the last call."""
        told = self._progress.events[self._progress_told :]
        self._progress_told += len(told)
        self._events += [self._event(record, event) for event in told]

    @staticmethod
    def _event(record: TestRecord, text: str) -> str:
        return f'test {record.index}, attempt {record.attempt}: {text}'

    def _estimate(self, record: TestRecord) -> EstimateRecord:
        total, tester = self._total, self._specification.tester
        progress = self._progress
        # r* lies in the range of psi, whatever the tests show.
        lower = self._range.clip(progress.lower)
        upper = self._range.clip(progress.upper + self._bias)
        centre = centre_of(tester.stopping, lower, upper, total.mean)
        half_width = max(upper - centre, centre - lower) if total.n else math.inf
        losses = self._losses
        expected = progress.expected_n(total) if self.forecasts else 0
        stopped = total.n > 0 and (
            # With a single cell the rule is met before the first test; wait for one anyway.
            progress.reached
            or progress.void
            or total.n >= tester.max_tests
            or self._ended_by_verdict
        )
        return EstimateRecord(
            index=record.index,
            attempt=record.attempt,
            n=total.n,
            invalid=losses.invalid,
            skipped=losses.skipped,
            broken_off=losses.broken_off,
            bench=losses.bench,
            extra_tests=losses.extra_tests(total, 0 if stopped else expected),
            lost_time=losses.seconds,
            mean=total.mean,
            variance=total.variance,
            lower=lower,
            upper=upper,
            half_width=half_width,
            gamma=self._specification.gamma,
            rule=tester.stopping.name,
            expected_n=min(expected, tester.max_tests, LARGEST_COUNT),
            effective_sample_size=self._weights.effective_sample_size,
            largest_weight=self._weights.largest,
            stopped=stopped,
            note=self._note(expected) if self._violations or self._selection.some else '',
            question=self._to_ask,
        )

    @property
    def _ended_by_verdict(self) -> bool:
        test = self._acceptance
        return self._specification.tester.until_verdict and test is not None and test.decided

    def _note(self, expected: int) -> str:
        """Return an early warning if the requested accuracy will not be reached."""
        if self._violations:
            return f'no accuracy will be promised: {self._violations} tests out of their bounds'
        gamma, limit = self._specification.gamma, self._specification.tester.max_tests
        cases = self._widening.cases(self._total)
        aims = self._specification.tester.stopping.validity is not Validity.NONE
        if not (aims and self._widening.some) or cases < FIRST_CASES:
            return ''
        lost = self._losses.total - self._losses.independent
        shift = self._widening.shift(self._total)
        if shift >= gamma:
            end = 'should as many go on being lost'
        elif self.forecasts and not 0 < expected <= limit:
            end = f'within max_tests = {limit}'
        else:
            return ''
        return (
            f'gamma = {gamma:g} is out of reach {end}: {lost_text(lost)} lost so far '
            f'can hide up to {shift:.3g}'
        )

    def _mean_over_tests(self) -> Bounds | None:
        """Return bounds of the mean over the tests if it changed, else None.

        Where losses widen the interval, the losses may change with time instead of the robot.
        """
        changed = self._changed and not self._widening.some
        if not (changed or self._progress.void):
            return None
        found = self._running.interval
        return Bounds(self._range.clip(found.lower), self._range.clip(found.upper + self._bias))

    def result(self, campaign_id: str) -> Result:
        """Return the quantized result.

        :raises RuntimeError: the campaign has not stopped yet
        """
        if self.latest is None or not self.latest.stopped:
            raise RuntimeError('the campaign has not stopped yet')
        events = list(self._events)
        if self._violations > LISTED:
            events.append(f'{self._violations - LISTED} more tests with values outside bounds')
        if self._truncated:
            events.append(f'{self._truncated} values cut to the truncation {self._truncation:g}')
        return conclude(
            campaign_id,
            self._specification,
            self._proposal,
            self._progress,
            self.latest,
            math.sqrt(self._total.unbiased_variance / self._total.n),
            self._violations,
            self._selection.shift(self._total),
            self._losses,
            self._errors.mean,
            events,
            self._doubts,
            self._acceptance,
            self._mean_over_tests(),
        )
