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

"""The betting confidence sequence: the plain formula, its promise, and what voids it.

The plain formula, for a candidate mean m and the caps k in {0.5, 0.99}:
K+(m) = mean over k of prod(1 + min(b_i, k/(m - lo_i)) (z_i - m)), K-(m) in the same way with
min(b_i, k/(hi_i - m)) (m - z_i); L is the largest m with K+(m) >= 2/c, U the smallest with
K-(m) >= 2/c, L never falls, U never rises.
"""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from repsq_ros.estimation.accumulator import Accumulator
from repsq_ros.estimation.anytime import Anytime, AnytimeBatch
from repsq_ros.estimation.betting import Bet, log_mean_exp
from repsq_ros.estimation.stopping import Bounds, Question

C = 0.05
OFTEN = 0.2  # a c at which few runs tell it from 2 c


def most(c, runs):
    """Return the misses of a rule that misses with probability c: more in 1 % of trials."""
    return c * runs + 2.33 * math.sqrt(runs * c * (1 - c))


SLACK = 1e-3  # of gamma: how far outside its exact place an end of the interval may be


def run(z, bounds, gamma=0.05, c=C, whole=None):
    """Return the progress after values with a bound each (or one for all)."""
    each = [bounds] * len(z) if isinstance(bounds, Bounds) else bounds
    progress, total = Anytime().begin(Question(gamma, c, whole or each[0])), Accumulator()
    for value, bound in zip(z, each, strict=True):
        total.add(float(value))
        progress.add(total, float(value), bound)
    return progress


# The plain formula -------------------------------------------------------------------------------


def plain_stakes(z, first, gamma):
    """b_t = gamma / (var + gamma^2) from the past, n0 = 1."""
    middle, stakes = (first.lower + first.upper) / 2, []
    squares = [(first.upper - first.lower) ** 2 / 4]
    for n in range(len(z)):
        variance = math.fsum(squares) / (n + 1)
        stakes.append(gamma / (variance + gamma**2))
        mu = (middle + math.fsum(z[: n + 1])) / (n + 2)
        squares.append((z[n] - mu) ** 2)
    return np.array(stakes)


def log_capital(m, z, stakes, room):
    """Return ln K of the side whose cap is k / room; z and m are mirrored for the other side."""
    logs = []
    for cap in (0.5, 0.99):
        capped = np.where(room > 0, cap / np.where(room > 0, room, 1.0), np.inf)
        logs.append(float(np.sum(np.log1p(np.minimum(stakes, capped) * (z - m)))))
    return max(logs) + math.log(sum(math.exp(log - max(logs)) for log in logs) / 2)


def plain_lower(z, lower, stakes, start, end, c):
    """Return the largest m in [start, end] with K+(m) >= 2/c by bisection, or `start`."""

    def rejected(m):
        return log_capital(m, z, stakes, m - lower) >= math.log(2 / c)

    if not rejected(start):
        return start
    low, high = start, end
    while high - low > 1e-12:
        middle = (low + high) / 2
        low, high = (middle, high) if rejected(middle) else (low, middle)
    return low


@st.composite
def histories(draw):
    """Values with bounds of their own, around a mean that does not move, of any spread."""
    n = draw(st.integers(1, 60))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    below, above = draw(st.sampled_from([0.0, 1.0])), draw(st.sampled_from([1.0, 6.0]))
    mean = draw(st.floats(0.05, 0.95))
    spread = draw(st.sampled_from([0.0, 0.02, 0.3, 1.0]))
    lower = -below * rng.random(n)
    upper = mean + (above - mean) * rng.uniform(0.1, 1.0, n)
    # Two values, often the bounds themselves, which have the mean in the middle of them.
    down, up = (mean - lower) * spread, (upper - mean) * spread
    z = np.where(rng.random(n) * (down + up) < down, mean + up, mean - down)
    z = np.clip(z, lower, upper)
    gamma = draw(st.sampled_from([0.01, 0.05, 0.2]))
    return z, lower, upper, Bounds(-below, above), gamma


@given(histories())
def test_the_interval_is_that_of_the_plain_formula(history):
    z, lower, upper, whole, gamma = history
    bounds = [Bounds(a, b) for a, b in zip(lower, upper, strict=True)]
    progress = Anytime().begin(Question(gamma, C, whole))
    total = Accumulator()
    stakes = plain_stakes(z, bounds[0], gamma)
    low, high = whole.lower, whole.upper
    for n in range(1, len(z) + 1):
        total.add(z[n - 1])
        progress.add(total, z[n - 1], bounds[n - 1])
        low = plain_lower(z[:n], lower[:n], stakes[:n], low, whole.upper, C)
        # K- is K+ of -z.
        high = -plain_lower(-z[:n], -upper[:n], stakes[:n], -high, -whole.lower, C)
        if high - low < 2 * SLACK * gamma:
            break  # empty, or nearly: see below
        assert low - SLACK * gamma <= progress.lower <= low + 1e-9
        assert high - 1e-9 <= progress.upper <= high + SLACK * gamma
        distance = max(high - total.mean, total.mean - low)
        if progress.reached:
            assert distance <= gamma * (1 + 1e-9)
            break
        assert distance > gamma * (1 - SLACK)
    assert progress.events == ()


