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

"""Column by column is the same as numpy row by row, to the last bit."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from repsq_ros.measurement.rowwise import all_finite, any_set, crossed, lengths, median, percentile
from repsq_ros.measurement.track_steps import apart_from_neighbours, turns_of

NUMBERS = st.floats(-1e100, 1e100, allow_subnormal=True)


def rows(width, numbers=NUMBERS, least=1):
    return st.integers(least, 30).flatmap(
        lambda n: arrays(np.float64, (n, width), elements=numbers)
    )


@given(st.sampled_from([1, 2, 3, 4, 7]).flatmap(rows))
def test_lengths(values):
    np.testing.assert_array_equal(lengths(values), np.linalg.norm(values, axis=1))


@given(rows(6))
def test_cross_products(values):
    left, right = values[:, :3], values[:, 3:]
    np.testing.assert_array_equal(crossed(left, right), np.cross(left, right))


@given(
    arrays(np.float64, st.integers(1, 60), elements=NUMBERS),
    st.sampled_from([0, 5, 50, 90, 95, 100]),
)
def test_percentiles(values, percent):
    assert percentile(values, percent) == np.percentile(values, percent)


@given(arrays(np.float64, st.integers(1, 60), elements=NUMBERS))
def test_medians(values):
    assert median(values) == np.median(values)
    gaps = np.abs(values).clip(0, 1e15).astype(np.int64)
    assert median(gaps) == np.median(gaps)


@given(rows(4, st.floats(allow_nan=True, allow_infinity=True)))
def test_flags(values):
    np.testing.assert_array_equal(all_finite(values), np.isfinite(values).all(axis=1))
    np.testing.assert_array_equal(any_set(values != 0.0), np.any(values != 0.0, axis=1))


@given(rows(3, st.floats(-10, 10), least=5))
def test_how_far_a_step_is_from_the_median_of_its_neighbours(steps):
    padded = np.pad(steps, ((2, 2), (0, 0)), mode='reflect')
    around = np.stack([padded[k : k + len(steps)] for k in (0, 1, 3, 4)])
    off = np.linalg.norm(steps - np.median(around, axis=0), axis=1)
    np.testing.assert_allclose(
        lengths(apart_from_neighbours([steps.T], [steps.T]).T), off, rtol=1e-12, atol=1e-12
    )


def test_turns_are_axis_times_angle_whatever_the_sign():
    half = np.array([0.0, 0.1, 0.1, 0.4, 1.9])
    quaternions = np.column_stack([0 * half, np.sin(half), 0 * half, np.cos(half)])
    quaternions[2] *= -3.0
    found = turns_of(quaternions)
    np.testing.assert_allclose(
        found, [[0, 0.2, 0], [0, 0, 0], [0, 0.6, 0], [0, 3.0, 0]], atol=1e-12
    )
