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

from repsq_ros.auditing.command_response import response_findings

GAIN = np.diag([0.8, 0.65, 0.75])


def found(gain=GAIN, n=12, noise=0.01, seed=1, bias=(0.01, -0.015, 0.02), commanded=3):
    rng = np.random.default_rng(seed)
    commands = rng.uniform(-0.3, 0.3, (n, 3))
    commands[:, commanded:] = 0.0
    means = commands @ np.asarray(gain).T + np.array(bias) + rng.normal(0, noise, (n, 3))
    return response_findings(commands.tolist(), list(means))


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
        'the measured velocity equals the command to the last digit: an echo of it?'
    ]


def test_one_dimension():
    assert found(commanded=1) == []
    assert 'the other way' in found(-GAIN, commanded=1)[0]


def test_nothing_is_said_of_few_tests_or_of_one_case():
    assert found(turned(90), n=9) == []
    assert found(turned(90), n=10) != []
    still = [[0.1, 0.0, 0.0]] * 20
    assert response_findings(still, [np.zeros(3)] * 20) == []
