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

"""The list of checks that every sample passes before it enters a number.

Whoever takes samples of a body (the window, the span before it that a velocity needs, a reference,
settling, a fall) makes a `Stretch` of them and asks `fault`. Numbers over time (gauges, a tare,
conditions) have their own, shorter list in `validity` and `readings`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from repsq_ros.measurement import motion, twists, validity
from repsq_ros.measurement.bunching import bunched_fault
from repsq_ros.measurement.frames import conditioned, leans_as_if_w_came_first
from repsq_ros.measurement.inputs import Input
from repsq_ros.measurement.limits import Commanded, Limits
from repsq_ros.measurement.period import period_of
from repsq_ros.measurement.reasons import Code, Doubt, Fault
from repsq_ros.measurement.rowwise import lengths
from repsq_ros.measurement.track import Track, all_whole, broken
from repsq_ros.measurement.track_steps import TrackSteps
from repsq_ros.measurement.window import UnmeasurableError, Window

Array = NDArray[np.float64]


@dataclass(eq=False)
class Stretch:
    """Samples that are to enter a number."""

    raw: Track  # as they came, of [start - lead, end)
    start_ns: int
    end_ns: int
    source: Input
    limits: Limits
    needs: str  # what of them is used: velocity, position or pose
    window: Window  # from whose start instants are told
    lead_ns: int = 0  # before the start: looked at for the path, not for its coverage
    doubts: Sequence[Doubt] = ()
    commanded: Commanded | None = None
    skipped: frozenset[str] = field(default_factory=frozenset)  # names of checks; say why
    part_of_unbroken: bool = False  # of samples that were looked at, and none is broken

    @property
    def by_twist(self) -> bool:
        """Tell whether the velocities that the sensor reports are used."""
        return self.needs == 'velocity' and self.source.velocity == 'twist'

    @cached_property
    def inside(self) -> Track:
        """Return the samples of [start, end) as they came."""
        return self.raw.since(int(self.raw.stamps.searchsorted(self.start_ns)))

    @cached_property
    def unbroken(self) -> bool:
        """Tell whether all its samples are whole."""
        return self.part_of_unbroken or all_whole(self.raw)

    @cached_property
    def whole(self) -> Track:
        """Return all samples that are not broken, in SI units, z up."""
        raw = self.raw if self.unbroken else self.raw.take(~broken(self.raw))
        try:
            return conditioned(raw, self.source)
        except ValueError as error:
            raise UnmeasurableError(str(error), Code.ORIENTATION) from None

    @cached_property
    def first(self) -> int:
        """Return the index in `whole` of the first sample of [start, end)."""
        return int(self.whole.stamps.searchsorted(self.start_ns))

    @cached_property
    def measured(self) -> Track:
        """Return the whole samples of [start, end), in SI units."""
        return self.whole.since(self.first)

    @cached_property
    def steps(self) -> TrackSteps:
        """Return what lies between its whole samples."""
        return TrackSteps(self.whole, self.period)

    @property
    def norms_as_they_came(self) -> Array:
        """Return the norms of the quaternions before they were turned, (n,)."""
        raw = self.raw.orientation
        assert raw is not None
        norms = self.steps.norms if self.whole.orientation is raw else None
        return lengths(raw) if norms is None else norms

    @cached_property
    def period(self) -> float:
        """Return the time between two samples [s]."""
        return period_of(self.whole.stamps, self.source.rate)


class Check(NamedTuple):
    """A check of a stretch of samples: its name, and what finds the fault."""

    name: str
    takes: str  # what it looks at
    fault: Callable[[Stretch], Fault | None]


def _present(stretch: Stretch) -> Fault | None:
    return None if len(stretch.inside) else validity.silence(stretch.window)


def _finite(stretch: Stretch) -> Fault | None:
    return None if stretch.unbroken else validity.samples_fault(stretch.inside, stretch.window)


def _norm(stretch: Stretch) -> Fault | None:
    inside = stretch.inside
    if inside.orientation is None:
        return None
    norms = stretch.norms_as_they_came
    return validity.norm_fault(norms[len(norms) - len(inside) :], inside.stamps, stretch.window)


def _covered(stretch: Stretch) -> Fault | None:
    return validity.gap_fault(
        stretch.inside.stamps,
        stretch.start_ns,
        stretch.end_ns,
        stretch.window,
        stretch.limits,
        stretch.source.rate,
    )


def _undoubted(stretch: Stretch) -> Fault | None:
    return validity.doubt_fault(
        stretch.doubts, stretch.start_ns - stretch.lead_ns, stretch.end_ns, stretch.window
    )


def _complete(stretch: Stretch) -> Fault | None:
    track, needs = stretch.inside, stretch.needs
    if stretch.by_twist:
        if track.linear is None or track.angular is None:
            return Fault(Code.VELOCITY, 'no velocity: the source reports poses only')
        return None
    if track.position is None:
        return Fault(Code.POSITION, 'no position: the source does not report it')
    if needs != 'position' and track.orientation is None:
        return Fault(Code.ORIENTATION, 'no orientation: the source reports positions only')
    return None


def _alive(stretch: Stretch) -> Fault | None:
    if stretch.by_twist:
        dead = twists.dead_fault(stretch.inside, stretch.window)
        if dead or not twists.tells_motion(stretch.inside):
            return dead
    return validity.frozen_fault(stretch.inside, stretch.window, stretch.limits)


def _upright(stretch: Stretch) -> Fault | None:
    if stretch.needs != 'velocity' or not leans_as_if_w_came_first(stretch.inside, stretch.source):
        return None
    return Fault(
        Code.QUATERNION,
        'quaternion: the body lies on its side or head throughout, and stands upright if the '
        'numbers are read as w, x, y, z: a driver that sends w first?',
    )


def _possible(stretch: Stretch) -> Fault | None:
    return motion.jump_fault(stretch.steps, stretch.window, stretch.limits)


def _smooth(stretch: Stretch) -> Fault | None:
    if stretch.by_twist:  # a pose that is corrected now and then is not what is measured
        return None
    return motion.outlier_fault(stretch.steps, stretch.window, stretch.limits)


def _even(stretch: Stretch) -> Fault | None:
    if stretch.needs != 'velocity':
        return None
    return bunched_fault(stretch.steps, stretch.first, stretch.source, stretch.window)


def _believed(stretch: Stretch) -> Fault | None:
    if not stretch.by_twist:
        return None
    track, window = stretch.measured, stretch.window
    return (
        twists.bound_fault(track, window, stretch.limits, stretch.commanded)
        or twists.agreement_fault(track, window)
        or twists.spike_fault(track, stretch.period, window)
    )


# In the order in which they name the cause rather than its trace.
BODY = (
    Check('present', 'the stretch', _present),
    Check('finite', 'the stretch', _finite),
    Check('norm', 'the stretch', _norm),
    Check('covered', 'the stretch', _covered),
    Check('undoubted', 'the stretch and its lead', _undoubted),
    Check('complete', 'the stretch', _complete),
    Check('alive', 'the stretch', _alive),
    Check('upright', 'the stretch, for a velocity', _upright),
    Check('possible', 'the stretch and its lead', _possible),
    Check('smooth', 'the stretch and its lead, where poses are measured', _smooth),
    Check('even', 'the stretch and its lead, for a velocity from poses', _even),
    Check('believed', 'the stretch, for a velocity from twists', _believed),
)


def fault(stretch: Stretch) -> Fault | None:
    """Return the first reason why samples must not enter a number; None: they may."""
    for check in BODY:
        if check.name in stretch.skipped:
            continue
        found = check.fault(stretch)
        if found is not None:
            return found
    return None


def require(stretch: Stretch) -> Track:
    """Return the samples of [start, end) in SI units.

    :raises UnmeasurableError: with the reason why they must not enter a number
    """
    found = fault(stretch)
    if found is not None:
        raise UnmeasurableError(found.text, found.code)
    return stretch.measured
