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

"""The samples of a window, for checks and quantities."""

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
    """Samples of an input for one or many windows.

    Values that depend only on single samples or on pairs of neighbours are the same for all
    windows. They are computed here, once; a `Cut` is a slice.

    :param raw: sorted, as received; of equal stamps, the first one
    """

    def __init__(self, raw: Samples, source: Input) -> None:
        self.raw, self.source = raw, source

    @cached_property
    def broken(self) -> Flags:
        """Return which samples have NaN, infinity or a quaternion of norm zero, (n,)."""
        return self.raw.broken

    @cached_property
    def off_norm(self) -> Array:
        """Return the deviations of the quaternions' norms from 1, (n,)."""
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
        """Return the index in `samples` of the first unbroken row from `row` on."""
        return row if self._unbroken is None else int(self._unbroken.searchsorted(row))

    @cached_property
    def up(self) -> Array:
        """Return the upward direction in the body's frame, (3, n) of `samples`."""
        assert self.samples.orientation is not None
        return up_in_body(self.samples.orientation)

    @cached_property
    def steps(self) -> Steps:
        """Return the steps between successive unbroken samples."""
        return Steps(self.samples)


@dataclass(eq=False)
class Cut:
    """Samples of [start - lead, end) that are to be used.

    The lead is for the path to the window and for velocities; its coverage is not checked.
    """

    run: SampleRun
    rows: slice  # rows of the run that may be used: those near the window
    window: Window  # messages give instants relative to its start
    start_ns: int
    end_ns: int
    needs: Need  # the columns that are used
    lead_ns: int = 0
    limits: Limits = USUAL
    stamps_judged: bool = False  # psi_error judges stamps of arrival
    doubts: Sequence[Doubt] = ()  # faults noted when samples arrived
    even_stamps: Stamps | None = None  # stamps of `samples`, corrected to the input's rate
    skipped: frozenset[str] = field(default_factory=frozenset)  # names of skipped checks

    def part(self, start_ns: int, end_ns: int, lead_ns: int = 0) -> Cut:
        """Return the samples of another time interval, unchecked: see `checks.checked`."""
        return replace(self, start_ns=start_ns, end_ns=end_ns, lead_ns=lead_ns)

    def before_command(self, span_ns: int = BASELINE_NS) -> Cut:
        """Return the samples of a baseline, unchecked."""
        end_ns = self.window.command_ns - GUARD_NS
        return self.part(end_ns - span_ns, end_ns)

    def with_lead(self, lead: int) -> Cut:
        """Return the cut with at most `lead` unbroken samples before the start."""
        before = self.samples.stamps[: self.first]
        lead_ns = (
            self.start_ns - int(before[-min(lead, len(before))]) if lead and len(before) else 0
        )
        return self.part(self.start_ns, self.end_ns, lead_ns)

    @property
    def source(self) -> Input:
        """The input of the samples."""
        return self.run.source

    def less(self, off: Array) -> Cut:
        """Return the cut with a changed twist in [start, end).

        :param off: (n, 3) in m/s, m/s, rad/s, which is subtracted
        """
        assert self.samples.linear is not None
        assert self.samples.angular is not None
        linear, angular = self.samples.linear.copy(), self.samples.angular.copy()
        linear[self.first :, :2] -= off[:, :2]
        angular[self.first :, 2] -= off[:, 2]
        other = replace(self)
        other.samples = replace(self.samples, linear=linear, angular=angular)
        return other

    # Raw samples ---------------------------------------------------------------------------------

    @cached_property
    def around(self) -> Samples:
        """Return all usable samples as received; of equal stamps, the first one."""
        return self.run.raw.take(self.rows)

    @cached_property
    def _edges(self) -> tuple[int, int, int]:
        """Return the rows of the run at the start of lead and time, and at the end."""
        instants = [self.start_ns - self.lead_ns, self.start_ns, self.end_ns]
        lead, first, after = self.run.raw.stamps.searchsorted(instants).tolist()
        lead = min(max(lead, self.rows.start), self.rows.stop)
        first = min(max(first, lead), self.rows.stop)
        return lead, first, min(max(after, first), self.rows.stop)

    @cached_property
    def raw(self) -> Samples:
        """Return the samples of [start - lead, end) as received."""
        lead, _, after = self._edges
        return self.run.raw.take(slice(lead, after))

    @cached_property
    def inside(self) -> Samples:
        """Return the samples of [start, end) as received."""
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
        """Return which samples of [start, end) have NaN, or a quaternion of norm zero."""
        return self.run.broken[self._inside]

    @property
    def off_norm(self) -> Array:
        """Return the deviations of the quaternions' norms from 1 in [start, end), (n,)."""
        return self.run.off_norm[self._inside]

    @property
    def by_twist(self) -> bool:
        """Tell whether the sensor's own velocities are used."""
        return self.needs == Need.VELOCITY and self.source.velocity == Velocity.TWIST

    @cached_property
    def streams(self) -> bool:
        """Tell whether samples come continuously; a gauge may be silent while nothing changes."""
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
        """Return the numbers of [start, end), (n,) in SI units; empty for a body."""
        value = self.measured.value
        return np.empty(0) if value is None else value

    @cached_property
    def period(self) -> float:
        """Return the time between two samples [s]."""
        return period_of(self.samples.stamps, self.source.rate)

    @property
    def up(self) -> Array:
        """Return the upward direction in the body's frame, (3, n) of `samples`."""
        return self.run.up[:, self._unbroken]

    @cached_property
    def steps(self) -> Steps:
        """Return the steps between successive samples."""
        rows = self._unbroken
        return self.run.steps.between(rows.start, self.samples)

    @property
    def timed(self) -> Samples:
        """Return `samples` with corrected stamps, from which a velocity is estimated."""
        stamps = self.even_stamps
        return self.samples if stamps is None else replace(self.samples, stamps=stamps)

    @cached_property
    def slopes_of_both(self) -> SlopesOfBoth | None:
        """Return the velocities by twist and by pose, equally smoothed; None: one is missing."""
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