def test_far_out_it_is_still_the_plain_formula_at_the_latest_refresh():
    """Beyond 1000 values the interval is refreshed only as n grows by 0.5 %."""
    z, gamma, one = np.random.default_rng(5).random(1500), 0.005, Bounds(0.0, 1.0)
    progress = run(z, one, gamma)
    stakes, zero = plain_stakes(z, one, gamma), np.zeros(1500)
    ends = [plain_lower(z[:n], zero[:n], stakes[:n], 0.0, 1.0, C) for n in range(1480, 1501, 2)]
    assert min(ends) - SLACK * gamma <= progress.lower <= max(ends) + 1e-9


@given(histories())
def test_the_lower_end_never_falls_and_the_upper_never_rises(history):
    z, lower, upper, whole, gamma = history
    progress, total = Anytime().begin(Question(gamma, C, whole)), Accumulator()
    low, high = progress.lower, progress.upper
    assert (low, high) == (whole.lower, whole.upper)
    for value, a, b in zip(z, lower, upper, strict=True):
        total.add(value)
        progress.add(total, value, Bounds(a, b))
        if progress.events:
            break
        assert low <= progress.lower <= progress.upper <= high
        low, high = progress.lower, progress.upper


def test_the_bet_knows_the_past_alone():
    z = [0.2, 0.9, 0.4, 0.4]
    bet, stakes = Bet(0.1, 0.0, 1.0, 0.0), []
    for value in z:
        stakes.append(bet.stake)
        bet.learn(value)
    assert stakes == pytest.approx(plain_stakes(np.array(z), Bounds(0.0, 1.0), 0.1), rel=1e-12)


@given(st.floats(-700, 700), st.floats(-700, 700))
def test_log_mean_exp(one, other):
    expected = np.logaddexp(one, other) - math.log(2)
    found = log_mean_exp(np.array([one]), np.array([other]))
    assert found[0] == pytest.approx(expected, rel=1e-12, abs=1e-12)


# What voids it -----------------------------------------------------------------------------------

SOUND = np.random.default_rng(2).uniform(0.3, 0.7, 200)


def test_a_value_above_its_bound_voids_the_upper_end_alone():
    sound = run(SOUND, Bounds(0.0, 1.0), 0.01)
    told = run([*SOUND[:100], 1.5, *SOUND[100:]], Bounds(0.0, 1.0), 0.01)
    assert told.upper == math.inf
    assert 0.9 * sound.lower < told.lower < 0.5
    assert len(told.events) == 1
    assert 'above its bound 1' in told.events[0]
    assert 'lower end still stands' in told.events[0]
    assert not told.reached


def test_a_value_below_its_bound_voids_the_lower_end_alone():
    told = run([*SOUND[:100], -0.5, *SOUND[100:]], Bounds(0.0, 1.0), 0.01)
    assert told.lower == -math.inf
    assert 0.5 < told.upper < 1.0
    assert ['upper end still stands' in event for event in told.events] == [True]


def test_both_ends_may_be_voided_one_after_the_other():
    told = run([0.5, 1.5, 0.5, -0.5, 0.5], Bounds(0.0, 1.0), 0.01)
    assert (told.lower, told.upper) == (-math.inf, math.inf)
    assert len(told.events) == 2


def test_each_value_is_held_against_its_own_bound():
    bounds = [Bounds(0.0, 4.0)] * 3 + [Bounds(0.0, 1.0)]
    assert run([0.5, 3.0, 0.5, 0.5], bounds).events == ()
    assert 'z = 2 above its bound 1' in run([0.5, 3.0, 0.5, 2.0], bounds).events[0]


def test_rounding_of_a_weight_at_its_bound_is_no_violation():
    assert run([0.5, 3.0 * (1 + 1e-13)], Bounds(0.0, 3.0)).events == ()


def test_an_empty_interval_is_an_alarm_and_never_a_result():
    drift = [0.1] * 100 + [0.9] * 300
    progress = run(drift, Bounds(0.0, 1.0), 0.02)
    assert (progress.lower, progress.upper) == (-math.inf, math.inf)
    assert not progress.reached
    assert len(progress.events) == 1
    assert 'the interval is empty' in progress.events[0]


def test_nothing_changes_after_the_stop():
    one = Bounds(0.0, 1.0)
    progress = run([0.5] * 58, one, 0.04)
    assert progress.reached
    ends = (progress.lower, progress.upper)
    progress.add(Accumulator(59, 0.5, 0.0), 7.0, one)
    assert (progress.lower, progress.upper, progress.events) == (*ends, ())


