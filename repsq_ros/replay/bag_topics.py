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

"""The topics of a campaign in a recording, with their names there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from repsq_ros import topics
from repsq_ros.errors import BagError, MissingError, ParameterError
from repsq_ros.recordings.contents import METADATA, metadata_of
from repsq_ros.recordings.recording import Recording
from repsq_ros.specification.load import load
from repsq_ros.specification.model import Specification


@dataclass
class TopicNames:
    """Names of topics, in a bag or in a ROS graph.

    :ivar prefix: namespace, e.g. '' or '/lab'
    :ivar rules: from the name that the nodes use for a topic
    """

    prefix: str
    rules: dict[str, str] = field(default_factory=dict)

    @staticmethod
    def of(prefix: str, rules: Sequence[str]) -> TopicNames:
        """Read remapping rules.

        :param rules: each FROM:=TO
        :raises ParameterError: not of that form
        """
        prefix = f'/{prefix.strip("/")}' if prefix.strip('/') else ''
        found = TopicNames(prefix)
        for rule in rules:
            name, arrow, target = rule.partition(':=')
            if not (name and arrow and target):
                raise ParameterError('remap', f'{rule!r}', 'FROM:=TO')
            found.rules[name.lstrip('/')] = target if target.startswith('/') else f'/{target}'
        return found

    def __call__(self, name: str) -> str:
        """Return the full name of a topic from the name that the nodes use."""
        return self.rules.get(name, f'{self.prefix}/{name}')


def needed_topics(specification: Specification, names: TopicNames) -> dict[str, str]:
    """Return the topics needed to recompute a campaign, with their types."""
    measure = specification.measure
    inputs = (measure.input, *measure.condition_inputs)
    return {
        names(topics.TEST_COMMAND): 'repsq_ros/msg/TestCommand',
        names(topics.TEST_PHASE): 'repsq_ros/msg/TestPhase',
        **{names(source.topic): source.type for source in inputs},
    }


def recorded_topics(specification: Specification, names: TopicNames) -> dict[str, str]:
    """Return the topics that are recorded of a campaign, with their types; '': any type.

    These are the needed topics, measurements and results, the robot's commands, and the inputs
    that end phases.
    """
    found = needed_topics(specification, names)
    for name in (*topics.RECORDED, *topics.COMMANDS, topics.EMERGENCY_STOP, topics.INSTRUCTION):
        found.setdefault(names(name), '')
    feedback = specification.feedback
    if feedback is not None:
        found.setdefault(names(feedback.topic), feedback.type)
    return found


def require_topics(path: Path, needed: Mapping[str, str]) -> None:
    """Refuse a recording without the needed topics.

    It reads metadata.yaml, as rosbag2 does, so no reader has to be installed.

    :raises BagError: a topic is missing, empty, or of another type; existing topics are listed
    """
    there = _topics_of(path)
    for topic, kind in needed.items():
        if topic not in there:
            names = ', '.join(sorted(there)) or 'nothing'
            raise BagError(f'{path}: found no topic {topic}, expected one of those there: {names}')
        found, count = there[topic]
        if found != kind:
            raise BagError(f'{path}: found {found} on {topic}, expected {kind}')
        if count == 0:
            raise BagError(f'{path}: found no message on {topic}, expected those of a campaign')


def require_replayable(bag: Path, specification: Path, rules: Mapping[str, str]) -> None:
    """Refuse a recording that cannot be played into measurement and estimator.

    A single file without metadata is accepted if no reader is installed: the player checks it.

    :param rules: names of topics in the bag, by the names that the nodes use
    :raises BagError: a topic is missing, empty, or of another type
    :raises SpecificationError: with file, key, what was found and what was expected
    """
    names = TopicNames('', {name: f'/{topic.lstrip("/")}' for name, topic in rules.items()})
    needed = needed_topics(load(specification), names)
    try:
        require_topics(bag, needed)
    except MissingError:
        return


def _topics_of(path: Path) -> dict[str, tuple[str, int]]:
    """Return type and number of messages of each topic; -1: not known."""
    file = path / METADATA
    if not file.is_file():
        with Recording(path) as bag:
            return {topic: (kind, -1) for topic, kind in bag.topics().items()}
    try:
        known = metadata_of(file)
        return {
            each['topic_metadata']['name']: (
                each['topic_metadata']['type'],
                int(each['message_count']),
            )
            for each in known['topics_with_message_count']
        }
    except (OSError, UnicodeDecodeError, yaml.YAMLError, KeyError, TypeError, ValueError) as error:
        why = ' '.join(str(error).split())
        raise BagError(
            f'{file}: {type(error).__name__} {why}, expected metadata of rosbag2: ros2 bag '
            f'reindex {path}'
        ) from None
