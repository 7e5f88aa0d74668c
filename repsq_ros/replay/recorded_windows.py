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

"""From a recording to psi: the windows of its tests are measured while it is read.

A test is announced before it is measured. So its window is known, nearly always, before its
samples have gone by. What was announced too late is measured in a second walk. Which windows
count is decided at the end, by all that the recording says: more may be measured here.
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

SENSOR = ''  # name of the measure's own input beside those of its conditions
LATE_NS = 60 * NANOSECONDS  # by which samples may be late
NEARLY_LATE_NS = LATE_NS - NANOSECONDS  # a sensor's own stamps may be out of order by 1 s
Outcomes = dict[Window, Evaluation]
RecordedInput = tuple[str, Input]  # its topic in the recording, and what it is
InputSamples = Mapping[RecordedInput, Samples]


class RecordedMeasure(NamedTuple):
    """A measure, and where the recording has its inputs: SENSOR and its conditions, by name."""

    measure: Measure
    inputs: Mapping[str, RecordedInput]


class TestFinder(Protocol):
    """Finds the tests of a recording while it is read."""

    @property
    def messages(self) -> Collection[str]:
        """Topics that it reads message by message."""

    @property
    def tables(self) -> Collection[str]:
        """Topics that it reads as tables."""

    def take(
        self, messages: Iterator[BagMessage], tables: Sequence[Table], samples: InputSamples
    ) -> list[Window]:
        """Take in a stretch of the recording; return the windows that it tells of."""


def measure_in_passing(
    recording: Recording,
    tests: TestFinder,
    measures: Sequence[RecordedMeasure],
    offset_ns: int = 0,
) -> list[Outcomes | None]:
    """Read the tests of a recording, and measure those that are known in time.

    :param offset_ns: added to all stamps of samples
    :returns: of each measure, what its windows give; None: a clock was set back, or samples come
        so late that it matters when they are measured
    :raises BagError: damage
    """
    # Measures that share an input share its samples.
    inputs = {each: each for measured in measures for each in measured.inputs.values()}
    measuring = [WindowMeasurer(each.measure) for each in measures]
    try:
        sensors = SensorColumns(recording, inputs, offset_ns)
    except BagError:  # it matters once a test was found
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
    """Return what segments give: what was measured in passing, and what another walk measures.

    :param known: windows that were measured; None: samples were not in order
    :param offset_ns: added to all stamps of samples
    :param logs: [ns] of the recording, within which the samples of these segments lie; where
        samples are not in order, those from before and after are another robot's, or another
        day's. None: not known
    :raises BagError: damage, a topic is missing, or not of the input's type
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
    """Measures windows while their samples go by.

    A window is measured when the sensor's stamps have passed its end by `LATE_NS`: what comes
    later still has not come in time for a node, either. No more samples are in memory than those
    of the last LATE_NS and those of windows that are not measured yet.

    :param windows: all that there are, known before the samples come; None: they are announced
    """

    def __init__(self, measure: Measure, windows: Iterable[Window] | None = None) -> None:
        self._recorder = Recorder(measure, keep_ns=2**62)
        self._all_known = windows is not None
        self._pending = dict.fromkeys(windows or ())
        self._outcomes: Outcomes = {}
        self._kept_since_ns = -(2**62)  # all samples from here on, and the last one before
        self._in_order = True  # the samples so far; or else nothing that is announced is measured

    def announce(self, windows: Iterable[Window]) -> None:
        """Take in windows that are to be measured."""
        self._pending |= dict.fromkeys(windows)

    def add(self, samples: Mapping[str, Samples]) -> None:
        """Take in the samples of a stretch, and measure what is over by LATE_NS."""
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
        """Return whether it makes no difference how late an announced window is measured.

        It does for samples that come later than LATE_NS after others of later stamps, and where a
        clock was set back.
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
        """Measure the windows that end by an instant, if all of their samples are there."""
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
        """Measure what is left; return all that was measured.

        None: samples were not in order, so it would matter when announced windows are measured.
        """
        if not self._in_order:
            return None
        self._measure(2**63)
        return self._outcomes
