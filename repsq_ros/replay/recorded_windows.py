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

"""From a recording to psi: windows are measured while the recording is read.

Tests are announced before they are measured, so a window is nearly always known before its samples
come. Windows that were announced too late are measured in a second pass. Which windows count is
decided at the end, from the complete recording: some may be measured in vain.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple, Protocol

import numpy as np

from repsq_ros.errors import BagError
from repsq_ros.measurement.inputs import Input
from repsq_ros.measurement.measure import Evaluation, Measure
from repsq_ros.measurement.recorder import Recorder, Window
from repsq_ros.measurement.samples import Samples
from repsq_ros.recordings.message_block import Integers
from repsq_ros.recordings.recording import BagMessage, Recording
from repsq_ros.recordings.sensor_columns import SensorColumns, sample_columns
from repsq_ros.recordings.table import Table
from repsq_ros.replay.evaluation import EvaluatedSegment, evaluated_by, without_samples
from repsq_ros.replay.segments import Segment
from repsq_ros.timebase import NANOSECONDS

SENSOR = ''  # name of the measure's own input among those of its conditions
LATE_NS = 60 * NANOSECONDS  # largest delay of samples
NEARLY_LATE_NS = LATE_NS - NANOSECONDS  # a sensor's own stamps may be out of order by 1 s
Outcomes = dict[Window, Evaluation]
RecordedInput = tuple[str, Input]  # its topic in the recording, and the input
InputSamples = Mapping[RecordedInput, Samples]


class RecordedMeasure(NamedTuple):
    """A measure with its inputs in the recording: SENSOR, and its conditions by name."""

    measure: Measure
    inputs: Mapping[str, RecordedInput]


class TestFinder(Protocol):
    """Finds the tests of a recording while it is read."""

    @property
    def messages(self) -> Collection[str]:
        """Topics to read message by message."""

    @property
    def tables(self) -> Collection[str]:
        """Topics to read as tables."""

    def take(
        self, messages: Iterator[BagMessage], tables: Sequence[Table], samples: InputSamples
    ) -> list[Window]:
        """Read a part of the recording; return the windows that it announces."""


def measure_in_passing(
    recording: Recording,
    tests: TestFinder,
    measures: Sequence[RecordedMeasure],
    offset_ns: int = 0,
) -> list[Outcomes | None]:
    """Read the tests of a recording, and measure those that are announced in time.

    :param offset_ns: added to all stamps of samples
    :returns: for each measure, the outcomes of its windows; None: a clock was set back, or
        samples are so late that outcomes depend on when a window is measured
    :raises BagError: damage
    """
    # Measures that share an input share its samples.
    inputs = {each: each for measured in measures for each in measured.inputs.values()}
    measuring = [WindowMeasurer(each.measure) for each in measures]
    try:
        sensors = SensorColumns(recording, inputs, offset_ns)
    except BagError:  # it only matters if a test is found
        sensors = SensorColumns(recording, {}, offset_ns)
    for messages, tables in recording.both(tests.messages, {*tests.tables, *sensors.topics}):
        samples = sensors.of(tables)
        windows = tests.take(messages, tables, samples)
        for each, measured in zip(measuring, measures, strict=True):
            each.announce(windows)
            each.add(_named(measured, samples))
    return [each.finished() if sensors.topics else {} for each in measuring]


def outcomes_of(
    recording: Recording,
    measured: RecordedMeasure,
    segments: Sequence[Segment],
    known: Outcomes | None,
    offset_ns: int = 0,
    logs: tuple[int, int] | None = None,
) -> list[EvaluatedSegment]:
    """Return the outcomes of segments: already known ones, and the rest by another pass.

    :param known: windows already measured; None: samples were not in order
    :param offset_ns: added to all stamps of samples
    :param logs: [ns] range of log times of these segments' samples. If samples are not in order,
        earlier and later ones may be of another robot or day. None: not known
    :raises BagError: damage, a topic is missing or does not have the input's type
    """
    every = dict(known or {})
    windows = [each.window for each in segments if without_samples(each) is None]
    left = [window for window in windows if window not in every]
    if left:
        within = logs if known is None else None
        measuring = WindowMeasurer(measured.measure, left)
        for samples in sample_columns(recording, measured.inputs, offset_ns, within):
            measuring.add(samples)
        every |= measuring.finished() or {}
    return [evaluated_by(every, segment) for segment in segments]


def _named(measured: RecordedMeasure, samples: InputSamples) -> dict[str, Samples]:
    return {name: samples[source] for name, source in measured.inputs.items() if source in samples}


class WindowMeasurer:
    """Measures windows while their samples are read.

    A window is measured once the sensor's stamps are `LATE_NS` past its end: later samples would
    be too late for a node, too. Only the samples of the last LATE_NS and of open windows are in
    memory.

    :param windows: all windows, if they are known beforehand; None: they are announced
    """

    def __init__(self, measure: Measure, windows: Iterable[Window] | None = None) -> None:
        self._recorder = Recorder(measure, keep_ns=2**62)
        self._all_known = windows is not None
        self._pending = dict.fromkeys(windows or ())
        self._outcomes: Outcomes = {}
        self._kept_since_ns = -(2**62)  # all samples since then are kept, and one before
        # of the samples so far; if false, announced windows are not measured
        self._in_order = True

    def announce(self, windows: Iterable[Window]) -> None:
        """Add windows to be measured."""
        self._pending |= dict.fromkeys(windows)

    def add(self, samples: Mapping[str, Samples]) -> None:
        """Add the samples of a part, and measure the windows that are over by LATE_NS."""
        if not (self._in_order and samples):
            return
        recorder = self._recorder
        before_ns = recorder.tail.newest_ns
        for name, columns in samples.items():
            recorder.add(columns, name)
        newest_ns = recorder.tail.newest_ns
        self._in_order = self._all_known or self._still_in_order(samples, before_ns)
        if newest_ns is None or not self._in_order:
            return
        self._measure(newest_ns - LATE_NS)
        reaches = (each.reach_ns for each in self._pending)
        needed = [reach_ns for reach_ns in reaches if reach_ns >= self._kept_since_ns]
        self._kept_since_ns = max(self._kept_since_ns, min([newest_ns - LATE_NS, *needed]))
        recorder.forget(self._kept_since_ns)

    def _still_in_order(self, samples: Mapping[str, Samples], before_ns: int | None) -> bool:
        """Return whether outcomes do not depend on how late an announced window is measured.

        They do if samples come more than LATE_NS after others with later stamps, and if a clock
        was set back.
        """
        buffers = (self._recorder.tail, *self._recorder.conditions.values())
        if any(buffer.from_long_ago for buffer in buffers):
            return False
        sensor = samples.get(SENSOR)
        for name, columns in samples.items():
            if name == SENSOR or columns.logs is None:
                continue
            newest: Integers = np.full(len(columns), -(2**62) if before_ns is None else before_ns)
            if sensor is not None and sensor.logs is not None:
                passed = np.searchsorted(sensor.logs, columns.logs, 'right')
                newest = np.append(newest[:1], sensor.stamps)[passed]
            if (columns.stamps < newest - NEARLY_LATE_NS).any():
                return False
        return True

    def _measure(self, until_ns: int) -> None:
        """Measure the windows that end before an instant, if all their samples are there."""
        over = [each for each in self._pending if each.end_ns <= until_ns]
        for each in over:
            del self._pending[each]
        if self._all_known:
            self._outcomes |= zip(over, self._recorder.measure_all(over), strict=True)
            return
        kept = [window for window in over if window.reach_ns >= self._kept_since_ns]
        with suppress(Exception):  # whether they count is not known yet
            self._outcomes |= zip(kept, self._recorder.measure_all(kept), strict=True)

    def finished(self) -> Outcomes | None:
        """Measure the remaining windows; return all outcomes.

        None: samples were not in order, so the outcomes depend on when windows are measured.
        """
        if not self._in_order:
            return None
        self._measure(2**63)
        return self._outcomes
