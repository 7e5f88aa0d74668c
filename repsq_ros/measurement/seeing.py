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

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

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
from repsq_ros.measurement.track_steps import look_side_by_side
from repsq_ros.measurement.velocity import estimated_at_once, lead_of
from repsq_ros.measurement.window import Observation, Seen, UnmeasurableError

Found = TypeVar('Found')

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


Read = list[tuple[Seen, str] | UnmeasurableError]


def read_gauges(observations: Sequence[Observation], source: Input, wanted: Wanted) -> Read:
    """Return what `read_gauge` does of several windows, or why it does not."""
    return [_or_why(read_gauge, each, source) for each in observations]


def read_gauge(observation: Observation, source: Input) -> tuple[Seen, str]:
    """Return the readings around a window: the tare, and those since; nobody falls.

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
        # All that a tare may be made of: what came in the last second, or the last before it.
        earlier = slice(0, int(before[-1]) + 1)
        start_ns, end_ns = int(series.stamps[0]), int(series.stamps[before[-1]]) + 1
        fault = validity.doubt_fault(
            observation.doubts, start_ns, end_ns, window
        ) or implausible_fault(Series(raw.stamps[earlier], raw.values[earlier]), source, window)
    if fault:
        raise UnmeasurableError(fault.text, fault.code)
    return Seen(source, series=series, first=first), ''


class BodyCut:
    """The samples around a window, cut into what a measure of a body looks at.

    :raises UnmeasurableError: with the named reason
    """

    def __init__(self, observation: Observation, source: Input, wanted: Wanted) -> None:
        self.observation, self.source, self.wanted = observation, source, wanted
        window, limits = observation.window, wanted.limits
        self.everything = self.stretch(window.reach_ns, window.end_ns)
        self.whole = whole = self.everything.whole
        self.first = first = int(whole.stamps.searchsorted(window.start_ns))
        # A sample long before the window says nothing of it: the body may have been anywhere.
        near = first > 0 and window.start_ns - whole.stamps[first - 1] <= limits.largest_gap_ns
        self.begin = begin = 0 if near else first
        stamps = whole.stamps[begin:]
        self.retimed = source.retime and source.rate > 0
        if self.retimed:
            stamps = retimed(stamps, source.rate)
        self.stamps = stamps  # of the samples from `begin` on
        lead = 0
        if wanted.needs == 'velocity' and source.velocity != 'twist' and first < len(whole):
            lead = lead_of(stamps, source, first - begin)
        self.leads = [lead]  # numbers of samples before the window, those wanted most first
        if wanted.history and near:  # all since the last gap, if it is as sound as the rest
            gaps = np.flatnonzero(np.diff(whole.stamps[: first + 1]) > limits.largest_gap_ns)
            self.leads.insert(0, first - (int(gaps[-1]) + 1 if len(gaps) else 0))

    def stretch(
        self, start_ns: int, end_ns: int, lead_ns: int = 0, part_of_unbroken: bool = False
    ) -> Stretch:
        """Return the samples of [start - lead, end)."""
        raw = self.observation.track
        assert raw is not None
        low, high = raw.stamps.searchsorted(start_ns - lead_ns), raw.stamps.searchsorted(end_ns)
        return Stretch(
            raw.take(slice(int(low), int(high))),
            start_ns,
            end_ns,
            self.source,
            self.wanted.limits,
            self.wanted.needs,
            self.observation.window,
            lead_ns,
            self.observation.doubts,
            self.wanted.commanded,
            part_of_unbroken=part_of_unbroken,
        )

    @cached_property
    def judged(self) -> Stretch:
        """Return what is looked at first: the window with as much before it as is wanted."""
        return self.with_lead(self.leads[0])

    def with_lead(self, lead: int) -> Stretch:
        """Return the window with so many samples before it, and one more.

        That one tells whether the first ones came late, or are out of line.
        """
        window = self.observation.window
        before = min(lead + 1, self.first - self.begin)
        lead_ns = window.start_ns - int(self.whole.stamps[self.first - before]) if before else 0
        return self.stretch(window.start_ns, window.end_ns, lead_ns, self.everything.unbroken)

    @property
    def on_command(self) -> Track:
        """Return the whole samples since the command took effect."""
        command_ns = self.observation.window.command_ns
        return self.whole.since(int(self.whole.stamps.searchsorted(command_ns)))


def read_body(cut: BodyCut) -> tuple[Seen, str]:
    """Return the track around a window, and how the subject fell ('': it did not).

    :raises UnmeasurableError: with the named reason
    """
    window, limits, fall = cut.observation.window, cut.wanted.limits, cut.wanted.fall
    if fall is not None:
        note = fallen(cut.on_command, fall, cut.everything.period, window, limits)
        if note:
            return Seen(cut.source, cut.whole, first=cut.first), note
    fault, lead = None, 0
    for place, lead in enumerate(cut.leads):
        fault = checks.fault(cut.with_lead(lead) if place else cut.judged)
        if fault is None:
            break
    if fault is not None:
        if fall is not None and fault.code in OUT_OF_SIGHT:
            fault = lost_falling(cut.on_command, fall, window, limits) or fault
        raise UnmeasurableError(fault.text, fault.code)
    since = cut.first - lead
    track = cut.whole.since(since)
    if cut.retimed:
        track = replace(track, stamps=cut.stamps[since - cut.begin :])

    def other(start_ns: int, end_ns: int) -> Track:
        return checks.require(cut.stretch(start_ns, end_ns))

    return Seen(cut.source, track, first=lead, stretch=other), ''


def read_bodies(observations: Sequence[Observation], source: Input, wanted: Wanted) -> Read:
    """Return what `read_body` does of several windows, or why it does not.

    They are looked at side by side: each gives what it would give alone, to the last bit.
    """
    cuts = [_or_why(BodyCut, each, source, wanted) for each in observations]
    if len(cuts) > 1:
        look_side_by_side(
            [cut.judged.steps for cut in cuts if isinstance(cut, BodyCut) and len(cut.whole)]
        )
    found: Read = []
    for cut in cuts:
        if isinstance(cut, BodyCut):
            read = _or_why(read_body, cut)
            found.append(read)
        else:
            found.append(cut)
    if wanted.needs != 'velocity' or len(found) < 2:
        return found
    sound = [
        (place, each[0])
        for place, each in enumerate(found)
        if not isinstance(each, UnmeasurableError) and not each[1]
    ]
    tracks = [(seen.track, seen.first) for _, seen in sound if seen.track is not None]
    for (place, seen), velocity in zip(sound, estimated_at_once(tracks, source), strict=True):
        found[place] = (replace(seen, velocity=velocity), '')
    return found


def _or_why(function: Callable[..., Found], *asked: Any) -> Found | UnmeasurableError:
    """Return what a function does, or why it cannot."""
    try:
        return function(*asked)
    except UnmeasurableError as error:
        return error
