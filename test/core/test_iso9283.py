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

"""ISO 9283 quantities against exact rational values."""

import math
from fractions import Fraction

import numpy as np
import pytest

from repsq_ros.iso9283.performance_criteria import (
    barycentre,
    drift,
    multi_directional_variation,
    pose_accuracy,
    pose_repeatability,
)

# Attained positions [mm]: barycentre (c, 0, 0), distances from it 3/10 or 1/10 of a mm, made of
# Pythagorean triples so that every length is rational: (3, 4, 0)/5 and (1, 2, 2)/3.
UNITS = [
    (Fraction(3, 5), Fraction(4, 5), Fraction(0)),
    (Fraction(1, 3), Fraction(2, 3), Fraction(2, 3)),
]
LENGTHS = [Fraction(3, 10), Fraction(1, 10)]
CENTRE = (Fraction(1001, 10), Fraction(-2003, 100), Fraction(3007, 100))
COMMANDED = (Fraction(100), Fraction(-20), Fraction(30))
OFFSETS = [
    tuple(sign * length * part for part in unit)
    for unit, length in zip(UNITS, LENGTHS, strict=True)
    for sign in (1, -1)
]
POSITIONS = [tuple(c + o for c, o in zip(CENTRE, off, strict=True)) for off in OFFSETS]


def floats(rows):
    return np.array([[float(value) for value in row] for row in rows])


def test_pose_accuracy_of_rational_positions():
    off = [c - g for c, g in zip(CENTRE, COMMANDED, strict=True)]  # 1/10, -3/100, 7/100
    found = pose_accuracy(floats(POSITIONS), floats([COMMANDED])[0])
    assert found.axes == pytest.approx([0.1, -0.03, 0.07], abs=1e-9)
    assert found.position == pytest.approx(math.sqrt(sum(o * o for o in off)), abs=1e-9)


def test_pose_repeatability_of_rational_positions():
    """l = 3/10, 3/10, 1/10, 1/10: mean 1/5, S^2 = 4 (1/10)^2 / 3, so RP = 1/5 + 3 sqrt(1/75)."""
    found = pose_repeatability(floats(POSITIONS))
    assert found.mean_distance == pytest.approx(float(Fraction(1, 5)), abs=1e-9)
    assert found.spread**2 == pytest.approx(float(Fraction(1, 75)), abs=1e-9)
    assert found.position == pytest.approx(0.2 + 3 * math.sqrt(1 / 75), abs=1e-9)


def test_the_repeatability_of_one_outlier_in_ten_cycles():
    """Nine cycles at one side of the barycentre and one outlier at the other balance."""
    outlier = (Fraction(9, 10), Fraction(0), Fraction(0))
    rest = (Fraction(-1, 10), Fraction(0), Fraction(0))
    rows = [outlier] + [rest] * 9
    found = pose_repeatability(floats(rows))
    mean = (Fraction(9, 10) + 9 * Fraction(1, 10)) / 10
    square = ((Fraction(9, 10) - mean) ** 2 + 9 * (Fraction(1, 10) - mean) ** 2) / 9
    assert found.mean_distance == pytest.approx(float(mean), abs=1e-9)
    assert found.position == pytest.approx(float(mean) + 3 * math.sqrt(square), abs=1e-9)
    assert barycentre(floats(rows)) == pytest.approx(np.zeros(3), abs=1e-15)


def test_orientation_has_sign_and_no_jump_at_half_a_turn():
    angles = np.array([[math.pi - 0.01, 0.1, 0.0], [-math.pi + 0.03, 0.3, 0.0]])
    found = pose_accuracy(np.zeros((2, 3)), np.zeros(3), angles, np.array([math.pi, 0.1, 0.0]))
    assert found.orientation == pytest.approx([0.01, 0.1, 0.0], abs=1e-12)
    spread = pose_repeatability(np.zeros((2, 3)), angles).orientation
    # +-0.02 and +-0.1 around the mean, n - 1 = 1.
    assert spread == pytest.approx([3 * 0.02 * math.sqrt(2), 3 * 0.1 * math.sqrt(2), 0], abs=1e-12)


def test_multi_directional_variation_is_the_widest_pair():
    steps = ((0, 0, 0), (3, 4, 0), (1, 0, 0))
    centres = [tuple(Fraction(step, 10) for step in each) for each in steps]
    paths = [
        floats([tuple(c + o for c, o in zip(centre, off, strict=True)) for off in OFFSETS])
        for centre in centres
    ]
    assert multi_directional_variation(paths) == pytest.approx(float(Fraction(1, 2)), abs=1e-9)


def test_drift_is_the_largest_change_from_the_first_series():
    """Series whose barycentre walks along x by 0, 1/10, 3/10 and whose distances grow by half."""
    series = []
    for shift, scale in (
        (Fraction(0), Fraction(1)),
        (Fraction(1, 10), Fraction(1)),
        (Fraction(3, 10), Fraction(3, 2)),
    ):
        series.append(
            floats(
                [
                    (CENTRE[0] + shift + scale * x, CENTRE[1] + scale * y, CENTRE[2] + scale * z)
                    for x, y, z in OFFSETS
                ]
            )
        )
    commanded = np.array([100.1, -20.03, 30.07])
    found = drift(series, commanded)
    assert found.accuracy == pytest.approx(0.3, abs=1e-9)
    first = 0.2 + 3 * math.sqrt(1 / 75)
    assert found.repeatability == pytest.approx(0.5 * first, abs=1e-9)


@pytest.mark.parametrize(
    'rows', [np.zeros((1, 3)), np.zeros((3, 2)), np.array([[0, 0, math.nan], [0, 0, 0]])]
)
def test_what_is_no_set_of_positions_is_refused(rows):
    with pytest.raises(ValueError, match='found'):
        pose_repeatability(rows)
    with pytest.raises(ValueError, match='found'):
        multi_directional_variation([rows])
    with pytest.raises(ValueError, match='found'):
        drift([rows], np.zeros(3))
