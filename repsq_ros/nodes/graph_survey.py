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


"""Listens to the topics of a specification for some seconds, before a campaign."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rclpy.executors import SingleThreadedExecutor

from repsq_ros.errors import MissingError
from repsq_ros.measurement.inputs import Input, Stamp
from repsq_ros.nodes import qos
from repsq_ros.nodes.message_classes import message_class
from repsq_ros.nodes.runtime import CampaignNode
from repsq_ros.timebase import NANOSECONDS
from repsq_ros.views.examination import CommandSurvey, TopicSurvey

KEPT = 500  # largest number of delays kept per topic


@dataclass(frozen=True)
class TopicToSurvey:
    """A topic to listen to."""

    topic: str  # its full name
    source: Input
    must_speak: bool


class GraphSurvey(CampaignNode):
    """Counts messages and the delays of their stamps for a given time.

    :param wanted: topics to listen to
    :param commands: full names of the robot's command topics
    :param seconds: duration
    """

    def __init__(
        self, wanted: Sequence[TopicToSurvey], commands: Sequence[str], seconds: float
    ) -> None:
        super().__init__('repsq_doctor')
        self._wanted, self._seconds = tuple(wanted), seconds
        self._counts = dict.fromkeys((each.topic for each in wanted), 0)
        self._delays: dict[str, list[float]] = {each.topic: [] for each in wanted}
        self.missing: list[str] = []
        self.surveys: list[TopicSurvey] = []
        self._commands = tuple(commands)
        self.command_surveys: list[CommandSurvey] = []
        for each in self._wanted:
            try:
                kind = message_class(each.source.type)
            except MissingError as error:
                self.missing.append(f'{each.topic}: {error}')
                continue
            self.create_subscription(
                kind, each.topic, lambda message, name=each.topic: self._on_message(name, message),
                qos.SENSOR,
            )  # fmt: skip
        self._until = time.monotonic() + seconds

    def _on_message(self, topic: str, message: Any) -> None:
        self._counts[topic] += 1
        stamp = getattr(getattr(message, 'header', None), 'stamp', None)
        if stamp is not None and len(self._delays[topic]) < KEPT:
            sent = stamp.sec + stamp.nanosec / NANOSECONDS
            self._delays[topic].append(time.time() - sent)

    def work(self, executor: SingleThreadedExecutor) -> None:
        """Listen until the time is over."""
        super().work(executor)
        if time.monotonic() >= self._until:
            self.surveys = [self._survey(each) for each in self._wanted]
            self.command_surveys = [self._survey_command(each) for each in self._commands]
            self.finished = True

    def _survey(self, wanted: TopicToSurvey) -> TopicSurvey:
        found = self.get_publishers_info_by_topic(wanted.topic)
        publishers = tuple((_name(each), str(each.topic_type)) for each in found)
        qualities = tuple(_quality(each.qos_profile) for each in found)
        by_header = wanted.source.stamp == Stamp.HEADER
        return TopicSurvey(
            wanted.topic,
            wanted.source.type,
            publishers,
            self._counts[wanted.topic],
            self._seconds,
            tuple(self._delays[wanted.topic]) if by_header else (),
            wanted.source.rate,
            wanted.must_speak,
            qualities,
        )

    def _survey_command(self, topic: str) -> CommandSurvey:
        publishers = self.get_publishers_info_by_topic(topic)
        takers = self.get_subscriptions_info_by_topic(topic)
        return CommandSurvey(
            topic,
            tuple(_name(each) for each in publishers),
            tuple((_name(each), str(each.topic_type)) for each in takers),
        )


def _name(endpoint: Any) -> str:
    return f'{endpoint.node_namespace.rstrip("/")}/{endpoint.node_name}'


def _quality(profile: Any) -> str:
    words = (profile.reliability.name, profile.durability.name)
    return ' and '.join(word.lower().replace('_', ' ') for word in words)
