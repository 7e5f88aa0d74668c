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

"""Faults that last: each single sample looks right, and the whole does not."""

import math
from dataclasses import replace

import numpy as np
import pytest
from support.damage import BEFORE, EPOCH, LENGTH, SECOND, Motion, measure_of, motion_of
from support.rows import table_of

from repsq_ros.measurement.frames import product
from repsq_ros.measurement.limits import Limits
from repsq_ros.measurement.reasons import Code
from repsq_ros.measurement.recorder import Recorder, Window

NEAR = 0.02  # by which psi may be wrong without a word
TURN_X = np.array([math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5)])
START_NS = EPOCH + round(BEFORE * 1e9)


def outcome_of(samples, command, twist=False):
    recorder = Recorder(measure_of(twist=twist), keep_ns=2**62)
    recorder.add(samples)
    end_ns = START_NS + round(LENGTH * 1e9)
    return recorder.measure(Window(START_NS, end_ns, command, START_NS - SECOND))


def since(samples, stamp_ns):
    return int(samples.stamps.searchsorted(stamp_ns))


def lying(samples):
    """It lies on its side, or its own axes are y-up."""
    return replace(samples, orientation=product(samples.orientation, TURN_X))


def y_up(samples):
    """World and body are y-up, as Motive's default is, and nobody says so."""
    x, y, z = samples.position.T
    a, b, c, d = samples.orientation.T
    return replace(
        samples,
        position=np.column_stack([x, z, -y]),
        orientation=np.column_stack([a, c, -b, d]),
    )


def w_first(samples):
    return replace(samples, orientation=samples.orientation[:, [3, 0, 1, 2]])


def held(name, column, since_ns):
    """Return damage: a column keeps its value from an instant on."""

    def damage(samples):
        values = getattr(samples, name).copy()
        first = since(samples, since_ns)
        values[first:, column] = values[first, column]
        return replace(samples, **{name: values})

    damage.__name__ = f'{name} held'
    return damage


def at_6_hz(samples):
    return samples.take(slice(None, None, round(1e9 / 6 / np.diff(samples.stamps[:2])[0])))


def twist_alone(samples):
    return replace(samples, position=None, orientation=None)


def zeros(seconds):
    def damage(samples):
        samples = twist_alone(samples)
        rows = slice(since(samples, START_NS + SECOND), None)
        if seconds:
            rows = slice(rows.start, since(samples, START_NS + round((1 + seconds) * SECOND)))
        linear, angular = samples.linear.copy(), samples.angular.copy()
        linear[rows] = angular[rows] = 0.0
        return replace(samples, linear=linear, angular=angular)

    return damage


def constant(samples):
    samples = twist_alone(samples)
    linear, angular = samples.linear * 0 + samples.linear[0], samples.angular * 0
    return replace(samples, linear=linear, angular=angular + samples.angular[0])


MIDDLE = START_NS + SECOND
OF_POSES = [
    (lying, Code.TILT),
    (y_up, None),
    (w_first, None),
    (held('orientation', slice(None), 0), Code.FROZEN),
    (held('orientation', slice(None), MIDDLE), Code.FROZEN),
    (held('position', 1, 0), Code.FROZEN),
    (held('position', 0, 0), Code.FROZEN),
    (held('position', 1, MIDDLE), Code.FROZEN),
    (at_6_hz, Code.COVERAGE),
]
OF_TWISTS = [
    (zeros(0.0), Code.ALL_ZERO),
    (zeros(0.3), Code.ALL_ZERO),
    (zeros(1.0), Code.ALL_ZERO),
    (constant, Code.FROZEN),
]


@pytest.mark.parametrize(('damage', 'code'), OF_POSES)
def test_poses_of_a_steady_fault_give_a_reason_or_the_right_psi(damage, code):
    check(damage, code, twist=False)


@pytest.mark.parametrize(('damage', 'code'), OF_TWISTS)
def test_twists_of_a_steady_fault_give_a_reason(damage, code):
    check(damage, code, twist=True)


def check(damage, code, twist):
    rng = np.random.default_rng(5)
    for _ in range(12):
        motion = motion_of(rng)
        command = (motion.speed, motion.sideways, motion.turn)
        samples = table_of(motion.samples(twist))
        right = outcome_of(samples, command, twist)
        assert right.valid, (motion, right)
        found = outcome_of(damage(samples), command, twist)
        wrong = found.valid and abs(found.psi - right.psi) > NEAR
        assert not wrong, (motion, right.psi, found)
        assert code is None or found.code is code, (motion, found)


def test_an_echo_of_the_command_is_told():
    samples = twist_alone(table_of(Motion().samples(twist=True)))
    linear, angular = np.tile([0.3, 0.0, 0.0], (len(samples), 1)), 0 * samples.angular
    found = outcome_of(replace(samples, linear=linear, angular=angular), (0.3, 0.0, 0.0), True)
    assert found.code is Code.FROZEN
    assert found.reason.endswith('equal to the command: an echo of it?')


def test_a_body_that_is_told_to_stand_may_report_zeros():
    samples = twist_alone(table_of(Motion().samples(twist=True)))
    nothing = replace(samples, linear=0 * samples.linear, angular=0 * samples.angular)
    assert outcome_of(nothing, (0.0, 0.0, 0.0), True).valid


def test_exact_poses_of_a_simulation_are_not_frozen():
    """A body that goes straight ahead without noise keeps heading and y to the last bit."""
    samples = table_of(replace(Motion(), noise=0.0).samples())
    assert outcome_of(samples, (0.3, 0.0, 0.0)).valid


@pytest.mark.parametrize('key', ['level_turn', 'climb'])
def test_how_far_a_body_may_turn_about_a_level_axis_or_climb_is_declared(key):
    """A robot on stairs, or in a loop."""
    samples = Motion(speed=0.1).table()
    t = np.maximum(samples.stamps - START_NS, 0) * 1e-9
    if key == 'climb':
        samples.position[:, 2] += 0.15 * t
    else:
        half = 0.1 * t
        pitch = np.column_stack([0 * half, np.sin(half), 0 * half, np.cos(half)])
        samples = replace(samples, orientation=product(samples.orientation, pitch))
    codes = []
    for limits in (Limits(), Limits(**{key: 3.0})):
        recorder = Recorder(replace(measure_of(), limits=limits), keep_ns=2**62)
        recorder.add(samples)
        end_ns = START_NS + round(LENGTH * 1e9)
        window = Window(START_NS, end_ns, (0.1, 0.0, 0.0), START_NS - SECOND)
        codes.append(recorder.measure(window).code)
    assert codes[0] is Code.TILT
    assert codes[1] is not Code.TILT
