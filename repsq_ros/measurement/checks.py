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

"""The list of checks that samples have to pass before they are used.

All users of samples (the window, the time before it, a reference, a tare, settling, a fall) make a
`Cut` and call `fault`. A check looks at some of the columns, and is skipped if none of them is
there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from repsq_ros.measurement import motion, twists
from repsq_ros.measurement.bunching import bunched_fault
from repsq_ros.measurement.coverage import gap_fault, silence
from repsq_ros.measurement.cut import Cut
from repsq_ros.measurement.frames import (
    UNIT_NORM,
    leaning,
    leans_as_if_w_came_first,
    rotation_between,
)
from repsq_ros.measurement.frozen import frozen_fault, part_frozen_fault
from repsq_ros.measurement.inputs import Need
from repsq_ros.measurement.readings import implausible_fault
from repsq_ros.measurement.reasons import Code, Doubt, Fault
from repsq_ros.measurement.samples import COLUMNS, POSE, TWIST, Samples
from repsq_ros.measurement.velocity import FITS
from repsq_ros.measurement.window import BASELINE_NS, GUARD_NS, UnmeasurableError, Window
from repsq_ros.timebase import to_seconds

STEADY = 0.25  # largest relative difference between the two halves of a steady turn or move


class Check(NamedTuple):
    """A check: its name, the columns that it looks at, and its function."""

    name: str
    columns: tuple[str, ...]
    fault: Callable[[Cut], Fault | None]
    of_streams: bool = False  # skipped for inputs that may be silent while nothing changes
    of_velocity: bool = False  # skipped if no velocity is used


def _present(cut: Cut) -> Fault | None:
    if cut.count:
        return None
    if cut.needs != Need.READING:
        return silence(cut.window)
    if not len(cut.raw):
        return Fault(Code.SILENT, f'{silence(cut.window).text}, and none before it')
    age = to_seconds(cut.start_ns - cut.raw.stamp_ns)
    return Fault(
        Code.STALE,
        f'stale gauge: its newest reading is {age:.3f} s older than the window, and one from '
        'after settling is needed',
    )


def _finite(cut: Cut) -> Fault | None:
    bad = np.flatnonzero(cut.broken)
    if not len(bad):
        return None
    row = cut.inside.take(bad[:1])
    at = cut.window.at(row.stamp_ns)
    if all(np.isfinite(column).all() for column in row.columns.values()):
        return Fault(
            Code.ORIENTATION,
            f'no orientation: a quaternion of norm zero (tracking lost) at {at}',
        )
    what = 'sample' if row.value is None else 'reading'
    return Fault(Code.NOT_FINITE, f'not finite: NaN or infinity in a {what} at {at}')


def _norm(cut: Cut) -> Fault | None:
    assert cut.inside.orientation is not None
    at = int(np.argmax(cut.off_norm))
    if cut.off_norm[at] <= UNIT_NORM:
        return None
    norm = float(np.linalg.norm(cut.inside.orientation[at]))
    return Fault(
        Code.QUATERNION,
        f'quaternion of norm {norm:.3f} at {cut.window.at(cut.inside.stamps[at])}, '
        'expected 1: are its numbers in the order x, y, z, w, and are they all there?',
    )


def _covered(cut: Cut) -> Fault | None:
    stamps, rate = cut.inside.stamps, cut.source.rate
    return gap_fault(stamps, cut.start_ns, cut.end_ns, cut.window, cut.limits, rate)


def doubt_fault(
    doubts: Sequence[Doubt], start_ns: int, end_ns: int, window: Window
) -> Fault | None:
    """Return the fault that was noted for samples of [start, end) when they arrived."""
    for doubt in doubts:
        if doubt.start_ns < end_ns and doubt.end_ns >= start_ns:
            text = doubt.text
            if doubt.code is not Code.FRAME:
                text = f'{text} at {window.at(doubt.start_ns)}'
            return Fault(doubt.code, text)
    return None


def _undoubted(cut: Cut) -> Fault | None:
    lead_ns = 0 if cut.around.value is not None else cut.lead_ns
    return doubt_fault(cut.doubts, cut.start_ns - lead_ns, cut.end_ns, cut.window)


def _complete(cut: Cut) -> Fault | None:
    samples = cut.inside
    if cut.needs == Need.READING:
        return None
    if cut.by_twist:
        if samples.linear is None or samples.angular is None:
            return Fault(Code.VELOCITY, 'no velocity: the source reports poses only')
        return None
    if samples.position is None:
        return Fault(Code.POSITION, 'no position: the source does not report it')
    if cut.needs != Need.POSITION and samples.orientation is None:
        return Fault(Code.ORIENTATION, 'no orientation: the source reports positions only')
    return None


def _alive(cut: Cut) -> Fault | None:
    if cut.by_twist:
        dead = twists.dead_fault(cut.inside, cut.window, cut.limits)
        if dead or not twists.follows_motion(cut.inside):
            return dead
    return frozen_fault(cut.inside, cut.window, cut.limits)


def _upright(cut: Cut) -> Fault | None:
    if not leans_as_if_w_came_first(cut.inside, cut.source, cut.limits.rest_tilt):
        return None
    return Fault(
        Code.QUATERNION,
        'quaternion: the body lies on its side or head throughout, and stands upright if the '
        'numbers are read as w, x, y, z: a driver that sends w first?',
    )


def _standing(cut: Cut) -> Fault | None:
    """Find a body that leans before its command: its axes are not what the input says."""
    up = cut.before_command().up
    if not up.size or up[2].min() > math.cos(cut.limits.rest_tilt):
        return None  # if no sample leans that far, the mean does not
    tilt, axis = leaning(up)
    if tilt <= cut.limits.rest_tilt:
        return None
    return Fault(
        Code.TILT,
        f'tilt at rest: the body leans by {tilt:.3f} rad before the command, at most '
        f'{cut.limits.rest_tilt:g} rad allowed, and its {axis} axis points up: up_axis, or '
        'extrinsics?',
    )


def _alive_in_all_parts(cut: Cut) -> Fault | None:
    if cut.by_twist:
        return None
    return part_frozen_fault(cut.inside, cut.window, cut.limits)


def _level(cut: Cut) -> Fault | None:
    """Find a body that steadily turns about a level axis, or climbs as fast as it moves forward.

    Then its axes are not what the input says. A fall is sudden instead.
    """
    samples = cut.measured
    if len(samples) < 3:
        return None
    middle, last = len(samples) // 2, len(samples) - 1
    if samples.orientation is not None:
        first, half, whole = samples.orientation[[0, middle, last]]
        turn = rotation_between(first, whole)
        level = math.hypot(turn[0], turn[1])
        if (
            level > max(cut.limits.level_turn, abs(turn[2]))
            and np.linalg.norm(rotation_between(first, half) - turn / 2.0) < STEADY * level
        ):
            return Fault(
                Code.TILT,
                f'tilt: the body turns by {level:.3f} rad about a level axis, and by '
                f'{abs(turn[2]):.3f} rad about the vertical: up_axis, or w first?',
            )
    if samples.position is not None:
        way, so_far = samples.position[[last, middle]] - samples.position[0]
        if abs(way[2]) > max(cut.limits.climb, math.hypot(way[0], way[1])) and abs(
            so_far[2] - way[2] / 2.0
        ) < STEADY * abs(way[2]):
            return Fault(
                Code.TILT,
                f'tilt: the body goes {way[2]:+.3f} m along the vertical, and '
                f'{math.hypot(way[0], way[1]):.3f} m in the plane: up_axis?',
            )
    return None


def _dense(cut: Cut) -> Fault | None:
    """Find poses that are too sparse for the span of a velocity."""
    span = cut.source.velocity_span
    if cut.source.velocity not in FITS or cut.period <= 1.01 * span:
        return None
    return Fault(
        Code.COVERAGE,
        f'coverage: a pose every {cut.period:.3f} s, at least one in {span:g} s is needed for a '
        'velocity over that span',
    )


def _smooth(cut: Cut) -> Fault | None:
    if cut.by_twist:  # pose corrections do not affect a measured twist
        return None
    return motion.outlier_fault(cut.steps, cut.period, cut.window, cut.limits)


def _even(cut: Cut) -> Fault | None:
    return None if cut.stamps_judged else bunched_fault(cut)


def _believed(cut: Cut) -> Fault | None:
    return twists.bound_fault(cut.measured, cut.window, cut.limits) if cut.by_twist else None


# Causes come before their consequences.
CHECKS = (
    Check('present', COLUMNS, _present),
    Check('finite', COLUMNS, _finite),
    Check('norm', ('orientation',), _norm),
    Check('covered', COLUMNS, _covered, of_streams=True),
    Check('undoubted', COLUMNS, _undoubted),
    Check(
        'plausible',
        ('value',),
        lambda cut: implausible_fault(cut.inside, cut.source, cut.window),
    ),
    Check('complete', COLUMNS, _complete),
    Check('alive', (*POSE, *TWIST), _alive),
    Check('upright', ('orientation',), _upright, of_velocity=True),
    Check('standing', ('orientation',), _standing, of_velocity=True),
    Check('dense', POSE, _dense, of_velocity=True),
    Check(
        'possible',
        POSE,
        lambda cut: motion.jump_fault(cut.steps, cut.period, cut.window, cut.limits),
    ),
    Check('smooth', POSE, _smooth),
    Check('alive in all parts', POSE, _alive_in_all_parts, of_velocity=True),
    Check('level', POSE, _level, of_velocity=True),
    Check('even', POSE, _even, of_velocity=True),
    Check('believed', TWIST, _believed),
)


def fault(cut: Cut) -> Fault | None:
    """Return the first reason not to use samples; None: they may be used."""
    there = cut.around.columns or dict.fromkeys(COLUMNS)
    for check in CHECKS:
        if check.name in cut.skipped or there.keys().isdisjoint(check.columns):
            continue
        if check.of_streams and not cut.streams:
            continue
        if check.of_velocity and cut.needs != Need.VELOCITY:
            continue
        found = check.fault(cut)
        if found is not None:
            return found
    return None


def checked(cut: Cut) -> Cut:
    """Return the same samples if they may be used.

    :raises UnmeasurableError: with the reason if not
    """
    found = fault(cut)
    if found is not None:
        raise UnmeasurableError(found.text, found.code)
    return cut


def checked_reference(cut: Cut, what: str, span_ns: int = BASELINE_NS) -> Samples:
    """Return the samples of a baseline after the same checks as for the window.

    :param what: is compared with the baseline, for the error message
    :raises UnmeasurableError: a check fails, or there is no sample
    """
    try:
        return checked(cut.before_command(span_ns)).measured
    except UnmeasurableError as error:
        if error.code is not Code.SILENT:
            raise
        raise UnmeasurableError(
            f'reference: no {what} within {to_seconds(span_ns + GUARD_NS):g} s before the command',
            Code.REFERENCE,
        ) from None
