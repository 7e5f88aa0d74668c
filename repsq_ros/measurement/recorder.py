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

"""Stores samples, and extracts the windows of tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from repsq_ros.measurement.cut import Cut, SampleRun
from repsq_ros.measurement.inputs import Input, Need, Stamp, Velocity
from repsq_ros.measurement.measure import Evaluation, Measure
from repsq_ros.measurement.reasons import Code
from repsq_ros.measurement.samples import Samples
from repsq_ros.measurement.tail import KEEP_NS, Tail
from repsq_ros.measurement.velocity import FITS
from repsq_ros.measurement.window import Window
from repsq_ros.timebase import to_seconds

__all__ = ['Key', 'Recorder', 'Window']

Key = tuple[int, int]  # (index, attempt) of a test


class Recorder:
    """Stores samples, and measures the windows of tests.

    Samples and windows may come in any order, and the next window may come before the samples of
    the last one: only stamps matter.
    """

    def __init__(self, measure: Measure, keep_ns: int | None = None) -> None:
        self._measure = measure
        self._keep_ns = keep_ns
        self._variants = [
            replace(measure, input=replace(measure.input, velocity=each))
            for each in FITS
            if measure.input.velocity == Velocity.AUTO and measure.quantity.needs == Need.VELOCITY
        ]
        self.tail = self._new_tail(measure.input)
        self.conditions = {
            condition.name: self._new_tail(source)
            for condition, source in zip(measure.conditions, measure.condition_inputs, strict=True)
        }
        self._windows: dict[Key, Window] = {}
        # how often the clock had been set back when it was opened
        self._set_back: dict[Key, int] = {}

    def _new_tail(self, source: Input) -> Tail:
        keep_ns = KEEP_NS if self._keep_ns is None else self._keep_ns
        return Tail(keep_ns, source.frame, stamped=source.stamp == Stamp.HEADER)

    def add(self, samples: Samples, condition: str = '') -> None:
        """Add samples of the measure's input, or readings of a condition."""
        (self.conditions[condition] if condition else self.tail).add(samples)

    def forget(self, before_ns: int) -> None:
        """Drop samples that no window needs if it reaches back to this instant at most."""
        for tail in (self.tail, *self.conditions.values()):
            tail.forget(before_ns)

    def open(self, key: Key, window: Window) -> None:
        """Add a window to be measured."""
        self._windows[key] = window
        self._set_back[key] = self.tail.times_set_back

    def keep(self, windows: dict[Key, Window]) -> None:
        """Replace all windows to be measured."""
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
    def complete_keys(self) -> tuple[Key, ...]:
        """Return the tests with a sample at or after the window's end."""
        newest = self.tail.newest_ns
        if newest is None or not self._windows:
            return ()
        return tuple(key for key, window in self._windows.items() if newest >= window.end_ns)

    def close(self, key: Key) -> tuple[Window, Evaluation]:
        """Measure an open window with the available samples.

        :raises KeyError: no such window is open
        """
        window = self._windows.pop(key)
        outcome = self.measure(window, self._set_back.pop(key, 0))
        newest_ns = self.tail.newest_ns
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
        """Measure a window with the available samples.

        :param set_back: how often the sensor's clock had been set back before the window
        """
        return self._measured([window], set_back)[0]

    def measure_all(self, windows: Sequence[Window]) -> list[Evaluation]:
        """Measure several windows, each as `measure` does.

        Values that do not depend on the window are computed once. A user's own quantity may change
        its samples, and of several readings with one stamp the last one is valid until the next:
        in these cases, each window gets its own samples.
        """
        if len(windows) > 1 and (self._measure.own or self._repeats(windows)):
            return [self.measure(window) for window in windows]
        return self._measured(windows)

    def _repeats(self, windows: Sequence[Window]) -> bool:
        """Tell whether a number that is valid until the next one repeats a stamp."""
        start_ns = min(window.reach_ns for window in windows)
        end_ns = max(window.end_ns for window in windows)
        tails = [*self.conditions.values()]
        if self._measure.of_readings:
            tails.append(self.tail)
        return any(tail.repeats(start_ns, end_ns) for tail in tails)

    def _measured(
        self, windows: Sequence[Window], set_back: int = 0, measure: Measure | None = None
    ) -> list[Evaluation]:
        if not windows:
            return []
        if measure is None and self._variants:
            # For each window, use the estimator that gives psi the smallest error.
            by_each = [self._measured(windows, set_back, each) for each in self._variants]
            return [
                min(outcomes, key=lambda each: (not each.valid, each.psi_error))
                for outcomes in zip(*by_each, strict=True)
            ]
        measure = measure or self._measure
        needs, reach = measure.quantity.needs, [window.reach_ns for window in windows]
        cuts = self._cuts(self.tail, measure.input, needs, windows, reach, set_back)
        began = [window.command_ns for window in windows]
        of_conditions = [
            self._cuts(self.conditions[condition.name], source, Need.READING, windows, began)
            for condition, source in zip(measure.conditions, measure.condition_inputs, strict=True)
        ]
        return [
            measure.evaluate(cut, [of_one[k] for of_one in of_conditions])
            for k, cut in enumerate(cuts)
        ]

    def _cuts(
        self,
        tail: Tail,
        source: Input,
        needs: Need,
        windows: Sequence[Window],
        since: Sequence[int],
        set_back: int = 0,
    ) -> list[Cut]:
        """Return an input's samples for each window, from an instant to the window's end.

        :param since: [ns] that instant, for each window
        """
        holds = needs == Need.READING
        end_ns = max(window.end_ns for window in windows)
        run = SampleRun(tail.between(min(since), end_ns, last_before=holds), source)
        stamps, cuts = run.raw.stamps, []
        for window, instant_ns in zip(windows, since, strict=True):
            first, after = stamps.searchsorted([instant_ns, window.end_ns]).tolist()
            first = max(first - holds, 0)
            since_ns = min(instant_ns, int(stamps[first])) if first < after else instant_ns
            cut = Cut(
                run,
                slice(first, max(first, after)),
                window,
                window.start_ns,
                window.end_ns,
                needs,
                lead_ns=window.start_ns - since_ns,
                limits=self._measure.limits,
                stamps_judged=self._measure.judges_stamps,
                doubts=tail.doubts(min(since_ns, window.reach_ns), window.end_ns, set_back),
            )
            cuts.append(cut)
        return cuts
