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

"""Simulated robots: what a test gives depends on seed, index and command alone."""

from pathlib import Path

import numpy as np
import pytest
import yaml
from conftest import ROOT

from repsq_ros.errors import MissingError, ParameterError
from repsq_ros.measurement.catalogue import CATALOGUE
from repsq_ros.measurement.inputs import Input
from repsq_ros.simulation.arm import START
from repsq_ros.simulation.build import changes_of, make_subject
from repsq_ros.simulation.in_process import run_in_process
from repsq_ros.simulation.simulated_sensors import SENSORS, SensorReading, sample_of, sensor_of
from repsq_ros.simulation.simulation import Simulation
from repsq_ros.simulation.subject import BodyState
from repsq_ros.simulation.surrogate import Surrogate
from repsq_ros.specification.load import load

SECOND = 1_000_000_000
REST = (0.0, 0.0, 0.0)
COMMAND = (0.2, -0.1, 0.3)


def readings(simulation, index, start_ns, chunk_ns=SECOND):
    """Dwell for 1 s and obey a command for 2 s; stamps from the start of the test."""
    simulation.begin(index, start_ns)
    seen = []
    for until_ns, command in ((SECOND, REST), (3 * SECOND, COMMAND)):
        while simulation.now_ns - start_ns < until_ns:
            target = min(simulation.now_ns + chunk_ns, start_ns + until_ns)
            seen += simulation.advance(target, command)
    return [(r.sensor, r.stamp_ns - start_ns, r.state) for r in seen]


def simulation(seed=1, **rates):
    return Simulation(Surrogate(), seed, 0, rates)


def test_a_repeat_has_noise_of_its_own_and_the_same_each_time_it_is_made():
    first, again = simulation(), simulation()
    first.begin(5, 0)
    again.begin(5, 0, repeat=1)
    seen, seen_again = (list(each.advance(SECOND, COMMAND)) for each in (first, again))
    assert [each.state for each in seen] != [each.state for each in seen_again]
    once_more = simulation()
    once_more.begin(5, 0, repeat=1)
    assert list(once_more.advance(SECOND, COMMAND)) == seen_again


def test_a_test_is_the_same_whenever_and_however_it_runs():
    fresh = readings(simulation(), 5, 0)
    worn = simulation()
    readings(worn, 4, 0)
    assert readings(worn, 5, 1_795_819_319 * SECOND + 987_654_321) == fresh
    assert readings(worn, 5, 9 * SECOND, chunk_ns=20_000_000) == fresh


def test_seed_and_index_change_the_noise():
    fresh = readings(simulation(), 5, 0)
    assert readings(simulation(seed=2), 5, 0) != fresh
    assert readings(simulation(), 6, 0) != fresh


def test_sensors_report_at_their_rates_and_do_not_disturb_each_other():
    seen = readings(simulation(odometry=50, mocap=250), 0, 0)
    odometry = [r for r in seen if r[0] == 'odometry']
    assert [stamp for _, stamp, _ in odometry] == [k * 20_000_000 for k in range(1, 151)]
    assert sum(r[0] == 'mocap' for r in seen) == 750
    alone = readings(simulation(odometry=50, mocap=1), 0, 0)
    assert [r for r in alone if r[0] == 'odometry'] == odometry


@pytest.mark.parametrize('rate', [0.0, -50.0, 360.0, 1000.0, float('nan')])
def test_a_rate_that_does_not_divide_the_ticks_is_refused(rate):
    with pytest.raises(ParameterError, match=r'mocap_rate: found .* Hz, expected a rate of which'):
        simulation(mocap=rate)


def test_odometry_and_mocap_tell_of_one_motion():
    """The pose moves as the twist says, up to noise."""
    seen = readings(simulation(), 0, 0)
    poses = [state for sensor, _, state in seen if sensor == 'odometry']
    step = np.diff([state.position[0] for state in poses[100:]]) / 0.02
    heading = 2 * np.arctan2(*np.array([s.orientation[2:] for s in poses[100:]]).T)
    along = [s.linear_velocity[0] * np.cos(h) - s.linear_velocity[1] * np.sin(h)
             for s, h in zip(poses[100:], heading, strict=True)]  # fmt: skip
    assert step == pytest.approx(np.array(along[1:]), abs=0.06)


class Blank:
    """A message none of whose fields is filled in yet."""

    def __getattr__(self, name):
        setattr(self, name, Blank())
        return getattr(self, name)


