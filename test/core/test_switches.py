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

"""Several switches on one topic, told apart by the numbers of their messages."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repsq_ros.campaign.switches import Switches

PRESSED, RELEASED = True, False


def pressed_after(*messages, publishers=2):
    switches = Switches()
    for number, pressed in messages:
        switches.on_message(number, pressed, publishers)
    return switches.pressed


@pytest.mark.parametrize(
    ('messages', 'publishers', 'wanted'),
    [
        ([(1, PRESSED)], 1, 1),
        ([(1, PRESSED), (2, RELEASED)], 1, 0),
        ([(1, PRESSED), (7, RELEASED)], 1, 0),  # the others were lost
        ([(9, PRESSED), (1, RELEASED)], 1, 0),  # started again
        # A is latched pressed, B repeats that it is released.
        ([(1, PRESSED), (1, RELEASED)], 2, 1),
        ([(1, PRESSED), *((n, RELEASED) for n in range(1, 30))], 2, 1),
        ([(1, PRESSED), *((n, RELEASED) for n in range(400, 430))], 2, 1),
        ([(400, PRESSED), *((n, RELEASED) for n in range(1, 30))], 2, 1),
        # A is released as well.
        ([(1, PRESSED), (400, RELEASED), (401, RELEASED), (2, RELEASED)], 2, 0),
        ([(1, PRESSED), (1, RELEASED), (2, RELEASED), (2, RELEASED)], 2, 0),
        # B loses messages.
        ([(1, PRESSED), (1, RELEASED), (5, RELEASED), (9, RELEASED)], 2, 1),
        # B is started again.
        ([(3, PRESSED), (50, RELEASED), (1, RELEASED), (2, RELEASED)], 2, 1),
        # Both are pressed, and one is released.
        ([(1, PRESSED), (1, PRESSED), (2, RELEASED)], 2, 1),
        # The first word that is heard of B has the number that A's release would have.
        ([(1, PRESSED), (2, RELEASED), (3, RELEASED)], 2, 1),
        # A third one comes.
        ([(1, PRESSED), (400, RELEASED), (1, RELEASED), (2, RELEASED)], 3, 1),
    ],
)
def test_a_switch_is_released_by_its_own_word_alone(messages, publishers, wanted):
    assert pressed_after(*messages, publishers=publishers) == wanted


@given(st.integers(0, 2**32), st.integers(2, 4), st.integers(1, 60))
def test_while_a_switch_is_pressed_nothing_that_others_say_releases_it(seed, count, length):
    """Whatever the order, and whenever each was started; none of the messages is lost."""
    random.seed(seed)
    numbers = [random.choice((0, 0, 3, 500)) for _ in range(count)]
    pressed, switches = [False] * count, Switches()
    for _ in range(length):
        one = random.randrange(count)
        pressed[one], numbers[one] = random.random() < 0.3, numbers[one] + 1
        switches.on_message(numbers[one], pressed[one], count)
        assert switches.pressed >= any(pressed)
