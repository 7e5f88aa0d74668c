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

"""config/standards: each runs from check to verify on a simulated robot; pushed robots."""

import math

import numpy as np
import pytest
import yaml
from conftest import ROOT

from repsq_ros.cli import main
from repsq_ros.measurement.cut import Cut, SampleRun
from repsq_ros.measurement.pose_change import PoseChange
from repsq_ros.measurement.samples import body_sample, joined
from repsq_ros.measurement.window import UnmeasurableError, Window
from repsq_ros.simulation.build import make_subject
from repsq_ros.specification.input_section import input_of_source
from repsq_ros.specification.load import load

STANDARDS = sorted((ROOT / 'config' / 'standards').glob('*.yaml'))
TESTER = {
    'tester': {
        'proposal': 'monte_carlo', 'seed': 3, 'stopping': {'rule': 'fixed', 'tests': 4},
        'max_tests': 4,
    }
}  # fmt: skip


@pytest.mark.parametrize('file', STANDARDS, ids=lambda file: file.stem)
def test_a_standard_runs_from_check_to_verify(file, tmp_path, capsys):
    tester, output = tmp_path / 'tester.yaml', tmp_path / 'campaign'
    tester.write_text(yaml.safe_dump(TESTER))
    assert main(['check', str(file)]) == 0
    words = ['run', str(file), '--tester', str(tester), '--simulate', '--in-process']
    assert main([*words, '--output', str(output)]) == 0
    result = yaml.safe_load((output / 'result.yaml').read_text())
    measure = load(file).measure
    assert result['n'] == 4 and result['invalid'] == 0
    assert measure.lower < result['estimate'] < measure.upper
    assert main(['verify', str(output)]) == 0, capsys.readouterr().out
    assert main(['report', str(output)]) == 0


def test_docs_name_every_standard():
    page = (ROOT / 'docs' / 'standards.md').read_text()
    for file in STANDARDS:
        assert f'config/standards/{file.name}' in page, file.name


# Robots that are pushed --------------------------------------------------------------------------


def pushed(subject, command, seconds):
    """Push a robot after a moment of standing; returns where it is after that and at the end."""
    subject.reset(np.random.default_rng(5), 0)
    ticks = round(1e9 / subject.tick_ns)
    for _ in range(ticks):
        subject.step((0.0, 0.0))
    before = subject.state()
    for _ in range(round(seconds * ticks)):
        subject.step(command)
    return before, subject.state()


@pytest.mark.parametrize('azimuth', [0.0, math.pi / 2, math.pi])
def test_a_push_moves_a_robot_its_way_and_a_strong_one_throws_it(azimuth):
    before, after = pushed(make_subject('pushed', ''), (10.0, azimuth), 3.0)
    way = np.subtract(after.position, before.position)
    assert way @ (math.cos(azimuth), math.sin(azimuth), 0.0) == pytest.approx(0.143, abs=0.003)
    assert after.position[2] == before.position[2]
    _, thrown = pushed(make_subject('pushed', ''), (60.0, azimuth), 3.0)
    assert thrown.position[2] == pytest.approx(0.1)


def test_the_g1_in_mujoco_goes_where_it_is_pushed_and_falls_when_pushed_hard(g1_model):
    robot = make_subject('pushed_g1', g1_model)
    ends = {azimuth: pushed(robot, (15.0, azimuth), 3.0)[1] for azimuth in (0.0, math.pi)}
    ahead, back = (ends[azimuth].position for azimuth in (0.0, math.pi))
    assert ahead[0] > back[0] + 0.2
    assert min(ahead[2], back[2]) > 0.6
    assert pushed(robot, (150.0, 0.0), 3.0)[1].position[2] < 0.4


# The measure -------------------------------------------------------------------------------------


def psi(quantity, where, yaw=lambda t: 0.0):
    """Return psi of a body at where(t), turned by yaw(t), pushed at 2 s, seen from 4 to 5 s."""
    samples = []
    for k in range(500):
        t = k / 100
        half = yaw(t) / 2
        turn = (0.0, 0.0, math.sin(half), math.cos(half))
        samples.append(body_sample(round(t * 1e9), (*where(t), 0.7 + 1e-5 * (k % 7)), turn))
    window = Window(4 * 10**9, 5 * 10**9, (10.0, 0.0), 2 * 10**9)
    source = input_of_source('mocap')
    run, rows = SampleRun(joined(samples), source), slice(0, len(samples))
    cut = Cut(run, rows, window, window.start_ns, window.end_ns, quantity.needs)
    return quantity.psi(cut)


def step(size):
    return lambda t: size if t > 2.0 else 0.0


def test_a_change_of_pose_is_told_between_the_stable_poses():
    def sway(t):
        return 0.02 * math.sin(2 * math.pi * t / 0.8)

    moved = PoseChange(upper=1000.0, what='position')
    assert psi(moved, lambda t: (step(0.3)(t), step(0.4)(t) + sway(t))) == pytest.approx(
        500, abs=3
    )
    # From +170 to -170 degrees it turns by 20.
    turned = PoseChange(upper=3.0, what='heading')
    assert psi(turned, lambda t: (0.0, 0.0), lambda t: math.radians(170 + step(20)(t))) == (
        pytest.approx(math.radians(20), abs=1e-6)
    )
    assert (moved.unit, turned.unit) == ('mm', 'rad')


def test_who_does_not_come_to_rest_has_failed_and_a_restless_start_is_invalid():
    moved = PoseChange(upper=1000.0, what='position', creep=50.0)
    assert psi(moved, lambda t: (0.1 * max(t - 2.0, 0.0), 0.0)) == 1000.0
    assert psi(moved, lambda t: (5.0 if t > 2.0 else 0.0, 0.0)) == 1000.0  # no more than the worst
    with pytest.raises(UnmeasurableError, match='creeps by more than 50 mm before the command'):
        psi(moved, lambda t: (0.2 * min(t, 2.0), 0.0))


def test_the_commanded_pose_is_for_protocols_of_poses(write, capsys):
    content = yaml.safe_load((ROOT / 'config/standards/astm_wk86916_position.yaml').read_text())
    content['measure'] = {
        'type': 'final_pose_error', 'target': 'commanded', 'upper': 5.0, 'source': 'mocap',
    }  # fmt: skip
    assert main(['check', str(write(content))]) == 2
    assert "measure.target: found text 'commanded', expected a pose" in capsys.readouterr().err
