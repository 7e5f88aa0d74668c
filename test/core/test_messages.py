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

"""Messages to plain values: what a field means that says nothing."""

import math
from types import SimpleNamespace

import pytest

from repsq_ros.messages import campaign_messages
from repsq_ros.protocols.phases import Phase, Span

ZERO = SimpleNamespace(sec=0, nanosec=0)


def measurement(**changes):
    fields = {
        'index': 3, 'attempt': 1, 'psi': 0.5, 'weight': 0.8, 'valid': True, 'reason': '',
        'samples': 300, 'window_start': ZERO, 'window_end': SimpleNamespace(sec=3, nanosec=5),
        'x': [0.1, 0.2], 'weight_bound': 4.0, 'skipped': False,
    }  # fmt: skip
    return SimpleNamespace(**(fields | changes))


def test_a_measurement_is_read_field_by_field():
    record = campaign_messages.test_record_of(measurement())
    assert (record.index, record.attempt, record.psi, record.weight) == (3, 1, 0.5, 0.8)
    assert (record.valid, record.skipped, record.samples) == (True, False, 300)
    assert record.window_end_ns == 3_000_000_005
    assert record.x == (0.1, 0.2)
    assert record.weight_bound == 4.0


@pytest.mark.parametrize('numbers', [{'psi': math.nan}, {'psi': math.inf}, {'weight': math.nan}])
def test_a_number_that_is_none_makes_no_valid_test(numbers):
    """Or else scheduler and estimator go on with different tests."""
    record = campaign_messages.test_record_of(measurement(**numbers))
    assert (record.valid, record.psi, record.code) == (False, 0.0, 'not_finite')
    assert 'expected finite numbers' in record.reason


def test_a_weight_bound_of_0_is_none_at_all():
    """An unset field is 0 in ROS: taken as a bound it would make of every weight a violation."""
    assert campaign_messages.test_record_of(measurement(weight_bound=0.0)).weight_bound == math.inf


@pytest.mark.parametrize('given, bound', [(0.0, math.inf), (2.5, 2.5)])
def test_the_same_holds_for_a_case(given, bound):
    case = SimpleNamespace(x=[0.1, 0.2], log_p=-1.0, log_q=-2.0, weight_bound=given, weight=2.7)
    draw = campaign_messages.draw_of(case)
    assert draw.weight == 2.7, 'as it was drawn, and not computed again'
    assert draw.weight_bound == bound
    assert (draw.x, draw.log_p, draw.log_q) == ((0.1, 0.2), -1.0, -2.0)


def phase(**changes):
    names = ('start', 'window_start', 'window_end', 'end')
    at = {name: SimpleNamespace(sec=at, nanosec=0) for at, name in enumerate(names, start=1)}
    fields = {
        'test': SimpleNamespace(index=3, attempt=1), 'phase': 2, **at, 'command': [0.1, 0.2, 0.0],
        'command_start': ZERO, 'step': -1, 'reason': 'why', 'broken_off': True, 'goes_on': True,
        'alarm': True, 'cause': 'bench',
    }  # fmt: skip
    return SimpleNamespace(**(fields | changes))


S = 1_000_000_000


def test_a_phase_is_read_field_by_field():
    assert campaign_messages.span_of(phase()) == Span(
        Phase.COMMAND,
        3,
        1,
        S,
        4 * S,
        (0.1, 0.2, 0.0),
        (2 * S, 3 * S),
        'why',
        None,
        -1,
        broken_off=True,
        cause='bench',
        goes_on=True,
        alarm=True,
    )
    begun = campaign_messages.span_of(phase(command_start=SimpleNamespace(sec=0, nanosec=7)))
    assert begun.command_ns == 7


def test_times_of_0_are_none_at_all():
    span = campaign_messages.span_of(phase(end=ZERO, window_end=ZERO))
    assert (span.end_ns, span.window) == (None, None)


def test_a_phase_of_0_1_0_names_its_test_itself_and_lacks_later_fields():
    old = phase(index=5, attempt=2)
    for later in ('test', 'broken_off', 'cause', 'goes_on', 'alarm'):
        delattr(old, later)
    span = campaign_messages.span_of(old)
    assert (span.index, span.attempt, span.broken_off, span.goes_on) == (5, 2, False, False)


@pytest.mark.parametrize('number', [11, 255])
def test_a_phase_that_there_is_not_is_told(number):
    with pytest.raises(ValueError, match=f'phase {number}, expected one of 0 to 10'):
        campaign_messages.span_of(phase(phase=number))


def test_a_message_of_ours_that_lacks_a_field_is_a_mistake():
    """A field that was renamed in the .msg alone; a recording may be of an earlier version."""
    old = SimpleNamespace(x=[0.1], log_p=-1.0, log_q=-2.0, weight_bound=0.0)
    ours = SimpleNamespace(**vars(old), get_fields_and_field_types=dict)
    with pytest.raises(AttributeError, match=r'has no field for Draw\.weight'):
        campaign_messages.draw_of(ours)
