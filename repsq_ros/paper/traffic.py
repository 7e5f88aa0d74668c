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

"""A traffic model: a car follows another one that may brake hard, or is cut in on.

The critical manoeuvre is drawn in each second, with the probability p of the naturalistic model.
The importance model selects at most one second of the episode, the k-th with probability m_k, and
makes the manoeuvre happen there; everything else is naturalistic. So a path has the density
q = p (1 - sum_k m_k + sum_k m_k [it happened in second k] / p_k), and the weight is exact for any
path: m_k may depend on the whole past.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]

STEP = 0.5  # [s] of the simulation; the car reacts one step late
BLOCK = 4096  # episodes simulated at once, so that they stay in the cache
DESIRED, ACCELERATION, COMFORT, HEADWAY, STANDSTILL = 32.0, 1.5, 2.0, 1.2, 2.0  # m/s, m/s^2, s, m
AT_REST = 0.25  # m_k of a situation that is not critical, as a share of the critical one
ORDINARY = ((-2.5, 0.04), (1.0, 0.08))  # (acceleration [m/s^2], probability each second)


@dataclass(frozen=True)
class Traffic:
    """A scenario: its critical event, and how often the importance model selects it."""

    event: str  # 'brake': the car ahead brakes hard; 'cut_in': one changes in just ahead
    seconds: int  # of an episode
    probability: float  # p of the event, each second
    share: float  # of episodes in which the importance model acts, if all situations are critical

    @property
    def largest(self) -> float:
        """Return R, the largest weight of a path with the event."""
        least = self.share / self.seconds * AT_REST / self.probability
        return 1.0 / (1.0 - self.share + least)


@dataclass(frozen=True)
class Episodes:
    """The results of episodes."""

    crash: NDArray[np.bool_]
    happened: NDArray[np.bool_]  # whether the event happened at least once
    weight: Numbers


def drive(
    traffic: Traffic, random: np.random.Generator, episodes: int, importance: bool
) -> Episodes:
    """Drive episodes.

    :param importance: by the importance model; else naturalistic, each of weight 1
    """
    parts = [
        _drive(traffic, random, min(BLOCK, episodes - begin), importance)
        for begin in range(0, episodes, BLOCK)
    ]
    return Episodes(
        np.concatenate([part.crash for part in parts]),
        np.concatenate([part.happened for part in parts]),
        np.concatenate([part.weight for part in parts]),
    )


def _drive(traffic: Traffic, random: np.random.Generator, n: int, importance: bool) -> Episodes:
    braking = traffic.event == 'brake'
    speed = random.uniform(20.0, 30.0, n)
    ahead = speed.copy()  # [m/s] of the car ahead
    usual = 1.2 if braking else 2.5  # [s]
    gap = speed * np.clip(usual * np.exp(0.35 * random.standard_normal(n)), 0.6, 6.0)
    brakes = random.uniform(4.5, 8.0, n)  # [m/s^2] largest braking of the car
    seen = _wanted(speed, gap, speed - ahead, brakes)
    crash, happened = np.zeros(n, dtype=np.bool_), np.zeros(n, dtype=np.bool_)
    hard = np.zeros(n)  # [s] remaining hard braking of the car ahead
    spent, found = np.zeros(n), np.zeros(n)  # sum of m_k, and of m_k / p where the event happened
    # The event happens in the second in which the sum of m_k exceeds this; naturalistic: never.
    chosen: Numbers = random.random(n) if importance else np.full(n, np.inf)
    for _ in range(traffic.seconds):
        critical = gap < 1.1 * speed if braking else speed > 26.0
        mass = traffic.share / traffic.seconds * np.where(critical, 1.0, AT_REST)
        acts = (spent <= chosen) & (chosen < spent + mass)
        event = acts | (random.random(n) < traffic.probability)
        spent += mass
        found += np.where(event, mass / traffic.probability, 0.0)
        happened |= event
        rate = _ordinary(random, n)
        if braking:
            hard[event] = 3.0
        else:
            gap[event] = random.uniform(2.0, 16.0, int(event.sum()))
            slower = random.uniform(0.0, 9.0, int(event.sum()))
            ahead[event] = np.maximum(speed[event] - slower, 0.0)
        for _ in range(round(1.0 / STEP)):
            lead = np.where(hard > 0.0, -8.0, rate)
            hard -= STEP
            before, own = ahead, speed
            ahead = np.maximum(ahead + STEP * lead, 0.0)
            speed = np.maximum(speed + STEP * seen, 0.0)
            gap = gap + STEP / 2.0 * (before + ahead - own - speed)
            crash |= gap <= 0.0
            seen = _wanted(speed, np.maximum(gap, 0.1), speed - ahead, brakes)
    weight = 1.0 / (1.0 - spent + found) if importance else np.ones(n)
    return Episodes(crash, happened, weight)


def _ordinary(random: np.random.Generator, n: int) -> Numbers:
    """Return the ordinary acceleration of the car ahead in a second [m/s^2]."""
    u, rate, below = random.random(n), np.zeros(n), 0.0
    for acceleration, probability in ORDINARY:
        rate[(u >= below) & (u < below + probability)] = acceleration
        below += probability
    return rate


def _wanted(speed: Numbers, gap: Numbers, closing: Numbers, brakes: Numbers) -> Numbers:
    """Return the acceleration of the intelligent driver model (Treiber et al. 2000) [m/s^2]."""
    reach = closing * speed / (2.0 * np.sqrt(ACCELERATION * COMFORT))
    wished = STANDSTILL + np.maximum(HEADWAY * speed + reach, 0.0)
    free = speed / DESIRED
    squared = free * free
    ratio = wished / gap
    rate = ACCELERATION * (1.0 - squared * squared - ratio * ratio)
    wanted: Numbers = np.maximum(rate, -brakes)
    return wanted
