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

"""Bad parameters of a node: one line, exit code 2, and nothing published."""

import tempfile
from typing import NamedTuple

import pytest
from support.forked import ForkedProcess

NODES = ['scheduler', 'measurement', 'estimator', 'monitor']


class Ended(NamedTuple):
    """How a node ended, and what it said."""

    returncode: int
    stderr: str


def start(node, *parameters, extra=()):
    arguments = [part for p in parameters for part in ('-p', p)]
    with tempfile.NamedTemporaryFile('r') as log:
        process = ForkedProcess(
            f'repsq_ros.nodes.{node}', ['--ros-args', *arguments, *extra], log.name
        )
        return Ended(process.wait(30), log.read())


def complaint(done, code=2):
    assert done.returncode == code, done.stderr
    lines = [line for line in done.stderr.splitlines() if not line.startswith('[')]
    assert len(lines) == 1, done.stderr
    return lines[0]


@pytest.mark.parametrize('node', NODES[:-1])  # the monitor goes without
def test_a_missing_specification_is_told(node):
    assert complaint(start(node)).endswith(
        'parameter specification: found nothing, expected the path of a test specification'
    )


@pytest.mark.parametrize('node', NODES)
def test_a_broken_specification_is_told(node, content, write):
    content['accuracy']['gamma'] = 0
    file = write(content)
    assert complaint(start(node, f'specification:={file}')).endswith(
        f'{file}: accuracy.gamma: found 0, expected a finite number > 0'
    )


@pytest.mark.parametrize(
    ('node', 'parameter', 'told'),
    [
        ('scheduler', 'command_rate:=5', 'command_rate: found 5, expected a finite number >= 10'),
        ('scheduler', 'command_rate:=fast', "command_rate: found text 'fast'"),
        ('scheduler', 'command_rate:=.nan', 'command_rate: found nan'),
        ('scheduler', 'command_type:=wheel', 'expected one of twist, twist_stamped'),
        (
            'scheduler',
            'limit_linear:=0.1',
            'limit_linear: found 0.1 m/s, and a spec',
        ),
        ('scheduler', 'limit_angular:=-1', 'limit_angular: found -1'),
        ('scheduler', 'command_type:=urscript', 'expected one of twist, twist_stamped, unitree_'),
        ('scheduler', 'seed:=-2', 'seed: found -2, expected a whole number >= -1'),
        ('scheduler', 'seed:=1.5', 'seed: found 1.5, expected a whole number'),
        ('scheduler', 'start_lead:=-1', 'start_lead: found -1'),
        ('scheduler', 'measurement_timeout:=0', 'expected a finite number > 0'),
        ('scheduler', 'campaign_id:=true', 'campaign_id: found true, expected text'),
        ('measurement', 'arrival_grace:=-0.1', 'arrival_grace: found -0.1'),
        ('estimator', 'output:=1.5', 'output: found 1.5, expected text'),
        ('monitor', 'frame:=true', 'frame: found true, expected text'),
    ],
)
def test_a_bad_parameter_is_told(node, parameter, told, content, write):
    assert told in complaint(start(node, f'specification:={write(content)}', parameter))


@pytest.mark.parametrize(
    ('parameters', 'told'),
    [
        (['subject:=cat'], 'subject: found text'),
        (['subject:=g1'], 'model: found nothing, expected the folder'),
        (['subject:=g1', 'model:=/nowhere'], 'model: found /nowhere without scene.xml'),
        (['speed:=-1'], 'speed: found -1, expected a finite number >= 0'),
        (['mocap_rate:=360'], 'mocap_rate: found 360 Hz, expected a rate of which 500 Hz is a'),
        (['odometry_rate:=0'], 'odometry_rate: found 0, expected a finite number > 0'),
        (['seed:=-1'], 'seed: found -1, expected a whole number >= 0'),
    ],
)
def test_a_bad_parameter_of_the_simulated_robot_is_told(parameters, told):
    assert told in complaint(start('simulated_robot', *parameters))


def test_an_output_that_holds_a_campaign_is_refused(content, write, tmp_path):
    (tmp_path / 'tests.csv').touch()
    done = start('estimator', f'specification:={write(content)}', f'output:={tmp_path}')
    assert 'found the tests.csv of an earlier campaign' in complaint(done, code=6)


def test_an_unknown_parameter_is_warned_of_and_those_in_force_are_logged(content, write):
    done = start(
        'scheduler', f'specification:={write(content)}', 'peer_timout:=1.0', 'peer_timeout:=1'
    )
    assert "unknown parameter 'peer_timout' is ignored; did you mean 'peer_timeout'?" in (
        done.stderr
    )
    assert 'peer_timeout=1, ' in done.stderr
    assert done.returncode == 3  # nobody else is there


def test_arguments_that_ros_refuses_are_told(tmp_path):
    broken = tmp_path / 'parameters.yaml'
    broken.write_text('/**:\n  ros__parameters:\n    window: [0, 0.5]\n')
    done = start('scheduler', extra=('--params-file', str(broken)))
    assert 'expected ROS arguments' in complaint(done)
