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

"""A true motion as sensors report it, and what can go wrong with what they report."""

import math
from dataclasses import dataclass, replace

import numpy as np

from repsq_ros.measurement.measure import Measure
from repsq_ros.measurement.reasons import Code
from repsq_ros.measurement.recorder import Recorder, Window
from repsq_ros.measurement.samples import Samples
from repsq_ros.measurement.tracking_loss import TrackingLoss
from repsq_ros.specification.input_section import input_of_source
from support.rows import rows_of

SECOND = 1_000_000_000
EPOCH = 1_795_819_319 * SECOND + 123_456_789  # stamps are as large as real ones
BEFORE, LENGTH = 2.0, 3.0  # [s] of samples before the window, and of the window


@dataclass(frozen=True)
class Motion:
    """A body that goes with a velocity and sways, seen at a rate, with noise."""

    speed: float = 0.3
    sideways: float = 0.0
    turn: float = 0.0  # [rad/s]
    heading: float = 0.0
    rate: float = 100.0
    noise: float = 7e-5  # [m], and [rad] of the heading
    sway: float = 0.0  # [m] at 1.5 Hz
    seed: int = 1

    def table(self, twist=False):
        """Return the samples from BEFORE the window to half a second after it."""
        rng = np.random.default_rng(self.seed)
        count = round((BEFORE + LENGTH + 0.5) * self.rate)
        t = np.arange(count) / self.rate - BEFORE
        yaw = self.heading + self.turn * t
        w = 2 * math.pi * 1.5
        fine = np.linspace(t[0], t[-1], 20 * count)
        yaws = self.heading + self.turn * fine
        v_y = self.sideways + self.sway * w * np.cos(w * fine)
        v = np.column_stack(
            [
                self.speed * np.cos(yaws) - v_y * np.sin(yaws),
                self.speed * np.sin(yaws) + v_y * np.cos(yaws),
            ]
        )
        step = (v[1:] + v[:-1]) / 2 * (fine[1] - fine[0])
        path = np.pad(np.cumsum(step, axis=0), ((1, 0), (0, 0))) + np.array([[1.0, 2.0]])
        x, y = (np.interp(t, fine, path[:, k]) for k in (0, 1))
        position = np.column_stack([x, y, 0.7 + 0 * x]) + rng.normal(0, self.noise, (count, 3))
        seen = yaw + rng.normal(0, self.noise, count)
        stamps = EPOCH + np.round((t + BEFORE) * 1e9).astype(np.int64)
        aside = self.sideways + self.sway * w * np.cos(w * t)
        linear = np.column_stack([0 * t + self.speed, aside, 0 * t])
        linear += rng.normal(0, 10 * self.noise, (count, 3))
        angular = np.column_stack(
            [0 * t, 0 * t, self.turn + rng.normal(0, 10 * self.noise, count)]
        )
        half = seen / 2.0
        return Samples(
            stamps,
            position,
            np.column_stack([0 * half, 0 * half, np.sin(half), np.cos(half)]),
            linear if twist else None,
            angular if twist else None,
            frames='world',
        )

    def samples(self, twist=False):
        """Return the same row by row."""
        return rows_of(self.table(twist))


def motion_of(rng):
    """Return a walk that turns and goes aside, on any heading."""
    return Motion(
        speed=rng.uniform(0.15, 0.4),
        sideways=rng.uniform(0.05, 0.2) * rng.choice([-1, 1]),
        turn=rng.uniform(0.1, 0.5) * rng.choice([-1, 1]),
        heading=rng.uniform(-math.pi, math.pi),
        rate=float(rng.choice([50.0, 100.0, 200.0])),
        noise=10 ** rng.uniform(-4.5, -3.7),
        sway=rng.uniform(0.0, 0.005),
        seed=int(rng.integers(1 << 30)),
    )


def measure_of(twist=False, **changes):
    source = input_of_source('odometry' if twist else 'mocap')
    source = replace(source, frame='world', **changes)
    gamma = 0.04 if twist else None  # None: no psi_error is too large
    return Measure(TrackingLoss(6.0, 'rms'), source, gamma=gamma)


def outcome_of(measure, samples, command=(0.3, 0.0, 0.0)):
    recorder = Recorder(measure, keep_ns=2**62)
    for sample in samples:
        recorder.add(sample.table)
    start_ns = EPOCH + round(BEFORE * 1e9)
    window = Window(start_ns, start_ns + round(LENGTH * 1e9), command, start_ns - SECOND)
    recorder.open((0, 0), window)
    return recorder.close((0, 0))[1]


