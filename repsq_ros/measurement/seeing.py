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

"""From the samples around a window to checked signals in SI units."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from repsq_ros.measurement import checks, validity
from repsq_ros.measurement.checks import Stretch
from repsq_ros.measurement.fall import fallen, lost_falling
from repsq_ros.measurement.inputs import Input
from repsq_ros.measurement.limits import Commanded, Fall, Limits
from repsq_ros.measurement.readings import implausible_fault
from repsq_ros.measurement.reasons import Code
from repsq_ros.measurement.retime import retimed
from repsq_ros.measurement.track import Series, Track
from repsq_ros.measurement.velocity import lead_of
from repsq_ros.measurement.window import Observation, Seen, UnmeasurableError, Window

# Reasons that a body which falls out of sight leaves behind.
OUT_OF_SIGHT = {
    Code.SILENT,
    Code.GAP,
    Code.COVERAGE,
    Code.FROZEN,
    Code.NOT_FINITE,
    Code.ORIENTATION,
    Code.JUMP,
}


@dataclass(frozen=True)
class Wanted:
    """What a measure needs of a body, and the limits within which it is believed."""

    needs: str  # velocity, position or pose
    limits: Limits
    fall: Fall | None = None
    commanded: Commanded | None = None
    history: bool = False  # all that precedes the window, for a measure of the user's own


def read_gauge(observation: Observation, source: Input) -> Seen:
    """Return the readings around a window: the tare, and those since.

    :raises UnmeasurableError: with the named reason
    """
    raw, window = observation.series, observation.window
    assert raw is not None
    series = Series(raw.stamps, source.to_si(raw.values))
    first = len(series) - observation.count
    fault = (
        validity.reading_fault(series, first, window)
        or validity.doubt_fault(observation.doubts, window.start_ns, window.end_ns, window)
        or implausible_fault(Series(raw.stamps, raw.values).since(first), source, window)
    )
    before = np.flatnonzero(series.stamps < window.command_ns)
    if fault is None and len(before):
        last = int(before[-1])
        stamp_ns = int(series.stamps[last])
        tare = Series(raw.stamps[last : last + 1], raw.values[last : last + 1])
        fault = validity.doubt_fault(
            observation.doubts, stamp_ns, stamp_ns + 1, window
        ) or implausible_fault(tare, source, window)
    if fault:
        raise UnmeasurableError(fault.text, fault.code)
    return Seen(source, series=series, first=first)


def read_body(observation: Observation, source: Input, wanted: Wanted) -> tuple[Seen, str]:
    """Return the track around a window, and how the subject fell ('': it did not).

    :raises UnmeasurableError: with the named reason
    """
    window, raw, limits = observation.window, observation.track, wanted.limits
    assert raw is not None

    def stretch(
        start_ns: int, end_ns: int, lead_ns: int = 0, part_of_unbroken: bool = False
    ) -> Stretch:
        low, high = raw.stamps.searchsorted(start_ns - lead_ns), raw.stamps.searchsorted(end_ns)
        return Stretch(
            raw.take(slice(int(low), int(high))),
            start_ns,
            end_ns,
            source,
            limits,
            wanted.needs,
            window,
            lead_ns,
            observation.doubts,
            wanted.commanded,
            part_of_unbroken=part_of_unbroken,
        )

    everything = stretch(window.reach_ns, window.end_ns)
    whole = everything.whole
    first = int(whole.stamps.searchsorted(window.start_ns))
    if wanted.fall is not None:
        note = fallen(_on_command(whole, window), wanted.fall, everything.period, window, limits)
        if note:
            return Seen(source, whole, first=first), note
    # A sample long before the window says nothing of it: the body may have been anywhere.
    near = first > 0 and window.start_ns - whole.stamps[first - 1] <= limits.largest_gap_ns
    begin = 0 if near else first
    stamps = whole.stamps[begin:]
    if source.retime and source.rate > 0:
        stamps = retimed(stamps, source.rate)
    lead = 0
    if wanted.needs == 'velocity' and source.velocity != 'twist' and first < len(whole):
        lead = lead_of(stamps, source, first - begin)
    leads = [lead]
    if wanted.history and near:  # all since the last gap, if it is as sound as the rest
        gaps = np.flatnonzero(np.diff(whole.stamps[: first + 1]) > limits.largest_gap_ns)
        leads.insert(0, first - (int(gaps[-1]) + 1 if len(gaps) else 0))
    fault = None
    for lead in leads:
        # One more than is used: it tells whether the first ones came late, or are out of line.
        before = min(lead + 1, first - begin)
        lead_ns = window.start_ns - int(whole.stamps[first - before]) if before else 0
        fault = checks.fault(stretch(window.start_ns, window.end_ns, lead_ns, everything.unbroken))
        if fault is None:
            break
    since = first - lead
    if fault is not None:
        if wanted.fall is not None and fault.code in OUT_OF_SIGHT:
            fault = lost_falling(_on_command(whole, window), wanted.fall, window, limits) or fault
        raise UnmeasurableError(fault.text, fault.code)
    seen = replace(whole.since(since), stamps=stamps[since - begin :])

    def other(start_ns: int, end_ns: int) -> Track:
        return checks.require(stretch(start_ns, end_ns))

    return Seen(source, seen, first=lead, stretch=other), ''


def _on_command(whole: Track, window: Window) -> Track:
    """Return the samples since the command took effect."""
    return whole.since(int(whole.stamps.searchsorted(window.command_ns)))
