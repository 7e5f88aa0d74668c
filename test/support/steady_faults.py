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

"""Steady faults of sensors, each with a size at random: what damages the samples of a motion."""

import math
from dataclasses import replace

import numpy as np

from repsq_ros.measurement.recorder import Recorder, Window
from support.damage import BEFORE, EPOCH, LENGTH, SECOND, measure_of, motion_of

COMMAND = (0.3, 0.0, 0.2)
START_NS = EPOCH + round(BEFORE * 1e9)
END_NS = START_NS + round(LENGTH * 1e9)
WINDOW = Window(START_NS, END_NS, COMMAND, START_NS - SECOND)


def measure_for(twist, velocity='slope'):
    """Return the measure of the fuzz: a twist, or poses by an estimator."""
    changes = {} if twist else {'velocity': velocity}
    return replace(measure_of(twist=twist, **changes), gamma=0.04)


def outcome_of(samples, twist, velocity='slope', measure=None, window=WINDOW):
    """Return what samples give in process."""
    recorder = Recorder(measure or measure_for(twist, velocity), keep_ns=2**62)
    recorder.add(samples)
    return recorder.measure(window)


def damaged(kind, twist, seed, **changes):
    """Return a motion, and what is reported of it."""
    rng = np.random.default_rng(seed)
    motion = replace(motion_of(rng), **changes)
    return motion, kind(motion.table(twist=twist), rng)


def seconds(samples):
    return (samples.stamps - samples.stamps[0]) * 1e-9


def every(samples, rate):
    return max(round(1e9 / rate / np.diff(samples.stamps[:2])[0]), 1)


def late(samples, delay):
    """Stamps of arrival; messages do not overtake each other."""
    stamps = samples.stamps + np.maximum(delay, 0.0).astype(np.int64)
    return replace(samples, stamps=np.maximum.accumulate(stamps) + np.arange(len(stamps)))


def delay_that_wanders(samples, rng):
    turns = 2.0 * math.pi * (seconds(samples) / rng.uniform(0.7, 3.0) + rng.random())
    return late(samples, 5e7 * (1.0 + np.sin(turns)))


def delay_of_3_ms(samples, rng):
    return late(samples, rng.normal(1e7, 3e6, len(samples)))


def held_up(samples, rng, count=3):
    """Some times messages wait for up to 0.19 s, and come together."""
    stamps = samples.stamps.copy()
    for _ in range(count):
        at = int(rng.integers(80, len(stamps) - 30))
        until = stamps[at] + int(rng.uniform(0.04, 0.19) * 1e9)
        stamps[(stamps >= stamps[at]) & (stamps < until)] = until
    return replace(samples, stamps=np.maximum.accumulate(stamps) + np.arange(len(stamps)))


def rounded_to_cm(samples, rng):
    return replace(samples, position=np.round(samples.position, 2))


def rounded_to_mm(samples, rng):
    return replace(samples, position=np.round(samples.position, 3))


def held_at_15_hz(samples, rng):
    step = every(samples, 15.0)
    rows = np.arange(len(samples)) // step * step
    return replace(samples, position=samples.position[rows], orientation=samples.orientation[rows])


def each_twice(samples, rng):
    rows = np.arange(len(samples)) // 2 * 2
    return replace(samples, position=samples.position[rows], orientation=samples.orientation[rows])


def at_12_hz(samples, rng):
    return samples.take(slice(None, None, every(samples, 12.0)))


def noise_of_2_mm(samples, rng):
    return replace(samples, position=samples.position + rng.normal(0, 0.002, (len(samples), 3)))


def a_third_lost(samples, rng):
    return samples.take(np.flatnonzero(rng.random(len(samples)) > 0.33))


def too_high(samples, rng):
    share = rng.uniform(1.03, 1.3)
    return replace(samples, linear=share * samples.linear, angular=share * samples.angular)


def half(samples, rng):
    return replace(samples, linear=samples.linear / 2.0)


def clipped(samples, rng):
    return replace(samples, linear=np.clip(samples.linear, -0.2, 0.2))


def turned_by_10_degrees(samples, rng):
    c, s = math.cos(math.radians(10)), math.sin(math.radians(10))
    x, y, z = samples.linear.T
    return replace(samples, linear=np.column_stack([c * x - s * y, s * x + c * y, z]))


def mirrored(samples, rng):
    return replace(samples, linear=samples.linear * [1.0, -1.0, 1.0])


def offset(samples, rng):
    return replace(samples, linear=samples.linear + rng.normal(0.0, 0.03, 3))


def noisy(samples, rng):
    size = rng.uniform(0.01, 0.05)
    return replace(
        samples,
        linear=samples.linear + rng.normal(0, size, samples.linear.shape),
        angular=samples.angular + rng.normal(0, size, samples.angular.shape),
    )


def rounded_twist(samples, rng):
    return replace(samples, linear=np.round(samples.linear, 1))


def no_lateral(samples, rng):
    return replace(samples, linear=samples.linear * [1.0, 0.0, 1.0])


OF_POSES = (
    delay_that_wanders, delay_of_3_ms, held_up, rounded_to_cm, rounded_to_mm, held_at_15_hz,
    each_twice, at_12_hz, noise_of_2_mm, a_third_lost,
)  # fmt: skip
OF_TWISTS = (
    too_high, half, clipped, turned_by_10_degrees, mirrored, offset, noisy, rounded_twist,
    no_lateral,
)  # fmt: skip
# A share of cases in which these are still not seen.
SOME = {delay_that_wanders: 0.002}
CASES = [(kind, False, velocity) for kind in OF_POSES for velocity in ('slope', 'cubic')]
CASES += [(kind, True, '') for kind in OF_TWISTS]
