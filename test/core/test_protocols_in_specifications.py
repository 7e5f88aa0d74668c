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

"""Protocols as a specification has them: positioning, and free ones; wrong keys are told."""

import importlib
import math

import pytest
import yaml
from conftest import ROOT

from repsq_ros.campaign.conductor import Conductor
from repsq_ros.errors import SpecificationError
from repsq_ros.measurement.samples import body_sample
from repsq_ros.protocols.phases import Phase
from repsq_ros.protocols.rotation import angle_between, quaternion_of_rpy
from repsq_ros.specification.load import load
from repsq_ros.specification.reader import rounded

SECOND = 1_000_000_000
UPRIGHT = (0.0, 0.0, 0.0, 1.0)


@pytest.fixture
def content():
    return yaml.safe_load((ROOT / 'config' / 'ur10e_positioning.yaml').read_text())


WRONG = [
    ('approach.direction', [0.0, 0.0, 0.0], 'a vector of length 0', 'a direction'),
    ('approach.distance', -0.1, '-0.1', '>= 0'),
    ('reference.rpy', [0.0, 0.0], 'a list', '3'),
    ('speed', 0, '0', '> 0'),
    ('move.ends', 'soon', "'soon'", 'one of time, settle, confirm'),
    ('move.timeout', 0.5, '0.5', 'twice the hold'),
    ('settle.hold', 0.0, '0.0', '>= 0.1'),
    ('frame', 7, '7', 'text'),
]


@pytest.mark.parametrize('key, value, found, expected', WRONG)
def test_wrong_keys_are_told_with_place_and_expectation(
    content, write, key, value, found, expected
):
    section = content['protocol']
    *path, last = key.split('.')
    for part in path:
        section = section[part]
    section[last] = value
    with pytest.raises(SpecificationError) as raised:
        load(write(content))
    assert f'protocol.{key}' in str(raised.value)
    assert expected in str(raised.value)


@pytest.mark.parametrize('rpy', [(0.3, 1.2, -2.0), (0.4, math.pi / 2, 1.1), (math.pi, 0.0, 0.0)])
def test_a_reference_may_be_a_quaternion_wherever_the_tool_points(content, write, rpy):
    """Along the horizon, too, where roll and yaw are one turn."""
    turn = quaternion_of_rpy(*rpy)
    content['protocol']['reference'] = {'position': [-0.55, -0.2, 0.25], 'rotation': list(turn)}
    reference = load(write(content)).protocol.positions.reference
    assert reference[:3] == (-0.55, -0.2, 0.25)
    assert angle_between(quaternion_of_rpy(*reference[3:]), turn) < 1e-7


def test_a_digest_does_not_hang_on_the_last_digit_of_a_librarys_sine(content, write, monkeypatch):
    """Angles of a quaternion, a quaternion of angles: another machine's may differ there."""
    turn = list(quaternion_of_rpy(0.3, 1.2, -2.0))
    content['protocol']['reference'] = {'position': [-0.55, -0.2, 0.25], 'rotation': turn}
    digest = load(write(content)).digest
    for name in ('protocol_section.rpy_of_quaternion', 'reader.quaternion_of_rpy'):
        whole = f'repsq_ros.specification.{name}'
        room, _, function = whole.rpartition('.')
        plain = getattr(importlib.import_module(room), function)
        monkeypatch.setattr(
            whole, lambda *given, plain=plain: [math.nextafter(x, 9) for x in plain(*given)]
        )
    assert load(write(content)).digest == digest
    assert str(rounded(-1e-17)) == '0.0'
    turn[0] += 1e-4
    assert load(write(content)).digest != digest


def test_a_tracking_loss_needs_velocities(content, write):
    content['measure'] = {'type': 'soft_linf', 'gain': 6.0, 'reduction': 'rms',
                          'source': 'odometry'}  # fmt: skip
    with pytest.raises(SpecificationError, match='a measure of velocities'):
        load(write(content))


FREE = {
    'type': 'free',
    'commands': 'velocity',
    'phases': [
        {'phase': 'dwell', 'ends': 'time', 'seconds': 1.0},
        {'phase': 'command', 'ends': 'time', 'seconds': 2.0},
        {'phase': 'settle', 'ends': 'settle', 'speed': 0.05, 'hold': 0.5, 'timeout': 10.0},
        {'phase': 'record', 'ends': 'time', 'seconds': 1.0, 'window': 0.5},
    ],
    'feedback': {'type': 'nav_msgs/msg/Odometry'},
}


@pytest.fixture
def walking():
    return yaml.safe_load((ROOT / 'config' / 'g1_locomotion.yaml').read_text())


def test_a_free_protocol_is_a_list_of_phases(walking, write):
    walking['protocol'] = FREE
    specification = load(write(walking))
    conductor = Conductor(specification, specification.make_proposal(), 1)
    conductor.start(0)
    spans, now_ns = [], 0
    while not conductor.waiting and now_ns < 20 * SECOND:
        now_ns += 20_000_000
        still = (0.0, 0.0, 0.0)
        conductor.on_body(body_sample(now_ns, still, UPRIGHT, still, still))
        spans += conductor.advance(now_ns)
        if conductor.span.phase is not Phase.COMMAND:
            assert conductor.command(now_ns) == (0.0, 0.0, 0.0)
    begun = dict.fromkeys((span.phase.name, span.step) for span in spans)
    assert list(begun) == [('COMMAND', 1), ('SETTLE', 2), ('RECORD', 3), ('IDLE', 0)]
    assert conductor.span.phase is Phase.IDLE


BROKEN = [
    ({'phases': FREE['phases'][:3]}, 'exactly one'),
    ({'phases': FREE['phases'][1:]}, 'dwell first'),
    ({'phases': [FREE['phases'][3], *FREE['phases'][1:3]]}, 'a phase command before it'),
    ({'feedback': None}, 'the input of a body'),
    ({'phases': [{'phase': 'dance'}]}, 'one of dwell, settle, record, command'),
]


@pytest.mark.parametrize('change, expected', BROKEN)
def test_a_free_protocol_that_makes_no_test_is_refused(walking, write, change, expected):
    protocol = {**FREE, **change}
    walking['protocol'] = {key: value for key, value in protocol.items() if value is not None}
    with pytest.raises(SpecificationError, match=expected):
        load(write(walking))
