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

"""The samples of a window, cut out of those around it: what checks and quantities look at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from repsq_ros.measurement import velocity
from repsq_ros.measurement.coverage import is_stream, period_of
from repsq_ros.measurement.frames import conditioned, lengths, up_in_body
from repsq_ros.measurement.inputs import Input, Need, Stamp, Velocity
from repsq_ros.measurement.limits import Limits
from repsq_ros.measurement.reasons import Code, Doubt
from repsq_ros.measurement.samples import Array, Flags, Samples, Stamps
from repsq_ros.measurement.steps import Steps
from repsq_ros.measurement.twists import SlopesOfBoth, slopes_of_both
from repsq_ros.measurement.window import BASELINE_NS, GUARD_NS, UnmeasurableError, Window

USUAL = Limits()


class SampleRun:
    """Samples of an input, of one window or of many.

    What follows from one sample, or from two successive ones, does not depend on the window that
    is cut out. It is computed here, once; a `Cut` takes slices of it.

    :param raw: in order, as they came: the first one of each stamp
    """

    def __init__(self, raw: Samples, source: Input) -> None:
        self.raw, self.source = raw, source

    @cached_property
    def broken(self) -> Flags:
        """Tell which samples hold NaN, infinity or a quaternion of norm zero, (n,)."""
        return self.raw.broken

    @cached_property
    def off_norm(self) -> Array:
        """Return by how much the norms of the quaternions differ from 1, (n,)."""
        assert self.raw.orientation is not None
        found: Array = np.abs(lengths(self.raw.orientation) - 1.0)
        return found

    @cached_property
    def _unbroken(self) -> np.ndarray | None:  # type: ignore[type-arg]
        """Return the rows that are not broken; None: all."""
        return np.flatnonzero(~self.broken) if self.broken.any() else None

    @cached_property
    def samples(self) -> Samples:
        """Return the unbroken samples in SI units, z up.

        :raises UnmeasurableError: a velocity in the world frame without an orientation
        """
        rows = self._unbroken
        try:
            return conditioned(self.raw if rows is None else self.raw.take(rows), self.source)
        except ValueError as error:
            raise UnmeasurableError(str(error), Code.ORIENTATION) from None

    def place(self, row: int) -> int:
        """Return where in `samples` the first one from a row on is."""
        return row if self._unbroken is None else int(self._unbroken.searchsorted(row))

    @cached_property
    def up(self) -> Array:
        """Return the direction that points up, in the body's frame, (3, n) of `samples`."""
        assert self.samples.orientation is not None
        return up_in_body(self.samples.orientation)

    @cached_property
    def steps(self) -> Steps:
        """Return what lies between successive unbroken samples."""
        return Steps(self.samples)


