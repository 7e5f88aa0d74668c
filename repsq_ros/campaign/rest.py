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

"""Whether a body is at rest right now, from a few samples a second."""

from __future__ import annotations

import enum
import math
from collections import deque
from dataclasses import dataclass

import numpy as np

from repsq_ros.measurement.inputs import Input, Velocity
from repsq_ros.measurement.samples import Samples, joined
from repsq_ros.protocols.rotation import angle_between
from repsq_ros.timebase import NANOSECONDS

LONGEST_GAP = 0.5  # [s] without a new sample after which the state is unknown
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
    online, from polled samples, in the scheduler and in the guard.

    :param source: how the samples are to be read
    """

    def __init__(self, bounds: RestBounds, source: Input) -> None:
        self.bounds, self._source = bounds, source
        self._samples: deque[tuple[float, Samples]] = deque()  # single rows, with steady time [s]

    def restart(self) -> None:
        """Forget all samples: rest has to be observed again."""
        self._samples.clear()

    def add(self, sample: Samples, now: float) -> None:
        """Add one row; a row that is not finite is ignored.

        :param now: steady time [s], as everywhere here
        """
        if not sample.broken.any():
            self._samples.append((now, sample))
        # One sample before the span is kept, so that the others cover all of it.
        while len(self._samples) > 1 and now - self._samples[1][0] >= self.bounds.time:
            self._samples.popleft()

    def judge(self, now: float) -> RestJudgement:
        """Return what the samples show."""
        samples = self._samples
        if not samples or now - samples[-1][0] > LONGEST_GAP:
            return RestJudgement(RestState.UNKNOWN)
        speed, turn = self._velocity(joined([sample for _, sample in samples]))
        covered = samples[-1][0] - samples[0][0] >= 0.9 * self.bounds.time
        if len(samples) < FEWEST or math.isnan(speed):
            state = RestState.UNKNOWN
        elif speed > self.bounds.speed or turn > self.bounds.turn:
            state = RestState.MOVING
        else:
            state = RestState.AT_REST if covered else RestState.UNKNOWN
        return RestJudgement(state, speed, turn)

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
