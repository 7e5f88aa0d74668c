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

from dataclasses import replace

import numpy as np

from repsq_ros.measurement import validity
from repsq_ros.measurement.fall import fallen
from repsq_ros.measurement.frames import conditioned
from repsq_ros.measurement.inputs import Input
from repsq_ros.measurement.limits import Fall, Limits
from repsq_ros.measurement.retime import retimed
from repsq_ros.measurement.track import Series, Track, broken
from repsq_ros.measurement.window import Observation, Seen, UnmeasurableError


def read_gauge(observation: Observation, source: Input) -> Seen:
    """Return the readings around a window.

    :raises UnmeasurableError: with the named reason
    """
    raw = observation.series
    assert raw is not None
    series = Series(raw.stamps, source.to_si(raw.values))
    first = len(series) - observation.count
    fault = validity.reading_fault(series, first, observation.window)
    fault = fault or validity.frame_fault(observation.frames, source)
    if fault:
        raise UnmeasurableError(fault)
    return Seen(source, series=series, first=first)


def read_body(
    observation: Observation,
    source: Input,
    limits: Limits,
    needs: str,
    fall: Fall | None,
) -> tuple[Seen, str]:
    """Return the track around a window, and how the subject fell ('': it did not).

    :param needs: what of it will be used: velocity, position or pose
    :raises UnmeasurableError: with the named reason
    """
    window, raw, count = observation.window, observation.track, observation.count
    assert raw is not None
    bad = broken(raw)
    whole = _in_si(raw.take(~bad) if bad.any() else raw, source)
    if fall is not None:
        on_command = whole.since(int(np.searchsorted(whole.stamps, window.command_ns)))
        note = fallen(on_command, fall)
        if note:
            return Seen(source, whole), note
    inside = raw.since(len(raw) - count)
    fault = _fault(inside, observation, source, limits, needs)
    if fault:
        raise UnmeasurableError(fault)
    first = len(whole) - count
    # A sample long before the window says nothing of it: the body may have been anywhere.
    near = first > 0 and window.start_ns - whole.stamps[first - 1] <= limits.largest_gap_ns
    fault = validity.jump_fault(whole.since(first - near), window, limits, source.rate)
    if fault:
        raise UnmeasurableError(fault)
    if not near:
        whole, first = whole.since(first), 0
    if source.retime and source.rate > 0:
        whole = replace(whole, stamps=retimed(whole.stamps, source.rate))
    return Seen(source, whole, first=first), ''


def _in_si(track: Track, source: Input) -> Track:
    try:
        return conditioned(track, source)
    except ValueError as error:
        raise UnmeasurableError(str(error)) from None


def _fault(
    inside: Track, observation: Observation, source: Input, limits: Limits, needs: str
) -> str:
    """Return what is wrong with the samples of the window as they came, or ''."""
    window = observation.window
    if not len(inside):
        return validity.silence(window)
    by_twist = needs == 'velocity' and source.velocity == 'twist'
    return (
        validity.samples_fault(inside, window)
        or validity.gap_fault(inside.stamps, window, limits, source.rate)
        or validity.frame_fault(observation.frames, source)
        or _lack(inside, needs, by_twist)
        or (
            validity.dead_twist_fault(inside)
            or validity.stuck_odometry_fault(inside, window, limits)
            if by_twist
            else validity.frozen_fault(inside, window, limits)
        )
    )


def _lack(track: Track, needs: str, by_twist: bool) -> str:
    """Return what the sensor does not report although it is needed, or ''."""
    if by_twist:
        lacks = track.linear is None or track.angular is None
        return 'no velocity: the source reports poses only' if lacks else ''
    if track.position is None:
        return 'no position: the source does not report it'
    if needs != 'position' and track.orientation is None:
        return 'no orientation: the source reports positions only'
    return ''
