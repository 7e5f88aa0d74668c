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


"""What has to be right before a campaign: one finding for each thing, with a remedy."""

import fcntl
from dataclasses import replace

import pytest

from repsq_ros.cli import main
from repsq_ros.console.shared_memory import clear, left_over
from repsq_ros.views.examination import (
    CommandSurvey,
    Diagnosis,
    Machine,
    Middleware,
    TopicSurvey,
    examine_command,
    examine_machine,
    examine_topic,
    verdict,
)
from repsq_ros.views.health import Level

DDS = Middleware('', '', False, 8_000_000_000)
GOOD = Machine(50_000_000_000, 0.4, 4, 8_388_608, ('performance',) * 4, True, DDS)
ODOMETRY = TopicSurvey(
    '/odom', 'nav_msgs/msg/Odometry', (('/bridge', 'nav_msgs/msg/Odometry'),), 250, 5.0,
    (0.002,) * 100, rate=50.0,
)  # fmt: skip


def test_a_good_machine_has_nothing_against_it():
    found = examine_machine(GOOD)
    assert {each.name for each in found} == {
        'disk', 'load', 'receive buffer', 'processor', 'clock', 'DDS'
    }  # fmt: skip
    assert verdict(found) is Level.OK
    assert not any(each.remedy for each in found)


@pytest.mark.parametrize(
    ('changes', 'name', 'level', 'text'),
    [
        ({'free_bytes': 1_900_000_000}, 'disk', Level.ERROR, '1.9 GB free'),
        ({'load': 2.9}, 'load', Level.WARN, 'load 2.9 on 4 cores'),
        ({'receive_buffer': 212_992}, 'receive buffer', Level.WARN, '212992'),
        ({'governors': ('performance', 'powersave')}, 'processor', Level.WARN, 'powersave'),
        ({'synchronized': False}, 'clock', Level.WARN, 'NOT synchronized'),
        ({'middleware': Middleware('rmw_x', '', True, None)}, 'DDS', Level.WARN, 'rmw_x'),
        ({'middleware': replace(DDS, shared_memory=9_000_000)}, 'DDS', Level.WARN, '9 MB'),
        ({'middleware': replace(DDS, left_over=501)}, 'DDS', Level.WARN, '501 segments'),
    ],
)
def test_each_fault_of_a_machine_is_named_with_a_remedy(changes, name, level, text):
    found = [each for each in examine_machine(replace(GOOD, **changes)) if each.level]
    assert [each.name for each in found] == [name]
    assert found[0].level is level and text in found[0].text and found[0].remedy


def test_what_a_machine_does_not_say_is_left_out():
    assert examine_machine(Machine(None, None, 2, None, (), None)) == []
    assert verdict([]) is Level.OK


def test_a_good_topic_is_named_with_node_and_rate():
    assert examine_topic(ODOMETRY) == Diagnosis('/odom', Level.OK, '/bridge: 50 Hz')


@pytest.mark.parametrize(
    ('changes', 'text'),
    [
        ({'publishers': ()}, 'nobody publishes on it'),
        ({'publishers': (('/bridge', 'geometry_msgs/msg/PoseStamped'),)},
         '/bridge publishes geometry_msgs/msg/PoseStamped, expected nav_msgs/msg/Odometry'),
        ({'messages': 0}, '/bridge: no message in 5 s'),
        ({'publishers': ODOMETRY.publishers * 2}, '50 Hz, of 2 publishers'),
        ({'messages': 100}, '20 Hz, 50 Hz are declared'),
        ({'delays': (0.31,) * 50 + (9.0,)}, 'stamps 0.310 s behind'),
        ({'delays': (-0.2,) * 50}, 'stamps 0.200 s ahead of'),
    ],
)  # fmt: skip
def test_each_fault_of_a_topic_is_named_with_a_remedy(changes, text):
    found = examine_topic(replace(ODOMETRY, **changes))
    assert found.level is Level.ERROR
    assert text in found.text
    assert found.remedy


def test_the_quality_of_service_of_publishers_is_told():
    offered = ('best effort and volatile',) * 2
    assert examine_topic(replace(ODOMETRY, offered=offered)).text == (
        '/bridge: 50 Hz, best effort and volatile'
    )


def test_only_one_program_may_command_the_robot():
    taken = (('/bridge', 'geometry_msgs/msg/Twist'),)
    assert examine_command(CommandSurvey('/cmd_vel', (), taken)).level is Level.OK
    assert examine_command(CommandSurvey('/cmd_vel', (), ())).level is Level.WARN
    found = examine_command(CommandSurvey('/cmd_vel', ('/teleop',), taken))
    assert (found.level, found.text) == (Level.ERROR, '/teleop publishes commands, too')
    assert found.remedy


def test_a_gauge_may_be_silent_and_single_late_stamps_are_no_fault():
    assert examine_topic(replace(ODOMETRY, messages=0, must_speak=False)).level is Level.OK
    assert examine_topic(replace(ODOMETRY, delays=(0.001,) * 60 + (5.0,) * 40)).level is Level.OK


def test_the_computer_alone_needs_no_specification_and_no_ros(capsys, tmp_path):
    code = main(['doctor', '--output', str(tmp_path / 'not' / 'there')])
    shown = capsys.readouterr().out
    assert 'disk: ' in shown
    assert code == (3 if 'NOT ready' in shown else 0)


def test_seconds_have_to_be_a_length_of_time(capsys):
    assert main(['doctor', '--seconds', 'nan']) == 2
    assert 'parameter seconds: found nan, expected a finite number > 0' in capsys.readouterr().err


def test_shared_memory_of_the_dead_is_cleared_and_that_of_the_living_is_left(tmp_path):
    for name in ('fastrtps_dead', 'fastrtps_alive', 'fastrtps_port7411', 'fastrtps_other'):
        (tmp_path / name).write_bytes(b'')
    (tmp_path / 'sem.fastrtps_port7411_mutex').write_bytes(b'')
    for name in ('dead_el', 'alive_el', 'port7411_el', 'port7411_sl'):
        (tmp_path / f'fastrtps_{name}').write_bytes(b'')
    with (tmp_path / 'fastrtps_alive_el').open('rb') as held:
        fcntl.flock(held, fcntl.LOCK_SH)
        assert left_over(tmp_path) == ['fastrtps_dead', 'fastrtps_port7411']
        assert clear(tmp_path) == 2
        names = {each.name for each in tmp_path.iterdir()}
        assert names == {'fastrtps_alive', 'fastrtps_alive_el', 'fastrtps_other'}
