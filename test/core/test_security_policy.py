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

"""The SROS 2 policy that is shipped: who may command, who may speak on which topic."""

import xml.etree.ElementTree as ElementTree

import pytest
from conftest import ROOT

from repsq_ros import topics
from repsq_ros.launching.campaign_nodes import ORDER, enclave_of
from repsq_ros.simulation.simulated_sensors import SENSORS

POLICY = ElementTree.parse(ROOT / 'config' / 'security' / 'policy.xml').getroot()
SPEAKERS = {
    enclave.get('path').removeprefix('/repsq/'): {
        topic.text
        for topics_ in enclave.iterfind('.//topics[@publish="ALLOW"]')
        for topic in topics_
    }
    for enclave in POLICY.find('enclaves')
}


def who(topic):
    return {name for name, spoken in SPEAKERS.items() if topic in spoken}


def test_only_scheduler_and_guard_may_command():
    for topic in (*topics.COMMANDS, topics.INSTRUCTION):
        assert who(topic) == {'scheduler', 'guard'}


def test_what_is_recorded_of_a_campaign_comes_from_one_node_each():
    assert {topic: who(topic) for topic in topics.RECORDED} == {
        topics.TEST_COMMAND: {'scheduler'},
        topics.TEST_PHASE: {'scheduler'},
        topics.TEST_MEASUREMENT: {'measurement'},
        topics.ESTIMATE: {'estimator'},
        topics.COUNTED_TEST: {'estimator'},
        topics.QUANTIZED_RESULT: {'estimator'},
        topics.JOURNAL_HEAD: {'scheduler'},
    }
    for name in ORDER[1:]:
        assert who(f'{topics.HEARTBEAT}/{name}') == {name}


def test_no_name_stands_for_several_topics_and_sensors_are_the_robots():
    assert not {t for spoken in SPEAKERS.values() for t in spoken if '*' in t}
    for sensor in SENSORS.values():
        assert who(sensor.topic) == {'simulated_robot'}


@pytest.mark.parametrize('name', [*ORDER, 'monitor'])
def test_a_node_finds_its_enclave_where_security_is_on(name, monkeypatch):
    assert enclave_of(name) == []
    monkeypatch.setenv('ROS_SECURITY_ENABLE', 'true')
    assert enclave_of(name) == ['--enclave', f'/repsq/{name}']
    assert name in SPEAKERS
