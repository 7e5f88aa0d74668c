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

"""Spans in which a sensor repeats the same values, while its stamps advance."""

from __future__ import annotations

import numpy as np

from repsq_ros.measurement.limits import Limits
from repsq_ros.measurement.reasons import Code, Fault
from repsq_ros.measurement.samples import Array, Samples, Stamps
from repsq_ros.measurement.window import Window

FEWEST_OF_A_PART = 8  # fewest samples for checking parts of a pose
NOISE = 1e-7  # [m] second difference; a simulated path without noise has smaller ones


def longest_frozen(samples: Samples) -> tuple[float, int]:
    """Return the longest span of bit-identical poses [s] and the index at which it begins."""
    columns = [c for c in (samples.position, samples.orientation) if c is not None]
    if len(samples) < 2 or not columns:
        return 0.0, 0
    # A sign flip of the quaternion is no change; NaN counts as a change, as it is another fault.
    changed = [(column[1:] != column[:-1]).any(axis=1) for column in columns]
    moved = np.flatnonzero(np.any(changed, axis=0)) + 1
    starts = np.concatenate([[0], moved])
    ends = np.concatenate([moved - 1, [len(samples) - 1]])
    spans = (samples.stamps[ends] - samples.stamps[starts]).astype(np.float64) * 1e-9
    longest = int(np.argmax(spans))
    return float(spans[longest]), int(starts[longest])


def frozen_fault(samples: Samples, window: Window, limits: Limits) -> Fault | None:
    """Return a fault if the pose is bit-identical for too long although stamps advance."""
    position = samples.position
    if position is not None and (position[1:, 0] != position[:-1, 0]).all():
        return None
    span, first = longest_frozen(samples)
    if span <= limits.frozen:
        return _stuck(samples, first, window) or _stuck_at_the_end(samples, limits)
    return Fault(
        Code.FROZEN,
        f'frozen: bit-identical poses with fresh stamps for {span:.3f} s from '
        f'{window.at(samples.stamps[first])} on, at most {limits.frozen:g} s allowed',
    )


def _stuck(samples: Samples, first: int, window: Window) -> Fault | None:
    """Return a fault if the pose did not change for a while in which the body moved on.

    Counts as stuck if no other repetition lasts a third as long and the step after it exceeds
    three times the 90th percentile. Wheels that really stop start again with a short step.

    :param first: index of the pose with the longest repetition
    """
    position, seconds = samples.position, samples.stamps.astype(np.float64) * 1e-9
    if position is None or len(samples) < 8:
        return None
    same = ~(position[1:] != position[:-1]).any(axis=1)
    moved = np.flatnonzero(~same) + 1
    after = int(np.searchsorted(moved, first, 'right'))
    if after >= len(moved) or len(moved) < 5:
        return None
    last = int(moved[after])
    held = float(seconds[last - 1] - seconds[first])
    runs = np.diff(seconds[np.concatenate([[0], moved])])
    others = np.delete(runs, min(after, len(runs) - 1))
    steps = np.linalg.norm(np.diff(position, axis=0), axis=1)
    usual = float(np.percentile(steps[~same], 90))
    if held <= 3.0 * float(others.max()) or steps[last - 1] <= 3.0 * usual:
        return None
    return Fault(
        Code.FROZEN,
        f'frozen: bit-identical poses with fresh stamps for {held:.3f} s from '
        f'{window.at(samples.stamps[first])} on, and then a step of {steps[last - 1]:.4f} m: the '
        'body went on meanwhile',
    )


