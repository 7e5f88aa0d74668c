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

"""Collects samples and cuts the windows of tests out of them."""

from __future__ import annotations

from repsq_ros.measurement.buffer import SampleBuffer
from repsq_ros.measurement.measure import Measure, Outcome
from repsq_ros.measurement.samples import Sample
from repsq_ros.measurement.window import Observation, Window
from repsq_ros.timebase import to_seconds

__all__ = ['Key', 'Recorder', 'Window']

NEVER_NS = 2**63 - 1
Key = tuple[int, int]  # (index, attempt) of a test


class Recorder:
    """Sensor samples on one side, the windows of tests on the other.

    Samples and windows may come in any order, and the next window before the samples of the last:
    what decides are the stamps.
    """

    def __init__(self, measure: Measure, keep_ns: int | None = None) -> None:
        self._measure = measure
        self._keep_ns = keep_ns
        self.buffer = self._new_buffer()
        self.conditions = {condition.name: self._new_buffer() for condition in measure.conditions}
        self._windows: dict[Key, Window] = {}

    def _new_buffer(self) -> SampleBuffer:
        return SampleBuffer() if self._keep_ns is None else SampleBuffer(self._keep_ns)

    def add(self, sample: Sample) -> None:
        """Take in one sample of the measure's input."""
        self.buffer.add(sample)

    def add_condition(self, name: str, reading: Sample) -> None:
        """Take in one reading of a condition."""
        self.conditions[name].add(reading)

    def open(self, key: Key, window: Window) -> None:
        """Say what is to be measured."""
        self._windows[key] = window

    def keep(self, windows: dict[Key, Window]) -> None:
        """Say what is to be measured, in place of all that was said before."""
        self._windows = dict(windows)

    @property
    def open_keys(self) -> tuple[Key, ...]:
        """Return the tests whose windows are open, in the order in which they were opened."""
        return tuple(self._windows)

    @property
    def due_ns(self) -> int:
        """Return the instant from which on a sample completes the next window."""
        return min((window.end_ns for window in self._windows.values()), default=NEVER_NS)

    @property
    def complete_keys(self) -> tuple[Key, ...]:
        """Return the tests for which a sample at or after the window's end has come."""
        newest = self.buffer.newest_ns
        if newest is None or not self._windows:
            return ()
        return tuple(key for key, window in self._windows.items() if newest >= window.end_ns)

    def close(self, key: Key) -> tuple[Window, Outcome]:
        """Measure an open window with the samples that are there.

        :raises KeyError: no such window is open
        """
        window = self._windows.pop(key)
        outcome = self.measure(window)
        newest_ns = self.buffer.newest_ns
        lost = outcome.reason.startswith('silent') and not self._measure.of_readings
        if lost and newest_ns is not None:
            away = to_seconds(newest_ns - window.end_ns)
            outcome = Outcome.invalid(
                f'{outcome.reason}; the newest stamp is {abs(away):.3f} s '
                f'{"after" if away >= 0 else "before"} its end: do sensor and scheduler share a '
                'clock?'
            )
        return window, outcome

    def measure(self, window: Window) -> Outcome:
        """Measure a window with the samples that are there."""
        measure, buffer = self._measure, self.buffer
        checked = bool(measure.input.frame)
        frames = buffer.frames(window.start_ns, window.end_ns) if checked else ()
        conditions = {
            name: each.series(window.command_ns, window.end_ns)
            for name, each in self.conditions.items()
        }
        if measure.of_readings:
            series = buffer.series(window.reach_ns, window.end_ns)
            return measure.evaluate(
                Observation(window, series=series, frames=frames, conditions=conditions)
            )
        track = buffer.track(window.reach_ns, window.end_ns)
        return measure.evaluate(Observation(window, track, frames=frames, conditions=conditions))
