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

"""Whether a body is at rest right now, by the newest samples of a sensor."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass

import numpy as np

from repsq_ros.measurement.inputs import Input, Velocity
from repsq_ros.measurement.samples import Samples
from repsq_ros.measurement.tail import Tail
from repsq_ros.protocols.rotation import angle_between
from repsq_ros.timebase import NANOSECONDS

LONGEST_GAP = 0.5  # [s] without a sample after which the state is unknown
COVERED = 0.9  # share of the span in which samples are needed to show rest
FEWEST = 4  # samples, so that the noise of a single one does not decide


class RestState(enum.Enum):
    """What the newest samples show."""

    UNKNOWN = enum.auto()  # too few samples, or none at all for a while
    MOVING = enum.auto()
    AT_REST = enum.auto()


@dataclass(frozen=True)
class RestBounds:
    """Bounds of the mean velocity below which a body counts as at rest."""

    speed: float  # [m/s]
    turn: float  # [rad/s]
    time: float  # [s] over which the velocity is averaged


@dataclass(frozen=True)
class RestJudgement:
    """The state of the body's motion, with the measured speeds."""

    state: RestState
    speed: float = math.nan  # [m/s]
    turn: float = math.nan  # [rad/s]


class RestDetector:
    """Averages the velocity over a short span, so that sway and noise do not count as motion.

    `measurement/settling.py` judges all samples of a span for a measurement. This one decides
    online, in the scheduler and in the guard. The span is one of stamps, so the state at an
    instant is the same whether the samples were added one by one or after a stall.

    :param source: how the samples are to be read
    """

    def __init__(self, bounds: RestBounds, source: Input) -> None:
        self.bounds, self._source = bounds, source
        self._span_ns = round(bounds.time * NANOSECONDS)
        self.restart(-math.inf)

    def restart(self, now: float) -> None:
        """Forget all samples: rest has to be observed again.

        :param now: steady time [s], as everywhere here
        """
        self._tail = Tail(2 * self._span_ns, stamped=False)
        self._since, self._heard = now, -math.inf

    def add(self, samples: Samples, heard: float) -> None:
        """Add rows in the order of their arrival.

        Rows that are not finite, or repeat the stamp before, are ignored.

        :param heard: when the last row arrived
        """
        before_ns = self._tail.newest_ns
        last_ns = samples.stamps[0] - 1 if before_ns is None else before_ns
        new = np.diff(samples.stamps, prepend=last_ns) != 0
        samples = samples.take(~samples.broken & new)
        if len(samples):
            self._tail.add(samples)
            self._heard = heard

    def judge(self, now: float) -> RestJudgement:
        """Return what the samples show."""
        newest_ns = self._tail.newest_ns
        if newest_ns is None or now - self._heard > LONGEST_GAP:
            return RestJudgement(RestState.UNKNOWN)
        # One sample before the span is included, so that the samples cover all of it.
        start_ns = newest_ns - self._span_ns
        samples = self._tail.between(start_ns, newest_ns + 1, last_before=True)
        speed, turn = self._velocity(samples)
        if len(samples) < FEWEST or math.isnan(speed):
            state = RestState.UNKNOWN
        elif speed > self.bounds.speed or turn > self.bounds.turn:
            state = RestState.MOVING
        else:
            shown = self._cover(samples) and now - self._since >= COVERED * self.bounds.time
            state = RestState.AT_REST if shown else RestState.UNKNOWN
        return RestJudgement(state, speed, turn)

    def _cover(self, samples: Samples) -> bool:
        """Tell whether samples cover the span without a gap."""
        stamps = samples.stamps
        gap_ns = int(np.diff(stamps).max())
        whole = stamps[-1] - stamps[0] >= COVERED * self._span_ns
        return bool(whole) and gap_ns <= LONGEST_GAP * NANOSECONDS

    def _velocity(self, samples: Samples) -> tuple[float, float]:
        """Return speed [m/s] and turn rate [rad/s]; NaN as speed with too few samples."""
        scale = self._source.scale
        if self._source.velocity == Velocity.TWIST and samples.linear is not None:
            speed = scale * float(np.linalg.norm(samples.linear.mean(axis=0)))
            if samples.angular is None:
                return speed, 0.0
            return speed, float(np.linalg.norm(samples.angular.mean(axis=0)))
        seconds = (samples.stamps - samples.stamps[0]) / NANOSECONDS
        half = len(samples) // 2
        if samples.position is None or half == 0 or seconds[-1] <= 0.0:
            return math.nan, 0.0
        way = samples.position[half:].mean(axis=0) - samples.position[:half].mean(axis=0)
        lapsed = float(seconds[half:].mean() - seconds[:half].mean())
        speed = scale * float(np.linalg.norm(way)) / lapsed
        if samples.orientation is None:
            return speed, 0.0
        first, last = (tuple(map(float, samples.orientation[row])) for row in (0, -1))
        return speed, angle_between(first, last) / float(seconds[-1])  # type: ignore[arg-type]
