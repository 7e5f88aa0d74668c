"""A campaign is a fold over its tests: the state is what the records so far make of it."""

from __future__ import annotations

import math

from repsq_ros.campaign.records import EstimateRecord, TestRecord
from repsq_ros.campaign.result import Result, guarantee
from repsq_ros.estimation.accumulator import Accumulator
from repsq_ros.estimation.agreement import probability_same
from repsq_ros.estimation.stopping import smallest_n
from repsq_ros.specification.model import Specification

LARGEST_COUNT = 2**32 - 1  # of a uint32 field


class Campaign:
    """Counts tests, in their order and each once, until the stopping rule is met.

    :param weight_bound: w_max of the proposal, so that R = m w_max bounds the range of z = psi w
    """

    def __init__(self, specification: Specification, weight_bound: float) -> None:
        self._specification = specification
        self._accumulator = Accumulator()
        self._weight_bound = weight_bound
        self._z_range = (specification.measure.upper - specification.measure.lower) * weight_bound
        self._invalid = 0
        self._last: tuple[int, int] = (0, -1)  # (index, attempt) counted last
        self._next_index = 0
        self._events: list[str] = []
        self.latest: EstimateRecord | None = None

    @property
    def stopped(self) -> bool:
        """True once a result can be had."""
        return self.latest is not None and self.latest.stopped

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
        if not record.valid:
            self._invalid += 1
            self._events.append(self._event(record, f'INVALID: {record.reason}'))
        elif not (math.isfinite(z) and record.weight > 0):
            self._invalid += 1
            self._events.append(
                self._event(record, f'not counted: psi {record.psi}, weight {record.weight}')
            )
        else:
            self._next_index += 1
            self._accumulator.add(z)
            self._check_bound(record)
        self.latest = self._estimate(record)
        return self.latest

    def _check_bound(self, record: TestRecord) -> None:
        measure = self._specification.measure
        if not measure.lower <= record.psi <= measure.upper:
            self._events.append(
                self._event(
                    record,
                    f'psi {record.psi} outside its range [{measure.lower}, {measure.upper}]',
                )
            )
        # The allowance is for the rounding of exp(log p - log q).
        if record.weight > self._weight_bound * (1 + 1e-12):
            self._events.append(
                self._event(record, f'weight {record.weight} above its bound {self._weight_bound}')
            )

    @staticmethod
    def _event(record: TestRecord, text: str) -> str:
        return f'test {record.index}, attempt {record.attempt}: {text}'

    def _half_width(self) -> float:
        specification = self._specification
        return specification.tester.stopping.half_width(
            self._accumulator.n,
            self._accumulator.variance,
            self._z_range,
            specification.accuracy.c,
        )

    def _estimate(self, record: TestRecord) -> EstimateRecord:
        specification, total = self._specification, self._accumulator
        accuracy, tester = specification.accuracy, specification.tester
        half_width = self._half_width() if total.n else math.inf
        accurate = half_width <= accuracy.gamma
        expected = 0
        if total.n >= 2:
            expected = smallest_n(
                tester.stopping, accuracy.gamma, total.variance, self._z_range, accuracy.c
            )
        return EstimateRecord(
            index=record.index,
            attempt=record.attempt,
            n=total.n,
            invalid=self._invalid,
            mean=total.mean,
            variance=total.variance,
            half_width=half_width,
            target=accuracy.gamma,
            rule=tester.stopping.name,
            expected_n=min(expected, tester.max_tests, LARGEST_COUNT),
            stopped=accurate or total.n >= tester.max_tests,
        )

    def result(self, campaign_id: str) -> Result:
        """Return the quantized result.

        :raises RuntimeError: the campaign has not stopped yet
        """
        latest, specification = self.latest, self._specification
        if latest is None or not latest.stopped:
            raise RuntimeError('the campaign has not stopped yet')
        accurate = latest.half_width <= latest.target
        quantized = specification.partition.quantize(latest.mean)
        events = list(self._events)
        if quantized.outside:
            events.append(f'the estimate {latest.mean} lies outside the range of psi')
        if not accurate:
            events.append(f'stopped by max_tests at a half-width of {latest.half_width:.6g}')
        standard_error = math.sqrt(self._accumulator.unbiased_variance / latest.n)
        return Result(
            campaign_id=campaign_id,
            specification_digest=specification.digest,
            value=quantized.value,
            estimate=latest.mean,
            cell=quantized.cell,
            cell_lower=quantized.lower,
            cell_upper=quantized.upper,
            edge_distance=quantized.edge_distance,
            outside=quantized.outside,
            n=latest.n,
            invalid=latest.invalid,
            half_width=latest.half_width,
            gamma=latest.target,
            accurate=accurate,
            rule=latest.rule,
            guarantee=guarantee(specification, latest.half_width, accurate),
            p_same=probability_same(specification.partition, latest.mean, standard_error),
            events=tuple(events),
        )
