"""Stamped samples of a rigid body, as any sensor gives them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import NamedTuple

from repsq_ros.timebase import NANOSECONDS

Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]  # x, y, z, w as in ROS


class BodySample(NamedTuple):
    """Pose and, where the sensor has it, velocity of a body at one instant."""

    stamp_ns: int
    position: Vector  # [m], in the sensor's fixed frame
    orientation: Quaternion  # body to fixed frame
    linear_velocity: Vector | None = None  # [m/s], in the body frame
    angular_velocity: Vector | None = None  # [rad/s], in the body frame


class SampleBuffer:
    """The newest samples, in the order of their stamps.

    Keeps `keep_ns` of history; a jump of the stamps backwards by more than `keep_ns`, or by more
    than a second (a bag played again, a clock set back) empties it.
    """

    def __init__(self, keep_ns: int = 120 * NANOSECONDS) -> None:
        self._keep_ns = keep_ns
        self._samples: deque[BodySample] = deque()

    @property
    def newest_ns(self) -> int | None:
        """Stamp of the newest sample; None while there is none."""
        return self._samples[-1].stamp_ns if self._samples else None

    def add(self, sample: BodySample) -> None:
        """Take in one sample; one that comes a little late is put in its place."""
        samples = self._samples
        if samples and sample.stamp_ns < samples[-1].stamp_ns:
            if samples[-1].stamp_ns - sample.stamp_ns > NANOSECONDS:
                samples.clear()
                samples.append(sample)
                return
            later = []
            while samples and samples[-1].stamp_ns > sample.stamp_ns:
                later.append(samples.pop())
            samples.append(sample)
            samples.extend(reversed(later))
            return
        samples.append(sample)
        while samples[0].stamp_ns < sample.stamp_ns - self._keep_ns:
            samples.popleft()

    def extend(self, samples: Iterable[BodySample]) -> None:
        """Take in several samples."""
        for sample in samples:
            self.add(sample)

    def cut(self, start_ns: int, end_ns: int) -> tuple[BodySample | None, list[BodySample]]:
        """Return the samples of [start, end), one for each stamp, and the last one before."""
        before: BodySample | None = None
        inside: list[BodySample] = []
        for sample in self._samples:
            if sample.stamp_ns < start_ns:
                before = sample
            elif sample.stamp_ns >= end_ns:
                break
            elif not inside or sample.stamp_ns > inside[-1].stamp_ns:
                inside.append(sample)
        return before, inside
