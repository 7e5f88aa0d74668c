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
from collections.abc import Sequence
from dataclasses import dataclass

from repsq_ros.measurement.inputs import Input
from repsq_ros.measurement.samples import BodySample
from repsq_ros.protocols.rotation import angle_between
from repsq_ros.timebase import to_seconds

LONGEST_GAP = 0.5  # [s] without a new sample after which nothing is known of the body
FEWEST = 4  # samples, so that noise of a single one does not decide


class RestState(enum.Enum):
    """What the newest samples show."""

    UNKNOWN = enum.auto()  # too few samples, or none at all for a while
    MOVING = enum.auto()
    AT_REST = enum.auto()


@dataclass(frozen=True)
class RestBounds:
    """When a body counts as being at rest."""

    speed: float  # [m/s] at most, of the mean velocity
    turn: float  # [rad/s] at most, of the mean velocity
    time: float  # [s] over which the velocity is averaged


@dataclass(frozen=True)
class RestJudgement:
    """What is known of the body's motion, with the numbers that it comes from."""

    state: RestState
    speed: float = math.nan  # [m/s]
    turn: float = math.nan  # [rad/s]


class RestDetector:
    """Averages the velocity over the last moment, so that sway and noise do not count as motion.

    `measurement/settling.py` judges a stretch of all samples for a measurement. This one has to
    decide on line, from whatever is polled, in the scheduler as in the guard.

    :param source: how the samples are to be read
    """

    def __init__(self, bounds: RestBounds, source: Input) -> None:
        self.bounds, self._source = bounds, source
        self._samples: deque[tuple[float, BodySample]] = deque()  # with steady time [s]

    def restart(self) -> None:
        """Forget all samples: rest has to be seen from now on."""
        self._samples.clear()

    def add(self, sample: BodySample, now: float) -> None:
        """Take in a sample; one that is not finite says nothing.

        :param now: steady time [s], as everywhere here
        """
        if _finite(sample.position, sample.linear_velocity, sample.angular_velocity):
            self._samples.append((now, sample))
        # One sample before the span is kept, so that the others cover all of it.
        while len(self._samples) > 1 and now - self._samples[1][0] >= self.bounds.time:
            self._samples.popleft()

    def judge(self, now: float) -> RestJudgement:
        """Return what the samples show."""
        samples = self._samples
        if not samples or now - samples[-1][0] > LONGEST_GAP:
            return RestJudgement(RestState.UNKNOWN)
        speed, turn = self._velocity([sample for _, sample in samples])
        covered = samples[-1][0] - samples[0][0] >= 0.9 * self.bounds.time
        if len(samples) < FEWEST or math.isnan(speed):
            state = RestState.UNKNOWN
        elif speed > self.bounds.speed or turn > self.bounds.turn:
            state = RestState.MOVING
        else:
            state = RestState.AT_REST if covered else RestState.UNKNOWN
        return RestJudgement(state, speed, turn)

    def _velocity(self, samples: list[BodySample]) -> tuple[float, float]:
        """Return speed [m/s] and turn rate [rad/s]; NaN where they cannot be told."""
        if self._source.velocity == 'twist':
            speed = self._source.scale * _mean_norm([s.linear_velocity for s in samples])
            turn = _mean_norm([s.angular_velocity for s in samples])
            return speed, 0.0 if math.isnan(turn) else turn
        half = len(samples) // 2
        early, late = samples[:half], samples[half:]
        if not early:
            return math.nan, 0.0
        lapsed = to_seconds(sum(s.stamp_ns - samples[0].stamp_ns for s in late)) / len(late)
        lapsed -= to_seconds(sum(s.stamp_ns - samples[0].stamp_ns for s in early)) / len(early)
        if lapsed <= 0.0:
            return math.nan, 0.0
        before, after = (_mean([s.position for s in part]) for part in (early, late))
        speed = math.nan
        if before is not None and after is not None:
            speed = self._source.scale * math.dist(before, after) / lapsed
        one, other = early[0].orientation, late[-1].orientation
        if one is None or other is None or not _finite(one, other):
            return speed, 0.0
        whole = to_seconds(late[-1].stamp_ns - early[0].stamp_ns)
        return speed, angle_between(one, other) / whole


def _finite(*vectors: Sequence[float] | None) -> bool:
    return all(math.isfinite(part) for vector in vectors if vector for part in vector)


def _mean(vectors: Sequence[Sequence[float] | None]) -> list[float] | None:
    """Return the mean of vectors; None if there is none among them."""
    given = [vector for vector in vectors if vector is not None]
    if not given:
        return None
    return [sum(parts) / len(given) for parts in zip(*given, strict=True)]


def _mean_norm(vectors: Sequence[Sequence[float] | None]) -> float:
    """Return the length of the mean vector; NaN if there is none."""
    mean = _mean(vectors)
    return math.nan if mean is None else math.hypot(*mean)
