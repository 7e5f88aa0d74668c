"""Stamped samples, as any sensor gives them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import NamedTuple

from repsq_ros.timebase import NANOSECONDS

Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]  # x, y, z, w as in ROS

TRIM = 4096  # samples too old that are given up at once: memory moves seldom


class BodySample(NamedTuple):
    """Pose and velocity of a body at one instant, as far as the sensor has them."""

    stamp_ns: int
    position: Vector | None  # [m, or the input's unit], in the sensor's fixed frame
    orientation: Quaternion | None  # body to fixed frame
    linear_velocity: Vector | None = None  # [m/s, or the input's unit per s]
    angular_velocity: Vector | None = None  # [rad/s]
    frame: str = ''  # frame_id of its header


class Reading(NamedTuple):
    """One number at one instant: a dial gauge, a range, a battery, a mode."""

    stamp_ns: int
    value: float  # in the input's unit
    frame: str = ''  # frame_id of its header


Sample = BodySample | Reading

_STAMP = attrgetter('stamp_ns')


class SampleBuffer:
    """The newest samples, in the order of their stamps.

    Keeps `keep_ns` of history; a jump of the stamps backwards by more than a second (a bag played
    again, a clock set back) empties it.
    """

    def __init__(self, keep_ns: int = 120 * NANOSECONDS) -> None:
        self._keep_ns = keep_ns
        self._samples: list[Sample] = []
        self._trim_at = TRIM

    @property
    def newest_ns(self) -> int | None:
        """Stamp of the newest sample; None while there is none."""
        return self._samples[-1].stamp_ns if self._samples else None

    def add(self, sample: Sample) -> None:
        """Take in one sample; one that comes a little late is put in its place."""
        samples = self._samples
        if samples and sample.stamp_ns < samples[-1].stamp_ns:
            if samples[-1].stamp_ns - sample.stamp_ns > NANOSECONDS:
                samples.clear()
                samples.append(sample)
                return
            place = len(samples)
            while place and samples[place - 1].stamp_ns > sample.stamp_ns:
                place -= 1
            samples.insert(place, sample)
            return
        samples.append(sample)
        if len(samples) > self._trim_at:
            del samples[: bisect_left(samples, sample.stamp_ns - self._keep_ns, key=_STAMP)]
            self._trim_at = len(samples) + TRIM

    def extend(self, samples: Iterable[Sample]) -> None:
        """Take in several samples."""
        for sample in samples:
            self.add(sample)

    def cut(self, start_ns: int, end_ns: int) -> list[Sample]:
        """Return the samples of [start, end), the first one of each stamp."""
        first = bisect_left(self._samples, start_ns, key=_STAMP)
        inside: list[Sample] = []
        for sample in self._samples[first : bisect_left(self._samples, end_ns, key=_STAMP)]:
            if not inside or sample.stamp_ns > inside[-1].stamp_ns:
                inside.append(sample)
        return inside

    def last_before(self, instant_ns: int) -> Sample | None:
        """Return the newest sample stamped before an instant."""
        place = bisect_left(self._samples, instant_ns, key=_STAMP)
        return self._samples[place - 1] if place else None

    def newest(self, span_ns: int) -> Sequence[Sample]:
        """Return the samples of the last `span_ns`."""
        if not self._samples:
            return ()
        since_ns = self._samples[-1].stamp_ns - span_ns
        return self._samples[bisect_left(self._samples, since_ns, key=_STAMP) :]
