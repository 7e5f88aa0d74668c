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

"""Whether a window of samples can be measured at all; if not, the reason with its numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from repsq_ros.measurement.audit import longest_frozen
from repsq_ros.measurement.frames import continuous
from repsq_ros.measurement.inputs import Input
from repsq_ros.measurement.limits import Condition, Limits
from repsq_ros.measurement.track import Series, Track, broken
from repsq_ros.measurement.window import Window
from repsq_ros.timebase import to_seconds

Array = NDArray[np.float64]


def samples_fault(track: Track, window: Window) -> str:
    """Return what is wrong with a sample of the window, or ''."""
    bad = np.flatnonzero(broken(track))
    if not len(bad):
        return ''
    first = int(bad[0])
    text = 'not finite: NaN or infinity in a sample'
    lost = track.orientation is not None and not np.any(track.orientation[first])
    if lost and _finite(track, first):
        text = 'no orientation: a quaternion of norm zero (tracking lost)'
    return f'{text} at {window.at(track.stamps[first])}'


def _finite(track: Track, row: int) -> bool:
    columns = (track.position, track.orientation, track.linear, track.angular)
    return all(bool(np.isfinite(c[row]).all()) for c in columns if c is not None)


def silence(window: Window) -> str:
    """Return the reason for a window without a sample."""
    return f'silent: no sample in a window of {to_seconds(window.end_ns - window.start_ns):g} s'


def gap_fault(stamps: NDArray[np.int64], window: Window, limits: Limits, rate: float) -> str:
    """Return where the samples do not cover the window, or ''.

    :param stamps: (n,) [ns], n >= 1, within the window
    :param rate: [Hz] nominal; 0: the median gap stands for its period
    """
    ends = np.concatenate([[window.start_ns], stamps, [window.end_ns]])
    steps = np.diff(ends)
    # Of the longest gaps the last one, as ever.
    at = len(steps) - 1 - int(np.argmax(steps[::-1]))
    gap_ns = int(steps[at])
    if gap_ns > limits.largest_gap_ns:
        return (
            f'gap: {to_seconds(gap_ns):.3f} s without a sample from '
            f'{window.at(ends[at])} on, at most '
            f'{to_seconds(limits.largest_gap_ns):g} s allowed'
        )
    inner = np.diff(stamps)
    period_ns = 1e9 / rate if rate > 0 else float(np.median(inner)) if len(inner) else 0.0
    if period_ns > 0:
        missed = float(np.sum(np.maximum(steps - 2.0 * period_ns, 0.0)))
        coverage = 1.0 - missed / (window.end_ns - window.start_ns)
        if coverage < limits.coverage:
            return (
                f'coverage: {coverage:.3f} of the window lies near one of {len(stamps)} samples, '
                f'at least {limits.coverage:g} wanted (period {period_ns * 1e-6:.3f} ms)'
            )
    return ''


def frozen_fault(track: Track, window: Window, limits: Limits) -> str:
    """Return where the pose does not change to the last bit although stamps go on, or ''."""
    span, first = longest_frozen(track)
    if span <= limits.frozen:
        return ''
    return (
        f'frozen: bit-identical poses with fresh stamps for {span:.3f} s from '
        f'{window.at(track.stamps[first])} on, at most {limits.frozen:g} s allowed'
    )


def jump_fault(track: Track, window: Window, limits: Limits, rate: float) -> str:
    """Return where the body moves or turns faster than anything can, or ''.

    Two messages that came together are given a whole period for their step.

    :param track: in SI units
    """
    if len(track) < 2:
        return ''
    steps = np.diff(track.stamps).astype(np.float64) * 1e-9
    period = 1.0 / rate if rate > 0 else float(np.median(steps))
    time = np.maximum(steps, period)
    if track.position is not None:
        moved = np.linalg.norm(np.diff(track.position, axis=0), axis=1)
        excess = moved - np.maximum(limits.fastest * time, limits.step)
        at = int(np.argmax(excess))
        if excess[at] > 0:
            return (
                f'jump: {moved[at]:.3f} m within {steps[at]:.4f} s at '
                f'{window.at(track.stamps[at + 1])}, at most {limits.fastest:g} m/s is believed'
            )
    if track.orientation is not None:
        angle = _turned_by(track.orientation)
        excess = angle - limits.fastest_turn * time
        at = int(np.argmax(excess))
        if excess[at] > 0:
            return (
                f'jump: a turn by {angle[at]:.3f} rad within {steps[at]:.4f} s at '
                f'{window.at(track.stamps[at + 1])}, at most {limits.fastest_turn:g} rad/s is '
                'believed'
            )
    return ''


def _turned_by(orientation: Array) -> Array:
    """Return the angles between successive quaternions [rad]."""
    unit = continuous(orientation / np.linalg.norm(orientation, axis=1, keepdims=True))
    # |a - b| = 2 sin(angle / 4): exact for small angles, where the inner product is not.
    half = np.linalg.norm(np.diff(unit, axis=0), axis=1) / 2.0
    angle: Array = 4.0 * np.arcsin(np.minimum(half, 1.0))
    return angle


def dead_twist_fault(track: Track) -> str:
    """Return whether the velocities of an odometry are exact zeros that it does not mean, or ''.

    A controller that is off reports zeros throughout; a driver that knows poses alone leaves the
    twist zero while the pose moves.
    """
    if track.linear is None or track.angular is None or len(track) < 2:
        return ''
    if track.linear.any() or track.angular.any() or track.position is None:
        return ''
    count = len(track)
    if not track.position.any():
        return f'all-zero odometry: position and twist of all {count} samples are exactly zero'
    moved = float(np.linalg.norm(track.position - track.position[0], axis=1).max())
    if moved > 0.0:
        return (
            f'all-zero odometry: the twist of all {count} samples is exactly zero while the '
            f'position moves by {moved:.4f} m'
        )
    return ''


def stuck_odometry_fault(track: Track, window: Window, limits: Limits) -> str:
    """Return where an odometry repeats itself although it tells of a motion, or ''.

    Wheels at rest repeat themselves, and a bridge may leave the position zero: neither is meant.
    """
    if track.position is None or track.linear is None or track.angular is None:
        return ''
    moving = track.linear.any(axis=1) | track.angular.any(axis=1)
    told = moving & track.position.any(axis=1)
    return frozen_fault(track, window, limits) if told.all() else ''


def frame_fault(frames: Sequence[str], source: Input) -> str:
    """Return a frame_id that is not the expected one, or ''."""
    if source.frame:
        for frame in frames:
            if frame != source.frame:
                return f'wrong frame: frame_id {frame!r}, expected {source.frame!r}'
    return ''


def reading_fault(series: Series, first: int, window: Window) -> str:
    """Return why the readings of a gauge cannot stand for the window, or ''.

    :param first: index of the first one in the window
    """
    if first == len(series):
        if not first:
            return f'{silence(window)}, and none before it'
        age = to_seconds(window.start_ns - int(series.stamps[-1]))
        return (
            f'stale gauge: its newest reading is {age:.3f} s older than the window, and one from '
            'after settling is needed'
        )
    bad = np.flatnonzero(~np.isfinite(series.values[first:]))
    if len(bad):
        at = window.at(series.stamps[first + bad[0]])
        return f'not finite: NaN or infinity in a reading at {at}'
    return ''


def condition_fault(condition: Condition, series: Series, window: Window) -> str:
    """Return what a condition has against the test, or ''.

    :param series: its last reading before the command took effect, and those until the end
    """
    if not len(series):
        return f'{condition.name} unknown: nothing was heard of it, expected {condition.expected}'
    bad = np.flatnonzero(~condition.accepts(series.values))
    if len(bad):
        return (
            f'{condition.name} not nominal: {series.values[bad[0]]:g} at '
            f'{window.at(series.stamps[bad[0]])}, expected {condition.expected}'
        )
    silent = to_seconds(window.end_ns - int(series.stamps[-1]))
    if silent > condition.longest_silence:
        return (
            f'{condition.name} stale: last heard {silent:.3f} s before the end of the window, at '
            f'most {condition.longest_silence:g} s allowed'
        )
    return ''
