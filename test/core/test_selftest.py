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

"""The station's self-test is green where all is in order, and names what was done to sensors."""

import math
from dataclasses import replace

import numpy as np
import pytest
import yaml
from conftest import ROOT

from repsq_ros.campaign.station import SELF_TEST, require_selftest
from repsq_ros.cli import main
from repsq_ros.console.selftest import simulated
from repsq_ros.errors import ParameterError
from repsq_ros.replay.station_checks import DEAD_TIMES, _misfit, judge
from repsq_ros.simulation.build import make_subject
from repsq_ros.specification.load import load
from repsq_ros.specification.self_test import write_self_test


@pytest.fixture(scope='module')
def station(tmp_path_factory):
    """Return what a self-test of the surrogate before motion capture finds wrong."""
    folder = tmp_path_factory.mktemp('selftest')
    content = yaml.safe_load((ROOT / 'config' / 'g1_locomotion.yaml').read_text())
    content['measure']['source'] = 'mocap'
    file = folder / 'mocap.yaml'
    file.write_text(yaml.safe_dump(content))
    specification = load(write_self_test(file, folder))

    def faults(disturb=None, taped=None):
        record = simulated(specification, make_subject('surrogate', ''), disturb)
        return {each.name: each.fault for each in judge(specification, record, taped)}

    return faults


def y_up(samples):
    x, y, z, w = samples.orientation.T
    h = math.sqrt(0.5)  # turned by -90 degrees about x
    orientation = np.column_stack([h * (x - w), h * (y + z), h * (z - y), h * (w + x)])
    x, y, z = samples.position.T
    return replace(samples, position=np.column_stack([x, z, -y]), orientation=orientation)


def mirrored(samples):
    return replace(
        samples,
        position=samples.position * [1, -1, 1],
        orientation=samples.orientation * [-1, 1, -1, 1],
    )


def w_first(samples):
    return replace(samples, orientation=samples.orientation[:, [3, 0, 1, 2]])


def frozen_yaw(samples):
    return replace(samples, orientation=np.array([[0.0, 0.0, 0.0, 1.0]] * len(samples)))


def clock_behind(samples):
    return replace(samples, stamps=samples.stamps - 300_000_000)


def too_large(samples):
    return replace(samples, position=1.1 * samples.position)


class Late:
    """What is told is 100 ms old, under a fresh stamp."""

    def __init__(self):
        self.told = []

    def __call__(self, samples):
        self.told.append(samples)
        return replace(self.told[-11:][0], stamps=samples.stamps)


@pytest.mark.parametrize(
    ('disturb', 'name', 'words'),
    [
        (y_up, 'test', 'tilt'),
        (mirrored, 'measured of what is commanded', 'mirrored'),
        (w_first, 'test', 'quaternion'),
        (frozen_yaw, 'test', 'frozen: orientation'),
        (clock_behind, 'mocap/pose clock', '0.300 s behind'),
        (Late(), 'latency', 'begins late'),
        (too_large, 'scale', 'unit, calibration'),
    ],
)
def test_what_is_wrong_is_named(station, disturb, name, words):
    assert words in station(disturb, taped=WAY)[name]


@pytest.mark.parametrize('seed', range(4))
@pytest.mark.parametrize('dead', [0.0, 0.1])
def test_a_dead_time_is_told_through_the_sway_of_a_gait(dead, seed):
    """Sway of 0.4 times the speed, of any phase."""
    rng = np.random.default_rng(seed)
    times = np.arange(-2.0, 5.0, 0.02) + rng.uniform(0.0, 0.02)
    response = 1.0 - np.exp(-np.maximum(times - dead, 0.0) / 0.25)
    response += 0.4 * np.sin(2.0 * math.pi * (times / 0.8 + rng.random()))
    response += rng.normal(0.0, 0.05, len(times))
    found = DEAD_TIMES[int(np.argmin(_misfit(times, response)))]
    assert found == pytest.approx(dead, abs=0.025)


WAY = 1.0  # [m] of the surrogate in the first move, by its own state, without noise


def test_what_is_in_order_is_green(station):
    assert not any(station(taped=WAY).values())


@pytest.mark.parametrize(
    ('cause', 'again', 'red'),
    [('bench', True, False), ('instrument', True, True), ('bench', False, True)],
)
def test_a_move_that_was_broken_off_is_not_judged(tmp_path, cause, again, red):
    """A stall of this computer is no fault of the station if the move was made again."""
    file = write_self_test(ROOT / 'config' / 'g1_locomotion.yaml', tmp_path)
    specification = load(file)
    record = simulated(specification, make_subject('surrogate', ''))
    move = record.moves[0]
    second = 1_000_000_000
    off = replace(
        move, attempt=7, start_ns=move.start_ns - 4 * second, end_ns=move.start_ns - second
    )
    first = replace(
        record.attempts[0], attempt=7, valid=False, broken_off=True, cause=cause, reason='a stall'
    )
    attempts = [first, *record.attempts[not again :]]
    record = replace(record, spans=[off, *record.spans], attempts=attempts)
    found = judge(specification, record, taped=WAY)
    told = next(each for each in found if each.name == 'test')
    assert 'test 0: a stall' in told.value + told.fault
    assert [each.name for each in found if each.fault] == ['test'] * red


def test_moves_that_are_not_there_are_one_line(tmp_path, capsys):
    file, folder = str(ROOT / 'config' / 'g1_locomotion.yaml'), tmp_path / 'station'
    words = ['--moves', str(tmp_path / 'none.csv'), '--simulate', '--output', str(folder)]
    assert main(['selftest', file, *words]) == 2
    assert 'none.csv, which is no file, expected a CSV of cases' in capsys.readouterr().err
    assert not folder.exists()


def test_a_single_move_is_one_line(tmp_path, capsys):
    file, moves = str(ROOT / 'config' / 'g1_locomotion.yaml'), tmp_path / 'moves.csv'
    moves.write_text('linear_x, linear_y, angular_z, weight\n0.2, 0.0, 0.0, 1.0\n\n')
    words = ['--moves', str(moves), '--simulate', '--output', str(tmp_path / 'station')]
    assert main(['selftest', file, *words]) == 2
    assert f'1 cases in {moves}, expected at least 2' in capsys.readouterr().err


@pytest.mark.parametrize('name', ['g1_locomotion.yaml', 'ur10e_positioning.yaml'])
def test_the_verb_leaves_a_file_that_a_campaign_demands(name, tmp_path, capsys, write):
    file = tmp_path / name
    content = yaml.safe_load((ROOT / 'config' / name).read_text())
    content['tester']['selftest_age'] = 3600.0
    file.write_text(yaml.safe_dump(content))
    folder = tmp_path / 'station'
    assert main(['selftest', str(file), '--simulate', '--output', str(folder)]) == 0
    assert 'green' in capsys.readouterr().out
    specification, found = load(file), folder / SELF_TEST
    require_selftest(specification, found)
    told = yaml.safe_load(found.read_text())
    assert told['specification_digest'] == specification.digest
    assert set(told['files']) == {'self_test.yaml', 'self_test_cases.csv'}
    for changes, words in (
        ({'verdict': 'red'}, 'green'),
        ({'unix': told['unix'] - 3700}, 'not older than 3600 s'),
        ({'specification_digest': 'f' * 64}, specification.digest[:12]),
    ):
        found.write_text(yaml.safe_dump({**told, **changes}))
        with pytest.raises(ParameterError, match=words):
            require_selftest(specification, found)
    with pytest.raises(ParameterError, match='not older than 3600 s'):
        require_selftest(specification, None)
