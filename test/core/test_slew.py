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

"""Commands are ramped within acceleration limits, and zero is never ramped."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repsq_ros.protocols.slew import SlewLimiter


def test_a_command_rises_at_its_limit_and_stays():
    slew = SlewLimiter((0.5, 0.0, 1.0))
    assert slew.step((0.3, 0.2, -0.3), 0.2) == pytest.approx((0.1, 0.2, -0.2))
    assert slew.step((0.3, 0.2, -0.3), 0.2) == pytest.approx((0.2, 0.2, -0.3))
    assert slew.step((0.3, 0.2, -0.3), 10.0) == (0.3, 0.2, -0.3)
    assert slew.step((0.0, 0.0, 0.0), 0.2) == pytest.approx((0.2, 0.0, -0.1))


def test_what_holds_the_robot_is_not_ramped():
    slew = SlewLimiter((0.5, 0.5, 0.5))
    slew.step((0.3, 0.3, 0.3), 1.0)
    assert slew.stop() == (0.0, 0.0, 0.0)
    assert slew.step((0.3, 0.0, 0.0), 0.1) == pytest.approx((0.05, 0.0, 0.0))


def test_how_long_a_ramp_takes():
    assert SlewLimiter((0.5, 0.0, 1.0)).seconds_to((0.3, 9.0, -0.3)) == pytest.approx(0.6)
    assert SlewLimiter((0.0, 0.0, 0.0)).seconds_to((1.0, 1.0, 1.0)) == 0.0


@given(
    targets=st.lists(st.tuples(*[st.floats(-2, 2)] * 3), max_size=20),
    seconds=st.floats(0.0, 0.2),
    limit=st.floats(0.1, 5.0),
)
def test_no_step_is_larger_than_the_limit_allows(targets, seconds, limit):
    slew = SlewLimiter((limit,) * 3)
    before = (0.0, 0.0, 0.0)
    for target in targets:
        after = slew.step(target, seconds)
        assert all(
            abs(b - a) <= limit * seconds * (1 + 1e-9) + 1e-12
            for a, b in zip(before, after, strict=True)
        )
        before = after