# Damage: each changes samples from index `at` on, `size` in [0, 1] says how much -----------------


def moved(sample, x=0.0, y=0.0, z=0.0):
    a, b, c = sample.position
    return sample._replace(position=(a + x, b + y, c + z))


def rate_of(samples):
    return SECOND / (samples[1].stamp_ns - samples[0].stamp_ns)


def lasting(samples, at, seconds):
    return range(at, min(at + max(round(seconds * rate_of(samples)), 1), len(samples)))


def wild(samples, at, size, rng):
    """One frame anywhere: from 3 cm to 1e30 m off."""
    samples[at] = moved(samples[at], y=0.03 * 10 ** (32 * size**4))


def exchanged(samples, at, size, rng):
    """Two bodies, 9 to 15 cm apart, change places for some frames."""
    for k in lasting(samples, at, 0.3 * size):
        samples[k] = moved(samples[k], y=0.09 + 0.06 * size)


def relocated(samples, at, size, rng):
    """From here on all poses are 3 to 30 cm further."""
    for k in range(at, len(samples)):
        samples[k] = moved(samples[k], x=0.03 * 10**size)


def frozen(samples, at, size, rng):
    """The driver repeats the last pose of a lost body."""
    for k in lasting(samples, at, 0.03 + size):
        samples[k] = samples[k]._replace(
            position=samples[at].position, orientation=samples[at].orientation
        )


def silent(samples, at, size, rng):
    del samples[at : lasting(samples, at, size).stop]


def sparse(samples, at, size, rng):
    samples[at:] = [s for s in samples[at:] if rng.random() > size]


def not_finite(samples, at, size, rng):
    bad = [math.nan, math.inf, -math.inf][int(size * 2.99)]
    samples[at] = samples[at]._replace(position=(bad, 0.0, 0.0))


def no_quaternion(samples, at, size, rng):
    samples[at] = samples[at]._replace(orientation=(0.0,) * 4)


def w_first(samples, at, size, rng):
    """Throughout. A body that faces 180 degrees and does not turn would seem to face 0."""
    for k, sample in enumerate(samples):
        x, y, z, w = sample.orientation
        samples[k] = sample._replace(orientation=(w, x, y, z))


def half_norm(samples, at, size, rng):
    factor = 0.2 + 0.7 * size
    for k in range(at, len(samples)):
        samples[k] = samples[k]._replace(
            orientation=tuple(factor * q for q in samples[k].orientation)
        )


def mirrored(samples, at, size, rng):
    """A marker body taken for its mirror image: half a turn, for some frames."""
    for k in lasting(samples, at, size):
        x, y, z, w = samples[k].orientation
        samples[k] = samples[k]._replace(orientation=(-y, x, w, -z))


def twisted(samples, at, size, rng):
    """One frame turned by 3 to 170 degrees."""
    half = math.radians(3 + 167 * size) / 2
    _, _, z, w = samples[at].orientation
    s, c = math.sin(half), math.cos(half)
    samples[at] = samples[at]._replace(orientation=(0.0, 0.0, z * c + w * s, w * c - z * s))


def flipped_signs(samples, at, size, rng):
    for k in range(at, len(samples)):
        if rng.random() < size:
            samples[k] = samples[k]._replace(orientation=tuple(-q for q in samples[k].orientation))


def stalled(samples, at, size, rng):
    """Stamps of arrival: a stall of 50 to 190 ms, and what was held up comes together."""
    free_ns = samples[at].stamp_ns + round((0.05 + 0.14 * size) * 1e9)
    for k in range(at + 1, len(samples)):
        if samples[k].stamp_ns > free_ns:
            break
        samples[k] = samples[k]._replace(stamp_ns=free_ns)
        free_ns += 20_000


def sent_again(samples, at, size, rng):
    """A frame of up to two seconds ago comes once more."""
    samples.insert(at, samples[max(at - round(2 * size * rate_of(samples)), 0)])


def stray(samples, at, size, rng):
    """One stamp that is none: zero, hours ago, an hour ahead."""
    stamp = [0, samples[at].stamp_ns - 7 * SECOND, samples[at].stamp_ns + 3600 * SECOND]
    samples[at] = samples[at]._replace(stamp_ns=stamp[int(size * 2.99)])


