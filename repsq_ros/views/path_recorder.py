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

"""The robot in the current test: its path, and its speed against the command."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from repsq_ros.measurement.frames import conditioned
from repsq_ros.measurement.inputs import Input, Velocity
from repsq_ros.measurement.recorder import Key
from repsq_ros.measurement.samples import Samples, joined
from repsq_ros.measurement.velocity import by_difference, from_twist
from repsq_ros.protocols.command_space import Command

Array = NDArray[np.float64]

MOST = 120  # largest number of samples; above it, every other one is dropped


@dataclass(frozen=True)
class RecordedPath:
    """The robot's motion in one test, as far as the sensor measures it."""

    seconds: Array  # (n,) [s] since the first sample
    commanded: tuple[Command, ...]  # command at each sample; empty: to stay
    path: Array | None  # (n, 3) [m], z up
    velocity: Array | None  # (n, 3) forward, leftward [m/s], turn rate [rad/s]; NaN: not known


class PathRecorder:
    """Keeps polled samples of the robot, for one test at a time.

    :param source: the input with the body's pose
    """

    def __init__(self, source: Input) -> None:
        self._source = source
        self._key: Key | None = None
        self._seen: list[tuple[Samples, Command]] = []

    def begin(self, key: Key) -> None:
        """Begin a new test, unless it is the current one."""
        if key != self._key:
            self._key, self._seen = key, []

    def add(self, sample: Samples, command: Command) -> None:
        """Add the newest sample and the current command."""
        if self._seen and sample.stamp_ns <= self._seen[-1][0].stamp_ns:
            if sample.stamp_ns == self._seen[-1][0].stamp_ns:
                return
            self._seen = []  # the clock was set back
        self._seen.append((sample, command))
        if len(self._seen) > MOST:
            del self._seen[1:-1:2]

    def trail(self) -> RecordedPath | None:
        """Return the motion in SI units; None if there are too few samples, or invalid ones."""
        if len(self._seen) < 2:
            return None
        track = joined([sample for sample, _ in self._seen])
        sound = ~track.broken
        commands = tuple(c for (_, c), good in zip(self._seen, sound, strict=True) if good)
        if len(commands) < 2:
            return None
        try:
            track = conditioned(track.take(sound), self._source)
        except ValueError:
            return None
        velocity: Array | None = None
        if self._source.velocity == Velocity.TWIST and track.linear is not None:
            velocity = None if track.angular is None else from_twist(track)
        elif track.position is not None and track.orientation is not None:
            velocity = np.vstack([np.full((1, 3), math.nan), by_difference(track)])
        seconds = (track.stamps - track.stamps[0]).astype(np.float64) * 1e-9
        return RecordedPath(seconds, commands, track.position, velocity)