@pytest.mark.parametrize('name', SENSORS)
def test_a_message_of_a_simulated_sensor_is_read_as_what_the_run_in_one_process_hears(name):
    body = BodyState((1.0, -2.0, 3.0), (0.1, 0.2, 0.3, 0.4), (0.5, -0.6, 0.7), (0.8, 0.9, -1.0))
    state = 0.005 if name in ('gauge', 'speed_scaling') else body
    sensor, message = SENSORS[name], Blank()
    kind = CATALOGUE[sensor.type]
    expected = sample_of(SensorReading(name, 7, state), sensor.frame)
    kind.fill(message, expected)
    assert bool(sensor.frame) == kind.stamped
    if not kind.stamped:
        message.header = None
    heard = kind.read(message, 7)
    for column in ('stamps', 'position', 'orientation', 'linear', 'angular', 'value'):
        np.testing.assert_array_equal(getattr(heard, column), getattr(expected, column), column)
    assert (expected.position if state is body else expected.value) is not None


@pytest.mark.parametrize('name', SENSORS)
def test_an_input_is_served_by_the_sensor_of_its_type_and_topic(name):
    sensor = SENSORS[name]
    assert sensor_of(Input(sensor.type, sensor.topic)) == name
    assert sensor_of(Input(sensor.type, 'elsewhere')) == ''
    assert sensor_of(Input('std_msgs/msg/Float32', sensor.topic)) == ''
    assert sensor_of(Input(sensor.type, sensor.topic, field='data')) == ''


def test_the_surrogate_gives_a_plausible_loss(content, write):
    content['tester']['max_tests'] = 20
    psi = []
    result = run_in_process(
        load(write(content)), Surrogate(), 1, on_test=lambda r, e: psi.append(r.psi)
    )
    assert 0.35 < result.estimate < 0.55
    assert 0.01 < np.std(psi) < 0.2


# The G1 ------------------------------------------------------------------------------------------


def test_the_g1_walks_as_measured_outside_the_project(content, write, g1_model):
    """0.459 on average with a standard deviation of 0.043 (300 tests); 8 tests here."""
    content['tester']['max_tests'] = 8
    psi = []
    run_in_process(
        load(write(content)), make_subject('g1', g1_model), 3,
        on_test=lambda r, e: psi.append(r.psi),
    )  # fmt: skip
    assert np.mean(psi) == pytest.approx(0.459, abs=4 * 0.043 / 8**0.5)
    assert np.std(psi) == pytest.approx(0.043, abs=0.02)


def test_the_g1_stands_in_place_and_follows_a_command(g1_model):
    g1 = make_subject('g1', g1_model)
    walk = Simulation(g1, 0, 0)
    walk.begin(0, 0)
    list(walk.advance(3 * SECOND, REST))
    assert np.hypot(*g1.state().position[:2]) < 0.3
    before = g1.state().position[0]
    list(walk.advance(8 * SECOND, (0.3, 0.0, 0.0)))
    assert g1.state().position[0] - before == pytest.approx(1.5, abs=0.4)
    assert 0.6 < g1.state().position[2] < 0.9


def test_a_second_g1_test_equals_the_first(g1_model):
    g1 = make_subject('g1', g1_model)
    walk = Simulation(g1, 0, 0)
    assert readings(walk, 0, 0) == readings(walk, 0, 7 * SECOND)


@pytest.mark.parametrize(
    ('damage', 'told'),
    [
        (lambda folder: (folder / 'walking_policy.npz').unlink(), 'without walking_policy.npz'),
        (lambda folder: (folder / 'scene.xml').write_text('<mujoco'), 'XML'),
        (lambda folder: (folder / 'g1.yaml').write_text('kps: [1]'), 'simulation_dt'),
        (lambda folder: (folder / 'walking_policy.npz').write_bytes(b'nothing'), 'pickle'),
    ],
)
def test_a_damaged_model_is_told_in_one_line(damage, told, g1_model, tmp_path):
    for file in Path(g1_model).iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    damage(tmp_path)
    with pytest.raises(ParameterError) as caught:
        make_subject('g1', str(tmp_path))
    assert '\n' not in str(caught.value)
    assert str(tmp_path) in str(caught.value)
    assert told in str(caught.value)


def test_the_g1_needs_a_folder_and_mujoco(monkeypatch, tmp_path):
    with pytest.raises(ParameterError, match='found nothing, expected the folder'):
        make_subject('g1', '')
    monkeypatch.setitem(__import__('sys').modules, 'mujoco', None)
    with pytest.raises(MissingError, match='needs mujoco, not installed here: '):
        make_subject('g1', str(tmp_path))


def test_the_demo_specification_names_no_file_of_another_machine():
    assert 'shared' not in yaml.safe_dump(
        yaml.safe_load((ROOT / 'config' / 'g1_locomotion.yaml').read_text())
    )


