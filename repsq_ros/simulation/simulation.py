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

"""A subject with its sensors and its own time.

The outcome of a test depends on the seed, the index, the command and the number of earlier INVALID
measurements: each attempt starts at rest, a robot that wears does so by the index of the test,
and every random number has its own stream. So an
attempt repeated after being broken off gives what the first one would have given, and one
repeated because it was INVALID has new noise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from repsq_ros.errors import ParameterError
from repsq_ros.seeds import RandomStream, generator
from repsq_ros.simulation.simulated_sensors import SENSORS, Reported, SensorReading
from repsq_ros.simulation.subject import Command, Subject
from repsq_ros.timebase import NANOSECONDS

BETWEEN_TESTS = 2**32 - 1  # in place of an index between tests


def ticks_between_reports(subject: Subject, rates: Mapping[str, float]) -> dict[str, int]:
    """Return the ticks between two reports of each of a subject's sensors.

    :param rates: [Hz] of sensors, if different from the default
    :raises ParameterError: a rate that does not divide the subject's tick rate
    """
    tick_rate = NANOSECONDS / subject.tick_ns
    counts = {}
    for sensor in subject.sensors:
        rate = rates.get(sensor, SENSORS[sensor].rate)
        count = round(tick_rate / rate) if rate > 0 else 0
        if count < 1 or abs(count * rate - tick_rate) > 1e-6 * tick_rate:
            raise ParameterError(
                f'{sensor}_rate',
                f'{rate:g} Hz',
                f'a rate of which {tick_rate:g} Hz is a multiple',
            )
        counts[sensor] = count
    return counts


class Simulation:
    """Runs a subject from instant to instant and yields its sensors' reports."""

    def __init__(
        self, subject: Subject, seed: int, start_ns: int, rates: Mapping[str, float] | None = None
    ) -> None:
        """Begin between tests.

        :param rates: see `ticks_between_reports`
        """
        self._subject = subject
        self._seed = seed
        self._sensors = ticks_between_reports(subject, rates or {})
        self.begin(BETWEEN_TESTS, start_ns)

    @property
    def now_ns(self) -> int:
        """Return the instant up to which the subject is simulated."""
        return self._start_ns + self._ticks * self._subject.tick_ns

    def begin(self, index: int, start_ns: int, repeat: int = 0) -> None:
        """Put the subject at rest for a test that begins at an instant.

        :param repeat: number of earlier measurements of the test that were INVALID
        """
        self._start_ns = start_ns
        self._ticks = 0
        key = (index, repeat)
        self._noise = {
            sensor: generator(self._seed, SENSORS[sensor].stream, *key) for sensor in self._sensors
        }
        made = 0 if index == BETWEEN_TESTS else index
        self._subject.reset(generator(self._seed, RandomStream.SUBJECT, *key), made)

    def advance(self, until_ns: int, command: Command) -> Iterator[SensorReading]:
        """Simulate up to an instant (the last full tick before it), with a command."""
        subject = self._subject
        while self.now_ns + subject.tick_ns <= until_ns:
            subject.step(command)
            self._ticks += 1
            for sensor, ticks in self._sensors.items():
                if self._ticks % ticks == 0:
                    yield SensorReading(sensor, self.now_ns, self._seen_by(sensor))

    def _seen_by(self, sensor: str) -> Reported:
        subject = self._subject
        state = subject.seen_by(sensor)
        return SENSORS[sensor].disturb(state, subject.noise, self._noise[sensor])
