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

"""A campaign and its samples in one walk over a recording: what is known in time is measured.

A test is announced before it is measured. So while a recording is read, its windows are known
before their samples have gone by, nearly always; the others are left to a second walk. Which
windows count is decided in the end, by all phases in their order: here, more may be measured.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from repsq_ros.campaign.windows import window_of
from repsq_ros.errors import RepsqError
from repsq_ros.measurement.inputs import Input
from repsq_ros.measurement.measure import Evaluation, Measure
from repsq_ros.measurement.recorder import Key, Recorder, Window
from repsq_ros.measurement.samples import Samples
from repsq_ros.protocols.phases import Phase
from repsq_ros.recordings.message_block import Integers
from repsq_ros.recordings.recording import Recording
from repsq_ros.recordings.sensor_columns import SensorColumns
from repsq_ros.replay.bag_topics import TopicNames
from repsq_ros.replay.evaluation import Evaluated, outcomes_of
from repsq_ros.replay.recorded_campaign import CampaignMessages, HeardPhase, RecordedCampaign
from repsq_ros.replay.segments import Segment
from repsq_ros.replay.streaming import LATE_NS, SENSOR
from repsq_ros.timebase import NANOSECONDS

Outcomes = dict[Window, Evaluation]
ENDS = (Phase.PAUSED, Phase.SKIPPED, Phase.ABORTED)
NEARLY_LATE_NS = LATE_NS - NANOSECONDS  # a sensor's own stamps may be out of order by 1 s


class NotAtOnceError(Exception):
    """Something is wrong with a recording: which line tells of it is for two walks to say."""


class Measuring(NamedTuple):
    """A measure, and where the bag has its inputs: SENSOR and its conditions, by name."""

    measure: Measure
    inputs: Mapping[str, tuple[str, Input]]


class WalkedCampaigns(NamedTuple):
    """What one walk found."""

    campaigns: list[RecordedCampaign]
    outcomes: list[Outcomes]  # of each measure: windows that were measured


def walk_once(
    bag: Recording,
    names: TopicNames,
    wanted: tuple[str, str],
    measures: Sequence[Measuring],
    offset_ns: int = 0,
) -> WalkedCampaigns:
    """Read campaigns, sensors and conditions of a recording at once.

    :param names: of the package's own topics
    :param wanted: name of the campaign, '' for any; digest of its specification
    :param offset_ns: added to all stamps of samples
    :raises NotAtOnceError: something is missing, damaged, or makes no sense
    """
    losses = bag.losses
    try:
        found = _walked(bag, names, wanted, measures, offset_ns)
    except RepsqError as error:
        raise NotAtOnceError(str(error)) from error
    if bag.losses != losses:  # their order is that of two walks
        raise NotAtOnceError(bag.losses[-1])
    return found


def _walked(
    bag: Recording,
    names: TopicNames,
    wanted: tuple[str, str],
    measures: Sequence[Measuring],
    offset_ns: int,
) -> WalkedCampaigns:
    told = CampaignMessages(bag, names)
    # Measures that share an input share its samples.
    inputs = [each for measuring in measures for each in measuring.inputs.values()]
    sensors = SensorColumns(bag, {each: each for each in inputs}, offset_ns)
    measured = [WindowsInTime(each.measure) for each in measures]
    for messages, tables in bag.both(told.topics, sensors.topics):
        for item in messages:
            phase = told.hear(item)
            if phase is not None and _is_of(wanted, phase, told):
                for each in measured:
                    each.hear(phase)
        if not any(each.in_order for each in measured):
            continue  # a second walk reads all samples
        samples = sensors.of(tables)
        for each, measuring in zip(measured, measures, strict=True):
            each.add(
                {
                    name: samples[source]
                    for name, source in measuring.inputs.items()
                    if source in samples
                }
            )
    return WalkedCampaigns(told.campaigns(), [each.finished() for each in measured])


def _is_of(wanted: tuple[str, str], phase: HeardPhase, told: CampaignMessages) -> bool:
    """Tell whether a phase is of the campaign, and the specification, that are wanted."""
    name, digest = wanted
    return name in ('', phase.test.campaign_id) and told.digest_of(phase) == digest


class WindowsInTime:
    """Windows that are known while their samples go by, and what a measure gives for them.

    The same as `evaluate_stream` for each of them. No more samples are in memory than the windows
    need that are known, and those of the last LATE_NS.
    """

    def __init__(self, measure: Measure) -> None:
        self._recorder = Recorder(measure, keep_ns=2**62)
        self._announced: dict[tuple[str, Key], Window] = {}
        self._over: list[Window] = []  # ... and their tests are
        self._outcomes: Outcomes = {}
        self._kept_since_ns = -(2**62)  # all samples from here on, and the last one before
        self.in_order = True  # the samples so far; or else nothing is measured here

    def hear(self, phase: HeardPhase) -> None:
        """Take in a phase: it may tell of a window, or that there is nothing to measure."""
        key, span = (phase.test.campaign_id, phase.key), phase.span
        window = window_of(span)
        if window is not None:
            self._announced[key] = window
        elif span.broken_off or span.phase in ENDS:
            self._announced.pop(key, None)
        elif span.phase is Phase.IDLE and key in self._announced:
            self._over.append(self._announced.pop(key))

    @property
    def _known(self) -> list[Window]:
        return [*self._announced.values(), *self._over]

    def add(self, samples: Mapping[str, Samples]) -> None:
        """Take in the samples of a stretch, and measure what is over by LATE_NS."""
        if not self.in_order:
            return
        recorder = self._recorder
        before_ns = recorder.tail.newest_ns
        for name, columns in samples.items():
            recorder.add(columns, name)
        newest_ns = recorder.tail.newest_ns
        self.in_order = self._still_in_order(samples, before_ns)
        if newest_ns is None or not self.in_order:
            return
        self._measure(newest_ns - LATE_NS)
        needed = [each.reach_ns for each in self._known if each.reach_ns >= self._kept_since_ns]
        self._kept_since_ns = max(self._kept_since_ns, min([newest_ns - LATE_NS, *needed]))
        recorder.forget(self._kept_since_ns)

    def _still_in_order(self, samples: Mapping[str, Samples], before_ns: int | None) -> bool:
        """Tell whether it is of no matter by how much a window is passed when it is measured.

        It matters for samples that come later than LATE_NS after others of later stamps, and where
        a clock was set back.
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
        """Measure the windows that end by an instant."""
        over = [each for each in self._known if each.end_ns <= until_ns]
        self._over = [each for each in self._over if each.end_ns > until_ns]
        self._announced = {k: w for k, w in self._announced.items() if w.end_ns > until_ns}
        whole = [window for window in over if window.reach_ns >= self._kept_since_ns]
        with suppress(Exception):  # whether they count, and it is to be told, is not known yet
            self._outcomes |= zip(whole, self._recorder.measure_all(whole), strict=True)

    def finished(self) -> Outcomes:
        """Measure what is left; return all that was measured."""
        if self.in_order:
            self._measure(2**63)
        return self._outcomes if self.in_order else {}


def with_known(
    known: Outcomes,
    segments: Sequence[Segment],
    walk: Callable[[Sequence[Segment]], Sequence[Evaluated]],
) -> list[Evaluated]:
    """Return what each segment gives: what is known already, and what another walk finds.

    :param walk: returns what some of them give
    """
    left = [
        each
        for each in segments
        if each.ended is None and each.objection is None and each.window not in known
    ]
    walked = {each.segment.window: each.outcome for each in (walk(left) if left else ())}
    every = known | walked
    outcomes = outcomes_of(lambda windows: [every[window] for window in windows], segments)
    return [Evaluated(*each) for each in zip(segments, outcomes, strict=True)]
