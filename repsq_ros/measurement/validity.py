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

"""Whether samples as they came can be measured at all; if not, the reason with its numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from repsq_ros.measurement.frames import UNIT_NORM
from repsq_ros.measurement.frozen import longest_frozen
from repsq_ros.measurement.limits import Condition, Limits
from repsq_ros.measurement.period import period_of
from repsq_ros.measurement.reasons import Code, Doubt, Fault
from repsq_ros.measurement.rowwise import any_set, lengths, percentile
from repsq_ros.measurement.track import Series, Track, broken
from repsq_ros.measurement.window import Window
from repsq_ros.timebase import to_seconds

Array = NDArray[np.float64]


def samples_fault(track: Track, window: Window) -> Fault | None:
    """Return what is wrong with a sample."""
    bad = np.flatnonzero(broken(track))
    if not len(bad):
        return None
    first = int(bad[0])
    at = window.at(track.stamps[first])
    lost = track.orientation is not None and not np.any(track.orientation[first])
    if lost and _finite(track, first):
        return Fault(
            Code.ORIENTATION,
            f'no orientation: a quaternion of norm zero (tracking lost) at {at}',
        )
    return Fault(Code.NOT_FINITE, f'not finite: NaN or infinity in a sample at {at}')


def _finite(track: Track, row: int) -> bool:
    columns = (track.position, track.orientation, track.linear, track.angular)
    return all(bool(np.isfinite(c[row]).all()) for c in columns if c is not None)


def norm_fault(norms: Array, stamps: NDArray[np.int64], window: Window) -> Fault | None:
    """Return a quaternion that is no rotation.

    :param norms: (n,) of the quaternions of whole samples
    :param stamps: (n,) [ns]
    """
    if not len(norms):
        return None
    at = int(np.argmax(np.abs(norms - 1.0)))
    if abs(norms[at] - 1.0) <= UNIT_NORM:
        return None
    return Fault(
        Code.QUATERNION,
        f'quaternion of norm {norms[at]:.3f} at {window.at(stamps[at])}, expected 1: are '
        'its numbers in the order x, y, z, w, and are they all there?',
    )


def silence(window: Window) -> Fault:
    """Return the reason for a window without a sample."""
    seconds = to_seconds(window.end_ns - window.start_ns)
    return Fault(Code.SILENT, f'silent: no sample in a window of {seconds:g} s')


def gap_fault(
    stamps: NDArray[np.int64],
    start_ns: int,
    end_ns: int,
    window: Window,
    limits: Limits,
    rate: float,
) -> Fault | None:
    """Return where the samples do not cover a stretch of time.

    :param stamps: (n,) [ns], n >= 1, within [start, end)
    :param rate: [Hz] nominal; 0: the stream tells its period itself
    """
    ends = np.concatenate([[start_ns], stamps, [end_ns]])
    steps = ends[1:] - ends[:-1]
    # Of the longest gaps the last one, as ever.
    at = len(steps) - 1 - int(np.argmax(steps[::-1]))
    gap_ns = int(steps[at])
    if gap_ns > limits.largest_gap_ns:
        return Fault(
            Code.GAP,
            f'gap: {to_seconds(gap_ns):.3f} s without a sample from '
            f'{window.at(ends[at])} on, at most '
            f'{to_seconds(limits.largest_gap_ns):g} s allowed',
        )
    if rate <= 0 and limits.coverage < 0.999 and _evenly_spread(steps):
        return None
    period_ns = period_of(stamps, rate) * 1e9
    if period_ns > 0:
        missed = float(np.sum(np.maximum(steps - 2.0 * period_ns, 0.0)))
        coverage = 1.0 - missed / (end_ns - start_ns)
        if coverage < limits.coverage:
            return Fault(
                Code.COVERAGE,
                f'coverage: {coverage:.3f} of the window lies near one of {len(stamps)} samples, '
                f'at least {limits.coverage:g} wanted (period {period_ns * 1e-6:.3f} ms)',
            )
    return None


def _evenly_spread(steps: NDArray[np.int64]) -> bool:
    """Tell whether no step is over twice the least: then none is over two periods of any of them.

    :param steps: (n + 1,) [ns] from the start to the first sample, between all, and to the end
    """
    between = steps[1:-1]
    return len(between) > 0 and bool(steps.max() <= 2 * between.min())


def frozen_fault(track: Track, window: Window, limits: Limits) -> Fault | None:
    """Return where the pose does not change to the last bit although stamps go on."""
    if _always_moving(track) and limits.frozen >= 0:
        return None
    span, first = longest_frozen(track)
    if span <= limits.frozen:
        return _stuck(track, first, window) or _stuck_at_the_end(track, limits)
    return Fault(
        Code.FROZEN,
        f'frozen: bit-identical poses with fresh stamps for {span:.3f} s from '
        f'{window.at(track.stamps[first])} on, at most {limits.frozen:g} s allowed',
    )


def _always_moving(track: Track) -> bool:
    """Tell whether no position is that of the sample before: nothing is frozen then."""
    if track.position is None:
        return False
    x = track.position[:, 0]
    return bool((x[1:] != x[:-1]).all())


def _stuck(track: Track, first: int, window: Window) -> Fault | None:
    """Return whether the pose did not change for a while in which the body went on.

    It did where no other pose is repeated for a third as long, and the step that ends the longest
    repetition makes up for it: longer than three of the long ones of the others. Wheels that
    stand still for a moment go on with a short step.

    :param first: index of the pose that is repeated longest
    """
    position, seconds = track.position, track.stamps.astype(np.float64) * 1e-9
    if position is None or len(track) < 8:
        return None
    same = ~any_set(position[1:] != position[:-1])
    moved = np.flatnonzero(~same) + 1
    after = int(np.searchsorted(moved, first, 'right'))
    if after >= len(moved) or len(moved) < 5:
        return None
    last = int(moved[after])
    held = float(seconds[last - 1] - seconds[first])
    runs = np.diff(seconds[np.concatenate([[0], moved])])
    others = np.delete(runs, min(after, len(runs) - 1))
    steps = lengths(position[1:] - position[:-1])
    usual = percentile(steps[~same], 90)
    if held <= 3.0 * float(others.max()) or steps[last - 1] <= 3.0 * usual:
        return None
    return Fault(
        Code.FROZEN,
        f'frozen: bit-identical poses with fresh stamps for {held:.3f} s from '
        f'{window.at(track.stamps[first])} on, and then a step of {steps[last - 1]:.4f} m: the '
        'body went on meanwhile',
    )


def _stuck_at_the_end(track: Track, limits: Limits) -> Fault | None:
    """Return whether the pose has stopped to change although the body was on its way.

    Within the samples a jump tells how far it went meanwhile; after the last one nothing does. It
    is held against the slowest of its last three steps: a body that brakes has slowed down.
    """
    if track.position is None or len(track) < 8:
        return None
    position, seconds = track.position, track.stamps.astype(np.float64) * 1e-9
    changed = np.flatnonzero(any_set(position[1:] != position[:-1])) + 1
    if len(changed) < 5:
        return None
    last = changed[-4:]
    held = float(seconds[-1] - seconds[last[-1]])
    steps = lengths(np.diff(position[last], axis=0))
    speed = float((steps / np.diff(seconds[last])).min())
    if held <= 1.5 * float(np.diff(seconds[changed]).max()) or held * speed <= limits.outlier:
        return None
    return Fault(
        Code.FROZEN,
        f'frozen: bit-identical poses with fresh stamps for the last {held:.3f} s, while the body '
        f'was moving at {speed:.4f} m/s',
    )


def doubt_fault(
    doubts: Sequence[Doubt], start_ns: int, end_ns: int, window: Window
) -> Fault | None:
    """Return what was seen to be wrong with samples of [start, end) when they came."""
    for doubt in doubts:
        if doubt.start_ns < end_ns and doubt.end_ns >= start_ns:
            text = doubt.text
            if doubt.code is not Code.FRAME:
                text = f'{text} at {window.at(doubt.start_ns)}'
            return Fault(doubt.code, text)
    return None


def publishers_fault(topic: str, names: Sequence[str]) -> Fault | None:
    """Return whether more than one program speaks on a sensor's topic.

    :param names: of the nodes that publish there, one for each publisher
    """
    if len(names) < 2:
        return None
    return Fault(
        Code.PUBLISHERS,
        f'publishers: {len(names)} on {topic} ({", ".join(sorted(names))}), expected one: nobody '
        'can tell whose body is whose',
    )


def reading_fault(series: Series, first: int, window: Window) -> Fault | None:
    """Return why the readings of a gauge cannot stand for the window.

    :param first: index of the first one in the window
    """
    if first == len(series):
        if not first:
            return Fault(Code.SILENT, f'{silence(window).text}, and none before it')
        age = to_seconds(window.start_ns - int(series.stamps[-1]))
        return Fault(
            Code.STALE,
            f'stale gauge: its newest reading is {age:.3f} s older than the window, and one from '
            'after settling is needed',
        )
    bad = np.flatnonzero(~np.isfinite(series.values[first:]))
    if len(bad):
        at = window.at(series.stamps[first + bad[0]])
        return Fault(Code.NOT_FINITE, f'not finite: NaN or infinity in a reading at {at}')
    return None


def condition_fault(condition: Condition, series: Series, window: Window) -> Fault | None:
    """Return what a condition has against the test.

    :param series: its last reading before the command took effect, and those until the end
    """

    def against(text: str) -> Fault:
        return Fault(Code.CONDITION, f'{condition.name} {text}')

    if not len(series):
        return against(f'unknown: nothing was heard of it, expected {condition.expected}')
    bad = np.flatnonzero(~condition.accepts(series.values))
    if len(bad):
        return against(
            f'not nominal: {series.values[bad[0]]:g} at '
            f'{window.at(series.stamps[bad[0]])}, expected {condition.expected}'
        )
    silent = to_seconds(window.end_ns - int(series.stamps[-1]))
    if silent > condition.longest_silence:
        return against(
            f'stale: last heard {silent:.3f} s before the end of the window, at '
            f'most {condition.longest_silence:g} s allowed'
        )
    return None
