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

"""Launch files, with the real launch where it is installed."""

import importlib.util
import re
import shutil
import signal
import subprocess
import time
from itertools import pairwise
from pathlib import Path

import pytest
import yaml
from conftest import ROOT
from support.graph import domain_of_its_own

from repsq_ros.cli import main

pytest.importorskip('launch_ros')

FILES = sorted((ROOT / 'launch').glob('*.launch.py'))


NODES = {
    'g1_locomotion': ['measurement', 'estimator', 'guard', 'scheduler'],
    'monitor': ['monitor', 'rviz2'],
    'replay': ['measurement', 'estimator'],
    'selftest': [],
    'simulation': ['simulated_robot', 'measurement', 'estimator', 'guard', 'scheduler'],
    'ur10e_positioning': ['measurement', 'estimator', 'guard', 'scheduler'],
}


def entities(path, kind):
    """Return the actions of one kind that a launch file consists of."""
    spec = importlib.util.spec_from_file_location(path.stem.replace('.', '_'), path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = module.generate_launch_description().entities
    return [entity for entity in found if isinstance(entity, kind)]


@pytest.mark.parametrize('path', FILES, ids=lambda p: p.name)
def test_every_argument_is_described(path):
    from launch.actions import DeclareLaunchArgument

    arguments = entities(path, DeclareLaunchArgument)
    assert arguments
    for argument in arguments:
        assert argument.description != 'no description given', argument.name


@pytest.mark.parametrize('path', FILES, ids=lambda p: p.name)
def test_the_nodes_of_the_list_are_started(path):
    from launch_ros.actions import Node

    started = [node.node_executable for node in entities(path, Node)]
    assert started == NODES[path.name.removesuffix('.launch.py')]


def commands(path, **arguments):
    """Return the command line of each node with these arguments, its parameters read."""
    from launch_ros.actions import Node

    from launch import LaunchContext

    context = LaunchContext()
    context.extend_globals({'ros_specific_arguments': {}})
    context.launch_configurations.update(arguments)
    found = {}
    for node in entities(path, Node):
        node._perform_substitutions(context)
        node.prepare(context)
        command = node.process_details['cmd']
        read = {}
        for option, value in pairwise(command):
            if option == '--params-file':
                read.update(yaml.safe_load(Path(value).read_text())['/**']['ros__parameters'])
        found[node.node_executable] = (read, command)
    return found


def test_an_argument_becomes_a_parameter_of_its_type():
    """Digits for a name stay text, a whole number for a speed becomes a double."""
    path = ROOT / 'launch' / 'simulation.launch.py'
    found = commands(
        path, specification='s.yaml', subject='arm', model='', speed='5', seed='7',
        campaign_id='20261127', output='/tmp/o', resume='true',
    )  # fmt: skip
    scheduler, _ = found['scheduler']
    assert (scheduler['campaign_id'], scheduler['seed']) == ('20261127', 7)
    assert scheduler['resume'] is True
    assert scheduler['attended'] is False
    robot, _ = found['simulated_robot']
    assert (robot['speed'], type(robot['speed'])) == (5.0, float)
    assert found['guard'][0]['command_type'] == 'urscript'


def test_the_self_test_is_given_every_argument():
    from launch.actions import DeclareLaunchArgument, ExecuteProcess

    from launch import LaunchContext

    path, context = ROOT / 'launch' / 'selftest.launch.py', LaunchContext()
    names = [each.name for each in entities(path, DeclareLaunchArgument)]
    context.launch_configurations.update({name: f'/{name}' for name in names})
    (process,) = entities(path, ExecuteProcess)
    process.prepare(context)
    command = process.process_details['cmd']
    assert command[1:5] == ['-m', 'repsq_ros.cli', 'selftest', '/specification']
    assert all(any(each.endswith(f'/{name}') for each in command) for name in names)
    assert 'odom:=/odometry_topic' in command


def test_a_topic_of_the_robot_is_remapped_for_the_nodes_of_a_replay():
    path = ROOT / 'launch' / 'replay.launch.py'
    found = commands(
        path, specification='s.yaml', output='', odometry_topic='/state', mocap_topic='/body/pose'
    )
    _, command = found['measurement']
    assert {'odom:=/state', 'mocap/pose:=/body/pose'} <= set(command)


@pytest.fixture(autouse=True)
def own_domain(monkeypatch):
    with domain_of_its_own() as domain:
        monkeypatch.setenv('ROS_DOMAIN_ID', str(domain))
        yield


needs_ros2_launch = pytest.mark.skipif(
    shutil.which('ros2') is None, reason='the ros2 command is not installed'
)


@needs_ros2_launch
def test_ros2_launch_runs_a_registered_campaign_to_its_end(short, write, tmp_path, capsys):
    pytest.importorskip('cryptography')
    pytest.importorskip('jsonschema')
    short['tester'].pop('seed', None)
    output, key, file = tmp_path / 'campaign', str(tmp_path / 'lab.key'), str(write(short))
    register = ['register', file, '--lab', 'A lab', '--key', key, '--seed', '7']
    for words in (['certify', '--keygen', key], [*register, '--ledger', str(tmp_path / 'ledger')]):
        assert main(words) == 0
    done = subprocess.run(
        ['ros2', 'launch', 'repsq_ros', 'simulation.launch.py', f'specification:={file}',
         f'output:={output}', f'registration:={tmp_path / "ledger" / "registration-1.json"}',
         'campaign_id:=20261127', 'monitor:=true'],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    result = yaml.safe_load((output / 'result.yaml').read_text())
    assert result['campaign_id'] == '20261127'
    assert result['outcome'] == 'reached'
    capsys.readouterr()
    assert main(['verify', str(output)]) == 0
    line = r'^ok registration +number 1 of A lab, .*, seed 7 chosen by the lab; of 1 reg'
    assert re.search(line, capsys.readouterr().out, re.MULTILINE)
    assert '"event":"result"' in (tmp_path / 'ledger' / 'ledger.jsonl').read_text()


@needs_ros2_launch
@pytest.mark.skipif(
    importlib.util.find_spec('ros2bag') is None, reason='ros2 bag (rosbag2) is not installed'
)
def test_ros2_launch_replays_a_recorded_campaign(recorded, tmp_path):
    """The real ros2 bag play into the real nodes gives the recorded result again."""
    bag, specification, result = recorded.bag, recorded.specification, recorded.result
    output = tmp_path / 'again'
    done = subprocess.run(
        ['ros2', 'launch', 'repsq_ros', 'replay.launch.py', f'bag:={bag}',
         f'specification:={specification}', f'output:={output}', 'rviz:=false',
         'end_with_bag:=true'],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert (output / 'result.yaml').exists(), done.stdout + done.stderr
    again = yaml.safe_load((output / 'result.yaml').read_text())
    for name in ('estimate', 'value', 'n', 'half_width', 'p_same', 'specification_digest'):
        assert again[name] == getattr(result, name)


@needs_ros2_launch
def test_a_bag_without_the_needed_topics_is_refused_before_anything_starts(recorded):
    done = subprocess.run(
        ['ros2', 'launch', 'repsq_ros', 'replay.launch.py', f'bag:={recorded.bag}',
         f'specification:={recorded.specification}', 'odometry_topic:=/nowhere', 'rviz:=false'],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode != 0
    told = [line for line in (done.stdout + done.stderr).splitlines() if 'found no topic' in line]
    assert len(told) == 1
    assert f'{recorded.bag}: found no topic /nowhere, expected one of those there' in told[0]
    assert 'process started' not in done.stdout + done.stderr


@needs_ros2_launch
def test_ctrl_c_of_ros2_launch_leaves_no_node_behind(short, write, tmp_path):
    short['protocol'].update(command=30.0)
    process = subprocess.Popen(
        ['ros2', 'launch', 'repsq_ros', 'simulation.launch.py', f'specification:={write(short)}',
         f'output:={tmp_path / "campaign"}', 'speed:=1'],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    began = ''
    while 'everything is there' not in began:
        line = process.stdout.readline()
        assert line, f'it ended before the campaign began: {began}'
        began += line
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=20)
    out = began + rest
    # Every node is interrupted at once: the scheduler may first hear that another one is gone.
    assert 'aborted: SIGINT' in out or 'no sign of life' in out
    for node in ('scheduler', 'guard', 'measurement', 'estimator', 'simulated_robot'):
        assert f'[INFO] [{node}-' in out
        assert 'process has finished cleanly' in out