@dataclass(eq=False)
class Cut:
    """Samples of [start - lead, end), which are to enter a number.

    The lead is looked at for the path to the window and for velocities, not for its coverage.
    """

    run: SampleRun
    rows: slice  # of the run, that may be looked at: those about the window
    window: Window  # from whose start instants are reported
    start_ns: int
    end_ns: int
    needs: Need  # what of them is used
    lead_ns: int = 0
    limits: Limits = USUAL
    doubts: Sequence[Doubt] = ()  # what was seen to be wrong with samples when they came
    even_stamps: Stamps | None = None  # of `samples`, put back onto the input's rate
    skipped: frozenset[str] = field(default_factory=frozenset)  # names of checks left out

    def part(self, start_ns: int, end_ns: int, lead_ns: int = 0) -> Cut:
        """Return the samples of another time, unchecked: see `checks.checked`."""
        return replace(self, start_ns=start_ns, end_ns=end_ns, lead_ns=lead_ns)

    def before_command(self, span_ns: int = BASELINE_NS) -> Cut:
        """Return the samples of a baseline, unchecked."""
        end_ns = self.window.command_ns - GUARD_NS
        return self.part(end_ns - span_ns, end_ns)

    def with_lead(self, lead: int) -> Cut:
        """Return the same with so many unbroken samples before the start, or all there are."""
        before = self.samples.stamps[: self.first]
        lead_ns = (
            self.start_ns - int(before[-min(lead, len(before))]) if lead and len(before) else 0
        )
        return self.part(self.start_ns, self.end_ns, lead_ns)

    @property
    def source(self) -> Input:
        """What the samples are of, and how they are read."""
        return self.run.source

    def less(self, off: Array) -> Cut:
        """Return the same with another twist in [start, end).

        :param off: (n, 3) in m/s, m/s, rad/s, which is taken from it
        """
        assert self.samples.linear is not None
        assert self.samples.angular is not None
        linear, angular = self.samples.linear.copy(), self.samples.angular.copy()
        linear[self.first :, :2] -= off[:, :2]
        angular[self.first :, 2] -= off[:, 2]
        other = replace(self)
        other.samples = replace(self.samples, linear=linear, angular=angular)
        return other

    # As they came --------------------------------------------------------------------------------

    @cached_property
    def around(self) -> Samples:
        """Return all samples that may be looked at, as they came: the first one of each stamp."""
        return self.run.raw.take(self.rows)

    @cached_property
    def _edges(self) -> tuple[int, int, int]:
        """Return the rows of the run at which lead and time itself begin, and where they end."""
        instants = [self.start_ns - self.lead_ns, self.start_ns, self.end_ns]
        lead, first, after = self.run.raw.stamps.searchsorted(instants).tolist()
        lead = min(max(lead, self.rows.start), self.rows.stop)
        first = min(max(first, lead), self.rows.stop)
        return lead, first, min(max(after, first), self.rows.stop)

    @cached_property
    def raw(self) -> Samples:
        """Return the samples of [start - lead, end) as they came."""
        lead, _, after = self._edges
        return self.run.raw.take(slice(lead, after))

    @cached_property
    def inside(self) -> Samples:
        """Return the samples of [start, end) as they came."""
        return self.run.raw.take(self._inside)

    @property
    def _inside(self) -> slice:
        _, first, after = self._edges
        return slice(first, after)

    @property
    def count(self) -> int:
        """Return the number of samples in [start, end)."""
        _, first, after = self._edges
        return after - first

    @property
    def broken(self) -> Flags:
        """Tell which samples of [start, end) hold NaN, or a quaternion of norm zero."""
        return self.run.broken[self._inside]

    @property
    def off_norm(self) -> Array:
        """Return by how much the norms of quaternions of [start, end) differ from 1, (n,)."""
        return self.run.off_norm[self._inside]

    @property
    def by_twist(self) -> bool:
        """Tell whether the velocities that the sensor reports are used."""
        return self.needs == Need.VELOCITY and self.source.velocity == Velocity.TWIST

    @cached_property
    def streams(self) -> bool:
        """Tell whether samples come all the time; a gauge may be silent while nothing changes."""
        if self.raw.value is None or self.source.rate > 0:
            return True
        return is_stream(self.around, stamped=self.source.stamp == Stamp.HEADER)

    # In SI units, z up ---------------------------------------------------------------------------

    @cached_property
    def samples(self) -> Samples:
        """Return the unbroken samples of [start - lead, end), in SI units, z up."""
        return self.run.samples.take(self._unbroken)

    @property
    def _unbroken(self) -> slice:
        lead, _, after = self._edges
        return slice(self.run.place(lead), self.run.place(after))

    @property
    def first(self) -> int:
        """Return the index in `samples` of the first one of [start, end)."""
        lead, first, _ = self._edges
        return self.run.place(first) - self.run.place(lead)

    @cached_property
    def measured(self) -> Samples:
        """Return the unbroken samples of [start, end), in SI units, z up."""
        return self.samples.since(self.first)

    @property
    def values(self) -> Array:
        """Return the numbers of [start, end), (n,) in SI units; none of a body."""
        value = self.measured.value
        return np.empty(0) if value is None else value

    @cached_property
    def period(self) -> float:
        """Return the time between two samples [s]."""
        return period_of(self.samples.stamps, self.source.rate)

    @property
    def up(self) -> Array:
        """Return the direction that points up, in the body's frame, (3, n) of `samples`."""
        return self.run.up[:, self._unbroken]

    @cached_property
    def steps(self) -> Steps:
        """Return what lies between successive samples."""
        rows = self._unbroken
        return self.run.steps.between(rows.start, self.samples)

    @property
    def timed(self) -> Samples:
        """Return `samples` with the stamps from which a velocity is estimated."""
        stamps = self.even_stamps
        return self.samples if stamps is None else replace(self.samples, stamps=stamps)

    @cached_property
    def slopes_of_both(self) -> SlopesOfBoth | None:
        """Return the velocities by twist and by pose, smoothed alike; None: not both are there."""
        return slopes_of_both(self.measured, self.source.velocity_span)

    @cached_property
    def velocity(self) -> Array:
        """Return (v_x, v_y, yaw rate) of [start, end) by the input's estimator.

        :returns: (n, 3) in m/s, m/s, rad/s, in the body frame
        :raises UnmeasurableError: too few poses
        """
        try:
            return velocity.estimated(self.timed, self.source, self.first)
        except ValueError:
            reason = 'one pose only: no velocity can be formed'
            raise UnmeasurableError(reason, Code.POSES) from None
