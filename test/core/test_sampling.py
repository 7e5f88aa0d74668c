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

"""Cases: uniform on the box, each from a stream of its own."""

import math

import numpy as np
import pytest
from scipy import stats

from repsq_ros.sampling.box import Box, Dimension
from repsq_ros.sampling.distributions import uniform
from repsq_ros.sampling.proposals import MonteCarlo
from repsq_ros.seeds import RandomStream, generator

BOX = uniform(Box((Dimension('a', 'm/s', -0.3, 0.3), Dimension('b', 'rad/s', 0.0, 2.0))))


def test_cases_are_uniform_on_the_box():
    cases = np.array([BOX.sample(generator(7, RandomStream.CASE, i)) for i in range(2000)])
    assert stats.kstest(cases[:, 0], stats.uniform(-0.3, 0.6).cdf).pvalue > 1e-3
    assert stats.kstest(cases[:, 1], stats.uniform(0, 2).cdf).pvalue > 1e-3
    assert abs(np.corrcoef(cases.T)[0, 1]) < 0.1


def test_a_case_depends_on_seed_and_index_alone():
    late = BOX.sample(generator(7, RandomStream.CASE, 100))
    assert BOX.sample(generator(7, RandomStream.CASE, 100)) == late
    assert BOX.sample(generator(8, RandomStream.CASE, 100)) != late
    assert BOX.sample(generator(7, RandomStream.SUBJECT, 100)) != late


def test_the_first_case_of_a_seed_never_changes():
    """A lab that repeats a campaign years later draws the same cases."""
    assert BOX.sample(generator(1, RandomStream.CASE, 0)) == pytest.approx(
        FIRST_CASE, rel=0, abs=1e-15
    )


FIRST_CASE = (0.22892948240237482, 1.789040398336166)


def test_density_and_support():
    assert BOX.logpdf((0.1, 1.0)) == pytest.approx(-math.log(0.6 * 2.0), rel=1e-12)
    for outside in ((0.4, 1.0), (0.1, -0.1), (math.nan, 1.0), (0.1,), (0.1, 1.0, 0.0)):
        assert not BOX.box.contains(outside)
        assert BOX.logpdf(outside) == -math.inf


def test_monte_carlo_weights_are_exactly_one():
    draw = MonteCarlo(BOX).draw(3, 1)
    assert draw.weight == 1.0
    assert draw.log_p == draw.log_q