def doubled(samples, at, size, rng):
    """Each value twice, 0.2 ms apart or with the same stamp."""
    apart = 200_000 if size > 0.5 else 0
    samples[at:] = [
        each for s in samples[at:] for each in (s, s._replace(stamp_ns=s.stamp_ns + apart))
    ]


def two_publishers(samples, at, size, rng):
    """Another body, 5 cm to 5 m away, half a period later or at the same time."""
    apart = round(SECOND / rate_of(samples) / 2) if size > 0.5 else 0
    away = 0.05 * 100 ** rng.random()
    samples[at:] = [
        each
        for s in samples[at:]
        for each in (s, moved(s, y=away)._replace(stamp_ns=s.stamp_ns + apart))
    ]


def other_frame(samples, at, size, rng):
    samples[at] = samples[at]._replace(frame='map')


def shuffled(samples, at, size, rng):
    """Messages overtake each other by up to 50 ms."""
    late = [s.stamp_ns + rng.random() * size * 5e7 for s in samples]
    samples[:] = [samples[k] for k in np.argsort(late)]


def millimetres(samples, at, size, rng):
    for k, sample in enumerate(samples):
        samples[k] = sample._replace(position=tuple(1000 * c for c in sample.position))


def clock_set_back(samples, at, size, rng):
    """By 1.1 to 5 s."""
    back = round((1.1 + 3.9 * size) * 1e9)
    for k in range(at, len(samples)):
        samples[k] = samples[k]._replace(stamp_ns=samples[k].stamp_ns - back)


def spiked(samples, at, size, rng):
    """One twist that is off by 0.2 to 1e30 m/s."""
    x, y, z = samples[at].linear_velocity
    spike = 0.2 * 10 ** (31 * size**4)
    samples[at] = samples[at]._replace(linear_velocity=(x + spike, y, z))


def no_twist(samples, at, size, rng):
    """The twist is zero, or next to it, from here on."""
    tiny = (1e-12 * size, 0.0, 0.0)
    for k in range(len(samples) if size > 0.5 else 0):
        samples[k] = samples[k]._replace(linear_velocity=tiny, angular_velocity=(0.0, 0.0, 0.0))


def no_yaw_rate(samples, at, size, rng):
    for k, sample in enumerate(samples):
        samples[k] = sample._replace(angular_velocity=(0.0, 0.0, 0.0))


def of_the_world(samples, at, size, rng):
    """The twist is told in the world's frame, and nobody said so."""
    for k, sample in enumerate(samples):
        _, _, z, w = sample.orientation
        yaw = 2 * math.atan2(z, w)
        x, y, up = sample.linear_velocity
        c, s = math.cos(yaw), math.sin(yaw)
        samples[k] = sample._replace(linear_velocity=(c * x - s * y, s * x + c * y, up))


PATH = {Code.JUMP}
OF_POSES = {
    wild: PATH, exchanged: PATH, relocated: PATH, frozen: {Code.FROZEN, Code.JUMP},
    silent: {Code.GAP, Code.COVERAGE}, sparse: {Code.GAP, Code.COVERAGE, Code.SILENT, Code.JUMP},
    not_finite: {Code.NOT_FINITE}, no_quaternion: {Code.ORIENTATION},
    w_first: {Code.QUATERNION}, half_norm: {Code.QUATERNION}, mirrored: PATH, twisted: PATH,
    flipped_signs: set(), stalled: {Code.BUNCHED}, sent_again: set(), stray: set(),
    doubled: set(), two_publishers: {Code.JUMP, Code.CONFLICT}, other_frame: {Code.FRAME},
    shuffled: set(), millimetres: PATH,
    clock_set_back: {Code.CLOCK, Code.CONFLICT, Code.GAP, Code.SILENT, Code.JUMP, Code.COVERAGE},
}  # fmt: skip
BELIEF = {Code.TWIST, Code.TWIST_BOUND}
OF_TWISTS = {
    spiked: BELIEF, no_twist: {*BELIEF, Code.ALL_ZERO}, no_yaw_rate: BELIEF, of_the_world: BELIEF,
    wild: {*PATH, *BELIEF}, silent: OF_POSES[silent], sparse: {*OF_POSES[sparse], *BELIEF},
    frozen: {Code.FROZEN, Code.JUMP, *BELIEF}, not_finite: {Code.NOT_FINITE}, shuffled: set(),
    clock_set_back: OF_POSES[clock_set_back], other_frame: {Code.FRAME},
}  # fmt: skip
