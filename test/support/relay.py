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

"""A network between two nodes that delays, doubles and reorders what they say."""

from repsq_ros.nodes import qos
from support.graph import KEPT


class Relay:
    """Passes a topic on that a node's remapping has led astray.

    :param wanted: called with each message; returns those that are passed on now
    :param role: whose word it is
    :param to_hearer: the node that is led astray hears the topic; else it speaks on it
    """

    def __init__(self, listener, topic, wanted, role='measurement', to_hearer=False):
        astray = f'astray/{topic}'
        self.rule = f'{topic}:={astray}'  # the remapping of that node
        self._source, self._target = (topic, astray) if to_hearer else (astray, topic)
        self.kept, self._wanted = [], wanted
        node, kind = listener.speaker(role), KEPT[topic][0]
        self._publisher = node.create_publisher(kind, self._target, qos.RECORD)
        node.create_subscription(kind, self._source, self._on_message, qos.RECORD)

    def _on_message(self, message):
        self.kept.append(message)
        self.pass_on(*self._wanted(message))

    def pass_on(self, *messages):
        """Pass messages on."""
        for message in messages:
            self._publisher.publish(message)


def doubled_and_late():
    """Each message at once, and once more after the one that follows it."""
    before = []

    def wanted(message):
        sent = [message, *before]
        before[:] = [message]
        return sent

    return wanted


def swapped(held):
    """Those that are held come after the one that follows them; each pair comes twice."""
    waiting = []

    def wanted(message):
        if held(message):
            waiting.append(message)
            return []
        pair = [message, *waiting]
        waiting.clear()
        return pair + pair

    return wanted
