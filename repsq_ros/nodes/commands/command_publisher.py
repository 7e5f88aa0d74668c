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

"""Publishing commands to a robot on a topic, after common checks for all types."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Protocol

from rclpy.node import Node
from rclpy.qos import QoSProfile

from repsq_ros.errors import CampaignError
from repsq_ros.nodes import qos
from repsq_ros.nodes.rclpy_versions import PublisherEventCallbacks
from repsq_ros.protocols.command_space import Command, CommandKind, CommandSpace


class OtherStop(Protocol):
    """Another way to stop a robot that ignores its usual stop."""

    def try_it(self, moving: bool) -> str:
        """Try it, and return what was done.

        :param moving: the robot was seen moving; false: its motion is not known
        """


class CommandPublisher(ABC):
    """Rejects commands that are not finite, or outside of the command space.

    :param kind: class of the messages
    :param topic: relative name, to be remapped to the robot's topic
    :param space: the allowed commands
    :cvar streams: the robot needs commands continuously, and so does a stop
    """

    streams = True

    def __init__(
        self,
        node: Node,
        kind: type,
        topic: str,
        space: CommandSpace,
        profile: QoSProfile = qos.COMMAND,
    ) -> None:
        self._space = space
        events = PublisherEventCallbacks()  # the default only logs an incompatible QoS
        self._publisher = node.create_publisher(kind, topic, profile, event_callbacks=events)
        self._node = node
        package = kind.__module__.partition('.')[0]
        self._type = f'{package}/msg/{kind.__name__}'
        self.other_stops: list[OtherStop] = []

    @property
    def kind(self) -> CommandKind:
        """What is commanded: velocity or pose."""
        return self._space.kind

    @property
    def topic(self) -> str:
        """Name of the topic, as resolved, for people."""
        return str(self._publisher.topic_name)

    def missing(self) -> str:
        """Return why a command would not be carried out, for people, or ''."""
        if self._publisher.get_subscription_count() > 0:
            return ''
        others = {
            f'{each.node_name} takes {each.topic_type}'
            for each in self._node.get_subscriptions_info_by_topic(self.topic)
            if each.topic_type != self._type
        }
        hint = f' ({", ".join(sorted(others))}, not {self._type}: see command_type)'
        return f'a robot that takes commands on {self.topic}{hint if others else ""}'

    def refusal(self) -> str:
        """Return the robot's reply if it refuses its commands, or ''."""
        return ''

    def publish(self, command: Command) -> None:
        """Send the current command to the robot; called at command_rate, and when it changes.

        :raises CampaignError: not finite, or outside of the space: the robot is stopped instead
        """
        fault = self._space.fault(command)
        if fault:
            self.stop()
            raise CampaignError(f'command refused, the robot was stopped instead: {fault}')
        self._go(command)

    @abstractmethod
    def _go(self, command: Command) -> None:
        """Send a checked command."""

    @abstractmethod
    def stop(self) -> None:
        """Stop the robot at once: zero velocity, or hold the pose."""

    def repeat(self) -> None:
        """Make the next `publish` send its command even if it was already sent."""
        return  # velocities are always sent

    def send(self, message: Any) -> None:
        """Publish a raw message."""
        self._publisher.publish(message)

    def wait_for_all_acked(self) -> None:
        """Wait shortly until sent messages have arrived."""
        self._publisher.wait_for_all_acked(qos.ACKNOWLEDGED)
