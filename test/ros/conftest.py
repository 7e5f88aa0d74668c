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

import pytest
import yaml

pytest.importorskip('rclpy')
pytest.importorskip('repsq_ros.msg')


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


@pytest.fixture(scope='session')
def recorded(tmp_path_factory):
    """A short campaign over DDS with everything it said, and its result."""
    pytest.importorskip('rosbags')
    from conftest import ROOT, short_campaign
    from support.graph import graph
    from support.recording import SENSORS, Recorder

    from repsq_ros.messages import campaign_messages
    from repsq_ros.msg import TestPhase

    folder = tmp_path_factory.mktemp('recorded')
    specification = folder / 'specification.yaml'
    specification.write_text(yaml.safe_dump(short_campaign()))
    with graph(folder) as nodes:
        recorder = Recorder(nodes.listener.node)
        # Not as fast as possible: who records has to keep up, on however busy a machine.
        robot = {'speed': 5.0, 'seed': 7}
        nodes.start('simulated_robot', robot)
        nodes.listener.until(lambda: recorder.heard >= set(SENSORS))
        # As by default, the scheduler is there for a while before it commands: to be found.
        nodes.start_campaign(specification, robot, seed=7, look_around=4.5)
        result = campaign_messages.result_of(nodes.result())
        nodes.listener.phase(TestPhase.DONE)
        # As a recording does that is stopped by hand; a player that ends takes with it what its
        # listeners have not yet read.
        nodes.listener.listen(2.0)
    recorder.write(folder / 'bag', ROOT)
    return folder / 'bag', specification, result
