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

"""Steady faults at random: psi is right, or there is a reason, or its own error covers it."""

import json
import math
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from support.damage import motion_of
from support.made_bags import FORMS, write_bag
from support.made_bags import body as body_message
from support.rows import rows_of
from support.steady_faults import (
    CASES,
    SOME,
    WINDOW,
    damaged,
    delay_that_wanders,
    each_twice,
    held_up,
    measure_for,
    outcome_of,
)

from repsq_ros.measurement.reasons import Code
from repsq_ros.measurement.samples import joined
from repsq_ros.recordings.recording import Recording
from repsq_ros.recordings.sensor_columns import sample_columns
from repsq_ros.replay.recorded_windows import SENSOR, WindowMeasurer

OF_EACH = int(os.environ.get('REPSQ_FUZZ', '2025')) // len(CASES)  # cases
RECORDED = int(os.environ.get('REPSQ_FUZZ_RECORDED', '2'))  # of each kind that go through a bag
NEAR, COVERED = 0.02, 1.25  # of psi; times psi_error, which is an estimate


def wrong(kind, twist, velocity, seed):
    """Tell whether a case counts, is off, and does not say so."""
    motion, samples = damaged(kind, twist, seed)
    truth = outcome_of(replace(motion, noise=0.0).table(twist=True), twist=True)
    outcome = outcome_of(samples, twist, velocity)
    off = abs(outcome.psi - truth.psi)
    return outcome.valid and off > max(NEAR, COVERED * outcome.psi_error)


@pytest.mark.parametrize(('kind', 'twist', 'velocity'), CASES)
def test_steady_faults_at_random(kind, twist, velocity):
    found = [seed for seed in range(OF_EACH) if wrong(kind, twist, velocity, seed)]
    assert len(found) <= math.ceil(SOME.get(kind, 0.0) * OF_EACH), found


# What another process finds: psi and reason of some cases of each kind.
ELSEWHERE = """
import json
from support.steady_faults import CASES, damaged, outcome_of
found = []
for kind, twist, velocity in CASES:
    for seed in range(4):
        outcome = outcome_of(damaged(kind, twist, seed)[1], twist, velocity)
        found.append((outcome.psi, outcome.code and outcome.code.name))
print(json.dumps(found))
"""


def test_psi_and_reason_are_the_same_on_another_processor():
    """numpy and its linear algebra choose their code by the processor: here, as on an old one."""
    old = {'NPY_DISABLE_CPU_FEATURES': 'AVX2 FMA3', 'OPENBLAS_CORETYPE': 'Prescott'}
    here, there = (
        json.loads(
            subprocess.run(
                [sys.executable, '-W', 'ignore', '-c', ELSEWHERE],
                env={**os.environ, 'PYTHONPATH': os.pathsep.join(sys.path), **more},
                capture_output=True,
                text=True,
                check=True,
            ).stdout
        )
        for more in ({}, old)
    )
    codes = [code for _, code in here]
    assert codes == [code for _, code in there]
    assert [psi for psi, _ in here] == pytest.approx([psi for psi, _ in there], abs=1e-9)
    assert len(set(codes)) > 5


@pytest.mark.parametrize('velocity', ['slope', 'cubic', 'auto'])
def test_poses_that_are_sent_twice_count(velocity):
    """A slope averages what two equal poses are off by, and psi_error knows it."""
    for seed in range(OF_EACH):
        assert outcome_of(damaged(each_twice, False, seed)[1], False, velocity).valid


def test_arrivals_that_were_held_up_count_by_what_they_do_to_psi():
    outcomes = [outcome_of(damaged(held_up, False, seed)[1], False) for seed in range(75)]
    codes = [each.code for each in outcomes]
    assert codes.count(None) >= 20 and codes.count(Code.ERROR) >= 20
    assert any('stamps' in each.reason and 'retime: true' in each.reason for each in outcomes)


def test_the_arrivals_of_a_real_recording_leave_most_windows(recordings):
    """A walk at even 100 Hz that arrives as the poses of an OptiTrack did."""
    topic = '/vrpn_client_node/IndexFinger/pose'
    with Recording(recordings / 'optitrack_static_mcap') as bag:
        inputs = {'seen': (topic, measure_for(False).input)}
        stamps = joined([part['seen'] for part in sample_columns(bag, inputs)]).stamps
    late = stamps - np.rint(np.linspace(stamps[0], stamps[-1], len(stamps))).astype(np.int64)
    late -= late.min()
    counted = 0
    for seed in range(30):
        motion = replace(motion_of(np.random.default_rng(seed)), rate=100.0)
        samples, first = motion.table(twist=False), 100 * seed
        moved = samples.stamps + late[first : first + len(samples)]
        moved = np.maximum.accumulate(moved) + np.arange(len(moved))
        outcome = outcome_of(replace(samples, stamps=moved), False)
        truth = outcome_of(replace(motion, noise=0.0).table(twist=True), twist=True)
        off = abs(outcome.psi - truth.psi)
        assert not outcome.valid or off <= max(NEAR, COVERED * outcome.psi_error), seed
        counted += outcome.valid
    assert counted >= 22


@pytest.mark.parametrize('velocity', ['slope', 'cubic'])
def test_a_delay_that_makes_gaps_as_a_lost_message_does(velocity):
    """With the stamps that no message was lost by, the path is smoother, and psi another."""
    outcome = outcome_of(damaged(delay_that_wanders, False, 69)[1], False, velocity)
    assert 'stamps 0.1' in outcome.reason


@pytest.mark.parametrize('twist', [False, True])
def test_what_is_in_order_counts(twist):
    for seed in range(3 * OF_EACH):
        samples = motion_of(np.random.default_rng(seed)).table(twist=twist)
        assert outcome_of(samples, twist, 'cubic').valid


@pytest.mark.parametrize(('place', 'form'), enumerate(FORMS))
def test_a_bag_gives_what_the_process_gives(place, form, tmp_path):
    """The kinds in turn, each in one form: a topic for each case of one recording."""
    cases = [(*case, seed) for seed in range(RECORDED) for case in CASES[place :: len(FORMS)]]
    topics = {f'/case_{k}': case for k, case in enumerate(cases)}
    told, expected = [], {}
    for topic, (kind, twist, velocity, seed) in topics.items():
        _, samples = damaged(kind, twist, seed)
        expected[topic] = outcome_of(samples, twist, velocity)
        told += [
            (each.stamp_ns + 1_000_000, topic, *body_message(each)) for each in rows_of(samples)
        ]
    bag = write_bag(tmp_path / 'bag', sorted(told, key=lambda each: each[0]), form)
    measures = {topic: measure_for(*case[1:3]) for topic, case in topics.items()}
    measuring = {topic: WindowMeasurer(each, [WINDOW]) for topic, each in measures.items()}
    inputs = {topic: (topic, each.input) for topic, each in measures.items()}
    with Recording(bag) as recording:  # all topics in one pass
        for part in sample_columns(recording, inputs):
            for topic, samples in part.items():
                measuring[topic].add({SENSOR: samples})
    for topic, case in topics.items():
        assert measuring[topic].finished()[WINDOW] == expected[topic], case
    assert len({each.code for each in expected.values()}) > 1
