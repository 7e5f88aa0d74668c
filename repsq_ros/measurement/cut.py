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
from repsq_ros.measurement.frames import conditioned
from repsq_ros.measurement.inputs import Input
from repsq_ros.measurement.limits import Commanded, Limits
from repsq_ros.measurement.reasons import Code, Doubt
from repsq_ros.measurement.samples import Array, Flags, Samples, Stamps
from repsq_ros.measurement.steps import Steps
from repsq_ros.measurement.window import UnmeasurableError, Window

USUAL = Limits()


@dataclass(eq=False)
class Cut:
    """Samples of [start - lead, end), which are to enter a number.

    The lead is looked at for the path to the window and for velocities, not for its coverage.
    """

    around: Samples  # all that there are, in order, as they came: the first one of each stamp
    source: Input
    window: Window  # from whose start instants are reported
    start_ns: int
    end_ns: int
    needs: str  # what of them is used: velocity, position, pose or reading
    lead_ns: int = 0
    limits: Limits = USUAL
    doubts: Sequence[Doubt] = ()  # what was seen to be wrong with samples when they came
    commanded: Commanded | None = None
    even_stamps: Stamps | None = None  # of `samples`, put back onto the input's rate
    skipped: frozenset[str] = field(default_factory=frozenset)  # names of checks left out

    def part(self, start_ns: int, end_ns: int, lead_ns: int = 0) -> Cut:
        """Return the samples of another time, unchecked: see `checks.checked`."""
        return replace(self, start_ns=start_ns, end_ns=end_ns, lead_ns=lead_ns)

    def with_lead(self, lead: int) -> Cut:
        """Return the same with so many unbroken samples before the start, or all there are."""
        before = self.samples.stamps[: self.first]
        lead_ns = (
            self.start_ns - int(before[-min(lead, len(before))]) if lead and len(before) else 0
        )
        return self.part(self.start_ns, self.end_ns, lead_ns)

    # As they came --------------------------------------------------------------------------------

    @cached_property
    def raw(self) -> Samples:
        """Return the samples of [start - lead, end) as they came."""
        low, high = self.around.stamps.searchsorted([self.start_ns - self.lead_ns, self.end_ns])
        return self.around.take(slice(int(low), int(high)))

    @cached_property
    def inside(self) -> Samples:
        """Return the samples of [start, end) as they came."""
        return self.raw.since(int(self.raw.stamps.searchsorted(self.start_ns)))

    @property
    def count(self) -> int:
        """Return the number of samples in [start, end)."""
        return len(self.inside)

    @cached_property
    def broken(self) -> Flags:
        """Tell which samples of [start - lead, end) hold NaN, or a quaternion of norm zero."""
        return self.raw.broken

    @property
    def by_twist(self) -> bool:
        """Tell whether the velocities that the sensor reports are used."""
        return self.needs == 'velocity' and self.source.velocity == 'twist'

    @cached_property
    def streams(self) -> bool:
        """Tell whether samples come all the time; a gauge may be silent while nothing changes."""
        if self.raw.value is None or self.source.rate > 0:
            return True
        return is_stream(self.around, stamped=self.source.stamp == 'header')

    # In SI units, z up ---------------------------------------------------------------------------

    @cached_property
    def samples(self) -> Samples:
        """Return the unbroken samples of [start - lead, end), in SI units, z up."""
        raw = self.raw if not self.broken.any() else self.raw.take(~self.broken)
        try:
            return conditioned(raw, self.source)
        except ValueError as error:
            raise UnmeasurableError(str(error), Code.ORIENTATION) from None

    @cached_property
    def first(self) -> int:
        """Return the index in `samples` of the first one of [start, end)."""
        return int(self.samples.stamps.searchsorted(self.start_ns))

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

    @cached_property
    def steps(self) -> Steps:
        """Return what lies between successive samples."""
        return Steps(self.samples, self.period)

    @property
    def timed(self) -> Samples:
        """Return `samples` with the stamps from which a velocity is estimated."""
        stamps = self.even_stamps
        return self.samples if stamps is None else replace(self.samples, stamps=stamps)

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
