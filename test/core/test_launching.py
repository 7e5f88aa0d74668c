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

"""The one list of nodes, which launch files and `repsq run` share: plain data, no ROS."""

import argparse
import ast
import configparser
import importlib
import re
from pathlib import Path

import pytest
from conftest import ROOT
from support import house

from repsq_ros.console import selftest
from repsq_ros.errors import CampaignError, OutputError, ParameterError, SpecificationError
from repsq_ros.launching import arguments
from repsq_ros.launching.campaign_nodes import (
    ORDER,
    TAKES,
    campaign_nodes,
    monitor_node,
    replay_node,
)
from repsq_ros.launching.first_look import check_ending, closing_text, look_first

ACTIONS = ROOT / 'repsq_ros' / 'launching' / 'actions.py'
LAUNCH_FILES = sorted((ROOT / 'launch').glob('*.launch.py'))
SETTINGS = {
    name: f'the {name}'
    for name in ('specification', 'campaign_id', 'seed', 'output', 'resume', 'session_note',
                 'autostart', 'command_type', 'subject', 'model', 'speed', 'launch_id', 'recorder')
}  # fmt: skip


def parameters(nodes):
    return {node.name: node.parameters for node in nodes}


def documented():
    """Return the parameters of each node, by the table of docs/nodes.md."""
    found = {}
    names = []
    for line in (ROOT / 'docs' / 'nodes.md').read_text().splitlines():
        row = re.match(r'\|([\w ]*)\| (`[\w`, ]+`) \|', line)
        if row:
            node = row[1].strip()
            if node:
                names = [node] if node in (*ORDER, 'monitor') else (*ORDER[1:], 'monitor')
            for name in names:
                found.setdefault(name, set()).update(re.findall(r'`(\w+)`', row[2]))
    return found


def test_on_a_robot_the_scheduler_is_started_last():
    assert [node.name for node in campaign_nodes(SETTINGS)] == [
        'measurement',
        'estimator',
        'guard',
        'scheduler',
    ]


def test_a_simulated_robot_is_started_first():
    assert [node.name for node in campaign_nodes(SETTINGS, simulated=True)] == [
        'simulated_robot', 'measurement', 'estimator', 'guard', 'scheduler',
    ]  # fmt: skip


def test_each_node_is_given_what_it_takes_and_nothing_else():
    given = parameters(campaign_nodes(SETTINGS))
    assert given['measurement'] == {
        'specification': 'the specification', 'launch_id': 'the launch_id',
    }  # fmt: skip
    assert given['guard'] == {
        'specification': 'the specification', 'command_type': 'the command_type',
        'launch_id': 'the launch_id',
    }  # fmt: skip
    assert set(given['estimator']) == {'specification', 'campaign_id', 'output', 'launch_id'}
    assert set(given['scheduler']) == {
        'specification', 'campaign_id', 'seed', 'output', 'resume', 'session_note', 'autostart',
        'launch_id', 'recorder',
    }  # fmt: skip
    assert all(node[key] == f'the {key}' for node in given.values() for key in node)


def test_what_is_not_set_is_left_to_the_node():
    assert parameters(campaign_nodes({'specification': 's'}))['scheduler'] == {
        'specification': 's'
    }


def test_in_simulation_nothing_is_lost_and_time_is_simulated():
    given = parameters(campaign_nodes(SETTINGS, simulated=True))
    assert given['simulated_robot'] == {
        name: f'the {name}' for name in ('subject', 'model', 'seed', 'speed')
    }
    for name in ('measurement', 'estimator', 'guard', 'scheduler'):
        assert given[name]['use_sim_time'] is True
    for name in ('measurement', 'scheduler'):
        for topic in ('odom', 'mocap/pose', 'tool_pose', 'gauge', 'condition/speed_scaling'):
            assert given[name][f'qos_overrides./{topic}.subscription.reliability'] == 'reliable'
    assert given['measurement']['arrival_grace'] == 600.0
    assert given['scheduler']['attended'] is False
    assert given['scheduler']['lockstep'] is True
    assert given['scheduler']['speed'] == 'the speed'
    on_a_robot = parameters(campaign_nodes(SETTINGS))['scheduler']
    assert not {'attended', 'lockstep', 'speed'} & on_a_robot.keys()


def test_a_replay_takes_what_a_bag_says_of_its_topics_and_its_time():
    given = parameters(replay_node(name, SETTINGS) for name in ('measurement', 'estimator'))
    assert given == {
        'measurement': {
            'specification': 'the specification',
            'use_sim_time': True,
            'qos_overrides./repsq/test_command.subscription.durability': 'volatile',
            'qos_overrides./repsq/test_phase.subscription.durability': 'volatile',
        },
        'estimator': {
            'specification': 'the specification',
            'campaign_id': 'the campaign_id',
            'output': 'the output',
            'use_sim_time': True,
        },
    }


def test_the_monitor_asks_for_a_durability_only_where_told():
    assert monitor_node(SETTINGS).parameters == {
        'specification': 'the specification',
        'use_sim_time': False,
    }
    asked = monitor_node(SETTINGS, simulated=True, asked='volatile').parameters
    assert asked['use_sim_time'] is True
    assert list(asked.values()).count('volatile') == 2


