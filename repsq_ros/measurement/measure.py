"""Measures: one function from samples to psi, the same online, in replay and in simulation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from repsq_ros.measurement import velocity
from repsq_ros.measurement.samples import BodySample
from repsq_ros.measurement.tracking_loss import soft_linf
from repsq_ros.measurement.validity import invalid_reason, sample_fault

SOURCES = ('odometry', 'mocap')


@dataclass(frozen=True)
class Outcome:
    """What a window gave: psi, or the reason why it gives none."""

    psi: float  # 0 where not valid
    valid: bool
    reason: str
    samples: int

    @staticmethod
    def invalid(reason: str, samples: int = 0) -> Outcome:
        """Make the outcome of a test that the instruments spoiled."""
        return Outcome(0.0, False, reason, samples)


@dataclass(frozen=True)
class TrackingLoss:
    """soft-L-infinity loss of (v_x, v_y, yaw rate) against the command, in the body frame."""

    gain: float
    reduction: str
    source: str  # 'odometry': its twist; 'mocap': poses, differentiated
    largest_gap_ns: int

    unit = '1'
    lower = 0.0  # range M of psi
    upper = 1.0

    def evaluate(
        self,
        before: BodySample | None,
        samples: Sequence[BodySample],
        start_ns: int,
        end_ns: int,
        command: Sequence[float],
    ) -> Outcome:
        """Return psi of the samples in [start, end).

        :param before: the last sample before the window; poses are differentiated from it
        :param command: commanded (v_x, v_y, yaw rate) in m/s, m/s, rad/s
        """
        reason = invalid_reason(samples, start_ns, end_ns, self.largest_gap_ns)
        if reason:
            return Outcome.invalid(reason, len(samples))
        if self.source == 'odometry':
            if any(sample.linear_velocity is None for sample in samples):
                return Outcome.invalid('no velocity: the source reports poses only', len(samples))
            measured = velocity.from_twist(samples)
        else:
            if before is None or not self._continues(before, samples[0]):
                before, samples = samples[0], samples[1:]
            if not samples:
                return Outcome.invalid('one pose only: no velocity can be formed', 1)
            measured = velocity.from_poses(before, samples)
        errors = measured - np.asarray(command, dtype=np.float64)
        return Outcome(soft_linf(errors, self.gain, self.reduction), True, '', len(samples))

    def _continues(self, before: BodySample, first: BodySample) -> bool:
        """Tell whether a velocity can be formed from the last sample before the window."""
        gap_ns = first.stamp_ns - before.stamp_ns
        return gap_ns <= self.largest_gap_ns and not sample_fault(before)
