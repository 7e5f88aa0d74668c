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

"""Tests of the nodes: they need ROS 2 and the built messages."""

import fcntl
import os
import pickle

import pytest
import yaml
from conftest import ROOT
from support.unitree import unitree_api_in

pytest.importorskip('rclpy')
pytest.importorskip('repsq_ros.msg')

# Files with tests of half a minute and more.
LONG = ('test_tutorial', 'test_stalls', 'test_resume', 'test_monitor', 'test_real_time')


def pytest_collection_modifyitems(items):
    """Let the longest tests begin first: none of them is left alone at the end."""
    items.sort(key=lambda item: item.path.stem not in LONG)


@pytest.fixture
def nodes(tmp_path):
    from support.graph import graph

    with graph(tmp_path) as made:
        yield made


@pytest.fixture
def at_once(tmp_path):
    """Arguments of `repsq run` where nobody else can be on the network: it looks for nobody."""
    file = tmp_path / 'at_once.yaml'
    file.write_text('/**/scheduler:\n  ros__parameters: {look_around: 0.0}\n')
    return ['--parameters', str(file)]


def made_once(tmp_path_factory, name, make):
    """Return what a function makes of a folder; processes that test side by side share it."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if os.environ.get('PYTEST_XDIST_WORKER') else base) / name
    folder.mkdir(exist_ok=True)
    with (folder / 'lock').open('w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        kept = folder / 'made.pickle'
        if not kept.exists():
            kept.write_bytes(pickle.dumps(make(folder)))
        return pickle.loads(kept.read_bytes())


@pytest.fixture(scope='session')
def recorded(tmp_path_factory):
    """Give a campaign over DDS with all that can happen to it, by `repsq record`: bag and file.

    Test 2 is paused in its command, 3 is INVALID and repeated, 5 is skipped in its command, 6
    before it, 8 is paused before it.
    """
    pytest.importorskip('rosbags')
    return made_once(tmp_path_factory, 'recorded', _record)


@pytest.fixture(scope='session')
def unitree_api():
    """Give the variables with which a process finds messages with the layout of Unitree's."""
    return unitree_api_in(ROOT / 'build')


def _record(folder):
    from conftest import short_campaign
    from support.graph import graph
    from support.recording import run_disturbed

    specification = folder / 'specification.yaml'
    content = short_campaign()
    content['measure']['conditions'] = {
        'clearance': {'type': 'sensor_msgs/msg/Range', 'at_least': 0.1}
    }
    content['tester'].update(stopping={'rule': 'fixed', 'tests': 14}, max_tests=14)
    specification.write_text(yaml.safe_dump(content))
    with graph(folder) as nodes:
        return run_disturbed(nodes, folder, specification)
