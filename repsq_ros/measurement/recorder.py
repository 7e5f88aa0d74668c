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

from collections.abc import Sequence

from repsq_ros.measurement.buffer import KEEP_NS, SampleBuffer
from repsq_ros.measurement.columns import SampleColumns
from repsq_ros.measurement.inputs import Input
from repsq_ros.measurement.measure import Evaluation, Measure
from repsq_ros.measurement.reasons import Code
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
        self.buffer = self._new_buffer(measure.input)
        self.conditions = {
            condition.name: self._new_buffer(source)
            for condition, source in zip(measure.conditions, measure.condition_inputs, strict=True)
        }
        self._windows: dict[Key, Window] = {}
        self._set_back: dict[Key, int] = {}  # how often the clock had been when it was opened

    def _new_buffer(self, source: Input) -> SampleBuffer:
        keep_ns = KEEP_NS if self._keep_ns is None else self._keep_ns
        return SampleBuffer(keep_ns, source.frame, stamped=source.stamp == 'header')

    def add(self, sample: Sample) -> None:
        """Take in one sample of the measure's input."""
        self.buffer.add(sample)

    def add_condition(self, name: str, reading: Sample) -> None:
        """Take in one reading of a condition."""
        self.conditions[name].add(reading)

    def add_columns(self, columns: SampleColumns, condition: str = '') -> None:
        """Take in many samples of the measure's input, or readings of a condition."""
        (self.conditions[condition] if condition else self.buffer).add_columns(columns)

    def forget(self, before_ns: int) -> None:
        """Give up what no window needs that reaches no further back than to an instant."""
        for buffer in (self.buffer, *self.conditions.values()):
            buffer.forget(before_ns)

    def open(self, key: Key, window: Window) -> None:
        """Say what is to be measured."""
        self._windows[key] = window
        self._set_back[key] = self.buffer.times_set_back

    def keep(self, windows: dict[Key, Window]) -> None:
        """Say what is to be measured, in place of all that was said before."""
        for key in self.open_keys:
            if key not in windows:
                del self._windows[key], self._set_back[key]
        for key, window in windows.items():
            if self._windows.get(key) != window:
                self.open(key, window)

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

    def close(self, key: Key) -> tuple[Window, Evaluation]:
        """Measure an open window with the samples that are there.

        :raises KeyError: no such window is open
        """
        window = self._windows.pop(key)
        outcome = self.measure(window, self._set_back.pop(key, 0))
        newest_ns = self.buffer.newest_ns
        lost = outcome.code is Code.SILENT and not self._measure.of_readings
        if lost and newest_ns is not None:
            away = to_seconds(newest_ns - window.end_ns)
            outcome = Evaluation.invalid(
                f'{outcome.reason}; the newest stamp is {abs(away):.3f} s '
                f'{"after" if away >= 0 else "before"} its end: do sensor and scheduler share a '
                'clock?',
                outcome.samples,
                Code.SILENT,
            )
        return window, outcome

    def measure(self, window: Window, set_back: int = 0) -> Evaluation:
        """Measure a window with the samples that are there.

        :param set_back: how often the sensor's clock had been set back before the window's time
        """
        return self._measure.evaluate(self._observation(window, set_back))

    def measure_all(self, windows: Sequence[Window]) -> list[Evaluation]:
        """Measure several windows, each as `measure` does."""
        return self._measure.evaluate_all([self._observation(window, 0) for window in windows])

    def _observation(self, window: Window, set_back: int) -> Observation:
        measure, buffer = self._measure, self.buffer
        conditions = {
            name: each.series(window.command_ns, window.end_ns)
            for name, each in self.conditions.items()
        }
        objections = {
            name: each.doubts(window.reach_ns, window.end_ns)
            for name, each in self.conditions.items()
        }
        if measure.of_readings:
            series = buffer.series(window.reach_ns, window.end_ns)
            since_ns = int(series.stamps[0]) if len(series) else window.reach_ns
            doubts = buffer.doubts(since_ns, window.end_ns, set_back)
            return Observation(
                window,
                series=series,
                doubts=doubts,
                conditions=conditions,
                condition_doubts=objections,
            )
        track = buffer.track(window.reach_ns, window.end_ns)
        doubts = buffer.doubts(window.reach_ns, window.end_ns, set_back)
        return Observation(
            window, track, doubts=doubts, conditions=conditions, condition_doubts=objections
        )
