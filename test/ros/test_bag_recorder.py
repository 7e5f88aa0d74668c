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

"""`repsq record` over DDS: what others offer is what it asks for, and nobody waits for it."""

import json
import signal
import time

import pytest
import yaml
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rosgraph_msgs.msg import Clock

from repsq_ros import topics
from repsq_ros.msg import TestPhase
from repsq_ros.nodes import qos
from repsq_ros.nodes.bag_recorder import _asked_of, _weaker
from repsq_ros.recordings.recording import Recording

pytest.importorskip('rosbags')

from support.recording import start_recorder, stop_recorder

RELIABLE, BEST_EFFORT = ReliabilityPolicy.RELIABLE, ReliabilityPolicy.BEST_EFFORT
KEPT, VOLATILE = DurabilityPolicy.TRANSIENT_LOCAL, DurabilityPolicy.VOLATILE


def profile(reliability, durability):
    return QoSProfile(depth=1, reliability=reliability, durability=durability)


@pytest.mark.parametrize(
    ('offered', 'asked'),
    [
        ([(RELIABLE, KEPT)], (RELIABLE, KEPT)),
        ([(RELIABLE, KEPT), (BEST_EFFORT, VOLATILE)], (BEST_EFFORT, VOLATILE)),
        ([(RELIABLE, VOLATILE), (RELIABLE, KEPT)], (RELIABLE, VOLATILE)),
        ([(BEST_EFFORT, KEPT), (RELIABLE, KEPT)], (BEST_EFFORT, KEPT)),
    ],
)
def test_it_asks_for_the_most_that_all_offer(offered, asked):
    found = _asked_of([profile(*each) for each in offered])
    assert (found.reliability, found.durability) == asked


def test_who_hears_all_already_is_not_asked_anew():
    weak, strong = profile(BEST_EFFORT, VOLATILE), profile(RELIABLE, KEPT)
    assert _weaker(weak, strong)
    assert not _weaker(strong, weak)
    assert not _weaker(profile(RELIABLE, VOLATILE), profile(BEST_EFFORT, VOLATILE))
    assert _weaker(strong, strong)


def test_nobody_waits_for_a_recorder_that_stands_still(nodes, short, write, tmp_path):
    """What was said before it came is kept where it was offered; later publishers are heard."""
    node, bag = nodes.listener.node, tmp_path / 'bag'
    # Kept by its publisher, and said long before.
    phases = nodes.listener.speaker('scheduler').create_publisher(
        TestPhase, topics.TEST_PHASE, qos.RECORD
    )
    phases.publish(TestPhase(reason='before'))
    odometry = node.create_publisher(Odometry, '/odom', qos.SENSOR)
    recorder = start_recorder(nodes, write(short), bag, topics=('/odom', '/repsq/test_phase'))
    commands = node.create_publisher(Twist, '/cmd_vel', qos.COMMAND)
    nodes.listener.until(lambda: commands.get_subscription_count() > 1)
    commands.publish(Twist())
    recorder.send_signal(signal.SIGSTOP)
    took = []
    for _ in range(3000):
        began = time.monotonic()
        commands.publish(Twist())
        odometry.publish(Odometry())
        took.append(time.monotonic() - began)
    recorder.send_signal(signal.SIGCONT)
    # The first ones may be lost: what was said meanwhile fills all buffers.
    end = time.monotonic() + 2.0
    last = Odometry(child_frame_id='last')
    nodes.listener.saying(odometry, last, lambda: time.monotonic() > end)
    nodes.listener.listen(1.0)
    code, said = stop_recorder(recorder)
    assert code == 0, said
    assert sorted(took)[-30] < 0.05  # of a busy machine, some may take longer for another reason
    with Recording(bag) as opened:
        assert [each.message.reason for each in opened.messages('/repsq/test_phase')] == ['before']
        heard = [each.message.child_frame_id for each in opened.messages('/odom')]
        assert heard[-1] == 'last'
        assert list(opened.messages('/cmd_vel'))
        offered = {each.topic: each.qos for each in opened.streams}
    assert 'transient_local' in offered['/repsq/test_phase']
    assert 'best_effort' in offered['/odom']
    assert '  nothing  /repsq/test_command' in said


