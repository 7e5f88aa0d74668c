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

"""Whether a body has come to rest at its goal, by the samples of a sensor."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from repsq_ros.measurement.checks import checked
from repsq_ros.measurement.cut import Cut, SampleRun
from repsq_ros.measurement.inputs import Input, Need, Stamp, Velocity
from repsq_ros.measurement.limits import Limits
from repsq_ros.measurement.pose import speed_of
from repsq_ros.measurement.samples import Samples
from repsq_ros.measurement.tail import Tail
from repsq_ros.measurement.window import UnmeasurableError, Window
from repsq_ros.timebase import NANOSECONDS, to_seconds

GAP_NS = 200_000_000  # with a longer gap, nothing can be concluded


class Unsettled(NamedTuple):
    """Why a body has not settled."""

    reason: str
    away_ns: int | None = None  # stamp of the last sample outside of the goal's tolerance


class Settling:
    """Collects the samples of a body, and judges time intervals.

    :param source: how they are read; it gives positions, or a twist
    """

    def __init__(self, source: Input) -> None:
        self.source = source
        self._tail = Tail(10 * NANOSECONDS, source.frame, stamped=source.stamp == Stamp.HEADER)

    @property
    def newest_ns(self) -> int | None:
        """Stamp of the newest sample; None: no sample."""
        return self._tail.newest_ns

    def add(self, sample: Samples) -> None:
        """Add one sample."""
        self._tail.add(sample)

    def why_unsettled(
        self, start_ns: int, end_ns: int, speed: float, goal: Sequence[float] | None, within: float
    ) -> Unsettled | None:
        """Return why the body has not settled over [start, end); None: it has.

        :param speed: [m/s] at most
        :param goal: [m] in the frame of the samples; None: any position
        :param within: [m] tolerance of the goal
        """
        came = self._tail.between(start_ns, end_ns)
        if not len(came):
            return Unsettled('no sample of the body')
        cut = Cut(
            SampleRun(came, self.source),
            slice(0, len(came)),
            Window(start_ns, end_ns, ()),
            start_ns,
            end_ns,
            self._needs,
            limits=Limits(GAP_NS),
            doubts=self._tail.doubts(start_ns, end_ns),
            skipped=frozenset(
                {'covered', 'alive', 'upright', 'standing', 'level', 'dense', 'even'}
            ),
        )
        gap_ns = int(np.diff([start_ns, *came.stamps, end_ns]).max())
        if gap_ns > GAP_NS:
            return Unsettled(f'no sample of the body for {to_seconds(gap_ns):.3f} s')
        try:
            samples = checked(cut).measured
            moving = self._speed(samples)
        except UnmeasurableError as error:
            return Unsettled(str(error))
        away, away_ns = 0.0, None
        if goal is not None and samples.position is not None:
            distance = np.linalg.norm(samples.position - np.array(goal), axis=1)
            away, beyond = float(distance.max()), np.flatnonzero(distance > within)
            away_ns = int(samples.stamps[beyond[-1]]) if len(beyond) else None
        if moving > speed:
            why = f'it moves at {moving:.4f} m/s, at most {speed:g} m/s allowed'
            return Unsettled(why, away_ns)
        if away_ns is not None:
            why = f'it is {away:.4f} m from where it was sent, at most {within:g} m allowed'
            return Unsettled(why, away_ns)
        return None

    @property
    def _needs(self) -> Need:
        return Need.VELOCITY if self.source.velocity == Velocity.TWIST else Need.POSITION

    def _speed(self, samples: Samples) -> float:
        """Return the larger of the speeds by twist and by pose, since one may be dead."""
        found = 0.0 if samples.position is None else speed_of(samples)
        if self.source.velocity == Velocity.TWIST and samples.linear is not None:
            speeds = np.linalg.norm(samples.linear, axis=1)
            found = max(found, float(np.percentile(speeds, 95)))
        return found if math.isfinite(found) else math.inf