# One that differs --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ('word', 'name', 'changes'),
    [
        ('arm', 'arm', {}),
        ('g1:friction=0.5,latency=0.02', 'g1', {'friction': 0.5, 'latency': 0.02}),
        ('pushed_g1:payload=0', 'pushed_g1', {'payload': 0.0}),
        ('pushed:mass=50', 'pushed', {'mass': 50.0}),
    ],
)
def test_a_word_says_what_sets_a_subject_apart(word, name, changes):
    assert changes_of(word) == (name, changes)


@pytest.mark.parametrize(
    ('word', 'told'),
    [
        ('nobody', 'expected one of surrogate, g1'),
        ('g1:colour=1', 'expected one of friction, payload, gains, latency'),
        ('g1:friction', 'friction=NUMBER'),
        ('g1:friction=0', 'a positive one'),
        ('g1:friction=-1', 'a positive one'),
        ('arm:lag=nan', 'a positive one'),
        ('arm:gauge=1', 'expected one of speed, lag'),
    ],
)
def test_a_subject_that_cannot_be_is_refused(word, told):
    with pytest.raises(ParameterError, match=told):
        changes_of(word)


@pytest.mark.parametrize('word', ['surrogate:lag=0.6', 'pushed:recovery=0.9', 'arm:speed=0.1'])
def test_a_subject_that_differs_moves_otherwise(word):
    def path(word):
        subject = make_subject(word, '')
        command = {'velocity': (0.5, 0.0, 0.1), 'pose': (0.5, 0.1, 0.4, 0.0, 0.0, 0.0)}.get(
            subject.takes, (8.0, 0.3)
        )
        subject.reset(np.random.default_rng(3), 0)
        for _ in range(200):
            subject.step(command)
        return subject.state().position

    assert path(word) != path(word.partition(':')[0])


# One that wears ----------------------------------------------------------------------------------


def worn_by(tests, word='surrogate:wear=0.01'):
    return readings(Simulation(make_subject(word, ''), 1, 0), tests, 0)


def test_a_robot_wears_by_the_index_of_the_test_alone():
    simulation = Simulation(make_subject('surrogate:wear=0.01', ''), 1, 0)
    seen = [readings(simulation, index, index * SECOND) for index in (100, 3, 100)]
    assert seen[0] == seen[2] == worn_by(100)
    assert worn_by(0) == worn_by(0, 'surrogate')
    assert seen[0] != worn_by(100, 'surrogate')


COMMANDS = {
    'velocity': (0.5, 0.0, 0.1),
    'pose': (0.5, 0.1, 0.4, 0.0, 0.0, 0.0),
    'push': (14.0, 0.3),
}


@pytest.mark.parametrize('name', ['surrogate', 'arm', 'pushed', 'g1'])
def test_each_subject_wears(name, request):
    model = request.getfixturevalue('g1_model') if name == 'g1' else ''

    def states(word, index):
        subject = make_subject(word, model)
        subject.reset(np.random.default_rng(3), index)
        for _ in range(200):
            subject.step(COMMANDS[subject.takes])
        return subject.state()

    assert states(f'{name}:wear=0.02', 100) != states(name, 100) == states(name, 0)
    assert states(f'{name}:wear=0.02', 0) == states(name, 0)


def test_half_the_response_is_left_when_a_surrogate_has_worn_by_one():
    def speed(word, index):
        subject = make_subject(word, '')
        subject.reset(np.random.default_rng(3), index)
        travelled = []
        for command in ((1.0, 0.0, 0.0), (0.0, 0.0, 0.0)):
            subject.reset(np.random.default_rng(3), index)
            for _ in range(2000):
                subject.step(command)
            travelled.append(subject.state().linear_velocity[0])
        return travelled[0] - travelled[1]

    assert speed('surrogate:wear=0.01', 100) == pytest.approx(speed('surrogate', 0) / 2.0)


def test_the_campaign_of_a_robot_that_wears_tells_of_drift(write):
    content = yaml.safe_load((ROOT / 'config' / 'g1_locomotion.yaml').read_text())
    content['tester'] |= {'stopping': {'rule': 'fixed', 'tests': 200}}
    specification = load(write(content))

    def told(word):
        result = run_in_process(specification, make_subject(word, ''), seed=1)
        return [event.split(': ')[1] for event in result.events]

    assert told('surrogate:wear=0.005') == ['drift']
    assert told('surrogate') == []


def test_a_worn_arm_has_not_worn_before_its_first_test():
    idle = Simulation(make_subject('arm:wear=1000', ''), 1, 0)
    places = [r.state[0][0] for r in idle.advance(SECOND, ()) if r.sensor == 'mocap']
    assert places == pytest.approx([START[0]] * len(places), abs=0.001)
