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

"""The `certified_cell` rule: which cell holds r*, or which cells may."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from repsq_ros.estimation.accumulator import Accumulator
from repsq_ros.estimation.certified_cell import CertifiedCell
from repsq_ros.estimation.partition import Partition
from repsq_ros.estimation.stopping import Bounds, Question

C = 0.05
UNIT = Bounds(0.0, 1.0)
TENTHS = Partition.almost_uniform(0.0, 1.0, 0.2, 0.1).edges  # 0, .1, .3, .5, .7, .9, 1


def run(z, edges=TENTHS, bounds=UNIT, c=C):
    """Return the progress after values with a bound each (or one for all), and their number."""
    each = [bounds] * len(z) if isinstance(bounds, Bounds) else bounds
    progress = CertifiedCell().begin(Question(0.1, c, each[0], edges))
    total = Accumulator()
    for value, bound in zip(np.asarray(z, dtype=float).tolist(), each, strict=True):
        total.add(value)
        progress.add(total, value, bound)
        if progress.reached:
            break
    return progress, total.n


def two_values(rng, n, mean, low=0.0, high=1.0):
    return np.where(rng.random(n) * (high - low) < mean - low, high, low)


# Its promise -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ('law', 'mean'),
    [
        (lambda rng: two_values(rng, 80, 0.32), 0.32),  # near an edge
        (lambda rng: two_values(rng, 80, 0.5), 0.5),  # on an edge, which is of the upper cell
        (lambda rng: two_values(rng, 80, 0.09), 0.09),
        (lambda rng: rng.uniform(0.3, 0.62, 150), 0.46),
        (lambda rng: two_values(rng, 150, 0.4, 0.35, 0.95), 0.4),  # seldom far off
    ],
)
def test_the_declared_cell_is_wrong_in_at_most_c_of_the_runs(law, mean):
    rng, wrong = np.random.default_rng(21), 0
    true = Partition(TENTHS).quantize(mean).cell
    for _ in range(300):
        progress, _ = run(law(rng))
        first, last = progress.cells
        # What has been excluded may not hold r* either, declared or not.
        wrong += not first <= true <= last
    assert wrong <= C * 300 + 2.33 * math.sqrt(300 * C * (1 - C))


def test_two_labs_whatever_their_offset_seldom_declare_different_cells():
    rng, differ = np.random.default_rng(22), 0
    for _ in range(150):
        edges = Partition.almost_uniform(0.0, 1.0, 0.4, 0.4 * (1 - rng.random())).edges
        cells = [run(two_values(rng, 250, 0.45), edges)[0] for _ in range(2)]
        declared = {each.cells for each in cells if each.reached}
        differ += len(declared) == 2
    promised = 1 - (1 - C) ** 2
    assert differ <= 150 * promised + 2.33 * math.sqrt(150 * promised * (1 - promised))


def test_bounds_of_each_step_are_made_use_of():
    """The same values under tight bounds of their own stop earlier than under one wide bound."""
    z = np.random.default_rng(23).uniform(0.3, 0.5, 400)
    tight = run(z, bounds=[Bounds(0.0, 6.0)] + [UNIT] * 399)[1]
    wide = run(z, bounds=Bounds(0.0, 6.0))[1]
    assert tight < wide < 400


# The plain formula -------------------------------------------------------------------------------


@given(seed=st.integers(0, 2**32), mean=st.floats(0.02, 0.98), top=st.sampled_from([1.0, 3.0]))
def test_the_excluded_cells_are_those_of_the_plain_formula(seed, mean, top):
    rng = np.random.default_rng(seed)
    upper = rng.uniform(1.0, top, 60)
    z = np.where(rng.random(60) * upper < mean, upper, 0.0)
    bounds = [Bounds(0.0, each) for each in upper]
    progress, n = run(z, bounds=bounds)
    inner, gap = TENTHS[1:-1], 0.1 * 0.1
    above, below = [False] * len(inner), [False] * len(inner)
    for place, edge in enumerate(inner):
        plus, minus = np.ones(2), np.ones(2)
        total, squares = upper[0] / 2, upper[0] ** 2 / 4
        for i in range(n):
            mu, variance = total / (i + 1), squares / (i + 1)
            distance = max(abs(mu - edge), gap)
            stake = distance / (variance + distance**2)
            for k, cap in enumerate((0.5, 0.99)):
                plus[k] *= 1 + min(stake, cap / edge) * (z[i] - edge)
                minus[k] *= 1 + min(stake, cap / (upper[i] - edge)) * (edge - z[i])
            above[place] |= plus.mean() >= 2 / C
            below[place] |= minus.mean() >= 2 / C
            total += z[i]
            squares += (z[i] - total / (i + 2)) ** 2
    # Edge after edge from the range's ends on; one beyond an edge that stands does not count.
    first = next((place for place in range(len(inner)) if not above[place]), len(inner))
    last = next((place + 1 for place in reversed(range(len(inner))) if not below[place]), 0)
    assert progress.cells == (first, last)
    assert progress.reached == (first == last)


def test_an_edge_is_not_passed_before_those_on_the_way_to_it():
    """The bets differ from edge to edge: here the third is rejected while the first stands."""
    edges = (0.0, 0.261, 0.262, 0.312, 1.0)
    z = [0.014, 0.508] * 7 + [1.0] * 40
    ahead = False
    for sign, shift in ((1.0, 0.0), (-1.0, 1.0)):  # and in the mirror
        turned = tuple(sorted(shift + sign * edge for edge in edges))
        progress, total = CertifiedCell().begin(Question(0.1, 0.9, UNIT, turned)), Accumulator()
        for value in z:
            total.add(shift + sign * value)
            progress.add(total, shift + sign * value, UNIT)
            up, down = progress._above.passed, progress._below.passed
            passed = up if sign > 0 else down[::-1]
            left = progress.cells[0] if sign > 0 else 3 - progress.cells[1]
            stands = int(np.argmin(passed)) if not passed.all() else 3
            assert left == stands
            ahead |= bool(passed[stands:].any())
            if progress.reached:
                break
        assert ahead


@pytest.mark.parametrize(('side', 'mean'), [('above', 0.5), ('below', 0.5 - 1e-9)])
def test_a_side_is_wrong_nearly_as_often_as_it_may_be(side, mean):
    """c = .4, .2 for each side, at an edge: so 2 c for c would be found out."""
    rng, wrong, runs = np.random.default_rng(25), 0, 300
    for _ in range(runs):
        progress = CertifiedCell().begin(Question(0.1, 0.4, UNIT, (0.0, 0.5, 1.0)))
        total = Accumulator()
        for z in two_values(rng, 200, mean, 0.3, 0.7).tolist():
            total.add(z)
            progress.add(total, z, UNIT)
        wrong += progress.cells == ((0, 0) if side == 'above' else (1, 1))
    assert 0.6 * 0.2 * runs < wrong <= 0.2 * runs + 2.33 * math.sqrt(runs * 0.2 * 0.8)


# States and outcomes -----------------------------------------------------------------------------


def test_before_the_first_value_any_cell_may_hold_it():
    progress = CertifiedCell().begin(Question(0.1, C, UNIT, TENTHS))
    assert progress.cells == (0, 5)
    assert (progress.lower, progress.upper, progress.reached) == (0.0, 1.0, False)


def test_one_cell_that_is_left_ends_it():
    progress, n = run([0.4] * 500)
    assert progress.reached
    assert n < 500
    assert progress.cells == (2, 2)
    assert (progress.lower, progress.upper) == pytest.approx((0.3, 0.5))


def test_the_outer_cells_can_be_declared_too():
    assert run([0.0] * 500)[0].cells == (0, 0)
    assert run([1.0] * 500)[0].cells == (5, 5)


def test_on_an_edge_there_is_no_end():
    progress, n = run(np.tile([0.4, 0.6], 1000))
    assert (n, progress.reached, progress.cells) == (2000, False, (2, 3))


def test_a_partition_of_one_cell_needs_no_tests():
    assert CertifiedCell().begin(Question(0.1, C, UNIT, (0.0, 1.0))).reached


@pytest.mark.parametrize('edges', [(), (0.5,)])
def test_without_a_partition_there_is_no_such_rule(edges):
    with pytest.raises(ValueError, match='needs a partition'):
        CertifiedCell().begin(Question(0.1, C, UNIT, edges))


def test_a_value_above_its_bound_ends_what_may_be_said_from_above():
    progress, _ = run([1.5] + [0.4] * 500)
    assert not progress.reached
    assert progress.cells == (2, 5)
    assert len(progress.events) == 1
    assert 'above its bound 1' in progress.events[0]


def test_a_value_below_its_bound_ends_what_may_be_said_from_below():
    progress, _ = run([-0.5] + [0.4] * 500)
    assert progress.cells == (0, 2)
    assert len(progress.events) == 1
    assert 'below its bound 0' in progress.events[0]


def test_what_was_said_before_a_violation_does_not_stand_either():
    """As with `anytime`: a bound that is found wrong was wrong from the start."""
    seen = [0.4] * 500
    reached = run(seen)[1]
    progress, _ = run([*seen[: reached - 1], 1.5, *seen])
    assert progress.cells[1] == 5
    assert not progress.reached


def test_where_no_cell_is_left_it_is_an_alarm_and_never_a_result():
    narrow = (0.0, 0.498, 0.5, 0.502, 1.0)
    progress, _ = run([0.4] * 27, narrow)
    assert progress.cells == (0, 1)
    progress, _ = run([0.4] * 27 + [1.0] * 100, narrow)
    assert not progress.reached
    assert progress.cells == (0, 3)
    assert ['no cell is left' in event for event in progress.events] == [True]


def test_the_forecast_is_about_where_it_stops():
    z = np.random.default_rng(24).uniform(0.3, 0.5, 1000)
    progress = CertifiedCell().begin(Question(0.1, C, UNIT, TENTHS))
    total = Accumulator()
    forecasts = []
    for value in z.tolist():
        total.add(value)
        progress.add(total, value, UNIT)
        forecasts.append(progress.expected_n(total))
        if progress.reached:
            break
    assert forecasts[0] == 0
    assert forecasts[len(forecasts) // 2] == pytest.approx(total.n, rel=0.4)