def test_a_gamma_wider_than_the_range_is_reached_by_the_first_value():
    assert run([0.3], Bounds(0.0, 1.0), 1.0).reached


# Its promise -------------------------------------------------------------------------------------


def two_values(rng, shape, low, high, mean):
    return np.where(rng.random(shape) * (high - low) < mean - low, high, low)


LAWS = {
    'uniform': (lambda rng, shape: rng.random(shape), 0.5, Bounds(0.0, 1.0), 0.05),
    'Bernoulli .02': (lambda rng, shape: two_values(rng, shape, 0, 1, 0.02), 0.02,
                      Bounds(0.0, 1.0), 0.03),
    'rarely off': (lambda rng, shape: two_values(rng, shape, 0.49, 0.99, 0.5), 0.5,
                   Bounds(0.0, 1.0), 0.1),
    'weighted, skew': (lambda rng, shape: two_values(rng, shape, 0.3, 6, 0.5), 0.5,
                       Bounds(0.0, 6.0), 0.25),
}  # fmt: skip


@pytest.mark.parametrize('name', LAWS)
def test_at_most_c_of_the_campaigns_ever_miss(name):
    """300 campaigns, looked at after every test and stopped when the rule says so.

    L never falls and U never rises: whoever ever missed r* still does at the end.
    """
    law, mean, bounds, gamma = LAWS[name]
    runs = 300
    batch = AnytimeBatch(Question(gamma, C, bounds), runs)
    missed = estimates = 0
    going = np.full(runs, True)  # among all campaigns
    for z in law(np.random.default_rng(17), (150, runs)):
        batch.add(z[going])
        stops = batch.reached
        missed += np.sum(stops & ~((batch.lower <= mean) & (mean <= batch.upper)))
        estimates += np.sum(stops & (np.abs(batch.mean - mean) > gamma))
        going[going] = ~stops
        batch.keep(~stops)
    missed += np.sum(~((batch.lower <= mean) & (mean <= batch.upper)))
    assert missed <= most(C, runs)
    assert estimates <= most(C, runs)


@pytest.mark.parametrize(('low', 'high', 'mean'), [(0.0, 1.0, 0.5), (-1.0, 3.0, 0.2)])
def test_who_never_stops_misses_nearly_as_often_as_may_be(low, high, mean):
    """The campaign never ended: so a rule that misses with 2 c would be found out."""
    bounds, c, runs = Bounds(low, high), OFTEN, 600
    batch = AnytimeBatch(Question(0.35 * bounds.width, c, bounds), runs)
    for z in two_values(np.random.default_rng(18), (100, runs), low, high, mean):
        batch.add(z)
    missed = np.sum(~((batch.lower <= mean) & (mean <= batch.upper)))
    assert 0.6 * c * runs < missed <= most(c, runs)


def skew(rng, up):
    """A small step that way, mostly, and seldom a big one back; 0 on average."""
    step = 0.1 if rng.random() < 0.8 else -0.4
    return step if up else -step


def near_the_end(rng, progress, mean, average):
    """Where r* comes near an end of the interval, steps that push it out, mostly."""
    low, high = mean - progress.lower, progress.upper - mean
    return skew(rng, low < high) if min(low, high) < 0.25 else 0.3 * rng.choice((-1, 1)), 0.4, 0.4


def freezing(rng, progress, mean, average):
    """Wide steps until the mean is off by gamma, then hardly any: the variance seems small."""
    return (0.4 if abs(average - mean) < 0.1 else 0.002) * rng.choice((-1, 1)), 0.4, 0.4


def tight_bounds(rng, progress, mean, average):
    """Skew steps that push the mean up, with bounds as tight as they may be."""
    return skew(rng, True), 0.1, 0.4


@pytest.mark.parametrize('adversary', [near_the_end, freezing, tight_bounds])
def test_no_adaptive_adversary_makes_more_than_c_miss(adversary):
    """Each law may depend on the whole past, its mean r* and its bounds alone are kept.

    The campaigns go on after their stop, so that a rule that misses with 2 c is found out.
    """
    mean, whole, gamma, runs = 0.5, Bounds(0.0, 1.0), 0.15, 150
    missed = 0
    for seed in range(runs):
        rng = np.random.default_rng((29, seed))
        progress, total = Anytime().begin(Question(gamma, OFTEN, whole)), Accumulator()
        average = mean
        while total.n < 100 and progress.lower <= mean <= progress.upper:
            step, above, below = adversary(rng, progress, mean, average)
            bounds = Bounds(mean - below, mean + above)
            z = float(mean + step)
            total.add(z)
            average = total.mean
            progress.add(total, z, bounds)
            progress.reached = False
        missed += not progress.lower <= mean <= progress.upper
    assert 0.55 * OFTEN * runs < missed <= most(OFTEN, runs)
