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

"""What repsq inspect says of a body, in the words of the reasons."""

from dataclasses import replace

import numpy as np
import pytest
from support.damage import Motion
from support.rows import table_of

from repsq_ros.auditing.body_audit import audit_body
from repsq_ros.auditing.stream_audit import audit
from repsq_ros.auditing.verdicts import body_verdicts, stream_verdicts
from repsq_ros.measurement.frames import product

HALF = np.sqrt(0.5)


def walk(**changes):
    return table_of(Motion(**{'sideways': 0.1, **changes}).samples())


def of_body(samples):
    return body_verdicts(audit_body(samples), audit(samples.stamps, samples.stamps))


def of_stamps(late, stamped=True, **changes):
    stamps = walk(**changes).stamps
    return stream_verdicts(audit(stamps, stamps + late(stamps).astype(np.int64)), stamped)


def lying(samples):
    turn = np.array([HALF, 0, 0, HALF])
    return replace(samples, orientation=product(samples.orientation, turn))


def held(samples):
    position = samples.position.copy()
    position[:, 1] = position[0, 1]
    return replace(samples, position=position)


def frozen(samples):
    position, orientation = samples.position.copy(), samples.orientation.copy()
    position[100:140], orientation[100:140] = position[100], orientation[100]
    return replace(samples, position=position, orientation=orientation)


def looking_one_way(samples):
    return replace(samples, orientation=np.tile([0.0, 0.0, 0.0, 1.0], (len(samples), 1)))


def doubled(samples):
    rows = np.arange(len(samples)) // 2 * 2
    return replace(samples, position=samples.position[rows], orientation=samples.orientation[rows])


def test_a_body_in_order():
    assert of_body(walk()) == []
    assert of_body(walk(rate=11.0)) == []


@pytest.mark.parametrize(
    ('samples', 'words'),
    [
        (lying(walk()), 'tilt: the body leans by 1.571 rad, at most 0.5 rad allowed'),
        (held(walk()), 'frozen: y never changes while the body moves'),
        (frozen(walk()), 'frozen: bit-identical poses for 0.390 s, at most 0.25 s allowed'),
        (looking_one_way(walk()), 'frozen: orientation never changes while the body moves'),
        (doubled(walk()), 'frozen: of 274 steps, 274 are followed by the same position again'),
        (walk(rate=6.0), 'coverage: a pose every 0.167 s, at least one in 0.1 s is needed'),
    ],
)
def test_what_is_wrong_with_a_body(samples, words):
    [told] = of_body(samples)
    assert told.startswith(words)


@pytest.mark.parametrize(
    ('late', 'words'),
    [
        (lambda stamps: 0 * stamps + 6e7, 'stamps: +0.060 s from stamp to arrival'),
        (lambda stamps: 0 * stamps - 3e8, 'stamps: -0.300 s from stamp to arrival'),
        (
            lambda stamps: 2e-3 * (stamps - stamps.mean()),
            'stamps: their clock runs +0.0020 s a second',
        ),
    ],
)
def test_what_is_wrong_with_a_clock(late, words):
    [told] = of_stamps(late)
    assert told.startswith(words)
    assert of_stamps(late, stamped=False) == []


def test_a_clock_in_order_and_a_gap():
    assert of_stamps(lambda stamps: 0 * stamps + 4e7) == []
    [told] = of_stamps(lambda stamps: 0 * stamps, rate=4.0)
    assert told == 'gap: 0.250 s without a sample, at most 0.2 s allowed'
