"""A subject with its sensors and its own time.

What a test gives depends on the seed, the index, the attempt and the command alone: each test
starts at rest, and everything random is drawn from streams of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from repsq_ros.errors import ParameterError
from repsq_ros.seeds import Stream, generator
from repsq_ros.subjects.subject import BodyState, Subject, Vector
from repsq_ros.timebase import NANOSECONDS

BETWEEN_TESTS = 2**32 - 1  # stands for the index while no test is under way


@dataclass(frozen=True)
class SensorRates:
    """How often the simulated sensors report, in Hz; each must divide the subject's tick rate."""

    odometry: float = 50.0
    mocap: float = 100.0

    def ticks(self, subject: Subject) -> tuple[int, int]:
        """Return the ticks between two reports of odometry and of mocap.

        :raises ParameterError: a rate that is no whole part of the subject's tick rate
        """
        tick_rate = NANOSECONDS / subject.tick_ns
        counts = []
        for name, rate in (('odometry_rate', self.odometry), ('mocap_rate', self.mocap)):
            count = round(tick_rate / rate) if rate > 0 else 0
            if count < 1 or abs(count * rate - tick_rate) > 1e-6 * tick_rate:
                raise ParameterError(
                    name, f'{rate:g} Hz', f'a rate of which {tick_rate:g} Hz is a multiple'
                )
            counts.append(count)
        return counts[0], counts[1]


class Reading(NamedTuple):
    """One report of one sensor: 'odometry' or 'mocap'."""

    sensor: str
    stamp_ns: int
    state: BodyState


class Simulation:
    """Runs a subject from instant to instant and gives what its sensors report."""

    def __init__(self, subject: Subject, seed: int, rates: SensorRates, start_ns: int) -> None:
        self._subject = subject
        self._seed = seed
        self._odometry_ticks, self._mocap_ticks = rates.ticks(subject)
        self.begin(BETWEEN_TESTS, 0, start_ns)

    @property
    def now_ns(self) -> int:
        """Return the instant up to which the subject has lived."""
        return self._start_ns + self._ticks * self._subject.tick_ns

    def begin(self, index: int, attempt: int, start_ns: int) -> None:
        """Put the subject at rest for a test that begins at the given instant."""
        self._start_ns = start_ns
        self._ticks = 0
        key = (index, attempt)
        self._odometry_noise = generator(self._seed, Stream.ODOMETRY, *key)
        self._mocap_noise = generator(self._seed, Stream.MOCAP, *key)
        self._subject.reset(generator(self._seed, Stream.SUBJECT, *key))

    def advance(self, until_ns: int, command: Vector) -> Iterator[Reading]:
        """Live up to an instant (to the last whole tick before it), under a command."""
        subject = self._subject
        while self.now_ns + subject.tick_ns <= until_ns:
            subject.step(command)
            self._ticks += 1
            if self._ticks % self._mocap_ticks == 0:
                yield Reading('mocap', self.now_ns, self._seen_by_mocap(subject.state()))
            if self._ticks % self._odometry_ticks == 0:
                yield Reading('odometry', self.now_ns, self._seen_by_odometry(subject.state()))

    def _seen_by_odometry(self, state: BodyState) -> BodyState:
        noise = self._subject.noise
        return state._replace(
            linear_velocity=_noisy(state.linear_velocity, noise.linear_velocity,
                                   self._odometry_noise),
            angular_velocity=_noisy(state.angular_velocity, noise.angular_velocity,
                                    self._odometry_noise),
        )  # fmt: skip

    def _seen_by_mocap(self, state: BodyState) -> BodyState:
        sd = self._subject.noise.position
        return state._replace(position=_noisy(state.position, sd, self._mocap_noise))


def _noisy(vector: Vector, sd: float, noise: np.random.Generator) -> Vector:
    if sd == 0.0:
        return vector
    x, y, z = noise.standard_normal(3)
    return (vector[0] + sd * float(x), vector[1] + sd * float(y), vector[2] + sd * float(z))
