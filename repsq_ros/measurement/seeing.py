"""From the samples around a window to checked signals in SI units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from repsq_ros.measurement import validity
from repsq_ros.measurement.fall import fallen
from repsq_ros.measurement.frames import conditioned
from repsq_ros.measurement.inputs import Input
from repsq_ros.measurement.limits import Fall, Limits
from repsq_ros.measurement.retime import retimed
from repsq_ros.measurement.samples import BodySample, Reading
from repsq_ros.measurement.track import Series, Track, series_of, track_of
from repsq_ros.measurement.window import Observation, Seen, UnmeasurableError, Window


def read_gauge(observation: Observation, count: int, source: Input) -> Seen:
    """Return the readings around a window.

    :param count: how many of them are in the window
    :raises UnmeasurableError: with the named reason
    """
    readings = [each for each in observation.samples if isinstance(each, Reading)]
    if isinstance(observation.last, Reading):
        readings.insert(0, observation.last)
    series = series_of(readings, source)
    first = len(readings) - count
    inside = Series(series.stamps[first:], series.values[first:])
    before = readings[first - 1] if first else None
    fault = validity.reading_fault(inside, before, observation.window)
    fault = fault or validity.frame_fault(readings[first:], source)
    if fault:
        raise UnmeasurableError(fault)
    return Seen(source, series=series, first=first)


def read_body(
    observation: Observation,
    count: int,
    source: Input,
    limits: Limits,
    needs: str,
    fall: Fall | None,
) -> tuple[Seen, str]:
    """Return the track around a window, and how the subject fell ('': it did not).

    :param count: how many of the samples are in the window
    :param needs: what of it will be used: velocity, position or pose
    :raises UnmeasurableError: with the named reason
    """
    window = observation.window
    samples = [each for each in observation.samples if isinstance(each, BodySample)]
    raw = track_of(samples)
    whole = _in_si(raw.take(~validity.broken(raw)), source)
    if fall is not None:
        on_command = whole.since(int(np.searchsorted(whole.stamps, window.command_ns)))
        note = fallen(on_command, fall)
        if note:
            return Seen(source, whole), note
    fault = _fault(samples[len(samples) - count :], raw, window, source, limits, needs)
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
    samples: Sequence[BodySample],
    raw: Track,
    window: Window,
    source: Input,
    limits: Limits,
    needs: str,
) -> str:
    """Return what is wrong with the samples of the window as they came, or ''."""
    if not samples:
        return validity.silence(window)
    inside = raw.since(len(raw) - len(samples))
    by_twist = needs == 'velocity' and source.velocity == 'twist'
    return (
        validity.samples_fault(inside, window)
        or validity.gap_fault(inside.stamps, window, limits, source.rate)
        or validity.frame_fault(samples, source)
        or _lack(inside, needs, by_twist)
        or (
            validity.dead_twist_fault(inside)
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
