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

"""Means of velocities are regressed on commands: what is turned, mirrored or an echo is named."""

import math

import numpy as np
import pytest

from repsq_ros.campaign.command_response import CommandResponse

GAIN = np.diag([0.8, 0.65, 0.75])


def found(gain=GAIN, n=12, noise=0.01, seed=1, bias=(0.01, -0.015, 0.02), commanded=3):
    rng = np.random.default_rng(seed)
    commands = rng.uniform(-0.3, 0.3, (n, 3))
    commands[:, commanded:] = 0.0
    means = commands @ np.asarray(gain).T + np.array(bias) + rng.normal(0, noise, (n, 3))
    return list(response(commands, means).findings)


def response(commands, measured, kind='velocity'):
    found = CommandResponse(kind)
    for command, seen in zip(commands, measured, strict=True):
        found.add(command, seen)
    return found


def turned(degrees):
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) @ GAIN


def test_a_robot_that_follows_badly_is_in_order():
    for noise in (0.01, 0.1, 1.0):
        wrong = sum(bool(found(seed=seed, noise=noise)) for seed in range(500))
        assert wrong <= 1
    assert found(np.diag([0.3, 0.25, 0.3]), noise=0.002) == []
    assert found(np.diag([1.05, 1.1, 0.9])) == []


@pytest.mark.parametrize(
    ('gain', 'words'),
    [
        (turned(90), 'turned by +90 degrees'),
        (turned(-90), 'turned by -90 degrees'),
        (turned(180), 'turned by'),
        (turned(12), 'turned by +1'),
        (GAIN * [-1, 1, 1], 'one of them is mirrored'),
        (GAIN[[1, 0, 2]], 'one of them is mirrored, or both are swapped'),
        (GAIN * [1, 1, -1], 'angular_z: -0.7'),
        (GAIN * [1, 0, 1], 'linear_y: nothing of what is commanded is measured'),
        (GAIN * [1, 1, 0], 'is the orientation always the same?'),
        (3.2808 * GAIN, 'linear_x: 2.6'),
        (100.0 * GAIN, 'feet, cm or mm?'),
    ],
)
def test_what_is_wrong_is_named(gain, words):
    assert any(words in each for each in found(gain, n=40, noise=0.004))


def test_an_echo_of_the_command():
    assert found(np.eye(3), noise=0.0, bias=(0, 0, 0)) == [
        'linear_x, linear_y, angular_z: equals the command, scaled, to the last digit: '
        'an echo of it?'
    ]


def test_one_dimension():
    assert found(commanded=1) == []
    assert 'the other way' in found(-GAIN, commanded=1)[0]


def test_nothing_is_said_of_few_tests_or_of_one_case():
    assert found(turned(90), n=9) == []
    assert found(turned(90), n=10) != []
    still = [[0.1, 0.0, 0.0]] * 20
    assert response(still, np.zeros((20, 3))).findings == ()


@pytest.mark.parametrize('seed', range(20))
def test_nothing_is_said_where_one_command_is_a_function_of_the_others(seed):
    """Up to rounding: which of them moved the robot is not known."""
    rng = np.random.default_rng(seed)
    commands = rng.uniform(-0.3, 0.3, (1000, 3))
    commands[:, 2] = commands[:, :2] @ rng.uniform(-1.0, 1.0, 2) + 0.1
    assert response(commands, commands @ turned(90).T).findings == ()
    commands[:, 2] += rng.normal(0.0, 0.001, 1000)
    assert response(commands, commands @ turned(90).T).findings != ()


def test_an_echo_in_32_bits_and_scaled():
    commands = np.random.default_rng(1).uniform(-0.3, 0.3, (20, 3))
    assert 'an echo' in response(commands, (0.9 * commands).astype(np.float32)).findings[0]
    noise = np.random.default_rng(2).normal(0, 1e-5, (20, 3))
    assert response(commands, 0.9 * commands + noise).findings == ()


@pytest.mark.parametrize('seed', range(5))
def test_velocities_that_do_not_follow_the_command(seed):
    """Of another robot; of positions that are swapped against the orientation, at any heading."""
    rng = np.random.default_rng(seed)
    commands, others = rng.uniform(-0.3, 0.3, (2, 100, 3))
    other = response(commands, others @ GAIN).findings
    assert 'what is measured varies, and does not follow the command' in other[0]
    twice = rng.uniform(0.0, 2.0 * math.pi, 100)  # the heading
    x, y, turn = (commands @ GAIN + rng.normal(0, 0.01, (100, 3))).T
    swapped = [np.cos(twice) * x + np.sin(twice) * y, np.sin(twice) * x - np.cos(twice) * y]
    assert (
        'linear_x and linear_y: what is'
        in response(commands, np.column_stack([*swapped, turn])).findings[0]
    )
    weak = commands @ (0.3 * GAIN) + rng.normal(0, 0.01, (100, 3))
    assert response(commands, weak).findings == ()
    lame = commands @ (0.3 * GAIN) + rng.normal(0, 0.05, (100, 3))  # hardly moves
    assert response(commands, lame).findings == ()


def test_the_matrix_with_its_standard_errors():
    """By least squares with a constant, as numpy's own solver gives it."""
    rng = np.random.default_rng(3)
    commands = rng.uniform(-0.3, 0.3, (40, 3))
    means = commands @ turned(12).T + [0.1, 100.0, -3.0] + rng.normal(0, 0.02, (40, 3))
    told = response(commands, means)
    found = told.regress()
    design = np.column_stack([commands, np.ones(40)])
    expected, left, _, _ = np.linalg.lstsq(design, means, rcond=None)
    assert found.gain == pytest.approx(expected[:3].T, abs=1e-9)
    covariance = np.linalg.inv(design.T @ design)
    assert found.error == pytest.approx(
        np.sqrt(np.outer(left / 36, np.diag(covariance)[:3])), abs=1e-9
    )
    line = told.lines[1]
    assert line.startswith('measured linear_y: +0.1') and ' +- 0.0' in line


@pytest.mark.parametrize(
    ('frame', 'words'),
    [
        (np.eye(3), ''),
        ([[0, -1, 0], [1, 0, 0], [0, 0, 1]], ''),  # a frame that is turned: distances stay
        ([[0, 1, 0], [1, 0, 0], [0, 0, 1]], 'one of them is mirrored, or two are swapped'),
        ([[1, 0, 0], [0, -1, 0], [0, 0, 1]], 'one of them is mirrored'),
        (1000 * np.eye(3), 'x: 1e+03'),
        (np.diag([1, 1, 0]), 'z: nothing of what is commanded is measured'),
    ],
)
def test_places_against_goals(frame, words):
    rng = np.random.default_rng(4)
    goals = rng.uniform(-0.3, 0.3, (30, 3))
    places = (goals + rng.normal(0, 1e-4, (30, 3))) @ np.array(frame).T + [1, 2, 3]
    found = response(goals, places, 'pose').findings
    assert bool(found) is bool(words) and words in ' '.join(found)
