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

"""Signs of life over DDS: of a peer that comes, goes, comes back, or is there twice."""

import time

import pytest
import rclpy
from rclpy.executors import SingleThreadedExecutor
from support.graph import domain_of_its_own

from repsq_ros import topics
from repsq_ros.msg import Heartbeat
from repsq_ros.nodes import qos
from repsq_ros.nodes.heartbeat import PERIOD, HeartbeatPublisher
from repsq_ros.nodes.polling import polled_subscription
from repsq_ros.nodes.watches.interventions import GuardWatch
from repsq_ros.nodes.watches.peers import DEAF, SILENT, Peers


class Pair:
    """A node that watches, and one that is watched, each with its own executor."""

    def __init__(self, ours, theirs):
        self.watching = rclpy.create_node('watching', context=ours)
        self.watched = rclpy.create_node('watched', context=theirs)
        self.ours = SingleThreadedExecutor(context=ours)
        self.theirs = SingleThreadedExecutor(context=theirs)
        self.ours.add_node(self.watching)
        self.theirs.add_node(self.watched)
        self.peers = Peers(self.watching, 'estimator')
        self.works = True

    def heartbeat(self, ready=True, status=''):
        heartbeat = HeartbeatPublisher(self.watched, 'estimator')
        heartbeat.set_status(ready, status)
        return heartbeat

    def turn(self, seconds=PERIOD):
        """Let both do what there is to do; the watched one only while it works."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.works:
                self.theirs.spin_once(timeout_sec=0.005)
            self.ours.spin_once(timeout_sec=0.005)
        self.peers.look()

    def until(self, condition, seconds=20):
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end
            self.turn()


@pytest.fixture
def pair():
    with domain_of_its_own() as domain:
        contexts = rclpy.Context(), rclpy.Context()
        for context in contexts:
            rclpy.init(context=context, domain_id=domain)
        yield Pair(*contexts)
        for context in contexts:
            rclpy.shutdown(context=context)


def test_a_peer_is_relied_on_once_it_is_ready_and_has_been_there_for_a_while(pair):
    assert pair.peers.blockers() == ['no sign of life from the estimator node']
    heartbeat = pair.heartbeat(False, 'a sensor')
    pair.until(lambda: pair.peers.lives('estimator'))
    assert pair.peers.blockers() == ['the estimator node waits for a sensor']
    heartbeat.set_status(True, '')
    pair.until(lambda: pair.peers.blockers() == [])
    assert pair.peers.state('estimator').node == '/watched'


def test_a_peer_whose_executor_hangs_falls_silent_and_may_come_back(pair):
    """Its middleware lives on, and knows nothing of it."""
    pair.heartbeat()
    pair.until(lambda: pair.peers.lives('estimator'))
    pair.works = False
    began = time.monotonic()
    pair.until(lambda: not pair.peers.lives('estimator'))
    assert time.monotonic() - began > SILENT - 2 * PERIOD
    assert pair.peers.state('estimator') is None
    pair.works = True
    pair.until(lambda: pair.peers.lives('estimator'))
    assert pair.peers.blockers() != [], 'for a while yet'


def test_a_peer_to_which_the_middleware_is_deaf_is_named_and_listened_to_anew(pair):
    pair.heartbeat()
    pair.until(lambda: pair.peers.blockers() == [])
    pair.peers._heartbeats._subscriptions['estimator'] = polled_subscription(
        pair.watching, Heartbeat, 'where_nobody_speaks', qos.HEARTBEAT
    )
    pair.until(lambda: not pair.peers.lives('estimator'))
    pair.until(lambda: 'although the graph shows it' in pair.peers.blockers()[0])
    pair.until(lambda: pair.peers.blockers() == [])


def test_a_peer_that_is_gone_is_not_said_to_be_shown(pair):
    heartbeat = pair.heartbeat()
    pair.until(lambda: pair.peers.blockers() == [])
    heartbeat._publish = lambda: None
    pair.watched.destroy_publisher(heartbeat._publisher)
    pair.until(lambda: not pair.peers.lives('estimator'))
    pair.turn(DEAF + 1.0)
    pair.turn()
    assert pair.peers.blockers() == ['no sign of life from the estimator node']


def test_a_stall_of_the_watcher_itself_is_no_silence_of_its_peer(pair):
    pair.heartbeat()
    pair.until(lambda: pair.peers.blockers() == [])
    for _ in range(3):
        time.sleep(3 * SILENT)
        assert pair.peers.since_look() >= 3 * SILENT
        assert pair.peers.look() >= 3 * SILENT
        assert pair.peers.lives('estimator')
        pair.turn(0.2)


def test_a_peer_that_was_started_anew_has_to_be_there_for_a_while_again(pair):
    first = pair.heartbeat()
    pair.until(lambda: pair.peers.blockers() == [])
    pair.watched.destroy_publisher(first._publisher)
    first._publish = lambda: None
    pair.heartbeat()
    pair.until(lambda: pair.peers.blockers() != [])
    pair.until(lambda: pair.peers.blockers() == [])


def test_two_nodes_of_one_role_are_told(pair):
    pair.heartbeat()
    pair.heartbeat()
    pair.until(lambda: pair.peers.blockers() == ['two estimator nodes: /watched and /watched'])


def test_a_guard_that_has_stopped_the_robot_is_told_of_once(pair):
    """For want of a sign of life of the scheduler, which knows nothing of it."""
    pair.peers = Peers(pair.watching, 'guard')
    watch = GuardWatch(pair.peers, 'twist')
    heartbeat = HeartbeatPublisher(pair.watched, 'guard')
    heartbeat.set_status(True, 'twist', 2)  # before this scheduler's time
    pair.until(lambda: pair.peers.lives('guard'))
    watch.look()
    assert watch.blockers() == []
    heartbeat.set_status(True, 'twist', 3)
    pair.until(lambda: pair.peers.state('guard').interventions == 3)
    watch.look()
    assert watch.blockers() == [
        'the guard had no sign of life from the scheduler, and stopped the robot'
    ]
    watch.look()
    assert watch.blockers() == []
    heartbeat.set_status(True, 'urscript', 3)
    pair.until(lambda: pair.peers.state('guard').status == 'urscript')
    watch.look()
    assert watch.blockers() == [
        'the guard stops the robot by command_type urscript, expected twist'
    ]


def test_lost_heartbeats_are_not_missed(pair):
    """Six of seven, which no network loses."""
    heard = []
    publisher = pair.watched.create_publisher(
        Heartbeat, f'{topics.HEARTBEAT}/estimator', qos.HEARTBEAT
    )
    pair.until(lambda: publisher.get_subscription_count() > 0)
    for _ in range(10):
        publisher.publish(Heartbeat(session=1, ready=True))
        pair.turn(SILENT - 2 * PERIOD)
        heard.append(pair.peers.lives('estimator'))
    assert all(heard)