def _stuck_at_the_end(samples: Samples, limits: Limits) -> Fault | None:
    """Return a fault if the pose stopped changing at the end although the body was moving.

    Within the samples, a jump shows the missed distance; after the last one, nothing does. The
    slowest of the last three steps is extrapolated, since the body may have been braking.
    """
    if samples.position is None or len(samples) < 8:
        return None
    position, seconds = samples.position, samples.stamps.astype(np.float64) * 1e-9
    changed = np.flatnonzero((position[1:] != position[:-1]).any(axis=1)) + 1
    if len(changed) < 5:
        return None
    last = changed[-4:]
    held = float(seconds[-1] - seconds[last[-1]])
    steps = np.linalg.norm(np.diff(position[last], axis=0), axis=1)
    speed = float((steps / np.diff(seconds[last])).min())
    if held <= 1.5 * float(np.diff(seconds[changed]).max()) or held * speed <= limits.outlier:
        return None
    return Fault(
        Code.FROZEN,
        f'frozen: bit-identical poses with fresh stamps for the last {held:.3f} s, while the body '
        f'was moving at {speed:.4f} m/s',
    )


def part_frozen_fault(samples: Samples, window: Window, limits: Limits) -> Fault | None:
    """Return a fault if a part of the pose is bit-identical although the others change.

    A simulation without noise repeats numbers, too. So the other parts must have noise, and an
    orientation only counts if the body is commanded to turn, or has turned.
    """
    if samples.position is None or samples.orientation is None or len(samples) < FEWEST_OF_A_PART:
        return None
    x, y = samples.position[:, 0], samples.position[:, 1]
    turns = len(window.command) > 2 and window.command[2] != 0.0
    for name, part, others, is_turn in (
        ('x', x[:, None], [y], False),
        ('y', y[:, None], [x], False),
        ('orientation', samples.orientation, [x, y], True),
    ):
        if any((part[1:, k] != part[:-1, k]).all() for k in range(part.shape[1])):
            continue  # it changes with each sample
        moved = np.flatnonzero((part[1:] != part[:-1]).any(axis=1)) + 1
        starts, ends = np.append(0, moved), np.append(moved - 1, len(samples) - 1)
        spans = (samples.stamps[ends] - samples.stamps[starts]).astype(np.float64) * 1e-9
        at = int(np.argmax(spans))
        held = slice(int(starts[at]), int(ends[at]) + 1)
        if spans[at] <= limits.frozen or held.stop - held.start < FEWEST_OF_A_PART:
            continue
        noisy = all(np.median(np.abs(np.diff(other[held], 2))) > NOISE for other in others)
        if noisy and (not is_turn or turns or len(moved) > 0):
            return Fault(
                Code.FROZEN,
                f'frozen: {name} is bit-identical for {spans[at]:.3f} s from '
                f'{window.at(samples.stamps[starts[at]])} on, while the rest of the pose changes',
            )
    return None


class FrozenSpans:
    """Finds the longest frozen span in poses that come in pieces."""

    def __init__(self) -> None:
        self._longest = 0  # [ns]
        self._since, self._until = 0, 0  # the current span [ns]
        self._last: Array | None = None

    def add(self, stamps: Stamps, rows: Array) -> None:
        """Add the next unbroken poses.

        :param stamps: (n,) [ns], increasing, n > 0
        :param rows: (k, n) their values
        """
        changed = np.empty(len(stamps), dtype=np.bool_)
        changed[0] = self._last is None or bool((rows[:, 0] != self._last).any())
        if self._last is None:
            self._since = self._until = int(stamps[0])
        inside = changed[1:]
        np.not_equal(rows[0, 1:], rows[0, :-1], out=inside)
        for row in rows[1:]:
            if inside.all():
                break
            inside |= row[1:] != row[:-1]
        moved = np.flatnonzero(changed)
        if len(moved):
            until = stamps[moved - 1]
            until[0] = stamps[moved[0] - 1] if moved[0] else self._until
            since = np.append(self._since, stamps[moved[:-1]])
            self._longest = max(self._longest, int((until - since).max()))
            self._since = int(stamps[moved[-1]])
        self._until = int(stamps[-1])
        self._last = rows[:, -1].copy()

    def longest(self) -> float:
        """Return the longest span so far [s]."""
        return max(self._longest, self._until - self._since) * 1e-9