def test_every_node_of_the_list_can_be_started():
    setup = configparser.ConfigParser()
    setup.read(ROOT / 'setup.cfg')
    entries = re.findall(r'^(\w+) = ', setup['options.entry_points']['repsq_ros.nodes'], re.M)
    assert set(TAKES) == set(entries)
    assert {*ORDER, 'monitor'} == set(entries)


@pytest.mark.parametrize('name', TAKES)
def test_every_parameter_of_the_list_is_one_that_its_node_has(name):
    everywhere = [
        *campaign_nodes(SETTINGS, simulated=True),
        *campaign_nodes(SETTINGS),
        *(replay_node(each, SETTINGS) for each in ('measurement', 'estimator')),
        monitor_node(SETTINGS),
    ]
    given = {key for node in everywhere if node.name == name for key in node.parameters}
    assert given
    of_ros = {key for key in given if key == 'use_sim_time' or key.startswith('qos_overrides.')}
    assert given - of_ros <= documented()[name]


def test_a_switch_is_true_or_false():
    assert arguments.RESUME.kind is bool
    assert arguments.RESUME.choices == ('true', 'false')
    assert arguments.RESUME.default == 'false'


@pytest.mark.parametrize('path', LAUNCH_FILES, ids=lambda path: path.name)
def test_a_launch_file_imports_only_what_is_there(path):
    """Launch itself may be missing here, so the file is read and not run."""
    package = ROOT / 'repsq_ros'
    for module, names in house.imported(path):
        if module.startswith('repsq_ros.'):
            place = package.joinpath(*module.split('.')[1:])
            for name in names:
                in_folder = place.is_dir() and (place / f'{name}.py').is_file()
                assert in_folder or name in vars(importlib.import_module(module)), name
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.value.id == 'arguments':
                assert hasattr(arguments, node.attr), node.attr
            elif node.value.id == 'actions':
                assert f'def {node.attr}(' in ACTIONS.read_text(), node.attr


def test_the_self_test_of_a_launch_is_a_command_line_of_the_verb():
    text = (ROOT / 'launch' / 'selftest.launch.py').read_text()
    words = [each.value for each in ast.walk(ast.parse(text)) if isinstance(each, ast.Constant)]
    at = words.index('selftest')
    assert words[at - 2 : at + 3] == [
        '-m',
        'repsq_ros.cli',
        'selftest',
        '--parameters',
        '--output',
    ]
    given = [each for each in words[at:] if str(each).startswith('--')]
    parser = argparse.ArgumentParser()
    selftest.add_arguments(parser)
    read = parser.parse_args(['s.yaml', *(part for each in given for part in (each, 'a:=b'))])
    assert (read.specification, read.remap) == (Path('s.yaml'), ['a:=b'])
    assert read.parameters == read.output == Path('a:=b')


@pytest.mark.parametrize('path', LAUNCH_FILES, ids=lambda path: path.name)
def test_a_launch_file_names_only_installed_files(path):
    named = re.findall(r"'(\w+\.yaml)'|'((?:config|launch)/[\w.]+)'", path.read_text())
    assert named
    for specification, other in named:
        assert (ROOT / (other or f'config/{specification}')).is_file()


SEED = arguments.LaunchArgument('seed', 'of the cases', '1', kind=int)


@pytest.mark.parametrize(
    ('change', 'error', 'told'),
    [
        ({'seed': 'abc'}, ParameterError, "seed: found abc, expected a whole number"),
        ({'specification': 'nowhere.yaml'}, SpecificationError, 'nowhere.yaml'),
        ({'resume': 'true'}, OutputError, 'found no journal.jsonl, expected a campaign to resume'),
    ],
)  # fmt: skip
def test_a_launch_looks_once_before_any_node_starts(change, error, told, content, write, tmp_path):
    values = {'seed': '7', 'specification': str(write(content)), 'output': str(tmp_path / 'new')}
    look_first([SEED], values)
    with pytest.raises(error, match=told):
        look_first([SEED], {**values, **change})


def test_a_launch_does_not_begin_over_an_earlier_campaign(content, write, tmp_path):
    values = {'specification': str(write(content)), 'output': str(tmp_path)}
    (tmp_path / 'journal.jsonl').touch()
    look_first([], {**values, 'resume': 'true'})
    with pytest.raises(OutputError, match=r'found journal\.jsonl, expected a new folder'):
        look_first([], values)


def test_a_launch_ends_with_one_block_and_as_its_campaign_did(tmp_path):
    assert 'nothing was kept' in closing_text(None, 0)
    assert closing_text(tmp_path, 3) == (
        f'campaign  was broken off (exit code 3): {tmp_path}\nresult    none: nothing was measured'
    )
    (tmp_path / 'journal.jsonl').touch()
    (tmp_path / 'bag-1').mkdir()
    told = closing_text(tmp_path, 3)
    assert 'To go on: the same command with resume:=true' in told
    assert told.endswith(f'recording {tmp_path / "bag-1"}')
    (tmp_path / 'result.yaml').write_text(
        'value: 0.5\nestimate: 0.49\nhalf_width: 0.04\nn: 67\noutcome: reached\n'
    )
    told = closing_text(tmp_path, 0)
    assert told.startswith(
        f'campaign  ended: {tmp_path}\nresult    0.5, estimate 0.49 +- 0.04 from'
    )
    check_ending(0)
    with pytest.raises(CampaignError, match='the scheduler ended with 3'):
        check_ending(3)
