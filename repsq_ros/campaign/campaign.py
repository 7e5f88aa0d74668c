"""A campaign is a fold over its tests: the state is what the records so far make of it."""

from __future__ import annotations

import math

from repsq_ros.campaign.conclusion import conclude
from repsq_ros.campaign.records import EstimateRecord, TestRecord
from repsq_ros.campaign.result import Result
from repsq_ros.estimation.accumulator import Accumulator
from repsq_ros.estimation.control import Counted
from repsq_ros.estimation.portfolio import ControlledProgress
from repsq_ros.estimation.stopping import Bounds, Question
from repsq_ros.estimation.weights import Weights, z_bounds
from repsq_ros.specification.model import Specification

LARGEST_COUNT = 2**32 - 1  # of a uint32 field


class Campaign:
    """Counts tests, in their order and each once, until the stopping rule is met.

    :param forecasts: whether `expected_n` is wanted, which takes as long as all the rest
    """

    def __init__(self, specification: Specification, forecasts: bool = True) -> None:
        self._specification, self._forecasts = specification, forecasts
        self._proposal = proposal = specification.make_proposal()  # for its bounds alone
        choice = specification.tester.proposal
        self._truncation = math.inf if choice.truncation is None else choice.truncation
        self._bias = choice.truncation_bias
        accuracy, partition = specification.accuracy, specification.partition
        self.question = Question(
            accuracy.gamma - self._bias,
            accuracy.c,
            self._bounds(proposal.largest_weight_bound),
            partition.edges if partition is not None else (),
        )
        self._progress = specification.tester.stopping.begin(self.question)
        self._control = specification.make_control()
        self._total = Accumulator()
        self._weights = Weights()
        self._invalid = self._skipped = self._truncated = self._violations = 0
        self._last: tuple[int, int] = (0, -1)  # (index, attempt) counted last
        self._next_index = 0
        self._events: list[str] = []
        self.latest: EstimateRecord | None = None

    @property
    def stopped(self) -> bool:
        """True once a result can be had."""
        return self.latest is not None and self.latest.stopped

    def _bounds(self, weight_bound: float) -> Bounds:
        measure = self._specification.measure
        return z_bounds(
            measure.lower, measure.upper, weight_bound, self._proposal.unweighted, self._truncation
        )

    def is_due(self, record: TestRecord) -> bool:
        """Tell whether a record continues the campaign: neither counted before nor out of turn."""
        return (
            not self.stopped
            and record.index == self._next_index
            and (record.index, record.attempt) > self._last
        )

    def add(self, record: TestRecord) -> EstimateRecord | None:
        """Count one record.

        :returns: the estimate after it; None where the record is not due (see `is_due`)
        """
        if not self.is_due(record):
            return None
        self._last = (record.index, record.attempt)
        z = record.psi * record.weight
        if record.skipped:
            self._skipped += 1
            self._next_index += 1
            self._events.append(self._event(record, f'skipped: {record.reason}'))
        elif not record.valid:
            self._invalid += 1
            self._events.append(self._event(record, f'INVALID: {record.reason}'))
        elif not (math.isfinite(z) and self._weighs(record.weight)):
            self._invalid += 1
            self._events.append(
                self._event(record, f'not counted: psi {record.psi}, weight {record.weight}')
            )
        else:
            self._next_index += 1
            self._count(record, z)
        self.latest = self._estimate(record)
        return self.latest

    def _weighs(self, weight: float) -> bool:
        """Tell whether a weight can be: 0 is one where q draws a case that p never has."""
        return weight > 0.0 or (weight == 0.0 and not self._proposal.unweighted)

    def _count(self, record: TestRecord, z: float) -> None:
        weight_bound = min(record.weight_bound, self._proposal.largest_weight_bound)
        bounds, weighs = self._bounds(weight_bound), Bounds(0.0, weight_bound).hold(record.weight)
        self._check_psi(record)
        if not weighs:
            self._events.append(
                self._event(record, f'weight {record.weight} above its bound {weight_bound}')
            )
        if z > self._truncation:
            z = self._truncation
            self._truncated += 1
        if not (bounds.hold(z) and weighs):
            self._violations += 1
        self._weights.add(record.weight)
        known = len(self._progress.events)
        if self._control is None:
            self._total.add(z)
            self._progress.add(self._total, z, bounds)
        else:
            counted = Counted(record.x, record.psi, record.weight, weight_bound)
            beside = self._control.count(counted)
            self._total.add(beside.value)
            assert isinstance(self._progress, ControlledProgress)
            self._progress.add_beside(self._total, z, bounds, beside)
        for event in self._progress.events[known:]:
            self._events.append(self._event(record, event))

    def _check_psi(self, record: TestRecord) -> None:
        measure = self._specification.measure
        if not measure.lower <= record.psi <= measure.upper:
            self._events.append(
                self._event(
                    record,
                    f'psi {record.psi} outside its range [{measure.lower}, {measure.upper}]',
                )
            )

    @staticmethod
    def _event(record: TestRecord, text: str) -> str:
        return f'test {record.index}, attempt {record.attempt}: {text}'

    def _estimate(self, record: TestRecord) -> EstimateRecord:
        total, tester = self._total, self._specification.tester
        progress = self._progress
        upper = progress.upper + self._bias
        half_width = max(upper - total.mean, total.mean - progress.lower) if total.n else math.inf
        return EstimateRecord(
            index=record.index,
            attempt=record.attempt,
            n=total.n,
            invalid=self._invalid,
            skipped=self._skipped,
            mean=total.mean,
            variance=total.variance,
            lower=progress.lower,
            upper=upper,
            half_width=half_width,
            target=self._specification.accuracy.gamma,
            rule=tester.stopping.name,
            expected_n=min(progress.expected_n(total), tester.max_tests, LARGEST_COUNT)
            if self._forecasts
            else 0,
            effective_sample_size=self._weights.effective_sample_size,
            largest_weight=self._weights.largest,
            # Where one cell holds all of M it is certified from the start, without an estimate.
            stopped=total.n > 0
            and (progress.reached or progress.void or total.n >= tester.max_tests),
        )

    def result(self, campaign_id: str) -> Result:
        """Return the quantized result.

        :raises RuntimeError: the campaign has not stopped yet
        """
        if self.latest is None or not self.latest.stopped:
            raise RuntimeError('the campaign has not stopped yet')
        events = list(self._events)
        if self._truncated:
            events.append(f'{self._truncated} values cut to the truncation {self._truncation:g}')
        return conclude(
            campaign_id, self._specification, self._proposal, self._progress, self.latest,
            math.sqrt(self._total.unbiased_variance / self._total.n), self._violations, events,
        )  # fmt: skip
