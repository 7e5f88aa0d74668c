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

"""Signs of life: of a peer that comes, of one that goes, and of one whose sign got lost."""

import time

import pytest
import rclpy
from rclpy.executors import SingleThreadedExecutor
from support.graph import domain_of_its_own

from repsq_ros import topics
from repsq_ros.msg import Estimate
from repsq_ros.nodes import qos
from repsq_ros.nodes.peers import Peers


class Pair:
    """A node that watches, and one that is watched."""

    def __init__(self, ours, theirs):
        self.watching = rclpy.create_node('watching', context=ours)
        self.watched = rclpy.create_node('watched', context=theirs)
        self.executor = SingleThreadedExecutor(context=ours)
        self.executor.add_node(self.watching)
        self.arrived, self.lost = [], []
        self.peers = Peers(self.watching, self.lost.append, self.arrived.append)
        self.peers.watch(Estimate, topics.ESTIMATE, lambda message: None, 'estimator')

    def speak(self):
        return self.watched.create_publisher(Estimate, topics.ESTIMATE, qos.WATCHED_RECORD)

    def until(self, condition, seconds=20):
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end
            self.peers.look()
            self.executor.spin_once(timeout_sec=0.05)


@pytest.fixture
def pair():
    with domain_of_its_own() as domain:
        contexts = rclpy.Context(), rclpy.Context()
        for context in contexts:
            rclpy.init(context=context, domain_id=domain)
        yield Pair(*contexts)
        for context in contexts:
            rclpy.shutdown(context=context)


def test_a_peer_comes_and_goes(pair):
    assert not pair.peers.lives('estimator')
    publisher = pair.speak()
    pair.until(lambda: pair.peers.lives('estimator'))
    assert pair.arrived == ['estimator']
    pair.watched.destroy_publisher(publisher)
    pair.until(lambda: pair.lost)
    assert pair.lost == ['estimator']
    assert not pair.peers.lives('estimator')


def test_a_sign_that_got_lost_is_asked_for_again(pair):
    pair.speak()
    pair.until(lambda: pair.peers.lives('estimator'))
    # As if the event had never come: the middleware does not repeat it.
    pair.peers._alive_since.clear()
    pair.peers._watched['estimator'].known = False
    pair.until(lambda: pair.peers.lives('estimator'))
    assert pair.arrived == ['estimator', 'estimator']