def test_what_publishers_offer_is_told_as_ros2_bag_record_tells_it(nodes, short, write, tmp_path):
    """Compared with what rosbag2 0.26 wrote of the same publishers; a player offers it again."""
    node, bag = nodes.listener.node, tmp_path / 'bag'
    reliable = node.create_publisher(Odometry, '/odom', 10)
    node.create_publisher(Odometry, '/odom', qos.SENSOR)
    recorder = start_recorder(nodes, write(short), bag, topics=('/odom',))
    reliable.publish(Odometry())
    nodes.listener.listen(1.0)
    code, said = stop_recorder(recorder)
    assert code == 0, said
    text = (bag / 'metadata.yaml').read_text(encoding='utf-8')
    [topic] = yaml.safe_load(text)['rosbag2_bagfile_information']['topics_with_message_count']
    found = topic['topic_metadata']['offered_qos_profiles']
    assert sorted(each.pop('reliability') for each in found) == ['best_effort', 'reliable']
    no_limit = {'sec': 9223372036, 'nsec': 854775807}
    assert found == 2 * [
        {
            'history': 'unknown', 'depth': 0, 'durability': 'volatile', 'liveliness': 'automatic',
            'deadline': no_limit, 'lifespan': no_limit, 'liveliness_lease_duration': no_limit,
            'avoid_ros_namespace_conventions': False,
        }
    ]  # fmt: skip


def test_a_simulation_is_recorded_by_its_own_clock(nodes, short, write, tmp_path):
    """What was said before its clock is known has the first time that is."""
    node, bag = nodes.listener.node, tmp_path / 'bag'
    odometry = node.create_publisher(Odometry, '/odom', 10)
    clock = node.create_publisher(Clock, '/clock', 10)
    options = ('--use-sim-time', '--json')
    recorder = start_recorder(nodes, write(short), bag, *options, topics=('/odom',))
    nodes.listener.until(
        lambda: odometry.get_subscription_count() and clock.get_subscription_count()
    )
    odometry.publish(Odometry(child_frame_id='early'))
    nodes.listener.listen(0.5)
    for second in (5, 6):
        clock.publish(Clock(clock=Time(sec=second)))
        nodes.listener.listen(0.5)
        odometry.publish(Odometry(child_frame_id=f'at {second}'))
        nodes.listener.listen(0.5)
    code, said = stop_recorder(recorder)
    assert code == 0, said
    with Recording(bag) as opened:
        heard = [(each.log_ns, each.message.child_frame_id) for each in opened.messages('/odom')]
    told = json.loads(said[said.index('{') :])
    assert (told['recording'], told['messages']['/odom']) == (str(bag), 3)
    second = 1_000_000_000
    assert heard == [(5 * second, 'early'), (5 * second, 'at 5'), (6 * second, 'at 6')]


def test_it_ends_at_once_where_nothing_was_said(nodes, short, write, tmp_path):
    recorder = start_recorder(nodes, write(short), tmp_path / 'bag')
    began = ''
    while 'until Ctrl-C' not in began:
        began += recorder.stdout.readline()
    time.sleep(2.0)
    code, said = stop_recorder(recorder)
    assert code == 0, said
    assert '  nothing  /odom' in said
    with Recording(tmp_path / 'bag') as opened:
        assert opened.topics() == {}


def test_a_folder_that_is_there_is_refused(short, write, tmp_path, capsys):
    from repsq_ros.cli import main

    assert main(['record', str(write(short)), '--output', str(tmp_path)]) == 6
    said = capsys.readouterr().err
    assert said.count('\n') == 1
    assert 'found it there already, expected a new folder' in said
