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

"""Reading rosbag2 recordings, whatever is wrong with them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

from repsq_ros.errors import BagError, MissingError


class BagMessage(NamedTuple):
    """One message of a bag."""

    topic: str
    log_ns: int  # when it was recorded
    message: Any


class Bag:
    """A bag, opened for reading: a folder with metadata.yaml, or one .mcap or .db3 file.

    :raises BagError: not there, not a bag, damaged, a topic or type that is not in it
    :raises MissingError: the reader is not installed
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            from rosbags.highlevel import AnyReader
            from rosbags.typesys import Stores, get_typestore
        except ImportError:
            raise MissingError(
                "reading a bag needs rosbags, not installed here: pip install 'rosbags>=0.11.7' "
                '(or make environment)'
            ) from None
        if path.is_dir() and not (path / 'metadata.yaml').exists():
            files = [file.name for file in path.iterdir() if file.suffix in ('.mcap', '.db3')]
            remedy = 'a folder that ros2 bag record has written'
            if files:
                remedy = f'ros2 bag reindex {path}, or give one file: {", ".join(sorted(files))}'
            raise BagError(f'{path}: found no metadata.yaml, expected a recorded bag: {remedy}')
        try:
            self._reader = AnyReader([path], default_typestore=get_typestore(Stores.ROS2_JAZZY))
            self._reader.open()
        except Exception as error:  # the reader lets errors of many libraries through
            raise self._unreadable(error) from None

    def _unreadable(self, error: Exception) -> BagError:
        why = ' '.join(str(error).split()) or type(error).__name__
        return BagError(f'{self.path}: cannot be read ({why}), expected a whole rosbag2 recording')

    def __enter__(self) -> Bag:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._reader.close()

    def topics(self) -> dict[str, str]:
        """Return the types of the topics in the bag."""
        return {connection.topic: connection.msgtype for connection in self._reader.connections}

    def require(self, topic: str, *types: str) -> None:
        """Check that a topic is there, with one of the given types."""
        topics = self.topics()
        if topic not in topics:
            there = ', '.join(sorted(topics)) or 'nothing'
            raise BagError(
                f'{self.path}: found no topic {topic}, expected one of those there: {there}'
            )
        several = sorted({c.msgtype for c in self._reader.connections if c.topic == topic})
        if len(several) > 1:
            raise BagError(
                f'{self.path}: found {" and ".join(several)} on {topic}, expected one type'
            )
        if topics[topic] not in types:
            raise BagError(
                f'{self.path}: found {topics[topic]} on {topic}, expected {" or ".join(types)}'
            )

    def messages(self, *topics: str) -> Iterator[BagMessage]:
        """Yield the messages of some topics in the order in which they were recorded."""
        wanted = [c for c in self._reader.connections if c.topic in topics]
        # rosbags takes an empty choice as everything.
        if not wanted:
            return
        try:
            for connection, log_ns, raw in self._reader.messages(connections=wanted):
                message = self._reader.deserialize(raw, connection.msgtype)
                yield BagMessage(connection.topic, log_ns, message)
        except Exception as error:
            raise self._unreadable(error) from None
